//! An agent that uses checkpoints against their purpose: it swaps links in, it displaces other checkpoints, it wants
//! contents of other places.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use castellan_checkpoint::{Budget, RestoreError, Scope, TakeError};

use crate::world::{World, state};

/// A folder outside of the workspace with a secret.
fn outside(world: &World) -> PathBuf {
    let outside = world.top.join("outside");
    fs::create_dir(&outside).unwrap();
    for name in ["main.rs", "deep.rs", "secret"] {
        fs::write(outside.join(name), "the secret").unwrap();
    }
    outside
}

/// Reports whether a text is anywhere in the store.
fn has_copy(at: &Path, text: &str) -> bool {
    fs::read_dir(at).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => has_copy(&path, text),
            false => fs::read(&path).unwrap().windows(text.len()).any(|part| part == text.as_bytes()),
        }
    })
}

#[test]
fn a_link_is_kept_as_a_link_and_its_target_is_never_copied() {
    let world = World::new();
    let outside = outside(&world);
    symlink(outside.join("secret"), world.path("notes")).unwrap();
    symlink(&outside, world.path("folder")).unwrap();
    world.take("a", &["notes", "folder"]).unwrap();
    world.take_all("b");
    assert!(!has_copy(&world.top.join("store"), "the secret"));
    let refused = world.take("c", &["folder/secret"]);
    assert!(matches!(refused, Err(TakeError::Link(_))), "{refused:?}");
    assert!(!has_copy(&world.top.join("store"), "the secret"));
}

#[test]
fn no_checkpoint_leaves_the_directory() {
    let world = World::new();
    outside(&world);
    for path in ["../outside/secret", "/etc/passwd", "src/../../outside/secret", "."] {
        let refused = world.take("a", &[path]);
        assert!(matches!(refused, Err(TakeError::Path(_))), "{path}: {refused:?}");
    }
    for id in ["", "../x", "a/b", "a.b", "é", &"x".repeat(65)] {
        assert!(matches!(world.take(id, &["README.md"]), Err(TakeError::Id(_))), "{id}");
    }
    world.take("a", &["README.md"]).unwrap();
    assert!(matches!(world.take("a", &["src"]), Err(TakeError::Id(_))), "an id is used once");
}

#[test]
fn a_link_in_the_place_of_a_directory_leads_no_restore_outside() {
    for scope in [None, Some(["src"].as_slice()), Some(["src/main.rs", "src/inner/deep.rs"].as_slice())] {
        let world = World::new();
        let outside = outside(&world);
        let before = state(&outside);
        let files = (state(&world.path("src/main.rs")), state(&world.path("src/inner/deep.rs")));
        match scope {
            None => drop(world.take_all("a")),
            Some(paths) => drop(world.take("a", paths).unwrap()),
        }
        fs::remove_dir_all(world.path("src")).unwrap();
        symlink(&outside, world.path("src")).unwrap();
        world.restore("a");
        assert_eq!(state(&outside), before, "{scope:?}");
        assert_eq!((state(&world.path("src/main.rs")), state(&world.path("src/inner/deep.rs"))), files);
    }
}

#[test]
fn a_link_in_the_place_of_the_workspace_or_above_it_is_refused() {
    let world = World::in_folder();
    let outside = outside(&world);
    world.take_all("a");
    let before = state(&outside);
    fs::rename(&world.root, world.top.join("moved")).unwrap();
    symlink(&outside, &world.root).unwrap();
    assert!(matches!(world.store.restore("a", None), Err(RestoreError::List(_))));
    assert!(world.store.compare("a").is_err());
    fs::remove_file(&world.root).unwrap();
    let parent = world.root.parent().unwrap();
    fs::remove_dir(parent).unwrap();
    symlink(&outside, parent).unwrap();
    assert!(matches!(world.store.restore("a", None), Err(RestoreError::List(_))));
    assert_eq!(state(&outside), before);
}

