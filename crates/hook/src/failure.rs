//! The "deny" of each agent and event for the case that the hook cannot ask the daemon. The `agents` crate writes the
//! daemon's own failures in the same form; a test keeps the two equal.
//!
//! The text for the agent never explains how to get the call allowed: it asks the agent to inform the user. A remedy in
//! the text is for the user.

use std::io;

use castellan_wire::{Reply, WireError};

use crate::limits::CALL_SECONDS;
use table::TABLE;

mod table;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The hook's own arguments are wrong.
    Arguments,
    /// `--home` names the user's own home, and no file of users contains that home.
    User,
    /// Standard input could not be read.
    Input,
    /// The home or its `run` folder is missing or not private to this user.
    Home,
    /// The home is on a file system that is mounted read-only.
    ReadOnlyHome,
    /// This user may not write in the home.
    ForbiddenHome,
    /// The file system of the home, or this user's part of it, is full.
    FullHome,
    /// The daemon was stopped on purpose.
    Stopped,
    /// No daemon listens and none could be started.
    NotStarted,
    /// A daemon runs, but does not listen on its socket.
    Unreachable,
    /// The daemon of the system does not listen. No hook starts it.
    SystemDown,
    /// The process that listens, or the folder of its socket, is not that of the system's daemon.
    Foreign,
    /// The daemon closed the connection before it answered.
    Disconnected,
    /// The daemon's answer is not valid.
    Protocol,
    /// No answer before the hook's own deadline.
    Deadline,
    /// A fault of the hook itself.
    Internal,
}

impl Failure {
    /// Returns the reason why the hook could not write in the home.
    pub(crate) fn of_home(error: &io::Error) -> Failure {
        let row = HOME_FAILURES.iter().find(|(kind, _)| *kind == error.kind());
        row.map_or(Failure::Home, |(_, failure)| *failure)
    }

    /// Returns the word used in the record.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Failure::Arguments => "arguments",
            Failure::User => "user",
            Failure::Input => "input",
            Failure::Home => "home",
            Failure::ReadOnlyHome => "home_read_only",
            Failure::ForbiddenHome => "home_forbidden",
            Failure::FullHome => "home_full",
            Failure::Stopped => "stopped",
            Failure::NotStarted => "not_started",
            Failure::Unreachable => "unreachable",
            Failure::SystemDown => "system_down",
            Failure::Foreign => "foreign",
            Failure::Disconnected => "disconnected",
            Failure::Protocol => "protocol",
            Failure::Deadline => "deadline",
            Failure::Internal => "internal",
        }
    }

    /// Returns the text for agent and user. It is plain ASCII without quotes, because it goes into JSON unescaped.
    fn text(self) -> &'static str {
        match self {
            Failure::Arguments => "its hook was started with wrong arguments",
            Failure::User => "this user has no home directory in the list of users of this machine",
            Failure::Input => "its hook could not read the call",
            Failure::Home => "its home directory is missing or not private to this user",
            Failure::ReadOnlyHome => "its home directory is on a read-only file system",
            Failure::ForbiddenHome => "this user may not write in its home directory",
            Failure::FullHome => "the disk with its home directory is full",
            Failure::Stopped => "it is stopped, so every call is blocked",
            Failure::NotStarted => "its daemon could not be started",
            Failure::Unreachable => "its daemon runs but cannot be reached",
            Failure::SystemDown => "the daemon of this machine does not run",
            Failure::Foreign => "another program listens in the place of its daemon",
            Failure::Disconnected => "its daemon broke off before it answered",
            Failure::Protocol => "its daemon answered in a way that its hook does not understand",
            Failure::Deadline => "its daemon did not answer in time",
            Failure::Internal => "its hook failed",
        }
    }

    /// Returns the request to the user, in the same character set. A remedy starts castellan or repairs its home; it
    /// never loosens anything.
    fn request(self) -> &'static str {
        match self {
            Failure::Stopped => "Tell the user to run: castellan start",
            Failure::FullHome => "Tell the user to free some space",
            Failure::Arguments
            | Failure::User
            | Failure::Input
            | Failure::Home
            | Failure::ReadOnlyHome
            | Failure::ForbiddenHome
            | Failure::NotStarted
            | Failure::Unreachable
            | Failure::SystemDown
            | Failure::Foreign
            | Failure::Disconnected
            | Failure::Protocol
            | Failure::Deadline
            | Failure::Internal => "Tell the user",
        }
    }
}

impl From<&WireError> for Failure {
    fn from(error: &WireError) -> Failure {
        match error {
            WireError::Closed | WireError::Io(_) => Failure::Disconnected,
            WireError::NotAFrame
            | WireError::Version(_)
            | WireError::Kind(_)
            | WireError::TooLong { .. }
            | WireError::Body => Failure::Protocol,
        }
    }
}

