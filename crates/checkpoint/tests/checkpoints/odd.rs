//! Entries that are no plain files: sparse files, pipes, sockets, devices, loops.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::time::Instant;

use crate::world::World;

#[test]
fn a_sparse_file_stays_sparse() {
    use std::os::unix::fs::FileExt;
    let world = World::new();
    let file = fs::File::create(world.path("sparse")).unwrap();
    file.set_len(20 << 20).unwrap();
    file.write_all_at(b"data", 10 << 20).unwrap();
    drop(file);
    let blocks = |path: PathBuf| fs::metadata(path).unwrap().blocks();
    let before = (world.state(), blocks(world.path("sparse")));
    world.take("a", &["sparse"]).unwrap();
    let kept = world.top.join("store/contents");
    let stored: u64 =
        fs::read_dir(kept).unwrap().map(|file| file.unwrap().metadata().unwrap().blocks()).sum();
    assert!(stored <= before.1 + 64, "{stored} blocks in the store");
    fs::remove_file(world.path("sparse")).unwrap();
    world.restore("a");
    assert_eq!(world.state()[1..], before.0[1..]);
    assert!(blocks(world.path("sparse")) <= before.1 + 64);
}

#[test]
fn a_huge_sparse_file_is_over_the_budget_at_once() {
    let world = World::new();
    fs::File::create(world.path("huge")).unwrap().set_len(1 << 40).unwrap();
    let started = Instant::now();
    assert!(world.take("a", &["huge"]).is_err());
    assert_eq!(world.take_all("b").uncopied, [PathBuf::from("huge")]);
    assert!(started.elapsed().as_secs() < 5);
}

#[test]
fn pipes_sockets_and_devices_are_neither_opened_nor_made_again() {
    let world = World::new();
    let pipe = world.path("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    drop(UnixListener::bind(world.path("socket")).unwrap());
    let device = rustix::fs::makedev(1, 5);
    let made = rustix::fs::mknodat(
        rustix::fs::CWD,
        world.path("zero"),
        rustix::fs::FileType::CharacterDevice,
        0o666.into(),
        device,
    );
    if made.is_err() {
        eprintln!("without a device: only root makes one");
    }
    symlink("loop-b", world.path("loop-a")).unwrap();
    symlink("loop-a", world.path("loop-b")).unwrap();
    world.take_all("a");
    world.take("b", &["pipe", "socket", "zero", "loop-a"]).unwrap();
    // A file takes the place of the pipe: it goes, and the pipe is reported.
    fs::remove_file(&pipe).unwrap();
    fs::remove_file(world.path("loop-a")).unwrap();
    let restored = world.restore("a");
    assert!(
        matches!(&restored.left[..], [(path, why)] if path == &PathBuf::from("pipe") && why.contains("pipe"))
    );
    assert_eq!(restored.written, [PathBuf::from("loop-a")]);
    assert!(fs::symlink_metadata(world.path("socket")).unwrap().file_type().is_socket());
}

#[test]
fn a_pipe_that_a_call_made_goes_without_being_opened() {
    let world = World::new();
    world.take("a", &["README.md"]).unwrap();
    fs::remove_file(world.path("README.md")).unwrap();
    let pipe = world.path("README.md");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    assert_eq!(world.store.new_contents("a", &PathBuf::from("README.md"), 100).unwrap(), None);
    world.restore("a");
    assert_eq!(fs::read_to_string(pipe).unwrap(), "read me\n");
}
