//! [`FileSet`]: the text of a layer's configuration and rule files. It must not know whether that is on disk or was
//! applied.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use castellan_event::PartsHash;
use castellan_rules::{Problem, Source, Yaml, YamlValue};

use crate::config::{Config, ConfigError};
use crate::layout::{Layout, OrganisationPlace};
use crate::limits::{
    APPLIED_BYTES_MAX, CONFIG_BYTES_MAX, PROJECT_BYTES_MAX, RULE_FILE_BYTES_MAX, RULE_FILES_MAX,
};
use crate::sight;
use castellan_files::{Guard, is_distrusted, read_bytes};

/// Configuration and rule files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSet {
    /// The text of `config.toml`.
    pub config: String,
    /// Rule files, named by their paths, in the order of loading.
    pub rules: Vec<Source>,
}

/// The reason why the files on disk cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum FileSetError {
    /// The configuration cannot be read.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A rule file or a folder of rule files cannot be read.
    #[error("`{0}`: {1}")]
    Rules(PathBuf, io::Error),
    /// A rule file is no text.
    #[error("{}", .0.one_line())]
    NotText(Box<Problem>),
}

impl FileSet {
    /// Reads the user's present files. An absent configuration is replaced by the default.
    pub fn read(layout: &Layout) -> Result<FileSet, FileSetError> {
        let config = Config::read_text(&layout.config_file())?;
        Ok(FileSet { config, rules: read_rules(layout)? })
    }

    /// Returns the hex SHA-256 over every text and its short name: two homes with the same files have the same hash.
    pub fn hash(&self) -> String {
        let mut hash = PartsHash::default();
        for (name, text) in self.files() {
            hash.put(&name);
            hash.put(text);
        }
        hash.hex()
    }

    /// Returns every file's short name (`config.toml`, `default/10-secrets.yaml`, `user/mine.yaml`) and text.
    pub fn files(&self) -> impl Iterator<Item = (String, &str)> {
        let rules = self.rules.iter().map(|source| (short_name(&source.name), source.text.as_str()));
        std::iter::once(("config.toml".to_owned(), self.config.as_str())).chain(rules)
    }

    /// Returns the text of a file by its short name.
    pub fn text_of(&self, name: &str) -> Option<&str> {
        self.files().find(|(file, _)| file == name).map(|(_, text)| text)
    }

    /// Returns the short names of the files that differ between both sets.
    pub fn differing(&self, other: &FileSet) -> Vec<String> {
        let (ours, theirs): (BTreeMap<_, _>, BTreeMap<_, _>) =
            (self.files().collect(), other.files().collect());
        let names = ours.keys().chain(theirs.keys().filter(|name| !ours.contains_key(*name)));
        names.filter(|name| ours.get(*name) != theirs.get(*name)).cloned().collect()
    }
}

impl FileSetError {
    /// Reports whether a file was rejected because another user may have written it.
    pub fn is_distrusted(&self) -> bool {
        match self {
            FileSetError::Config(ConfigError::Io(_, error)) | FileSetError::Rules(_, error) => {
                is_distrusted(error)
            }
            FileSetError::Config(ConfigError::Malformed(..)) | FileSetError::NotText(_) => false,
        }
    }
}

/// The configuration of a layer that has only rule files.
const NOTHING_SAID: &str = "version = 1\n";

/// Reads the organisation's files. Returns `None` if there are none. The error names the first file that cannot be
/// read, or that another user may have written.
pub fn read_organisation(place: &OrganisationPlace) -> Result<Option<FileSet>, FileSetError> {
    read_folder(&place.dir, Guard::Owner(place.owner))
}

/// Reads a workspace's own files in `.castellan/`, if there are any. The error names the first that cannot be read.
pub fn read_project(workspace: &Path) -> Result<Option<FileSet>, FileSetError> {
    read_folder(&workspace.join(PROJECT_FOLDER), Guard::Project)
}

/// The folder of a workspace's own files.
pub const PROJECT_FOLDER: &str = ".castellan";

