//! `castellan service`: the daemon as a service of the user.

mod status;

use std::path::PathBuf;

use anyhow::{Context, bail};
use castellan_daemon::{ControlClient, ControlError, HooksOnStop, Layout};
use castellan_wire::WireError;

use crate::commands::{restart, start, stop};
use crate::exit::Exit;
use crate::global::Global;
use crate::in_force::InForce;
use crate::output::{self, NOTE, WARNING};
use crate::removed_hooks::{self, Removed};
use crate::service::{self, Choice, Manager, Service};
use crate::{ask, launch, presence, starting};

pub(crate) use status::shown as shown_service;

/// Subcommands of `castellan service`.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Make the daemon a service that starts at login and again when it ends; run it again after an update
    Install(Install),
    /// Remove the service; the daemon runs on without one
    Uninstall(Uninstall),
    /// Start the service at login
    Enable,
    /// Do not start the service at login
    Disable,
    /// Start the service, and register hooks again that a stop has removed
    Start,
    /// Stop the service; the setting `service.hooks_on_stop` decides about the hooks
    Stop,
    /// Stop the daemon and start this version of it
    Restart,
    /// Show the service
    Status(status::Options),
    /// Keep the daemon running where there is no service manager
    #[command(hide = true)]
    Supervise,
}

/// Options of `castellan service install`.
#[derive(Debug, clap::Args)]
pub(crate) struct Install {
    /// Use castellan's own supervising process, also where systemd or launchd is
    #[arg(long)]
    background: bool,

    /// Only print the changes
    #[arg(long)]
    dry_run: bool,
}

/// Options of `castellan service uninstall`.
#[derive(Debug, clap::Args)]
pub(crate) struct Uninstall {
    /// Only print the changes
    #[arg(long)]
    dry_run: bool,
}

/// Times that castellan ends a daemon outside of the service, which a hook may start again meanwhile.
const TAKE_OVERS_MAX: usize = 3;

pub(crate) fn run(global: &Global, command: &Command) -> anyhow::Result<Exit> {
    match command {
        Command::Install(options) => install(global, options),
        Command::Uninstall(options) => uninstall(global, options),
        Command::Enable => enable(global),
        Command::Disable => disable(global),
        Command::Start => {
            required(&global.layout()?)?;
            start::run(global)
        }
        Command::Stop => stop(global),
        Command::Restart => {
            required(&global.layout()?)?;
            restart::run(global)
        }
        Command::Status(options) => status::run(global, options),
        Command::Supervise => service::supervise(global.layout()?.home()),
    }
}

/// Returns the installed service.
fn required(layout: &Layout) -> anyhow::Result<Service> {
    let installed = Service::installed(layout.home())?;
    installed.context("no service is installed for this home: run `castellan service install`")
}

fn install(global: &Global, options: &Install) -> anyhow::Result<Exit> {
    let layout = global.layout()?;
    if !layout.config_file().exists() {
        bail!("`{}` is no home of castellan yet: run `castellan install`", layout.home().dir().display());
    }
    let Choice { manager, notes } = chosen(&layout, options.background)?;
    for note in &notes {
        global.message(NOTE, note)?;
    }
    let service = Service::under(manager, layout.home())?;
    let is_outside = || Ok::<_, anyhow::Error>(global.client()?.is_running() && !service.state()?.is_active);
    if !options.dry_run && is_outside()? {
        // That daemon ends: without a person, nothing changes.
        presence::require_here()?;
    }
    let was_active = !options.dry_run && service.state().is_ok_and(|state| state.is_active);
    let written = write(&layout, &service, options.dry_run)?;
    for file in &written {
        let what = if options.dry_run { "would be written" } else { "written" };
        global.note(&format!("{what}: {}", file.display()))?;
    }
    if options.dry_run {
        return Ok(Exit::Done);
    }
    if layout.home().stopped_marker().exists() {
        global.message(NOTE, "castellan is stopped: `castellan service start` starts the service")?;
        return Ok(Exit::Done);
    }
    take_over(&layout, &service)?;
    if was_active && !written.is_empty() {
        let restart = "the service still runs by the files of before: `castellan service stop`, then `start`";
        global.message(NOTE, restart)?;
    }
    let name = service.name();
    global.note(&format!("{} keeps the daemon running ({name})", manager.title()))?;
    global.note(&format!("undo: {}", global.command(&["service", "uninstall"])))?;
    Ok(Exit::Done)
}

/// Writes the files of a service, and lets it start at login. Returns the files that changed.
pub(crate) fn write(layout: &Layout, service: &Service, dry_run: bool) -> anyhow::Result<Vec<PathBuf>> {
    let changed = service.write(layout, dry_run)?;
    if !dry_run && service.manager != Manager::Background {
        service.enable()?;
    }
    Ok(changed.iter().map(|name| service.place(name)).collect())
}

