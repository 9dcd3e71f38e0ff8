//! The shipped files, compiled in, so that castellan can create a home. Writing them never replaces a user's change.

mod packs;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use castellan_event::sha256_hex;
use castellan_rules::Source;

use crate::layout::Layout;
use crate::limits::RULE_FILE_BYTES_MAX;
use castellan_files::{Guard, read_bytes, read_text, write_private};

pub use self::packs::{ORGANISATION_PACKS, SHIPPED_PACKS, ShippedPack};

/// The configuration of a new home.
pub(crate) const DEFAULT_CONFIG: &str = include_str!("default_config.toml");

/// Files of an earlier castellan whose rules are now elsewhere, with the SHA-256 of every shipped text.
const RETIRED: &[(&str, &[&str])] = &[
    ("20-system.yaml", &["54118e6e7eeb5e3e500522664141d68ada0141eea0b5485aa61a8692380077e2"]),
    ("30-destructive.yaml", &["207d37c108bd2975da5296d00ae16bec39795f4d70ff07c1bb7076eea0c8bcb4"]),
    ("40-execution.yaml", &["0a5ae81d25f8d3fbdd60ac8ee522c5443e02b83eb85ba8d7efe0aed8f2f1b487"]),
    ("50-agents.yaml", &["a0b35cf597715575b31af863cd9d288982f4a2403d2d407d3bfe23732533ee6d"]),
    ("60-git.yaml", &["ce4af06f68392d1067f47842dd5781eb71f9eebd3171e749f4f3b08a7942246f"]),
    ("70-publish.yaml", &["7a008bf6f985bce5c6783959fc46740e59dafd209eb877825b099b742b7dbf9a"]),
    ("80-self.yaml", &["c9dc8d0df1a4d36010dda442deadda5319a532ffbbd2cd41632a80c019bbccf7"]),
];

/// A tool of no agent, denied by the pack `self`: `castellan doctor` tests with it that calls are judged.
pub const CANARY_TOOL: &str = "castellan_canary";

/// Lists the files that castellan wrote with their hashes: a file with another hash is the user's.
const MANIFEST: &str = ".shipped";
const MANIFEST_FIRST_LINE: &str = "castellan-shipped 1";

/// Result for one shipped file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shipped {
    /// Newly written.
    Written(PathBuf),
    /// Replaced a version that castellan had written.
    Updated(PathBuf),
    /// The user has changed it; castellan wrote its version beside it, under this name.
    Kept(PathBuf),
    /// Removed a version that castellan had written and no longer ships.
    Removed(PathBuf),
}

/// Returns the shipped rule files in load order, without the organisation's.
pub fn shipped_rules() -> Vec<Source> {
    SHIPPED_PACKS.iter().map(ShippedPack::rules).collect()
}

/// Returns the rule files of the organisation's layer, which is above every home's.
pub fn organisation_rules() -> Vec<Source> {
    ORGANISATION_PACKS.iter().map(ShippedPack::rules).collect()
}

fn is_shipped(file: &str, text: &str) -> bool {
    SHIPPED_PACKS.iter().any(|pack| pack.file == file && pack.rules == text)
}

pub(crate) fn is_shipped_text(text: &str) -> bool {
    SHIPPED_PACKS.iter().any(|pack| pack.rules == text)
}

/// Reports whether a file has the name and text of a shipped rule file. A user need not repair problems in such a file.
pub fn is_as_shipped(source: &Source) -> bool {
    let name = Path::new(&source.name).file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| is_shipped(name, &source.text))
}

/// Hex SHA-256 over every shipped rule file. Two castellans with the same hash are no upgrade of each other.
pub(crate) fn shipped_hash() -> String {
    sha256_hex(hash_lines().as_bytes())
}

/// Returns a line with hash and name for each shipped rule file.
fn hash_lines() -> String {
    SHIPPED_PACKS
        .iter()
        .map(|pack| format!("{} {}\n", sha256_hex(pack.rules.as_bytes()), pack.file))
        .collect()
}

