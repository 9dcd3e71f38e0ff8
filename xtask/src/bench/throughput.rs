//! Decided calls per second: each call uses a new connection, and no process is started.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use castellan_wire::{Home, Kind, REPLY_BYTES_MAX, Reply, Request, connect, read_frame, write_frame};

use super::stats::percentile;
use super::{ASKED, DEFERRED};

const TIME: Duration = Duration::from_secs(3);
const CLIENTS: [usize; 3] = [1, 4, 16];

pub(crate) fn table(home: &Home) -> anyhow::Result<String> {
    let mut table = format!("{}| clients | calls/s | p50 µs | p99 µs |\n|---|---|---|---|\n", title());
    for clients in CLIENTS {
        let _ = writeln!(table, "| {clients} | {} |", cells(home, clients)?);
    }
    Ok(table)
}

/// The same of several daemons, each with a name, in one table.
pub(crate) fn side_by_side(daemons: &[(&str, &Home)]) -> anyhow::Result<String> {
    let mut table =
        format!("{}| clients | engine | calls/s | p50 µs | p99 µs |\n|---|---|---|---|---|\n", title());
    for clients in CLIENTS {
        for (name, home) in daemons {
            let _ = writeln!(table, "| {clients} | {name} | {} |", cells(home, clients)?);
        }
    }
    Ok(table)
}

fn title() -> String {
    let seconds = TIME.as_secs();
    format!("\nDecided calls, a new connection for each, no process started, {seconds} s each.\n\n")
}

fn cells(home: &Home, clients: usize) -> anyhow::Result<String> {
    let (rate, mut samples) = run(home, clients)?;
    let (p50, p99) = (percentile(&mut samples, 50.0), percentile(&mut samples, 99.0));
    Ok(format!("{rate:.0} | {p50:.0} | {p99:.0}"))
}

pub(crate) fn send(home: &Home, calls: usize) -> anyhow::Result<()> {
    (0..calls).try_for_each(|number| call(home, number))
}

fn run(home: &Home, clients: usize) -> anyhow::Result<(f64, Vec<f64>)> {
    let stop = AtomicBool::new(false);
    let started = Instant::now();
    let samples = std::thread::scope(|scope| {
        let client = || -> anyhow::Result<Vec<f64>> {
            let mut samples = Vec::new();
            while !stop.load(Ordering::Relaxed) {
                let started = Instant::now();
                call(home, samples.len())?;
                samples.push(started.elapsed().as_secs_f64() * 1e6);
            }
            Ok(samples)
        };
        let threads: Vec<_> = (0..clients).map(|_| scope.spawn(client)).collect();
        std::thread::sleep(TIME);
        stop.store(true, Ordering::Relaxed);
        let joined = threads.into_iter().map(|thread| thread.join().ok().context("a client panicked")?);
        joined.collect::<anyhow::Result<Vec<_>>>()
    })?;
    let samples = samples.concat();
    Ok((samples.len() as f64 / started.elapsed().as_secs_f64(), samples))
}

/// Sends one call and checks the answer. Every fourth call is one that must be asked about.
fn call(home: &Home, number: usize) -> anyhow::Result<()> {
    let asked = number % 4 == 3;
    let request = Request {
        agent: "claude".into(),
        event: "PreToolUse".into(),
        parent_pid: std::process::id(),
        cwd: b"/".to_vec(),
        payload: if asked { ASKED } else { DEFERRED }.into(),
    };
    let mut stream = connect(&home.hook_socket())?;
    write_frame(&mut stream, Kind::Request, &request.encode())?;
    let frame = read_frame(&mut stream, REPLY_BYTES_MAX)?;
    let reply = Reply::decode(&frame.body)?;
    ensure!(reply.stdout.is_empty() != asked, "a call was answered wrongly");
    Ok(())
}
