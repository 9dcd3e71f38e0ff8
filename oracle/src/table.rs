//! Prints the tables: recall and precision of each kind, Opaque parts, and every miss with its text. Fails if a
//! relevant event was neither predicted nor covered.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, anyhow, ensure};

use crate::commands::{self, Text};
use crate::compare::{Foretold, Happened, Outcome, compare};
use crate::enclosure::{self, FIXTURE};
use crate::inside::{PROJECT, Seen};
use crate::observed::{self, Kind};
use crate::private::Private;

/// Limits in percent.
const PRECISION_MIN: f64 = 95.0;
const OPAQUE_MAX: f64 = 10.0;

const KINDS: &[(Kind, &str)] = &[
    (Kind::Write, "writes"),
    (Kind::Delete, "deletes"),
    (Kind::Exec, "execs"),
    (Kind::Connect, "connects"),
    (Kind::Read, "reads"),
];

/// Runs everything and prints the results.
pub(crate) fn print() -> anyhow::Result<()> {
    enclosure::check()?;
    let private = Private::read()?;
    let fixture = enclosure::run(&[FIXTURE], &[])?;
    let texts = commands::all();
    let results = Mutex::new(BTreeMap::new());
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let work = || {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(text) = texts.get(at) else { break };
                let result = one(&text.text, &fixture, &private);
                if let Ok(mut results) = results.lock() {
                    results.insert(at, result);
                }
            }
        };
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let results = results.into_inner().map_err(|_| anyhow!("a thread that ran texts panicked"))?;
    let mut ran = Vec::new();
    for (at, result) in results {
        let text = texts.get(at).context("a result without its text")?;
        let (seen, outcome) = result.with_context(|| text.text.clone())?;
        ran.push(Ran { text, seen, outcome });
    }
    report(&ran)
}

/// Prints all results of one text.
pub(crate) fn print_one(text: &str) -> anyhow::Result<()> {
    enclosure::check()?;
    let (seen, outcome) = one(text, &enclosure::run(&[FIXTURE], &[])?, &Private::read()?)?;
    println!("{}", seen.said.trim_end());
    for command in &seen.predicted.commands {
        println!("predicted {} {:?} {:?}", command.line, command.path, command.wrappers);
    }
    for said in &seen.predicted.effects {
        println!("predicted {said:?}");
    }
    for (event, happened) in &outcome.happened {
        println!("happened {happened:?} {:?} {} by {:?}", event.kind, event.what, event.programs);
    }
    for (kind, what, foretold) in &outcome.foretold {
        println!("foretold {foretold:?} {kind:?} {what}");
    }
    Ok(())
}

fn one(text: &str, fixture: &[u8], private: &Private) -> anyhow::Result<(Seen, Outcome)> {
    let seen: Seen = serde_json::from_slice(&enclosure::run(&[text], fixture)?)?;
    let events = observed::events(&seen.trace, PROJECT);
    ensure!(!seen.trace.is_empty(), "strace saw nothing");
    let outcome = compare(&seen, text, events, private);
    Ok((seen, outcome))
}

struct Ran<'t> {
    text: &'t Text,
    seen: Seen,
    outcome: Outcome,
}

