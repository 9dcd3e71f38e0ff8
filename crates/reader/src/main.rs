//! `castellan-reader --daemon NAME`: looks at the files and processes of the user who runs it, for the daemon of the user
//! NAME. The service manager passes its listening socket, in a folder where only that user writes.
//!
//! Other programs of its own user must not read its memory, attach to it or take its socket. So the program is installed
//! without the right to read it, and the kernel hides it from its start on.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

use std::os::unix::net::UnixListener;
use std::process::ExitCode;

use castellan_reader::serve;

/// Exit code for wrong arguments or sockets: the unit is not started again for it.
const UNUSABLE: u8 = 2;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let name = match arguments.as_slice() {
        [flag, name] if flag == "--daemon" => name.to_str(),
        _ => None,
    };
    let Some(name) = name else {
        eprintln!(
            "castellan-reader: give `--daemon NAME`; `castellan install --system` writes the unit that does"
        );
        return ExitCode::from(UNUSABLE);
    };
    match run(name) {
        Err(why) => {
            eprintln!("castellan-reader: {why}");
            ExitCode::from(UNUSABLE)
        }
        Ok(error) => {
            eprintln!("castellan-reader: no more connections: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(target_os = "linux")]
fn run(name: &str) -> Result<std::io::Error, String> {
    use rustix::net::sockopt::{socket_acceptconn, socket_domain, socket_peercred};

    harden()?;
    let daemon = castellan_reader::user_named(name);
    let daemon = daemon.ok_or_else(|| format!("`{name}` is no user in `/etc/passwd`"))?;
    // Root may read everything, and then the reader would protect nothing.
    if rustix::process::geteuid().is_root() || rustix::process::geteuid().as_raw() == daemon {
        return Err("it must run as the user whose files it reads, and not as root or the daemon".to_owned());
    }
    let mut passed = castellan_inherit::passed().map_err(|wrong| wrong.to_string())?;
    let descriptor = match (passed.pop(), passed.is_empty()) {
        (Some(only), true) => only.descriptor,
        _ => return Err("the service manager must pass one socket".to_owned()),
    };
    let is_unix = socket_domain(&descriptor) == Ok(rustix::net::AddressFamily::UNIX);
    if !is_unix || socket_acceptconn(&descriptor) != Ok(true) {
        return Err("the passed descriptor is no listening Unix socket".to_owned());
    }
    // The kernel gives the daemon the process that has called this last: this one, and so its user.
    rustix::net::listen(&descriptor, BACKLOG).map_err(|error| format!("it cannot listen: {error}"))?;
    let listener = UnixListener::from(descriptor);
    listener.set_nonblocking(false).map_err(|error| error.to_string())?;
    let is_daemon = |stream: &std::os::unix::net::UnixStream| {
        socket_peercred(stream).is_ok_and(|peer| peer.uid.as_raw() == daemon)
    };
    Ok(serve(&listener, is_daemon))
}

/// Connections that wait.
#[cfg(target_os = "linux")]
const BACKLOG: i32 = 128;

/// Gives up what an attacker could use: the memory of this process, new rights, and dumps.
#[cfg(target_os = "linux")]
fn harden() -> Result<(), String> {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};

    set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .map_err(|error| format!("it cannot hide: {error}"))?;
    rustix::thread::set_no_new_privs(true).map_err(|error| format!("it cannot give up rights: {error}"))
}

#[cfg(not(target_os = "linux"))]
fn run(_name: &str) -> Result<std::io::Error, String> {
    let _ = serve::<fn(&std::os::unix::net::UnixStream) -> bool>;
    let _: Option<UnixListener> = None;
    Err("castellan has readers on Linux only".to_owned())
}
