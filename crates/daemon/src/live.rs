//! The running agents and the files that configure their hooks, as far as castellan watches them. Must not know what
//! follows from a change.

mod agent_start;
mod processes;
mod sessions;
mod settings;
mod sources;
mod tail;
mod watched;

pub use agent_start::AgentStart;
pub(crate) use processes::{asks_by_its_own_hook, unguarded};
#[cfg(test)]
pub(crate) use sessions::tests::Runs;
pub(crate) use sessions::{Changed, Live, LiveSessions, agent_directory};
pub use settings::HookSettings;
pub(crate) use settings::{Own, SettingsChange};
pub(crate) use tail::Tail;
pub(crate) use watched::is_absent;
