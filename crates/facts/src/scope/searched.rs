//! Directories in which another name of a file (a hard link) matters: those of secrets, of castellan, and of settings that
//! programs obey. Derived from the table of scopes.

use std::collections::BTreeSet;

use castellan_event::Scope;

use super::Places;
use super::table::{PROGRAMS, ROWS};

/// Returns the directories, absolute, each once. Files deeper below are not found by another name.
pub(crate) fn searched_directories(places: &Places) -> Vec<String> {
    let workspace = places.workspace.as_deref();
    let stand_ins = places.stand_ins.iter().map(|(directory, _)| directory.clone());
    let mut all: Vec<String> = places.castellan.iter().cloned().chain(stand_ins).collect();
    for row in ROWS.iter().filter(|row| row.scope <= Scope::Hijack && row.about != PROGRAMS) {
        for pattern in row.paths {
            let anywhere = pattern.strip_prefix("**/").map(directory);
            // Settings of projects are in the workspace; secrets that are anywhere are also in homes.
            all.extend(anywhere.zip(workspace).map(|(directory, workspace)| joined(workspace, directory)));
            let in_homes = anywhere.filter(|_| row.scope <= Scope::Secret);
            match pattern.strip_prefix("~/").map(directory).or(in_homes) {
                Some(directory) => all.extend(places.homes.iter().map(|home| joined(home, directory))),
                // Unprivileged users cannot link files of the system that they cannot write.
                None if anywhere.is_none()
                    && row.scope <= Scope::Secret
                    && pattern.starts_with("/")
                    && !is_of_kernel(pattern) =>
                {
                    all.push(joined("", directory(pattern.trim_start_matches('/'))));
                }
                None => {}
            }
        }
    }
    let mut seen = BTreeSet::new();
    all.retain(|directory| !directory.is_empty() && seen.insert(directory.clone()));
    all
}

/// The known directory above the files of a pattern: `.ssh` of `.ssh/**`, `.aws` of `.aws/credentials`.
fn directory(below: &str) -> &str {
    let known = below.find('*').map_or(below, |at| below.get(..at).unwrap_or_default());
    known.rsplit_once('/').map_or("", |(directory, _)| directory)
}

fn joined(above: &str, directory: &str) -> String {
    let above = above.trim_end_matches('/');
    if directory.is_empty() { above.to_owned() } else { format!("{above}/{directory}") }
}

/// Files that are not on a disk have no other names.
fn is_of_kernel(pattern: &str) -> bool {
    ["/proc/", "/dev/", "/sys/", "/C:/"].iter().any(|root| pattern.starts_with(root))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_of_secrets_and_settings_are_searched() {
        let places = Places {
            homes: vec!["/home/u".to_owned(), "/data/u".to_owned()],
            castellan: vec!["/data/castellan".to_owned()],
            stand_ins: vec![("/data/claude".to_owned(), ".claude".to_owned())],
            workspace: Some("/w".to_owned()),
            ..Places::default()
        };
        let searched = searched_directories(&places);
        for expected in [
            "/home/u",
            "/data/u",
            "/home/u/.ssh",
            "/home/u/.aws",
            "/home/u/.config/castellan",
            "/home/u/.claude",
            "/home/u/.gnupg",
            "/data/castellan",
            "/data/claude",
            "/etc",
            "/w",
            "/w/.git",
            "/w/.git/hooks",
            "/w/.vscode",
        ] {
            assert!(searched.iter().any(|one| one == expected), "{expected}");
        }
        let odd = |one: &&String| one.contains('*') || one.ends_with('/') || !one.starts_with('/');
        assert_eq!(searched.iter().find(odd), None);
        let mut once = searched.clone();
        once.sort();
        once.dedup();
        assert_eq!(once.len(), searched.len());
        assert!(searched.len() < 800, "{} directories", searched.len());
    }
}
