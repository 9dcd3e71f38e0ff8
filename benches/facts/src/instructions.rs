//! Instructions of calls: this program runs itself under callgrind, which counts the instructions within [`counted`].
//! Without callgrind, nothing is shown.

use std::process::{Command, Stdio};

use anyhow::Context;
use castellan_event::Call;
use castellan_facts::Setting;

use crate::{analysis, ordinary};

/// Returns the average instructions of one call of a set of [`ordinary`], or `None` if they cannot be counted.
pub(crate) fn of_one(set: &str) -> Option<u64> {
    let own = std::env::current_exe().ok()?;
    let output = Command::new("valgrind")
        .args([
            "--tool=callgrind",
            "--callgrind-out-file=/dev/null",
            "--toggle-collect=*instructions::counted*",
        ])
        .arg(own)
        .args(["--count", set])
        .stdin(Stdio::null())
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let collected = text.lines().find_map(|line| line.split_once("Collected : "))?.1;
    let all: u64 = collected.split_whitespace().next()?.parse().ok()?;
    let number = u64::try_from(ordinary::set(set)?.len()).ok()?;
    // The count is 0 if the toggle was never reached.
    (all > 0).then(|| all / number.max(1))
}

/// Runs under callgrind. Runs every call once uncounted, to exclude one-time initialisation.
pub(crate) fn run_counted(set: &str) -> anyhow::Result<()> {
    let setting = analysis::setting();
    let calls = ordinary::set(set).context("no such set")?;
    let mut found: usize = calls.iter().map(|call| analysis::facts(call, &setting).effects.len()).sum();
    for call in &calls {
        found += counted(call, &setting);
    }
    // Prevents the compiler from removing the measured code.
    std::hint::black_box(found);
    Ok(())
}

#[inline(never)]
fn counted(call: &Call, setting: &Setting) -> usize {
    std::hint::black_box(analysis::facts(call, setting)).effects.len()
}
