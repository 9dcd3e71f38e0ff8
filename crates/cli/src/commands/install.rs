//! `castellan install`: creates the home, registers the hooks and starts the daemon, and reports the changes with the
//! undo command. A second run changes nothing. Tightening needs no permission. A person must confirm that hooks move
//! away from another castellan, or that a home in use gets a milder mode.

mod home;
mod machine_programs;
mod report;
mod system;

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use castellan_agents::{AgentId, HookCommand, can_keep_hooks_on, has_status_line, status_line_command};
use castellan_daemon::ControlClient;
use castellan_event::Mode;
use castellan_wire::{Home, HomeArgument};

use crate::agent_files::{AgentFiles, is_executable};
use crate::commands::{apply, service as commands_service};
use crate::directories::Directories;
use crate::exit::Exit;
use crate::global::Global;
use crate::guard::Guard;
use crate::launch;
use crate::output::{self, NOTE};
use crate::platform::{account_named, check_runs};
use crate::registration::Registration;
use crate::service::{Choice, Service};
use crate::starting::{self, Started};
use crate::{ask, in_force, launchers, presence, replace, sandbox, values};
use report::Report;

/// Options of `castellan install`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Agents to guard; default: those found on this machine
    #[arg(value_name = "AGENT", value_parser = values::agent())]
    agents: Vec<AgentId>,

    /// Register no agent
    #[arg(long, conflicts_with = "agents")]
    no_agents: bool,

    /// Mode of enforcement; `monitor` only observes
    #[arg(long, value_parser = values::mode())]
    mode: Option<Mode>,

    /// Register for all users of this machine, so that no repository can disable the hooks (needs root)
    #[arg(long)]
    managed: bool,

    /// Also write launchers `castellan-claude` and `castellan-codex`, whose hooks no repository can disable
    #[arg(long)]
    launchers: bool,

    /// Also make the daemon a service that starts at login (`castellan service install`)
    #[arg(long, conflicts_with = "managed")]
    service: bool,

    /// Also show castellan's state in Claude Code's status line, unless you have one
    #[arg(long, conflicts_with = "managed")]
    status_line: bool,

    /// Only print the changes
    #[arg(long)]
    dry_run: bool,

    /// Only print castellan's hooks, for settings that another program generates or that are read-only; with `--system` its files
    /// and steps
    #[arg(long, conflicts_with_all = ["dry_run", "no_agents", "mode", "launchers", "service", "status_line"])]
    print: bool,

    #[command(flatten)]
    system: system::SystemOptions,
}

/// The owner of the home that the hooks use.
struct Owner {
    home: PathBuf,
    /// The owner's directories, for a new home; `None` if the owner's first hook creates the home.
    directories: Option<Directories>,
    is_default: bool,
    /// The owner's user id.
    user: u32,
    /// True if this process runs as the owner. Otherwise the owner's first hook creates the home.
    is_self: bool,
}

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    if options.system.is_asked() {
        return system::run(global, options);
    }
    if options.managed && !options.print && !rustix::process::geteuid().is_root() {
        let own = launch::beside("castellan")?;
        bail!("to register for the whole machine needs root: run `sudo {} install --managed`", own.display());
    }
    if options.launchers {
        check_runs().context("the launchers start agents by `castellan run`")?;
    }
    let owner = owner(global, options)?;
    let agents = agents(options)?;
    let hook = hook(&owner, options)?;
    let registrations: Vec<Registration> =
        agents.iter().map(|agent| registration(*agent, options.managed)).collect::<anyhow::Result<_>>()?;
    if options.print {
        return print(&registrations, &hook);
    }
    if !options.dry_run {
        require_leave(&registrations, &hook)?;
    }
    let mut report = Report::new(options.dry_run);

    let made = if owner.is_self { make_home(&owner, options, &mut report)? } else { None };
    if !options.dry_run {
        remove_leftovers(made.as_ref(), &registrations)?;
    }
    for registration in &registrations {
        register(registration, &hook, options, &mut report);
    }
    if let Some(made) = &made {
        for agent in &agents {
            let plugin = Guard::of(*agent, &made.layout)?.plugin;
            plugin.into_iter().for_each(|plugin| report.plugin(*agent, plugin.file));
        }
    }
    if options.status_line {
        add_status_lines(&registrations, &owner, options.dry_run, &mut report)?;
    }
    if options.launchers {
        for agent in agents.iter().filter(|agent| can_keep_hooks_on(**agent)) {
            report.launcher(&launchers::path(*agent)?, launchers::write(global, *agent, options.dry_run));
        }
    }
    if let Some(fault) = sandbox::fault(&sandbox::launcher_place()?) {
        let required = made.as_ref().is_some_and(|made| in_force::requires_sandbox(&made.layout));
        report.sandbox(fault, required);
    }
    if options.service {
        report.service(install_service(&owner, options.dry_run));
    }
    let started = made.map_or(Ok(()), |made| start(&made, options, &mut report));
    // The changes are reported even if the daemon fails.
    let exit = report.write(global, options, &agents, &hook)?;
    started.map(|()| exit)
}

