//! [`Before`]: the state of a workspace at the decision about a contained call, and the files that were written since. It
//! must not know who wrote them.

use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use castellan_checkpoint::{Entry, Kind, Limits, Listing};

use crate::sandbox_policy::needs_protection;

/// Directories whose content needs no protection of its own. `.git` is read-only as a whole at the top, and found by its
/// own name below it. The others hold packages and build output.
const CLOSED: &[&str] = &[".git", ".venv", "node_modules", "site-packages", "target"];

/// A listing of a workspace.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Before(Option<Listing>);

impl Before {
    /// Lists a workspace. An error if it has more entries than castellan compares.
    pub(crate) fn take(workspace: &str) -> Result<Before, String> {
        let listing = Listing::read(Path::new(workspace), &Limits::default());
        listing.map(|listing| Before(Some(listing))).map_err(|error| error.to_string())
    }

    /// The listing, for a checkpoint of the same state.
    pub(crate) fn listing(&self) -> Option<&Listing> {
        self.0.as_ref()
    }

    /// Returns a path that the sandbox leaves open, because it protects only the top of a workspace: a secret, a repository,
    /// settings of an editor or an agent. Installed packages bring such names themselves.
    pub(crate) fn unprotected(&self, workspace: &str) -> Option<String> {
        let entries = self.0.iter().flat_map(|listing| &listing.entries);
        let is_open = |path: &Path| {
            let above = path.parent().filter(|above| *above != Path::new(""));
            above.is_some_and(|above| !above.iter().any(|name| CLOSED.iter().any(|closed| name == *closed)))
                && needs_protection(&Path::new(workspace).join(path))
        };
        let found = entries.map(|entry| &entry.path).find(|path| is_open(path));
        found.map(|path| path.to_string_lossy().into_owned())
    }

    /// Returns a file that also has a name outside of the workspace, such as one of a package store. To write it is to write
    /// there, which no sandbox prevents. Version control is read-only as a whole.
    pub(crate) fn shared(&self) -> Option<String> {
        let entries = self.0.iter().flat_map(|listing| &listing.entries);
        let is_writable = |path: &Path| !path.starts_with(".git");
        let files: Vec<&Entry> = entries
            .filter(|entry| entry.stat.kind == Kind::File && entry.stat.links > 1 && is_writable(&entry.path))
            .collect();
        let mut names: HashMap<(u64, u64), u64> = HashMap::new();
        for Entry { stat, .. } in &files {
            *names.entry((stat.dev, stat.ino)).or_default() += 1;
        }
        let is_shared = |entry: &&&Entry| {
            names.get(&(entry.stat.dev, entry.stat.ino)).is_none_or(|names| *names < entry.stat.links)
        };
        files.iter().find(is_shared).map(|entry| entry.path.to_string_lossy().into_owned())
    }

    /// Returns the files that were created or changed since, by their absolute paths.
    pub(crate) fn written(&self, workspace: &str) -> Result<Vec<String>, String> {
        let before = self.0.as_ref().ok_or("its earlier state is not known")?;
        let after = Listing::read(Path::new(workspace), &Limits::default());
        Ok(written_between(before, &after.map_err(|error| error.to_string())?, workspace))
    }
}

/// Returns the files that were created or changed between two listings of a workspace, by their absolute paths.
fn written_between(before: &Listing, after: &Listing, workspace: &str) -> Vec<String> {
    let root = Path::new(workspace);
    let changes = before.changes(after);
    // Files below a directory are listed themselves.
    let is_directory = |path: &PathBuf| {
        let found = after.entries.binary_search_by(|entry| bytes(&entry.path).cmp(bytes(path)));
        let entry = found.ok().and_then(|at| after.entries.get(at));
        entry.is_some_and(|entry| entry.stat.kind == Kind::Directory && entry.is_listed)
    };
    // A listing ends at a mount, and a contained command writes below it.
    let mounts = after.entries.iter().filter(|entry| entry.stat.kind == Kind::Mount);
    let mounts = mounts.map(|entry| &entry.path).filter(|path| !changes.changed.contains(path));
    let all = changes.created.iter().chain(&changes.changed).filter(|path| !is_directory(path));
    let all = all.chain(mounts.filter(|path| !changes.created.contains(path)));
    // castellan's paths are text: a name that is none is a directory above, whose files all count.
    let text = |path: &Path| {
        let mut above = path.ancestors().filter_map(Path::to_str);
        above.next().map_or_else(|| workspace.to_owned(), str::to_owned)
    };
    all.map(|path| text(&root.join(path))).collect()
}

fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn written_files_are_those_that_differ_however_they_were_written() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("dir")).unwrap();
        for name in ["kept", "changed", "same-time", "renamed-over", "moved", "dir/deep", "mode", "gone"] {
            fs::write(root.join(name), "old").unwrap();
        }
        let workspace = root.to_str().unwrap();
        let before = Before::take(workspace).unwrap();
        assert_eq!(before.written(workspace).unwrap(), [""; 0]);
        fs::write(root.join("changed"), "new text").unwrap();
        // As long as before, with its time set back.
        let time = fs::metadata(root.join("same-time")).unwrap().modified().unwrap();
        fs::write(root.join("same-time"), "new").unwrap();
        fs::File::open(root.join("same-time")).unwrap().set_modified(time).unwrap();
        fs::write(root.join("other"), "new").unwrap();
        fs::rename(root.join("other"), root.join("renamed-over")).unwrap();
        fs::rename(root.join("moved"), root.join("dir/moved")).unwrap();
        fs::create_dir_all(root.join("made/deep")).unwrap();
        fs::write(root.join("made/deep/file"), "").unwrap();
        symlink("/etc", root.join("made/link")).unwrap();
        fs::hard_link(root.join("kept"), root.join("second-name")).unwrap();
        fs::remove_file(root.join("gone")).unwrap();
        let mut written = before.written(workspace).unwrap();
        written.sort();
        let mut expected = vec![
            "changed",
            "dir/moved",
            "made/deep/file",
            "made/link",
            "renamed-over",
            "same-time",
            "second-name",
        ];
        // A second name changes the status of the file.
        expected.push("kept");
        expected.sort_unstable();
        assert_eq!(
            written,
            expected.into_iter().map(|path| root.join(path).display().to_string()).collect::<Vec<_>>()
        );
    }

    #[test]
    fn what_the_sandbox_would_leave_open_is_found() {
        let check = |file: &str, expected: Option<&str>| {
            let root = tempfile::tempdir().unwrap();
            let root = root.path().canonicalize().unwrap();
            let file = root.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, "").unwrap();
            let workspace = root.to_str().unwrap();
            let found = Before::take(workspace).unwrap().unprotected(workspace);
            assert_eq!(found.as_deref(), expected, "{}", file.display());
        };
        for open in ["apps/web/.env", "deploy/server.key", ".claude/.env", "sub/.envrc"] {
            check(open, Some(open));
        }
        check("sub/.git/config", Some("sub/.git"));
        check("sub/.vscode/tasks.json", Some("sub/.vscode"));
        // The sandbox protects the top, and nobody else reads these names in packages.
        for closed in
            [".env", ".git/modules/x/config", "src/main.rs", "node_modules/p/.vscode/x", "target/a/.env"]
        {
            check(closed, None);
        }
    }

    #[test]
    fn a_file_with_a_name_outside_is_found() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        for dir in ["w/target", "w/node_modules/p", "w/.git/objects", "store"] {
            fs::create_dir_all(root.join(dir)).unwrap();
        }
        let workspace = root.join("w");
        let found = || Before::take(workspace.to_str().unwrap()).unwrap().shared();
        let link = |from: &str, to: &str| fs::hard_link(root.join(from), root.join(to)).unwrap();
        // Build tools link within the workspace. Git links its objects, which are read-only.
        fs::write(workspace.join("target/a"), "1").unwrap();
        link("w/target/a", "w/target/b");
        fs::write(root.join("store/object"), "1").unwrap();
        link("store/object", "w/.git/objects/o");
        assert_eq!(found(), None);
        fs::write(root.join("store/x.js"), "1").unwrap();
        link("store/x.js", "w/node_modules/p/x.js");
        assert_eq!(found().as_deref(), Some("node_modules/p/x.js"));
        link("store/x.js", "w/y.js");
        assert!(found().is_some());
    }

    #[test]
    fn a_mount_below_the_workspace_is_written_as_a_whole() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("node_modules/lib")).unwrap();
        let mut listing = Listing::read(&root, &Limits::default()).unwrap();
        listing.entries.retain(|entry| entry.path == Path::new("node_modules"));
        let mut mounted = listing.clone();
        mounted.entries.iter_mut().for_each(|entry| {
            entry.stat.kind = Kind::Mount;
            entry.is_listed = false;
        });
        assert_eq!(written_between(&mounted, &mounted, "/w"), ["/w/node_modules"]);
        assert_eq!(written_between(&listing, &mounted, "/w"), ["/w/node_modules"]);
        assert_eq!(written_between(&listing, &listing, "/w"), [""; 0]);
    }

    #[test]
    fn a_workspace_that_is_gone_has_no_known_files() {
        let root = tempfile::tempdir().unwrap();
        let workspace = root.path().canonicalize().unwrap().join("w");
        fs::create_dir(&workspace).unwrap();
        let before = Before::take(workspace.to_str().unwrap()).unwrap();
        fs::remove_dir(&workspace).unwrap();
        assert!(before.written(workspace.to_str().unwrap()).is_err());
        assert!(Before::take(workspace.to_str().unwrap()).is_err());
    }
}
