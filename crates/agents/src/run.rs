//! The start of an agent by `castellan run`, as data and pure functions: the arguments and variables of an observer, the
//! arguments that an observer accepts, the streams and transcripts that report usage. This module must not know the
//! environment, and starts nothing.
//!
//! An observer accepts only the listed arguments. An unknown option is rejected, so a new version of an agent cannot
//! bring an option that loosens an observer.

mod config;

use std::ffi::{OsStr, OsString};

use crate::agent::AgentId;
use crate::command_line::{hooks_on, named_values};
use crate::family::HookCommand;
use crate::limits::SESSION_ID_BYTES_MAX;
use crate::settings::{SettingsProblem, register};
use crate::spec::{Observer, TranscriptPlace, Variables};

pub use config::{ConfigProblem, ObserverFiles, observer_config, observer_files};

/// The reason why an observer does not start with these arguments.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ObserverProblem {
    /// Nobody has measured a lockdown of the agent.
    #[error("castellan has no lockdown of {0} for the profile observer: use Claude Code or Codex")]
    Unsupported(&'static str),
    /// The option is not in the list of accepted ones.
    #[error("an observer does not accept `{0}`: leave it out")]
    Option(String),
    /// The value of an option looks like another option.
    #[error("the value of `{0}` begins with `-`: write it as `{0}=VALUE`")]
    Value(String),
    /// The agent would start with a person, or do something other than answer a prompt.
    #[error("an observer runs without a person: {0}")]
    Attended(String),
    /// castellan's hooks cannot be written as settings.
    #[error(transparent)]
    Settings(#[from] SettingsProblem),
}

/// Reports whether castellan can lock the agent down.
pub fn can_observe(agent: AgentId) -> bool {
    agent.spec().run.observer.is_some()
}

/// Returns the words after the program's name that keep the agent's hooks on, before the user's.
pub fn guarded_arguments(agent: AgentId) -> &'static [&'static str] {
    hooks_on(agent)
}

/// Returns the arguments of an observer: its lockdown around the user's own, which must all be in the list of accepted
/// ones. `hook` is castellan's hook.
pub fn observer_arguments<A: AsRef<OsStr>>(
    agent: AgentId,
    user: &[A],
    hook: &HookCommand,
) -> Result<Vec<OsString>, ObserverProblem> {
    let observer = agent.spec().run.observer.as_ref();
    let observer = observer.ok_or(ObserverProblem::Unsupported(agent.title()))?;
    let words: Vec<&OsStr> = user.iter().map(AsRef::as_ref).collect();
    let is_command = |word: &&OsStr| word.to_str().is_some_and(|word| observer.commands.contains(&word));
    let (command, rest) = match words.split_first() {
        _ if observer.commands.is_empty() => (None, words.as_slice()),
        Some((first, rest)) if is_command(first) => (Some(*first), rest),
        _ => return Err(no_command(observer)),
    };
    check(agent, observer, rest)?;
    let mut all: Vec<OsString> = observer.arguments.iter().map(Into::into).collect();
    if let Some(option) = observer.settings_option {
        all.extend([option.into(), settings_with_hooks(agent, hook)?.into()]);
    }
    if let Some(command) = command {
        all.push(command.to_owned());
        all.extend(observer.after_command.iter().map(Into::into));
    }
    all.extend(rest.iter().map(|word| (*word).to_owned()));
    Ok(all)
}

fn no_command(observer: &Observer) -> ObserverProblem {
    let commands = observer.commands.first().copied().unwrap_or_default();
    ObserverProblem::Attended(format!("its first word must be `{commands}`"))
}

/// Returns a settings text with castellan's hooks, switched on.
fn settings_with_hooks(agent: AgentId, hook: &HookCommand) -> Result<String, ObserverProblem> {
    let on = hooks_on(agent).get(1).copied().unwrap_or("{}");
    let text = register(agent, on, hook)?;
    // On one line, as people read it in a list of processes.
    let value: serde_json::Value = serde_json::from_str(&text).map_err(|error| SettingsProblem::NotJson {
        line: error.line(),
        column: error.column(),
        message: error.to_string(),
    })?;
    Ok(value.to_string())
}

/// Checks each word: an accepted option, its value, or part of the prompt. Words after `--` are the prompt.
fn check(agent: AgentId, observer: &Observer, words: &[&OsStr]) -> Result<(), ObserverProblem> {
    let mut is_unattended = !observer.commands.is_empty();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let bytes = word.as_encoded_bytes();
        if bytes == b"--" {
            break;
        }
        if !bytes.starts_with(b"-") {
            continue;
        }
        let shown = word.to_string_lossy().into_owned();
        let (name, value) = match shown.split_once('=') {
            Some((name, _)) => (name, true),
            None => (shown.as_str(), false),
        };
        if observer.flags.contains(&name) && !value {
            is_unattended |= agent.spec().headless.is_said_by(bytes);
        } else if observer.valued.contains(&name) && name.starts_with("--") && value {
        } else if observer.valued.contains(&name) && !value {
            let next = words.next().map(|next| next.as_encoded_bytes());
            if next.is_none_or(|next| next.starts_with(b"-")) {
                return Err(ObserverProblem::Value(name.to_owned()));
            }
        } else {
            return Err(ObserverProblem::Option(name.to_owned()));
        }
    }
    if is_unattended { Ok(()) } else { Err(ObserverProblem::Attended("add `-p`".to_owned())) }
}

