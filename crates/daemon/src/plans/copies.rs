//! [`Copies`]: copies of plans by their hash. Later edits of the file that was copied have no effect.

use std::collections::HashMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use castellan_event::{Answer, Query, Recorder, World, sha256_hex};
use castellan_facts::{Setting, analyse};
use castellan_files::{explained, read_text, write_private};
use castellan_plans::{PLAN_BYTES_MAX, Plan, read};

use super::{heads, imagined};

/// Copies in a private directory.
#[derive(Debug)]
pub(crate) struct Copies {
    dir: PathBuf,
    /// Plans that were read, by hash.
    known: Mutex<HashMap<String, Arc<Plan>>>,
}

impl Copies {
    pub(super) fn new(dir: PathBuf) -> Copies {
        Copies { dir, known: Mutex::default() }
    }

    /// Parses a plan and stores its copy. Returns the hash, or the reason with line and column.
    pub(crate) fn keep(&self, text: &str) -> Result<(String, Arc<Plan>), String> {
        let plan = Arc::new(parse(text)?);
        let hash = sha256_hex(text);
        fs::DirBuilder::new()
            .mode(0o700)
            .create(&self.dir)
            .or_else(|error| if error.kind() == ErrorKind::AlreadyExists { Ok(()) } else { Err(error) })
            .and_then(|()| write_private(&self.file(&hash), text.as_bytes()))
            .map_err(|error| format!("the copy of the plan cannot be written: {}", explained(&error)))?;
        self.known().insert(hash.clone(), Arc::clone(&plan));
        Ok((hash, plan))
    }

    /// Returns the plan of a hash, or why its copy cannot be read.
    pub(crate) fn get(&self, hash: &str) -> Result<Arc<Plan>, String> {
        if let Some(plan) = self.known().get(hash) {
            return Ok(Arc::clone(plan));
        }
        let text = read_text(&self.file(hash), PLAN_BYTES_MAX as u64).map_err(|error| explained(&error))?;
        if sha256_hex(&text) != hash {
            return Err("it is not what was copied".to_owned());
        }
        let plan = Arc::new(parse(&text)?);
        self.known().insert(hash.to_owned(), Arc::clone(&plan));
        Ok(plan)
    }

    /// Removes copies that no plan in force needs. A copy that remains is harmless.
    pub(crate) fn forget_but(&self, is_needed: impl Fn(&str) -> bool) {
        self.known().retain(|hash, _| is_needed(hash));
        let remove = |entry: io::Result<fs::DirEntry>| {
            let entry = entry?;
            let name = entry.file_name();
            let hash = name.to_str().and_then(|name| name.strip_suffix(".yaml"));
            if hash.is_some_and(|hash| !is_needed(hash)) { fs::remove_file(entry.path()) } else { Ok(()) }
        };
        if let Ok(entries) = fs::read_dir(&self.dir) {
            entries.for_each(|entry| drop(remove(entry)));
        }
    }

    fn file(&self, hash: &str) -> PathBuf {
        self.dir.join(format!("{hash}.yaml"))
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<Plan>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Parses a plan. The error is a sentence for its author.
pub fn parse(text: &str) -> Result<Plan, String> {
    read(text.as_bytes(), &programs).map_err(|error| error.to_string())
}

/// Returns the programs of shell text, wherever it runs.
fn programs(text: &str) -> Vec<String> {
    heads(&analyse(&imagined("/", 0, text), &Setting::default(), &mut Recorder::new(&Nowhere)))
}

/// A world in which no file exists.
struct Nowhere;

impl World for Nowhere {
    fn answer(&self, query: &Query) -> Option<Answer> {
        let Query::RealPath { base, path } = query else { return None };
        Some(Answer::RealPath(castellan_event::lexical_path(base, path)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "castellan_plan: 1\ncommands:\n  - cargo test *\n";

    #[test]
    fn a_copy_is_read_again_and_a_changed_one_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("plans");
        let (hash, plan) = Copies::new(place.clone()).keep(TEXT).unwrap();
        assert_eq!(Copies::new(place.clone()).get(&hash), Ok(plan));
        let file = place.join(format!("{hash}.yaml"));
        fs::write(&file, format!("{TEXT}  - rm -rf *\n")).unwrap();
        assert_eq!(Copies::new(place.clone()).get(&hash), Err("it is not what was copied".to_owned()));
        Copies::new(place.clone()).forget_but(|_| true);
        assert!(file.exists());
        Copies::new(place.clone()).forget_but(|_| false);
        assert!(!file.exists());
        assert!(Copies::new(place).get(&hash).is_err());
    }

    #[test]
    fn a_plan_that_cannot_be_read_is_not_copied() {
        let dir = tempfile::tempdir().unwrap();
        let copies = Copies::new(dir.path().join("plans"));
        let long = format!("{TEXT}name: {}\n", "x".repeat(PLAN_BYTES_MAX));
        for (text, expected) in [
            ("", "line 1"),
            ("- a\n", "line 1"),
            ("castellan_plan: 1\ncommand: x\n", "line 2"),
            ("castellan_plan: 1\ncommands: x\n", "line 2"),
            ("arms:\n  - conditions: x\n", "line 2"),
            (&long, "bytes"),
        ] {
            let error = copies.keep(text).unwrap_err();
            assert!(error.contains(expected), "{}: {error}", text.get(..40).unwrap_or(text));
        }
        assert!(!dir.path().join("plans").exists());
    }

    #[test]
    fn the_plan_of_an_experiment_names_the_programs_of_its_conditions() {
        let dir = tempfile::tempdir().unwrap();
        let text =
            "arms:\n  - name: h-main\n    conditions:\n      - cmd: A=1 nice ./blis run --x | tee out\n";
        let (_, plan) = Copies::new(dir.path().join("plans")).keep(text).unwrap();
        let commands = plan.scope().commands.as_ref().unwrap().iter();
        assert_eq!(
            commands.map(castellan_plans::CommandPattern::text).collect::<Vec<_>>(),
            ["blis *", "tee *"]
        );
    }
}
