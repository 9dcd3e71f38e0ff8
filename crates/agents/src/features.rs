//! [`features`]: the answers of castellan that an agent carries out. This module must not know calls.

use castellan_event::Verdict;

use crate::agent::{AgentId, directory_name, hook_events, question_event};
use crate::asks::can_ask;
use crate::reply::{Message, encode};
use crate::spec::{Spec, Version};

/// The answers of castellan that an agent carries out, as measured on the real client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Features {
    /// The agent holds an ask in some permission mode; otherwise castellan denies.
    pub asks: bool,
    /// An allow spares the user the agent's own prompt.
    pub allows: bool,
    /// The agent runs a call with a hook's changed input.
    pub rewrites: bool,
    /// A hook that cannot run stops the call.
    pub fails_closed: bool,
    /// castellan registers for every user of a machine.
    pub machine_wide: bool,
}

/// Returns the features of an agent.
pub fn features(agent: AgentId) -> Features {
    let allow = Message::new(Verdict::Allow, String::new());
    let (question, events) = (question_event(agent), hook_events(agent));
    Features {
        asks: can_ask(agent, question),
        allows: events.iter().any(|event| !encode(agent, event.name, &allow).stdout.is_empty()),
        rewrites: agent.spec().rewrites_input,
        fails_closed: events.iter().any(|event| event.name == question && event.blocks_on_failure),
        machine_wide: agent.spec().settings.machine.is_some(),
    }
}

/// Returns the first and the last measured version.
pub fn tested_versions(agent: AgentId) -> (Version, Version) {
    agent.spec().tested
}

/// Returns the agent's word, names, events, variables and settings paths. No other crate may contain them as literals.
pub fn agent_literals(agent: AgentId) -> Vec<&'static str> {
    let Spec { word, name, settings, events, hook_files, off_variables, variable_files, .. } = agent.spec();
    let fixed = [*word, *name, directory_name(agent), settings.file, settings.variable];
    let paths =
        hook_files.iter().chain(*variable_files).map(|file| file.path).filter(|path| path.contains('/'));
    let events = events.iter().map(|event| event.name);
    fixed.into_iter().chain(paths).chain(events).chain(off_variables.iter().copied()).collect()
}