/// Returns the names of the variables that an observer gets, besides those of every program. `is_on` reports whether a
/// variable is set to something other than off.
pub fn observer_variables(agent: AgentId, is_on: impl Fn(&str) -> bool) -> Vec<&'static str> {
    let groups = agent.spec().run.observer.as_ref().map(|observer| observer.variables).unwrap_or_default();
    let is_given = |group: &&Variables| {
        group.with.is_none_or(&is_on) && group.without.is_none_or(|without| !is_on(without))
    };
    groups.iter().filter(is_given).flat_map(|group| group.names).copied().collect()
}

/// Returns the hosts that an agent in a sandbox needs, as `HOST` or `HOST:PORT`. `variable` reads the agent's environment.
pub fn needed_hosts(agent: AgentId, variable: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let needs = &agent.spec().run.sandbox;
    let given = needs.address_variables.iter().filter_map(|name| host_of(&variable(name)?));
    needs.hosts.iter().map(|host| (*host).to_owned()).chain(given).collect()
}

/// Returns the files in the home, outside of the agent's directory, that the agent writes.
pub fn home_files(agent: AgentId) -> &'static [&'static str] {
    agent.spec().run.sandbox.home_files
}

/// Returns host and port of a URL of HTTP.
fn host_of(url: &str) -> Option<String> {
    let (port, rest) = match url.split_once("://")? {
        ("https", rest) => (443, rest),
        ("http", rest) => (80, rest),
        _ => return None,
    };
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    let has_port = host.rsplit_once(':').is_some_and(|(_, port)| !port.is_empty() && !port.contains(']'));
    Some(if has_port { host.to_owned() } else { format!("{host}:{port}") })
}

/// Reports whether an observer has a home of its own.
pub fn has_own_home(agent: AgentId, is_on: impl Fn(&str) -> bool) -> bool {
    agent.spec().run.observer.as_ref().is_some_and(|observer| observer.home_with.is_none_or(is_on))
}

/// Reports whether the agent writes JSON lines to its standard output.
pub fn is_stream<A: AsRef<[u8]>>(agent: AgentId, arguments: &[A]) -> bool {
    let streams = agent.spec().run.streams;
    let values = named_values(agent, arguments);
    streams.iter().any(|stream| match stream {
        [name] => values.iter().any(|(given, _)| given == name),
        [name, value] => values.iter().any(|(given, with)| given == name && with == value),
        _ => false,
    })
}

/// Returns the words without which no line of a stream is about a call, usage or a session.
pub fn stream_words(agent: AgentId) -> &'static [&'static str] {
    agent.spec().run.stream_words
}

/// Returns the option with which the agent keeps no transcript, if it is given.
pub fn unsaved<A: AsRef<[u8]>>(agent: AgentId, arguments: &[A]) -> Option<&'static str> {
    let values = named_values(agent, arguments);
    agent.spec().run.unsaved.iter().copied().find(|name| values.iter().any(|(given, _)| given == name))
}

/// Returns the places of the agent's transcripts; none if castellan does not read the agent's usage.
pub fn transcript_places(agent: AgentId) -> &'static [TranscriptPlace] {
    agent.spec().run.transcripts
}

/// The session of a start without a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GivenSession {
    /// The arguments name it.
    Named(String),
    /// A new one: this option gives it an id.
    New(&'static str),
    /// The arguments do not show it.
    Unknown,
}

/// Returns the session that a start with these arguments uses.
pub fn given_session<A: AsRef<[u8]>>(agent: AgentId, arguments: &[A]) -> GivenSession {
    let run = &agent.spec().run;
    let Some(option) = run.new_session else { return GivenSession::Unknown };
    let values = named_values(agent, arguments);
    let named: Vec<&String> =
        values.iter().filter(|(name, _)| name == option).map(|(_, value)| value).collect();
    let selects = values.iter().any(|(name, _)| run.selects_session.contains(&name.as_str()));
    match (named.as_slice(), selects) {
        ([name], _) if is_session_id(name) => GivenSession::Named((*name).clone()),
        ([], false) => GivenSession::New(option),
        _ => GivenSession::Unknown,
    }
}

/// Reports whether a text can be part of a path: letters, digits and `-`.
pub fn is_session_id(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= SESSION_ID_BYTES_MAX
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

#[cfg(test)]
mod tests;
