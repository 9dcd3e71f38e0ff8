//! `castellan log verify`: checks that every required record exists and is unchanged, by the log's own chains and by its
//! copy in the system's log.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use castellan_audit::{Copied, Differing, Stream, StreamVerification, Verification};
use serde_json::{Value as Json, json};

use super::outside::{self, Outside};
use crate::exit::Exit;
use crate::global::Global;
use crate::output::{self, Cell, ERROR, GOOD, WARNING};
use crate::times;

/// Options of `castellan log verify`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Compare only with copies in the system's log since TIME, for a log that you removed yourself
    #[arg(long, value_name = "TIME", value_parser = times::parse)]
    since: Option<SystemTime>,

    /// Read the copies from this file of syslog instead of the journal and /var/log; repeatable
    #[arg(long, value_name = "FILE")]
    outside: Vec<PathBuf>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(global: &Global, dir: &Path, options: &Options) -> anyhow::Result<Exit> {
    // First: each line is in the log before it is copied.
    let outside = outside::read(dir, options.since, &options.outside);
    let mut out = anstream::stdout();
    let last = outside.copies.iter().max_by_key(|copied| copied.time()).filter(|_| !dir.exists());
    if let Some(last) = last {
        let what = gone(dir, last);
        match options.json {
            true => {
                let all = json!({ "ok": false, "problems": [what], "outside": json_outside(&outside) });
                output::write_json(&mut out, &all)?;
            }
            false => output::write_messages(&mut out, ERROR, &[what])?,
        }
        return Ok(Exit::No);
    }
    let verification = castellan_audit::verify_copied(dir, &outside.copies)?;
    if options.json {
        output::write_json(&mut out, &json_of(&verification, &outside))?;
    } else if !global.quiet || !verification.ok() {
        write(&mut out, &verification, &outside)?;
    }
    Ok(if verification.ok() { Exit::Done } else { Exit::No })
}

/// Describes a log that is not there any more.
fn gone(dir: &Path, last: &Copied) -> String {
    let time = last.time().map(times::local).unwrap_or_default();
    format!(
        "{} does not exist, but its copy in the system's log ends with record {} of {time}",
        dir.display(),
        last.last_seq()
    )
}

fn write(out: &mut impl Write, verification: &Verification, outside: &Outside) -> anyhow::Result<()> {
    let streams = [&verification.routine, &verification.notable];
    let mut rows: Vec<Vec<Cell>> = streams.map(row).to_vec();
    let copies = output::counted(outside.copies.len() as u64, "line");
    let copied = match outside.places.is_empty() {
        true => "no copy in the system's log".to_owned(),
        false => format!("copies of {copies} in {}", outside.places.join(", ")),
    };
    rows.push(vec!["outside".into(), copied.into()]);
    output::write_table(out, &rows)?;
    output::write_messages(out, WARNING, &outside.unread)?;
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
    problems.extend(differing(&verification.outside));
    problems
}

/// Describes the lines that only the copy has, by stream and kind.
fn differing(lines: &[Differing]) -> Vec<String> {
    let mut problems = Vec::new();
    for stream in Stream::ALL {
        for (is_changed, what) in [(true, "were changed"), (false, "are missing")] {
            let lines: Vec<&Differing> =
                lines.iter().filter(|one| one.stream == stream && one.is_changed == is_changed).collect();
            let (Some(first), Some(last)) = (lines.first(), lines.last()) else { continue };
            problems.push(format!(
                "{stream}: lines of the copy in the system's log {what}, from record {} ({}) to record {} ({})",
                first.seq, first.time, last.seq, last.time
            ));
        }
    }
    problems
}

fn json_outside(outside: &Outside) -> Json {
    json!({ "copies": outside.copies.len(), "places": outside.places, "unread": outside.unread })
}

fn json_of(verification: &Verification, outside: &Outside) -> Json {
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
        "outside": json_outside(outside),
    })
}