/// Prints the hooks of each agent. The file of each goes to standard error, so that standard output is the text of the file.
fn print(registrations: &[Registration], hook: &HookCommand) -> anyhow::Result<Exit> {
    if registrations.is_empty() {
        bail!("no agent was found: name one, as in `castellan install {} --print`", AgentId::DEFAULT.word());
    }
    for registration in registrations {
        let file = output::printable(&registration.file.display().to_string());
        writeln!(anstream::stderr(), "{NOTE} {} reads `{file}`", registration.agent.title())?;
        write!(anstream::stdout(), "{}", registration.alone(hook)?)?;
    }
    Ok(Exit::Done)
}

/// Returns the owner of the home; under sudo, the user who called sudo.
fn owner(global: &Global, options: &Options) -> anyhow::Result<Owner> {
    let caller = std::env::var("SUDO_USER").ok().filter(|name| options.managed && name != "root");
    let (home, is_default) = global.home()?;
    let Some(name) = caller else {
        let directories = Some(Directories::of_environment()?);
        let user = rustix::process::geteuid().as_raw();
        return Ok(Owner { home, directories, is_default, user, is_self: true });
    };
    let account = account_named(&name)
        .with_context(|| format!("`{name}` is no user of this machine: give `--home`"))?;
    let home = if is_default { Directories::of_account(&account).data.join("castellan") } else { home };
    Ok(Owner { home, directories: None, is_default, user: account.uid, is_self: false })
}

fn agents(options: &Options) -> anyhow::Result<Vec<AgentId>> {
    if options.no_agents {
        return Ok(Vec::new());
    }
    if !options.agents.is_empty() {
        return Ok(options.agents.clone());
    }
    if options.managed {
        let is_known = |agent: &AgentId| Registration::of_machine(*agent).is_some();
        return Ok(AgentId::ALL.into_iter().filter(is_known).collect());
    }
    let mut found = Vec::new();
    for agent in AgentId::ALL {
        if AgentFiles::of_environment(agent)?.is_present() {
            found.push(agent);
        }
    }
    Ok(found)
}

/// Returns the hook command for the program beside this one. A hook registered for the machine asks each user's own
/// daemon; a home given by `--home` applies only to its owner.
fn hook(owner: &Owner, options: &Options) -> anyhow::Result<HookCommand> {
    let program = launch::beside("castellan-hook")?;
    if !is_executable(&program) {
        bail!("`{}` is missing or not executable: it belongs beside `castellan`", program.display());
    }
    let text = |path: &Path| {
        let text = path.to_str().map(str::to_owned);
        text.with_context(|| {
            format!("`{}` is not UTF-8, which agents' settings need: move it", path.display())
        })
    };
    if options.managed {
        let (castellan, sandbox) = (launch::beside("castellan")?, sandbox::launcher_place()?);
        let mut programs: Vec<&Path> = vec![&program, &castellan];
        // Without it castellan works, but for sandboxes: the report says so.
        programs.extend(sandbox.exists().then_some(sandbox.as_path()));
        machine_programs::require(&programs)?;
    }
    let home =
        Home::new(&owner.home).with_context(|| format!("`{}` is not absolute", owner.home.display()))?;
    text(&owner.home)?;
    let reported = match (options.managed, owner.is_default) {
        (false, _) => HomeArgument::At(home),
        (true, false) => HomeArgument::Of(owner.user, home),
        (true, true) => HomeArgument::Own,
    };
    Ok(HookCommand { program: text(&program)?, home: reported.to_string() })
}

