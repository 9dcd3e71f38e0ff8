//! Other file systems: mounts in the workspace, a full disk, shared blocks. Each test mounts in a mount namespace of its own,
//! which needs a user namespace or root. Where the kernel permits none, a test says so and stops.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use castellan_checkpoint::{Budget, RestoreError, Scope, Store, TakeError};

use crate::world::{World, state};

/// The variable by which a test runs itself again in the namespace, with its folder.
const INSIDE: &str = "CASTELLAN_CHECKPOINT_TEST";

/// Runs the test of this name again in a new mount namespace after `script`, which gets a folder as `$1`. Returns the folder
/// inside of the namespace.
fn inside(name: &str, script: &str) -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os(INSIDE) {
        return Some(PathBuf::from(folder));
    }
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().canonicalize().unwrap();
    let program = std::env::current_exe().unwrap();
    let script = format!("set -e; {script}; exec \"$2\" --exact \"$3\" --nocapture");
    let output = Command::new("unshare")
        .args(["--mount", "--map-root-user", "sh", "-c", &script, "sh"])
        .arg(&folder)
        .arg(&program)
        .arg(name)
        .env(INSIDE, &folder)
        .output();
    match output {
        Ok(output) => {
            let text = format!(
                "{}{}",
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            );
            if text.contains("test result: ok. 1 passed") {
                return None;
            }
            assert!(!text.contains("test result"), "{text}");
            eprintln!("skipped: this machine does not permit the mounts: {text}");
        }
        Err(why) => eprintln!("skipped: unshare cannot be started: {why}"),
    }
    None
}

#[test]
fn mounts_are_neither_entered_nor_replaced() {
    let script = "mkdir -p \"$1/w/mounted\" \"$1/other\"; mount -t tmpfs none \"$1/w/mounted\"; \
                  echo secret > \"$1/w/mounted/f\"; mkdir \"$1/w/bound\"; echo bound > \"$1/other/f\"; \
                  mount --bind \"$1/other\" \"$1/w/bound\"; echo own > \"$1/w/own\"";
    let Some(folder) = inside("systems::mounts_are_neither_entered_nor_replaced", script) else { return };
    let root = folder.join("w");
    let store = Store::open(&folder.join("store"), Budget::default()).unwrap().store;
    let listed = castellan_checkpoint::Listing::read(&root, &Default::default()).unwrap();
    let names: Vec<&Path> = listed.entries.iter().map(|entry| entry.path.as_path()).collect();
    assert_eq!(names, [Path::new("bound"), Path::new("mounted"), Path::new("own")]);
    let taken = store.take("a", "s", &root, Scope::Workspace).unwrap();
    assert_eq!(taken.files, 1);
    let paths = [PathBuf::from("mounted/f")];
    let refused = store.take("b", "s", &root, Scope::Paths { paths: &paths, with_history: false });
    assert!(refused.is_err() || store.compare("b").unwrap().differences.is_empty());
    fs::write(root.join("own"), "changed").unwrap();
    fs::write(root.join("mounted/f"), "later").unwrap();
    fs::write(root.join("bound/f"), "later").unwrap();
    let restored = store.restore("a", None).unwrap();
    assert_eq!(restored.written, [PathBuf::from("own")]);
    assert_eq!(fs::read_to_string(root.join("mounted/f")).unwrap(), "later");
    assert_eq!(fs::read_to_string(root.join("bound/f")).unwrap(), "later");
}

#[test]
fn a_mount_in_a_created_directory_survives_its_removal() {
    let script = "mkdir -p \"$1/w\" \"$1/other\"; echo kept > \"$1/other/f\"";
    let name = "systems::a_mount_in_a_created_directory_survives_its_removal";
    let Some(folder) = inside(name, script) else { return };
    let root = folder.join("w");
    let store = Store::open(&folder.join("store"), Budget::default()).unwrap().store;
    store.take("a", "s", &root, Scope::Workspace).unwrap();
    fs::create_dir_all(root.join("new/deep")).unwrap();
    let bound = Command::new("mount")
        .args(["--bind".as_ref(), folder.join("other").as_os_str(), root.join("new/deep").as_os_str()])
        .status();
    assert!(bound.unwrap().success());
    let _ = store.restore("a", None);
    assert_eq!(fs::read_to_string(folder.join("other/f")).unwrap(), "kept\n");
}