const HOME_FAILURES: &[(io::ErrorKind, Failure)] = &[
    (io::ErrorKind::ReadOnlyFilesystem, Failure::ReadOnlyHome),
    (io::ErrorKind::PermissionDenied, Failure::ForbiddenHome),
    (io::ErrorKind::StorageFull, Failure::FullHome),
    (io::ErrorKind::QuotaExceeded, Failure::FullHome),
];

/// Line for standard error when standard output is closed.
pub(crate) const OUTPUT_FAILED: &[u8] =
    b"castellan blocked this: its answer could not be written. Tell the user\n";

/// The form in which a failure is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Exit 2 with a line on standard error: blocks the call.
    Block,
    /// Exit 0 with a deny decision in JSON, for events on which exit 2 does not deny.
    PermissionDeny,
    /// Exit 0 with a line on standard error: no call depends on the answer.
    Mention,
}

/// Returns the seconds after which the hook answers without the daemon.
pub(crate) fn deadline_seconds(agent: &str, event: &str) -> u32 {
    known(agent, event).map_or(CALL_SECONDS, |(_, seconds)| seconds)
}

/// Returns the hook's output and exit code for a failure.
pub(crate) fn reply_for(agent: &str, event: &str, failure: Failure) -> Reply {
    match telling(agent, event) {
        Form::Block => Reply { exit: 2, stdout: Vec::new(), stderr: line(BLOCKED, failure) },
        Form::Mention => Reply { exit: 0, stdout: Vec::new(), stderr: line("did not record this", failure) },
        Form::PermissionDeny => {
            let decision = format!(r#"{{"behavior":"deny","message":"{}"}}"#, message(BLOCKED, failure));
            let output = format!(r#"{{"hookEventName":"{event}","decision":{decision}}}"#);
            let stdout = format!("{{\"hookSpecificOutput\":{output}}}\n").into_bytes();
            Reply { exit: 0, stdout, stderr: Vec::new() }
        }
    }
}

/// Returns the form for an event; an event outside the table blocks.
fn telling(agent: &str, event: &str) -> Form {
    known(agent, event).map_or(Form::Block, |(telling, _)| telling)
}

fn known(agent: &str, event: &str) -> Option<(Form, u32)> {
    let row = TABLE.iter().find(|(a, e, ..)| *a == agent && *e == event);
    row.map(|(.., telling, seconds)| (*telling, *seconds))
}

/// A call does not happen.
const BLOCKED: &str = "blocked this";

fn line(what: &str, failure: Failure) -> Vec<u8> {
    format!("{}\n", message(what, failure)).into_bytes()
}

fn message(what: &str, failure: Failure) -> String {
    format!("castellan {what}: {}. {}", failure.text(), failure.request())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(agent: &str, event: &str, exit: u8, stdout: &str, stderr: &str) {
        let reply = reply_for(agent, event, Failure::Deadline);
        let got =
            (reply.exit, String::from_utf8(reply.stdout).unwrap(), String::from_utf8(reply.stderr).unwrap());
        assert_eq!(got, (exit, stdout.to_owned(), stderr.to_owned()), "{agent} {event}");
    }

    #[test]
    fn every_failure_denies_as_the_agent_understands_it() {
        let denied = "castellan blocked this: its daemon did not answer in time. Tell the user\n";
        for agent in ["claude", "codex"] {
            check(agent, "PreToolUse", 2, "", denied);
            check(agent, "SomethingNew", 2, "", denied);
            check(agent, "PostToolUse", 0, "", &denied.replace("blocked", "did not record"));
            check(
                agent,
                "PermissionRequest",
                0,
                "{\"hookSpecificOutput\":{\"hookEventName\":\"PermissionRequest\",\"decision\":{\"behavior\":\"deny\",\
                 \"message\":\"castellan blocked this: its daemon did not answer in time. Tell the user\"}}}\n",
                "",
            );
        }
        check("", "", 2, "", denied);
        check("gemini", "BeforeTool", 2, "", denied);
        check("qwen", "PreToolUse", 2, "", denied);
        check("qwen", "SessionEnd", 0, "", &denied.replace("blocked", "did not record"));
        check("gemini", "AfterTool", 0, "", &denied.replace("blocked", "did not record"));
    }

    #[test]
    fn the_user_gets_the_remedy() {
        let check = |failure, expected: &str| {
            let reply = reply_for("claude", "PreToolUse", failure);
            assert_eq!(
                String::from_utf8(reply.stderr).unwrap(),
                format!("castellan blocked this: {expected}\n")
            );
        };
        check(
            Failure::Stopped,
            "it is stopped, so every call is blocked. Tell the user to run: castellan start",
        );
        check(
            Failure::FullHome,
            "the disk with its home directory is full. Tell the user to free some space",
        );
    }
}