/// Describes the home of a hook.
fn shown(hook: &HookCommand) -> String {
    match HomeArgument::parse(hook.home.as_ref()) {
        Some(HomeArgument::Own) => "each user's own home".to_owned(),
        Some(HomeArgument::System) => "the system's daemons, and each other user's own home".to_owned(),
        Some(HomeArgument::Of(_, home)) => {
            format!("{}, and each other user's own home", home.dir().display())
        }
        Some(HomeArgument::At(_)) | None => hook.home.clone(),
    }
}

/// Requires a person if a new registration takes agents' calls from another castellan. Runs before any change.
fn require_leave(registrations: &[Registration], hook: &HookCommand) -> anyhow::Result<()> {
    // A file that cannot be read is not changed either; registration reports the error.
    let elsewhere = |registration: &&Registration| registration.leads_elsewhere(hook).unwrap_or(false);
    let losing: Vec<_> = registrations.iter().filter(elsewhere).collect();
    if losing.is_empty() {
        return Ok(());
    }
    let titles: Vec<&str> = losing.iter().map(|registration| registration.agent.title()).collect();
    let homes: Vec<Home> = losing.iter().flat_map(|registration| registration.homes()).collect();
    presence::require(&homes, &format!("install: hooks lead to {}", shown(hook)))
        .with_context(|| format!("the hooks of {} lead to another castellan now", titles.join(", ")))
}

fn make_home(owner: &Owner, options: &Options, report: &mut Report) -> anyhow::Result<Option<home::Made>> {
    let is_new = home::is_new(&owner.home) && !is_led_to(&owner.home)?;
    let user = owner.directories.as_ref().filter(|_| is_new);
    if options.dry_run {
        let layout = home::layout(&owner.home, user, owner.is_default)?;
        if !layout.config_file().exists() {
            report.home(layout.config());
        }
        return Ok(None);
    }
    // The mode of a home in use is changed by its daemon, which requires a person.
    let mode = options.mode.filter(|_| is_new).unwrap_or(Mode::Enforce);
    let made = home::make(&owner.home, user, owner.is_default, mode).context(
        "castellan needs a home that it can write: set `XDG_DATA_HOME`, `XDG_CONFIG_HOME` and `XDG_STATE_HOME`, or give \
         `--home`. `castellan install --print` writes nothing and prints the hooks",
    )?;
    if made.is_new {
        report.home(made.layout.config());
    } else {
        report.shipped(&made.files);
    }
    Ok(Some(made))
}

/// Removes temporary files of an earlier install that was killed.
fn remove_leftovers(made: Option<&home::Made>, registrations: &[Registration]) -> anyhow::Result<()> {
    if let Some(made) = made {
        made.layout.remove_leftovers();
    }
    let launchers = launch::beside("castellan")?;
    let files = registrations.iter().map(|registration| registration.file.as_path());
    for dir in files.chain([launchers.as_path()]).filter_map(Path::parent) {
        castellan_files::remove_leftovers(dir);
    }
    Ok(())
}

/// Registers one agent. A failure does not stop the registration of other agents.
fn register(registration: &Registration, hook: &HookCommand, options: &Options, report: &mut Report) {
    match registration.add(hook, options.dry_run) {
        Ok(edited) => {
            report.registered(registration, &edited);
            if let Some(why) = registration.ignored().unwrap_or_default() {
                report.ignored(registration, &why);
            }
        }
        Err(error) => report.failed(registration.agent, &error),
    }
}

/// Adds castellan's status line to the settings of the agents that have one.
fn add_status_lines(
    registrations: &[Registration],
    owner: &Owner,
    dry_run: bool,
    report: &mut Report,
) -> anyhow::Result<()> {
    let program = launch::beside("castellan")?.display().to_string();
    let home = owner.home.display().to_string();
    let command = status_line_command(&program, Some(home.as_str()).filter(|_| !owner.is_default));
    for registration in registrations.iter().filter(|registration| has_status_line(registration.agent)) {
        report.status_line(registration, registration.add_status_line(&command, dry_run));
    }
    Ok(())
}

