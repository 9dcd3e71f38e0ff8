//! Reads the copies of a log's lines from the system's log: from `journalctl`, and from the files of syslog. A program of
//! the user can add lines there, but not remove any, so a copy can only raise an alarm.

use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

use castellan_audit::{Copied, log_name};
use castellan_files::{Links, explained, open_to_read};
use serde_json::Value as Json;

use crate::limits::{COPIES_MAX, SYSTEM_LOG_LINE_BYTES_MAX};

/// Files that the usual syslog daemons write, with the one before the last rotation.
const FILES: [&str; 5] =
    ["/var/log/syslog", "/var/log/syslog.1", "/var/log/messages", "/var/log/messages.1", "/var/log/user.log"];

/// The copies of one log.
#[derive(Debug, Default)]
pub(super) struct Outside {
    pub(super) copies: Vec<Copied>,
    /// The places that hold copies of the log.
    pub(super) places: Vec<String>,
    /// The places that could not be read, with the reason.
    pub(super) unread: Vec<String>,
}

/// Reads the copies of the log in `dir`, since a time. `files`: only these files, not the system's own.
pub(super) fn read(dir: &Path, since: Option<SystemTime>, files: &[PathBuf]) -> Outside {
    let mut outside = Outside::default();
    let name = log_name(dir);
    let is_wanted = |copied: &Copied| {
        copied.is_of(&name) && since.is_none_or(|since| copied.time().is_some_and(|time| time >= since))
    };
    let mut add = |place: &str, read: io::Result<Option<Vec<Copied>>>| match read {
        Ok(Some(copies)) if !copies.is_empty() => {
            outside.places.push(place.to_owned());
            outside.copies.extend(copies);
        }
        Ok(_) => {}
        Err(error) => outside.unread.push(format!("{place}: {}", explained(&error))),
    };
    if files.is_empty() {
        add("journalctl", journal(&is_wanted));
    }
    let own = FILES.map(PathBuf::from);
    for file in if files.is_empty() { own.as_slice() } else { files } {
        let place = file.display().to_string();
        match open_to_read(file, Links::Followed) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && files.is_empty() => {}
            Err(error) => add(&place, Err(error)),
            Ok(file) => add(&place, copies(file, in_syslog, &is_wanted).map(Some)),
        }
    }
    outside
}

/// Asks `journalctl` for what castellan wrote as this user. Returns `None` if this machine has none.
fn journal(is_wanted: &dyn Fn(&Copied) -> bool) -> io::Result<Option<Vec<Copied>>> {
    let user = format!("_UID={}", rustix::process::geteuid().as_raw());
    let mut command = Command::new("journalctl");
    command.args(["--quiet", "--no-pager", "--output=json", "SYSLOG_IDENTIFIER=castellan", &user]);
    let started = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut child = match started {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        started => started?,
    };
    let read = match child.stdout.take() {
        Some(out) => copies(out, in_journal, is_wanted),
        None => Ok(Vec::new()),
    };
    let status = child.wait()?;
    let read = read?;
    // Without a journal it fails; that is no copy.
    let has_journal = status.success() || Path::new("/run/systemd/journal").exists();
    match status.success() {
        true => Ok(Some(read)),
        false if has_journal => Err(io::Error::other(format!("it failed ({status})"))),
        false => Ok(None),
    }
}

/// Reads the copies of all lines. `of_line` finds the text of a copy in a line.
fn copies(
    from: impl io::Read,
    of_line: fn(&str) -> Option<String>,
    is_wanted: &dyn Fn(&Copied) -> bool,
) -> io::Result<Vec<Copied>> {
    let mut reader = BufReader::new(from);
    let mut copies = Vec::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        // A longer line is read in parts, none of which is a copy.
        if reader.by_ref().take(SYSTEM_LOG_LINE_BYTES_MAX).read_until(b'\n', &mut line)? == 0 {
            return Ok(copies);
        }
        let text = String::from_utf8_lossy(&line);
        let copied = of_line(text.trim_end()).and_then(|text| Copied::parse(&text));
        if copies.len() >= COPIES_MAX {
            return Err(io::Error::other(format!("more than {COPIES_MAX} copies: select by `--since`")));
        }
        copies.extend(copied.filter(is_wanted));
    }
}

fn in_journal(line: &str) -> Option<String> {
    let entry: Json = serde_json::from_str(line).ok()?;
    entry.get("MESSAGE")?.as_str().map(str::to_owned)
}

/// A line has a time, a host, `castellan[4711]: ` and the text.
fn in_syslog(line: &str) -> Option<String> {
    let (_, rest) = line.split_once("castellan[")?;
    rest.split_once("]: ").map(|(_, text)| text.to_owned())
}
