//! Compares the found commands with the shells themselves. The only programs of the texts are harmless markers and the
//! shells. Every command that runs must be found, or be in a part reported as not understood.
//!
//! The test runs a sample: random texts of `grammar.txt` and hand-written texts of `written.txt`, in each installed shell.
//! `cargo xtask oracle shell` runs thousands, enclosed and traced. By hand: `ORACLE_SHELL=zsh` chooses a shell,
//! `ORACLE_RANDOM=200` runs so many random texts and all hand-written ones, `ORACLE_SEED=7` other random texts,
//! `ORACLE_TEXT` a single text.

#![expect(clippy::unwrap_used, reason = "a test's own locks")]

mod cover;
mod draws;
mod grammar;
mod judged;
#[path = "../shared/print.rs"]
mod print;
mod round;
mod session;
mod shells;
mod written;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use self::session::{Session, Trial};
use self::shells::{Runner, TRIED, Tried};

/// The sample: the first random texts, and one of so many hand-written texts.
const RANDOM: usize = 30;
const WRITTEN_EVERY: usize = 8;

/// Different hand-written texts at least.
const WRITTEN_MIN: usize = 400;

/// Texts of the sample with commands that the walk does not find yet. The numbers only fall.
const NOT_FOUND_YET: &[(&str, usize)] = &[("bash", 2), ("zsh", 2), ("dash", 1)];

/// Threads mostly wait for shells.
const THREADS: usize = 3;
/// Texts that a thread takes at once.
const AT_ONCE: usize = 5;
/// Failures that are reduced, outside of the sample.
const REDUCED_MAX: usize = 12;

#[test]
fn everything_that_a_shell_runs_is_found() {
    let only = std::env::var("ORACLE_SHELL").ok();
    let text = std::env::var("ORACLE_TEXT").ok();
    let random = std::env::var("ORACLE_RANDOM").ok().and_then(|text| text.parse().ok());
    let seed = std::env::var("ORACLE_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut failed = Vec::new();
    for tried in TRIED.iter().filter(|tried| only.as_ref().is_none_or(|only| only == tried.name)) {
        if tried.program().is_none() {
            println!("{}: not installed, so nothing was compared", tried.name);
            continue;
        }
        let written = written::texts(tried.name);
        let (session, allowed) = match (&text, random) {
            (Some(text), _) => (run(tried, std::slice::from_ref(text), 0, REDUCED_MAX, seed), 0),
            (None, Some(random)) => (run(tried, &written, random, REDUCED_MAX, seed), 0),
            (None, None) => {
                let sample: Vec<String> = written.into_iter().step_by(WRITTEN_EVERY).collect();
                let allowed = NOT_FOUND_YET.iter().find(|(name, _)| *name == tried.name);
                (run(tried, &sample, RANDOM, 0, seed), allowed.map_or(0, |(_, count)| *count))
            }
        };
        println!("{}: {:?}, {} unsteady", tried.name, session.count, session.unsteady);
        session.hidden.iter().for_each(|hidden| println!("covered by a hole {hidden}"));
        let idle = session.idle.iter().filter(|text| !needs_missing_shell(text));
        failed.extend(idle.map(|text| format!("{}: runs nothing: {text}", tried.name)));
        if session.failures.len() > allowed {
            failed.extend(session.failures.iter().map(|failure| format!("{}: {failure}", tried.name)));
        }
    }
    assert!(failed.is_empty(), "{} failures\n{}", failed.len(), failed.join("\n"));
}

/// Reports whether a text may run nothing because a shell that it starts is not installed.
fn needs_missing_shell(text: &str) -> bool {
    TRIED.iter().any(|tried| text.contains(&format!("{} -c", tried.name)) && tried.program().is_none())
}

/// Runs hand-written texts and random ones, each thread in its own place.
fn run(tried: &Tried, texts: &[String], random: usize, reduced_max: usize, seed: u32) -> Session {
    let written = texts.len();
    let next = AtomicUsize::new(0);
    let whole = Mutex::new(Session::default());
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (next, whole) = (&next, &whole);
            scope.spawn(move || {
                let runner = Runner::new(thread, None);
                let trial = Trial { runner: &runner, tried, reduced_max, seed };
                loop {
                    let at = next.fetch_add(AT_ONCE, Ordering::Relaxed);
                    let until = (at + AT_ONCE).min(written + random);
                    if at >= until {
                        return;
                    }
                    let own = texts.get(at.min(written)..until.min(written));
                    let mut session = trial.written(own.unwrap_or_default());
                    session.join(trial.random(at.max(written) - written..until.max(written) - written));
                    whole.lock().unwrap().join(session);
                }
            });
        }
    });
    whole.into_inner().unwrap()
}

#[test]
fn enough_texts_are_written_by_hand() {
    let count = written::count();
    assert!(count >= WRITTEN_MIN, "{count}");
}
