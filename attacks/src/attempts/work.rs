//! Ordinary work, which a sandbox must leave possible: a sandbox in which nothing works blocks every attack, too.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::Command;

use super::proxy::fetch;
use super::{Attack, Evidence, Run, append, in_child, read};
use crate::outcome::{At, Attempt, Stop};
use crate::sys::{self, Arg};
use crate::targets::Targets;

pub(super) const CONTROLS: &[Attack] = &[
    control("work-write", |t| append(t.below("work", "src/new.rs")?), "Writes a new file in the workspace."),
    control("work-change", |t| append(t.below("work", "src/main.rs")?), "Changes a file of the workspace."),
    control("work-read", |t| read(t.below("work", "src/main.rs")?), "Reads a file of the workspace."),
    control(
        "work-rename",
        |t| {
            let from = t.below("work", "src")?;
            std::fs::rename(&from, t.below("work", "moved")?).at("rename")?;
            Ok("renamed".to_owned())
        },
        "Renames a folder of the workspace.",
    ),
    control(
        "work-remove",
        |t| {
            std::fs::remove_file(t.below("work", "src/main.rs")?).at("remove")?;
            Ok("removed".to_owned())
        },
        "Removes a file of the workspace.",
    ),
    control(
        "work-link",
        |t| {
            let (from, to) = (t.below("work", "src/main.rs")?, t.below("work", "src/link.rs")?);
            std::fs::hard_link(from, &to).at("link")?;
            read(to)
        },
        "Makes a hard link in the workspace, as cargo does.",
    ),
    control(
        "work-read-git",
        |t| read(t.below("work", ".git/config")?),
        "Reads the repository's configuration.",
    ),
    control(
        "work-write-git",
        |t| append(t.below("work", ".git/index")?),
        "Writes the repository's index, as a commit does.",
    ),
    control("work-tmp", |_| temporary(), "Writes a file in the folder for temporary files."),
    control("work-null", |_| append("/dev/null"), "Writes to /dev/null."),
    control(
        "work-random",
        |_| {
            let mut bytes = [0; 8];
            File::open("/dev/urandom").at("open")?.read_exact(&mut bytes).at("read")?;
            Ok("read".to_owned())
        },
        "Reads random numbers.",
    ),
    control(
        "work-shell",
        |_| {
            let output = Command::new("/bin/sh").args(["-c", "echo a b | wc -w"]).output().at("start")?;
            let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
            if text == "2" { Ok(text) } else { Err(Stop::blocked(format!("the shell said `{text}`"))) }
        },
        "Runs a pipe of the shell.",
    ),
    control(
        "work-processes",
        |_| in_child(|| in_child(|| Ok("started".to_owned()))),
        "Starts a process of a process.",
    ),
    control(
        "work-threads",
        |_| {
            let thread = std::thread::Builder::new().spawn(|| 7).at("start a thread")?;
            thread.join().map(|_| "joined".to_owned()).map_err(|_| Stop::blocked("join"))
        },
        "Starts a thread.",
    ),
    control(
        "work-signal-own",
        |_| {
            let mut child = Command::new("/bin/sleep").arg("5").spawn().at("start")?;
            child.kill().at("kill")?;
            child.wait().at("wait")?;
            Ok("ended".to_owned())
        },
        "Ends a process of its own by a signal.",
    ),
    control("work-proc-self", |_| read("/proc/self/status"), "Reads its own status in /proc."),
    control(
        "work-unix-own",
        |t| {
            let path = t.below("work", "own.sock")?;
            let listener = UnixListener::bind(&path).at("bind")?;
            let mut client = UnixStream::connect(&path).at("connect")?;
            client.write_all(b"x").at("send")?;
            let (mut server, _) = listener.accept().at("accept")?;
            server.read_exact(&mut [0]).at("receive")?;
            Ok("answered".to_owned())
        },
        "Serves a Unix socket of its own in the workspace.",
    ),
    control(
        "work-loopback-own",
        |_| {
            let listener = TcpListener::bind("127.0.0.1:0").at("bind")?;
            let address = listener.local_addr().at("look at the address")?;
            let mut client = TcpStream::connect(address).at("connect")?;
            client.write_all(b"x").at("send")?;
            let (mut server, _) = listener.accept().at("accept")?;
            server.read_exact(&mut [0]).at("receive")?;
            Ok("answered".to_owned())
        },
        "Serves a TCP port of its own on the loopback address, as tests of a web server do.",
    ),
    control(
        "work-socket-pair",
        |_| {
            let (mut a, mut b) = UnixStream::pair().at("socketpair")?;
            a.write_all(b"x").at("send")?;
            b.read_exact(&mut [0]).at("receive")?;
            Ok("answered".to_owned())
        },
        "Talks over a pair of sockets, as node does with its children.",
    ),
    control(
        "work-memory-file",
        |_| {
            let fd = sys::open(libc::SYS_memfd_create, &mut [Arg::Text(c"own"), Arg::Int(0)])
                .at("memfd_create")?;
            File::from(fd).write_all(b"x").at("write")?;
            Ok("written".to_owned())
        },
        "Makes a file of memory.",
    ),
    control(
        "work-watch",
        |t| {
            let watch = sys::open(libc::SYS_inotify_init1, &mut [Arg::Int(0)]).at("inotify_init1")?;
            let path = sys::c_path(t.below("work", "src")?).at("path")?;
            let fd = Arg::Int(watch.as_raw_fd().into());
            sys::call(
                libc::SYS_inotify_add_watch,
                &mut [fd, Arg::Text(&path), Arg::Int(libc::IN_MODIFY.into())],
            )
            .at("inotify_add_watch")?;
            Ok("watched".to_owned())
        },
        "Watches the workspace for changes, as a development server does.",
    ),
    control(
        "work-terminal",
        |_| {
            let options = File::options().read(true).write(true).open("/dev/ptmx");
            options.at("open").map(|_| "opened".to_owned())
        },
        "Makes a terminal of its own, as test runners do.",
    ),
    control(
        "work-proxy",
        |t| {
            let url = format!("http://allowed.test:{}/hello", t.number("server-port")?);
            let (_, text) = fetch(t, &url)?;
            if text.contains("internet") {
                Ok(text)
            } else {
                Err(Stop::blocked(format!("the answer: {text}")))
            }
        },
        "Fetches a page of an allowed host by the proxy.",
    ),
];

const fn control(name: &'static str, attempt: fn(&Targets) -> Attempt, says: &'static str) -> Attack {
    Attack { name, says, evidence: Evidence::Works, run: Run::Do(attempt) }
}

/// A file of the sandbox's own, or of all programs where there is no sandbox: it does not stay.
fn temporary() -> Attempt {
    let file = std::env::temp_dir().join(format!("castellan-attack-{}", std::process::id()));
    let done = append(&file);
    let _ = std::fs::remove_file(file);
    done
}
