//! The report of an install for people: changes, failures, the undo command and remaining weaknesses.

use std::io::Write;
use std::path::{Path, PathBuf};

use castellan_agents::{AgentId, HookCommand, machine_family, needs_trust, uninstall_own_plugin};
use castellan_daemon::{Shipped, StatusReport};
use castellan_event::Mode;

use super::{Options, machine_programs};
use crate::edit::Edited;
use crate::exit::Exit;
use crate::global::Global;
use crate::launch;
use crate::output::{self, Cell, ERROR, FAINT, GOOD, WARNING};
use crate::registration::{Registration, Scope};

/// Collects the changes and failures.
#[derive(Debug)]
pub(super) struct Report {
    dry_run: bool,
    pub(super) rows: Vec<Vec<Cell>>,
    failures: Vec<String>,
    /// Agents that run the hooks only after their user trusts them.
    untrusted: Vec<AgentId>,
    /// The reason why no sandbox can be made, where none is required.
    no_sandbox: Option<String>,
    /// Agents with hooks of castellan's own plugin, too, and the file of these.
    plugins: Vec<(AgentId, PathBuf)>,
}

impl Report {
    pub(super) fn new(dry_run: bool) -> Report {
        let (rows, failures, untrusted, no_sandbox, plugins) = Default::default();
        Report { dry_run, rows, failures, untrusted, no_sandbox, plugins }
    }

    /// Adds the configuration and rules of a new home.
    pub(super) fn home(&mut self, config: &Path) {
        self.row("defaults written", config, "configuration and shipped rules");
    }

    /// Adds the files of an existing home.
    pub(super) fn shipped(&mut self, files: &[Shipped]) {
        for file in files {
            match file {
                Shipped::Written(path) => self.row("written", path, ""),
                Shipped::Updated(path) => self.row("rules updated", path, "you had not changed them"),
                Shipped::Kept(path) => {
                    self.row("rules kept", path, "yours is in force; the new one lies here")
                }
                Shipped::Removed(path) => self.row("rules removed", path, "castellan has them built in now"),
            }
        }
    }

    pub(super) fn registered(&mut self, registration: &Registration, edited: &Edited) {
        let what = format!("{} guarded", registration.agent.title());
        let detail = match edited {
            Edited::Unchanged => return,
            Edited::Changed { backup } if !self.dry_run => format!("before: {}", backup.display()),
            Edited::Created => "new file".to_owned(),
            Edited::Changed { .. } | Edited::Deleted => String::new(),
        };
        if needs_trust(registration.agent) && registration.scope == Scope::User {
            self.untrusted.push(registration.agent);
        }
        self.row(&what, &registration.file, &detail);
    }

    /// Adds a status line. `None`: the user has another one.
    pub(super) fn status_line(&mut self, registration: &Registration, added: anyhow::Result<Option<Edited>>) {
        let title = registration.agent.title();
        match added {
            Ok(Some(Edited::Unchanged)) => {}
            Ok(Some(_)) => self.row("status line added", &registration.file, ""),
            Ok(None) => self.failures.push(format!(
                "`{}` has a status line of yours, which stays: add the output of `castellan status --line` to it",
                registration.file.display()
            )),
            Err(error) => {
                self.failures.push(format!("{title} has no status line: {}", output::message(&error)))
            }
        }
    }

    pub(super) fn launcher(&mut self, path: &Path, written: anyhow::Result<bool>) {
        match written {
            Ok(true) => self.row("launcher written", path, "start the agent with it"),
            Ok(false) => {}
            Err(error) => self.failures.push(output::message(&error)),
        }
    }

    pub(super) fn failed(&mut self, agent: AgentId, error: &anyhow::Error) {
        self.failures.push(format!("{} is not guarded: {}", agent.title(), output::message(error)));
    }

    /// Adds a settings file that the agent ignores.
    pub(super) fn ignored(&mut self, registration: &Registration, why: &str) {
        let (title, file) = (registration.agent.title(), registration.file.display());
        self.failures
            .push(format!("{title} is not guarded, because it does not read `{file}`: {why}: mend the file"));
    }

    /// Adds an agent that castellan's own plugin guards, too.
    pub(super) fn plugin(&mut self, agent: AgentId, file: PathBuf) {
        self.plugins.push((agent, file));
    }

