//! The project's own code that the autonomous profile runs: tests, builds, tasks and programs that the project declares
//! and that the session did not create. Does not depend on other effects of a call.

use std::collections::{BTreeMap, BTreeSet};

use castellan_event::{CallRow, Command, Effect, EffectKind, FileOrigin, Scope, ScriptFile, Why};
use castellan_programs::{Options, System};

use super::arguments::Arguments;
use super::exchanges::{Pushes, is_own_exchange};
use super::variables;

/// Tasks that test, check or build, and the words before them.
const TASKS: &[&str] = &[
    "build",
    "check",
    "check-types",
    "compile",
    "lint",
    "run",
    "run-many",
    "test",
    "type-check",
    "typecheck",
];

/// The verb of an effect that sets an option which runs nothing.
const SETS: &str = "config";

/// Verbs of installations that the project declares.
const DECLARED: &[&str] = &["declared", "lockfile", "manifest"];

const PROGRAMS: &[&str] = &[".cjs", ".cts", ".js", ".mjs", ".mts", ".php", ".py", ".rb", ".ts"];

/// The project's own code in a call.
#[derive(Debug, Default)]
pub(crate) struct OwnCode<'r> {
    /// Parsed files from which something runs; `None` if the project's own code gets no special treatment.
    scripts: Option<BTreeSet<&'r str>>,
    commands: BTreeMap<usize, &'r Command>,
    /// Commands of a tool that tests or builds, and whether the tool permits unknown options.
    tools: BTreeMap<usize, bool>,
    /// Files that were read and whose effects are all safe.
    harmless: BTreeSet<&'r str>,
    pushes: Pushes,
    /// The directory in which the call begins.
    cwd: &'r str,
}

impl<'r> OwnCode<'r> {
    /// Finds the own code of a call with these rows that runs these files. Empty if `allows_understood` is false.
    pub(crate) fn of(
        rows: &[CallRow<'r>],
        ran: &'r [ScriptFile],
        is_safe: fn(&Effect) -> bool,
        allows_understood: bool,
    ) -> OwnCode<'r> {
        if !allows_understood {
            return OwnCode::default();
        }
        let effects = || rows.iter().filter_map(CallRow::effect);
        let is_read = |file: &&ScriptFile| file.sha256.is_some() && !file.is_written;
        let read = || ran.iter().filter(is_read).map(|file| file.path.as_str());
        let commands: BTreeMap<usize, &Command> = rows.iter().filter_map(CallRow::command).collect();
        let is_harmless = |path: &&str| {
            let mut own = effects().filter(|effect| effect.script_path() == Some(path));
            own.all(|effect| is_safe(effect) || is_declared_module(effect, &commands))
        };
        // All tasks of a JSON manifest are known. In other files only the found tasks are known.
        let manifests = read().filter(|path| path.ends_with(".json"));
        let scripts = effects().filter_map(|effect| effect.script_path()).chain(manifests).collect();
        let tools = effects().filter(|effect| is_old(effect)).filter_map(|effect| {
            let system = System::find(effect.system()?)?;
            // Arguments after a task's name go to the task.
            let is_open = system.tasks_are_read || options(system, effect)? == Options::Open;
            Some((effect.command?, is_open))
        });
        OwnCode {
            scripts: Some(scripts),
            tools: tools.collect(),
            harmless: read().filter(is_harmless).collect(),
            commands,
            pushes: Pushes::of(rows),
            cwd: rows.first().map_or("", CallRow::real_cwd),
        }
    }

    /// Reports whether an effect only runs the project's own code, installs dependencies that the project declares, or
    /// exchanges something with the project's own services.
    pub(crate) fn permits(&self, effect: &Effect) -> bool {
        let command = || self.commands.get(&effect.command?);
        let is_exchange = || command().is_some_and(|command| is_own_exchange(effect, command, &self.pushes));
        match (&self.scripts, effect.kind()) {
            (Some(scripts), EffectKind::Execute) => self.executes(effect, scripts),
            (Some(_), EffectKind::Install) => {
                is_declared(effect)
                    && effect.file_origin() == Some(FileOrigin::Repository)
                    && self.is_given(effect, |given| given.are_plain())
            }
            (Some(_), EffectKind::Environment) => effect.target().is_some_and(variables::is_harmless),
            (Some(_), EffectKind::Mutate) if self.sets_option(effect) => true,
            (
                Some(_),
                EffectKind::Connect
                | EffectKind::Download
                | EffectKind::Mutate
                | EffectKind::Query
                | EffectKind::Upload,
            ) => is_exchange(),
            (Some(_) | None, _) => false,
        }
    }

    /// Reports whether a command only sets a harmless option of version control for this repository.
    fn sets_option(&self, effect: &Effect) -> bool {
        let command = effect.command.and_then(|command| self.commands.get(&command));
        let (Some(command), Some(system)) = (command, effect.system().and_then(System::find)) else {
            return false;
        };
        let is_setting = match command.operands.as_slice() {
            [name, _] => system.settings.contains(&name.as_str()),
            _ => false,
        };
        let is_own = command.env.is_empty() && command.flags.iter().all(|flag| flag == "--local");
        effect.verb() == Some(SETS)
            && effect.place() == Some(Scope::Workspace)
            && is_setting
            && is_own
            && self.is_given(effect, |given| given.are_here())
    }

    /// Reports whether an unknown option only changes how a tool runs the project's code.
    pub(crate) fn has_open_options(&self, effect: &Effect) -> bool {
        let is_open = effect.command.and_then(|command| self.tools.get(&command));
        is_open == Some(&true) && self.is_given(effect, |given| given.stay_inside())
    }

