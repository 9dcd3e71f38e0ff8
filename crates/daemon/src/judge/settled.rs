//! The end of marks: a person has kept or undone files that contained commands wrote. It must not know how files are shown.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use castellan_facts::{ChangedPath, ContainedMarks};

use super::Judge;
use super::checkpoint::{call_of, checkpoint_id};
use crate::memory::{CallFiles, Named, WiderMark};

impl Judge {
    /// Returns the files of a contained call that nobody has settled after a person has seen all but those at or below
    /// `places`, which are relative to the workspace.
    pub(crate) fn unsettled(&self, checkpoint: &str, places: &[PathBuf]) -> BTreeSet<String> {
        self.end_outlasting(None);
        let memory = self.memory();
        let files = call_of(checkpoint).and_then(|call| memory.contained_call(call));
        files.map(|files| rest(&files, places, &memory.open_copies())).unwrap_or_default()
    }

    /// Forgets the files that a contained call wrote, because a person has kept or undone them; see [`Judge::check_ended`].
    /// Those of [`Judge::unsettled`] stay written by code that nobody has read.
    pub(crate) fn settle_but(&self, checkpoint: &str, places: &[PathBuf]) {
        let Some(call) = call_of(checkpoint) else { return };
        self.end_outlasting(None);
        let mut memory = self.memory();
        let Some(files) = memory.contained_call(call) else { return };
        let rest = rest(&files, places, &memory.open_copies());
        let stored = match rest.is_empty() {
            true => memory.settle_contained(call, &files.workspace),
            false => memory.end_contained(call, &files.workspace, rest.into_iter().collect()),
        };
        drop(memory);
        if let Err(error) = stored {
            self.fail("state", &format!("that files are settled cannot be written: {error}"));
        }
    }

    /// Returns the marks that a person settles by naming paths, or the reason why they cannot be settled: a path is marked only
    /// with others, or a command may still write a file.
    pub(crate) fn named(&self, paths: &[String]) -> Result<Vec<Named>, String> {
        let found = self.memory().contained_at(paths).map_err(|WiderMark { path, mark }| {
            let wider = fixed_directory(&mark);
            format!("`{path}` is marked with everything in `{wider}`, so name `{wider}`")
        })?;
        found.iter().try_for_each(|one| self.check_ended(&checkpoint_id(one.call)))?;
        self.end_outlasting(None);
        check_copied(&found, &self.memory().open_copies()).map(|()| found)
    }

    /// Forgets marks at or below paths, because a person has read the files. An error if the marks are others by now.
    pub(crate) fn settle_named(&self, paths: &[String], read: Vec<Named>) -> Result<(), String> {
        let mut memory = self.memory();
        let found = memory.contained_at(paths).unwrap_or_default();
        if found != read {
            return Err(
                "another call has written or copied such files since you saw them: look again".to_owned()
            );
        }
        let stored =
            found.into_iter().try_for_each(|Named { call, workspace, rest, .. }| match rest.is_empty() {
                true => memory.settle_contained(call, &workspace),
                false => memory.end_contained(call, &workspace, rest.into_iter().collect()),
            });
        stored.map_err(|error| format!("that files are settled cannot be written: {error}"))
    }

    /// Prepares the settlement of a contained call: its command does not start any more. An error if the command runs,
    /// because its files are not known yet.
    pub(crate) fn check_ended(&self, checkpoint: &str) -> Result<(), String> {
        let Some(call) = call_of(checkpoint) else { return Ok(()) };
        let is_running =
            self.containment.get().is_some_and(|containment| containment.tickets().end_waiting(call));
        // An earlier daemon may have started it.
        let process = self.memory().contained_process(call);
        match is_running || process.is_some_and(|process| process.lives()) {
            true => Err("the command of this call still runs in its sandbox: wait for its end".to_owned()),
            false => Ok(()),
        }
    }

    /// The files of a contained call that is not settled.
    pub(crate) fn contained_files(&self, checkpoint: &str) -> Option<CallFiles> {
        self.memory().contained_call(call_of(checkpoint)?)
    }

    /// Restores the mark of a contained call after its list of files was lost: it may have written its whole workspace.
    pub(crate) fn mark_contained(&self, checkpoint: &str, workspace: &str) -> Result<(), String> {
        let call = call_of(checkpoint).ok_or("this is no call")?;
        let written = if workspace == "/" { below_root()? } else { vec![workspace.to_owned()] };
        let stored = self.memory().end_contained(call, workspace, written);
        stored.map_err(|error| format!("the files of contained calls cannot be written: {error}"))
    }
}

/// An error if a command may still write one of these files as a copy.
fn check_copied(found: &[Named], open: &BTreeSet<String>) -> Result<(), String> {
    let open = ContainedMarks::of(open);
    match found.iter().flat_map(|one| &one.named).find(|mark| open.may_be(mark)) {
        Some(mark) => Err(format!(
            "a command in the background may still copy unread files to `{}`: wait for its end, or end it",
            fixed_directory(mark)
        )),
        None => Ok(()),
    }
}

