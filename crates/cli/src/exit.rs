//! [`Exit`]: the table of `castellan`'s exit codes, which are stable: scripts may rely on them.

use std::io;
use std::process::ExitCode;

use castellan_daemon::{ControlError, DaemonError, Refusal};

/// The result of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Done,
    No,
    Usage,
    NotRunning,
    Refused,
    AlreadyRunning,
    Incomplete,
    Failed,
    Ask,
    Deny,
    Pending,
    Budget,
    RunFailed,
    NotExecutable,
    NotFound,
    /// The exit code of an agent that `run` started.
    Agent(u8),
}

/// Each exit with its code and meaning. `--help`, the man page and the documentation use this table.
pub(crate) const EXITS: &[(Exit, u8, &str)] = &[
    (
        Exit::Done,
        0,
        "done; of `check` and `file check`: allowed, or left to the agent; of `status` and `doctor`: protected; of `engine`: it \
         judges",
    ),
    (
        Exit::No,
        1,
        "the answer is no, or problems were found; of `status` and `doctor`: not protected; of \
             `engine`: it does not judge",
    ),
    (Exit::Usage, 2, "the command line is wrong"),
    (Exit::NotRunning, 3, "the daemon is not running"),
    (Exit::Refused, 4, "refused: it needs a person at a terminal"),
    (Exit::AlreadyRunning, 5, "a daemon already serves this home"),
    (Exit::Incomplete, 6, "done in part; the output says what was left out"),
    (Exit::Failed, 7, "failed; the message says why"),
    (Exit::Ask, 10, "of `check` and `file check`: asked"),
    (Exit::Deny, 11, "of `check` and `file check`: denied"),
    (Exit::Pending, 12, "of `apply --check`: edited files wait to be applied"),
    (
        Exit::Budget,
        124,
        "of `run`: a token budget is spent, or its tokens cannot be read; the agent is ended. Of `sandbox run`: its time is over",
    ),
    (
        Exit::RunFailed,
        125,
        "of `run`, `sandbox run` and `contained`: castellan failed; the agent or command did not start, or is ended",
    ),
    (
        Exit::NotExecutable,
        126,
        "of `run`, `sandbox run` and `contained`: the agent or command cannot be executed",
    ),
    (Exit::NotFound, 127, "of `run`, `sandbox run` and `contained`: the agent or command is not found"),
];

impl Exit {
    pub(crate) fn of(error: &anyhow::Error) -> Exit {
        if error.downcast_ref::<Refusal>().is_some() {
            return Exit::Refused;
        }
        if let Some(DaemonError::AlreadyRunning(_)) = error.downcast_ref::<DaemonError>() {
            return Exit::AlreadyRunning;
        }
        match error.downcast_ref::<ControlError>() {
            Some(ControlError::NotRunning) => Exit::NotRunning,
            Some(ControlError::Refused(_)) => Exit::Refused,
            Some(
                ControlError::Failed(_)
                | ControlError::Version(_)
                | ControlError::Wire(_)
                | ControlError::Answer(_)
                | ControlError::NoAnswer(_)
                | ControlError::Listener(_),
            )
            | None => Exit::Failed,
        }
    }

    fn code(self) -> u8 {
        if let Exit::Agent(code) = self {
            return code;
        }
        EXITS.iter().find(|(exit, ..)| *exit == self).map_or(u8::MAX, |(_, code, _)| *code)
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

/// Returns the table of exit codes for `--help`.
pub(crate) fn help() -> String {
    let lines = EXITS.iter().map(|(_, code, meaning)| format!("\n  {code:>3}  {meaning}"));
    format!("Exit codes:{}", lines.collect::<String>())
}

/// Reports whether the reader of the output closed the pipe, as `| head` does.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let io = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>());
    io.into_iter().any(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_exit_has_one_code_of_its_own() {
        let mut codes: Vec<u8> = EXITS
            .iter()
            .map(|(exit, code, _)| {
                assert_eq!(exit.code(), *code);
                *code
            })
            .collect();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), EXITS.len());
    }

    #[test]
    fn errors_have_the_exit_of_their_cause() {
        let check = |error: anyhow::Error, expected| assert_eq!(Exit::of(&error), expected, "{error:#}");
        check(ControlError::NotRunning.into(), Exit::NotRunning);
        check(anyhow::Error::from(Refusal::NoTerminal).context("uninstall"), Exit::Refused);
        check(ControlError::Refused("x".into()).into(), Exit::Refused);
        check(ControlError::Failed("x".into()).into(), Exit::Failed);
        check(DaemonError::AlreadyRunning("/h".into()).into(), Exit::AlreadyRunning);
        check(anyhow::anyhow!("x"), Exit::Failed);
    }
}
