//! What a call that was denied was about, so that it is recognised in other words: the rules that stopped it, and what they found
//! it do to what. It must not know what follows from several of them.

use std::collections::BTreeSet;

use castellan_event::{CallRow, Effect, EffectKind, Facts, Finding};

use crate::limits::PURPOSES_MAX;

/// The purposes of a denied call, each once: a rule by its layer and name; what else stopped it by its kind; the kind of each effect
/// that it was found on, with the path, host or target.
pub(crate) fn of_denied(findings: &[Finding], rows: &[CallRow<'_>]) -> Vec<String> {
    let mut purposes = BTreeSet::new();
    for finding in findings.iter().filter(|finding| finding.counts() && finding.stops()) {
        let layer = finding.layer.map_or("", |layer| layer.as_str());
        purposes.insert(if finding.rule.is_empty() {
            format!("code {}", finding.code.as_str())
        } else {
            format!("rule {layer} {}", finding.rule)
        });
        let rows = finding.rows.iter().filter_map(|row| rows.get(*row));
        purposes.extend(rows.filter_map(|row| target(row.effect()?)));
    }
    purposes.into_iter().take(PURPOSES_MAX).collect()
}

/// What is about castellan's own answers, whatever is answered: an agent that asks beforehand what would be denied.
pub(crate) fn of_asking(facts: &Facts) -> Option<String> {
    const ASKING: &[&str] = &["check", "explain", "replay"];
    let asks = |name: Option<&str>, operands: &[String]| {
        name == Some("castellan") && operands.first().is_some_and(|first| ASKING.contains(&first.as_str()))
    };
    let asks = facts.commands.iter().any(|command| asks(command.name.as_deref(), &command.operands));
    asks.then(|| "asks castellan".to_owned())
}

/// What an effect does to what, where that is known.
fn target(effect: &Effect) -> Option<String> {
    if effect.kind == EffectKind::Opaque {
        return None;
    }
    let what = [&effect.path, &effect.host, &effect.target, &effect.system];
    let what = what.into_iter().flatten().next()?;
    Some(format!("does {} {what}", effect.kind.as_str()))
}
