//! The whole decision of real everyday commands, one after the other as in a daemon. It decodes the agent's JSON,
//! derives the effects with all queries to the simulated machine, decides by every shipped pack and the pipeline, and
//! appends the record to a log. Must not depend on the right decision.

use std::time::{Instant, SystemTime};

use anyhow::{Context, anyhow, ensure};
use castellan_audit::{Config as LogConfig, Log};
use castellan_daemon::{Config, OneSession, compile, shipped_rules};
use castellan_event::Recorder;
use castellan_trial::{Machine, Trial, WORKSPACE, read_labelled};

use crate::percentile;

/// Rounds of every command. The median of each excludes disturbances of the machine. A daemon reads a program again
/// only after a change or some time, so the first round is reported separately.
const ROUNDS: usize = 5;

const P50_MAX_US: f64 = 60.0;
const P99_MAX_US: f64 = 400.0;

/// Process id of an agent on the simulated machine.
const PID: u32 = 4242;

pub(crate) fn print(file: &str) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(file).with_context(|| file.to_owned())?;
    let (calls, wrong) = read_labelled(file, &text);
    ensure!(wrong.is_empty(), "{} wrong lines, the first: {}", wrong.len(), wrong.first().context("none")?);
    ensure!(!calls.is_empty(), "`{file}` holds no calls");
    let compiled = compile(&shipped_rules(), &Config::default());
    ensure!(compiled.error().is_none(), "the shipped rules do not load");
    let trial = Trial::new(&compiled.policy);
    let place = tempfile::tempdir()?;
    let log = Log::open(place.path(), LogConfig::default(), SystemTime::now())?;
    let session = OneSession::begin(WORKSPACE, PID, &mut Recorder::new(&Machine::default()));

    let (mut decided, mut whole, mut first) = (Vec::new(), Vec::new(), Vec::new());
    for labelled in &calls {
        let mut rounds: Vec<(f64, f64)> = Vec::new();
        for _ in 0..ROUNDS {
            let judged = trial.judge(&labelled.case).map_err(|why| anyhow!("{}: {why}", labelled.id))?;
            let begun = Instant::now();
            let record =
                session.record(&judged.call, &judged.decision, &judged.answers, &judged.change, judged.took);
            log.append(&record, SystemTime::now())?;
            let took = judged.took.as_secs_f64() * 1e6;
            rounds.push((took, took + begun.elapsed().as_secs_f64() * 1e6));
        }
        first.extend(rounds.first().map(|(_, whole)| *whole));
        decided.push(percentile(&mut rounds.iter().map(|(decided, _)| *decided).collect::<Vec<_>>(), 50));
        whole.push(percentile(&mut rounds.iter().map(|(_, whole)| *whole).collect::<Vec<_>>(), 50));
    }
    println!(
        "\n{} real everyday commands, the median of {ROUNDS} rounds of each; µs.\n\n\
         | | p50 | p99 | target |\n|---|---|---|---|\n\
         | from the agent's JSON to the decision | {:.1} | {:.1} | |\n\
         | the same, recorded | {:.1} | {:.1} | {P50_MAX_US}, {P99_MAX_US} |\n\
         | the first time | {:.1} | {:.1} | |",
        calls.len(),
        percentile(&mut decided, 50),
        percentile(&mut decided, 99),
        percentile(&mut whole, 50),
        percentile(&mut whole, 99),
        percentile(&mut first, 50),
        percentile(&mut first, 99),
    );
    Ok(())
}