    /// Reports whether the session wrote the file that runs, without a download, and its effects are all safe.
    pub(crate) fn is_harmless(&self, effect: &Effect) -> bool {
        effect.place() == Some(Scope::Workspace)
            && effect.scope() == Some(Scope::Workspace)
            && effect.file_origin() == Some(FileOrigin::Written)
            && effect.path().is_some_and(|path| self.harmless.contains(path))
    }

    /// Reports whether a parsed program runs whose effects are all safe. Excludes shell scripts, because their effects
    /// depend on more than their text.
    fn is_program(&self, effect: &Effect) -> bool {
        effect.path().is_some_and(|path| {
            self.harmless.contains(path) && PROGRAMS.iter().any(|ending| path.ends_with(ending))
        })
    }

    fn executes(&self, effect: &Effect, scripts: &BTreeSet<&str>) -> bool {
        // The effects of this code are unknown.
        if matches!(effect.why(), Some(Why::Language | Why::Shadowed)) {
            return false;
        }
        let is_old = is_old(effect);
        let is_read = || effect.path().is_some_and(|path| scripts.contains(path));
        match (effect.system(), effect.script_path()) {
            (Some(system), _) => is_old && self.runs_tool(System::find(system), effect, is_read()),
            // A program by name or a file, in a task or script of the project.
            (None, Some(_)) => {
                let is_own = is_old || of_package(effect) || self.is_harmless(effect);
                is_own || effect.file_origin().is_none() && is_by_name(effect)
            }
            // A command line by a person or an agent.
            (None, None) if effect.verb() == Some("declared") => {
                let is_installed = matches!(effect.place(), None | Some(Scope::System | Scope::Home));
                (of_package(effect) || is_installed) && self.is_given(effect, |given| given.are_plain())
            }
            // Modules that a tool loads, the file of the tool, or the file of a package's program.
            (None, None) => {
                let of_tool = effect.command.is_some_and(|command| self.tools.contains_key(&command));
                // A parsed program whose effects are all safe.
                let is_known = || is_old && self.is_program(effect);
                let is_named = effect.path().is_some_and(|path| path.contains("/.bin/"));
                let is_own = is_old && of_tool || of_package(effect) && (of_tool || !is_named) || is_known();
                (is_own || of_tool && self.is_harmless(effect))
                    && self.is_given(effect, |given| given.stay_inside())
            }
        }
    }

    /// Reports whether a tool tests, checks or builds the project with permitted arguments.
    fn runs_tool(&self, system: Option<&System>, effect: &Effect, is_read: bool) -> bool {
        let Some(system) = system else { return false };
        if system.tasks_are_read {
            return is_read && self.is_given(effect, |given| given.are_harmless());
        }
        match options(system, effect) {
            Some(Options::Open) => self.is_given(effect, |given| given.stay_inside()),
            Some(Options::Exact) => {
                self.is_given(effect, |given| given.stay_inside() && !given.name_programs())
            }
            Some(Options::Plain) => self
                .is_given(effect, |given| given.are_plain() && !given.name_programs() && !given.are_orders()),
            Some(Options::Task) => {
                let is_task = effect.target().is_some_and(|target| TASKS.contains(&target));
                is_task && self.is_given(effect, |given| given.are_plain() && !given.name_programs())
            }
            None => false,
        }
    }

    /// Reports whether the arguments of an effect's command pass a check. Commands in the project's own files always
    /// pass; arguments after a task's name go to the task.
    fn is_given(&self, effect: &Effect, are_fine: fn(&Arguments<'_>) -> bool) -> bool {
        let command = effect.command.and_then(|command| self.commands.get(&command));
        effect.script_path().is_some()
            || command.is_some_and(|command| are_fine(&Arguments { command, cwd: self.cwd }))
    }
}

/// Reports whether an effect installs packages that the project declares.
pub(super) fn is_declared(effect: &Effect) -> bool {
    effect.verb().is_some_and(|verb| DECLARED.contains(&verb))
}

/// Reports whether a workspace file runs that is older than the session and gives no instructions to other programs.
fn is_old(effect: &Effect) -> bool {
    effect.kind() == EffectKind::Execute
        && effect.place() == Some(Scope::Workspace)
        && effect.scope() == Some(Scope::Workspace)
        && effect.file_origin() == Some(FileOrigin::Repository)
}

/// Reports whether a file of an installed package runs that the session has not changed.
fn of_package(effect: &Effect) -> bool {
    effect.place() == Some(Scope::Workspace)
        && matches!(effect.scope(), Some(Scope::Workspace | Scope::Hijack))
        && effect.file_origin() == Some(FileOrigin::Repository)
        && effect.path().is_some_and(|path| path.contains("/node_modules/"))
}

/// Reports whether a package is loaded that the project's manifest declares. False for a program that was not found.
fn is_declared_module(effect: &Effect, commands: &BTreeMap<usize, &Command>) -> bool {
    let command = effect.command.and_then(|command| commands.get(&command));
    let is_program = command.is_none_or(|command| command.name.as_deref() == effect.target());
    let is_module = effect.path().is_none() && effect.why() == Some(Why::Unresolved);
    effect.kind() == EffectKind::Execute && is_module && !is_program
}

/// Reports whether the machine's own program of that name or a declared module runs, and no file given by path.
fn is_by_name(effect: &Effect) -> bool {
    let is_bare = effect.target().is_some_and(|name| !name.contains('/'));
    is_bare || effect.path().is_none() || effect.place() == Some(Scope::System)
}

/// Returns the options that a tool may get if the effect is that it tests, checks or builds the project.
fn options(system: &System, effect: &Effect) -> Option<Options> {
    system.project_options(effect.verb()?)
}