#[test]
fn a_removal_follows_no_link() {
    let world = World::new();
    let outside = outside(&world);
    let before = state(&outside);
    world.take("a", &["new"]).unwrap();
    fs::create_dir_all(world.path("new/deep")).unwrap();
    symlink(&outside, world.path("new/deep/link")).unwrap();
    symlink("/", world.path("new/top")).unwrap();
    world.restore("a");
    assert!(!world.path("new").exists());
    assert_eq!(state(&outside), before);
}

#[test]
fn a_swap_during_a_restore_never_writes_outside() {
    let world = World::new();
    let outside = outside(&world);
    let before = state(&outside);
    world.take("a", &["src"]).unwrap();
    let (source, hidden) = (world.path("src"), world.path("hidden"));
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let swapper = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let _ = fs::rename(&source, &hidden);
                let _ = symlink(&outside, &source);
                let _ = fs::remove_file(&source);
                let _ = fs::rename(&hidden, &source);
            }
        });
        for _ in 0..200 {
            let _ = fs::write(world.path("src/main.rs"), "changed");
            // It may fail, and it may succeed in a moment without the link.
            let _ = world.store.restore("a", None);
        }
        done.store(true, Ordering::Relaxed);
        swapper.join().unwrap();
    });
    // The test itself may have written through the link.
    let written = |lines: Vec<String>| -> Vec<String> {
        lines.into_iter().filter(|line| !line.contains("main.rs") && !line.starts_with("\"\"")).collect()
    };
    assert_eq!(written(state(&outside)), written(before));
}

#[test]
fn the_store_and_the_folder_of_a_restore_are_private() {
    let world = World::new();
    fs::set_permissions(world.path("README.md"), fs::Permissions::from_mode(0o644)).unwrap();
    world.take_all("a");
    fn check(at: &Path) {
        let mode = fs::metadata(at).unwrap().permissions().mode() & 0o7777;
        assert_eq!(mode & 0o077, 0, "{}", at.display());
        if at.is_dir() {
            fs::read_dir(at).unwrap().for_each(|entry| check(&entry.unwrap().path()));
        }
    }
    check(&world.top.join("store"));
}

#[test]
fn one_session_cannot_displace_the_checkpoints_of_another() {
    let budget = Budget { ceiling: 3_000_000, ..Budget::default() };
    let world = World::with(budget);
    let take = |id: &str, owner: &str| {
        let paths = [PathBuf::from("large")];
        world.store.take(id, owner, &world.root, Scope::Paths { paths: &paths, with_history: false })
    };
    take("person", "one").unwrap();
    for round in 0..20_u8 {
        fs::write(world.path("large"), vec![round; 700_000]).unwrap();
        take(&format!("flood-{round}"), "two").unwrap();
    }
    assert!(world.store.has("person"));
    assert!(world.store.usage().bytes <= budget.ceiling);
}

#[test]
fn a_restore_that_keeps_the_state_before_does_not_lose_its_own_checkpoint() {
    let budget = Budget { ceiling: 1_500_000, ..Budget::default() };
    let world = World::with(budget);
    world.take("a", &["large"]).unwrap();
    fs::write(world.path("large"), vec![1; 700_000]).unwrap();
    let restored = world.store.restore("a", Some(("redo", "session"))).unwrap();
    assert!(restored.before.is_some() && world.store.has("a"));
    fs::write(world.path("large"), vec![2; 1_400_000]).unwrap();
    let refused = world.store.restore("a", Some(("more", "session")));
    assert!(matches!(refused, Err(RestoreError::Before(_))), "{refused:?}");
    assert_eq!(fs::read(world.path("large")).unwrap().len(), 1_400_000, "nothing was put back");
}

#[test]
fn a_restored_file_of_another_owner_gets_no_special_rights() {
    let world = World::new();
    fs::set_permissions(world.path("README.md"), fs::Permissions::from_mode(0o4755)).unwrap();
    world.take("a", &["README.md"]).unwrap();
    fs::remove_file(world.path("README.md")).unwrap();
    world.restore("a");
    let mode = fs::metadata(world.path("README.md")).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode, 0o4755, "its owner is the same");
}
