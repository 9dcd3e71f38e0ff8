//! Tries one attack: `castellan-attack TARGETS NAME`. It writes the outcome as one line.
//!
//! `castellan-attack --status` prints its own /proc/self/status: what a program with other privileges would have.
//! `castellan-attack --victim SECRET-FILE` is the process outside that others attack.

use std::io::{BufRead, Write};
use std::os::fd::AsRawFd;
use std::process::ExitCode;

use castellan_attacks::attempts;
use castellan_attacks::sys::{self, Arg};
use castellan_attacks::targets::Targets;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["--status"] => status(),
        ["--victim", file] => victim(file),
        ["--terminal", program, arguments @ ..] => with_terminal(program, arguments),
        ["--list"] => list(),
        [targets, name] => attempt(targets, name),
        _ => {
            eprintln!(
                "usage: castellan-attack TARGETS NAME | --list | --status | --victim FILE | --terminal PROGRAM ARGUMENT..."
            );
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("castellan-attack: {error}");
            ExitCode::FAILURE
        }
    }
}

fn attempt(targets: &str, name: &str) -> std::io::Result<()> {
    let unknown = || std::io::Error::other(format!("no attack `{name}`; --list names them"));
    let attack = attempts::named(name).ok_or_else(unknown)?;
    let targets = Targets::parse(&std::fs::read_to_string(targets)?);
    let claim = attack.attempt(&targets);
    let mut out = std::io::stdout();
    writeln!(out, "{claim}")?;
    out.flush()
}

fn list() -> std::io::Result<()> {
    let mut out = std::io::stdout();
    attempts::all().try_for_each(|attack| writeln!(out, "{}: {}", attack.name, attack.says))
}

fn status() -> std::io::Result<()> {
    std::io::stdout().write_all(&std::fs::read("/proc/self/status")?)
}

/// Starts a program with the terminal of its standard input as that of a new session.
fn with_terminal(program: &str, arguments: &[&str]) -> std::io::Result<()> {
    sys::call(libc::SYS_setsid, &mut [])?;
    // TIOCSCTTY.
    sys::call(libc::SYS_ioctl, &mut [Arg::Int(0), Arg::Int(0x540E), Arg::Int(0)])?;
    Err(std::os::unix::process::CommandExt::exec(std::process::Command::new(program).args(arguments)))
}

/// Says where its memory and its descriptor are, and for each line of input how its memory is.
fn victim(file: &str) -> std::io::Result<()> {
    // Where a machine lets only parents trace, the victim lets everyone: it is the sandbox that is tested.
    let anyone = Arg::Int(-1);
    let _ = sys::call(libc::SYS_prctl, &mut [Arg::Int(libc::PR_SET_PTRACER.into()), anyone]);
    let secret = std::fs::File::open(file)?;
    // The first 8 bytes are looked at; the secret follows.
    let mut memory = b"as before ".to_vec();
    memory.extend(std::fs::read(file)?);
    memory.resize(256, 0);
    let mut out = std::io::stdout();
    writeln!(out, "{} {} {}", std::process::id(), memory.as_ptr() as usize, secret.as_raw_fd())?;
    out.flush()?;
    for _ in std::io::stdin().lock().lines() {
        let now: String = memory.iter().take(8).map(|byte| char::from(sys::read_volatile(byte))).collect();
        writeln!(out, "{now}")?;
        out.flush()?;
    }
    Ok(())
}
