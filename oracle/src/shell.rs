//! Runs thousands of texts in bash, zsh, ksh and dash, and compares the commands that ran with those that the walk found.
//! The texts and the comparison are those of the shell crate's own test; here they run enclosed, and strace sees the
//! programs. Must not depend on the source of the texts.

#[path = "../../crates/shell/tests/oracle/cover.rs"]
mod cover;
#[path = "../../crates/shell/tests/oracle/draws.rs"]
mod draws;
#[path = "../../crates/shell/tests/oracle/grammar.rs"]
mod grammar;
#[path = "../../crates/shell/tests/oracle/judged.rs"]
mod judged;
#[path = "../../crates/shell/tests/oracle/session.rs"]
mod session;
#[path = "../../crates/shell/tests/oracle/shells.rs"]
mod shells;
#[path = "../../crates/shell/tests/oracle/written.rs"]
mod written;

use std::io::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context as _, anyhow, bail, ensure};

use self::judged::Count;
use self::session::{Failure, Session, Trial};
use self::shells::{Runner, TRIED, Tracer, Tried};
use crate::{enclosure, strace};

/// The first argument inside the enclosure.
pub(crate) const TEXTS: &str = "--texts";

/// Texts of one enclosure.
const AT_ONCE: usize = 50;
/// Failures that one enclosure reduces.
const REDUCED_MAX: usize = 4;
/// The limit in percent for commands that only a hole covers.
const HIDDEN_MAX: f64 = 3.0;

const RANDOM: &str = "random";
const WRITTEN: &str = "written";

const TRACER: Tracer = Tracer {
    words: &[
        "/usr/bin/strace",
        "-f",
        "-qq",
        "--seccomp-bpf",
        "-s",
        "4200",
        "-e",
        "trace=execve",
        "-e",
        "signal=none",
        "-o",
    ],
    read: executed,
};

/// Some texts of one shell.
struct Batch {
    tried: &'static Tried,
    kind: &'static str,
    first: usize,
    count: usize,
}

/// The results of all texts of one kind in one shell.
struct Whole {
    tried: &'static Tried,
    kind: &'static str,
    session: Session,
}

/// Runs all texts in all shells and prints the results. Each seed has other random texts.
pub(crate) fn print(seed: &str) -> anyhow::Result<()> {
    enclosure::check()?;
    let mut batches = Vec::new();
    for tried in TRIED {
        ensure!(tried.program().is_some(), "`{}` is not installed: the oracle runs all shells", tried.name);
        for (kind, count) in [(RANDOM, grammar::TEXTS), (WRITTEN, written::texts(tried.name).len())] {
            let firsts = (0..count).step_by(AT_ONCE);
            batches.extend(firsts.map(|first| Batch {
                tried,
                kind,
                first,
                count: AT_ONCE.min(count - first),
            }));
        }
    }
    report(&run_all(&batches, seed)?)
}

/// Runs texts inside the enclosure, and writes the results to standard output.
pub(crate) fn run(name: &str, kind: &str, seed: &str, first: &str, count: &str) -> anyhow::Result<()> {
    enclosure::ensure_inside()?;
    let tried = TRIED.iter().find(|tried| tried.name == name).context("a shell")?;
    let (first, count): (usize, usize) = (first.parse()?, count.parse()?);
    let runner = Runner::new(0, Some(TRACER));
    let trial = Trial { runner: &runner, tried, reduced_max: REDUCED_MAX, seed: seed.parse()? };
    let session = match kind {
        RANDOM => trial.random(first..first + count),
        WRITTEN => {
            let texts = written::texts(tried.name);
            trial.written(texts.get(first..first + count).context("texts")?)
        }
        _ => bail!("no kind of texts: `{kind}`"),
    };
    std::io::stdout().write_all(&serde_json::to_vec(&session)?)?;
    Ok(())
}

