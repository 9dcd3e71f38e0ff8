//! What castellan ships, compiled in, so that a home that does not exist yet can be made from nothing; and how it is
//! written out without ever replacing what a user has changed.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::config::DEFAULT_TEXT;
use crate::files::write_private;
use crate::layout::Layout;

/// The shipped rule files by name, in the order in which they load: names sort so.
const RULES: &[(&str, &str)] = &[
    ("10-secrets.yaml", include_str!("../../../rules/secrets.yaml")),
    ("20-system.yaml", include_str!("../../../rules/system.yaml")),
    ("30-destructive.yaml", include_str!("../../../rules/destructive.yaml")),
    ("40-execution.yaml", include_str!("../../../rules/execution.yaml")),
    ("50-agents.yaml", include_str!("../../../rules/agents.yaml")),
    ("60-git.yaml", include_str!("../../../rules/git.yaml")),
    ("70-publish.yaml", include_str!("../../../rules/publish.yaml")),
    ("80-self.yaml", include_str!("../../../rules/self.yaml")),
];

/// Names the files that castellan wrote and their hashes: a file with another hash is the user's.
const MANIFEST: &str = ".shipped";
const MANIFEST_FIRST_LINE: &str = "castellan-shipped 1";

/// What became of one shipped file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shipped {
    /// Written anew.
    Written(PathBuf),
    /// Replaced a version that castellan had written.
    Updated(PathBuf),
    /// The user has changed it; the shipped version lies beside it, under this name.
    Kept(PathBuf),
}

/// Returns the shipped rule files: name and text.
pub fn shipped_rules() -> &'static [(&'static str, &'static str)] {
    RULES
}

/// Writes the default configuration and the shipped rules where they are missing or were written by an earlier castellan.
/// Returns only what was done; nothing when all is in place.
pub fn write_shipped(layout: &Layout) -> io::Result<Vec<Shipped>> {
    let mut done = Vec::new();
    let config = layout.config_file();
    if !config.exists() {
        write_private(&config, DEFAULT_TEXT.as_bytes())?;
        done.push(Shipped::Written(config));
    }
    let dir = layout.rules_shipped();
    let manifest = read_manifest(&dir);
    for (name, text) in RULES {
        done.extend(write_rules(&dir.join(name), text, manifest.get(*name))?);
    }
    let lines: String =
        RULES.iter().map(|(name, text)| format!("{} {name}\n", hash(text.as_bytes()))).collect();
    let text = format!("{MANIFEST_FIRST_LINE}\n{lines}");
    if std::fs::read(dir.join(MANIFEST)).ok().as_deref() != Some(text.as_bytes()) {
        write_private(&dir.join(MANIFEST), text.as_bytes())?;
    }
    Ok(done)
}

fn write_rules(path: &Path, text: &str, written: Option<&String>) -> io::Result<Option<Shipped>> {
    match std::fs::read(path) {
        Ok(present) if present == text.as_bytes() => Ok(None),
        Ok(present) if written == Some(&hash(&present)) => {
            write_private(path, text.as_bytes())?;
            Ok(Some(Shipped::Updated(path.to_owned())))
        }
        Ok(_) => {
            // Not loaded: only .yaml and .yml files are.
            let beside = path.with_extension("yaml.shipped");
            if std::fs::read(&beside).ok().as_deref() == Some(text.as_bytes()) {
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

fn read_manifest(dir: &Path) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(dir.join(MANIFEST)).unwrap_or_default();
    let mut lines = text.lines();
    if lines.next() != Some(MANIFEST_FIRST_LINE) {
        return BTreeMap::new();
    }
    lines
        .filter_map(|line| line.split_once(' '))
        .map(|(hash, name)| (name.to_owned(), hash.to_owned()))
        .collect()
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
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
        let mut shipped: Vec<_> = RULES
            .iter()
            .map(|(name, _)| name.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-').to_owned())
            .collect();
        packs.sort();
        shipped.sort();
        assert_eq!(packs, shipped);
        assert!(RULES.is_sorted_by_key(|(name, _)| *name), "they load in the order of their names");
    }

    #[test]
    fn a_changed_file_is_kept_and_an_outdated_one_updated() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::read(dir.path()).unwrap();
        layout.create().unwrap();
        assert_eq!(write_shipped(&layout).unwrap().len(), RULES.len() + 1);
        assert_eq!(write_shipped(&layout).unwrap(), []);

        let rules = layout.rules_shipped();
        std::fs::write(rules.join(RULES[0].0), "# mine\n").unwrap();
        std::fs::write(rules.join(RULES[1].0), "# old\n").unwrap();
        let manifest = std::fs::read_to_string(rules.join(MANIFEST)).unwrap();
        let manifest = manifest.replace(&hash(RULES[1].1.as_bytes()), &hash(b"# old\n"));
        std::fs::write(rules.join(MANIFEST), manifest).unwrap();

        let done = write_shipped(&layout).unwrap();
        let beside = rules.join("10-secrets.yaml.shipped");
        assert_eq!(done, [Shipped::Kept(beside.clone()), Shipped::Updated(rules.join(RULES[1].0))]);
        assert_eq!(std::fs::read_to_string(rules.join(RULES[0].0)).unwrap(), "# mine\n");
        assert_eq!(std::fs::read_to_string(beside).unwrap(), RULES[0].1);
        assert_eq!(write_shipped(&layout).unwrap(), []);
    }
}
