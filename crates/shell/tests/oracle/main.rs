//! Compares the found commands with the shells themselves. The only programs of the texts are harmless markers and the
//! shells. Every command that runs must be found, or be in a part reported as not understood.
//!
//! The test runs a few random texts of `grammar.txt` in each installed shell, and the hand-written texts. `cargo xtask
//! oracle shell` runs thousands, enclosed and traced. By hand: `ORACLE_SHELL=zsh` chooses a shell, `ORACLE_CASES` and
//! `ORACLE_SEED` the random texts, `ORACLE_TEXT` a single text.

mod cover;
mod draws;
mod grammar;
mod judged;
mod session;
mod shells;
mod written;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use self::session::Session;
use self::shells::{Runner, TRIED, Tried};

const CASES: u64 = 25;
/// Threads mostly wait for shells.
const THREADS: usize = 3;
/// Texts that a thread takes at once.
const AT_ONCE: u64 = 5;

#[test]
fn everything_that_a_shell_runs_is_found() {
    let number = |name: &str, default: u64| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let only = std::env::var("ORACLE_SHELL").ok();
    let texts = std::env::var("ORACLE_TEXT").ok().map(|text| vec![text]);
    let (first, cases) = (number("ORACLE_SEED", 1), number("ORACLE_CASES", CASES));
    let mut failed = Vec::new();
    for tried in TRIED.iter().filter(|tried| only.as_ref().is_none_or(|only| only == tried.name)) {
        if tried.program().is_none() {
            println!("{}: not installed", tried.name);
            continue;
        }
        let session = match &texts {
            Some(texts) => Session::written(&Runner::new(0, None), tried, texts),
            None => both(tried, first, cases),
        };
        println!("{}: {:?}, {} unsteady", tried.name, session.count, session.unsteady);
        session.hidden.iter().for_each(|hidden| println!("covered by a hole {hidden}"));
        failed.extend(session.idle.iter().map(|text| format!("{}: runs nothing: {text}", tried.name)));
        failed.extend(session.failures.iter().map(|failure| format!("{}: {failure}", tried.name)));
    }
    assert!(failed.is_empty(), "{} failures\n{}", failed.len(), failed.join("\n"));
}

/// Runs hand-written texts and random ones, each in a thread's own place.
fn both(tried: &Tried, first: u64, cases: u64) -> Session {
    let texts = written::texts(tried.name);
    let written = texts.len() as u64;
    let next = AtomicU64::new(0);
    let whole = Mutex::new(Session::default());
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (next, whole, texts) = (&next, &whole, &texts);
            scope.spawn(move || {
                let runner = Runner::new(thread, None);
                loop {
                    let at = next.fetch_add(AT_ONCE, Ordering::Relaxed);
                    if at >= written + cases {
                        return;
                    }
                    let until = at + AT_ONCE;
                    let own = texts.get(at.min(written) as usize..until.min(written) as usize);
                    let mut session = Session::written(&runner, tried, own.unwrap_or_default());
                    let seeds = first + (at.max(written) - written)
                        ..first + (until.clamp(written, written + cases) - written);
                    session.join(Session::generated(&runner, tried, seeds));
                    whole.lock().expect("a session").join(session);
                }
            });
        }
    });
    whole.into_inner().expect("a session")
}
