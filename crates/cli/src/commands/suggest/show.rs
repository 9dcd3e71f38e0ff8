//! The suggestions for people: each proposal with its reason and the line to write.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::exceptions::Exception;
use super::findings::{Often, Silent, Suggestions};
use crate::global::Global;
use crate::output::{self, Cell, FAINT, GOOD, WARN, counted, cut, printable};

const EXAMPLE_CHARS: usize = 100;

pub(super) fn write(out: &mut impl Write, suggestions: &Suggestions, global: &Global) -> anyhow::Result<()> {
    let calls = counted(suggestions.calls, "call");
    let nothing = if suggestions.is_empty() { ": nothing to change" } else { "" };
    writeln!(out, "{calls} looked at{nothing}")?;
    if !suggestions.exceptions.is_empty() {
        writeln!(out, "\n{GOOD}asked and always approved{GOOD:#}")?;
        for exception in &suggestions.exceptions {
            write_exception(out, exception)?;
        }
    }
    if !suggestions.often.is_empty() {
        writeln!(out, "\n{WARN}stops often{WARN:#}")?;
        for often in &suggestions.often {
            write_often(out, often, suggestions.calls)?;
        }
    }
    write_never(out, suggestions, global)?;
    if !suggestions.unknown_tools.is_empty() {
        writeln!(
            out,
            "\n{WARN}tools that castellan does not know{WARN:#}: they are left to the agent's own permissions, or asked about"
        )?;
        let rows: Vec<Vec<Cell>> = suggestions
            .unknown_tools
            .iter()
            .map(|unknown| {
                let calls = format!("{:>6}", unknown.calls);
                vec![calls.into(), Cell::from(&unknown.agent), Cell::from(&unknown.tool)]
            })
            .collect();
        output::write_table(out, &rows)?;
        writeln!(
            out,
            "        {FAINT}a rule on `tool.name` says what becomes of one: `castellan rules new --from-log ID`{FAINT:#}"
        )?;
    }
    if suggestions.opaque > 0 {
        let calls = counted(suggestions.opaque, "call");
        writeln!(
            out,
            "\n{calls} stopped because a part could not be understood; `castellan explain` shows which"
        )?;
        write_example(out, &suggestions.opaque_example)?;
    }
    Ok(())
}

/// Writes only counts, if an agent may read the output.
pub(super) fn write_counts(out: &mut impl Write, suggestions: &Suggestions) -> io::Result<()> {
    let kinds = counted(suggestions.exceptions.len(), "kind");
    let rules = counted(suggestions.often.len(), "rule");
    let tools = counted(suggestions.unknown_tools.len(), "tool");
    let not_understood = counted(suggestions.opaque, "call");
    writeln!(out, "{} looked at", counted(suggestions.calls, "call"))?;
    writeln!(
        out,
        "{kinds} of calls always approved, {rules} that stop often, {tools} not known, {not_understood} not understood"
    )?;
    writeln!(out, "{WARN}{FOR_A_PERSON}{WARN:#}")
}

/// The reason for showing only counts.
pub(crate) const FOR_A_PERSON: &str =
    "what to change is told to a person only, and this runs within a guarded agent";

fn write_exception(out: &mut impl Write, exception: &Exception) -> io::Result<()> {
    let by = printable(&exception.by.join(", "));
    writeln!(out, "{:>6}  {by}", exception.approved)?;
    write_example(out, &exception.example)?;
    match &exception.allow {
        Some(allow) => {
            writeln!(out, "        castellan allow '{}'", printable(allow))?;
            if exception.others > 0 {
                let others = counted(exception.others, "other call");
                writeln!(
                    out,
                    "        {WARN}it would let {others} of the log through that the rules in force stop{WARN:#}"
                )?;
            }
            Ok(())
        }
        None => writeln!(out, "        when it is asked about again:  `castellan approve ID --always`"),
    }
}

fn write_often(out: &mut impl Write, often: &Often, calls: usize) -> io::Result<()> {
    let share = often.stopped.saturating_mul(100) / calls.max(1);
    writeln!(out, "{:>6}  {} ({share} % of all calls)", often.stopped, printable(&often.rule))?;
    write_example(out, &often.example)?;
    if often.is_users {
        let name = printable(&often.rule);
        writeln!(
            out,
            "        {FAINT}`castellan rules describe '{name}'` shows what it is about; `castellan replay` tries a narrower one{FAINT:#}"
        )?;
    }
    Ok(())
}

fn write_example(out: &mut impl Write, example: &str) -> io::Result<()> {
    writeln!(out, "        {FAINT}such as{FAINT:#}  {}", cut(&printable(example), EXAMPLE_CHARS))
}

fn write_never(out: &mut impl Write, suggestions: &Suggestions, global: &Global) -> io::Result<()> {
    let Some(never) = &suggestions.never else {
        return writeln!(out, "\n{FAINT}too few calls to say which rules never fire{FAINT:#}");
    };
    let (shipped, own): (Vec<&Silent>, Vec<&Silent>) = never.iter().partition(|silent| silent.is_shipped);
    if !own.is_empty() {
        writeln!(out, "\n{WARN}rules of yours that never fired{WARN:#}")?;
        for silent in own {
            let good = if silent.denies { "  (it denies: nothing of the kind was tried)" } else { "" };
            writeln!(out, "        {}{good}", printable(&silent.rule))?;
        }
    }
    if shipped.is_empty() {
        return Ok(());
    }
    if global.verbose {
        writeln!(out, "\n{FAINT}shipped rules that never fired{FAINT:#}")?;
        return shipped.iter().try_for_each(|silent| {
            writeln!(out, "        {FAINT}{}:{FAINT:#} {}", silent.pack, printable(&silent.rule))
        });
    }
    let mut packs: BTreeMap<&str, usize> = BTreeMap::new();
    for silent in &shipped {
        *packs.entry(silent.pack.as_str()).or_default() += 1;
    }
    let packs: Vec<String> = packs.iter().map(|(pack, count)| format!("{pack} {count}")).collect();
    writeln!(
        out,
        "\n{FAINT}shipped rules that never fired, by pack: {} (-v names them){FAINT:#}",
        packs.join(", ")
    )
}
