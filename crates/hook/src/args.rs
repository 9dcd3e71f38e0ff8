//! The hook's three arguments. They come from the agent's settings, as `castellan install` wrote them.

use std::ffi::OsString;

use castellan_wire::{Home, HomeArgument};

use crate::failure::Failure;
use crate::limits::ARGUMENT_BYTES_MAX;

/// `--agent NAME --event EVENT --home HOME`, in any order, each exactly once. [`HomeArgument`] describes HOME.
#[derive(Debug)]
pub(crate) struct Args {
    pub(crate) agent: String,
    pub(crate) event: String,
    pub(crate) home: Home,
}

/// Invalid arguments, with the valid part of them: enough to deny in the agent's own way.
#[derive(Debug)]
pub(crate) struct Unusable {
    pub(crate) agent: String,
    pub(crate) event: String,
    pub(crate) failure: Failure,
}

impl Args {
    /// Parses the arguments of the user with this id.
    pub(crate) fn parse(arguments: impl Iterator<Item = OsString>, user: u32) -> Result<Args, Unusable> {
        let mut agent = None;
        let mut event = None;
        let mut home = None;
        let mut sound = true;
        let mut arguments = arguments;
        while let Some(flag) = arguments.next() {
            let slot = match flag.to_str() {
                Some("--agent") => &mut agent,
                Some("--event") => &mut event,
                Some("--home") => &mut home,
                _ => {
                    sound = false;
                    continue;
                }
            };
            let value = arguments.next().filter(|value| value.len() <= ARGUMENT_BYTES_MAX);
            sound &= value.is_some() && slot.is_none();
            *slot = value;
        }
        let word =
            |value: Option<OsString>| value.and_then(|value| value.into_string().ok()).unwrap_or_default();
        let (agent, event) = (word(agent), word(event));
        let told = home.and_then(|value| HomeArgument::parse(&value));
        let told = told.filter(|_| sound && !agent.is_empty() && !event.is_empty());
        let home = told.ok_or(Failure::Arguments).and_then(|told| told.of(user).ok_or(Failure::User));
        match home {
            Ok(home) => Ok(Args { agent, event, home }),
            Err(failure) => Err(Unusable { agent, event, failure }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An id that no file of users contains.
    const NOBODY: u32 = u32::MAX - 1;

    fn parse(arguments: &str) -> Result<Args, Unusable> {
        Args::parse(arguments.split(' ').map(OsString::from), NOBODY)
    }

    fn check(arguments: &str, expected: Result<(&str, &str, &str), (&str, &str)>) {
        let got = parse(arguments);
        let got = got.as_ref().map(|a| (a.agent.as_str(), a.event.as_str(), a.home.dir().to_str().unwrap()));
        assert_eq!(got.map_err(|u| (u.agent.as_str(), u.event.as_str())), expected, "{arguments}");
    }

    #[test]
    fn a_user_without_a_home_is_told_as_such() {
        let failure = |home: &str| {
            parse(&format!("--agent claude --event E --home {home}")).err().map(|unusable| unusable.failure)
        };
        assert_eq!(failure("own"), Some(Failure::User));
        assert_eq!(failure("7:/h"), Some(Failure::User));
        assert_eq!(failure(&format!("{NOBODY}:/h")), None);
        assert_eq!(failure("owned"), Some(Failure::Arguments));
    }

    #[test]
    fn each_argument_is_needed_once() {
        check("--agent claude --event PreToolUse --home /h", Ok(("claude", "PreToolUse", "/h")));
        check("--home /h --event E --agent codex", Ok(("codex", "E", "/h")));
        check("--agent claude --event E --home relative", Err(("claude", "E")));
        check("--agent claude --event E", Err(("claude", "E")));
        check("--agent claude --event E --home /h --agent codex", Err(("codex", "E")));
        check("--agent claude --event E --home /h extra", Err(("claude", "E")));
        check("--agent claude --event E --home", Err(("claude", "E")));
        check("--event E --home /h", Err(("", "E")));
        let long = "h".repeat(ARGUMENT_BYTES_MAX);
        check(&format!("--agent claude --event E --home /{long}"), Err(("claude", "E")));
    }
}