    /// Adds a fault of the program that makes sandboxes. It is a failure only if the settings require sandboxes.
    pub(super) fn sandbox(&mut self, fault: String, required: bool) {
        if required {
            self.failures.push(format!(
                "{fault}; `sandbox.mode` is \"require\", so every call of an agent is denied: install castellan-sandbox \
                 beside castellan"
            ));
        } else {
            self.no_sandbox = Some(fault);
        }
    }

    pub(super) fn started(&mut self) {
        self.rows.push(vec!["daemon started".into()]);
    }

    /// Adds a daemon that this version has replaced.
    pub(super) fn upgraded(&mut self, before: &str) {
        let what = format!("{before} to {}", env!("CARGO_PKG_VERSION"));
        self.rows.push(vec!["daemon upgraded".into(), what.into()]);
    }

    /// Adds a daemon of another version that could not be replaced.
    pub(super) fn not_upgraded(&mut self, before: &str, error: &anyhow::Error) {
        let why = output::message(error);
        self.failures
            .push(format!("the daemon of version {before} was not replaced: {why}: castellan restart"));
    }

    /// Adds a daemon of a newer version. Its state may have a format that this version does not know.
    pub(super) fn older(&mut self, version: &str) {
        self.failures.push(format!(
            "the daemon is of the newer version {version}, and goes on: install {version} again. To go back to {}: castellan \
             restart, which refuses if this version cannot read the state",
            env!("CARGO_PKG_VERSION")
        ));
    }

    /// Adds a daemon of another version, which runs until a person restarts it.
    pub(super) fn outdated(&mut self, version: &str) {
        self.failures.push(format!(
            "the daemon of version {version} still runs: castellan restart; then castellan apply, if rules have changed"
        ));
    }

    /// Adds rule files that castellan updated: applied, or pending because a person must review edits by others.
    pub(super) fn rules(&mut self, applied: anyhow::Result<Result<Vec<String>, Vec<String>>>) {
        match applied {
            Ok(Ok(files)) => {
                for file in files {
                    self.rows.push(vec!["rules applied".into(), file.into()]);
                }
            }
            Ok(Err(waiting)) => {
                let files = waiting.join(", ");
                self.failures
                    .push(format!("edited files wait until somebody looks: castellan apply ({files})"));
            }
            Err(error) => {
                let why = output::message(&error);
                self.failures.push(format!("updated rules are not in force yet: castellan apply ({why})"));
            }
        }
    }

    /// Adds a note that nothing is in force: files on disk have no effect until they are applied.
    pub(super) fn nothing_in_force(&mut self, status: &StatusReport) {
        let why = match status.awaits_organisation {
            true => status.problems.join("; "),
            false => "castellan apply".to_owned(),
        };
        self.failures.push(format!("no rules are in force, all but reading is denied: {why}"));
    }

    /// Adds the files of a new service.
    pub(super) fn service(&mut self, written: anyhow::Result<Vec<PathBuf>>) {
        match written {
            Ok(files) => {
                for file in files {
                    self.row("service", &file, "starts the daemon at login, and again when it ends");
                }
            }
            Err(error) => {
                let why = output::message(&error);
                self.failures
                    .push(format!("the daemon is no service: {why}; then castellan service install"));
            }
        }
    }

    pub(super) fn mode(&mut self, mode: Mode) {
        self.rows.push(vec!["mode".into(), mode.as_str().into()]);
    }

    /// Writes the report and returns the exit code.
    /// Writes the changes and failures alone.
    pub(super) fn write_rows(self, global: &Global) -> anyhow::Result<Exit> {
        if !global.quiet {
            output::write_table(&mut anstream::stdout(), &self.rows)?;
        }
        for failure in &self.failures {
            writeln!(anstream::stderr(), "{ERROR} {}", output::printable_lines(failure))?;
        }
        Ok(if self.failures.is_empty() { Exit::Done } else { Exit::Incomplete })
    }

    pub(super) fn write(
        self,
        global: &Global,
        options: &Options,
        agents: &[AgentId],
        hook: &HookCommand,
    ) -> anyhow::Result<Exit> {
        if !global.quiet {
            self.write_changes(global, options)?;
            self.write_notes(options, agents, hook)?;
        }
        for failure in &self.failures {
            writeln!(anstream::stderr(), "{ERROR} {}", output::printable_lines(failure))?;
        }
        Ok(if self.failures.is_empty() { Exit::Done } else { Exit::Incomplete })
    }

