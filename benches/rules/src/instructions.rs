//! Instructions of one call: this program runs itself under callgrind, which counts the instructions within
//! [`counted`]. Without callgrind, nothing is shown.

use std::process::{Command, Stdio};

use castellan_rules::Plain;

use crate::call::{Evaluator, ShellCall};
use crate::sets;

/// Counted calls. As many uncounted calls run first, to exclude one-time initialisation.
const CALLS: usize = 10;

/// Returns the instructions of one call, or `None` if they cannot be counted.
pub(crate) fn of_one_call(set: &str, command: &str, evaluator: &str) -> Option<u64> {
    let own = std::env::current_exe().ok()?;
    let output = Command::new("valgrind")
        .args([
            "--tool=callgrind",
            "--callgrind-out-file=/dev/null",
            "--toggle-collect=*instructions*counted*",
        ])
        .arg(own)
        .args(["--count", set, command, evaluator])
        .stdin(Stdio::null())
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let collected = text.lines().find_map(|line| line.split_once("Collected : "))?.1;
    let all: u64 = collected.split_whitespace().next()?.parse().ok()?;
    // The count is 0 if the toggle was never reached.
    (all > 0).then_some(all / CALLS as u64)
}

pub(crate) fn run_counted(set: &str, command: &str, evaluator: &str) -> anyhow::Result<()> {
    let wants_plain = evaluator == "plain";
    let rules = sets::named(set)?.load(wants_plain)?;
    let plain = if wants_plain { Some(Plain::new(&rules)?) } else { None };
    let evaluator = plain.as_ref().map_or(Evaluator::Engine(&rules), Evaluator::Plain);
    let call = ShellCall::new(command)?;
    let mut hits = 0;
    for _ in 0..CALLS {
        hits += call.judge(evaluator)?.len();
    }
    for _ in 0..CALLS {
        hits += counted(&call, evaluator)?;
    }
    // Prevents the compiler from removing the measured code.
    std::hint::black_box(hits);
    Ok(())
}

#[inline(never)]
fn counted(call: &ShellCall, evaluator: Evaluator<'_>) -> anyhow::Result<usize> {
    Ok(std::hint::black_box(call.judge(evaluator)?).len())
}
