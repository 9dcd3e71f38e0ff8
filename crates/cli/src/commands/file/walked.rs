//! The components of a path, as the kernel goes through them. Must not know rules or verdicts.

use std::path::{Component, Path, PathBuf};

use anyhow::bail;
use castellan_daemon::FileSystem;
use castellan_event::{Answer, FileKind, Query, World};

use crate::limits::COMPONENTS_MAX;

/// A component, with the path down to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Walked {
    /// The path as written.
    pub(super) path: String,
    /// The path with symlinks resolved; `None` if it cannot be resolved.
    pub(super) real: Option<String>,
    /// The target of the component itself, if it is a symlink.
    pub(super) target: Option<String>,
    /// The kind at its end.
    pub(super) kind: Option<FileKind>,
    pub(super) crosses: Vec<Crossing>,
}

/// A boundary between a component and the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Crossing {
    /// Into the workspace.
    Enters,
    /// Out of the workspace.
    Leaves,
    /// Onto another mounted file system, or another mounted part of one (a bind mount).
    Mount,
}

impl Crossing {
    /// Returns the word in JSON.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Crossing::Enters => "enters_workspace",
            Crossing::Leaves => "leaves_workspace",
            Crossing::Mount => "mount",
        }
    }

    /// Returns the words for a person.
    pub(super) fn meaning(self) -> &'static str {
        match self {
            Crossing::Enters => "enters the workspace",
            Crossing::Leaves => "leaves the workspace",
            Crossing::Mount => "another mount",
        }
    }
}

/// Returns the components of an absolute path, from the root on. Returns an error for a path with too many.
pub(super) fn components(path: &Path, workspace: Option<&str>) -> anyhow::Result<Vec<Walked>> {
    let machine = FileSystem::default();
    let mut all: Vec<Walked> = Vec::new();
    let mut here = PathBuf::new();
    let mut mount = None;
    for component in path.components() {
        if matches!(component, Component::CurDir) {
            continue;
        }
        // `..` stays: its meaning depends on the symlinks before.
        here.push(component);
        if all.len() >= COMPONENTS_MAX {
            bail!("the path has more than {COMPONENTS_MAX} components, which castellan does not resolve");
        }
        let text = here.to_string_lossy().into_owned();
        let real = real_path(&machine, &text);
        let now = real.as_deref().and_then(|real| mount_of(Path::new(real)));
        let before = all.last().and_then(|last| last.real.as_deref());
        let is_inside =
            |real: &str| workspace.is_some_and(|workspace| Path::new(real).starts_with(workspace));
        let mut crosses = Vec::new();
        if let Some(real) = real.as_deref() {
            match (before.is_some_and(is_inside), is_inside(real)) {
                (false, true) => crosses.push(Crossing::Enters),
                (true, false) => crosses.push(Crossing::Leaves),
                (false, false) | (true, true) => {}
            }
        }
        if mount.zip(now).is_some_and(|(before, now)| before != now) {
            crosses.push(Crossing::Mount);
        }
        mount = now.or(mount);
        let target = std::fs::read_link(&here).ok().map(|target| target.to_string_lossy().into_owned());
        let kind = kind_of(&machine, &text);
        all.push(Walked { path: text, real, target, kind, crosses });
    }
    Ok(all)
}

fn real_path(machine: &FileSystem, path: &str) -> Option<String> {
    let Answer::RealPath(real) =
        machine.answer(&Query::RealPath { base: "/".to_owned(), path: path.to_owned() })?
    else {
        return None;
    };
    Some(real)
}

fn kind_of(machine: &FileSystem, path: &str) -> Option<FileKind> {
    let Answer::FileKind(kind) = machine.answer(&Query::FileKind { path: path.to_owned() })? else {
        return None;
    };
    Some(kind)
}

/// Returns a number of the mount that holds an existing path. Bind mounts of one file system have different numbers.
#[cfg(target_os = "linux")]
fn mount_of(real: &Path) -> Option<u64> {
    use rustix::fs::{AtFlags, CWD, StatxFlags, statx};
    let found = statx(CWD, real, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::MNT_ID).ok()?;
    (found.stx_mask & StatxFlags::MNT_ID.bits() != 0).then_some(found.stx_mnt_id)
}

/// Returns the number of the device that holds an existing path.
#[cfg(not(target_os = "linux"))]
fn mount_of(real: &Path) -> Option<u64> {
    use std::os::unix::fs::MetadataExt as _;
    Some(std::fs::symlink_metadata(real).ok()?.dev())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn shown(path: &Path, workspace: &Path, base: &Path) -> Vec<String> {
        let all = components(path, workspace.to_str()).unwrap();
        let of = |walked: &Walked| {
            let words: Vec<&str> = walked.crosses.iter().map(|one| one.as_str()).collect();
            let real = walked.real.clone().unwrap_or_else(|| "?".to_owned());
            let target = walked.target.clone().unwrap_or_default();
            format!("{} {real} [{target}] {:?} {}", walked.path, walked.kind, words.join(","))
                .replace(&base.display().to_string(), "BASE")
        };
        let below = all.iter().filter(|walked| Path::new(&walked.path).starts_with(base)).skip(1);
        below.map(of).collect()
    }

    #[test]
    fn each_component_shows_where_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let workspace = base.join("w");
        for name in ["w/src", "out/deep"] {
            std::fs::create_dir_all(base.join(name)).unwrap();
        }
        std::fs::write(base.join("out/file"), "").unwrap();
        symlink("../out", workspace.join("link")).unwrap();
        symlink("loop", workspace.join("loop")).unwrap();
        let check = |path: &str, expected: &[&str]| {
            assert_eq!(shown(&workspace.join(path), &workspace, &base), expected, "{path}");
        };
        let start = "BASE/w BASE/w [] Some(Directory) enters_workspace";
        check(
            "link/file",
            &[
                start,
                "BASE/w/link BASE/out [../out] Some(Directory) leaves_workspace",
                "BASE/w/link/file BASE/out/file [] Some(File) ",
            ],
        );
        // The kernel's `..` of a link's target, not the text's.
        check(
            "link/../w/src/",
            &[
                start,
                "BASE/w/link BASE/out [../out] Some(Directory) leaves_workspace",
                "BASE/w/link/.. BASE [] Some(Directory) ",
                "BASE/w/link/../w BASE/w [] Some(Directory) enters_workspace",
                "BASE/w/link/../w/src BASE/w/src [] Some(Directory) ",
            ],
        );
        check(
            "./new/x",
            &[
                start,
                "BASE/w/new BASE/w/new [] Some(Missing) ",
                "BASE/w/new/x BASE/w/new/x [] Some(Missing) ",
            ],
        );
        check("loop/x", &[start, "BASE/w/loop ? [loop] None ", "BASE/w/loop/x ? [] None "]);
        let long = workspace.join("x/".repeat(COMPONENTS_MAX));
        assert!(components(&long, None).unwrap_err().to_string().contains("components"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_mount_is_a_boundary() {
        let all = components(Path::new("/proc/self/status"), None).unwrap();
        let of = |path: &str| all.iter().find(|walked| walked.path == path).unwrap();
        assert_eq!(of("/proc").crosses, [Crossing::Mount]);
        assert_eq!(of("/").crosses, []);
        // Each process has its own; castellan's is not the agent's.
        assert_eq!(of("/proc/self").real, None);
    }
}
