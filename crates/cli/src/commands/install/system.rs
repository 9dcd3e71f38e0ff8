//! `castellan install --system --user NAME`: a daemon with a user of its own for each named user. Each step leaves what is
//! already right, so a second run completes an installation that was interrupted. The hooks come last: from then on the
//! calls of the named users' agents depend on the daemons.

use std::fs::{DirBuilder, Metadata, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use castellan_agents::HookCommand;
use castellan_wire::{Home, HomeArgument};

use super::{Report, agents, machine_programs, registration};
use crate::exit::Exit;
use crate::global::Global;
use crate::launch;
use crate::output::{self, Cell, GOOD};
use crate::platform::{Account, account, account_named};
use crate::registration::Registration;
use crate::service::files::{Found, Rendered, look, put};
use crate::system::{self, DAEMON, Places, Programs, READER_MODE, ran};

/// Options of `castellan install --system`.
#[derive(Debug, clap::Args)]
pub(super) struct SystemOptions {
    /// Install for the system: daemons with a user of their own, which the guarded users cannot end (needs root)
    #[arg(long, requires = "users", conflicts_with_all = ["managed", "launchers", "service", "mode"])]
    system: bool,

    /// A user to guard; may be repeated
    #[arg(long = "user", value_name = "NAME", requires = "system")]
    users: Vec<String>,

    /// Write the files of `--system` below DIR, a folder of root, and run no program; for packages
    #[arg(long, requires = "system", value_name = "DIR")]
    root: Option<PathBuf>,
}

impl SystemOptions {
    pub(super) fn is_asked(&self) -> bool {
        self.system
    }
}

/// Modes of the folders: others may pass the first ones, and reach sockets in the last.
const HOMES_MODE: u32 = 0o711;
const HOME_MODE: u32 = 0o700;
const RUN_MODE: u32 = 0o755;
const SOCKETS_MODE: u32 = 0o711;

/// An installation that was checked and not begun.
struct Plan {
    places: Places,
    programs: Programs,
    units: Vec<Rendered>,
    folders: Rendered,
    /// The named users.
    users: Vec<Account>,
    registrations: Vec<Registration>,
    hook: HookCommand,
}

pub(super) fn run(global: &Global, options: &super::Options) -> anyhow::Result<Exit> {
    let plan = plan(options)?;
    let mut out = anstream::stdout();
    if options.print || options.dry_run {
        plan.print(&mut out)?;
        return Ok(Exit::Done);
    }
    if !rustix::process::geteuid().is_root() {
        let own = launch::beside("castellan")?;
        bail!("to install for the system needs root: run `sudo {} install --system ...`", own.display());
    }
    let mut report = Report::new(false);
    plan.write_files(&mut report)?;
    if !plan.places.is_machine() {
        report.write_rows(global)?;
        return Ok(Exit::Done);
    }
    plan.make_user(&mut report)?;
    plan.make_folders()?;
    plan.start(&mut report)?;
    for registration in &plan.registrations {
        super::register(registration, &plan.hook, options, &mut report);
    }
    report.write_rows(global)
}

fn plan(options: &super::Options) -> anyhow::Result<Plan> {
    let root = options.system.root.as_deref().unwrap_or_else(|| Path::new("/"));
    let root = std::path::absolute(root).with_context(|| format!("`{}`", root.display()))?;
    let places = Places::below(&root);
    let programs = Programs::beside()?;
    let hook = launch::beside("castellan-hook")?;
    for program in [&programs.castellan, &programs.reader, &hook] {
        if !program.exists() {
            bail!("`{}` is missing: it belongs beside `castellan`", program.display());
        }
    }
    if places.is_machine() {
        machine_programs::require(&[&programs.castellan, &programs.reader, &hook])?;
    }
    let users: Vec<Account> =
        options.system.users.iter().map(|name| guarded(name)).collect::<anyhow::Result<_>>()?;
    let mut all = places.users()?;
    all.extend(users.iter().map(|user| user.uid));
    all.sort_unstable();
    all.dedup();
    let units = system::units(&programs).with_context(|| {
        format!("`{}` has characters that no unit can have", programs.castellan.display())
    })?;
    let text = hook.to_str().map(str::to_owned);
    let text = text.with_context(|| format!("`{}` is not UTF-8: move it", hook.display()))?;
    let is_known = |agent: &castellan_agents::AgentId| Registration::of_machine(*agent).is_some();
    let agents = match options.agents.is_empty() && !options.no_agents {
        true => castellan_agents::AgentId::ALL.into_iter().filter(is_known).collect(),
        false => agents(options)?,
    };
    let registrations =
        agents.iter().map(|agent| registration(*agent, true)).collect::<anyhow::Result<_>>()?;
    let hook = HookCommand { program: text, home: HomeArgument::System.to_string() };
    Ok(Plan { places, programs, units, folders: system::folders(&all), users, registrations, hook })
}

/// Returns the account of a user who can be guarded.
fn guarded(name: &str) -> anyhow::Result<Account> {
    let account = account_named(name).with_context(|| format!("`{name}` is no user in `/etc/passwd`"))?;
    if account.uid == 0 || account.name == DAEMON {
        bail!(
            "`{name}` cannot be guarded by a daemon of another user: root can end each process, and `{DAEMON}` is the daemon"
        );
    }
    Ok(account)
}

impl Plan {
    fn print(&self, out: &mut impl Write) -> anyhow::Result<()> {
        for (dir, file) in self.files() {
            writeln!(out, "==> {}\n{}", dir.join(&file.name).display(), output::printable_lines(&file.text))?;
        }
        writeln!(out, "==> steps")?;
        writeln!(out, "{}", self.useradd().join(" "))?;
        writeln!(out, "chmod {READER_MODE:o} {}", self.programs.reader.display())?;
        for (path, mode, owner) in self.wanted_folders() {
            writeln!(out, "install -d -m {mode:o} -o {owner} -g {owner} {}", path.display())?;
        }
        writeln!(out, "systemctl daemon-reload")?;
        for user in &self.users {
            writeln!(out, "systemctl enable --now {}", system::units_of(user.uid).join(" "))?;
        }
        for registration in &self.registrations {
            let (title, file) = (registration.agent.title(), registration.file.display());
            writeln!(out, "hooks of {title}: {file}")?;
        }
        Ok(())
    }

    fn files(&self) -> impl Iterator<Item = (PathBuf, &Rendered)> {
        let units = self.units.iter().map(|file| (self.places.units(), file));
        units.chain([(self.places.folders(), &self.folders)])
    }

    /// Writes the files. A file of another program stops the installation before any change.
    fn write_files(&self, report: &mut Report) -> anyhow::Result<()> {
        for (dir, file) in self.files() {
            if let Found::Foreign(why) = look(&dir.join(&file.name), &file.text) {
                let path = dir.join(&file.name);
                bail!(
                    "`{}` is in the way: {why}. Nothing was changed. Move it away, and run the command again",
                    path.display()
                );
            }
        }
        let (units, folders) = (self.places.units(), self.places.folders());
        let written = put(&units, &self.units)?.into_iter().map(|name| units.join(name));
        let made = put(&folders, std::slice::from_ref(&self.folders))?;
        for path in written.chain(made.into_iter().map(|name| folders.join(name))) {
            report.row("written", &path, "");
        }
        Ok(())
    }

    fn useradd(&self) -> Vec<String> {
        let homes = self.places.homes().display().to_string();
        let words = ["useradd", "--system", "--user-group", "--no-create-home", "--home-dir", &homes];
        let words = words.into_iter().chain(["--shell", "/usr/sbin/nologin", DAEMON]);
        words.map(str::to_owned).collect()
    }

    fn make_user(&self, report: &mut Report) -> anyhow::Result<()> {
        if account_named(DAEMON).is_none() {
            let words = self.useradd();
            ran(&words)?;
            report.rows.push(vec![format!("user {DAEMON} made").into()]);
        }
        let daemon = daemon()?;
        let (uid, is_guarded) = (daemon.uid, self.users.iter().any(|user| user.uid == daemon.uid));
        if uid == 0 || is_guarded {
            bail!(
                "the user `{DAEMON}` has the id {uid}, which is root's or a guarded user's: give it one of its own"
            );
        }
        Ok(())
    }

    /// Returns the folders with their modes and owners, the outer ones first.
    fn wanted_folders(&self) -> Vec<(PathBuf, u32, &'static str)> {
        let mut all = vec![(self.places.homes(), HOMES_MODE, "root"), (self.places.run(), RUN_MODE, "root")];
        for user in &self.users {
            all.push((self.places.homes().join(user.uid.to_string()), HOME_MODE, DAEMON));
            all.push((self.places.run().join(user.uid.to_string()), SOCKETS_MODE, DAEMON));
        }
        all
    }

    fn make_folders(&self) -> anyhow::Result<()> {
        let daemon = daemon()?;
        for (path, mode, owner) in self.wanted_folders() {
            let owner = if owner == DAEMON { daemon.uid } else { 0 };
            let made = folder(&path, mode, owner);
            made.with_context(|| format!("`{}`", path.display()))?;
        }
        let reader = &self.programs.reader;
        let closed = std::fs::set_permissions(reader, Permissions::from_mode(READER_MODE));
        closed.with_context(|| format!("`{}`", reader.display()))
    }

    fn start(&self, report: &mut Report) -> anyhow::Result<()> {
        let systemctl = |words: &[&str]| {
            let words: Vec<String> =
                std::iter::once("systemctl").chain(words.iter().copied()).map(str::to_owned).collect();
            ran(&words)
        };
        systemctl(&["daemon-reload"])?;
        for user in &self.users {
            let units = system::units_of(user.uid);
            let units: Vec<&str> = units.iter().map(String::as_str).collect();
            systemctl(&[&["enable", "--now"], units.as_slice()].concat())?;
            launch::await_start(&Home::of_system(user.uid)).with_context(|| {
                format!("`journalctl -u castellan@{}` says why; no hook was registered by this run", user.uid)
            })?;
            let text = format!("{}, by castellan@{}", user.name, user.uid);
            report.rows.push(vec![Cell::new("guarded", GOOD), text.into()]);
        }
        Ok(())
    }
}

fn daemon() -> anyhow::Result<Account> {
    account_named(DAEMON).with_context(|| format!("there is no user `{DAEMON}` in `/etc/passwd`"))
}

/// Makes a folder, or gives an existing one its mode and owner. A folder of another user is an error: its contents may be
/// that user's.
fn folder(path: &Path, mode: u32, owner: u32) -> anyhow::Result<()> {
    let is_new = match DirBuilder::new().mode(HOME_MODE).create(path) {
        Ok(()) => true,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
        Err(error) => return Err(error.into()),
    };
    let found: Metadata = std::fs::symlink_metadata(path)?;
    if !found.is_dir() {
        bail!("it is no folder: move it away");
    }
    // An interrupted installation leaves a folder of root.
    if !is_new && found.uid() != owner && found.uid() != 0 {
        let whose = account(found.uid()).map_or_else(|| found.uid().to_string(), |account| account.name);
        bail!("it belongs to the user {whose}: move it away");
    }
    chown(path, Some(owner), None)?;
    Ok(std::fs::set_permissions(path, Permissions::from_mode(mode))?)
}