/// Writes the files of a service. Returns those that changed.
fn install_service(owner: &Owner, dry_run: bool) -> anyhow::Result<Vec<PathBuf>> {
    let layout = home::layout(&owner.home, owner.directories.as_ref(), owner.is_default)?;
    let Choice { manager, .. } = commands_service::chosen(&layout, false)?;
    commands_service::write(&layout, &Service::under(manager, layout.home())?, dry_run)
}

fn registration(agent: AgentId, managed: bool) -> anyhow::Result<Registration> {
    if managed {
        let (title, word) = (agent.title(), agent.word());
        return Registration::of_machine(agent).with_context(|| {
            format!("{title} is registered for one user at a time: castellan install {word}, as that user")
        });
    }
    Ok(Registration::of_user(&AgentFiles::of_environment(agent)?))
}

/// Reports whether registered hooks already use this home. The first call of a hook creates a home with the defaults.
fn is_led_to(home: &Path) -> anyhow::Result<bool> {
    for agent in AgentId::ALL {
        let of_user = Registration::of_user(&AgentFiles::of_environment(agent)?);
        let mut all = std::iter::once(of_user).chain(Registration::of_machine(agent));
        if all.any(|registration| registration.homes().iter().any(|led_to| led_to.dir() == home)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Starts the daemon and applies updated shipped rules, which requires a person. Changes the mode of an existing home;
/// a milder mode requires a person.
fn start(made: &home::Made, options: &Options, report: &mut Report) -> anyhow::Result<()> {
    let home = made.layout.home();
    let started = starting::start(home)?;
    let client = ControlClient::with_person(home.clone(), ask::known);
    let mut status = client.status()?;
    match (started, Age::of(&status.version)) {
        (Started::Now, _) => report.started(),
        (Started::Before, Age::Same) => {}
        // Somebody must be there, and a try without a person would be recorded as an attack.
        (Started::Before, Age::Older) if presence::require_here().is_ok() => {
            let before = status.version;
            match replace::daemon(home, &client) {
                Ok(()) => report.upgraded(&before),
                Err(error) => report.not_upgraded(&before, &error),
            }
            status = client.status()?;
        }
        (Started::Before, Age::Older) => report.outdated(&status.version),
        (Started::Before, Age::Newer) => report.older(&status.version),
    }
    let is_outdated = status.version != env!("CARGO_PKG_VERSION");
    if status.policy_origin == "missing" {
        report.nothing_in_force(&status);
    } else if !is_outdated {
        report.rules(apply::apply_shipped(&made.layout, &client, &status));
    }
    if options.service
        && let Some(service) = Service::installed(home)?
    {
        commands_service::take_over(&made.layout, &service).context("the service")?;
    }
    if let Some(mode) = options.mode.filter(|mode| mode.as_str() != status.mode) {
        client.set_mode(mode.as_str()).context("the mode")?;
        report.mode(mode);
    }
    Ok(())
}

/// The age of a daemon's version, compared with this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Age {
    Older,
    Same,
    Newer,
}

impl Age {
    fn of(version: &str) -> Age {
        Age::between(version, env!("CARGO_PKG_VERSION"))
    }

    /// Compares two versions by their numbers. A version that is none of castellan's is an older one.
    fn between(theirs: &str, ours: &str) -> Age {
        let numbers =
            |text: &str| text.split('.').map(|number| number.parse::<u64>().ok()).collect::<Vec<_>>();
        if theirs == ours {
            Age::Same
        } else if numbers(theirs) > numbers(ours) {
            Age::Newer
        } else {
            Age::Older
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        for (theirs, expected) in [
            ("0.2.0", Age::Same),
            ("0.1.9", Age::Older),
            ("0.10.0", Age::Newer),
            ("0.2.1", Age::Newer),
            ("1.0.0", Age::Newer),
            ("", Age::Older),
            ("x", Age::Older),
        ] {
            assert_eq!(Age::between(theirs, "0.2.0"), expected, "{theirs}");
        }
    }
}
