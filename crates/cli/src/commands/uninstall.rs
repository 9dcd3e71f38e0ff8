//! `castellan uninstall`: undoes an install, which requires a person. Settings files get their original bytes back.
//! Files written by a person remain, except with `--purge`.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use castellan_agents::AgentId;
use castellan_daemon::Layout;
use castellan_wire::Home;

use crate::agent_files::AgentFiles;
use crate::commands::stop;
use crate::edit::{Edited, backups};
use crate::exit::Exit;
use crate::global::Global;
use crate::output::{self, BAD, Cell};
use crate::registration::Registration;
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

    /// Also delete configuration, rules and log
    #[arg(long, conflicts_with_all = ["agents", "managed", "launchers"])]
    purge: bool,
}

impl Options {
    fn is_whole(&self) -> bool {
        self.agents.is_empty() && !self.managed && !self.launchers
    }
}

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let layout = global.layout()?;
    if options.managed && !rustix::process::geteuid().is_root() {
        let own = launch::beside("castellan")?;
        bail!(
            "to undo this for the whole machine needs root: run `sudo {} uninstall --managed`",
            own.display()
        );
    }
    let registrations = registrations(options)?;
    presence::require(&homes(&registrations, &layout), &action(options))?;
    let for_machine = machine_registrations();
    if let (true, Some(registration)) = (options.purge, for_machine.first()) {
        let (title, file) = (registration.agent.title(), registration.file.display());
        let first = "run `sudo castellan uninstall --managed` first";
        bail!("{title} is registered for the whole machine in `{file}`: {first}");
    }
    let mut undone = Undone::default();
    for registration in &registrations {
        undone.registration(registration, registration.remove());
    }
    if options.launchers || options.is_whole() {
        for agent in agents(options) {
            undone.launcher(&launchers::path(agent)?, launchers::remove(agent));
        }
    }
    // Remaining hooks would have every call denied if the daemon were stopped.
    let stopped = if options.is_whole() && undone.failures.is_empty() && for_machine.is_empty() {
        stop(&layout, options.purge, &mut undone)
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
    rows: Vec<Vec<Cell>>,
    failures: Vec<String>,
}

impl Undone {
    fn registration(&mut self, registration: &Registration, edited: anyhow::Result<Edited>) {
        let title = registration.agent.title();
        let detail = match edited {
            Ok(Edited::Unchanged | Edited::Created) => return,
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

    fn launcher(&mut self, path: &Path, removed: anyhow::Result<bool>) {
        match removed {
            Ok(true) => self.rows.push(vec!["launcher removed".into(), path.display().to_string().into()]),
            Ok(false) => {}
            Err(error) => self.failures.push(output::message(&error)),
        }
    }
}

fn stop(layout: &Layout, and_purge: bool, undone: &mut Undone) -> anyhow::Result<()> {
    stop::stop(layout)?;
    undone.rows.push(vec!["daemon stopped".into()]);
    if and_purge {
        purge(layout)?;
        undone.rows.push(vec!["deleted".into(), "configuration, rules and log".into()]);
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

/// Deletes castellan's own files by name. A directory with other files remains.
fn purge(layout: &Layout) -> anyhow::Result<()> {
    let (config, home) = (layout.config(), layout.home());
    let trees = [config.join("rules"), layout.log(), layout.applied(), layout.projects(), home.run()];
    let mut files = vec![layout.config_file(), Layout::file(home.dir())];
    files.extend(layout.kept_state());
    let dirs: [&Path; 3] = [config, layout.state(), home.dir()];
    for tree in trees.iter().filter(|tree| tree.exists()) {
        std::fs::remove_dir_all(tree).with_context(|| format!("`{}`", tree.display()))?;
    }
    for file in files.iter().filter(|file| file.exists()) {
        std::fs::remove_file(file).with_context(|| format!("`{}`", file.display()))?;
    }
    for dir in dirs {
        // Fails if the directory still has files of others.
        let _ = std::fs::remove_dir(dir);
    }
    Ok(())
}

fn write(global: &Global, left: &[Vec<Cell>], undone: &Undone) -> anyhow::Result<()> {
    let Undone { rows, failures } = undone;
    for failure in failures {
        writeln!(anstream::stderr(), "{BAD}not done{BAD:#}: {}", output::printable_lines(failure))?;
    }
    if global.quiet {
        return Ok(());
    }
    let mut out = anstream::stdout();
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
    if options.is_whole() {
        add("configuration, rules", layout.config().to_owned(), "castellan uninstall --purge");
        add("log", layout.log(), "castellan uninstall --purge");
        for file in layout.kept_state() {
            add("state", file, "castellan uninstall --purge");
        }
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
