//! Plays an ssh daemon: `sshd USER CONNECTION COMMAND...`, as root. A second process of it takes the rights of the user without
//! starting a program, as an ssh daemon's does, so the kernel hides that process from the user. That process starts the command,
//! with `SSH_CONNECTION=CONNECTION`. It ends with the command's exit code, or with 77.

use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};
use rustix::process::{Gid, Uid};
use rustix::thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid};

/// The first argument of the second process.
const SESSION: &str = "session";

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::from(77)
        }
    }
}

fn run() -> Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let status = match arguments.as_slice() {
        [first, user, connection, program, rest @ ..] if first == SESSION => {
            let user: u32 = user.parse().context("no user id")?;
            set_thread_groups(&[])?;
            let (group, user) = (Gid::from_raw(user), Uid::from_raw(user));
            set_thread_res_gid(group, group, group)?;
            set_thread_res_uid(user, user, user)?;
            Command::new(program).args(rest).env("SSH_CONNECTION", connection).status()?
        }
        all if all.len() >= 3 => Command::new(std::env::current_exe()?).arg(SESSION).args(all).status()?,
        _ => bail!("too few arguments"),
    };
    let code = status.code().context("a signal ended the command")?;
    Ok(ExitCode::from(u8::try_from(code)?))
}