/// Reads `config.toml` and `rules/*.yaml` of a folder.
fn read_folder(dir: &Path, guard: Guard) -> Result<Option<FileSet>, FileSetError> {
    if !is_guarded_folder(dir, guard)? {
        return Ok(None);
    }
    let file = dir.join("config.toml");
    let config = match text_of(&file, CONFIG_BYTES_MAX, guard) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        read => Some(read.map_err(|error| ConfigError::Io(file, error))?),
    };
    let rules_dir = dir.join("rules");
    let mut rules = Vec::new();
    if is_guarded_folder(&rules_dir, guard)? {
        let mut left = if guard == Guard::Project { PROJECT_BYTES_MAX } else { APPLIED_BYTES_MAX };
        read_rule_files(&rules_dir, guard, &mut left, &mut rules)?;
    }
    if config.is_none() && rules.is_empty() {
        return Ok(None);
    }
    Ok(Some(FileSet { config: config.unwrap_or_else(|| NOTHING_SAID.to_owned()), rules }))
}

/// Reads a file of a layer. A workspace's own files are those of the guarded user, all others are castellan's or root's.
fn bytes_of(file: &Path, max: u64, guard: Guard) -> io::Result<Vec<u8>> {
    match guard {
        Guard::Project => sight::read_bytes(file, max, guard),
        Guard::Any | Guard::User | Guard::Owner(_) | Guard::Private(_) => read_bytes(file, max, guard),
    }
}

fn text_of(file: &Path, max: u64, guard: Guard) -> io::Result<String> {
    castellan_files::text(bytes_of(file, max, guard)?)
}

/// Reports whether such a folder exists. Returns an error if it is no folder, or if another user may have written it.
fn is_guarded_folder(dir: &Path, guard: Guard) -> Result<bool, FileSetError> {
    let wrong = |error| FileSetError::Rules(dir.to_owned(), error);
    let is_of_user = guard == Guard::Project;
    let found = if is_of_user { sight::symlink_metadata(dir) } else { std::fs::symlink_metadata(dir) };
    let found = match found {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        found => found.map_err(wrong)?,
    };
    if !found.is_dir() {
        return Err(wrong(io::Error::other("not a folder; a symbolic link is not followed here")));
    }
    let owner = if is_of_user { sight::user() } else { rustix::process::geteuid().as_raw() };
    guard.check_for(owner, &found).map_err(wrong)?;
    Ok(true)
}

/// Reads every rule file of a home: the shipped files, then the user's, each folder in the order of names.
pub(crate) fn read_rules(layout: &Layout) -> Result<Vec<Source>, FileSetError> {
    let mut sources = Vec::new();
    // A set over this limit could not be applied.
    let mut left = APPLIED_BYTES_MAX;
    for dir in [layout.rules_shipped(), layout.rules_user()] {
        read_rule_files(&dir, Guard::User, &mut left, &mut sources)?;
    }
    Ok(sources)
}

/// Reads the rule files of a folder, at most `left` bytes together, and reduces `left` by their size.
fn read_rule_files(
    dir: &Path,
    guard: Guard,
    left: &mut u64,
    sources: &mut Vec<Source>,
) -> Result<(), FileSetError> {
    let files = match guard {
        Guard::Project => project_rule_files(dir),
        Guard::Any | Guard::User | Guard::Owner(_) | Guard::Private(_) => rule_files(dir),
    };
    let files = files.map_err(|error| FileSetError::Rules(dir.to_owned(), error))?;
    for file in files {
        let bytes = bytes_of(&file, RULE_FILE_BYTES_MAX.min(*left), guard)
            .map_err(|error| FileSetError::Rules(file.clone(), error))?;
        *left = left.saturating_sub(bytes.len() as u64);
        let source = Source::from_bytes(file.display().to_string(), bytes).map_err(FileSetError::NotText)?;
        if !is_case_file(&source) {
            sources.push(source);
        }
    }
    Ok(())
}

/// The end of the name of a file with the cases of a rule file: `mine_cases.yaml` belongs to `mine.yaml`.
pub const CASES_ENDING: &str = "_cases.yaml";

