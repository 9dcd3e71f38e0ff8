//! [`Guard`]: the protection of one agent in the current directory, for `castellan status` and `castellan doctor`. This
//! module must not know how the result is shown.

mod fault;
mod plugin;

use std::path::{Path, PathBuf};

use anyhow::bail;
use castellan_agents::{
    AgentId, Foreign, GivenHooks, HookCommand, Inspection, SETTINGS_BYTES_MAX, TRUST_FILE, Trust, Version,
    hook_trust, inspect, needs_trust, question_event, tested_versions,
};
use castellan_daemon::{AgentStart, HookSettings, Layout, own_paths};
use castellan_files::read_text;

use crate::agent_files::{AgentFiles, is_executable};
use crate::edit::SettingsFile;
use crate::output::message;
use crate::registration::{Registration, home_beside, hooks};

pub(crate) use fault::{Fault, Place};
pub(crate) use plugin::OfPlugin;

/// The protection of one agent in the current directory.
#[derive(Debug)]
pub(crate) struct Guard {
    pub(crate) agent: AgentId,
    /// True if hooks are registered for this user.
    pub(crate) for_user: bool,
    /// True if hooks are registered for the whole machine, so that no repository can disable them.
    pub(crate) for_machine: bool,
    /// True if those hooks ask this home, so that it judges each call whatever is wrong with the user's hooks.
    pub(crate) is_by_machine: bool,
    /// The question hook in the user's settings.
    pub(crate) user_hook: Option<HookCommand>,
    /// The hooks in the machine's settings.
    pub(crate) machine_hooks: Vec<HookCommand>,
    /// The hooks of castellan's own plugin.
    pub(crate) plugin: Option<OfPlugin>,
    /// The number of hooks in the user's settings, and the settings file.
    pub(crate) user_hooks: (usize, PathBuf),
    /// All faults; first those that keep the agent from asking castellan.
    pub(crate) faults: Vec<Fault>,
    /// Hooks of other programs for the same calls.
    pub(crate) foreign: Vec<(PathBuf, Foreign)>,
    /// The version of the agent's command, if it is newer than every measured one.
    pub(crate) untested: Option<Version>,
}

impl Guard {
    /// Inspects the protection of an agent that this user would start in the current directory.
    pub(crate) fn of(agent: AgentId, layout: &Layout) -> anyhow::Result<Guard> {
        let files = AgentFiles::of_environment(agent)?;
        let cwd = std::env::current_dir().unwrap_or_default();
        // No agent runs here: assume an agent started without arguments.
        let dir = Some(files.dir.clone());
        let start = AgentStart { dir, cwd, arguments: Some(Vec::new()), off_variable: None };
        let settings = HookSettings::of(agent, start, &own_paths(layout));
        let mut faults = Vec::new();
        let place = match layout.home().system_user() {
            Some(_) => Place::System,
            None => Place::Machine,
        };
        let for_machine = machine(agent, place, &settings, &mut faults);
        let of_machine = Registration::of_machine(agent).filter(|_| for_machine);
        let machine_hooks = of_machine.map(|registration| registration.hooks()).unwrap_or_default();
        faults.extend(machine_hooks.iter().filter_map(|hook| elsewhere(agent, place, hook, layout)));
        let is_by_machine = for_machine && !faults.iter().any(Fault::is_gap);
        let found = match inspected(agent, &files.settings) {
            Ok(found) => found,
            Err(why) => {
                faults.push(Fault::Unreadable(files.settings.clone(), why));
                Inspection::default()
            }
        };
        let for_user = !found.ours.is_empty();
        if for_user {
            faults.extend(of_user(&files, &found, &settings, layout));
        }
        let plugin = OfPlugin::of(&settings);
        faults.extend(plugin.iter().flat_map(|plugin| plugin.faults(agent, &settings, layout)));
        let is_by_plugin = plugin.as_ref().is_some_and(|plugin| plugin.is_on);
        if (for_user || files.is_present()) && !for_machine {
            let off = settings.switched_off().into_iter();
            faults.extend(off.map(|(file, switch)| Fault::SwitchedOff(agent, file.to_owned(), switch)));
        }
        if !for_user && !for_machine && !is_by_plugin && files.is_present() && faults.is_empty() {
            let unseen = plugin.as_ref().map(|plugin| Fault::PluginUnseen(agent, plugin.file.clone()));
            faults.push(unseen.unwrap_or(Fault::NotRegistered(agent)));
        }
        faults.sort_by_key(|fault| !fault.is_gap());
        let user_hook = found.ours.iter().find(|ours| ours.event == question_event(agent));
        Ok(Guard {
            agent,
            for_user,
            for_machine,
            is_by_machine,
            machine_hooks,
            plugin,
            user_hook: user_hook.and_then(|ours| HookCommand::of_argv(&ours.argv)),
            user_hooks: (found.ours.len(), files.settings.clone()),
            faults,
            foreign: settings.foreign(),
            untested: files.version().filter(|version| *version > tested_versions(agent).1),
        })
    }

