//! Value parsers of the command line. Each list of choices comes from the type itself.

use castellan_agents::{AgentId, has_native};
use castellan_daemon::pack_names;
use castellan_event::{Mode, Verdict};
use castellan_policy::{EngineKind, Profile, RuleState, SandboxFiles, SandboxNetwork};
use castellan_rules::{Priority, UnknownPriority};
use clap::builder::{PossibleValuesParser, TypedValueParser};

pub(crate) fn mode() -> impl TypedValueParser<Value = Mode> {
    PossibleValuesParser::new(Mode::ALL.map(Mode::as_str)).try_map(|word| word.parse::<Mode>())
}

pub(crate) fn verdict() -> impl TypedValueParser<Value = Verdict> {
    PossibleValuesParser::new(Verdict::ALL.map(Verdict::as_str))
        .try_map(|word| word.to_lowercase().parse::<Verdict>())
}

pub(crate) fn profile() -> impl TypedValueParser<Value = Profile> {
    PossibleValuesParser::new(Profile::ALL.map(Profile::as_str)).try_map(|word| word.parse::<Profile>())
}

/// Parses the name of a shipped pack.
pub(crate) fn pack() -> impl TypedValueParser<Value = &'static str> {
    PossibleValuesParser::new(pack_names()).try_map(|word| {
        let found = pack_names().find(|pack| *pack == word);
        found.ok_or_else(|| format!("`{word}` is no shipped pack"))
    })
}

pub(crate) fn engine() -> impl TypedValueParser<Value = EngineKind> {
    PossibleValuesParser::new(EngineKind::WORDS).try_map(|word| word.parse::<EngineKind>())
}

pub(crate) fn rule_state() -> impl TypedValueParser<Value = RuleState> {
    PossibleValuesParser::new(RuleState::ALL.map(RuleState::as_str)).try_map(|word| word.parse::<RuleState>())
}

pub(crate) fn agent() -> impl TypedValueParser<Value = AgentId> {
    PossibleValuesParser::new(AgentId::ALL.map(AgentId::word))
        .try_map(|word| word.to_lowercase().parse::<AgentId>())
}

/// Parses an agent for which castellan renders settings.
pub(crate) fn agent_with_settings() -> impl TypedValueParser<Value = AgentId> {
    let agents = AgentId::ALL.into_iter().filter(|agent| has_native(*agent)).map(AgentId::word);
    PossibleValuesParser::new(agents).try_map(|word| word.to_lowercase().parse::<AgentId>())
}

pub(crate) fn priority(word: &str) -> Result<Priority, UnknownPriority> {
    word.parse()
}

/// Parses the files that a sandbox may write.
pub(crate) fn sandbox_files() -> impl TypedValueParser<Value = SandboxFiles> {
    PossibleValuesParser::new(SandboxFiles::WORDS).try_map(|word| word.parse::<SandboxFiles>())
}

/// Parses the network of a sandbox.
pub(crate) fn sandbox_network() -> impl TypedValueParser<Value = SandboxNetwork> {
    PossibleValuesParser::new(SandboxNetwork::WORDS).try_map(|word| word.parse::<SandboxNetwork>())
}

/// Parses one of a few words, each with its value.
pub(crate) fn one_of<T: Copy + Send + Sync + 'static>(
    words: &'static [(&'static str, T)],
) -> impl TypedValueParser<Value = T> {
    let names = words.iter().map(|(name, _)| *name);
    PossibleValuesParser::new(names).try_map(|word| {
        let found = words.iter().find(|(name, _)| *name == word);
        found.map(|(_, value)| *value).ok_or_else(|| format!("`{word}` is not one of the choices"))
    })
}
