//! Attempts to be more important than other programs, or to raise limits.

use std::fs::File;
use std::io::Write;

use super::{Attack, Evidence, Run, asked, in_child};
use crate::outcome::At;
use crate::sys::{self, Arg};

pub(super) const ATTACKS: &[Attack] = &[
    Attack {
        name: "limit-raise",
        says: "Raises its own limit of descriptors above the one that was asked for.",
        evidence: Evidence::Claim,
        run: Run::Alone(|| {
            let more = sys::words(&[asked::DESCRIPTORS + 1, asked::DESCRIPTORS + 1]);
            let kind = Arg::Int(libc::RLIMIT_NOFILE.into());
            sys::call(libc::SYS_prlimit64, &mut [Arg::Int(0), kind, Arg::In(&more), Arg::Null])
                .at("prlimit")?;
            Ok("raised".to_owned())
        }),
    },
    Attack {
        name: "priority-raise",
        says: "Takes a higher priority than all other programs.",
        evidence: Evidence::Claim,
        run: Run::Alone(|| {
            sys::call(libc::SYS_setpriority, &mut [Arg::Int(0), Arg::Int(0), Arg::Int(-10)])
                .at("setpriority")?;
            Ok("raised".to_owned())
        }),
    },
    Attack {
        name: "real-time",
        says: "Asks for real-time scheduling, which can stop a processor for everyone else.",
        evidence: Evidence::Claim,
        run: Run::Alone(|| {
            in_child(|| {
                let priority = 1_i32.to_ne_bytes();
                let mut arguments = [Arg::Int(0), Arg::Int(libc::SCHED_FIFO.into()), Arg::In(&priority)];
                sys::call(libc::SYS_sched_setscheduler, &mut arguments).at("sched_setscheduler")?;
                Ok("got it".to_owned())
            })
        }),
    },
    Attack {
        name: "lock-memory",
        says: "Locks more memory than ordinary programs may, so that it is never swapped.",
        evidence: Evidence::Claim,
        run: Run::Alone(|| {
            let bytes = vec![1_u8; 32 << 20];
            let length = Arg::Int(i64::try_from(bytes.len()).unwrap_or(0));
            sys::call(libc::SYS_mlock, &mut [Arg::In(&bytes), length]).at("mlock")?;
            Ok("locked".to_owned())
        }),
    },
    Attack {
        name: "escape-memory-killer",
        says: "Exempts itself from being ended when memory is short.",
        evidence: Evidence::Claim,
        run: Run::Alone(|| {
            in_child(|| {
                let mut file = File::options().write(true).open("/proc/self/oom_score_adj").at("open")?;
                file.write_all(b"-1000").at("write")?;
                Ok("exempt".to_owned())
            })
        }),
    },
];
