//! Denial keys: the deciding rules of a denied call and its effects on targets, to recognize the same attempt in other
//! words. Does not depend on the reaction to repeated denials.

use std::collections::BTreeSet;

use castellan_event::{Call, CallRow, Command, Effect, EffectKind, Facts, Finding};

use crate::limits::DENIAL_KEYS_MAX;

/// Returns the denial keys of a stopped call, without duplicates. A key is a deciding rule by layer and name, or the
/// kind of an effect of its rows with path, host or target. If the deciding finding has neither rule nor target, the
/// key is the call itself. Findings that ask beside a deny give no key, because any call may have them.
pub(crate) fn of_denied(call: &Call, findings: &[Finding], rows: &[CallRow<'_>]) -> Vec<String> {
    let stops = || findings.iter().filter(|finding| finding.counts() && finding.stops());
    let Some(strictest) = stops().map(|finding| finding.verdict).max() else { return Vec::new() };
    let (mut rules, mut denial_keys) = (BTreeSet::new(), BTreeSet::new());
    for finding in stops().filter(|finding| finding.verdict == strictest) {
        let rows = finding.rows.iter().filter_map(|row| rows.get(*row));
        let targets: Vec<String> = rows.filter_map(|row| target(row.effect()?)).collect();
        if !finding.rule.is_empty() {
            let layer = finding.layer.map_or("", |layer| layer.as_str());
            rules.insert(format!("rule {layer} {}", finding.rule));
        } else if targets.is_empty() {
            denial_keys.insert(format!("call {} {}", call.tool.name, call.input_text));
        }
        denial_keys.extend(targets);
    }
    // A call may have any number of targets, so they must not displace a rule.
    let rules: Vec<String> = rules.into_iter().take(DENIAL_KEYS_MAX).collect();
    denial_keys.into_iter().take(DENIAL_KEYS_MAX - rules.len()).chain(rules).collect()
}

/// The key for a query about castellan's own answers, whatever the verdict: the agent asks in advance about denials.
pub(crate) fn of_asking(facts: &Facts) -> Option<String> {
    const ASKING: &[&str] = &["check", "explain", "file check", "replay"];
    let asks = |command: &Command| {
        let word = command.subcommand.as_ref().or(command.operands.first());
        command.name.as_deref() == Some("castellan")
            && word.is_some_and(|word| ASKING.contains(&word.as_str()))
    };
    facts.commands.iter().any(asks).then(|| "asks castellan".to_owned())
}

/// Returns the kind and target of an effect, if known.
fn target(effect: &Effect) -> Option<String> {
    if effect.kind() == EffectKind::Opaque {
        return None;
    }
    let what = [effect.path(), effect.host(), effect.target()].into_iter().flatten().next()?;
    Some(format!("does {} {what}", effect.kind().as_str()))
}
