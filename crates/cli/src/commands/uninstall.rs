//! `castellan uninstall`: undoes an install, which requires a person. Settings files get their original bytes back.
//! Configuration, rules, state and log remain, except with `--purge`, which can leave some of them. A dry run only prints the changes and needs no person.

mod system;

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use castellan_agents::AgentId;
use castellan_daemon::Layout;
use castellan_wire::Home;

use crate::agent_files::AgentFiles;
use crate::commands::{service, stop};
use crate::edit::{Edited, backups};
use crate::exit::Exit;
use crate::global::Global;
use crate::guard::Guard;
use crate::output::{self, Cell, ERROR};
use crate::registration::Registration;
use crate::service::Service;
use crate::{launch, launchers, presence, values};

/// Options of `castellan uninstall`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Agents that are no longer guarded; default: all, and the daemon stops
    #[arg(value_name = "AGENT", value_parser = values::agent())]
    agents: Vec<AgentId>,

    /// Remove the registration for all users of this machine (needs root)
    #[arg(long)]
    managed: bool,

    /// Remove the launchers
    #[arg(long)]
    launchers: bool,

    /// Also delete configuration, rules, state and log, which stay without this option
    #[arg(long, conflicts_with_all = ["agents", "managed", "launchers"])]
    purge: bool,

    /// With `--purge`: keep configuration and rules
    #[arg(long, requires = "purge", conflicts_with = "system")]
    keep_rules: bool,

    /// With `--purge`: keep the log
    #[arg(long, requires = "purge", conflicts_with = "system")]
    keep_log: bool,

    /// Only print the changes
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    system: system::SystemOptions,
}

impl Options {
    fn is_whole(&self) -> bool {
        self.agents.is_empty() && !self.managed && !self.launchers
    }
}

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    if options.system.is_asked() {
        return system::run(global, options);
    }
    let layout = global.layout()?;
    if options.managed && !options.dry_run && !rustix::process::geteuid().is_root() {
        let own = launch::beside("castellan")?;
        bail!(
            "to undo this for the whole machine needs root: run `sudo {} uninstall --managed`",
            own.display()
        );
    }
    let registrations = registrations(options)?;
    if !options.dry_run {
        presence::require(&homes(&registrations, &layout), &action(options))?;
    }
    let for_machine = machine_registrations();
    if let (true, Some(registration)) = (options.purge, for_machine.first()) {
        let (title, file) = (registration.agent.title(), registration.file.display());
        let first = "run `sudo castellan uninstall --managed` first";
        bail!("{title} is registered for the whole machine in `{file}`: {first}");
    }
    let mut undone = Undone { dry_run: options.dry_run, ..Undone::default() };
    for registration in &registrations {
        // It was added last.
        undone.status_line(registration, registration.remove_status_line(options.dry_run));
        undone.registration(registration, registration.remove(options.dry_run));
    }
    if options.launchers || options.is_whole() {
        for agent in agents(options) {
            undone.launcher(&launchers::path(agent)?, launchers::remove(agent, options.dry_run));
        }
    }
    if options.is_whole() {
        for agent in agents(options) {
            let plugin = Guard::of(agent, &layout)?.plugin;
            undone.failures.extend(plugin.map(|plugin| plugin.stays(agent)));
        }
    }
    // Remaining hooks would have every call denied if the daemon were stopped.
    let stopped = if options.is_whole() && undone.failures.is_empty() && for_machine.is_empty() {
        stop(&layout, options, &mut undone)
    } else {
        Ok(())
    };
    // The changes are reported even if the daemon fails.
    write(global, &left(&layout, options, &registrations), &undone)?;
    stopped?;
    Ok(if undone.failures.is_empty() { Exit::Done } else { Exit::Incomplete })
}

#[derive(Debug, Default)]
struct Undone {
    dry_run: bool,
    rows: Vec<Vec<Cell>>,
    failures: Vec<String>,
}

impl Undone {
    fn registration(&mut self, registration: &Registration, edited: anyhow::Result<Edited>) {
        let title = registration.agent.title();
        let detail = match edited {
            Ok(Edited::Unchanged | Edited::Created) => return,
            Ok(Edited::Changed { .. }) if self.dry_run => String::new(),
            Ok(Edited::Changed { backup }) => format!("before: {}", backup.display()),
            Ok(Edited::Deleted) => "deleted: castellan had made it".to_owned(),
            Err(error) => {
                self.failures.push(format!("{title} may still be registered: {}", output::message(&error)));
                return;
            }
        };
        let what = format!("{title} no longer guarded");
        self.rows.push(vec![what.into(), registration.file.display().to_string().into(), detail.into()]);
    }

    fn status_line(&mut self, registration: &Registration, edited: anyhow::Result<Edited>) {
        match edited {
            Ok(Edited::Unchanged | Edited::Created) => {}
            Ok(Edited::Changed { .. } | Edited::Deleted) => {
                let file = registration.file.display().to_string();
                self.rows.push(vec!["status line removed".into(), file.into()]);
            }
            // The removal of the hooks fails for the same reason.
            Err(_) => {}
        }
    }

    fn launcher(&mut self, path: &Path, removed: anyhow::Result<bool>) {
        match removed {
            Ok(true) => self.rows.push(vec!["launcher removed".into(), path.display().to_string().into()]),
            Ok(false) => {}
            Err(error) => self.failures.push(output::message(&error)),
        }
    }
}

