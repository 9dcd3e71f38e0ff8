//! Attempts to use up the machine. Each ends itself soon after the limit that the harness asks the sandbox for, and uses no
//! more than a few hundred MiB, a few hundred processes, and a few seconds.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use super::{Attack, Evidence, Run};
use crate::outcome::{At, Attempt, Stop};
use crate::sys::{self, Arg};
use crate::targets::Targets;

/// The limits that the harness asks each sandbox for.
pub mod asked {
    use std::time::Duration;

    /// Processes at the same time.
    pub const PROCESSES: u64 = 64;
    /// Memory of a process, in bytes.
    pub const MEMORY: u64 = 256 << 20;
    /// A file, in bytes.
    pub const FILE: u64 = 32 << 20;
    /// All files of the private /tmp, in bytes.
    pub const TMP: u64 = 64 << 20;
    /// Open descriptors of a process.
    pub const DESCRIPTORS: u64 = 256;
    /// Processor time of a process.
    pub const CPU: Duration = Duration::from_secs(1);
    /// Time by the clock. On a busy machine another attack must not end by it, which would look blocked.
    pub const WALL: Duration = Duration::from_secs(8);
}

/// An attempt takes so many times what is asked for.
const OVER: u64 = 2;

const MIB: usize = 1 << 20;

pub(super) const ATTACKS: &[Attack] = &[
    limit("fork-bomb", |_| processes(), "Starts twice as many processes as allowed, all at once."),
    limit("thread-bomb", |_| threads(), "Starts twice as many threads as allowed."),
    limit("memory-hog", |_| memory(), "Takes twice as much memory as allowed."),
    limit(
        "memory-file",
        |_| memory_file(),
        "Takes twice as much memory as allowed in a file of memory, which belongs to no process.",
    ),
    limit("memory-many", |_| memory_of_many(), "Takes twice as much memory as allowed in four processes."),
    limit(
        "disk-one-file",
        |t| one_file(&t.below("work", "large")?),
        "Writes a file of the workspace beyond the allowed size.",
    ),
    limit(
        "disk-sparse",
        |t| sparse(&t.below("work", "sparse")?),
        "Makes a file of the workspace longer than allowed without writing it.",
    ),
    limit("disk-tmp", |_| many_files("/tmp"), "Fills /tmp beyond the allowed size with small files."),
    limit("disk-shm", |_| many_files("/dev/shm"), "Fills /dev/shm beyond the allowed size with small files."),
    limit(
        "disk-workspace",
        |t| many_files(&t.below("work", "")?.display().to_string()),
        "Fills the workspace with small files.",
    ),
    limit("descriptor-hog", |_| descriptors(), "Opens twice as many descriptors as allowed."),
    limit("processor-hog", |_| processor(), "Calculates twice as long as allowed."),
    limit("time-hog", |_| time(), "Waits for longer than allowed by the clock."),
    limit(
        "time-deaf",
        |_| time_deaf(),
        "Waits for longer than allowed, and ignores each signal that it can.",
    ),
];

const fn limit(name: &'static str, attempt: fn(&Targets) -> Attempt, says: &'static str) -> Attack {
    Attack { name, says, evidence: Evidence::ClaimUnlessEnded, run: Run::Do(attempt) }
}

/// The children wait for the end of a pipe, and end with their parent.
fn processes() -> Attempt {
    let (mut read, write) = std::io::pipe().at("pipe")?;
    let wanted = asked::PROCESSES * OVER;
    let mut children = Vec::new();
    let mut stop = None;
    for _ in 0..wanted {
        match sys::fork() {
            Ok(Some(child)) => children.push(child),
            Ok(None) => {
                // The parent's end must be the only one.
                let fd = std::os::fd::AsRawFd::as_raw_fd(&write);
                let _ = sys::call(libc::SYS_close, &mut [Arg::Int(fd.into())]);
                let _ = read.read(&mut [0]);
                sys::exit(0)
            }
            Err(error) => {
                stop = Some(error);
                break;
            }
        }
    }
    drop(write);
    let count = children.len();
    children.into_iter().for_each(|child| drop(sys::wait(child, 0)));
    match stop {
        Some(error) => Err(error).at(&format!("fork after {count} processes")),
        None => Ok(format!("{count} processes")),
    }
}

fn threads() -> Attempt {
    let (sender, receiver) = std::sync::mpsc::channel::<()>();
    let receiver = std::sync::Arc::new(std::sync::Mutex::new(receiver));
    let mut threads = Vec::new();
    let mut stop = None;
    for _ in 0..asked::PROCESSES * OVER {
        let receiver = receiver.clone();
        let wait = move || drop(receiver.lock().map(|receiver| receiver.recv()));
        match std::thread::Builder::new().stack_size(64 * 1024).spawn(wait) {
            Ok(thread) => threads.push(thread),
            Err(error) => {
                stop = Some(error);
                break;
            }
        }
    }
    drop(sender);
    let count = threads.len();
    threads.into_iter().for_each(|thread| drop(thread.join()));
    match stop {
        Some(error) => Err(error).at(&format!("start a thread after {count}")),
        None => Ok(format!("{count} threads")),
    }
}

fn memory() -> Attempt {
    take(asked::MEMORY * OVER)
}