/// Returns the files that stay marked: those at or below `places`, copies outside of the workspace, and copies that an open
/// call may still write.
fn rest(files: &CallFiles, places: &[PathBuf], open: &BTreeSet<String>) -> BTreeSet<String> {
    let CallFiles { workspace, written, copies } = files;
    let root = Path::new(workspace);
    // The sandbox kept this directory as it was.
    let kept = root.join(".git");
    let places: Vec<PathBuf> = places
        .iter()
        .map(|path| root.join(path))
        .filter(|path| *path != kept && path.symlink_metadata().is_ok())
        .collect();
    let known = || written.iter().flatten().chain(copies);
    let marks = ContainedMarks::of(open);
    let coming = known().filter(|file| marks.may_be(file));
    let outside = known().filter(|file| !Path::new(file).starts_with(root));
    let mut rest: BTreeSet<String> = outside.chain(coming).cloned().collect();
    if written.is_some() {
        let known: BTreeSet<String> = known().cloned().collect();
        rest.extend(places.iter().flat_map(|place| rest_in(place, &known)));
    } else {
        rest.extend(places.iter().map(|place| text_of(place, workspace)));
        rest.extend(open.iter().cloned());
    }
    rest
}

/// Returns the written files at or below a place. A directory among them that holds the place may hold written files there.
fn rest_in(place: &Path, written: &BTreeSet<String>) -> Vec<String> {
    let is_above = |file: &String| place.starts_with(file);
    let below = written.iter().filter(|file| Path::new(file).starts_with(place)).cloned();
    let whole = written.iter().find(|file| is_above(file)).map(|above| text_of(place, above));
    below.chain(whole).collect()
}

/// Returns the directory that a mark names: for a pattern or a write to an unknown path, the one around its files.
pub(crate) fn fixed_directory(mark: &str) -> &str {
    let anywhere = ChangedPath::Anywhere("").stored();
    let known = mark.strip_suffix(&anywhere).unwrap_or(mark);
    let open = known.find(['*', '?', '[', '{']);
    let known =
        open.and_then(|at| known.get(..at)?.rsplit_once('/')).map_or(known, |(directory, _)| directory);
    if known.is_empty() { "/" } else { known }
}

/// castellan's paths are text: a place whose name is none becomes the directory `above`.
fn text_of(place: &Path, above: &str) -> String {
    place.to_str().unwrap_or(above).trim_end_matches('/').to_owned()
}

/// Returns the entries of the root, which cannot be marked itself.
fn below_root() -> Result<Vec<String>, String> {
    let failed = |error| format!("the root directory cannot be listed: {error}");
    let entries: Result<Vec<_>, _> = std::fs::read_dir("/").map_err(failed)?.collect();
    Ok(entries.map_err(failed)?.iter().map(|entry| entry.path().to_string_lossy().into_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_mark_of_an_unknown_place_is_in_every_directory() {
        let found = below_root().unwrap();
        for dir in ["/usr", "/tmp"] {
            assert!(found.iter().any(|path| path == dir), "{found:?}");
        }
    }

    #[test]
    fn a_mark_of_many_files_has_a_directory() {
        for (mark, expected) in [
            ("/w/a", "/w/a"),
            ("/o/*.sh", "/o"),
            ("/o/a*/b", "/o"),
            ("/*", "/"),
            (&ChangedPath::Anywhere("/w").stored(), "/w"),
        ] {
            assert_eq!(fixed_directory(mark), expected);
        }
    }

    #[test]
    fn only_files_that_nobody_saw_stay() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        for dir in [".git", "node_modules/a"] {
            std::fs::create_dir_all(root.join(dir)).unwrap();
        }
        let workspace = root.to_str().unwrap();
        let check_with = |written: Option<&[&str]>, places: &[&str], open: &[&str], expected: &[&str]| {
            let path = |name: &&str| root.join(name).to_str().unwrap().trim_end_matches('/').to_owned();
            let written: Option<BTreeSet<String>> = written.map(|written| written.iter().map(path).collect());
            let places: Vec<PathBuf> = places.iter().map(PathBuf::from).collect();
            let expected: BTreeSet<String> = expected.iter().map(path).collect();
            let open = open.iter().map(path).collect();
            let mut files = CallFiles { workspace: workspace.to_owned(), written, copies: BTreeSet::new() };
            assert_eq!(rest(&files, &places, &open), expected, "{files:?} but {places:?}");
            // No comparison of the workspace shows a copy elsewhere.
            files.copies.insert("/elsewhere/copy.sh".to_owned());
            let expected: BTreeSet<String> = expected.union(&files.copies).cloned().collect();
            assert_eq!(rest(&files, &places, &open), expected, "{files:?} but {places:?}");
        };
        let check = |written, places, expected| check_with(written, places, &[], expected);
        let all: &[&str] = &["run.sh", "node_modules/a/index.js"];
        check(Some(all), &[], &[]);
        check(Some(all), &["node_modules"], &["node_modules/a/index.js"]);
        check(Some(all), &[""], all);
        // Nothing of this place is there.
        check(Some(all), &["target"], &[]);
        // A directory has taken the place of too many files.
        check(Some(&[""]), &["node_modules"], &["node_modules"]);
        check(None, &[".git", "node_modules"], &["node_modules"]);
        check(None, &[], &[]);
        // No comparison of the workspace shows a copy elsewhere.
        check(Some(&["run.sh", "/elsewhere/run.sh"]), &[], &["/elsewhere/run.sh"]);
        // A call in the background may still write these.
        check_with(Some(&["run.sh", "b", "c/d"]), &[], &["b", "c"], &["b", "c/d"]);
        check_with(Some(&["a", "b"]), &[], &["*"], &["a", "b"]);
        check_with(None, &[], &["b"], &["b"]);
    }
}
