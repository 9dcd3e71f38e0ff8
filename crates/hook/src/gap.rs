//! A note for the next daemon that a call or event was answered without one, so that the record shows the gap.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::args::Args;
use crate::failure::Failure;
use crate::limits::GAPS_BYTES_MAX;

/// Leaves a note. Failing to is no reason to change the answer, which is a deny already.
pub(crate) fn note(args: &Args, failure: Failure) {
    let path = args.home.gaps();
    if std::fs::metadata(&path).is_ok_and(|file| file.len() > GAPS_BYTES_MAX) {
        return;
    }
    if let Ok(mut file) = OpenOptions::new().append(true).create(true).mode(0o600).open(path) {
        let _ = file.write_all(line(args, failure).as_bytes());
    }
}

/// One line: format version, unix milliseconds, agent, event, parent process id, what went wrong.
pub(crate) fn line(args: &Args, failure: Failure) -> String {
    let ms = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
    let parent = std::os::unix::process::parent_id();
    let word = |text: &str| text.chars().filter(char::is_ascii_graphic).take(64).collect::<String>();
    format!("1 {ms} {} {} {parent} {}\n", word(&args.agent), word(&args.event), failure.word())
}
