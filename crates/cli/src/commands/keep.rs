//! `castellan keep`: settles the changes of a call that a person has seen. Its checkpoint goes. `--file` settles named files of
//! contained commands.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use castellan_daemon::{KeepReport, MarkedFiles};
use serde_json::json;

use super::undo::named::checkpoint_of;
use super::undo::shown;
use crate::exit::Exit;
use crate::global::Global;
use crate::output::{self, WARNING, counted, printable};
use crate::{ask, presence};

/// Options of `castellan keep`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Request id such as `K7`, or the number of a log record
    #[arg(required_unless_present = "file")]
    id: Option<String>,

    /// Settle the files of contained commands at or below this path, as they are now: those that no difference shows
    #[arg(long, value_name = "PATH", conflicts_with = "id")]
    file: Vec<PathBuf>,

    /// Skip the question; a person must still be present
    #[arg(long, short)]
    yes: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let Some(id) = &options.id else { return files(global, options) };
    let client = global.client()?;
    // No checkpoint has an empty id.
    presence::require_before(|| client.keep("", Vec::new()).map(drop))?;
    let checkpoint = checkpoint_of(global, id)?;
    let found = client.diff(&checkpoint)?;
    let mut text = Vec::new();
    shown::write(&mut text, &found, true)?;
    let is_shown = options.json || ask::show(&String::from_utf8_lossy(&text))?;
    if !is_shown || !options.yes && !ask::is_agreed("Keep these changes? The call can then not be undone.")? {
        global.note("nothing was changed")?;
        return Ok(Exit::No);
    }
    let seen = found.differences.into_iter().map(|one| one.seen).filter(|seen| !seen.is_empty()).collect();
    let report = client.keep(&checkpoint, seen)?;
    if options.json {
        output::write_json(&mut anstream::stdout(), &json!({ "kept": id, "report": report }))?;
    } else {
        tell(global, &report)?;
    }
    Ok(if report.changed > 0 { Exit::Incomplete } else { Exit::Done })
}

fn tell(global: &Global, KeepReport { unseen, changed }: &KeepReport) -> anyhow::Result<()> {
    if *changed > 0 {
        let files = counted(*changed, "file");
        let text = format!("{files} changed after you saw the differences: look again");
        global.message(WARNING, &text)?;
    } else {
        global.note("the changes are kept")?;
    }
    if let Some(text) = shown::unseen(unseen) {
        global.message(WARNING, &text)?;
    }
    Ok(())
}

/// Settles files by their names.
fn files(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let client = global.client()?;
    // No files have an empty hash.
    presence::require_before(|| client.keep_files(Vec::new(), ""))?;
    let paths: Vec<String> = options.file.iter().map(|path| real(path)).collect::<anyhow::Result<_>>()?;
    let MarkedFiles { files, count, shown } = client.marked_files(paths.clone())?;
    if count == 0 {
        global.note("no contained command wrote these files, or they are settled: nothing was changed")?;
        return Ok(Exit::Done);
    }
    let mut text = Vec::new();
    for file in &files {
        writeln!(text, "{}", printable(file))?;
    }
    if count > files.len() {
        writeln!(text, "and {} more", count - files.len())?;
    }
    let is_shown = options.json || ask::show(&String::from_utf8_lossy(&text))?;
    let question =
        "Contained commands wrote these files, and castellan shows no differences. Have you read them?";
    if !is_shown || !options.yes && !ask::is_agreed(question)? {
        global.note("nothing was changed")?;
        return Ok(Exit::No);
    }
    client.keep_files(paths.clone(), &shown)?;
    if options.json {
        output::write_json(&mut anstream::stdout(), &json!({ "kept": paths, "count": count }))?;
    } else {
        global.note("the files are kept")?;
    }
    Ok(Exit::Done)
}

/// Returns a path with the links above its name resolved: a link may itself be a file of a contained command.
fn real(path: &Path) -> anyhow::Result<String> {
    let shown = || format!("`{}`", path.display());
    let found = match (path.parent(), path.file_name()) {
        (Some(above), Some(name)) => {
            let above = if above.as_os_str().is_empty() { Path::new(".") } else { above };
            std::fs::canonicalize(above).with_context(shown)?.join(name)
        }
        _ => std::fs::canonicalize(path).with_context(shown)?,
    };
    found.into_os_string().into_string().map_err(|_| anyhow::anyhow!("{} is no UTF-8 path", shown()))
}
