//! Memory and queues that processes outside share: the harness has put a secret into each.

use super::{Attack, Evidence, Run, read};
use crate::outcome::{At, Stop};
use crate::sys::{self, Arg};

pub(super) const ATTACKS: &[Attack] = &[
    Attack {
        name: "shared-memory-system-v",
        says: "Reads a System V memory segment of processes outside.",
        evidence: Evidence::Secret,
        run: Run::Do(|targets| {
            let id = i32::try_from(targets.number("segment")?).unwrap_or(-1);
            let bytes = sys::read_segment(id, 32).at("shmat")?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        }),
    },
    Attack {
        name: "shared-memory-posix",
        says: "Reads shared memory of processes outside in /dev/shm.",
        evidence: Evidence::Secret,
        run: Run::Do(|targets| read(targets.text_of("shm-file")?)),
    },
    Attack {
        name: "message-queue-posix",
        says: "Takes a message out of a POSIX queue of processes outside.",
        evidence: Evidence::Secret,
        run: Run::Do(|targets| {
            let name = sys::c_path(targets.text_of("posix-queue")?).at("name")?;
            let flags = Arg::Int((libc::O_RDONLY | libc::O_NONBLOCK).into());
            let queue = sys::open(libc::SYS_mq_open, &mut [Arg::Text(&name), flags, Arg::Int(0), Arg::Null])
                .at("mq_open")?;
            let mut text = [0; 8192];
            let fd = Arg::Int(std::os::fd::AsRawFd::as_raw_fd(&queue).into());
            sys::call(
                libc::SYS_mq_timedreceive,
                &mut [fd, Arg::Out(&mut text), Arg::Int(8192), Arg::Null, Arg::Null],
            )
            .at("mq_timedreceive")?;
            Ok(String::from_utf8_lossy(&text).trim_end_matches('\0').to_owned())
        }),
    },
    Attack {
        name: "message-queue-system-v",
        says: "Takes a message out of a System V queue of processes outside.",
        evidence: Evidence::Secret,
        run: Run::Do(|targets| {
            let mut message = [0; 8 + 64];
            let taken = sys::call(
                libc::SYS_msgrcv,
                &mut [
                    Arg::Int(targets.number("message-queue")?),
                    Arg::Out(&mut message),
                    Arg::Int(64),
                    Arg::Int(0),
                    Arg::Int(libc::IPC_NOWAIT.into()),
                ],
            )
            .at("msgrcv")?;
            let text = message.get(8..8 + usize::try_from(taken).unwrap_or(0));
            text.map(|text| String::from_utf8_lossy(text).into_owned())
                .ok_or_else(|| Stop::blocked("no message"))
        }),
    },
];
