//! An agent's own settings as a second line of defence: collects their values, which `castellan_agents` renders. This
//! module must not know the format of any agent.
//!
//! `native/places.rs` collects the paths, `native/commands.rs` the commands, `native/files.rs` writes the files.

mod commands;
mod files;
mod places;

use std::path::Path;

use anyhow::{Context, bail, ensure};
use castellan_agents::{
    AgentId, HookCommand, NativeFile, NativeValues, has_auto_mode, has_native, inspect, native_arguments,
    native_files, needs_sandbox_tools, question_event,
};
use castellan_daemon::parse_plan;
use castellan_plans::Plan;
use castellan_wire::{Home, HomeArgument};

use crate::agent_files::is_executable;
use crate::directories::Directories;
use crate::launch;

pub(crate) use files::{How, Written, write};

/// The purpose of an agent's own settings.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted<'w> {
    pub(crate) agent: AgentId,
    /// castellan's home, absolute.
    pub(crate) home: &'w Path,
    /// The directory of the work.
    pub(crate) work_dir: &'w Path,
    /// A further directory that the agent may write.
    pub(crate) repo: Option<&'w Path>,
    /// A plan, whose commands run without a prompt of the agent.
    pub(crate) plan: Option<&'w Plan>,
    /// The agent starts in its mode in which a model judges calls.
    pub(crate) is_auto: bool,
    pub(crate) sandbox: Sandbox,
}

/// The choice of the agent's sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sandbox {
    /// If the machine has the tools for it.
    IfPossible,
    On,
    Off,
}

/// Settings that are ready to be written or given to an agent.
#[derive(Debug, Clone)]
pub(crate) struct Rendered {
    pub(crate) agent: AgentId,
    pub(crate) values: NativeValues,
    /// Entries of the plan that the settings cannot say.
    pub(crate) left_out: Vec<String>,
    /// The agent's sandbox is missing because the machine lacks these programs.
    pub(crate) missing_tools: Vec<&'static str>,
}

impl Rendered {
    /// Returns the files, with paths relative to `directory`, in which they will be.
    pub(crate) fn files(&self, directory: &str) -> Vec<NativeFile> {
        native_files(self.agent, &self.values, directory)
    }

    /// Returns the arguments with which the agent uses the files in `directory`, whatever a repository says. `mark`: letters
    /// and digits that no repository can guess.
    pub(crate) fn arguments(&self, directory: &str, mark: &str) -> Vec<String> {
        native_arguments(self.agent, &self.values, directory, mark)
    }

    /// Reports whether the arguments name a file that registers castellan's question hook.
    pub(crate) fn brings_hook(&self) -> bool {
        let (arguments, event) = (self.arguments("", ""), question_event(self.agent));
        let is_named = |file: &NativeFile| arguments.iter().any(|word| *word == format!("/{}", file.path));
        let has_hook = |file: &NativeFile| {
            inspect(self.agent, &file.text)
                .is_ok_and(|found| found.ours.iter().any(|ours| ours.event == event))
        };
        self.files("").iter().any(|file| is_named(file) && has_hook(file))
    }
}

/// Programs that Claude Code's sandbox needs on Linux.
const SANDBOX_TOOLS: &[&str] = &["bwrap", "socat"];

/// Collects the values of an agent's settings. An error leaves nothing half done: nothing is written here.
pub(crate) fn render(wanted: &Wanted<'_>) -> anyhow::Result<Rendered> {
    let agent = wanted.agent;
    ensure!(has_native(agent), "castellan writes no settings for {}: use `castellan install`", agent.title());
    ensure!(
        !wanted.is_auto || has_auto_mode(agent),
        "{} has no mode in which a model judges calls: leave out `--auto`",
        agent.title()
    );
    let user_home = Directories::of_environment()?.home;
    let work_dir = places::work_directory(wanted.work_dir, &user_home)?;
    let repo = wanted.repo.map(|repo| places::work_directory(repo, &user_home)).transpose()?;
    let mut left_out = Vec::new();
    let mut commands = wanted.plan.map(|plan| commands::of_plan(plan, &mut left_out)).unwrap_or_default();
    if wanted.is_auto {
        commands.extend(commands::quiet());
    }
    commands.sort();
    commands.dedup();
    let missing_tools = missing_tools(wanted);
    let hook = hook(wanted.home)?;
    let values = NativeValues {
        directories: repo.into_iter().filter(|repo| !Path::new(repo).starts_with(&work_dir)).collect(),
        work_dir,
        commands,
        stopped: commands::stopped(),
        hosts: wanted.plan.and_then(|plan| commands::hosts(plan, &mut left_out)),
        secrets: places::secrets(&user_home),
        kept: places::kept(wanted.home, &hook.program)?,
        hook,
        is_auto: wanted.is_auto,
        has_sandbox: wanted.sandbox != Sandbox::Off && missing_tools.is_empty(),
    };
    Ok(Rendered { agent, values, left_out, missing_tools })
}

/// Returns the programs that the agent's sandbox lacks. A person who asks for the sandbox gets it: the agent then refuses
/// to start without them.
fn missing_tools(wanted: &Wanted<'_>) -> Vec<&'static str> {
    if wanted.sandbox != Sandbox::IfPossible
        || !needs_sandbox_tools(wanted.agent)
        || !cfg!(target_os = "linux")
    {
        return Vec::new();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |tool: &str| std::env::split_paths(&path).any(|dir| is_executable(&dir.join(tool)));
    SANDBOX_TOOLS.iter().copied().filter(|tool| !is_there(tool)).collect()
}

/// Returns the hook as `castellan install` registers it for this user.
fn hook(home: &Path) -> anyhow::Result<HookCommand> {
    let program = launch::beside("castellan-hook")?;
    ensure!(
        is_executable(&program),
        "`{}` is missing or not executable: it belongs beside `castellan`",
        program.display()
    );
    let program = places::text(&program)?;
    let at = Home::new(home).with_context(|| format!("`{}` is not absolute", home.display()))?;
    places::text(home)?;
    Ok(HookCommand { program, home: HomeArgument::At(at).to_string() })
}

/// Parses the text of the plan in `file`. A plan that has expired is an error.
pub(crate) fn plan_of(text: &str, file: &Path) -> anyhow::Result<Plan> {
    let shown = file.display();
    let plan = parse_plan(text).map_err(anyhow::Error::msg).with_context(|| format!("`{shown}`"))?;
    let now_s = jiff::Timestamp::now().as_second();
    if plan.parts().expires_s.is_some_and(|expires_s| expires_s <= now_s) {
        bail!("`{shown}`: the plan has expired, so it permits nothing: change `expires`");
    }
    Ok(plan)
}