/// Returns the results of each shell and kind of texts, in order.
fn run_all(batches: &[Batch], seed: &str) -> anyhow::Result<Vec<Whole>> {
    let results = Mutex::new(Vec::new());
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let work = || {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(batch) = batches.get(at) else { break };
                let (first, count) = (batch.first.to_string(), batch.count.to_string());
                let said = enclosure::run(&[TEXTS, batch.tried.name, batch.kind, seed, &first, &count], &[]);
                if let Ok(mut results) = results.lock() {
                    results.push((at, said));
                }
            }
        };
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let mut results = results.into_inner().map_err(|_| anyhow!("a thread that ran texts panicked"))?;
    results.sort_by_key(|(at, _)| *at);
    let mut whole: Vec<Whole> = Vec::new();
    for (at, said) in results {
        let batch = batches.get(at).context("a result without its batch")?;
        let session = serde_json::from_slice(&said?)?;
        match whole.last_mut().filter(|last| last.tried == batch.tried && last.kind == batch.kind) {
            Some(last) => last.session.join(session),
            None => whole.push(Whole { tried: batch.tried, kind: batch.kind, session }),
        }
    }
    Ok(whole)
}

fn report(all: &[Whole]) -> anyhow::Result<()> {
    println!(
        "| shell | texts | executed commands | predicted | – with unknown arguments | covered by a hole | unpredicted |"
    );
    println!("|---|---|---|---|---|---|---|");
    let mut sum = Count::default();
    let (mut idle, mut unsteady) = (Vec::new(), 0);
    for Whole { tried, kind, session } in all {
        print_row(&format!("{}, {kind}", tried.name), session.count);
        sum += session.count;
        idle.extend(&session.idle);
        unsteady += session.unsteady;
    }
    print_row("all", sum);
    println!("\n{} different texts are written by hand.", written::count());
    println!("{} texts did not end in time, {unsteady} failed only once.", sum.late);
    println!("{} commands ran where the shell was before a `cd` that failed.", sum.astray);
    println!("{} found calls of a marker did not happen.", sum.not_made);
    print_failures(all, "Covered by a hole alone", |session| &session.hidden);
    print_failures(all, "Unpredicted", |session| &session.failures);
    ensure!(idle.is_empty(), "hand-written texts that run nothing: {idle:#?}");
    ensure!(sum.unpredicted == 0, "{} executed commands were not predicted", sum.unpredicted);
    let hidden = percent(sum.in_gaps, sum.executed);
    ensure!(hidden <= HIDDEN_MAX, "holes alone cover {hidden:.1} % of the executed commands");
    Ok(())
}

fn print_row(name: &str, count: Count) {
    println!(
        "| {name} | {} | {} | {} | {} | {} ({:.1} %) | {} |",
        count.texts,
        count.executed,
        count.known + count.partly,
        count.partly,
        count.in_gaps,
        percent(count.in_gaps, count.executed),
        count.unpredicted,
    );
}

fn print_failures(all: &[Whole], title: &str, of: impl Fn(&Session) -> &Vec<Failure>) {
    println!("\n{title}:");
    for Whole { tried, session, .. } in all {
        of(session).iter().for_each(|failure| println!("{} {failure}", tried.name));
    }
}

fn percent(part: usize, of: usize) -> f64 {
    if of == 0 { 0.0 } else { 100.0 * part as f64 / of as f64 }
}

/// Returns the programs that a trace shows, each as the name of its file and its arguments.
fn executed(trace: &str) -> Vec<Vec<String>> {
    let mut programs = Vec::new();
    for line in strace::lines(trace) {
        let strace::Line::Ended(call) = line else { continue };
        if call.name != "execve" || !call.is_done() {
            continue;
        }
        let path = strace::string(call.arg(0)).unwrap_or_default();
        let name = path.rsplit('/').next().unwrap_or_default().to_owned();
        let arguments = strace::strings(call.arg(1));
        programs.push(std::iter::once(name).chain(arguments.into_iter().skip(1)).collect());
    }
    programs
}
