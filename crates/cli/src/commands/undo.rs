//! `castellan undo`: puts the files back that a call changed, after showing them to a person. Without an id it lists the
//! calls that can be undone.

pub(super) mod named;
pub(super) mod shown;

use std::collections::HashMap;
use std::time::{Duration, SystemTime};

use castellan_audit::{Entry, Filter, Record};
use castellan_daemon::{ListedCheckpoint, UndoReport, checkpoint_id};
use serde_json::{Value as Json, json};

use self::named::checkpoint_of;
use crate::exit::Exit;
use crate::global::Global;
use crate::history::subject;
use crate::limits::UNDO_LISTED_MAX;
use crate::output::{self, Cell, FAINT, WARNING, counted, printable};
use crate::{ask, presence, times};

/// Options of `castellan undo`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Request id such as `K7`, the number of a log record, or the id of an earlier undo; without it: list what can be undone
    id: Option<String>,

    /// Keep no copy of the present files: nothing takes this undo back
    #[arg(long = "final", requires = "id")]
    is_final: bool,

    /// Skip the question; a person must still be present
    #[arg(long, short, requires = "id")]
    yes: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let Some(id) = &options.id else { return list(global, options.json) };
    let client = global.client()?;
    // No differences have an empty hash.
    presence::require_before(|| client.undo(id, "", options.is_final).map(drop))?;
    let id = checkpoint_of(global, id)?;
    let found = client.diff(&id)?;
    if found.count == 0 {
        match shown::unseen(&found.unseen) {
            Some(text) => global.message(WARNING, &text)?,
            None => global.note("the files are as they were before the call: nothing was changed")?,
        }
        return Ok(Exit::Done);
    }
    let mut text = Vec::new();
    shown::write(&mut text, &found, false)?;
    let is_shown = options.json || ask::show(&String::from_utf8_lossy(&text))?;
    let question = format!("Put {} back?", counted(found.count, "entry"));
    if !is_shown || !options.yes && !ask::is_agreed(&question)? {
        global.note("nothing was changed")?;
        return Ok(Exit::No);
    }
    let report = client.undo(&id, &found.shown, options.is_final)?;
    if options.json {
        output::write_json(&mut anstream::stdout(), &serde_json::to_value(&report)?)?;
    } else {
        tell(global, &report)?;
    }
    Ok(if report.left_count > 0 { Exit::Incomplete } else { Exit::Done })
}

fn tell(global: &Global, report: &UndoReport) -> anyhow::Result<()> {
    let UndoReport { written, removed, adjusted, left, left_count, unseen, before } = report;
    global.note(&format!(
        "{written} written again, {removed} removed, {adjusted} with their permissions again"
    ))?;
    for (path, why) in left {
        global.message(WARNING, &format!("{}: {why}", printable(path)))?;
    }
    if *left_count > left.len() {
        global.message(WARNING, &format!("{} more could not be put back", left_count - left.len()))?;
    }
    if let Some(text) = shown::unseen(unseen) {
        global.message(WARNING, &text)?;
    }
    if !before.is_empty() {
        global.note(&format!("to take this back: castellan undo {before}"))?;
    }
    Ok(())
}

/// Lists the checkpoints with their calls, the newest first.
fn list(global: &Global, is_json: bool) -> anyhow::Result<Exit> {
    let checkpoints = global.client()?.checkpoints()?;
    let calls = calls(global, &checkpoints)?;
    let rows: Vec<Row> =
        checkpoints.iter().rev().take(UNDO_LISTED_MAX).map(|one| Row::of(one, &calls)).collect();
    let mut out = anstream::stdout();
    if is_json {
        output::write_json(&mut out, &Json::Array(rows.iter().map(Row::json).collect()))?;
        return Ok(Exit::Done);
    }
    if rows.is_empty() {
        global.note(
            "there is no checkpoint: castellan makes one before a call that changes files of the workspace",
        )?;
        return Ok(Exit::Done);
    }
    let cells: Vec<Vec<Cell>> = rows.iter().map(Row::cells).collect();
    output::write_table(&mut out, &cells)?;
    Ok(Exit::Done)
}

/// The recorded calls of checkpoints: the name for `castellan undo` and the subject, by the id of the checkpoint.
fn calls(global: &Global, of: &[ListedCheckpoint]) -> anyhow::Result<HashMap<String, (String, String)>> {
    let Some(first) = of.first() else { return Ok(HashMap::new()) };
    let since = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(first.taken_s));
    let filter = Filter { since, ..Filter::default() };
    let entries = castellan_audit::read(&global.layout()?.log(), &filter)?.entries;
    let call = |Entry { seq, record, .. }: Entry| {
        let Record::Call(call) = record else { return None };
        let name = if call.request.is_empty() { seq.to_string() } else { call.request.to_string() };
        Some((checkpoint_id(call.correlation_id), (name, subject(&call))))
    };
    Ok(entries.into_iter().filter_map(call).collect())
}

struct Row {
    name: String,
    taken: SystemTime,
    bytes: u64,
    subject: String,
}

impl Row {
    fn of(one: &ListedCheckpoint, calls: &HashMap<String, (String, String)>) -> Row {
        let (name, subject) = calls.get(&one.id).cloned().unwrap_or_else(|| (one.id.clone(), String::new()));
        let taken = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(one.taken_s));
        Row { name, taken: taken.unwrap_or(SystemTime::UNIX_EPOCH), bytes: one.bytes, subject }
    }

    fn json(&self) -> Json {
        json!({ "id": self.name, "time": times::utc(self.taken), "bytes": self.bytes, "call": self.subject })
    }

    fn cells(&self) -> Vec<Cell> {
        vec![
            Cell::from(self.name.as_str()),
            Cell::new(times::local_brief(self.taken), FAINT),
            Cell::from(output::cut(&printable(&self.subject), 100).as_str()),
        ]
    }
}
