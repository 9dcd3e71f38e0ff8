//! [`Fault`]: a fault in the protection of an agent, with its description and its remedy. It must not know how a fault is
//! found.

use std::path::PathBuf;

use castellan_agents::{
    AgentId, SwitchFamily, Trust, machine_family, question_event, switch_family, uninstall_own_plugin,
};
use castellan_wire::USER_FILES;

use crate::output::{printable, quoted};

/// The settings that register a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// The user's own.
    User,
    /// The machine's.
    Machine,
    /// The machine's, where the user is guarded by a daemon of the system.
    System,
    /// Those of castellan's own plugin.
    Plugin,
}

impl Place {
    /// Returns the command that registers castellan's own hook there, or that makes an end of a hook there.
    fn remedy(self, agent: AgentId) -> String {
        let word = agent.word();
        let install = format!("castellan install {word}");
        match (self, uninstall_own_plugin(agent)) {
            (Place::Machine, _) => format!("sudo castellan install --managed {word}"),
            (Place::System, _) => format!("sudo castellan install --system --user USER {word}"),
            (Place::Plugin, Some(uninstall)) => format!("{uninstall}, then {install}"),
            (Place::User, _) | (Place::Plugin, None) => install,
        }
    }
}

/// A fault in the protection of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// No settings register castellan's hook.
    NotRegistered(AgentId),
    /// Only a plugin registers castellan's hook, in this file, and the settings do not show that the agent runs it.
    PluginUnseen(AgentId, PathBuf),
    /// A settings file cannot be read or parsed, with the reason.
    Unreadable(PathBuf, String),
    /// The agent ignores a file that registers hooks, with the reason.
    Unread(PathBuf, String),
    /// No hook is registered for these events.
    Missing(AgentId, Vec<&'static str>),
    /// The hooks for these events differ from those that castellan writes.
    Changed(AgentId, Vec<String>),
    /// The hook's program is not executable.
    NoProgram(AgentId, Place, String),
    /// The hook's program is neither the hook of this castellan nor a copy of it.
    OtherProgram(AgentId, Place, String),
    /// The hook belongs to another home.
    OtherHome(AgentId, Place, String),
    /// The hook finds no home of this user and denies every call.
    NoHome,
    /// A setting in this file disables all hooks.
    SwitchedOff(AgentId, PathBuf, &'static str),
    /// The agent does not run the hooks for these events, because its user does not trust them as they are.
    Distrusted(AgentId, Trust, Vec<String>),
}

impl Fault {
    /// Reports whether this fault keeps the agent from asking castellan about its calls.
    pub(crate) fn is_gap(&self) -> bool {
        match self {
            Fault::NotRegistered(_)
            | Fault::PluginUnseen(..)
            | Fault::Unreadable(..)
            | Fault::Unread(..)
            | Fault::NoProgram(..)
            | Fault::OtherProgram(..)
            | Fault::OtherHome(..)
            | Fault::SwitchedOff(..) => true,
            Fault::Missing(agent, events) => events.contains(&question_event(*agent)),
            Fault::Changed(agent, events) | Fault::Distrusted(agent, _, events) => {
                events.iter().any(|event| event == question_event(*agent))
            }
            // Such a hook denies every call.
            Fault::NoHome => false,
        }
    }

    /// Returns a description for people.
    pub(crate) fn what(&self) -> String {
        match self {
            Fault::NotRegistered(_) => "no settings of it register castellan's hook".to_owned(),
            Fault::PluginUnseen(agent, file) => {
                let (title, file) = (agent.title(), file.display());
                format!("castellan cannot see if {title} runs the hooks of its plugin, `{file}`")
            }
            Fault::Unreadable(file, why) => format!("`{}`: {why}", file.display()),
            Fault::Unread(file, why) => format!("{} is not read: {why}", file.display()),
            Fault::Missing(_, events) => format!("no hook for {}", events.join(", ")),
            Fault::Changed(_, events) => format!("the hook for {} was changed", events.join(", ")),
            Fault::NoProgram(.., program) => format!("`{}` is missing or not executable", printable(program)),
            Fault::OtherProgram(.., program) => {
                format!("`{}` is not the hook of this castellan", printable(program))
            }
            // Whoever can write the settings has chosen this text, and a person may paste it.
            Fault::OtherHome(.., home) => {
                format!("its calls go to another home, {}", quoted(&printable(home)))
            }
            Fault::NoHome => {
                let files = USER_FILES.join("` and `");
                format!("its calls are denied: `{files}` name no home directory for this user")
            }
            Fault::SwitchedOff(_, file, switch) => {
                format!("`{}` has `{switch}`, which switches castellan's hooks off", file.display())
            }
            Fault::Distrusted(_, trust, events) => {
                let why = match trust {
                    Trust::Disabled => "castellan's hook is switched off in `/hooks`",
                    Trust::Changed => "castellan's hook is not the one that was trusted in `/hooks`",
                    Trust::Untrusted | Trust::Trusted => "castellan's hook is not trusted in `/hooks`",
                };
                format!("{why}, so not run: {}", events.join(", "))
            }
        }
    }

    /// Returns what to do. No text of the settings is in it, and no command asks or reads another home.
    pub(crate) fn remedy(&self) -> String {
        match self {
            Fault::PluginUnseen(agent, _) => Place::Plugin.remedy(*agent),
            Fault::NotRegistered(agent) | Fault::Missing(agent, _) | Fault::Changed(agent, _) => {
                Place::User.remedy(*agent)
            }
            Fault::NoProgram(agent, place, _)
            | Fault::OtherProgram(agent, place, _)
            | Fault::OtherHome(agent, place, _) => place.remedy(*agent),
            Fault::Unreadable(..) => "mend the file, then castellan install".to_owned(),
            Fault::Unread(..) => "mend the file".to_owned(),
            Fault::NoHome => "as root: `getent passwd USER >> /etc/castellan/passwd`".to_owned(),
            Fault::SwitchedOff(agent, ..) => match switch_family(*agent) {
                SwitchFamily::Feature => "set `hooks = true` in `[features]`".to_owned(),
                SwitchFamily::DisableAllHooks | SwitchFamily::HooksConfig => {
                    let is_managed = machine_family(*agent).is_some();
                    let or = if is_managed { ", or sudo castellan install --managed" } else { "" };
                    format!("remove it{or}")
                }
            },
            Fault::Distrusted(agent, Trust::Disabled, _) => {
                format!("start {}, open /hooks, switch it on", agent.word())
            }
            Fault::Distrusted(agent, ..) => format!("start {}, open /hooks, trust castellan's", agent.word()),
        }
    }

    /// Returns what to do where nobody is at the agent, as in CI.
    pub(crate) fn remedy_alone(&self) -> String {
        // The machine's hooks need no trust of a person.
        if let Fault::Distrusted(agent, ..) = self {
            return Place::Machine.remedy(*agent);
        }
        self.remedy()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_remedy_of_another_hook_is_that_of_its_settings() {
        let claude = AgentId::CLAUDE;
        for (place, expected) in [
            (Place::User, "castellan install claude"),
            (Place::Machine, "sudo castellan install --managed claude"),
            (Place::System, "sudo castellan install --system --user USER claude"),
            (Place::Plugin, "claude plugin uninstall castellan@castellan, then castellan install claude"),
        ] {
            for fault in [
                Fault::NoProgram(claude, place, "/x".to_owned()),
                Fault::OtherProgram(claude, place, "/x".to_owned()),
                Fault::OtherHome(claude, place, "/x".to_owned()),
            ] {
                assert_eq!(fault.remedy(), expected, "{fault:?}");
            }
        }
    }

    /// An agent's code can write the user's settings, and a person pastes what doctor says.
    #[test]
    fn no_text_of_the_settings_is_in_a_remedy_or_runs_when_pasted() {
        let hostile = "/x$(touch made)`id`; rm 'a'\u{1b}[2J";
        for place in [Place::User, Place::Machine, Place::System, Place::Plugin] {
            for fault in [
                Fault::NoProgram(AgentId::CODEX, place, hostile.to_owned()),
                Fault::OtherProgram(AgentId::CODEX, place, hostile.to_owned()),
                Fault::OtherHome(AgentId::CODEX, place, hostile.to_owned()),
            ] {
                assert!(!fault.remedy().contains("/x"), "{}", fault.remedy());
                assert!(!fault.what().contains('\u{1b}'), "{}", fault.what());
            }
            let other = Fault::OtherHome(AgentId::CODEX, place, "/x$(id) y".to_owned());
            assert_eq!(other.what(), "its calls go to another home, '/x$(id) y'");
        }
    }
}
