//! `castellan contained`: run the command of a ticket in a sandbox, in the place of an agent's call. The daemon puts it into
//! the call; no person types it.

mod blocked;

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;

use anyhow::Context;
use castellan_daemon::{ContainedEnd, ContainedRun, ControlClient, contained_settings};
use castellan_sandbox::LaunchError;
use rustix::fs::OFlags;

use crate::exit::Exit;
use crate::global::Global;
use crate::limits::DIRECTORY_BYTES_MAX;
use crate::output::{self, ERROR, NOTE, write_messages};
use crate::platform;
use crate::sandbox::{self, Closed, Contained, Request};

/// Options of `castellan contained`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The ticket
    ticket: String,

    /// Write the last directory of the command's shell to descriptor 3
    #[arg(long)]
    directory: bool,
}

/// Runs the command. Each failure before its start is exit code 125, and nothing runs.
pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let ended = start(global, options);
    let message = match &ended {
        Ok(Ran { code: 0, .. }) => return Ok(Exit::Done),
        Ok(ran) => {
            write_messages(&mut anstream::stderr(), NOTE, &[&blocked::note(ran)])?;
            return Ok(Exit::Agent(ran.code));
        }
        Err(error) => output::message(error),
    };
    let message = format!("castellan did not run this command, because it could not contain it: {message}");
    write_messages(&mut anstream::stderr(), ERROR, &[&message])?;
    Ok(Exit::RunFailed)
}

/// A command that ran.
#[derive(Debug)]
struct Ran {
    run: ContainedRun,
    /// The exit code.
    code: u8,
    /// The last directory of its shell.
    directory: Option<String>,
    /// What it could not use in its workspace.
    closed: Closed,
    /// Packets that had no way to their destination.
    unreachable: u64,
}

/// Runs the command of the ticket.
fn start(global: &Global, options: &Options) -> anyhow::Result<Ran> {
    let layout = global.layout()?;
    // Nobody is asked for a secret.
    let client = ControlClient::new(layout.home().clone());
    let run = client.redeem(&options.ticket)?;
    let started = inside(run, &layout, options.directory);
    let end = match &started {
        Ok(ran) => ContainedEnd {
            code: Some(ran.code),
            failure: String::new(),
            directory: ran.directory.clone(),
            unreachable: ran.unreachable,
        },
        Err(error) => {
            ContainedEnd { code: None, failure: output::message(error), directory: None, unreachable: 0 }
        }
    };
    let outcome = client.end_contained(&options.ticket, end);
    let ran = started?;
    // Without the daemon, the whole workspace counts as written.
    if let Some(directory) = outcome.ok().and_then(|outcome| outcome.directory)
        && options.directory
    {
        report_directory(&directory);
    }
    Ok(ran)
}

/// Runs the command in its sandbox.
fn inside(
    run: ContainedRun,
    layout: &castellan_daemon::Layout,
    wants_directory: bool,
) -> anyhow::Result<Ran> {
    let in_force = contained_settings(&run.hosts, &run.environment);
    let command = shell_command(&parents_shell(), &run.command, wants_directory);
    let prepared = sandbox::prepare(Request {
        in_force: &in_force,
        layout,
        command: &command,
        environment: environment(&run.environment),
        directory: None,
        agent: None,
        hosts: &[],
        is_required: true,
        contained: Some(Contained {
            workspace: Path::new(&run.workspace),
            user_home: Path::new(&run.user_home),
            other_homes: &run.other_homes,
            tools: &run.tools,
            capabilities: &run.capabilities,
        }),
    })?;
    let (heard, said) = match wants_directory {
        true => std::io::pipe()
            .map(|(heard, said)| (Some(heard.into()), Some(said.into())))
            .context("no pipe for the directory")?,
        false => (None, None),
    };
    let closed = prepared.closed.clone();
    let (code, unreachable) = match sandbox::run(prepared, said) {
        Ok(outcome) => (outcome.code, outcome.unreachable),
        // The shell is there: only its own start can fail so.
        Err(error) => match error.downcast_ref::<LaunchError>().map(LaunchError::code) {
            Some(code @ (126 | 127)) => (code, 0),
            Some(_) | None => return Err(error),
        },
    };
    Ok(Ran { run, code, directory: heard.and_then(last_directory), closed, unreachable })
}

