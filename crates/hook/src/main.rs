//! L4: `castellan-hook --agent NAME --event EVENT --home HOME`, the pipe between an agent and the daemon.
//!
//! The hook sends one frame (its arguments, cwd, parent process, raw standard input), and writes back exactly the bytes
//! and the exit code of the reply. It knows no JSON and no rule. It reads nothing from the environment, because an
//! agent's project settings could set it. It knows only how to deny for each agent after a failure ([`failure`]), and
//! how to start the daemon beside its own executable ([`start`]). It never starts a daemon of the system ([`system`]).

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod args;
mod deadline;
mod failure;
mod gap;
mod limits;
mod start;
mod sys;
mod system;

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use castellan_wire::{
    FRAME_BYTES_MAX, Hold, Kind, PAYLOAD_BYTES_MAX, REPLY_BYTES_MAX, Reply, Request, read_frame, write_frame,
};

use crate::args::Args;
use crate::failure::Failure;

fn main() -> ExitCode {
    let args = match Args::parse(std::env::args_os().skip(1), sys::user_id()) {
        Ok(args) => args,
        Err(unusable) => {
            return emit(&failure::reply_for(&unusable.agent, &unusable.event, unusable.failure));
        }
    };
    deadline::arm(&args);
    refuse_on_panic(&args);
    match run(&args) {
        Ok(reply) => emit(&reply),
        Err(failure) => {
            // The answer comes first: noting the gap may fail in ways that end the hook.
            let code = emit(&failure::reply_for(&args.agent, &args.event, failure));
            gap::note(&args, failure);
            code
        }
    }
}

fn run(args: &Args) -> Result<Reply, Failure> {
    let payload = read_payload()?;
    let request = Request {
        agent: args.agent.clone(),
        event: args.event.clone(),
        parent_pid: std::os::unix::process::parent_id(),
        cwd: std::env::current_dir().map(|dir| dir.into_os_string().into_vec()).unwrap_or_default(),
        payload,
    };
    let mut daemon = start::connect_or_start(&args.home)?;
    // A daemon that rejects early has answered already: the reply is read even if the request was not sent whole.
    let sent = write_frame(&mut daemon, Kind::Request, &request.encode());
    read_reply(&mut daemon).map_err(|failure| if sent.is_err() { Failure::Disconnected } else { failure })
}

/// Reads standard input up to one byte over the limit, so that the daemon detects and records an oversized payload.
fn read_payload() -> Result<Vec<u8>, Failure> {
    const { assert!(PAYLOAD_BYTES_MAX < FRAME_BYTES_MAX) };
    let mut payload = Vec::new();
    let most = PAYLOAD_BYTES_MAX as u64 + 1;
    io::stdin().lock().take(most).read_to_end(&mut payload).map_err(|_| Failure::Input)?;
    Ok(payload)
}

fn read_reply(daemon: &mut UnixStream) -> Result<Reply, Failure> {
    loop {
        let frame = read_frame(daemon, REPLY_BYTES_MAX).map_err(|error| Failure::from(&error))?;
        match frame.kind {
            Kind::Reply => return Reply::decode(&frame.body).map_err(|_| Failure::Protocol),
            Kind::Hold => deadline::hold(Hold::decode(&frame.body).map_err(|_| Failure::Protocol)?),
            Kind::Request | Kind::Control => return Err(Failure::Protocol),
        }
    }
}

/// Writes a reply. If the output cannot reach the agent, exit code 2 denies: an empty output would allow the call.
fn emit(reply: &Reply) -> ExitCode {
    deadline::answering();
    let written = write_stdout(&reply.stdout);
    let _ = io::stderr().write_all(&reply.stderr);
    if written.is_ok() {
        return ExitCode::from(reply.exit);
    }
    let _ = io::stderr().write_all(failure::OUTPUT_FAILED);
    ExitCode::from(2)
}

fn write_stdout(bytes: &[u8]) -> io::Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    let stdout = io::stdout().lock();
    let file = File::from(stdout.as_fd().try_clone_to_owned()?);
    // `std` opens a closed standard output as the null device. A shell's startup file may redirect it there, too.
    let output = file.metadata()?;
    if output.file_type().is_char_device() && output.rdev() == NULL_DEVICE {
        return Err(io::ErrorKind::BrokenPipe.into());
    }
    (&file).write_all(bytes)
}

/// Device number of `/dev/null` (Linux: major 1, minor 3).
const NULL_DEVICE: u64 = 0x103;

/// Denies when the hook panics: Codex runs the call when a signal aborts its hook.
fn refuse_on_panic(args: &Args) {
    let reply = failure::reply_for(&args.agent, &args.event, Failure::Internal);
    std::panic::set_hook(Box::new(move |_| {
        let _ = emit(&reply);
        std::process::exit(i32::from(reply.exit));
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answer ends the process, so this test runs itself in a process of its own.
    #[test]
    fn a_panic_denies() {
        const IN_A_HOOK: &str = "CASTELLAN_TEST_PANICS";
        if std::env::var_os(IN_A_HOOK).is_some() {
            let words = ["--agent", "codex", "--event", "PreToolUse", "--home", "/h"];
            refuse_on_panic(&Args::parse(words.into_iter().map(Into::into), 0).unwrap());
            panic!("a test");
        }
        let mut hook = std::process::Command::new(std::env::current_exe().unwrap());
        hook.args(["--exact", "tests::a_panic_denies", "--nocapture"]).env(IN_A_HOOK, "1");
        let done = hook.output().unwrap();
        let told = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{told}");
        assert!(told.contains("castellan blocked this: "), "{told}");
    }
}
