//! A restore after each kind of destruction, and a restore of the state before that restore.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use crate::world::World;

/// A kind of destruction: its name, the paths that its effects name, and the destruction.
type Destruction = (&'static str, &'static [&'static str], fn(&Path));

const DESTRUCTIONS: &[Destruction] = &[
    ("truncate", &["README.md"], |w| drop(fs::File::create(w.join("README.md")).unwrap())),
    ("overwrite", &["README.md"], |w| fs::write(w.join("README.md"), "other").unwrap()),
    ("overwrite with the same size and time", &["README.md"], |w| {
        let time = fs::metadata(w.join("README.md")).unwrap().modified().unwrap();
        fs::write(w.join("README.md"), "READ ME\n").unwrap();
        fs::File::open(w.join("README.md")).unwrap().set_modified(time).unwrap();
    }),
    ("append", &["large"], |w| {
        fs::OpenOptions::new().append(true).open(w.join("large")).unwrap().write_all(b"more").unwrap();
    }),
    ("overwrite a large file", &["large"], |w| fs::write(w.join("large"), vec![8; 700_000]).unwrap()),
    ("delete", &["README.md"], |w| fs::remove_file(w.join("README.md")).unwrap()),
    ("delete an empty file", &["empty-file"], |w| fs::remove_file(w.join("empty-file")).unwrap()),
    ("delete a directory", &["src"], |w| fs::remove_dir_all(w.join("src")).unwrap()),
    ("delete an empty directory", &["empty"], |w| fs::remove_dir(w.join("empty")).unwrap()),
    ("delete odd names", &["docs"], |w| fs::remove_dir_all(w.join("docs")).unwrap()),
    ("move over", &["README.md", "src/main.rs"], |w| {
        fs::rename(w.join("src/main.rs"), w.join("README.md")).unwrap();
    }),
    ("move away", &["src", "elsewhere"], |w| fs::rename(w.join("src"), w.join("elsewhere")).unwrap()),
    ("chmod", &["src/main.rs"], |w| {
        fs::set_permissions(w.join("src/main.rs"), fs::Permissions::from_mode(0o400)).unwrap();
    }),
    ("chmod of a directory", &["src"], |w| {
        fs::set_permissions(w.join("src/inner"), fs::Permissions::from_mode(0o000)).unwrap();
        fs::set_permissions(w.join("src"), fs::Permissions::from_mode(0o000)).unwrap();
    }),
    ("delete in a directory, and chmod it", &["src"], |w| {
        fs::remove_file(w.join("src/inner/deep.rs")).unwrap();
        fs::set_permissions(w.join("src/inner"), fs::Permissions::from_mode(0o555)).unwrap();
    }),
    ("touch", &["README.md"], |w| {
        fs::File::open(w.join("README.md")).unwrap().set_modified(std::time::SystemTime::now()).unwrap();
    }),
    ("swap a link", &["link"], |w| {
        fs::remove_file(w.join("link")).unwrap();
        symlink("docs", w.join("link")).unwrap();
    }),
    ("a link in the place of a file", &["README.md"], |w| {
        fs::remove_file(w.join("README.md")).unwrap();
        symlink("src/main.rs", w.join("README.md")).unwrap();
    }),
    ("a file in the place of a link", &["link"], |w| {
        fs::remove_file(w.join("link")).unwrap();
        fs::write(w.join("link"), "x").unwrap();
    }),
    ("a file in the place of a directory", &["src"], |w| {
        fs::remove_dir_all(w.join("src")).unwrap();
        fs::write(w.join("src"), "x").unwrap();
    }),
    ("a directory in the place of a file", &["README.md"], |w| {
        fs::remove_file(w.join("README.md")).unwrap();
        fs::create_dir_all(w.join("README.md/a/b")).unwrap();
        fs::write(w.join("README.md/a/b/c"), "x").unwrap();
    }),
    ("a directory in the place of a link", &["docs/dangling"], |w| {
        fs::remove_file(w.join("docs/dangling")).unwrap();
        fs::create_dir(w.join("docs/dangling")).unwrap();
    }),
    ("create", &["new"], |w| fs::write(w.join("new"), "x").unwrap()),
    ("create a tree", &["new"], |w| {
        fs::create_dir_all(w.join("new/a")).unwrap();
        fs::write(w.join("new/a/b"), "x").unwrap();
        symlink("/", w.join("new/top")).unwrap();
    }),
    ("create with directories above", &["new/a/file"], |w| {
        fs::create_dir_all(w.join("new/a")).unwrap();
        fs::write(w.join("new/a/file"), "x").unwrap();
    }),
    ("git checkout of everything", &[""], |w| {
        fs::write(w.join("README.md"), "the version of the last commit").unwrap();
        fs::remove_file(w.join("src/inner/deep.rs")).unwrap();
        fs::write(w.join("src/back"), "again").unwrap();
    }),
    ("git clean", &[""], |w| {
        for path in ["docs", "src-b", "src/inner"] {
            fs::remove_dir_all(w.join(path)).unwrap();
        }
    }),
    ("delete all entries", &[""], |w| {
        for entry in fs::read_dir(w).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.is_symlink() {
                fs::remove_dir_all(path).unwrap();
            } else {
                fs::remove_file(path).unwrap();
            }
        }
    }),
    ("delete the workspace", &[""], |w| fs::remove_dir_all(w).unwrap()),
    ("delete the workspace and its parent", &[""], |w| fs::remove_dir_all(w.parent().unwrap()).unwrap()),
];

/// The directory times of a path that no effect names may change: a test compares only the rest.
fn without_times_above(state: Vec<String>) -> Vec<String> {
    state
        .into_iter()
        .map(|line| match line.contains(" dir ") {
            true => line.rsplit_once(' ').unwrap().0.to_owned(),
            false => line,
        })
        .collect()
}

#[test]
fn each_destruction_of_named_paths_is_taken_back() {
    for (name, paths, destroy) in DESTRUCTIONS {
        let world = World::in_folder();
        let before = world.state();
        world.take("before", paths).unwrap();
        destroy(&world.root);
        let destroyed = world.state();
        let is_whole = paths == &[""];
        assert_ne!(before, destroyed, "{name} destroys nothing");
        world.store.restore("before", Some(("redo", "session"))).unwrap();
        if is_whole {
            assert_eq!(world.state(), before, "{name}");
        } else {
            assert_eq!(without_times_above(world.state()), without_times_above(before), "{name}");
        }
        world.store.restore("redo", None).unwrap();
        // The directories that cannot be read are readable in the checkpoint of the state before a restore, and the root
        // that was made again stays.
        if !name.contains("chmod of a directory") && destroyed.len() > 1 {
            assert_eq!(without_times_above(world.state()), without_times_above(destroyed), "{name}, again");
        }
    }
}

#[test]
fn each_destruction_of_a_workspace_is_taken_back() {
    let ways = [World::take_all, World::take_listed];
    for ((name, _, destroy), take) in DESTRUCTIONS.iter().flat_map(|row| ways.map(|take| (row, take))) {
        let world = World::in_folder();
        let before = world.state();
        take(&world, "before");
        destroy(&world.root);
        world.restore("before");
        assert_eq!(world.state(), before, "{name}");
        let again = world.restore("before");
        assert!(
            again.written.is_empty() && again.removed.is_empty() && again.left.is_empty(),
            "{name}: {again:?}"
        );
    }
}

#[test]
fn a_time_of_a_directory_in_a_named_one_is_restored() {
    let world = World::new();
    let before = world.state();
    world.take("a", &["docs", "src"]).unwrap();
    fs::remove_file(world.path("docs/a\nb")).unwrap();
    fs::remove_dir_all(world.path("src/inner")).unwrap();
    world.restore("a");
    // The first line is the workspace itself, which the checkpoint does not name.
    assert_eq!(world.state()[1..], before[1..]);
}

#[test]
fn a_restore_says_what_it_did() {
    let world = World::new();
    world.take("a", &["src", "README.md", "new"]).unwrap();
    fs::remove_dir_all(world.path("src")).unwrap();
    fs::write(world.path("new"), "x").unwrap();
    fs::set_permissions(world.path("README.md"), fs::Permissions::from_mode(0o600)).unwrap();
    let differences = world.store.compare("a").unwrap().differences;
    let paths: Vec<&str> = differences.iter().map(|one| one.path.to_str().unwrap()).collect();
    assert_eq!(paths, ["README.md", "new", "src", "src/inner", "src/inner/deep.rs", "src/main.rs"]);
    let restored = world.restore("a");
    let strings = |paths: &[std::path::PathBuf]| -> Vec<String> {
        paths.iter().map(|path| path.to_string_lossy().into_owned()).collect()
    };
    assert_eq!(strings(&restored.written), ["src", "src/inner", "src/inner/deep.rs", "src/main.rs"]);
    assert_eq!(strings(&restored.removed), ["new"]);
    assert_eq!(strings(&restored.adjusted), ["README.md"]);
    assert!(world.store.compare("a").unwrap().differences.is_empty());
}

#[test]
fn files_of_later_calls_in_a_new_directory_stay() {
    let world = World::new();
    world.take("a", &["new/file"]).unwrap();
    fs::create_dir(world.path("new")).unwrap();
    fs::write(world.path("new/file"), "x").unwrap();
    fs::write(world.path("new/of-another-call"), "y").unwrap();
    world.restore("a");
    assert!(!world.path("new/file").exists());
    assert!(world.path("new/of-another-call").exists());
}

#[test]
fn only_the_named_paths_are_changed() {
    let world = World::new();
    world.take("a", &["src/main.rs"]).unwrap();
    fs::write(world.path("src/main.rs"), "x").unwrap();
    fs::write(world.path("README.md"), "a person wrote this").unwrap();
    fs::write(world.path("src/other"), "and this").unwrap();
    world.restore("a");
    assert_eq!(fs::read_to_string(world.path("README.md")).unwrap(), "a person wrote this");
    assert_eq!(fs::read_to_string(world.path("src/other")).unwrap(), "and this");
    assert_eq!(fs::read_to_string(world.path("src/main.rs")).unwrap(), "fn main() {}\n");
}

/// A call can make a directory one that is left out, by a file beside it.
#[test]
fn a_directory_that_is_left_out_by_now_is_unknown() {
    let world = World::new();
    fs::create_dir(world.path("vendor")).unwrap();
    fs::write(world.path("vendor/known"), "1").unwrap();
    world.take_all("a");
    assert!(world.store.compare("a").unwrap().unknown.is_empty());
    fs::write(world.path("composer.lock"), "{}").unwrap();
    fs::write(world.path("vendor/new"), "1").unwrap();
    assert_eq!(world.store.compare("a").unwrap().unknown, [Path::new("vendor")]);
    assert_eq!(world.restore("a").unknown, [Path::new("vendor")]);
    assert!(!world.path("composer.lock").exists() && world.path("vendor/new").exists());
}
