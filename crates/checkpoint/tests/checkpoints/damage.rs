//! A store that is unreadable, damaged or changed, and a disk that is full: an error, and nothing is put back.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use castellan_checkpoint::{Budget, RestoreError, Store, StoreError};

use crate::world::World;

/// All files below a folder.
fn files(at: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(at).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

fn contents(world: &World) -> Vec<PathBuf> {
    files(&world.top.join("store/contents"))
}

/// Opens the store again, as a new daemon does.
fn reopened(world: &World) -> castellan_checkpoint::Opened {
    Store::open(&world.top.join("store"), Budget::default()).unwrap()
}

#[test]
fn changed_contents_are_never_put_back() {
    type Change = (&'static str, fn(&Path));
    let changes: &[Change] = &[
        ("other bytes", |file| {
            let mut bytes = fs::read(file).unwrap();
            let half = bytes.len() / 2;
            bytes[half..].iter_mut().for_each(|byte| *byte ^= 1);
            fs::write(file, bytes).unwrap();
        }),
        ("shorter", |file| {
            let half = fs::metadata(file).unwrap().len() / 2;
            fs::OpenOptions::new().write(true).open(file).unwrap().set_len(half).unwrap();
        }),
        ("gone", |file| fs::remove_file(file).unwrap()),
        ("a link to the same bytes", |file| {
            let other = file.with_extension("moved");
            fs::rename(file, &other).unwrap();
            symlink(&other, file).unwrap();
        }),
    ];
    for (name, change) in changes {
        for path in ["README.md", "large"] {
            let world = World::new();
            world.take("a", &[path, "src"]).unwrap();
            for kept in contents(&world) {
                change(&kept);
            }
            fs::write(world.path(path), "destroyed").unwrap();
            fs::remove_dir_all(world.path("src")).unwrap();
            let before = world.state();
            let refused = world.store.restore("a", None);
            assert!(matches!(refused, Err(RestoreError::Tampered { .. })), "{name}: {refused:?}");
            assert_eq!(world.state()[1..], before[1..], "{name}: nothing was put back");
        }
    }
}

#[test]
fn a_changed_description_is_never_used() {
    let world = World::new();
    world.take("a", &["README.md"]).unwrap();
    world.take("b", &["src"]).unwrap();
    let file = |id: &str| world.top.join("store/checkpoints").join(id);
    fs::copy(file("b"), file("a")).unwrap();
    let refused = world.store.restore("a", None);
    assert!(matches!(refused, Err(RestoreError::Store(StoreError::Tampered(_)))), "{refused:?}");
    let again = reopened(&world);
    assert!(matches!(again.ignored[..], [StoreError::Tampered(_)]), "{:?}", again.ignored);
    assert!(!again.store.has("a") && again.store.has("b"));
    fs::write(file("c"), "castellan-checkpoint 2\nx").unwrap();
    fs::write(file("a"), "x").unwrap();
    let mut messages: Vec<String> = reopened(&world).ignored.iter().map(ToString::to_string).collect();
    messages.sort();
    assert!(messages[0].starts_with("a newer castellan wrote the checkpoint c"), "{messages:?}");
    assert!(messages[1].starts_with("the checkpoint a was changed"), "{messages:?}");
}

#[test]
fn a_new_checkpoint_does_not_rely_on_changed_contents() {
    for is_reopened in [false, true] {
        let mut world = World::new();
        world.take("a", &["README.md"]).unwrap();
        for kept in contents(&world) {
            // The contents are at the end.
            let mut bytes = fs::read(&kept).unwrap();
            let start = bytes.len() - 8;
            bytes[start..].copy_from_slice(b"READ ME\n");
            fs::write(kept, bytes).unwrap();
        }
        if is_reopened {
            world.store = reopened(&world).store;
        }
        let taken = world.take("b", &["README.md"]).unwrap();
        assert_eq!(taken.copied, 1, "the contents are written again");
        fs::write(world.path("README.md"), "destroyed").unwrap();
        world.restore("b");
        assert_eq!(fs::read_to_string(world.path("README.md")).unwrap(), "read me\n");
    }
}

#[test]
fn a_store_survives_a_restart_and_loses_what_nothing_uses() {
    let mut world = World::new();
    world.take_all("a");
    let used = contents(&world).len();
    fs::write(world.top.join("store/contents/new-7"), "x").unwrap();
    fs::write(world.top.join("store/contents").join("0".repeat(64)), "x").unwrap();
    let before = world.state();
    let usage = world.store.usage();
    world.store = reopened(&world).store;
    assert_eq!((contents(&world).len(), world.store.usage()), (used, usage));
    fs::remove_dir_all(&world.root).unwrap();
    world.restore("a");
    assert_eq!(world.state(), before);
    assert!(world.store.remove("a") && !world.store.remove("a"));
    assert_eq!((contents(&world).len(), world.store.usage().bytes), (0, 0));
}

#[test]
fn a_store_that_others_can_read_or_that_is_none_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let open = |name: &str| Store::open(&dir.path().join(name), Budget::default());
    fs::create_dir(dir.path().join("open")).unwrap();
    fs::set_permissions(dir.path().join("open"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(dir.path().join("file"), "x").unwrap();
    fs::create_dir(dir.path().join("good")).unwrap();
    fs::set_permissions(dir.path().join("good"), fs::Permissions::from_mode(0o700)).unwrap();
    symlink("good", dir.path().join("link")).unwrap();
    for name in ["open", "file", "link", "nowhere/store"] {
        let refused = open(name).map(|_| ()).unwrap_err().to_string();
        assert!(
            refused.starts_with("the folder of checkpoints ") && refused.contains("cannot be used"),
            "{refused}"
        );
    }
    assert!(open("good").is_ok());
}

#[test]
fn what_appears_during_a_restore_is_not_replaced() {
    let world = World::new();
    world.take("a", &["src", "README.md"]).unwrap();
    fs::remove_dir_all(world.path("src")).unwrap();
    fs::remove_file(world.path("README.md")).unwrap();
    let before = world.state();
    // The folder of a restore cannot be made: something has its name.
    let name = format!(".castellan-undo-a-{}", std::process::id());
    fs::write(world.path(&name), "x").unwrap();
    let refused = world.store.restore("a", None).unwrap_err().to_string();
    assert!(refused.starts_with("castellan put nothing back: .castellan-undo-a"), "{refused}");
    fs::remove_file(world.path(&name)).unwrap();
    assert_eq!(world.state()[1..], before[1..]);
}