fn report(ran: &[Ran<'_>]) -> anyhow::Result<()> {
    let real = ran.iter().filter(|ran| ran.text.is_real()).count();
    println!("{} commands, {real} of them lines of real scripts.\n", ran.len());
    println!(
        "| kind | happened | predicted | own | Opaque | runs a file | missed | recall % | foretold | came true | nothing there | not run | wrong | precision % |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    let mut too_low = Vec::new();
    for (kind, name) in KINDS {
        let precision = print_kind(ran, *kind, name);
        if precision < PRECISION_MIN {
            too_low.push(format!("{name}: {precision:.1} %"));
        }
    }
    print_private(ran);
    let opaque = print_opaque(ran);
    let missed = print_wrong(ran);
    println!(
        "\n{missed} writes, deletes, execs or connects were neither predicted nor declared; Opaque: {opaque:.1} %, at most {OPAQUE_MAX} %."
    );
    ensure!(missed == 0, "{missed} were neither predicted nor declared");
    ensure!(too_low.is_empty(), "precision below {PRECISION_MIN} %: {}", too_low.join(", "));
    ensure!(opaque <= OPAQUE_MAX, "{opaque:.1} % are Opaque");
    Ok(())
}

fn percent(part: usize, of: usize) -> f64 {
    if of == 0 { 100.0 } else { 100.0 * part as f64 / of as f64 }
}

/// Prints the line of a kind; returns its precision.
fn print_kind(ran: &[Ran<'_>], kind: Kind, name: &str) -> f64 {
    let happened =
        || ran.iter().flat_map(|ran| &ran.outcome.happened).filter(|(event, _)| event.kind == kind);
    let came =
        |wanted: &dyn Fn(&Happened) -> bool| happened().filter(|(_, happened)| wanted(happened)).count();
    let all = happened().count();
    let own = came(&|happened| matches!(happened, Happened::Private(_)));
    let missed = came(&|happened| *happened == Happened::Missed);
    let foretold = |wanted: Foretold| {
        let all = ran.iter().flat_map(|ran| &ran.outcome.foretold);
        all.filter(|(of, _, foretold)| *of == kind && *foretold == wanted).count()
    };
    let (right, wrong) = (foretold(Foretold::Happened), foretold(Foretold::Wrong));
    let (absent, not_run) = (foretold(Foretold::NothingThere), foretold(Foretold::NotRun));
    let precision = percent(right, right + wrong);
    println!(
        "| {name} | {all} | {} | {own} | {} | {} | {missed} | {:.1} | {} | {right} | {absent} | {not_run} | {wrong} | {precision:.1} |",
        came(&|happened| *happened == Happened::Predicted),
        came(&|happened| *happened == Happened::Opaque),
        came(&|happened| *happened == Happened::Execute),
        percent(all - own - missed, all - own),
        right + wrong + absent + not_run,
    );
    precision
}

fn print_private(ran: &[Ran<'_>]) {
    let mut own: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (event, happened) in ran.iter().flat_map(|ran| &ran.outcome.happened) {
        let name = KINDS.iter().find(|(kind, _)| *kind == event.kind).map_or("", |(_, name)| *name);
        if let Happened::Private(program) = happened {
            *own.entry((program, name)).or_default() += 1;
        }
    }
    println!("\nWithin modelled programs (private.toml):\n\n| program | kind | count |\n|---|---|---|");
    own.iter().for_each(|((program, name), count)| println!("| `{program}` | {name} | {count} |"));
}

/// Prints every text with an Opaque part (and the reasons) or a run file. Returns the percentage with an Opaque part.
fn print_opaque(ran: &[Ran<'_>]) -> f64 {
    let mut opaque = 0;
    println!("\nOpaque (program, code or target):");
    for ran in ran {
        let why = |said: &crate::predicted::Said| {
            format!("{}: {}", said.role.clone().unwrap_or_default(), said.why.clone().unwrap_or_default())
        };
        let reasons: Vec<String> = ran.seen.predicted.opaque().map(why).collect();
        if !reasons.is_empty() {
            opaque += 1;
            println!("  [{}] {}", reasons.join(", "), shown(ran.text));
        }
    }
    println!("\nRuns a file that is not looked into, and is not Opaque:");
    let mut files = 0;
    for ran in ran.iter().filter(|ran| ran.seen.predicted.opaque().next().is_none()) {
        if ran.seen.predicted.effects.iter().any(crate::predicted::Said::is_execute) {
            files += 1;
            println!("  {}", shown(ran.text));
        }
    }
    let share = percent(opaque, ran.len());
    println!("\n{opaque} of {} Opaque ({share:.1} %), {files} run a file.", ran.len());
    share
}

/// Prints every miss and every wrong prediction with its text. Returns the number of relevant ones.
fn print_wrong(ran: &[Ran<'_>]) -> usize {
    let mut missed = 0;
    println!("\nNeither predicted nor declared, and foretold wrongly:");
    for ran in ran {
        let misses = ran.outcome.happened.iter().filter(|(_, happened)| *happened == Happened::Missed);
        for (event, _) in misses {
            missed += usize::from(event.kind != Kind::Read);
            println!(
                "  missed {:?} {} by {}: {}",
                event.kind,
                event.what,
                event.programs.join(" > "),
                shown(ran.text)
            );
        }
        let wrong = ran.outcome.foretold.iter().filter(|(_, _, foretold)| *foretold == Foretold::Wrong);
        wrong.for_each(|(kind, what, _)| println!("  wrong {kind:?} {what}: {}", shown(ran.text)));
    }
    missed
}

fn shown(text: &Text) -> String {
    text.text.replace('\n', "⏎")
}