/// Reports whether a file holds cases: it has the name of a case file and is a YAML map. A list holds rules, whatever
/// the file's name is. A file that cannot be parsed causes an error as a rule file.
pub fn is_case_file(file: &Source) -> bool {
    file.name.ends_with(CASES_ENDING)
        && Yaml::read(file).is_ok_and(|root| matches!(root.value, YamlValue::Map(_)))
}

/// Returns the rule files of a folder and their case files, sorted by name.
pub(crate) fn rule_files(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(dir)?;
    rules_among(entries.map(|entry| entry.map(|entry| entry.path())))
}

/// As [`rule_files`], for a folder of the guarded user.
fn project_rule_files(dir: &Path) -> io::Result<Vec<PathBuf>> {
    rules_among(sight::read_dir(dir)?.map(|entry| entry.map(|entry| entry.path)))
}

fn rules_among(paths: impl Iterator<Item = io::Result<PathBuf>>) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        let path = path?;
        if path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml") {
            files.push(path);
        }
    }
    if files.len() > RULE_FILES_MAX {
        return Err(io::Error::other(format!("more than {RULE_FILES_MAX} rule files")));
    }
    files.sort();
    Ok(files)
}

/// Returns the last folder and the name, which do not depend on the path of the home.
fn short_name(path: &str) -> String {
    let path = Path::new(path);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let folder = path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    format!("{folder}/{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(config: &str, rules: &[(&str, &str)]) -> FileSet {
        let source =
            |(name, text): &(&str, &str)| Source { name: (*name).to_owned(), text: (*text).to_owned() };
        FileSet { config: config.to_owned(), rules: rules.iter().map(source).collect() }
    }

    #[test]
    fn the_hash_is_of_every_name_and_text() {
        let base = set("c", &[("/h/rules/user/a.yaml", "x"), ("/h/rules/user/b.yaml", "y")]);
        let elsewhere = set("c", &[("/g/rules/user/a.yaml", "x"), ("/g/rules/user/b.yaml", "y")]);
        assert_eq!(base.hash(), elsewhere.hash());
        // Applied sets and records hold such hashes.
        assert_eq!(base.hash(), "30a7723e65b3fac73255aee3b1ea409cf7d4b8a5a1175e3f2a5e09e444517243");
        for other in [
            set("d", &[("/h/rules/user/a.yaml", "x"), ("/h/rules/user/b.yaml", "y")]),
            set("c", &[("/h/rules/default/a.yaml", "x"), ("/h/rules/user/b.yaml", "y")]),
            set("c", &[("/h/rules/user/a.yaml", "xy"), ("/h/rules/user/b.yaml", "")]),
            set("c", &[("/h/rules/user/b.yaml", "y"), ("/h/rules/user/a.yaml", "x")]),
            set("c", &[("/h/rules/user/a.yaml", "x")]),
        ] {
            assert_ne!(base.hash(), other.hash(), "{other:?}");
        }
    }

    #[test]
    fn only_a_map_with_such_a_name_is_cases() {
        for (name, text, expected) in [
            ("mine_cases.yaml", "version: 2\ncases: []\n", true),
            ("mine.yaml", "version: 2\ncases: []\n", false),
            ("edge_cases.yaml", "- list: l\n  items: []\n", false),
            ("mine_cases.yaml", "version: [\n", false),
            ("mine_cases.yaml", "", false),
        ] {
            let file = Source { name: name.to_owned(), text: text.to_owned() };
            assert_eq!(is_case_file(&file), expected, "{name}: {text}");
        }
    }

    #[test]
    fn files_differ_by_name_and_text() {
        let applied = set("c", &[("/h/user/a.yaml", "x"), ("/h/user/b.yaml", "y"), ("/h/user/c.yaml", "z")]);
        let edited = set("d", &[("/h/user/a.yaml", "x"), ("/h/user/b.yaml", "Y"), ("/h/user/d.yaml", "z")]);
        let expected = ["config.toml", "user/b.yaml", "user/d.yaml", "user/c.yaml"];
        assert_eq!(edited.differing(&applied), expected);
        assert_eq!(edited.differing(&edited), [""; 0]);
    }
}
