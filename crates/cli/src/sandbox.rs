//! Sandboxes: prepares one for a command by the settings in force, starts it with the proxy of its network, and shows what
//! the kernel enforces. It must not know how the kernel does so.

mod capabilities;
mod egress;
mod forward;
mod network_record;
mod program;
mod report;
mod variables;

use std::ffi::OsString;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use anyhow::Context;
use castellan_daemon::{Layout, OwnFiles, SandboxInForce, SandboxRequest, find_workspace, sandbox_policy};
use castellan_proxy::Proxy;
use castellan_sandbox::{
    Capabilities, LaunchError, Network, Outcome, Plan, Policy, Ports, Report, Running, Streams, plan, survey,
};

use castellan_wire::Home;
use rustix::process::Pid;

use self::egress::Egress;
use self::network_record::NetworkRecord;
use crate::directories::Directories;
use crate::signals;

pub(crate) use self::capabilities::fresh as probe;
pub(crate) use self::program::{fault, launcher, place as launcher_place};
use self::report::missing;
pub(crate) use self::report::{lines, record, warn_of_missing};
pub(crate) use self::variables::{tools, variables};

/// A command and its sandbox.
#[derive(Debug)]
pub(crate) struct Request<'r> {
    pub(crate) in_force: &'r SandboxInForce,
    pub(crate) layout: &'r Layout,
    /// The program and its arguments.
    pub(crate) command: &'r [OsString],
    /// The variables that it gets, before those of the sandbox.
    pub(crate) environment: Vec<(OsString, OsString)>,
    /// `None`: that of this process.
    pub(crate) directory: Option<&'r Path>,
    /// An agent's own files.
    pub(crate) agent: Option<&'r OwnFiles>,
    /// Hosts that the agent itself needs.
    pub(crate) hosts: &'r [String],
    /// Nothing runs unless the kernel enforces every part.
    pub(crate) is_required: bool,
    /// The command of a ticket.
    pub(crate) contained: Option<Contained<'r>>,
}

/// What the daemon knows of a contained command. The environment of the agent may say something else.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Contained<'r> {
    /// The only directory that the command may write.
    pub(crate) workspace: &'r Path,
    pub(crate) user_home: &'r Path,
    pub(crate) other_homes: &'r [PathBuf],
    pub(crate) tools: &'r [PathBuf],
    pub(crate) capabilities: &'r Capabilities,
}

/// The kernel does not enforce every part of a sandbox, and the settings require all.
#[derive(Debug, thiserror::Error)]
#[error(
    "this machine does not enforce the whole sandbox, so nothing was started:\n{}\n`sandbox.mode = \"prefer\"` starts \
     it all the same; `castellan sandbox probe` shows what is missing",
    lines(&missing(.0)).join("\n")
)]
pub(crate) struct NotEnforced(Report);

/// A sandbox that is ready to start.
#[derive(Debug)]
pub(crate) struct Prepared {
    plan: Plan,
    pub(crate) report: Report,
    /// What the command cannot do in its workspace.
    pub(crate) closed: Closed,
    launcher: PathBuf,
    home: Home,
    network: Arc<NetworkRecord>,
    egress: Option<Egress>,
    /// Ports of the loopback that the sandbox has, too. Their listeners come after those of the proxy.
    forwarded: Vec<u16>,
    /// Proxies that listen outside, where the sandbox has no network of its own.
    proxies: Vec<Proxy>,
}

/// Paths of a workspace that the command cannot use, relative to the workspace. Only those that exist.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Closed {
    /// It cannot read them.
    pub(crate) hidden: Vec<String>,
    /// It cannot write them.
    pub(crate) kept: Vec<String>,
}

impl Closed {
    fn of(policy: &Policy, workspace: &Path) -> Closed {
        let inside = |paths: &[PathBuf]| {
            let there = paths.iter().filter(|path| path.symlink_metadata().is_ok());
            there.filter_map(|path| Some(path.strip_prefix(workspace).ok()?.display().to_string())).collect()
        };
        Closed { hidden: inside(&policy.files.secret), kept: inside(&policy.files.protected) }
    }
}

/// A running sandbox. Dropped, it ends.
#[derive(Debug)]
pub(crate) struct Started {
    running: Running,
    _proxies: Vec<Proxy>,
    _egress: Option<Egress>,
}

