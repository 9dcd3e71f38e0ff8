//! Copies of the guarded user's log, configuration and rules for that user, who may not open the files of a daemon with
//! another user. The client gets bytes and no descriptors: with one, it could hold a lock that the next daemon needs.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use castellan_files::{Links, open_to_read};

use crate::control::{ControlResponse, OwnFile};
use crate::layout::Layout;
use crate::limits::{OWN_FILES_BYTES_MAX, OWN_FILES_MAX};
use crate::sight;
use crate::timed::Timed;

/// The sent folders, with the files in them.
const FOLDERS: &[&str] =
    &["config/rules/default", "config/rules/user", "state/last-good", "state/log", "state/projects"];

/// The sent files. Never the hash of a PIN.
const FILES: &[&str] = &["config/config.toml", "state/journal"];

/// Opens the files.
pub(super) fn open(layout: &Layout) -> Result<Vec<(OwnFile, File)>, ControlResponse> {
    if !sight::is_through_reader() {
        return Err(ControlResponse::Failed(
            "this daemon has your user: read the files themselves".to_owned(),
        ));
    }
    let opened = opened_in(layout.home().dir());
    opened.map_err(|error| ControlResponse::Failed(format!("the files cannot be sent: {error}")))
}

fn opened_in(home: &Path) -> io::Result<Vec<(OwnFile, File)>> {
    let mut names: Vec<String> = FILES.iter().map(|name| (*name).to_owned()).collect();
    for folder in FOLDERS {
        for entry in std::fs::read_dir(home.join(folder))? {
            names.extend(entry?.file_name().to_str().map(|name| format!("{folder}/{name}")));
        }
    }
    if names.len() > OWN_FILES_MAX {
        return Err(io::Error::other(format!("there are more than {OWN_FILES_MAX}")));
    }
    let mut opened = Vec::new();
    let mut left = OWN_FILES_BYTES_MAX;
    for name in names {
        // A closed segment may be removed meanwhile, and some entries are folders.
        let Ok(file) = open_to_read(&home.join(&name), Links::Refused) else { continue };
        let bytes = file.metadata()?.len();
        left = left.checked_sub(bytes).ok_or_else(|| {
            io::Error::other(format!("they have more than {OWN_FILES_BYTES_MAX} bytes: root reads them"))
        })?;
        opened.push((OwnFile { name, bytes }, file));
    }
    Ok(opened)
}

/// Sends the bytes within `time` altogether. If that fails, or if a file has shrunk, the client sees the end of the
/// connection.
pub(super) fn send(files: Vec<(OwnFile, File)>, stream: &UnixStream, time: Duration) {
    let mut timed = Timed::new(stream, time);
    for (OwnFile { name: _, bytes }, file) in files {
        let sent = io::copy(&mut file.take(bytes), &mut timed);
        if !sent.is_ok_and(|sent| sent == bytes) {
            let _ = stream.shutdown(std::net::Shutdown::Both);
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::time::Instant;

    use super::*;
    use crate::limits::OWN_FILES_TIME;

    /// A client that takes a little now and then would hold the daemon's thread for hours.
    #[test]
    fn sending_ends_with_its_time_whatever_the_client_takes() {
        let dir = tempfile::tempdir().unwrap();
        let large = || {
            let file = File::create(dir.path().join("large")).unwrap();
            file.set_len(64 * 1024 * 1024).unwrap();
            let named = OwnFile { name: "large".to_owned(), bytes: 64 * 1024 * 1024 };
            (named, File::open(dir.path().join("large")).unwrap())
        };
        let (ours, theirs) = UnixStream::pair().unwrap();
        let begun = Instant::now();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                send(vec![large(), large()], &theirs, Duration::from_millis(200));
                let _ = theirs.shutdown(std::net::Shutdown::Both);
            });
            // Each piece makes room for the next write, and comes before a write would time out by itself.
            let mut piece = [0; 64 * 1024];
            while (&ours).read(&mut piece).unwrap() > 0 && begun.elapsed() < LIMIT {
                std::thread::park_timeout(Duration::from_millis(20));
            }
        });
        assert!(begun.elapsed() < LIMIT, "it still sends");
        assert!((&theirs).write(b"x").is_err());
    }

    const LIMIT: Duration = Duration::from_secs(10);

    #[test]
    fn secrets_and_links_are_not_sent() {
        let home = tempfile::tempdir().unwrap();
        for folder in FOLDERS {
            std::fs::create_dir_all(home.path().join(folder)).unwrap();
        }
        for name in ["config/config.toml", "state/journal", "state/pin.json", "state/log/routine.jsonl"] {
            std::fs::write(home.path().join(name), name).unwrap();
        }
        std::os::unix::fs::symlink("/etc/passwd", home.path().join("state/log/link")).unwrap();
        std::fs::create_dir(home.path().join("state/log/folder")).unwrap();
        let opened = opened_in(home.path()).unwrap();
        let names: Vec<String> = opened.iter().map(|(named, _)| named.name.clone()).collect();
        assert_eq!(names, ["config/config.toml", "state/journal", "state/log/routine.jsonl"]);
        let (ours, theirs) = UnixStream::pair().unwrap();
        send(opened, &theirs, OWN_FILES_TIME);
        drop(theirs);
        let mut text = String::new();
        (&ours).read_to_string(&mut text).unwrap();
        assert_eq!(text, names.concat());
    }

    #[test]
    fn more_than_the_limit_is_not_sent() {
        let home = tempfile::tempdir().unwrap();
        for folder in FOLDERS {
            std::fs::create_dir_all(home.path().join(folder)).unwrap();
        }
        let large = File::create(home.path().join("state/log/routine.jsonl")).unwrap();
        large.set_len(OWN_FILES_BYTES_MAX).unwrap();
        assert_eq!(opened_in(home.path()).unwrap().len(), 1);
        std::fs::write(home.path().join("state/journal"), "x").unwrap();
        assert!(opened_in(home.path()).unwrap_err().to_string().contains("root reads them"));
    }
}
