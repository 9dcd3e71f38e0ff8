//! `castellan-fuzz-children [--seconds N] [--bytes N]`: analyses the texts of `castellan_fuzz_bodies::nesting` in child
//! processes, on the stack of a usual thread. Reports each text that aborts its child or takes too long.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use castellan_fuzz_bodies::{NESTINGS, nesting};
use castellan_shell::{Shell, Start, commands, parse};

/// A thread's default stack.
const STACK_BYTES: usize = 2 << 20;

/// Limit for a text, in a debug build on a busy machine.
const CASE_MAX: Duration = Duration::from_secs(20);

const SECONDS: u64 = 60;
const BYTES: usize = 8 << 10;

/// Reported texts of the slowest.
const SLOWEST: usize = 12;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |name: &str| {
        let at = words.iter().position(|word| word == name)?;
        words.get(at + 1)?.parse::<usize>().ok()
    };
    let bytes = number("--bytes").unwrap_or(BYTES);
    if let Some(from) = number("--child") {
        return child(from, bytes);
    }
    if let Some(case) = number("--show") {
        print!("{}", nesting(case, bytes).text);
        return ExitCode::SUCCESS;
    }
    let seconds = number("--seconds").map_or(SECONDS, |seconds| seconds as u64);
    match parent(Duration::from_secs(seconds), bytes) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("castellan-fuzz-children: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Analyses one case after the other. Writes a line for each: its number, the parser's µs and the total µs.
fn child(from: usize, bytes: usize) -> ExitCode {
    let run = move || {
        for case in from..NESTINGS {
            let text = nesting(case, bytes).text;
            let started = Instant::now();
            drop(parse(&text, Shell::Bash));
            let parsed = started.elapsed().as_micros();
            let started = Instant::now();
            drop(commands(&text, &Start::default()));
            let all = started.elapsed().as_micros();
            if writeln!(std::io::stdout(), "{case} {parsed} {all}").is_err() {
                break; // The parent has enough.
            }
        }
    };
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(run);
    match thread.map(std::thread::JoinHandle::join) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(_)) | Err(_) => ExitCode::FAILURE,
    }
}

/// The results of one family.
#[derive(Debug, Default)]
struct Tally {
    cases: usize,
    aborts: usize,
    endless: usize,
    slowest_us: u64,
}

fn parent(time: Duration, bytes: usize) -> std::io::Result<bool> {
    let until = Instant::now() + time;
    let mut tallies: BTreeMap<&'static str, Tally> = BTreeMap::new();
    let mut done: Vec<(u64, u64, usize)> = Vec::new();
    let mut bad = Vec::new();
    let mut next = 0;
    while next < NESTINGS && Instant::now() < until {
        let (mut child, lines) = start(next, bytes)?;
        let ended = loop {
            if Instant::now() >= until || next >= NESTINGS {
                break None;
            }
            match lines.recv_timeout(CASE_MAX) {
                Ok((case, parsed, all)) => {
                    let tally = tallies.entry(nesting(case, 0).family).or_default();
                    tally.cases += 1;
                    tally.slowest_us = tally.slowest_us.max(all);
                    done.push((all, parsed, case));
                    next = case + 1;
                }
                Err(RecvTimeoutError::Timeout) => break Some("takes too long"),
                Err(RecvTimeoutError::Disconnected) => break Some("aborts"),
            }
        };
        child.kill()?;
        child.wait()?;
        if let Some(how) = ended.filter(|_| next < NESTINGS) {
            let found = nesting(next, bytes);
            let tally = tallies.entry(found.family).or_default();
            tally.cases += 1;
            if how == "aborts" {
                tally.aborts += 1
            } else {
                tally.endless += 1
            }
            bad.push(format!("case {next} {how}: {}, {}", found.family, found.name));
            next += 1;
        }
    }
    print(&tallies, done, bytes);
    bad.iter().for_each(|line| println!("{line}"));
    Ok(bad.is_empty() && next > 0)
}

/// A child, and its lines: the number of a text and two figures.
type Started = (Child, Receiver<(usize, u64, u64)>);

fn start(from: usize, bytes: usize) -> std::io::Result<Started> {
    let mut child = Command::new(std::env::current_exe()?)
        .args(["--child", &from.to_string(), "--bytes", &bytes.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let (sender, lines) = channel();
    if let Some(output) = child.stdout.take() {
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let mut numbers = line.split(' ').map(str::parse::<u64>);
                if let (Some(Ok(case)), Some(Ok(parsed)), Some(Ok(all))) =
                    (numbers.next(), numbers.next(), numbers.next())
                    && sender.send((case as usize, parsed, all)).is_err()
                {
                    break;
                }
            }
        });
    }
    Ok((child, lines))
}

fn print(tallies: &BTreeMap<&'static str, Tally>, mut done: Vec<(u64, u64, usize)>, bytes: usize) {
    println!("| tokens of {bytes} bytes | texts | aborts | endless | slowest ms |\n|---|---|---|---|---|");
    for (family, tally) in tallies {
        let slowest = tally.slowest_us as f64 / 1000.0;
        println!("| {family} | {} | {} | {} | {slowest:.1} |", tally.cases, tally.aborts, tally.endless);
    }
    println!("\n| slowest | case | ms | ms of the parser |\n|---|---|---|---|");
    done.sort_unstable_by(|one, other| other.cmp(one));
    for (all, parsed, case) in done.iter().take(SLOWEST) {
        let found = nesting(*case, 0);
        let [all, parsed] = [all, parsed].map(|us| *us as f64 / 1000.0);
        println!("| {}: {} | {case} | {all:.1} | {parsed:.1} |", found.family, found.name);
    }
    println!();
}