/// Reports whether only castellan itself changed a file of a set (`default/10-secrets.yaml`): the file now has the
/// shipped text, or a retired file with shipped text was removed.
pub fn is_own_change(name: &str, before: Option<&str>, after: Option<&str>) -> bool {
    let Some(name) = name.strip_prefix("default/") else { return false };
    match after {
        Some(after) => is_shipped(name, after),
        None => before.is_some_and(|before| {
            let before = sha256_hex(before.as_bytes());
            RETIRED.iter().any(|(retired, texts)| *retired == name && texts.contains(&before.as_str()))
        }),
    }
}

/// Writes the default configuration and the shipped rules if missing or from an earlier castellan. Returns the changes.
pub fn write_shipped(layout: &Layout) -> io::Result<Vec<Shipped>> {
    let mut done = Vec::new();
    let config = layout.config_file();
    if !config.exists() {
        write_private(&config, DEFAULT_CONFIG.as_bytes())?;
        done.push(Shipped::Written(config));
    }
    let dir = layout.rules_shipped();
    let manifest = read_manifest(&dir);
    for pack in SHIPPED_PACKS {
        done.extend(write_rules(&dir.join(pack.file), pack.rules, manifest.get(pack.file))?);
    }
    for (name, _) in RETIRED {
        done.extend(remove_retired(&dir.join(name), manifest.get(*name))?);
    }
    let text = format!("{MANIFEST_FIRST_LINE}\n{}", hash_lines());
    if present(&dir.join(MANIFEST)).ok().as_deref() != Some(text.as_bytes()) {
        write_private(&dir.join(MANIFEST), text.as_bytes())?;
    }
    Ok(done)
}

fn write_rules(path: &Path, text: &str, written: Option<&String>) -> io::Result<Option<Shipped>> {
    match present(path) {
        Ok(present) if present == text.as_bytes() => Ok(None),
        Ok(present) if written == Some(&sha256_hex(&present)) => {
            write_private(path, text.as_bytes())?;
            Ok(Some(Shipped::Updated(path.to_owned())))
        }
        Ok(_) => {
            // Not loaded, because only .yaml and .yml files are.
            let beside = path.with_extension("yaml.shipped");
            if present(&beside).ok().as_deref() == Some(text.as_bytes()) {
                return Ok(None);
            }
            write_private(&beside, text.as_bytes())?;
            Ok(Some(Shipped::Kept(beside)))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            write_private(path, text.as_bytes())?;
            Ok(Some(Shipped::Written(path.to_owned())))
        }
        Err(error) => Err(error),
    }
}