    /// Describes a version of the agent that is newer than every measured one.
    pub(crate) fn newer(&self) -> Option<String> {
        let version = self.untested?;
        let last = tested_versions(self.agent).1;
        Some(format!("version {version} is newer than {last}, the last that castellan was tested with"))
    }

    /// Returns the fault that keeps the agent from asking castellan about its calls; `None` if the agent asks.
    pub(crate) fn gap(&self) -> Option<&Fault> {
        self.faults.first().filter(|fault| fault.is_gap() && !self.is_by_machine)
    }

    /// Fails if a hook of the agent is another program, or asks another home: then somebody else judges its calls. An earlier
    /// program of this user may have written such a hook.
    pub(crate) fn require_own(&self) -> anyhow::Result<()> {
        let is_other = |fault: &&Fault| matches!(fault, Fault::OtherProgram(..) | Fault::OtherHome(..));
        match self.faults.iter().find(is_other) {
            None => Ok(()),
            Some(fault) => bail!("{}: {}: {}", self.agent.title(), fault.what(), fault.remedy()),
        }
    }

    /// Fails unless the agent asks castellan about its calls when it starts with these options. `keeps_hooks_on`: castellan adds an
    /// option that beats each switch in settings.
    pub(crate) fn require_asks(&self, given: &[GivenHooks], keeps_hooks_on: bool) -> anyhow::Result<()> {
        if self.is_by_machine {
            return Ok(());
        }
        let is_overruled = |fault: &Fault| match fault {
            Fault::SwitchedOff(..) => keeps_hooks_on,
            Fault::Distrusted(..) => given.contains(&GivenHooks::TrustsAll),
            Fault::NotRegistered(_)
            | Fault::PluginUnseen(..)
            | Fault::Unreadable(..)
            | Fault::Unread(..)
            | Fault::Missing(..)
            | Fault::Changed(..)
            | Fault::NoProgram(..)
            | Fault::OtherProgram(..)
            | Fault::OtherHome(..)
            | Fault::NoHome => false,
        };
        let gap = self.faults.iter().find(|fault| fault.is_gap() && !is_overruled(fault)).cloned();
        // An agent that castellan does not find has no fault.
        let is_registered = self.for_user || self.for_machine || self.by_plugin();
        let gap = gap.or_else(|| (!is_registered).then_some(Fault::NotRegistered(self.agent)));
        match gap {
            None => Ok(()),
            Some(gap) => {
                bail!("{} does not ask castellan: {}: {}", self.agent.title(), gap.what(), gap.remedy())
            }
        }
    }

    /// Reports whether the agent is on this machine, or castellan is registered for it.
    pub(crate) fn is_installed(&self) -> bool {
        // An agent without a registration has a fault if it is installed.
        self.for_user || self.for_machine || self.by_plugin() || !self.faults.is_empty()
    }

    /// Reports whether the agent asks castellan about its calls.
    pub(crate) fn is_guarded(&self) -> bool {
        (self.for_user || self.for_machine || self.by_plugin()) && self.gap().is_none()
    }

    /// Reports whether a plugin of castellan's registers hooks, and the settings show that it is on.
    pub(crate) fn by_plugin(&self) -> bool {
        self.plugin.as_ref().is_some_and(|plugin| plugin.is_on)
    }

    /// Reports whether a repository's own settings can disable the hooks.
    pub(crate) fn can_be_switched_off(&self) -> bool {
        (self.for_user || self.by_plugin()) && !self.for_machine
    }
}

