//! `castellan-sandbox`: applies a plan to itself and runs the command of the plan.
//!
//! Its standard input is a socket, on which it receives the plan and the command's own standard input, and sends messages. It
//! decides nothing: a part of the plan that fails ends it with 125 before anything runs. It reads no file and no variable; the
//! arguments `--version` and `--landlock` are questions of a probe.
//!
//! Three processes: this one waits, forwards signals and cleans up; its child applies the plan, and is the first process of the
//! process namespace; the child of that becomes the command.
//!
//! It needs Linux. On another system each start fails, and nothing runs.

#![cfg_attr(target_os = "linux", no_main)]

#[cfg(target_os = "linux")]
mod linux;

#[cfg(not(target_os = "linux"))]
fn main() -> std::process::ExitCode {
    eprintln!("castellan-sandbox: castellan's sandbox needs Linux, so nothing runs");
    std::process::ExitCode::from(125)
}
