//! The time from the start of `true` to its end.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, ensure};
use castellan_sandbox::{Capabilities, Level, Policy, Streams, run};

/// Starts that are not counted.
const WARM_UP: usize = 20;

/// Starts of each program.
const STARTS: usize = 300;

const PROGRAM: &str = "/bin/true";

/// The namespaces of castellan's launcher.
const UNSHARE: &[&str] =
    &["--user", "--map-current-user", "--mount", "--pid", "--fork", "--ipc", "--uts", "--net", PROGRAM];

/// The isolation of castellan's launcher, as far as bubblewrap has it.
const BUBBLEWRAP: &[&str] = &[
    "--ro-bind",
    "/",
    "/",
    "--dev",
    "/dev",
    "--proc",
    "/proc",
    "--tmpfs",
    "/tmp",
    "--tmpfs",
    "/run",
    "--unshare-user",
    "--unshare-ipc",
    "--unshare-pid",
    "--unshare-uts",
    "--unshare-net",
    "--die-with-parent",
    "--new-session",
];

/// Something that starts `true`.
struct Case<'a> {
    name: &'static str,
    start: Box<dyn Fn() -> anyhow::Result<()> + 'a>,
    times_ms: Vec<f64>,
}

pub(crate) fn table(launcher: &Path) -> anyhow::Result<String> {
    let work = tempfile::tempdir()?;
    let bind = work.path().display().to_string();
    let castellan = |level: Level| -> anyhow::Result<()> {
        let can = Capabilities::all().at(level);
        let policy = Policy::workspace_write(work.path());
        let streams = Streams::inherit()?;
        let (outcome, _) = run(&policy, &can, &[OsString::from(PROGRAM)], launcher, streams, false)?;
        ensure!(outcome.code == 0, "`true` ended with {}", outcome.code);
        Ok(())
    };
    let case = |name, start| Case { name, start, times_ms: Vec::new() };
    let mut cases: Vec<Case<'_>> = vec![
        case("start and wait", Box::new(|| program(PROGRAM, &[]))),
        case("`unshare`, the same namespaces", Box::new(|| program("unshare", UNSHARE))),
        case("castellan, everything", Box::new(|| castellan(Level::Full))),
        case("castellan, Landlock and seccomp only", Box::new(|| castellan(Level::Landlock))),
    ];
    if Command::new("bwrap").arg("--version").output().is_ok() {
        let words = [BUBBLEWRAP, &["--bind", &bind, &bind, "--", PROGRAM]].concat();
        cases.insert(2, case("bubblewrap, the same isolation", Box::new(move || program("bwrap", &words))));
    }
    for round in 0..WARM_UP + STARTS {
        for case in &mut cases {
            let started = Instant::now();
            (case.start)().with_context(|| case.name)?;
            if round >= WARM_UP {
                case.times_ms.push(started.elapsed().as_secs_f64() * 1e3);
            }
        }
    }
    report(&mut cases)
}

fn report(cases: &mut [Case<'_>]) -> anyhow::Result<String> {
    let mut text = format!(
        "### `true` from start to end, {STARTS} times in turns\n\n\
         | | p50 ms | p99 ms | added to a bare start, p50 ms | beside `unshare`, p50 |\n|---|---:|---:|---:|---:|\n"
    );
    let mut rows = Vec::new();
    for case in cases {
        let (p50, p99) = (percentile(&mut case.times_ms, 50), percentile(&mut case.times_ms, 99));
        rows.push((case.name, p50, p99));
    }
    let p50 = |index: usize| rows.get(index).map_or(f64::NAN, |(_, p50, _)| *p50);
    let (bare, unshare) = (p50(0), p50(1));
    for (name, p50, p99) in &rows {
        writeln!(text, "| {name} | {p50:.2} | {p99:.2} | {:.2} | {:.2} |", p50 - bare, p50 / unshare)?;
    }
    Ok(text)
}

/// The nearest rank.
fn percentile(samples: &mut [f64], percent: usize) -> f64 {
    samples.sort_by(f64::total_cmp);
    let rank = (samples.len() * percent).div_ceil(100);
    samples.get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

fn program(name: &str, words: &[&str]) -> anyhow::Result<()> {
    let status = Command::new(name).args(words).stdin(Stdio::null()).status().context(name.to_owned())?;
    ensure!(status.success(), "{name} ended with {status}");
    Ok(())
}
