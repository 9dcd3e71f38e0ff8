//! The JSON that Claude Code gives to its status line: castellan reads only the directory of the session from it, because the
//! settings there can switch hooks off.

use std::io::{Read, stdin};
use std::path::PathBuf;
use std::sync::mpsc::channel;

use serde_json::Value as Json;

use crate::limits::{PROMPT_TIME, STATUS_LINE_BYTES_MAX};

/// Enters the directory of the session, if standard input names one in time. Another thread reads, because the pipe may stay
/// open. That thread ends with this process.
pub(super) fn enter_directory() {
    if rustix::termios::isatty(stdin()) {
        return;
    }
    let (sender, receiver) = channel();
    let reading = std::thread::Builder::new().name("line".into()).spawn(move || {
        let mut text = Vec::new();
        let _ = stdin().take(STATUS_LINE_BYTES_MAX).read_to_end(&mut text);
        let _ = sender.send(text);
    });
    let Some(text) = reading.ok().and_then(|_| receiver.recv_timeout(PROMPT_TIME).ok()) else { return };
    if let Some(directory) = directory(&text) {
        // A directory that is gone has no settings.
        let _ = std::env::set_current_dir(directory);
    }
}

/// Returns the absolute directory in the JSON.
fn directory(text: &[u8]) -> Option<PathBuf> {
    let json: Json = serde_json::from_slice(text).ok()?;
    let named = json.pointer("/workspace/current_dir").or_else(|| json.get("cwd"))?.as_str()?;
    Some(PathBuf::from(named)).filter(|directory| directory.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_directory_is_read() {
        for (text, expected) in [
            (r#"{"workspace":{"current_dir":"/w","project_dir":"/p"},"cwd":"/c"}"#, Some("/w")),
            (r#"{"cwd":"/c","model":{"display_name":"x"}}"#, Some("/c")),
            (r#"{"cwd":"c"}"#, None),
            (r#"{"cwd":7}"#, None),
            (r#"{"workspace":null}"#, None),
            ("[]", None),
            ("", None),
            ("{\"cwd\":\"/c\"", None),
        ] {
            assert_eq!(directory(text.as_bytes()), expected.map(PathBuf::from), "{text}");
        }
    }
}