/// Returns the manager of the installed service, else the one of this machine.
pub(crate) fn chosen(layout: &Layout, is_background: bool) -> anyhow::Result<Choice> {
    let installed = Service::installed(layout.home())?.map(|service| service.manager);
    match (installed, is_background) {
        (Some(manager), true) if manager != Manager::Background => {
            bail!("a service of {} is installed: run `castellan service uninstall` first", manager.title())
        }
        (Some(manager), _) => Ok(Choice { manager, notes: Vec::new() }),
        (None, true) => Ok(Choice { manager: Manager::Background, notes: Vec::new() }),
        (None, false) => service::choose(),
    }
}

/// Starts the service. Ends a daemon outside of it first, which requires a person.
pub(crate) fn take_over(layout: &Layout, service: &Service) -> anyhow::Result<()> {
    let client = ControlClient::with_person(layout.home().clone(), ask::known);
    for _ in 0..TAKE_OVERS_MAX {
        if service.state()?.is_active {
            return Ok(());
        }
        let before = client.status().ok().map(|status| status.pid);
        if before.is_some() {
            end(layout, &client, before)?;
        }
        service.start()?;
        launch::await_start(layout.home())?;
    }
    match service.state()?.is_active {
        true => Ok(()),
        false => bail!(
            "the service does not run: a daemon outside of it serves this home again and again. Run `castellan \
             service status`, then `castellan service start`"
        ),
    }
}

/// Ends the daemon, which requires a person. Another may serve the home at once.
fn end(layout: &Layout, client: &ControlClient, pid: Option<u32>) -> anyhow::Result<()> {
    match client.restart() {
        // An ending daemon may close the connection before it answers.
        Ok(()) | Err(ControlError::Wire(WireError::Closed)) => launch::await_end(layout.home(), client, pid),
        Err(ControlError::NotRunning) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn uninstall(global: &Global, options: &Uninstall) -> anyhow::Result<Exit> {
    let layout = global.layout()?;
    let service = required(&layout)?;
    if !options.dry_run {
        presence::require(std::slice::from_ref(layout.home()), "service uninstall")?;
    }
    let removed = remove(&layout, &service, options.dry_run)?;
    for file in &removed {
        let what = if options.dry_run { "would be removed" } else { "removed" };
        global.note(&format!("{what}: {}", file.display()))?;
    }
    if !options.dry_run && !layout.home().stopped_marker().exists() {
        removed_hooks::restore(&layout)?;
        starting::start(layout.home())?;
        global.note("the daemon runs without a service; hooks start it again when it ends")?;
    }
    Ok(Exit::Done)
}

/// Stops a service and removes its files. No daemon of it runs afterwards.
pub(crate) fn remove(layout: &Layout, service: &Service, dry_run: bool) -> anyhow::Result<Vec<PathBuf>> {
    if !dry_run && let Err(error) = service.disable().and_then(|()| service.stop()) {
        // A manager that does not answer runs nothing. Its files go all the same.
        let text = format!("the service was not stopped by {}: {error:#}", service.manager.title());
        output::write_messages(&mut anstream::stderr(), WARNING, &[text])?;
    }
    let removed = service.remove(dry_run)?;
    // Its process ends with the daemon, now that the file is gone.
    if !dry_run && service.manager == Manager::Background {
        let client = ControlClient::with_person(layout.home().clone(), ask::known);
        if let Ok(status) = client.status() {
            end(layout, &client, Some(status.pid))?;
        }
    }
    Ok(removed)
}

fn enable(global: &Global) -> anyhow::Result<Exit> {
    required(&global.layout()?)?.enable()?;
    global.note("the service starts at login")?;
    Ok(Exit::Done)
}

fn disable(global: &Global) -> anyhow::Result<Exit> {
    required(&global.layout()?)?.disable()?;
    global.note(
        "the service does not start at login; the first call of an agent starts the daemon without it",
    )?;
    Ok(Exit::Done)
}

fn stop(global: &Global) -> anyhow::Result<Exit> {
    let layout = global.layout()?;
    required(&layout)?;
    // Settings that cannot be read remove nothing.
    let policy = InForce::read(&layout).map_or(HooksOnStop::Keep, |in_force| in_force.config.hooks_on_stop);
    let removed = match policy {
        HooksOnStop::Keep => Removed::default(),
        HooksOnStop::Remove => {
            presence::require(std::slice::from_ref(layout.home()), "service stop: hooks are removed")?;
            removed_hooks::remove(&layout)?
        }
    };
    let stopped = stop::stop(&layout);
    for title in &removed.titles {
        global
            .message(WARNING, &format!("{title} is not guarded until you run `castellan service start`"))?;
    }
    for failure in &removed.failures {
        global.message(WARNING, failure)?;
    }
    stopped?;
    global.note(match policy {
        HooksOnStop::Keep => {
            "stopped: every call of guarded agents is blocked until you run `castellan service start`"
        }
        HooksOnStop::Remove => "stopped; agents that run now keep their hooks, which block every call",
    })?;
    Ok(if removed.failures.is_empty() { Exit::Done } else { Exit::Incomplete })
}
