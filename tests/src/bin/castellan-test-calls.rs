//! A program that asks the daemon about calls at a steady rate, as hooks do, until a file exists. It prints as JSON what
//! became of the calls. It is a program of its own, so that castellan takes its parent for the agent, not the test.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use castellan_tests::hook::{bash, request_frame};
use castellan_wire::{REPLY_BYTES_MAX, Reply, connect, read_frame};
use serde_json::{Value as Json, json};

/// Threads that call. Each waits for its answer, as an agent does.
const THREADS: u32 = 8;

/// What became of the calls.
#[derive(Debug, Default)]
struct Outcomes {
    calls: u64,
    denied: u64,
    /// Connections that were refused.
    refused: u64,
    /// Calls without an answer.
    lost: u64,
    /// Answers that are not those of the rules.
    wrong: Vec<String>,
    slowest: Duration,
}

fn main() -> Result<()> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let socket = arguments.next().context("no socket")?;
    let until = arguments.next().context("no file")?;
    let rate: u32 = arguments.next().and_then(|rate| rate.to_str()?.parse().ok()).context("no rate")?;
    let every = Duration::from_secs(1) * THREADS / rate;
    let begin = Instant::now();
    let all: Vec<Outcomes> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| {
                let (socket, until) = (&socket, &until);
                scope.spawn(move || call(socket, until, (begin + every * thread / THREADS, every), thread))
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Ok(Outcomes::default())))
            .collect::<Result<_>>()
    })?;
    println!("{}", report(&all));
    Ok(())
}

fn report(all: &[Outcomes]) -> Json {
    let sum = |part: fn(&Outcomes) -> u64| all.iter().map(part).sum::<u64>();
    let wrong: Vec<&String> = all.iter().flat_map(|one| &one.wrong).take(10).collect();
    json!({
        "calls": sum(|one| one.calls),
        "denied": sum(|one| one.denied),
        "refused": sum(|one| one.refused),
        "lost": sum(|one| one.lost),
        "wrong": wrong,
        "slowest_ms": all.iter().map(|one| one.slowest.as_millis()).max(),
    })
}

/// Calls at a rate. A late call is followed by the next one at once, so that the rate holds on average.
fn call(socket: &Path, until: &Path, (mut due, every): (Instant, Duration), thread: u32) -> Result<Outcomes> {
    let mut outcomes = Outcomes::default();
    while !until.exists() {
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        due += every;
        let is_forbidden = outcomes.calls % 2 == 0;
        let mut call = bash(if is_forbidden { "echo forbidden" } else { "ls" });
        if let Some(id) = call.get_mut("tool_use_id") {
            *id = format!("toolu_{thread}_{}", outcomes.calls).into();
        }
        let frame = request_frame(&call)?;
        let begun = Instant::now();
        outcomes.calls += 1;
        match connect(socket) {
            Err(_) => outcomes.refused += 1,
            Ok(stream) => match answer(stream, &frame) {
                Err(_) => outcomes.lost += 1,
                Ok(reply) => {
                    let said = String::from_utf8_lossy(&reply.stdout).into_owned();
                    outcomes.denied += u64::from(said.contains("\"deny\""));
                    if said.contains("\"deny\"") != is_forbidden || said.is_empty() == is_forbidden {
                        outcomes.wrong.push(said);
                    }
                }
            },
        }
        outcomes.slowest = outcomes.slowest.max(begun.elapsed());
    }
    Ok(outcomes)
}

fn answer(mut stream: UnixStream, frame: &[u8]) -> Result<Reply> {
    io::Write::write_all(&mut stream, frame)?;
    Reply::decode(&read_frame(&mut stream, REPLY_BYTES_MAX)?.body).ok().context("no reply")
}
