//! Limits and budgets: each is an error with a message, and nothing of the checkpoint remains.

use std::fs;
use std::time::{Duration, Instant};

use castellan_checkpoint::{Budget, Checkpoint, Limits, ListError, Listing, Scope, TakeError};

use crate::world::World;

#[test]
fn each_limit_of_a_listing_is_an_error() {
    let world = World::new();
    let of = |limits| Listing::read(&world.root, &limits).map(|_| ()).map_err(|error| error.to_string());
    let all = Limits::default();
    let count = Listing::read(&world.root, &all).unwrap().entries.len();
    assert!(of(Limits { entries: count, ..all }).is_ok());
    let refused = of(Limits { entries: count - 1, ..all }).unwrap_err();
    assert!(refused.starts_with(&format!("the directory has more than {} entries", count - 1)), "{refused}");
    assert!(of(Limits { depth: 3, ..all }).is_ok());
    let refused = of(Limits { depth: 2, ..all }).unwrap_err();
    assert!(refused.starts_with("src/inner has more than 2 directories"), "{refused}");
    let refused = of(Limits { name_bytes: 10, ..all }).unwrap_err();
    assert!(refused.starts_with("the paths in the directory have more than 10 bytes"), "{refused}");
}

#[test]
fn each_budget_of_a_checkpoint_is_an_error_and_leaves_nothing() {
    type Check = (&'static str, Budget, fn(&TakeError) -> bool);
    let all = Budget::default();
    let checks: &[Check] = &[
        ("bytes", Budget { checkpoint_bytes: 700_000, ..all }, |why| matches!(why, TakeError::Bytes { .. })),
        ("files", Budget { checkpoint_files: 3, ..all }, |why| matches!(why, TakeError::Files { .. })),
        ("ceiling", Budget { ceiling: 600_000, ..all }, |why| matches!(why, TakeError::Ceiling { .. })),
        ("entries", Budget { limits: Limits { entries: 3, ..all.limits }, ..all }, |why| {
            matches!(why, TakeError::List(ListError::Entries(3)))
        }),
    ];
    for (name, budget, is_expected) in checks {
        let world = World::with(*budget);
        let refused = world.store.take("a", "s", &world.root, Scope::Workspace).unwrap_err();
        assert!(is_expected(&refused), "{name}: {refused}");
        assert!(!world.store.has("a"), "{name}");
        assert_eq!(world.store.usage().bytes, 0, "{name}");
    }
}

#[test]
fn a_large_file_is_listed_and_not_copied_in_a_checkpoint_of_all() {
    let world = World::with(Budget { file_bytes: 1000, ..Budget::default() });
    let taken = world.take_all("a");
    assert_eq!(taken.uncopied, [std::path::PathBuf::from("large")]);
    fs::write(world.path("large"), "x").unwrap();
    fs::write(world.path("README.md"), "x").unwrap();
    let restored = world.restore("a");
    assert!(
        matches!(&restored.left[..], [(path, why)] if path.ends_with("large") && why.contains("not copied"))
    );
    assert_eq!(fs::read_to_string(world.path("README.md")).unwrap(), "read me\n");
    // Named by the effects of a call, it is copied.
    assert!(world.take("b", &["large"]).unwrap().uncopied.is_empty());
}

#[test]
fn a_file_that_this_user_cannot_read_is_left() {
    use std::os::unix::fs::PermissionsExt;
    if rustix::process::geteuid().is_root() {
        eprintln!("skipped: root reads every file");
        return;
    }
    let world = World::new();
    fs::set_permissions(world.path("README.md"), fs::Permissions::from_mode(0o000)).unwrap();
    assert_eq!(world.take_all("a").uncopied, [std::path::PathBuf::from("README.md")]);
}

#[test]
fn an_unchanged_workspace_is_not_copied_again() {
    let world = World::new();
    // Files that just changed are read again, though not written.
    let first = world.take_all("a");
    assert!(first.copied >= 6 && first.copied == first.files, "{first:?}");
    let second = world.take_all("b");
    assert_eq!((second.copied, second.files, second.copied_bytes), (0, first.files, 0));
    fs::write(world.path("README.md"), "new").unwrap();
    assert_eq!(world.take_all("c").copied, 1);
}

#[test]
fn old_checkpoints_go() {
    let world = World::new();
    world.take("a", &["README.md"]).unwrap();
    world.store.set_limits(u64::MAX, Duration::from_secs(60));
    assert!(world.store.prune().is_empty());
    // All that is older than now.
    world.store.set_limits(u64::MAX, Duration::ZERO);
    // The store counts in seconds.
    let until = Instant::now() + Duration::from_secs(30);
    let mut pruned = Vec::new();
    while pruned.is_empty() && Instant::now() < until {
        std::thread::yield_now();
        pruned = world.store.prune();
    }
    assert_eq!(pruned, ["a"]);
    assert_eq!(world.store.usage().count, 0);
}

#[test]
fn generated_directories_and_history_stay_out() {
    for take in [World::take_all, World::take_listed] {
        check_what_stays_out(take);
    }
}

fn check_what_stays_out(take: fn(&World, &str) -> Checkpoint) {
    let world = World::new();
    for path in ["node_modules/x", ".git/objects", "src/.git", "handmade/node_modules"] {
        fs::create_dir_all(world.path(path)).unwrap();
        fs::write(world.path(path).join("f"), "1").unwrap();
    }
    fs::write(world.path("package.json"), "{}").unwrap();
    take(&world, "all");
    world.take("named", &["src", "node_modules", ".git"]).unwrap();
    for path in ["node_modules/x", ".git/objects", "src/.git", "handmade/node_modules"] {
        fs::write(world.path(path).join("f"), "2").unwrap();
    }
    // Without its witness, a directory of packages is one like any other. Its files must stay all the same.
    fs::remove_file(world.path("package.json")).unwrap();
    let text = |path: &str| fs::read_to_string(world.path(path).join("f")).unwrap();
    world.restore("all");
    assert_eq!(
        ["node_modules/x", ".git/objects", "src/.git", "handmade/node_modules"].map(text),
        ["2", "2", "2", "1"]
    );
    // A call that deletes a repository names it.
    world.restore("named");
    assert_eq!(["node_modules/x", ".git/objects", "src/.git"].map(text), ["2", "1", "1"]);
}

/// Run it with `cargo test -p castellan-checkpoint --release -- --ignored a_million_files`.
#[test]
#[ignore = "it makes a million files, which takes a minute"]
fn a_million_files_are_an_error_in_bounded_time() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    for folder in 0..1000 {
        let folder = root.join(folder.to_string());
        fs::create_dir(&folder).unwrap();
        for file in 0..1000 {
            fs::File::create(folder.join(file.to_string())).unwrap();
        }
    }
    let started = Instant::now();
    let refused = Listing::read(&root, &Limits::default());
    assert!(matches!(refused, Err(ListError::Entries(_))), "{:?}", refused.map(|_| ()));
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
}
