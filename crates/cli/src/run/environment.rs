//! The environment of an agent. An observer gets only listed variables: those of every program, and those of its own
//! provider. Every other agent gets all, without the variables that switch its hooks off.

use std::ffi::{OsStr, OsString};

use castellan_agents::{AgentId, observer_variables, off_variables};

use crate::variables::is_common;

/// Returns the variables of an agent that is not locked down.
pub(crate) fn guarded(
    agent: AgentId,
    all: impl IntoIterator<Item = (OsString, OsString)>,
) -> Vec<(OsString, OsString)> {
    let off = off_variables(agent);
    all.into_iter().filter(|(name, _)| !off.iter().any(|off| name == off)).collect()
}

/// Returns the variables of an observer. `more` are names of variables with the keys of its providers.
pub(crate) fn observer(
    agent: AgentId,
    all: impl IntoIterator<Item = (OsString, OsString)>,
    more: &[String],
) -> Vec<(OsString, OsString)> {
    let all: Vec<(OsString, OsString)> = all.into_iter().collect();
    let own = observer_variables(agent, |name| is_on(&all, name));
    let is_listed = |name: &OsStr| {
        let Some(name) = name.to_str() else { return false };
        is_common(name) || own.contains(&name) || more.iter().any(|more| more == name)
    };
    all.iter().filter(|(name, _)| is_listed(name)).cloned().collect()
}

/// Reports whether a variable is set, and not to a word for off.
pub(crate) fn is_on(all: &[(OsString, OsString)], name: &str) -> bool {
    let value = all.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_encoded_bytes());
    value.is_some_and(|value| ![b"".as_slice(), b"0", b"false"].contains(&value))
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    fn variables(all: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
        all.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect()
    }

    fn names(of: Vec<(OsString, OsString)>) -> Vec<String> {
        of.into_iter().map(|(name, _)| name.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn an_observer_gets_the_listed_variables_of_its_own_agent() {
        let check = |agent, all: &[(&str, &str)], expected: &[&str]| {
            assert_eq!(names(observer(agent, variables(all), &["MY_KEY".to_owned()])), expected, "{all:?}");
        };
        let foreign = [
            ("GITHUB_TOKEN", "x"),
            ("NODE_OPTIONS", "x"),
            ("LD_PRELOAD", "x"),
            ("CLAUDECODE", "1"),
            ("BASH_ENV", "x"),
            ("CLAUDE_CODE_SIMPLE", "1"),
            ("ANTHROPIC_CUSTOM_HEADERS", "x"),
            ("NODE_EXTRA_CA_CERTS_", "x"),
        ];
        check(AgentId::CLAUDE, &foreign, &[]);
        check(
            AgentId::CLAUDE,
            &[("PATH", "/b"), ("LC_ALL", "C"), ("MY_KEY", "x")],
            &["PATH", "LC_ALL", "MY_KEY"],
        );
        check(
            AgentId::CLAUDE,
            &[("ANTHROPIC_API_KEY", "x"), ("OPENAI_API_KEY", "x")],
            &["ANTHROPIC_API_KEY"],
        );
        check(AgentId::CODEX, &[("ANTHROPIC_API_KEY", "x"), ("OPENAI_API_KEY", "x")], &["OPENAI_API_KEY"]);
        let token = ("CLAUDE_CODE_OAUTH_TOKEN", "x");
        check(AgentId::CLAUDE, &[token], &["CLAUDE_CODE_OAUTH_TOKEN"]);
        check(AgentId::CLAUDE, &[token, ("ANTHROPIC_BASE_URL", "http://x")], &["ANTHROPIC_BASE_URL"]);
        let key = ("AWS_SECRET_ACCESS_KEY", "x");
        check(AgentId::CLAUDE, &[key], &[]);
        check(AgentId::CLAUDE, &[key, ("CLAUDE_CODE_USE_BEDROCK", "0")], &["CLAUDE_CODE_USE_BEDROCK"]);
        let both = ["AWS_SECRET_ACCESS_KEY", "CLAUDE_CODE_USE_BEDROCK"];
        check(AgentId::CLAUDE, &[key, ("CLAUDE_CODE_USE_BEDROCK", "1")], &both);
    }

    #[test]
    fn names_and_values_of_any_bytes_are_left_out_or_kept_whole() {
        let odd = OsString::from_vec(b"PATH\xff".to_vec());
        let value = OsString::from_vec(b"a\n=b\xff".to_vec());
        let all =
            vec![(odd, value.clone()), ("PATH\nX".into(), value.clone()), ("PATH".into(), value.clone())];
        assert_eq!(observer(AgentId::CLAUDE, all.clone(), &[]), [("PATH".into(), value)]);
        assert_eq!(guarded(AgentId::CLAUDE, all.clone()), all);
    }

    #[test]
    fn no_variable_switches_hooks_off() {
        let all = variables(&[("CLAUDE_CODE_SIMPLE", "1"), ("GITHUB_TOKEN", "x")]);
        assert_eq!(names(guarded(AgentId::CLAUDE, all)), ["GITHUB_TOKEN"]);
    }
}
