//! The tree of a call's effects: each command with its effects below it, then the effects of the tool itself.

use std::io::Write;

use castellan_daemon::{ExplainedCommand, ExplainedEffect, Explanation, FiredRule};
use castellan_event::{EffectKind, FileOrigin, HostClass, Why};

use crate::limits::EXPLAINED_LINE_CHARS;
use crate::output::{BAD, FAINT, PLAIN, WARN, counted, cut, printable, verdict_style, verdict_word};

/// Writes the tree with `indent` before each line.
pub(crate) fn write(out: &mut impl Write, explanation: &Explanation, indent: &str) -> anyhow::Result<()> {
    let Explanation { rules, commands, effects, written, left_out } = explanation;
    write_rules(out, indent, rules)?;
    for (at, command) in commands.iter().enumerate() {
        let is_last = at + 1 == commands.len() && effects.is_empty();
        write_command(out, indent, command, is_last)?;
    }
    write_effects(out, indent, effects)?;
    if !written.is_empty() {
        writeln!(out, "{indent}{FAINT}not now, but when what it writes is run:{FAINT:#}")?;
        write_effects(out, indent, written)?;
    }
    if commands.is_empty() && effects.is_empty() {
        writeln!(
            out,
            "{indent}{FAINT}└─ nothing that any rule on commands or effects could look at{FAINT:#}"
        )?;
    }
    if *left_out > 0 {
        writeln!(out, "{indent}{WARN}and {} more{WARN:#}", counted(*left_out, "part"))?;
    }
    Ok(())
}

fn write_command(
    out: &mut impl Write,
    indent: &str,
    command: &ExplainedCommand,
    is_last: bool,
) -> anyhow::Result<()> {
    let (branch, below) = if is_last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
    writeln!(out, "{indent}{branch}{}  {FAINT}{}{FAINT:#}", line(&command.line), line(&about(command)))?;
    let below = format!("{indent}{below}");
    write_rules(out, &below, &command.rules)?;
    write_effects(out, &below, &command.effects)
}

fn write_effects(out: &mut impl Write, below: &str, effects: &[ExplainedEffect]) -> anyhow::Result<()> {
    for (number, effect) in effects.iter().enumerate() {
        let is_last = number + 1 == effects.len();
        let branch = if is_last { "└─ " } else { "├─ " };
        let kind = effect.kind.as_str();
        let style = if kind == EffectKind::Opaque.as_str() {
            WARN
        } else if [EffectKind::Delete.as_str(), EffectKind::Destroy.as_str()].contains(&kind) {
            BAD
        } else {
            PLAIN
        };
        writeln!(
            out,
            "{below}{branch}{style}{:<11}{style:#} {}",
            printable(kind),
            line(&describe_effect(effect))
        )?;
        let further = format!("{below}{}", if is_last { "   " } else { "│  " });
        write_rules(out, &further, &effect.rules)?;
    }
    Ok(())
}

fn write_rules(out: &mut impl Write, below: &str, rules: &[FiredRule]) -> anyhow::Result<()> {
    for FiredRule { rule, verdict } in rules {
        let style = verdict_style(verdict);
        writeln!(out, "{below}{style}● {}{style:#} {}", printable(verdict_word(verdict)), printable(rule))?;
    }
    Ok(())
}

/// Returns outside text as one line, escaped and cut.
pub(crate) fn line(text: &str) -> String {
    cut(&printable(text), EXPLAINED_LINE_CHARS)
}

/// Describes the place of a command in the call and how it runs.
fn about(command: &ExplainedCommand) -> String {
    let mut parts = Vec::new();
    if let Some((start, end)) = command.span {
        parts.push(format!("{start}..{end}"));
    }
    if command.origin != "text" {
        parts.push(command.origin.clone());
    }
    if !command.wrappers.is_empty() {
        parts.push(format!("in {}", command.wrappers.join(" ")));
    }
    if let Some(remote) = &command.remote {
        parts.push(format!("on {remote}"));
    }
    if let Some(from) = &command.pipe_from {
        parts.push(format!("reads from {from}"));
    }
    parts.join(", ")
}

/// Describes an effect without its kind.
pub(crate) fn describe_effect(effect: &ExplainedEffect) -> String {
    let mut parts: Vec<String> = Vec::new();
    let path = effect.path.as_ref().or(effect.path_raw.as_ref());
    parts.extend(path.cloned());
    if effect.file_origin.as_deref() == Some(FileOrigin::Downloaded.as_str()) {
        parts.push("(downloaded)".to_owned());
    }
    parts.extend(effect.url.clone().or(effect.host.clone()));
    if let Some(class) = effect.host_class.as_deref().filter(|class| *class != HostClass::Public.as_str()) {
        parts.push(format!("({class} host)"));
    }
    parts.extend(effect.system.clone());
    parts.extend(effect.verb.clone());
    parts.extend(effect.target.clone());
    if effect.recursive == Some(true) {
        parts.push("recursive".to_owned());
    }
    if effect.force == Some(true) {
        parts.push("force".to_owned());
    }
    if let Some(scope) = &effect.scope {
        let place = effect.place.as_ref().filter(|place| *place != scope);
        let place = place.map(|place| format!(", {place}"));
        parts.push(format!("({scope}{})", place.unwrap_or_default()));
    }
    if let (Some(role), Some(why)) = (&effect.role, &effect.why) {
        let known = Why::ALL.iter().find(|known| known.as_str() == why);
        parts.push(format!("({role}: {})", known.map_or(why.as_str(), |known| known.meaning())));
    }
    parts.join("  ")
}