fn stop(layout: &Layout, options: &Options, undone: &mut Undone) -> anyhow::Result<()> {
    if !options.dry_run {
        stop::stop(layout)?;
    }
    undone.rows.push(vec!["daemon stopped".into()]);
    if let Some(service) = Service::installed(layout.home())? {
        let removed = service::remove(layout, &service, options.dry_run).context("the service stays")?;
        let row = |file: &PathBuf| vec!["service removed".into(), file.display().to_string().into()];
        undone.rows.extend(removed.iter().map(row));
    }
    if options.purge {
        let paths = own_paths(layout, options);
        if !options.dry_run {
            purge(layout, &paths)?;
        }
        undone
            .rows
            .extend(paths.iter().map(|path| vec!["deleted".into(), path.display().to_string().into()]));
    }
    Ok(())
}

/// Returns the homes that lose calls, and the named home. The named home alone is not enough, because its name selects
/// the daemon that answers.
fn homes(registrations: &[Registration], layout: &Layout) -> Vec<Home> {
    let mut homes: Vec<Home> = Vec::new();
    for home in registrations.iter().flat_map(Registration::homes).chain([layout.home().clone()]) {
        if !homes.contains(&home) {
            homes.push(home);
        }
    }
    homes
}

/// Returns the text for the log.
fn action(options: &Options) -> String {
    let words: Vec<&str> = agents(options).into_iter().map(AgentId::word).collect();
    format!("uninstall {}", words.join(" "))
}

fn agents(options: &Options) -> Vec<AgentId> {
    if options.agents.is_empty() { AgentId::ALL.to_vec() } else { options.agents.clone() }
}

fn registrations(options: &Options) -> anyhow::Result<Vec<Registration>> {
    if options.managed {
        return Ok(agents(options).into_iter().filter_map(Registration::of_machine).collect());
    }
    if options.launchers && options.agents.is_empty() {
        return Ok(Vec::new());
    }
    let user = |agent| Ok(Registration::of_user(&AgentFiles::of_environment(agent)?));
    agents(options).into_iter().map(user).collect()
}

/// Returns castellan's own files and directories that exist, by name, without those that the options keep.
fn own_paths(layout: &Layout, options: &Options) -> Vec<PathBuf> {
    let home = layout.home();
    let mut paths = vec![layout.projects(), layout.checkpoints(), home.run()];
    paths.extend(layout.kept_state());
    // Without the rules in force, a next installation would deny each call until `castellan apply`.
    if !options.keep_rules {
        paths.extend([layout.config().join("rules"), layout.config_file(), layout.applied()]);
    }
    if !options.keep_log {
        paths.push(layout.log());
    }
    // It has the versions of the formats of what stays.
    if !options.keep_rules && !options.keep_log {
        paths.push(Layout::file(home.dir()));
    }
    paths.retain(|path| path.exists());
    paths
}

/// Deletes castellan's own files. A directory with other files remains.
fn purge(layout: &Layout, paths: &[PathBuf]) -> anyhow::Result<()> {
    for path in paths {
        let deleted = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
        deleted.with_context(|| format!("`{}`", path.display()))?;
    }
    let dirs: [&Path; 3] = [layout.config(), layout.state(), layout.home().dir()];
    for dir in dirs {
        // Fails if the directory still has files of others.
        let _ = std::fs::remove_dir(dir);
    }
    Ok(())
}

fn write(global: &Global, left: &[Vec<Cell>], undone: &Undone) -> anyhow::Result<()> {
    let Undone { dry_run, rows, failures } = undone;
    for failure in failures {
        writeln!(anstream::stderr(), "{ERROR} {}", output::printable_lines(failure))?;
    }
    if global.quiet {
        return Ok(());
    }
    let mut out = anstream::stdout();
    if *dry_run && !rows.is_empty() {
        writeln!(out, "would be done:")?;
    }
    output::write_table(&mut out, rows)?;
    if rows.is_empty() && failures.is_empty() {
        writeln!(out, "nothing to do")?;
    }
    if !left.is_empty() {
        writeln!(out, "\nleft in place:")?;
        output::write_table(&mut out, left)?;
    }
    Ok(())
}

/// Returns the remaining files, with the command that removes them.
fn left(layout: &Layout, options: &Options, registrations: &[Registration]) -> Vec<Vec<Cell>> {
    let mut left = Vec::new();
    let mut add = |what: &str, path: PathBuf, how: &str| {
        if path.exists() {
            left.push(vec![Cell::from(what), path.display().to_string().into(), how.into()]);
        }
    };
    if options.is_whole() && !options.purge {
        add("configuration, rules", layout.config().to_owned(), "castellan uninstall --purge");
        add("log", layout.log(), "castellan uninstall --purge");
        for file in layout.kept_state() {
            add("state", file, "castellan uninstall --purge");
        }
    }
    if options.keep_rules {
        add("configuration, rules", layout.config().to_owned(), "castellan install uses it again");
        add("rules in force", layout.applied(), "castellan install uses it again");
    }
    if options.keep_log {
        add("log", layout.log(), "castellan install goes on with it");
    }
    for registration in registrations {
        for backup in backups(&registration.file) {
            add("backup", backup, "delete it when you no longer need it");
        }
    }
    if !options.managed {
        for registration in machine_registrations() {
            add("for everybody", registration.file, "sudo castellan uninstall --managed");
        }
    }
    left
}

fn machine_registrations() -> Vec<Registration> {
    let all = AgentId::ALL.into_iter().filter_map(Registration::of_machine);
    all.filter(|registration| registration.is_present().unwrap_or(false)).collect()
}
