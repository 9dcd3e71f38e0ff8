//! Both ends of the protocol over real sockets: answers, descriptors, limits, an end that is gone, and one that misbehaves.

#![cfg(test)]
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use castellan_reader::{Reader, Sort, serve};

/// A folder with a reader that serves it on a socket. The thread of the reader ends with the test's process.
struct Served {
    dir: tempfile::TempDir,
    reader: Reader,
    allowed: Arc<AtomicBool>,
    connections: Arc<AtomicUsize>,
}

fn served() -> Served {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let allowed = Arc::new(AtomicBool::new(true));
    let connections = Arc::new(AtomicUsize::new(0));
    let (is_allowed, counted) = (Arc::clone(&allowed), Arc::clone(&connections));
    std::thread::spawn(move || serve(&listener, |_| is_allowed.load(Ordering::SeqCst)));
    let reader = Reader::new(move || {
        counted.fetch_add(1, Ordering::SeqCst);
        UnixStream::connect(&path)
    });
    Served { dir, reader, allowed, connections }
}

fn text(descriptor: std::os::fd::OwnedFd) -> String {
    let mut text = String::new();
    File::from(descriptor).read_to_string(&mut text).unwrap();
    text
}

fn number(error: &io::Error) -> Option<i32> {
    error.raw_os_error()
}

const ENOENT: i32 = 2;
const EINVAL: i32 = 22;
const ENOTDIR: i32 = 20;

#[test]
fn each_sort_of_question_is_answered() {
    let served = served();
    let base = served.dir.path().canonicalize().unwrap();
    let (file, link, folder) = (base.join("file"), base.join("link"), base.join("folder"));
    fs::write(&file, "text").unwrap();
    symlink("file", &link).unwrap();
    fs::create_dir(&folder).unwrap();
    let reader = &served.reader;
    assert_eq!(text(reader.open(Sort::Read, &file).unwrap()), "text");
    assert_eq!(text(reader.open(Sort::Read, &link).unwrap()), "text");
    let refused = reader.open(Sort::ReadNoLink, &link).unwrap_err();
    assert!(refused.to_string().contains("symbolic link"), "{refused}");
    assert_eq!(text(reader.open(Sort::ReadNoLink, &file).unwrap()), "text");
    let looked = |sort, path: &Path| File::from(reader.open(sort, path).unwrap()).metadata().unwrap();
    assert_eq!(looked(Sort::Look, &link).ino(), fs::metadata(&file).unwrap().ino());
    assert_eq!(looked(Sort::LookNoLink, &link).ino(), fs::symlink_metadata(&link).unwrap().ino());
    assert!(looked(Sort::Look, &folder).is_dir());
    assert_eq!(reader.path(Sort::Link, &link).unwrap(), PathBuf::from("file"));
    assert_eq!(reader.path(Sort::Real, &link).unwrap(), file);
    assert!(reader.open(Sort::List, &base).is_ok());
    assert!(reader.can_execute(&file).is_err());
    fs::set_permissions(&file, fs::Permissions::from_mode(0o700)).unwrap();
    assert!(reader.can_execute(&file).is_ok());
    assert!(reader.check().is_ok());
    assert_eq!(reader.failures(), 0);
    assert_eq!(served.connections.load(Ordering::SeqCst), 1, "one connection is used again");
}

#[test]
fn errors_are_those_of_the_kernel_and_no_failures_of_the_reader() {
    let served = served();
    let base = served.dir.path();
    fs::write(base.join("file"), "").unwrap();
    let reader = &served.reader;
    let opened = |sort, name: &str| number(&reader.open(sort, &base.join(name)).unwrap_err());
    assert_eq!(opened(Sort::Read, "none"), Some(ENOENT));
    assert_eq!(opened(Sort::Look, "none"), Some(ENOENT));
    assert_eq!(opened(Sort::List, "file"), Some(ENOTDIR));
    assert_eq!(opened(Sort::Look, "file/x"), Some(ENOTDIR));
    let link = reader.path(Sort::Link, &base.join("file")).unwrap_err();
    assert_eq!(number(&link), Some(EINVAL));
    // The path never reaches the reader.
    assert_eq!(number(&reader.open(Sort::Read, Path::new("relative")).unwrap_err()), Some(EINVAL));
    for (kind, path) in [("folder", base), ("device", Path::new("/dev/zero"))] {
        let refused = reader.open(Sort::Read, path).unwrap_err();
        assert!(refused.to_string().contains(kind), "{refused}");
    }
    assert_eq!(reader.failures(), 0);
}

#[test]
fn no_descriptor_can_write() {
    let served = served();
    let file = served.dir.path().join("file");
    fs::write(&file, "text").unwrap();
    for sort in [Sort::Read, Sort::ReadNoLink, Sort::Look, Sort::LookNoLink] {
        let mut opened = File::from(served.reader.open(sort, &file).unwrap());
        assert!(opened.write_all(b"x").is_err(), "{sort:?}");
        assert!(opened.set_len(0).is_err(), "{sort:?}");
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "text");
}

#[test]
fn an_end_that_is_not_the_daemon_gets_no_answer() {
    let served = served();
    served.allowed.store(false, Ordering::SeqCst);
    assert!(served.reader.check().is_err());
    let refused = served.reader.open(Sort::Read, Path::new("/etc/passwd")).unwrap_err();
    assert!(refused.to_string().contains("does not answer") && number(&refused).is_none(), "{refused}");
    assert_eq!(served.reader.failures(), 2);
}

#[test]
fn a_reader_that_was_started_again_is_asked_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("socket");
    // Each connection answers one question, and then ends.
    let listener = UnixListener::bind(&path).unwrap();
    std::thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            let mut question = [0; 5];
            let _ = (&stream).read_exact(&mut question);
            let _ = (&stream).write_all(&[1, 0, 0, 0]);
        }
    });
    let reader = Reader::new(move || UnixStream::connect(&path));
    for _ in 0..3 {
        reader.check().unwrap();
    }
    assert_eq!(reader.failures(), 0);
}

#[test]
fn a_reader_that_says_nonsense_or_nothing_is_gone() {
    let answers: Vec<Vec<u8>> = vec![
        vec![],
        // Another version, an unknown kind, a descriptor that does not come, a length over the limit, a wrong answer.
        vec![2, 0, 0, 0],
        vec![1, 9, 0, 0],
        vec![1, 1, 0, 0],
        vec![1, 2, 0xff, 0xff],
        vec![1, 0, 0, 0],
        vec![1, 3, 1, 0, 0],
    ];
    for answer in answers {
        let (given, kept) = (answer.clone(), Arc::new(Mutex::new(Vec::new())));
        let reader = Reader::new(move || {
            let (ours, theirs) = UnixStream::pair()?;
            (&theirs).write_all(&answer)?;
            // An end that is open and says nothing more.
            kept.lock().unwrap().push(theirs);
            Ok(ours)
        });
        let refused = reader.open(Sort::Read, Path::new("/etc/passwd")).unwrap_err();
        assert_eq!((number(&refused), reader.failures()), (None, 1), "{given:?}: {refused}");
    }
}