/// Prepares the sandbox of a command. Nothing runs yet.
pub(crate) fn prepare(request: Request<'_>) -> anyhow::Result<Prepared> {
    let launcher = launcher()?;
    let capabilities = match request.contained {
        Some(contained) => contained.capabilities.clone(),
        None => capabilities::known(&launcher, request.layout.home()),
    };
    let directory = match request.directory {
        Some(directory) => directory.to_owned(),
        None => {
            std::env::current_dir().context("the working directory has vanished: start in another one")?
        }
    };
    let (workspace, user_home) = match request.contained {
        Some(contained) => (contained.workspace.to_owned(), contained.user_home.to_owned()),
        None => {
            let found = find_workspace(&directory).context("the workspace cannot be found")?;
            (PathBuf::from(found), Directories::of_environment()?.home)
        }
    };
    let all: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    let wanted = SandboxRequest {
        in_force: request.in_force,
        user_home: &user_home,
        other_homes: request.contained.map_or(&[], |contained| contained.other_homes),
        layout: request.layout,
        workspace: &workspace,
        directory: &directory,
        agent: request.agent,
        is_unread: request.contained.is_some(),
        tools: request.contained.map_or(&[], |contained| contained.tools),
        has_terminal: rustix::termios::isatty(rustix::stdio::stdin()),
    };
    let mut policy = sandbox_policy(&wanted, request.environment, &all)?;
    let closed = Closed::of(&policy, &workspace);
    let is_filtered = matches!(policy.network, Network::Hosts { .. });
    let egress = is_filtered
        .then(|| {
            let dir = request.layout.home().run().join("sandbox");
            Egress::new(request.in_force, request.hosts, |name| std::env::var_os(name), &dir)
        })
        .transpose()?;
    if let Some(egress) = &egress {
        let variables = egress.variables(Ports::INSIDE.http)?;
        policy.environment.retain(|(name, _)| !variables.iter().any(|(new, _)| new == name));
        policy.environment.extend(variables);
    }
    let network = Arc::new(NetworkRecord::new(request.layout.home()));
    let mut proxies = Vec::new();
    let (mut made, mut report) = planned(&policy, &capabilities, request.command)?;
    if let Some(egress) = egress.as_ref().filter(|_| made.listeners.is_empty()) {
        let ports = listen_outside(egress, &network, &mut proxies)?;
        policy.network = Network::Hosts { outside: Some(ports) };
        (made, report) = planned(&policy, &capabilities, request.command)?;
    }
    let mut forwarded = Vec::new();
    if is_filtered && !made.listeners.is_empty() {
        let hosts = request.in_force.hosts.iter().chain(request.hosts);
        forwarded = hosts.filter_map(|host| forward::port(host)).collect();
        forwarded.sort_unstable();
        forwarded.dedup();
        made.listeners.extend(&forwarded);
    }
    if request.is_required && !report.is_enforced() {
        return Err(NotEnforced(report).into());
    }
    let home = request.layout.home().clone();
    Ok(Prepared { plan: made, report, closed, launcher, home, network, egress, forwarded, proxies })
}

fn planned(
    policy: &Policy,
    capabilities: &Capabilities,
    command: &[OsString],
) -> Result<(Plan, Report), LaunchError> {
    let survey = survey(policy, capabilities)?;
    Ok(plan(policy, capabilities, &survey, command)?)
}

/// Starts proxies on the loopback of this machine.
fn listen_outside(
    egress: &Egress,
    record: &Arc<NetworkRecord>,
    proxies: &mut Vec<Proxy>,
) -> anyhow::Result<Ports> {
    let mut port = || -> anyhow::Result<u16> {
        let listener =
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no port for the sandbox's proxy")?;
        let port = listener.local_addr()?.port();
        proxies.push(proxy(listener, egress, record)?);
        Ok(port)
    };
    Ok(Ports { http: port()?, socks: port()? })
}

fn proxy(listener: TcpListener, egress: &Egress, record: &Arc<NetworkRecord>) -> anyhow::Result<Proxy> {
    let record = Arc::clone(record);
    let started = Proxy::start(listener, egress.settings.clone(), move |event| record.see(&event));
    started.context("the sandbox's proxy does not start")
}

/// Runs a command to the end of everything in its sandbox. Signals to this process go to the command. `report`: descriptor 3
/// of the command.
pub(crate) fn run(prepared: Prepared, report: Option<OwnedFd>) -> anyhow::Result<Outcome> {
    // Before the start: afterwards a signal could end this process alone.
    let caught = signals::catch().context("signals cannot be caught")?;
    let started = prepared.start(None, report)?;
    caught.forward(started.launcher()?).context("signals cannot be forwarded")?;
    Ok(started.wait()?)
}

impl Started {
    /// The process that passes signals on to the command.
    pub(crate) fn launcher(&self) -> anyhow::Result<Pid> {
        i32::try_from(self.running.id()).ok().and_then(Pid::from_raw).context("the sandbox has no process id")
    }

    /// Waits for the end of everything in the sandbox.
    pub(crate) fn wait(self) -> Result<Outcome, LaunchError> {
        self.running.wait()
    }
}

impl Prepared {
    /// Starts the command. `stdout`: `None` is that of this process.
    pub(crate) fn start(mut self, stdout: Option<Stdio>, report: Option<OwnedFd>) -> anyhow::Result<Started> {
        let mut streams = Streams::inherit().context("no descriptor for the sandbox")?;
        if let Some(stdout) = stdout {
            streams.stdout = stdout;
        }
        streams.report = report;
        let started = castellan_sandbox::start(&self.plan, &self.launcher, streams);
        let mut running = started.inspect_err(|_| capabilities::forget(&self.home))?;
        let mut listeners: Vec<OwnedFd> = running.listeners.drain(..).collect();
        let of_forwards = listeners.split_off(listeners.len().saturating_sub(self.forwarded.len()));
        for (listener, port) in of_forwards.into_iter().zip(self.forwarded) {
            forward::start(listener.into(), port)?;
        }
        for (listener, egress) in listeners.into_iter().zip(self.egress.iter().cycle()) {
            self.proxies.push(proxy(listener.into(), egress, &self.network)?);
        }
        Ok(Started { running, _proxies: self.proxies, _egress: self.egress })
    }
}
