//! A record for people: a line that fits the terminal, or with `--verbose` a line and its details without truncation.

use std::io::{self, Write};
use std::time::SystemTime;

use castellan_audit::Entry;

use super::shown::Shown;
use crate::output::{self, Cell, FAINT, cut, printable, width};
use crate::times;

/// The columns of a line on a terminal of at least `from` columns.
struct Layout {
    from: usize,
    time: fn(SystemTime) -> String,
    /// Shows agent and tool as columns. Else the tool precedes the action, unless it is the shell.
    has_agent: bool,
    /// Shows the rules behind the action.
    has_why: bool,
}

/// A narrower terminal loses first the seconds, then agent and tool, then the offset of the time zone and the rules.
/// The verdict and the request id are always shown: `castellan why ID` has the rest.
const LAYOUTS: [Layout; 4] = [
    Layout { from: 120, time: times::local, has_agent: true, has_why: true },
    Layout { from: 100, time: times::local_minute, has_agent: true, has_why: true },
    Layout { from: 76, time: times::local_minute, has_agent: false, has_why: true },
    Layout { from: 0, time: times::local_brief, has_agent: false, has_why: false },
];

/// Widths of verdict or kind, request, agent and tool. Rows arrive singly, so the widths are fixed; a longer value
/// shifts the rest of its row.
const WIDTHS: [usize; 4] = [13, 3, 9, 11];

/// Maximum columns of a tool's name, because servers choose names.
const TOOL_MAX: usize = 32;

/// Minimum columns of an action, on whatever terminal.
const WHAT_MIN: usize = 16;

/// The tool whose name is omitted where there is no column for it.
const SHELL: &str = "Bash";

/// Columns between two columns.
const GAP: usize = 2;

/// Writes a record in one line of at most `columns`.
pub(super) fn write(out: &mut impl Write, entry: &Entry, columns: usize) -> io::Result<()> {
    let shown = Shown::of(&entry.record, false);
    let Some(layout) = LAYOUTS.iter().find(|layout| columns >= layout.from) else { return Ok(()) };
    let time = (layout.time)(entry.time);
    let mut widths = vec![width(&time)];
    widths.extend(WIDTHS);
    let mut row = vec![Cell::new(time, FAINT)];
    row.extend(head(&shown));
    let mut what = printable(&shown.what);
    if !layout.has_agent {
        row.truncate(3);
        if !shown.tool.is_empty() && shown.tool != SHELL {
            what = format!("{} {what}", printable(&shown.tool));
        }
    }
    let taken: usize = row.iter().zip(&widths).map(|(cell, width)| cell.width().max(*width) + GAP).sum();
    let why = if layout.has_why { printable(&shown.why) } else { String::new() };
    let (what, why) = fitted(&what, &why, columns.saturating_sub(taken).max(WHAT_MIN));
    row.push(Cell::new(what, shown.what_style));
    if !why.is_empty() {
        widths.truncate(row.len() - 1);
        row.push(Cell::new(why, FAINT));
    }
    output::write_row(out, &row, &widths)
}

/// Writes a record with all its details below it, wrapped at words.
pub(super) fn write_whole(out: &mut impl Write, entry: &Entry, columns: usize) -> io::Result<()> {
    let shown = Shown::of(&entry.record, true);
    let mut row = vec![Cell::new(times::local(entry.time), FAINT)];
    row.extend(head(&shown).into_iter().filter(|cell| cell.width() > 0));
    output::write_row(out, &row, &[])?;
    for (text, style) in [(&shown.what, shown.what_style), (&shown.why, FAINT)] {
        output::write_wrapped(out, text, style, "    ", columns)?;
    }
    Ok(())
}

/// Returns the verdict or kind, the request, the agent and the tool.
fn head(shown: &Shown) -> [Cell; 4] {
    let tool = cut(&shown.tool, TOOL_MAX);
    let (kind, style) = &shown.kind;
    [Cell::new(kind, *style), Cell::from(&shown.request), Cell::from(&shown.agent), Cell::from(tool)]
}

/// Cuts the action and its rules so that both fit. The action keeps at least three fifths.
fn fitted(what: &str, why: &str, columns: usize) -> (String, String) {
    if why.is_empty() {
        return (cut(what, columns), String::new());
    }
    let kept = width(what).min(columns * 3 / 5);
    let why = cut(why, columns.saturating_sub(kept + GAP));
    (cut(what, columns.saturating_sub(width(&why) + GAP)), why)
}
