//! What a call that was denied was about, so that it is recognised in other words: the rules that decided, and what they found it
//! do to what. It must not know what follows from several of them.

use std::collections::BTreeSet;

use castellan_event::{Call, CallRow, Command, Effect, EffectKind, Facts, Finding};

use crate::limits::PURPOSES_MAX;

/// The purposes of a call that something stops, each once: the rules that decide, by layer and name; the kind of each effect that
/// they were found on, with its path, host or target; where what decides is no rule and names nothing, the call itself. What would
/// only ask beside a deny tells nothing: it may stand in any call.
pub(crate) fn of_denied(call: &Call, findings: &[Finding], rows: &[CallRow<'_>]) -> Vec<String> {
    let stops = || findings.iter().filter(|finding| finding.counts() && finding.stops());
    let Some(strictest) = stops().map(|finding| finding.verdict).max() else { return Vec::new() };
    let (mut rules, mut purposes) = (BTreeSet::new(), BTreeSet::new());
    for finding in stops().filter(|finding| finding.verdict == strictest) {
        let rows = finding.rows.iter().filter_map(|row| rows.get(*row));
        let targets: Vec<String> = rows.filter_map(|row| target(row.effect()?)).collect();
        if !finding.rule.is_empty() {
            let layer = finding.layer.map_or("", |layer| layer.as_str());
            rules.insert(format!("rule {layer} {}", finding.rule));
        } else if targets.is_empty() {
            purposes.insert(format!("call {} {}", call.tool.name, call.input_text));
        }
        purposes.extend(targets);
    }
    // Targets are what a call can have any number of: none of them crowds out a rule.
    let rules: Vec<String> = rules.into_iter().take(PURPOSES_MAX).collect();
    purposes.into_iter().take(PURPOSES_MAX - rules.len()).chain(rules).collect()
}

/// What is about castellan's own answers, whatever is answered: an agent that asks beforehand what would be denied.
pub(crate) fn of_asking(facts: &Facts) -> Option<String> {
    const ASKING: &[&str] = &["check", "explain", "replay"];
    let asks = |command: &Command| {
        let word = command.subcommand.as_ref().or(command.operands.first());
        command.name.as_deref() == Some("castellan")
            && word.is_some_and(|word| ASKING.contains(&word.as_str()))
    };
    facts.commands.iter().any(asks).then(|| "asks castellan".to_owned())
}

/// What an effect does to what, where that is known.
fn target(effect: &Effect) -> Option<String> {
    if effect.kind == EffectKind::Opaque {
        return None;
    }
    let what = [&effect.path, &effect.host, &effect.target].into_iter().flatten().next()?;
    Some(format!("does {} {what}", effect.kind.as_str()))
}
