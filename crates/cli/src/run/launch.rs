//! [`Launch`]: the arguments, environment and directory of an agent's start: guarded, or locked down as an observer. It starts
//! nothing.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use castellan_agents::{
    HookCommand, ObserverProblem, can_keep_hooks_on, can_observe, guarded_arguments, has_own_home,
    keeps_hooks_on, observer_arguments, settings_variable,
};
use castellan_daemon::Layout;

use super::environment;
use super::observer::Place;
use super::own_settings::OwnSettings;
use super::program::Program;
use super::rejected::Rejected;
use crate::agent_files::AgentFiles;
use crate::launch;

/// A start of an agent.
#[derive(Debug)]
pub(crate) struct Launch {
    pub(crate) arguments: Vec<OsString>,
    pub(crate) environment: Vec<(OsString, OsString)>,
    /// The working directory; `None`: that of this process.
    pub(crate) directory: Option<PathBuf>,
    /// The agent's own directory.
    pub(crate) agent_dir: PathBuf,
}

/// Returns the hook that an observer's agent calls.
pub(crate) fn hook(layout: &Layout) -> anyhow::Result<HookCommand> {
    let text = |path: &Path| {
        path.to_str().map(str::to_owned).with_context(|| format!("`{}` is not UTF-8", path.display()))
    };
    Ok(HookCommand { program: text(&launch::beside("castellan-hook")?)?, home: text(layout.home().dir())? })
}

/// Returns the start of an agent whose hooks no repository switches off.
pub(crate) fn guarded(
    program: &Program,
    user: &[OsString],
    settings: Option<&OwnSettings>,
) -> anyhow::Result<Launch> {
    let agent = program.agent;
    let own: Vec<OsString> = match settings {
        Some(settings) => settings.arguments.iter().map(Into::into).collect(),
        None => guarded_arguments(agent).iter().map(Into::into).collect(),
    };
    let arguments: Vec<OsString> = own.into_iter().chain(user.iter().cloned()).collect();
    let is_rendered = |file: &str| settings.is_some_and(|settings| settings.has(file));
    if can_keep_hooks_on(agent) && !keeps_hooks_on(agent, &program.words(&arguments), is_rendered) {
        let shown = guarded_arguments(agent).join(" ");
        bail!(Rejected(format!(
            "an argument could switch castellan's hooks off: leave out what replaces `{shown}`"
        )));
    }
    Ok(Launch {
        arguments,
        environment: environment::guarded(agent, std::env::vars_os()),
        directory: None,
        agent_dir: AgentFiles::of_environment(agent)?.dir,
    })
}

/// Returns the start of an agent without tools, in a private place, with closed settings.
pub(crate) fn locked_down(
    program: &Program,
    user: &[OsString],
    layout: &Layout,
    hook: &HookCommand,
) -> anyhow::Result<Launch> {
    let agent = program.agent;
    if !can_observe(agent) {
        bail!(ObserverProblem::Unsupported(agent.title()));
    }
    let arguments = observer_arguments(agent, user, hook)?;
    let place = Place::make(&layout.observers(), agent)?;
    let users = AgentFiles::of_environment(agent)?.dir;
    let all: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    let has_own_home = has_own_home(agent, |name| environment::is_on(&all, name));
    let keys = if has_own_home { place.write_home(agent, &users, hook)? } else { Vec::new() };
    let mut environment = environment::observer(agent, all, &keys);
    if has_own_home {
        let variable = settings_variable(agent);
        environment.retain(|(name, _)| name != variable);
        environment.push((variable.into(), place.home.clone().into()));
    }
    let agent_dir = if has_own_home { place.home } else { users };
    Ok(Launch { arguments, environment, directory: Some(place.work), agent_dir })
}
