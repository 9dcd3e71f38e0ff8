//! Listings and their comparison.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use castellan_checkpoint::{Changes, Kind, Limits, Listing};

use crate::world::World;

fn listing(root: &Path) -> Listing {
    Listing::read(root, &Limits::default()).unwrap()
}

/// The changes that a function makes in a workspace.
fn changes(change: impl FnOnce(&Path)) -> Changes {
    let world = World::new();
    let before = listing(&world.root);
    change(&world.root);
    before.changes(&listing(&world.root))
}

/// Waits until the file system of a directory gives another time: it may count in steps of some milliseconds.
fn wait_for_next_time(dir: &Path) {
    let probe = tempfile::NamedTempFile::new_in(dir.parent().unwrap()).unwrap();
    let time = || {
        fs::write(probe.path(), "x").unwrap();
        fs::metadata(probe.path()).unwrap().modified().unwrap()
    };
    let (first, until) = (time(), Instant::now() + Duration::from_secs(30));
    while time() == first {
        assert!(Instant::now() < until, "the time of files does not change");
    }
}

fn paths(paths: &[&str]) -> Vec<PathBuf> {
    paths.iter().map(PathBuf::from).collect()
}

#[test]
fn an_unchanged_directory_has_no_changes() {
    assert!(changes(|_| {}).is_empty());
}

#[test]
fn each_kind_of_change_is_found() {
    let found = changes(|w| {
        fs::write(w.join("new"), "x").unwrap();
        fs::remove_dir_all(w.join("src/inner")).unwrap();
        fs::write(w.join("README.md"), "READ ME\n").unwrap();
        fs::set_permissions(w.join("empty-file"), fs::Permissions::from_mode(0o600)).unwrap();
        fs::set_permissions(w.join("empty"), fs::Permissions::from_mode(0o700)).unwrap();
        fs::remove_file(w.join("link")).unwrap();
        symlink("elsewhere", w.join("link")).unwrap();
    });
    assert_eq!(found.created, paths(&["new"]));
    assert_eq!(found.changed, paths(&["README.md", "empty", "empty-file", "link"]));
    assert_eq!(found.removed, paths(&["src/inner", "src/inner/deep.rs"]));
}

#[test]
fn a_change_of_the_same_length_with_the_old_time_is_found() {
    let found = changes(|w| {
        let file = w.join("README.md");
        let time = fs::metadata(&file).unwrap().modified().unwrap();
        wait_for_next_time(w);
        fs::write(&file, "READ ME\n").unwrap();
        fs::File::open(&file).unwrap().set_modified(time).unwrap();
    });
    assert_eq!(found.changed, paths(&["README.md"]));
}

#[test]
fn names_are_bytes_and_their_order_is_that_of_bytes() {
    let world = World::new();
    let names: Vec<PathBuf> = listing(&world.root).entries.into_iter().map(|entry| entry.path).collect();
    assert!(names.windows(2).all(|pair| pair[0].as_os_str().as_bytes() < pair[1].as_os_str().as_bytes()));
    assert!(names.contains(&PathBuf::from("docs/a\nb")));
    assert!(names.contains(&PathBuf::from(OsStr::from_bytes(b"docs/\xff\xfe"))));
}

#[test]
fn links_are_listed_and_not_followed() {
    let world = World::new();
    symlink(".", world.path("loop")).unwrap();
    symlink("/", world.path("top")).unwrap();
    let listed = listing(&world.root);
    let kind = |path: &str| {
        listed.entries.iter().find(|entry| entry.path == Path::new(path)).map(|one| one.stat.kind)
    };
    assert_eq!((kind("loop"), kind("top"), kind("loop/src")), (Some(Kind::Link), Some(Kind::Link), None));
    let through = world.top.join("through");
    symlink(&world.root, &through).unwrap();
    assert!(Listing::read(&through, &Limits::default()).is_err());
    assert!(Listing::read(Path::new("relative"), &Limits::default()).is_err());
}
