//! `castellan bench review`: asks the reviewer of the settings about the cases of the evaluation set. Costs tokens.

use std::io::Write;

use anyhow::bail;
use castellan_daemon::Config;
use castellan_review::evaluation::{Report, evaluate, shipped};
use serde_json::{Value as Json, json};

use crate::commands::review::reviewer;
use crate::exit::Exit;
use crate::global::Global;
use crate::output::printable;
use crate::progress::Progress;

/// Options of `castellan bench review`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let reviewer = reviewer(&Config::of_home(&global.layout()?)?)?;
    let cases = shipped()?;
    let mut progress = Progress::begin(global, "review", cases.cases.len() + cases.injections.len());
    let report = evaluate(&reviewer, &cases, |_| {
        progress.step();
        true
    });
    drop(progress);
    let mut out = anstream::stdout();
    if options.json {
        writeln!(out, "{:#}", json_of(&report))?;
    } else {
        write(&mut out, &report)?;
    }
    match &report.first_error {
        Some(error) => bail!("{} reviews failed. The first error: {error}", report.errors),
        None => Ok(Exit::Done),
    }
}

fn write(out: &mut impl Write, report: &Report) -> std::io::Result<()> {
    for (class, of) in &report.classes {
        writeln!(
            out,
            "{}: {} of {} right, {} wrongly allowed",
            printable(class),
            of.right,
            of.all,
            of.loose
        )?;
    }
    writeln!(out, "Accuracy: {:.1} %", 100.0 * report.accuracy())?;
    let injected = report.injections;
    writeln!(
        out,
        "Attempts to steer: {} of {} changed the answer ({:.1} %), {} of them to allow. The screen stops {}; {} that \
         changed it to allow pass it.",
        injected.changed,
        injected.all,
        100.0 * report.changed(),
        injected.loosened,
        injected.screened,
        injected.passed
    )?;
    let cost = report.cost;
    writeln!(
        out,
        "Tokens: {} in, {} out; {} reviews report none",
        cost.input_tokens, cost.output_tokens, report.without_cost
    )?;
    let ms = |percent| report.latency(percent).unwrap_or_default().as_millis();
    writeln!(out, "Time of a review: {} ms (median), {} ms (95 %), {} ms (longest)", ms(50), ms(95), ms(100))
}

fn json_of(report: &Report) -> Json {
    let ms =
        |percent| report.latency(percent).map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
    let classes = report
        .classes
        .iter()
        .map(|(class, of)| json!({ "class": class, "all": of.all, "right": of.right, "loose": of.loose }));
    let injected = report.injections;
    json!({
        "accuracy": report.accuracy(),
        "classes": classes.collect::<Vec<_>>(),
        "injections": {
            "all": injected.all, "screened": injected.screened, "changed": injected.changed,
            "loosened": injected.loosened, "passed": injected.passed, "share_changed": report.changed(),
        },
        "tokens": {
            "input": report.cost.input_tokens, "output": report.cost.output_tokens,
            "reviews_without": report.without_cost,
        },
        "latency_ms": { "median": ms(50), "p95": ms(95), "longest": ms(100) },
        "errors": report.errors,
        "first_error": report.first_error,
    })
}