/// Reads the line with the directory. Everything in the sandbox has ended, so nothing is written any more.
fn last_directory(heard: OwnedFd) -> Option<String> {
    rustix::fs::fcntl_setfl(&heard, OFlags::NONBLOCK).ok()?;
    let mut text = Vec::new();
    // The pipe may hold more than a path, or stay open in a process that could not be ended.
    let _unread = File::from(heard).take(DIRECTORY_BYTES_MAX).read_to_end(&mut text);
    let text = String::from_utf8(text).ok()?;
    text.strip_suffix('\n').filter(|path| !path.is_empty()).map(str::to_owned)
}

/// Writes the directory for the agent's shell. Without a reader it stays where it is.
#[expect(clippy::disallowed_methods, reason = "descriptor 3 is a pipe of the agent's shell, no regular file")]
fn report_directory(directory: &str) {
    if let Ok(mut file) = File::options().write(true).open("/proc/self/fd/3") {
        let _unread = file.write_all(directory.as_bytes());
    }
}

/// Shells that may run the text, in the name of their program.
const SHELLS: &[&str] = &["ash", "bash", "busybox", "dash", "ksh", "mksh", "sh", "zsh"];

/// Returns the program of the shell that started this process: the agent's text is for it.
fn parents_shell() -> OsString {
    let default = || OsString::from("/bin/sh");
    let parent = rustix::process::getppid().map_or(0, |pid| pid.as_raw_nonzero().get());
    let Ok(program) = platform::executable(parent) else { return default() };
    let is_shell =
        program.file_name().and_then(|name| name.to_str()).is_some_and(|name| SHELLS.contains(&name));
    if is_shell && program.is_file() { program.into_os_string() } else { default() }
}

/// Returns the command that runs a text. `wants_directory`: after a success the shell writes its directory to descriptor 3,
/// which the text itself does not get.
fn shell_command(shell: &OsString, text: &str, wants_directory: bool) -> Vec<OsString> {
    let name = Path::new(shell).file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let applet: &[&str] = if name == "busybox" { &["sh"] } else { &[] };
    let words: Vec<&str> = match wants_directory {
        true => vec!["-c", "eval \"$1\" 3>&- && { pwd -P >&3; true; } 2>/dev/null", name, text],
        false => vec!["-c", text],
    };
    let rest = applet.iter().copied().chain(words).map(OsString::from);
    std::iter::once(shell.clone()).chain(rest).collect()
}

/// Places of caches outside of the workspace, which the command cannot write: it gets private ones in its `/tmp`.
const CACHES: &[(&str, &str)] = &[
    ("XDG_CACHE_HOME", "/tmp/.cache"),
    ("GOCACHE", "/tmp/.cache/go-build"),
    ("npm_config_cache", "/tmp/.cache/npm"),
    ("PIP_CACHE_DIR", "/tmp/.cache/pip"),
];

fn environment(further: &[String]) -> Vec<(OsString, OsString)> {
    let mut all = sandbox::variables(further);
    all.retain(|(name, _)| !CACHES.iter().any(|(cache, _)| name == cache));
    all.extend(CACHES.iter().map(|(name, place)| (OsString::from(name), OsString::from(place))));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_runs_in_its_shell() {
        let check = |shell: &str, wants_directory: bool, expected: &[&str]| {
            assert_eq!(shell_command(&shell.into(), "cd x", wants_directory), expected, "{shell}");
        };
        check("/bin/bash", false, &["/bin/bash", "-c", "cd x"]);
        check("/bin/busybox", false, &["/bin/busybox", "sh", "-c", "cd x"]);
        let moving = "eval \"$1\" 3>&- && { pwd -P >&3; true; } 2>/dev/null";
        check("/usr/bin/zsh", true, &["/usr/bin/zsh", "-c", moving, "zsh", "cd x"]);
    }

    #[test]
    fn the_directory_is_one_whole_line() {
        let check = |bytes: &[u8], expected: Option<&str>| {
            let (heard, said) = rustix::pipe::pipe().unwrap();
            File::from(said).write_all(bytes).unwrap();
            assert_eq!(last_directory(heard).as_deref(), expected, "{bytes:?}");
        };
        check(b"/w/a b\n", Some("/w/a b"));
        check(b"", None);
        check(b"/w", None);
        check(b"\n", None);
        check(b"/w/\xff\n", None);
    }
}