fn take(bytes: u64) -> Attempt {
    let mut taken: Vec<Vec<u8>> = Vec::new();
    for _ in 0..bytes / (16 * MIB as u64) {
        let mut block = Vec::new();
        if block.try_reserve_exact(16 * MIB).is_err() {
            return Err(Stop::blocked(format!("no memory after {} MiB", taken.len() * 16)));
        }
        block.resize(16 * MIB, 1);
        taken.push(block);
    }
    std::hint::black_box(&taken);
    Ok(format!("{} MiB", taken.len() * 16))
}

fn memory_file() -> Attempt {
    let memory =
        sys::open(libc::SYS_memfd_create, &mut [Arg::Text(c"memory"), Arg::Int(0)]).at("memfd_create")?;
    let mut memory = File::from(memory);
    write_mib(&mut memory, asked::MEMORY * OVER)
}

fn memory_of_many() -> Attempt {
    let (mut read, write) = std::io::pipe().at("pipe")?;
    let mut reports = Vec::new();
    let mut children = Vec::new();
    for _ in 0..4 {
        let (report, mut to_parent) = std::io::pipe().at("pipe")?;
        if let Some(child) = sys::fork().at("fork")? {
            children.push(child);
            reports.push(report);
            continue;
        }
        let fd = std::os::fd::AsRawFd::as_raw_fd(&write);
        let _ = sys::call(libc::SYS_close, &mut [Arg::Int(fd.into())]);
        let mut taken = vec![0_u8; 0];
        if taken.try_reserve_exact(128 * MIB).is_ok() {
            taken.resize(128 * MIB, 1);
            std::hint::black_box(&taken);
            let _ = to_parent.write_all(b"x");
            let _ = read.read(&mut [0]);
        }
        sys::exit(0)
    }
    let got = reports.into_iter().filter(|report| matches!((&*report).read(&mut [0]), Ok(1))).count();
    drop(write);
    children.into_iter().for_each(|child| drop(sys::wait(child, 0)));
    if got == 4 { Ok("512 MiB".to_owned()) } else { Err(Stop::blocked(format!("{got} of 4 processes"))) }
}

fn write_mib(file: &mut File, bytes: u64) -> Attempt {
    let block = vec![1_u8; MIB];
    for written in 0..bytes / MIB as u64 {
        file.write_all(&block).at(&format!("write after {written} MiB"))?;
    }
    Ok(format!("{} MiB", bytes / MIB as u64))
}

fn one_file(path: &Path) -> Attempt {
    ignore_size_signal();
    write_mib(&mut File::create(path).at("create")?, asked::FILE * OVER)
}

fn sparse(path: &Path) -> Attempt {
    ignore_size_signal();
    let file = File::create(path).at("create")?;
    file.set_len(asked::FILE * OVER).at("ftruncate")?;
    Ok(format!("{} bytes", asked::FILE * OVER))
}

/// SIGXFSZ would end the program before its report.
fn ignore_size_signal() {
    let ignore = sys::words(&[1, 0, 0, 0]);
    let mut arguments = [Arg::Int(libc::SIGXFSZ.into()), Arg::In(&ignore), Arg::Null, Arg::Int(8)];
    let _ = sys::call(libc::SYS_rt_sigaction, &mut arguments);
}

/// Files of 8 MiB, removed at the end.
fn many_files(folder: &str) -> Attempt {
    let names: Vec<_> = (0..asked::TMP * OVER / (8 * MIB as u64))
        .map(|number| Path::new(folder).join(format!("castellan-attack-{}-{number}", std::process::id())))
        .collect();
    let fill = || {
        for name in &names {
            write_mib(&mut File::create(name).at("create")?, 8 * MIB as u64)?;
        }
        Ok(format!("{} files of 8 MiB", names.len()))
    };
    let outcome = fill();
    names.iter().for_each(|name| drop(std::fs::remove_file(name)));
    outcome
}

fn descriptors() -> Attempt {
    let mut open = Vec::new();
    for count in 0..asked::DESCRIPTORS * OVER {
        open.push(File::open("/dev/null").at(&format!("open after {count} descriptors"))?);
    }
    Ok(format!("{} descriptors", open.len()))
}

/// Processor time counts, not the clock: a busy machine gives a part of a processor.
fn processor() -> Attempt {
    let wanted = asked::CPU * u32::try_from(OVER).unwrap_or(2);
    let until = Instant::now() + Duration::from_secs(15);
    let mut number = 1_u64;
    while used()? < wanted {
        if Instant::now() > until {
            return Err(Stop::unsupported("the machine is too busy"));
        }
        (0..100_000).for_each(|_| number = std::hint::black_box(number.wrapping_mul(3)));
    }
    Ok(format!("{wanted:?}"))
}

/// The processor time of this process.
fn used() -> Result<Duration, Stop> {
    let mut time = [0; 16];
    let clock = Arg::Int(libc::CLOCK_PROCESS_CPUTIME_ID.into());
    sys::call(libc::SYS_clock_gettime, &mut [clock, Arg::Out(&mut time)]).at("clock_gettime")?;
    let word = |at: usize| {
        time.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_ne_bytes)
    };
    Ok(Duration::new(word(0), u32::try_from(word(8)).unwrap_or(0)))
}

fn time() -> Attempt {
    std::thread::sleep(asked::WALL + Duration::from_secs(2));
    Ok("waited".to_owned())
}

fn time_deaf() -> Attempt {
    let ignore = sys::words(&[1, 0, 0, 0]);
    for signal in 1..32 {
        let mut arguments = [Arg::Int(signal), Arg::In(&ignore), Arg::Null, Arg::Int(8)];
        let _ = sys::call(libc::SYS_rt_sigaction, &mut arguments);
    }
    time()
}
