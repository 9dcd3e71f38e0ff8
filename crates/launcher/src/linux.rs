//! The program on Linux: it receives a plan, applies it, and waits.

mod apply;
mod command;
mod control;
mod error;
mod landlock;
mod mounts;
mod network;
mod privileges;
mod setting;
mod supervise;
mod sys;

use castellan_sandbox::{Message, Placeholders, Plan};

use control::Control;
use error::{Result, failed};

/// Runs the program, and returns its exit code.
pub(crate) fn program() -> u8 {
    if let Some(word) = std::env::args_os().nth(1) {
        return answer(&word);
    }
    let Some((control, plan)) = Control::receive() else {
        eprintln!("castellan-sandbox: standard input is no socket of castellan: use `castellan sandbox run`");
        return 125;
    };
    match run(&control, &plan) {
        Ok(code) => code,
        Err(reason) => {
            let code = reason.code;
            control.send(&Message::Failed(reason), &[]);
            code
        }
    }
}

/// Answers a question of a probe.
fn answer(word: &std::ffi::OsStr) -> u8 {
    match word.to_str() {
        Some("--version") => println!("castellan-sandbox {}", env!("CARGO_PKG_VERSION")),
        Some("--landlock") => println!("{}", sys::landlock_version()),
        Some(_) | None => {
            eprintln!("castellan-sandbox takes a plan and no arguments: use `castellan sandbox run`");
            return 2;
        }
    }
    0
}

fn run(control: &Control, plan: &Plan) -> Result<u8> {
    let held = Placeholders::make(&plan.placeholders)?;
    let group = apply::make_group(plan)?;
    sys::block_signals();
    if plan.namespaces.is_none() {
        // The command must not write into the memory of this process. A process namespace hides it otherwise.
        privileges::close_memory()?;
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
            .map_err(|errno| failed("adopt processes that the command leaves", "", errno))?;
    }
    let child = match &plan.namespaces {
        Some(namespaces) => {
            match sys::fork(namespaces).map_err(|errno| failed("make the namespaces", "", errno))? {
                Some(child) => child,
                None => sys::exit(apply::first_process(control, plan)),
            }
        }
        None => sys::fork_shared(|| apply::only_process(control, plan))
            .map_err(|errno| failed("start a process", "", errno))?,
    };
    let end = supervise::until_end(control, plan, child)?;
    drop(group);
    drop(held);
    if let Some(end) = end {
        control.send(&end.message(), &[]);
        return Ok(end.code);
    }
    Ok(125)
}
