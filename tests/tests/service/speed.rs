//! The limits of time of a service, judged in a release build on a machine without other load: `cargo xtask bench service`.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use castellan_tests::home::Home;
use castellan_tests::hook::{ENFORCE, RULES};
use castellan_tests::process::Running;

use crate::rig::{LIMIT, call_meanwhile, restart};

/// The longest wait of a call while the daemon restarts.
const WAIT: Duration = Duration::from_millis(200);

/// The longest time of `castellan status`.
const STATUS: Duration = Duration::from_millis(60);

const RESTARTS: usize = 4;

const RUNS: usize = 21;

/// Time between two restarts, in which calls are answered as usual.
const BETWEEN: Duration = Duration::from_secs(1);

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

#[test]
#[ignore = "measures: `cargo xtask bench service`"]
fn a_call_waits_for_a_restart_at_most_200_ms() -> Result<()> {
    let home = Home::with_castellan("speed-restart", ENFORCE, RULES)?;
    home.start_daemon()?;
    let calls = call_meanwhile(&home, || {
        for _ in 0..RESTARTS {
            let started = Instant::now();
            let done = restart(&home)?;
            ensure!(done.code == Some(0), "{done:?}");
            println!("a restart took {:.0} ms", milliseconds(started.elapsed()));
            std::thread::sleep(BETWEEN);
        }
        Ok(())
    })?;
    calls.check_whole()?;
    ensure!(calls.slowest <= WAIT, "over the limit of {WAIT:?}: {calls:?}");
    println!("the slowest of {} calls: {:.0} ms (limit {WAIT:?})", calls.all, milliseconds(calls.slowest));
    Ok(())
}

#[test]
#[ignore = "measures: `cargo xtask bench service`"]
fn the_status_takes_at_most_60_ms() -> Result<()> {
    let home = Home::with_castellan("speed-status", ENFORCE, RULES)?;
    home.start_daemon()?;
    for words in [&["status"][..], &["status", "--prompt"]] {
        let mut times = Vec::new();
        for _ in 0..RUNS {
            let mut command = home.command(&home.bin().join("castellan"));
            command.arg("--home").arg(home.castellan()).args(words);
            let started = Instant::now();
            let done = Running::start(&mut command)?.finish(LIMIT)?;
            times.push(started.elapsed());
            ensure!(!done.stdout.is_empty() && done.code.is_some_and(|code| code <= 1), "{done:?}");
        }
        times.sort_unstable();
        let (median, slowest) = (times[RUNS / 2], times[RUNS - 1]);
        println!(
            "{}: {:.1} ms (median), {:.1} ms at most, of {RUNS} runs (limit {STATUS:?})",
            words.join(" "),
            milliseconds(median),
            milliseconds(slowest)
        );
        ensure!(slowest <= STATUS, "over the limit");
    }
    Ok(())
}
