//! Figures from the kernel, and percentiles of samples.

use std::fs;

use anyhow::Context;
use nix::sys::resource::{UsageWho, getrusage};

/// Returns the CPU time of all threads of a living process, in microseconds. Ended threads are not counted. Neither
/// server ends threads during the measurement, except surplus workers.
pub(crate) fn process_cpu_us(pid: u32) -> anyhow::Result<f64> {
    let mut ns: u64 = 0;
    for task in fs::read_dir(format!("/proc/{pid}/task")).context("the server is gone")? {
        let text = fs::read_to_string(task?.path().join("schedstat")).unwrap_or_default();
        let used: u64 = text.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0);
        ns += used;
    }
    Ok(ns as f64 / 1e3)
}

/// Returns the CPU time of all children that this process has waited for, in microseconds.
pub(crate) fn children_cpu_us() -> anyhow::Result<f64> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let us = |time: nix::sys::time::TimeVal| time.tv_sec() as f64 * 1e6 + time.tv_usec() as f64;
    Ok(us(usage.user_time()) + us(usage.system_time()))
}

pub(crate) fn resident_kib(pid: u32) -> anyhow::Result<u64> {
    status_kib(pid, "VmRSS:")
}

pub(crate) fn resident_peak_kib(pid: u32) -> anyhow::Result<u64> {
    status_kib(pid, "VmHWM:")
}

fn status_kib(pid: u32, key: &str) -> anyhow::Result<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).context("the process is gone")?;
    let value = status.lines().find_map(|line| line.strip_prefix(key)).context("no such line")?;
    value.trim().trim_end_matches(" kB").parse().context("not a number")
}

/// Returns the value below which `percent` of the samples are (nearest rank).
pub(crate) fn percentile(samples: &mut [f64], percent: f64) -> f64 {
    samples.sort_by(f64::total_cmp);
    let rank = (percent / 100.0 * samples.len() as f64).ceil() as usize;
    samples.get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}
