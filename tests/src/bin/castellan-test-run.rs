//! A program that registers itself as a run and runs a command: `castellan-test-run CONTROL_SOCKET PROFILE COMMAND...`. It
//! ends with the command's exit code, or with 77 and the daemon's reason. Everything below it stays below it.

use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};
use castellan_tests::control;
use serde_json::json;

/// The exit code of a run that is not registered.
const REFUSED: u8 = 77;

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::from(REFUSED)
        }
    }
}

fn run() -> Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [socket, profile, program, rest @ ..] = arguments.as_slice() else { bail!("too few arguments") };
    let response = control::answer(
        &mut UnixStream::connect(Path::new(socket))?,
        &json!({ "run": { "profile": profile } }),
    )?;
    if response.get("run").is_none() {
        bail!("{response}");
    }
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let status = Command::new(program).args(rest).status()?;
    let code = status.code().context("a signal ended the command")?;
    Ok(ExitCode::from(u8::try_from(code)?))
}
