//! Proposes a condition for each effect and command of a call, changing effects first. This module must not know which
//! proposal is wanted.

use castellan_event::{Command, Effect, EffectKind, Scope, is_invisible};
use castellan_trial::{HOME, Judged, WORKSPACE};

/// Maximum number of proposals that a person would read.
const PROPOSALS_MAX: usize = 9;

/// A condition that matches the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Proposal {
    /// Text in the rule language.
    pub(super) condition: String,
    /// The part of the call that it matches.
    pub(super) of: String,
}

/// Returns distinct proposals: for changing effects, then for commands, then for reading effects.
pub(super) fn proposals(judged: &Judged) -> Vec<Proposal> {
    let effects = || judged.facts.effects.iter().filter(|effect| !effect.is_opaque());
    let changes = effects().filter(|effect| !looks(effect.kind())).filter_map(of_effect);
    let commands = judged.facts.commands.iter().filter_map(of_command);
    let looks = effects().filter(|effect| looks(effect.kind())).filter_map(of_effect);
    let mut all: Vec<Proposal> = Vec::new();
    for proposal in changes.chain(commands).chain(looks) {
        if !all.iter().any(|known| known.condition == proposal.condition) && all.len() < PROPOSALS_MAX {
            all.push(proposal);
        }
    }
    all
}

/// Describes the call in two words: its first command, or else its tool.
pub(super) fn about(judged: &Judged) -> String {
    let command = judged.facts.commands.iter().find_map(|command| Some((command.name.as_ref()?, command)));
    match command {
        Some((name, Command { subcommand: Some(subcommand), .. })) => format!("{name} {subcommand}"),
        Some((name, _)) => name.clone(),
        None => judged.call.tool.name.clone(),
    }
}

fn looks(kind: EffectKind) -> bool {
    matches!(kind, EffectKind::Read | EffectKind::Execute | EffectKind::Query)
}

fn of_effect(effect: &Effect) -> Option<Proposal> {
    let mut parts = vec![format!("fx.kind = {}", effect.kind())];
    let mut of = effect.kind().to_string();
    let mut add = |field: &str, operator: &str, value: &str| {
        let value = constant(value)?;
        parts.push(format!("{field} {operator} {value}"));
        of = format!("{of} {value}");
        Some(())
    };
    if let Some(system) = effect.system() {
        add("fx.system", "=", system)?;
        if let Some(verb) = effect.verb() {
            add("fx.verb", "=", verb)?;
        }
    } else if let Some(host) = effect.host() {
        add("fx.host", "=", host)?;
    } else if let Some(scope) = effect.scope().filter(|scope| effect.place() != Some(*scope)) {
        add("fx.scope", "=", scope.as_str())?;
    } else if let Some(path) = effect.path() {
        // The location of a workspace or home differs between machines.
        let below = [WORKSPACE, HOME].iter().find_map(|place| path.strip_prefix(place));
        match below {
            Some("") => add("fx.scope", "=", effect.scope().unwrap_or(Scope::Workspace).as_str())?,
            Some(rest) if rest.starts_with('/') => add("fx.path", "endswith", rest)?,
            _ => add("fx.path", "=", path)?,
        }
    } else if let Some(verb) = effect.verb() {
        add("fx.verb", "=", verb)?;
    }
    Some(Proposal { condition: parts.join(" and "), of })
}

fn of_command(command: &Command) -> Option<Proposal> {
    let name = command.name.as_deref()?;
    let mut parts = vec![format!("cmd.name = {}", constant(name)?)];
    let mut of = name.to_owned();
    if let Some(subcommand) = &command.subcommand {
        parts.push(format!("cmd.subcommand = {}", constant(subcommand)?));
        of = format!("{of} {subcommand}");
    }
    let flags: Vec<String> = command.flags.iter().filter_map(|flag| constant(flag)).collect();
    if !flags.is_empty() {
        parts.push(format!("cmd.flags intersects ({})", flags.join(", ")));
        of = format!("{of} {}", command.flags.join(" "));
    }
    Some(Proposal { condition: parts.join(" and "), of })
}

/// Returns a constant of the rule language; `None` if it cannot contain the text.
fn constant(text: &str) -> Option<String> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || "/_.-".contains(c);
    if text.is_empty() || text.chars().any(|c| is_invisible(c) || c == '"' || c == '\\') {
        return None;
    }
    Some(if text.chars().all(is_word) { text.to_owned() } else { format!("\"{text}\"") })
}