#[test]
fn a_full_disk_of_the_workspace_is_an_error_and_nothing_is_put_back() {
    let script = "mkdir -p \"$1/w\"; mount -t tmpfs -o size=2m none \"$1/w\"";
    let name = "systems::a_full_disk_of_the_workspace_is_an_error_and_nothing_is_put_back";
    let Some(folder) = inside(name, script) else { return };
    let root = folder.join("w");
    fs::write(root.join("small"), "small").unwrap();
    fs::write(root.join("large"), vec![1; 1_000_000]).unwrap();
    let store = Store::open(&folder.join("store"), Budget::default()).unwrap().store;
    store.take("a", "s", &root, Scope::Workspace).unwrap();
    fs::write(root.join("small"), "changed").unwrap();
    fs::remove_file(root.join("large")).unwrap();
    fs::create_dir(root.join("dir")).unwrap();
    // All of the disk.
    let _ = fs::write(root.join("dir/filler"), vec![2; 4_000_000]);
    let before = state(&root);
    let refused = store.restore("a", None).unwrap_err();
    assert!(matches!(refused, RestoreError::DiskFull), "{refused}");
    assert_eq!(refused.to_string(), "the disk is full: castellan put nothing back. Free some space");
    assert_eq!(state(&root)[1..], before[1..]);
    // What the call made goes only after the files are written: a person makes room.
    fs::write(root.join("dir/filler"), "").unwrap();
    store.restore("a", None).unwrap();
    assert_eq!(fs::read(root.join("large")).unwrap().len(), 1_000_000);
    assert!(!root.join("dir").exists());
}

#[test]
fn a_full_disk_of_the_store_is_an_error_and_leaves_nothing() {
    let script = "mkdir -p \"$1/disk\" \"$1/w\"; mount -t tmpfs -o size=70m none \"$1/disk\"";
    let name = "systems::a_full_disk_of_the_store_is_an_error_and_leaves_nothing";
    let Some(folder) = inside(name, script) else { return };
    let root = folder.join("w");
    fs::write(root.join("large"), vec![1; 10_000_000]).unwrap();
    fs::write(root.join("small"), "x").unwrap();
    let store = Store::open(&folder.join("disk/store"), Budget::default()).unwrap().store;
    // A part of the disk always stays free.
    let refused = store.take("a", "s", &root, Scope::Workspace).unwrap_err();
    assert!(matches!(refused, TakeError::DiskFull), "{refused}");
    assert_eq!((store.usage().count, store.usage().bytes), (0, 0));
    let paths = [PathBuf::from("small")];
    store.take("b", "s", &root, Scope::Paths { paths: &paths, with_history: false }).unwrap();
}

#[test]
fn blocks_are_shared_where_the_file_system_can() {
    let script = "command -v mkfs.btrfs > /dev/null; truncate -s 200M \"$1/image\"; mkfs.btrfs -q \"$1/image\"; \
                  mkdir \"$1/disk\"; mount -o loop \"$1/image\" \"$1/disk\"; mkdir \"$1/disk/w\"";
    let Some(folder) = inside("systems::blocks_are_shared_where_the_file_system_can", script) else { return };
    let disk = folder.join("disk");
    let root = disk.join("w");
    let bytes: Vec<u8> = (0..40_000_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    fs::write(root.join("large"), &bytes).unwrap();
    let used = || {
        rustix::fs::sync();
        let found = rustix::fs::statvfs(&disk).unwrap();
        (found.f_blocks - found.f_bfree) * found.f_frsize
    };
    let store = Store::open(&disk.join("store"), Budget::default()).unwrap().store;
    let before = used();
    store
        .take("a", "s", &root, Scope::Paths { paths: &[PathBuf::from("large")], with_history: false })
        .unwrap();
    assert!(used() - before < 5_000_000, "{} bytes more", used() - before);
    fs::write(root.join("large"), "destroyed").unwrap();
    let before = used();
    store.restore("a", None).unwrap();
    assert!(fs::read(root.join("large")).unwrap() == bytes);
    assert!(used().saturating_sub(before) < 5_000_000);
}

/// Another user than root, for whom permissions hold.
#[test]
fn permissions_that_keep_out_the_owner_are_taken_back() {
    if rustix::process::geteuid().is_root() && std::env::var_os(INSIDE).is_none() {
        let program = std::env::current_exe().unwrap();
        let place = tempfile::tempdir().unwrap();
        let copy = place.path().join("test");
        fs::copy(program, &copy).unwrap();
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let output = Command::new("setpriv")
            .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
            .arg(&copy)
            .args(["--exact", "systems::permissions_that_keep_out_the_owner_are_taken_back"])
            .env(INSIDE, "")
            .output();
        match output {
            Ok(output) => {
                let text = String::from_utf8_lossy(&output.stdout).into_owned();
                assert!(text.contains("test result: ok. 1 passed"), "{text}");
            }
            Err(why) => eprintln!("skipped: setpriv cannot be started: {why}"),
        }
        return;
    }
    let world = World::new();
    let before = world.state();
    world.take("a", &["src"]).unwrap();
    let mode =
        |path: &str, mode| fs::set_permissions(world.path(path), fs::Permissions::from_mode(mode)).unwrap();
    fs::remove_file(world.path("src/inner/deep.rs")).unwrap();
    mode("src/main.rs", 0o000);
    mode("src/inner", 0o000);
    mode("src", 0o000);
    world.restore("a");
    assert_eq!(world.state()[1..], before[1..]);
    // A directory that cannot be read is an error of a listing.
    mode("src", 0o000);
    let refused = castellan_checkpoint::Listing::read(&world.root, &Default::default());
    assert!(refused.is_err());
    mode("src", 0o755);
}