/// Reports whether the machine's settings register castellan's hooks so that nobody can disable them.
fn machine(agent: AgentId, place: Place, settings: &HookSettings, faults: &mut Vec<Fault>) -> bool {
    let Some(registration) = Registration::of_machine(agent) else { return false };
    let file = registration.file.clone();
    match registration.is_present() {
        Ok(false) => return false,
        Ok(true) => {}
        Err(error) => {
            faults.push(Fault::Unreadable(file, message(&error)));
            return false;
        }
    }
    if let Some(why) = registration.ignored().unwrap_or_default() {
        faults.push(Fault::Unread(file, why));
        return false;
    }
    let mut programs = settings.managed_programs().peekable();
    if programs.peek().is_none() {
        let why = "it has no hook of castellan's that holds against other settings".to_owned();
        faults.push(Fault::Unread(file, why));
        return false;
    }
    let of_programs: Vec<Fault> =
        programs.filter_map(|program| of_program(agent, place, program, settings)).collect();
    let is_whole = of_programs.is_empty();
    faults.extend(of_programs);
    is_whole
}

/// Returns a fault if the program of a hook is missing, or is not castellan's own.
fn of_program(agent: AgentId, place: Place, program: &str, settings: &HookSettings) -> Option<Fault> {
    if !is_executable(Path::new(program)) {
        return Some(Fault::NoProgram(agent, place, program.to_owned()));
    }
    (!settings.is_own_program(program)).then(|| Fault::OtherProgram(agent, place, program.to_owned()))
}

fn inspected(agent: AgentId, file: &Path) -> Result<Inspection, String> {
    let read = SettingsFile::read(file).map_err(|error| message(&error))?;
    inspect(agent, read.text()).map_err(|problem| problem.to_string())
}

/// Returns the faults of the hooks in the user's settings.
fn of_user(files: &AgentFiles, found: &Inspection, settings: &HookSettings, layout: &Layout) -> Vec<Fault> {
    let agent = files.agent;
    let mut faults = Vec::new();
    if !found.missing.is_empty() {
        faults.push(Fault::Missing(agent, found.missing.clone()));
    }
    let changed: Vec<String> =
        found.ours.iter().filter(|ours| !ours.intact).map(|ours| ours.event.clone()).collect();
    if !changed.is_empty() {
        faults.push(Fault::Changed(agent, changed));
    }
    for hook in hooks(found) {
        faults.extend(elsewhere(agent, Place::User, &hook, layout));
        faults.extend(of_program(agent, Place::User, &hook.program, settings));
    }
    faults.extend(found.ignored.clone().map(|why| Fault::Unread(files.settings.clone(), why)));
    if needs_trust(agent) {
        faults.extend(distrusted(files));
    }
    faults
}

/// Returns a fault if the hook asks the daemon of another home, or no daemon.
fn elsewhere(agent: AgentId, place: Place, hook: &HookCommand, layout: &Layout) -> Option<Fault> {
    match home_beside(hook, layout.home()) {
        None => Some(Fault::NoHome),
        Some(home) if home == *layout.home() => None,
        Some(home) => Some(Fault::OtherHome(agent, place, home.dir().display().to_string())),
    }
}

/// Returns the faults of an agent that runs only hooks trusted by its user.
fn distrusted(files: &AgentFiles) -> Vec<Fault> {
    let read = |file: &Path| read_text(file, SETTINGS_BYTES_MAX as u64);
    let config_file = files.dir.join(TRUST_FILE);
    let (config, mut faults) = match read(&config_file) {
        Ok(config) => (config, Vec::new()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Default::default(),
        Err(error) => (String::new(), vec![Fault::Unreadable(config_file, error.to_string())]),
    };
    let hooks = read(&files.settings).unwrap_or_default();
    let trusts = hook_trust(&config, &files.known_as().to_string_lossy(), &hooks);
    for kind in [Trust::Disabled, Trust::Changed, Trust::Untrusted] {
        let events: Vec<String> =
            trusts.iter().filter(|(_, trust)| *trust == kind).map(|(event, _)| event.clone()).collect();
        if !events.is_empty() {
            faults.push(Fault::Distrusted(files.agent, kind, events));
        }
    }
    faults
}
