//! The sandbox of an agent: its own files and hosts, beside the settings in force.

use std::ffi::OsString;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;

use anyhow::Context;
use castellan_agents::{Place, home_files, hook_files, native_paths, needed_hosts, settings_variable};
use castellan_daemon::{ControlClient, Layout, OwnFiles, RunNote, SandboxInForce};
use castellan_policy::SandboxMode;

use super::environment;
use super::launch::Launch;
use super::program::Program;
use crate::directories::Directories;
use crate::sandbox::{self, Prepared, Request};

/// Prepares the sandbox of an agent, and records what the kernel enforces.
pub(crate) fn prepare(
    program: &Program,
    launch: &Launch,
    in_force: &SandboxInForce,
    layout: &Layout,
    client: &ControlClient,
) -> anyhow::Result<Prepared> {
    let agent = program.agent;
    let all = &launch.environment;
    let variable = |name: &str| {
        let found = all.iter().find(|(known, _)| known == name);
        found.and_then(|(_, value)| value.to_str()).map(str::to_owned)
    };
    // The agent finds its own directory by a variable, too.
    let mut kept = in_force.environment.clone();
    kept.push(settings_variable(agent).to_owned());
    let mut environment = environment::observer(agent, all.clone(), &kept);
    environment.extend(
        sandbox::tools(all)
            .filter(|(name, _)| !environment.iter().any(|(known, _)| known == name))
            .collect::<Vec<_>>(),
    );
    let command: Vec<OsString> =
        std::iter::once(program.path.clone().into()).chain(launch.arguments.iter().cloned()).collect();
    let own = own_files(program, launch)?;
    // The agent's directory is in the home: it has the hooks and the sessions.
    let in_force = &SandboxInForce { private_home: false, ..in_force.clone() };
    let prepared = sandbox::prepare(Request {
        in_force,
        layout,
        command: &command,
        environment,
        directory: launch.directory.as_deref(),
        agent: Some(&own),
        hosts: &needed_hosts(agent, variable),
        is_required: in_force.mode != SandboxMode::Prefer.as_str(),
        contained: None,
    })?;
    sandbox::warn_of_missing(&prepared.report)?;
    if prepared.report.is_enforced() {
        client.start_run(None, true)?;
    }
    client.note_run(RunNote::Sandbox, &sandbox::record(&prepared.report))?;
    Ok(prepared)
}

/// Returns the files that the agent writes, and those among them that change how it runs.
fn own_files(program: &Program, launch: &Launch) -> anyhow::Result<OwnFiles> {
    let (agent, dir) = (program.agent, &launch.agent_dir);
    // Inside, an agent cannot make its directory at its first start.
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
        .with_context(|| format!("the agent's directory `{}` cannot be made", dir.display()))?;
    let home = Directories::of_environment()?.home;
    let beside = home_files(agent).iter().map(|file| home.join(file));
    let users = hook_files(agent).iter().filter(|file| file.place == Place::User);
    let kept = users.map(|file| file.path).chain(native_paths(agent).iter().copied());
    Ok(OwnFiles {
        writable: std::iter::once(dir.clone()).chain(launch.directory.clone()).chain(beside).collect(),
        kept: kept.map(|path| dir.join(path)).collect(),
    })
}