/// Removes a file that castellan had written. A file that the user has changed stays.
fn remove_retired(path: &Path, written: Option<&String>) -> io::Result<Option<Shipped>> {
    match present(path) {
        Ok(present) if written == Some(&sha256_hex(&present)) => {
            std::fs::remove_file(path)?;
            Ok(Some(Shipped::Removed(path.to_owned())))
        }
        Ok(_) => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads the file at the path of a shipped file.
fn present(file: &Path) -> io::Result<Vec<u8>> {
    read_bytes(file, RULE_FILE_BYTES_MAX, Guard::Any)
}

fn read_manifest(dir: &Path) -> BTreeMap<String, String> {
    let text = read_text(&dir.join(MANIFEST), RULE_FILE_BYTES_MAX).unwrap_or_default();
    let mut lines = text.lines();
    if lines.next() != Some(MANIFEST_FIRST_LINE) {
        return BTreeMap::new();
    }
    lines
        .filter_map(|line| line.split_once(' '))
        .map(|(hash, name)| (name.to_owned(), hash.to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pack_of_the_folder_is_shipped() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rules");
        let names =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut packs: Vec<_> = names.filter(|name| !name.ends_with("_cases.yaml")).collect();
        let mut shipped: Vec<_> = SHIPPED_PACKS
            .iter()
            .chain(ORGANISATION_PACKS)
            .map(|pack| format!("{}.yaml", pack.name))
            .collect();
        packs.sort();
        shipped.sort();
        assert_eq!(packs, shipped);
        assert!(SHIPPED_PACKS.is_sorted_by_key(|pack| pack.file), "they load in the order of their names");
    }

    #[test]
    fn a_changed_file_is_kept_and_an_outdated_one_updated() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::read(dir.path()).unwrap();
        layout.create().unwrap();
        assert_eq!(write_shipped(&layout).unwrap().len(), SHIPPED_PACKS.len() + 1);
        assert_eq!(write_shipped(&layout).unwrap(), []);

        let rules = layout.rules_shipped();
        std::fs::write(rules.join(SHIPPED_PACKS[0].file), "# mine\n").unwrap();
        std::fs::write(rules.join(SHIPPED_PACKS[1].file), "# old\n").unwrap();
        let manifest = std::fs::read_to_string(rules.join(MANIFEST)).unwrap();
        let manifest =
            manifest.replace(&sha256_hex(SHIPPED_PACKS[1].rules.as_bytes()), &sha256_hex(b"# old\n"));
        std::fs::write(rules.join(MANIFEST), manifest).unwrap();

        let done = write_shipped(&layout).unwrap();
        let beside = rules.join("10-secrets.yaml.shipped");
        assert_eq!(
            done,
            [Shipped::Kept(beside.clone()), Shipped::Updated(rules.join(SHIPPED_PACKS[1].file))]
        );
        assert_eq!(std::fs::read_to_string(rules.join(SHIPPED_PACKS[0].file)).unwrap(), "# mine\n");
        assert_eq!(std::fs::read_to_string(beside).unwrap(), SHIPPED_PACKS[0].rules);
        assert_eq!(write_shipped(&layout).unwrap(), []);
    }

    /// Checks the handling of an earlier castellan's file with this text, when the manifest names its first text.
    fn check_retired(text: &str, removed: bool) {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::read(dir.path()).unwrap();
        layout.create().unwrap();
        let file = layout.rules_shipped().join("80-self.yaml");
        std::fs::write(&file, text).unwrap();
        let manifest = format!("{MANIFEST_FIRST_LINE}\n{} 80-self.yaml\n", sha256_hex(b"# written\n"));
        std::fs::write(layout.rules_shipped().join(MANIFEST), manifest).unwrap();
        let done = write_shipped(&layout).unwrap();
        assert_eq!(done.contains(&Shipped::Removed(file.clone())), removed);
        assert_eq!(file.exists(), !removed);
        assert_eq!(write_shipped(&layout).unwrap(), []);
        assert_eq!(file.exists(), !removed);
    }

    #[test]
    fn only_castellans_own_changes_are_its_own() {
        let ShippedPack { file, rules: text, .. } = &SHIPPED_PACKS[0];
        let name = format!("default/{file}");
        let check = |name: &str, before, after, expected| {
            assert_eq!(is_own_change(name, before, after), expected, "{name}: {before:?} -> {after:?}");
        };
        check(&name, Some("# old"), Some(text), true);
        check(&name, None, Some(text), true);
        check(&name, Some(text), Some("# mine"), false);
        check(&name, Some(text), None, false);
        check("user/10-secrets.yaml", None, Some(text), false);
        check("default/99-new.yaml", None, Some(text), false);
        check("default/80-self.yaml", Some("# mine"), None, false);
        check("default/80-self.yaml", None, Some("# back"), false);
        check("config.toml", Some("version = 1"), None, false);
    }

    #[test]
    fn a_file_that_is_shipped_no_more_is_removed_unless_it_was_changed() {
        check_retired("# written\n", true);
        check_retired("# mine\n", false);
    }
}
