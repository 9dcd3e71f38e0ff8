//! The floor of the hook benchmark. `castellan-floor SOCKET` makes one round trip of one byte and ends;
//! `castellan-floor --serve SOCKET` is the echo server. It is built exactly like the hook, so the difference is the
//! hook's work.

use std::io::{self, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let done = match (arguments.next(), arguments.next()) {
        (Some(flag), Some(socket)) if flag == "--serve" => serve(&socket),
        (Some(socket), None) => round_trip(&socket),
        _ => return ExitCode::from(2),
    };
    if done.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn round_trip(socket: &std::ffi::OsStr) -> io::Result<()> {
    let mut stream = UnixStream::connect(socket)?;
    stream.write_all(b"x")?;
    stream.read_exact(&mut [0])
}

fn serve(socket: &std::ffi::OsStr) -> io::Result<()> {
    for stream in UnixListener::bind(socket)?.incoming() {
        let mut stream = stream?;
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        stream.write_all(&byte)?;
    }
    Ok(())
}
