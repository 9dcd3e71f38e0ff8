//! Ways to execute a program that a guard of program files does not see, and other tables of system calls. Each new program
//! tries to write outside: a sandbox holds for it too.

use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use super::{Attack, Evidence, Run, in_child, outside_file};
use crate::outcome::{At, Attempt, Stop};
use crate::sys::{self, Arg};
use crate::targets::Targets;

/// `io_uring_setup`, which has the same number in each table.
const URING: i32 = 425;

pub(super) const ATTACKS: &[Attack] = &[
    Attack {
        name: "execute-memory",
        says: "Executes a program that is in memory only (memfd).",
        evidence: Evidence::Changed,
        run: Run::Do(|targets| {
            let memory = sys::open(libc::SYS_memfd_create, &mut [Arg::Text(c"program"), Arg::Int(0)])
                .at("memfd_create")?;
            let mut memory = File::from(memory);
            std::io::copy(&mut File::open("/proc/self/exe").at("open itself")?, &mut memory).at("copy")?;
            execute_descriptor(targets, &memory)
        }),
    },
    Attack {
        name: "execute-descriptor",
        says: "Executes a program by a descriptor (fexecve).",
        evidence: Evidence::Changed,
        run: Run::Do(|targets| {
            let program = File::open("/proc/self/exe").at("open itself")?;
            execute_descriptor(targets, &program)
        }),
    },
    Attack {
        name: "execute-written",
        says: "Writes a program into the workspace and executes it.",
        evidence: Evidence::Changed,
        run: Run::Do(|targets| {
            let program = targets.below("work", "program")?;
            std::fs::copy("/proc/self/exe", &program).at("copy")?;
            let mode = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(&program, mode).at("chmod")?;
            run(&mut Command::new(program), targets)
        }),
    },
    Attack {
        name: "execute-loader",
        says: "Has the dynamic loader execute a program that has no execution bit.",
        evidence: Evidence::Changed,
        run: Run::Do(|targets| {
            let loaders = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"];
            let loader = loaders.iter().find(|loader| std::path::Path::new(loader).exists());
            let loader = loader.ok_or_else(|| Stop::unsupported("no loader of a known name"))?;
            let program = targets.below("work", "program")?;
            std::fs::copy("/proc/self/exe", &program).at("copy")?;
            std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o644)).at("chmod")?;
            run(Command::new(loader).arg(program), targets)
        }),
    },
    Attack {
        name: "execute-script",
        says: "Executes a script whose first line names its interpreter.",
        evidence: Evidence::Changed,
        run: Run::Do(|targets| {
            let script = targets.below("work", "script")?;
            let text = format!("#!/bin/sh\necho attacked >> '{}'\n", outside_file(targets)?.display());
            std::fs::write(&script, text).at("write")?;
            std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).at("chmod")?;
            let output = Command::new(script).output().at("execute")?;
            if output.status.success() {
                return Ok("executed".to_owned());
            }
            Err(Stop::blocked(String::from_utf8_lossy(&output.stderr).into_owned()))
        }),
    },
    Attack {
        name: "calls-of-32-bits",
        says: "Makes a system call of 32-bit programs, whose numbers a filter may not know.",
        evidence: Evidence::Claim,
        run: Run::Do(|_| in_child(call_of_32_bits)),
    },
    Attack {
        name: "calls-of-x32",
        says: "Makes a system call with the bit of the x32 table.",
        evidence: Evidence::Claim,
        run: Run::Do(|_| {
            in_child(|| {
                let number = libc::c_long::from(0x4000_0000 | URING);
                match sys::call(number, &mut [Arg::Int(1), Arg::Null]) {
                    Err(error) if error.raw_os_error() == Some(libc::EFAULT) => Ok("reached".to_owned()),
                    Err(error) => Err(error).at("io_uring_setup of x32"),
                    Ok(_) => Ok("made".to_owned()),
                }
            })
        }),
    },
];

#[cfg(target_arch = "x86_64")]
fn call_of_32_bits() -> Attempt {
    // Without a structure the kernel itself says EFAULT; a filter would have said something else before.
    match -sys::call_32(URING, 1) {
        libc::EFAULT => Ok("reached".to_owned()),
        errno => Err(std::io::Error::from_raw_os_error(errno)).at("io_uring_setup of 32 bits"),
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn call_of_32_bits() -> Attempt {
    Err(Stop::unsupported("only x86-64 has this way"))
}

/// Executes a program of a descriptor in a child.
fn execute_descriptor(targets: &Targets, program: &File) -> Attempt {
    let program = format!("/proc/self/fd/{}", program.as_raw_fd());
    sys::c_path(&program).at("path")?;
    in_child(|| {
        let error = arguments(&mut Command::new(&program), targets)?.stdout(std::io::stderr()).exec();
        Err(error).at("execute")
    })
    .or_else(|stop| match &stop {
        // The program took the child's place: it wrote no claim into the pipe, and the harness looks.
        Stop::Blocked { step, .. } if step.starts_with("the child was ended") => Ok("executed".to_owned()),
        Stop::Blocked { .. } | Stop::Unsupported { .. } => Err(stop),
    })
}

fn run(command: &mut Command, targets: &Targets) -> Attempt {
    let output = arguments(command, targets)?.output().at("execute")?;
    let claim = crate::outcome::Claim::parse(&String::from_utf8_lossy(&output.stdout));
    let _ = std::io::stderr().write_all(&output.stderr);
    match claim {
        Some(crate::outcome::Claim::Succeeded { proof }) => Ok(proof),
        other => Err(Stop::blocked(format!("{other:?}"))),
    }
}

/// The new program tries to write outside.
fn arguments<'a>(command: &'a mut Command, targets: &Targets) -> Result<&'a mut Command, Stop> {
    Ok(command.arg(targets.text_of("targets-file")?).arg("write-outside"))
}
