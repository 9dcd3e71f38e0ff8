//! Value parsers of the command line. Each list of choices comes from the type itself.

use std::time::{Duration, SystemTime};

use castellan_agents::AgentId;
use castellan_daemon::pack_names;
use castellan_event::{Mode, Verdict};
use castellan_policy::{Profile, RuleState};
use castellan_rules::{Priority, UnknownPriority};
use clap::builder::{PossibleValuesParser, TypedValueParser};

pub(crate) fn mode() -> impl TypedValueParser<Value = Mode> {
    PossibleValuesParser::new(Mode::ALL.map(Mode::as_str)).try_map(|word| word.parse::<Mode>())
}

pub(crate) fn verdict() -> impl TypedValueParser<Value = Verdict> {
    PossibleValuesParser::new(Verdict::ALL.map(Verdict::as_str)).try_map(|word| word.parse::<Verdict>())
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

pub(crate) fn rule_state() -> impl TypedValueParser<Value = RuleState> {
    PossibleValuesParser::new(RuleState::ALL.map(RuleState::as_str)).try_map(|word| word.parse::<RuleState>())
}

pub(crate) fn agent() -> impl TypedValueParser<Value = AgentId> {
    PossibleValuesParser::new(AgentId::ALL.map(AgentId::word)).try_map(|word| word.parse::<AgentId>())
}

pub(crate) fn priority(word: &str) -> Result<Priority, UnknownPriority> {
    word.parse()
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

/// Parses a time: RFC 3339, or a duration before now (`1h30m`).
pub(crate) fn time(text: &str) -> Result<SystemTime, String> {
    time_before(SystemTime::now(), text)
}

fn time_before(now: SystemTime, text: &str) -> Result<SystemTime, String> {
    if let Ok(time) = humantime::parse_rfc3339_weak(text) {
        return Ok(time);
    }
    let ago = humantime::parse_duration(text).ok().filter(|ago| *ago > Duration::ZERO);
    let time = ago.and_then(|ago| now.checked_sub(ago));
    time.ok_or_else(|| {
        format!("`{text}` is no time: write one as `2026-01-31T12:00:00Z`, or how long ago as `1h30m`")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_absolute_or_ago() {
        let unix = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        let check =
            |text: &str, expected: Result<SystemTime, &str>| match (time_before(unix(86400), text), expected)
            {
                (Ok(time), Ok(expected)) => assert_eq!(time, expected, "{text}"),
                (Err(error), Err(part)) => assert!(error.contains(part), "{error}"),
                (got, expected) => panic!("{text}: {got:?}, expected {expected:?}"),
            };
        check("1970-01-02T00:00:00Z", Ok(unix(86400)));
        check("1970-01-02 00:00:01", Ok(unix(86401)));
        check("2h", Ok(unix(79200)));
        check("1h30m", Ok(unix(81000)));
        check("0s", Err("is no time"));
        check("yesterday", Err("how long ago as `1h30m`"));
        check("", Err("is no time"));
    }
}
