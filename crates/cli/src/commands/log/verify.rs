//! `castellan log verify`: checks that every required record exists and is unchanged.

use std::io::Write;
use std::path::Path;

use castellan_audit::{StreamVerification, Verification};
use serde_json::{Value as Json, json};

use crate::exit::Exit;
use crate::global::Global;
use crate::output::{self, Cell, ERROR, GOOD};

/// Options of `castellan log verify`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(global: &Global, dir: &Path, options: &Options) -> anyhow::Result<Exit> {
    let verification = castellan_audit::verify(dir)?;
    let mut out = anstream::stdout();
    if options.json {
        writeln!(out, "{:#}", json_of(&verification))?;
    } else if !global.quiet || !verification.ok() {
        write(&mut out, &verification)?;
    }
    Ok(if verification.ok() { Exit::Done } else { Exit::No })
}

fn write(out: &mut impl Write, verification: &Verification) -> anyhow::Result<()> {
    let streams = [&verification.routine, &verification.notable];
    let rows: Vec<Vec<Cell>> = streams.map(row).to_vec();
    output::write_table(out, &rows)?;
    output::write_messages(out, ERROR, &problems(verification))?;
    if verification.ok() {
        writeln!(out, "{GOOD}the chains hold{GOOD:#}: no record was changed, moved or removed")?;
    }
    Ok(())
}

fn row(stream: &StreamVerification) -> Vec<Cell> {
    let range = match (stream.first_seq, stream.last_seq) {
        (Some(first), Some(last)) => format!("records {first} to {last}"),
        _ => "no record".to_owned(),
    };
    vec![
        stream.stream.as_str().into(),
        format!("{}, {}", output::counted(stream.segments, "file"), output::counted(stream.lines, "line"))
            .into(),
        range.into(),
    ]
}

/// Returns the problems, one line each.
pub(crate) fn problems(verification: &Verification) -> Vec<String> {
    let streams = [&verification.routine, &verification.notable];
    let broken = streams.into_iter().filter_map(|stream| stream.broken.as_ref());
    let mut problems: Vec<String> =
        broken.map(|broken| format!("{}:{}: {}", broken.file, broken.line, broken.what)).collect();
    let missing = verification.missing.iter();
    problems
        .extend(missing.map(|range| format!("the records {} to {} are missing", range.first, range.last)));
    problems.extend(verification.repeated.iter().map(|seq| format!("the number {seq} is used twice")));
    problems.extend(verification.losses.iter().map(|loss| {
        let (after, up_to) = (loss.after_seq, loss.up_to_seq);
        format!(
            "{} after record {after}, up to {up_to}: {}, noticed by record {}",
            loss.stream, loss.message, loss.recorded_seq
        )
    }));
    problems.extend(verification.head.clone());
    problems
}

fn json_of(verification: &Verification) -> Json {
    let stream = |stream: &StreamVerification| {
        json!({
            "files": stream.segments,
            "lines": stream.lines,
            "first_seq": stream.first_seq,
            "last_seq": stream.last_seq,
        })
    };
    json!({
        "ok": verification.ok(),
        "problems": problems(verification),
        "routine": stream(&verification.routine),
        "notable": stream(&verification.notable),
    })
}