    fn write_changes(&self, global: &Global, options: &Options) -> anyhow::Result<()> {
        let mut out = anstream::stdout();
        match (self.rows.is_empty(), self.dry_run) {
            (true, false) if self.failures.is_empty() => {
                writeln!(out, "nothing to do: everything is in place")?
            }
            (true, _) => writeln!(out, "nothing changed")?,
            (false, true) => writeln!(out, "would be done:")?,
            (false, false) => writeln!(out, "{GOOD}done{GOOD:#}:")?,
        }
        output::write_table(&mut out, &self.rows)?;
        if !self.rows.is_empty() && !self.dry_run {
            writeln!(out, "undo: {}", output::printable(&undo(global, options)))?;
        }
        Ok(())
    }

    fn write_notes(&self, options: &Options, agents: &[AgentId], hook: &HookCommand) -> anyhow::Result<()> {
        let mut out = anstream::stdout();
        if agents.is_empty() {
            let word = AgentId::DEFAULT.word();
            writeln!(out, "\nno agent is guarded by this: name one, as in `castellan install {word}`")?;
        }
        for agent in &self.untrusted {
            let (title, word) = (agent.title(), agent.word());
            writeln!(
                out,
                "\n{WARNING} {title} runs these hooks only after you have trusted them: start {word}, open /hooks, trust castellan's."
            )?;
        }
        for (agent, file) in &self.plugins {
            let (title, file) = (agent.title(), output::printable(&file.display().to_string()));
            let remove = uninstall_own_plugin(*agent).unwrap_or("remove the plugin");
            writeln!(
                out,
                "\n{WARNING} {title} has hooks of castellan's plugin, too (`{file}`): every call is judged twice. {remove}; castellan-commands has no hooks."
            )?;
        }
        if let Some(fault) = &self.no_sandbox {
            let fault = output::printable_lines(fault);
            writeln!(out, "\n{WARNING} {fault}: install castellan-sandbox beside castellan")?;
        }
        if options.managed {
            writeln!(out, "\n{MACHINE}\n{}.", output::printable(&super::shown(hook)))?;
            if let Some(why) = machine_programs::closed(Path::new(&hook.program)) {
                writeln!(out, "{WARNING} other users {}", output::printable_lines(&why))?;
            }
            return Ok(());
        }
        let (closable, open): (Vec<AgentId>, Vec<AgentId>) =
            agents.iter().partition(|agent| machine_family(**agent).is_some());
        if !options.launchers && !closable.is_empty() {
            writeln!(out, "\n{}", output::printable_lines(&closing(&launch::beside("castellan")?)))?;
        }
        for title in open.into_iter().map(AgentId::title) {
            writeln!(out, "\n{WARNING} {title} {OPEN}")?;
        }
        Ok(())
    }

    pub(super) fn row(&mut self, what: &str, path: &Path, detail: &str) {
        self.rows.push(vec![what.into(), path.display().to_string().into(), Cell::new(detail, FAINT)]);
    }
}

const OPEN: &str = "lets a repository that it trusts switch these hooks off. Let it trust only those whose settings you have read.";

const MACHINE: &str = "\
No repository can switch these hooks off. They are everybody's on this machine: each user's own daemon answers, which
their first call starts. The hooks lead to";

/// Returns the ways to keep a repository from disabling hooks. The full path is needed because sudo does not search
/// users' own program directories.
fn closing(own: &Path) -> String {
    let own = own.display();
    format!(
        "A repository's own settings can switch these hooks off. What closes that:\n  \
         sudo {own} install --managed\n      registers them for the whole machine\n  \
         {own} install --launchers\n      writes castellan-claude, castellan-codex to start the agents with"
    )
}

/// Returns the command that undoes the install.
fn undo(global: &Global, options: &Options) -> String {
    let agents = options.agents.iter().map(|agent| agent.word());
    let launchers = (options.launchers && !options.agents.is_empty()).then_some("--launchers");
    let managed = options.managed.then_some("--managed");
    let words: Vec<&str> =
        std::iter::once("uninstall").chain(agents).chain(launchers).chain(managed).collect();
    global.command(&words)
}
