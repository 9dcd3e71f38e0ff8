//! The kit's user rules: read, checked with castellan's loader under their own paths, and where they go. Nothing is dropped:
//! a rule that does not load stops the import.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use castellan_daemon::{Layout, shipped_rules};
use castellan_event::FIELDS;
use castellan_files::{Guard, read_bytes};
use castellan_rules::{self as rules, Loaded, Options, Problem, Severity, Source};

use crate::limits::{KIT_RULE_FILES_MAX, RULE_FILE_BYTES_MAX};

/// The beginning of the names of imported files.
const PREFIX: &str = "kit-";

/// The loader's warnings about items that it drops.
const DROPPED: [&str; 3] = ["LOAD_UNKNOWN_FILTER", "LOAD_UNKNOWN_SOURCE", "LOAD_UNKNOWN_ITEM"];

/// The kit's user rules.
#[derive(Debug, Default)]
pub(super) struct KitRules {
    /// The files, by their paths in the kit.
    pub(super) sources: Vec<Source>,
    pub(super) problems: Vec<Problem>,
    /// Faults without a place in a text.
    pub(super) faults: Vec<String>,
    /// Files that are not copied, with the reason.
    pub(super) left: Vec<String>,
}

impl KitRules {
    /// Reads and checks the rules of `dir`. `in_force`: the rule files of castellan's home.
    pub(super) fn read(dir: &Path, options: &Options, in_force: &[Source]) -> anyhow::Result<KitRules> {
        let mut found = KitRules::default();
        let folder = dir.join("rules/user");
        if std::fs::symlink_metadata(&folder).is_err() {
            found.left.push(format!("`{}` does not exist: there are no user rules", folder.display()));
        } else {
            found.read_folder(&folder)?;
        }
        let shipped = dir.join("rules/default");
        if shipped.exists() {
            let replaced = "the kit's own rules: castellan's packs replace them";
            found.left.push(format!("`{}`: {replaced}", shipped.display()));
        }
        found.check(options, &shipped, in_force);
        Ok(found)
    }

    /// Returns castellan's file for each of the kit's.
    pub(super) fn targets(&self, layout: &Layout) -> anyhow::Result<Vec<Source>> {
        let target = |source: &Source| {
            let name = Path::new(&source.name).file_name().unwrap_or_default().to_string_lossy();
            let file = layout.rules_user().join(format!("{PREFIX}{name}"));
            let shown = file.display();
            ensure!(
                std::fs::symlink_metadata(&file).is_err(),
                "`{shown}` exists already: rename or remove it, and apply that first"
            );
            Ok(Source { name: shown.to_string(), text: source.text.clone() })
        };
        self.sources.iter().map(target).collect()
    }

    pub(super) fn is_sound(&self) -> bool {
        self.problems.is_empty() && self.faults.is_empty()
    }

    fn read_folder(&mut self, folder: &Path) -> anyhow::Result<()> {
        let shown = || format!("`{}`", folder.display());
        let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
            .with_context(shown)?
            .take(KIT_RULE_FILES_MAX + 1)
            .map(|entry| Ok(entry?.path()))
            .collect::<std::io::Result<_>>()
            .with_context(shown)?;
        ensure!(files.len() <= KIT_RULE_FILES_MAX, "{} has more than {KIT_RULE_FILES_MAX} files", shown());
        files.sort();
        for file in files {
            let is_rules = file.extension().is_some_and(|ending| ending == "yaml" || ending == "yml");
            if is_rules {
                self.read_file(&file)
            } else {
                self.left.push(format!("`{}`: no rule file", file.display()))
            }
        }
        Ok(())
    }

    fn read_file(&mut self, file: &Path) {
        let shown = file.display().to_string();
        let bytes = match read_bytes(file, RULE_FILE_BYTES_MAX, Guard::User) {
            Ok(bytes) => bytes,
            Err(error) => return self.faults.push(format!("`{shown}`: {error}")),
        };
        match Source::from_bytes(shown, bytes) {
            Ok(source) => self.sources.push(source),
            Err(problem) => self.problems.push(*problem),
        }
    }

    fn check(&mut self, options: &Options, kits_own: &Path, in_force: &[Source]) {
        let options = Options { lints: false, describe: false, ..options.clone() };
        let loaded = rules::load(&self.sources, FIELDS, &options);
        let stops =
            |problem: &&Problem| problem.severity == Severity::Error || DROPPED.contains(&problem.code);
        // The other warnings are shown with the changes.
        self.problems.extend(loaded.problems.iter().filter(stops).cloned());
        if loaded.has_errors() && kits_own.exists() {
            self.faults.push(format!(
                "a name that is defined in `{}` does not exist in castellan: copy its definition into the file that uses it",
                kits_own.display()
            ));
        }
        let mut own = names(&rules::load(&shipped_rules(), FIELDS, &options));
        own.extend(names(&rules::load(in_force, FIELDS, &options)));
        for name in names(&loaded).intersection(&own) {
            self.faults.push(format!(
                "castellan has {name} too, which the kit's would replace: rename it in the kit's file"
            ));
        }
    }
}

fn names(loaded: &Loaded) -> BTreeSet<String> {
    let set = &loaded.rules;
    let rules = set.rules().iter().map(|rule| format!("a rule `{}`", rule.name));
    let macros = set.macros().iter().map(|name| format!("a macro `{name}`"));
    let lists = set.lists().iter().map(|name| format!("a list `{name}`"));
    rules.chain(macros).chain(lists).collect()
}
