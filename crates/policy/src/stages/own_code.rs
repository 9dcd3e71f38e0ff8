//! The project's own code, as far as the autonomous profile lets it run: tests, builds, tasks and programs that the project has written
//! down and that the session did not put there. It must not know what else a call does.

use std::collections::{BTreeMap, BTreeSet};

use castellan_event::{CallRow, Command, Effect, EffectKind, FileOrigin, Scope, ScriptFile, Why};

use crate::stages::arguments::Arguments;
use crate::stages::variables;

/// A tool that tests, checks or builds, what of all that it does is that, and how it may be given its arguments.
struct Tool {
    name: &'static str,
    verbs: &'static [&'static str],
    given: Given,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Given {
    /// Options that its model does not know only say how it runs the project's code.
    Open,
    /// Such an option may name a program (`go test -exec`).
    Exact,
    /// The arguments are those of the project's own program: nothing in them is an order to change or send something.
    Plain,
    /// It runs a task by a name: one that tests, checks or builds.
    Task,
}

const fn open(name: &'static str, verbs: &'static [&'static str]) -> Tool {
    Tool { name, verbs, given: Given::Open }
}

const fn exact(name: &'static str, verbs: &'static [&'static str]) -> Tool {
    Tool { name, verbs, given: Given::Exact }
}

const fn task(name: &'static str) -> Tool {
    Tool { name, verbs: &["run"], given: Given::Task }
}

const TOOLS: &[Tool] = &[
    open("ava", &["run"]),
    exact("build", &["build"]),
    exact("bun", &["test"]),
    Tool { name: "cargo", verbs: &["run"], given: Given::Plain },
    exact("cargo", &["bench", "build", "check", "clippy", "doc", "test"]),
    exact("coverage", &["run"]),
    open("cypress", &["run"]),
    exact("docs", &["build"]),
    open("esbuild", &["run"]),
    exact("go", &["build", "test", "vet"]),
    exact("grunt", &["run"]),
    exact("gulp", &["run"]),
    open("jasmine", &["run"]),
    open("jest", &["run"]),
    open("karma", &["run"]),
    task("lerna"),
    open("mocha", &["run"]),
    task("next"),
    task("ng"),
    exact("node", &["test"]),
    task("nuxt"),
    task("nx"),
    exact("phpunit", &["run", "test"]),
    open("playwright", &["run"]),
    exact("pytest", &["run", "test"]),
    exact("rake", &["run"]),
    task("react-scripts"),
    open("rollup", &["run"]),
    exact("rspec", &["run", "test"]),
    open("tap", &["run"]),
    exact("test", &["test"]),
    open("tsup", &["run"]),
    task("turbo"),
    exact("unittest", &["test"]),
    open("vite", &["run"]),
    open("vitest", &["run"]),
    open("vue", &["run"]),
    open("webpack", &["run"]),
    exact("wireit", &["run"]),
];

/// Tasks of such tools that test, check or build, and the words before them.
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

/// What git is told of itself that changes neither where it looks nor what it runs.
const SETTINGS: &[&str] = &[
    "advice.detachedHead",
    "color.ui",
    "commit.gpgsign",
    "core.autocrlf",
    "core.filemode",
    "core.ignorecase",
    "core.longpaths",
    "core.quotepath",
    "diff.renames",
    "fetch.prune",
    "init.defaultBranch",
    "merge.conflictstyle",
    "pull.ff",
    "pull.rebase",
    "push.autoSetupRemote",
    "push.default",
    "rebase.autoStash",
    "user.email",
    "user.name",
];

/// Runners whose tasks are read: what a task does is found in it, if it is there.
const RUNNERS: &[&str] = &["composer", "just", "make", "npm", "task"];

/// What an installation brings that the project has written down.
const DECLARED: &[&str] = &["declared", "lockfile", "manifest"];

const PROGRAMS: &[&str] = &[".cjs", ".cts", ".js", ".mjs", ".mts", ".php", ".py", ".rb", ".ts"];

/// What is the project's own among the effects of a call.
#[derive(Debug, Default)]
pub(crate) struct OwnCode<'r> {
    /// Files of which something runs that was read; `None` where the project's own code is a program like others.
    scripts: Option<BTreeSet<&'r str>>,
    /// The commands, by their positions.
    commands: BTreeMap<usize, &'r Command>,
    /// Those that a tool runs which tests or builds, with whether options that nobody knows matter.
    tools: BTreeMap<usize, bool>,
    /// Files that the session wrote, of which everything that they do is known, and is no more than anybody may do.
    harmless: BTreeSet<&'r str>,
    /// The directory that the call begins in.
    cwd: &'r str,
}

impl<'r> OwnCode<'r> {
    /// That of a call, which has these rows and runs these files. None counts where what is understood is not allowed.
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
            let mut own = effects().filter(|effect| effect.script_path.as_deref() == Some(path));
            own.all(|effect| is_safe(effect) || is_declared_module(effect, &commands))
        };
        // Of a manifest in JSON it is known which tasks it has; of other files only what was found in them.
        let manifests = read().filter(|path| path.ends_with(".json"));
        let scripts = effects().filter_map(|effect| effect.script_path.as_deref()).chain(manifests).collect();
        let tools = effects().filter(|effect| is_old(effect)).filter_map(|effect| {
            let system = effect.system.as_deref()?;
            // What is typed behind a task's name comes to the task.
            let is_open = RUNNERS.contains(&system);
            let is_open = is_open || tool(system, effect.verb.as_deref())?.given == Given::Open;
            Some((effect.command?, is_open))
        });
        OwnCode {
            scripts: Some(scripts),
            tools: tools.collect(),
            harmless: read().filter(is_harmless).collect(),
            commands,
            cwd: rows.first().map_or("", CallRow::real_cwd),
        }
    }

    /// Whether an effect runs the project's own code, or brings what the project has written down, and does nothing else.
    pub(crate) fn runs(&self, effect: &Effect) -> bool {
        match (&self.scripts, effect.kind) {
            (Some(scripts), EffectKind::Execute) => self.executes(effect, scripts),
            (Some(_), EffectKind::Install) => {
                let is_declared = effect.verb.as_deref().is_some_and(|verb| DECLARED.contains(&verb));
                is_declared
                    && effect.file_origin == Some(FileOrigin::Repository)
                    && self.is_given(effect, |given| given.are_plain())
            }
            (Some(_), EffectKind::Environment) => {
                effect.target.as_deref().is_some_and(variables::is_harmless)
            }
            (Some(_), EffectKind::Write | EffectKind::Mutate) => self.sets_git(effect),
            (Some(_) | None, _) => false,
        }
    }

    /// Whether `git config NAME VALUE` says something of the repository that is the same for all that is done with it.
    fn sets_git(&self, effect: &Effect) -> bool {
        let command = effect.command.and_then(|command| self.commands.get(&command));
        let is_setting = |command: &&Command| {
            let words: Vec<&str> = command.args.iter().map(String::as_str).collect();
            let name = match words.as_slice() {
                ["config", "--local", name, _] | ["config", name, _] => name,
                _ => return false,
            };
            SETTINGS.contains(name) && command.env.is_empty()
        };
        let is_file = |path: &str| path.ends_with("/.git/config");
        let is_here = effect.place == Some(Scope::Workspace)
            && (effect.kind != EffectKind::Write || effect.path.as_deref().is_some_and(is_file));
        effect.system.as_deref() == Some("git")
            && effect.verb.as_deref() == Some("config")
            && is_here
            && command
                .is_some_and(|command| is_setting(command) && self.is_given(effect, |given| given.are_here()))
    }

    /// Whether an option that no model knows says no more than how a tool runs the project's code.
    pub(crate) fn has_open_options(&self, effect: &Effect) -> bool {
        let is_open = effect.command.and_then(|command| self.tools.get(&command));
        is_open == Some(&true) && self.is_given(effect, |given| given.stay_inside())
    }

    /// Whether what runs was put there by the session, and neither does anything that it may not do by itself nor was it fetched.
    pub(crate) fn is_harmless(&self, effect: &Effect) -> bool {
        effect.place == Some(Scope::Workspace)
            && effect.scope == Some(Scope::Workspace)
            && effect.file_origin == Some(FileOrigin::Written)
            && effect.path.as_deref().is_some_and(|path| self.harmless.contains(path))
    }

    /// Whether what runs is a program, and no shell script, that was read and does no more than it may do by itself: what a script does
    /// depends on more than its text.
    fn is_program(&self, effect: &Effect) -> bool {
        effect.path.as_deref().is_some_and(|path| {
            self.harmless.contains(path) && PROGRAMS.iter().any(|ending| path.ends_with(ending))
        })
    }

    fn executes(&self, effect: &Effect, scripts: &BTreeSet<&str>) -> bool {
        // That it runs is known, and nothing of what it does.
        if matches!(effect.why, Some(Why::Language | Why::Shadowed)) {
            return false;
        }
        let is_old = is_old(effect);
        let is_read = || effect.path.as_deref().is_some_and(|path| scripts.contains(path));
        match (effect.system.as_deref(), &effect.script_path) {
            (Some(system), _) if RUNNERS.contains(&system) => {
                is_old && is_read() && self.is_given(effect, |given| given.are_harmless())
            }
            (Some(system), _) => match tool(system, effect.verb.as_deref()).filter(|_| is_old) {
                Some(Tool { given: Given::Open, .. }) => self.is_given(effect, |given| given.stay_inside()),
                Some(Tool { given: Given::Exact, .. }) => {
                    self.is_given(effect, |given| given.stay_inside() && !given.name_programs())
                }
                Some(Tool { given: Given::Plain, .. }) => self.is_given(effect, |given| {
                    given.are_plain() && !given.name_programs() && !given.are_orders()
                }),
                Some(Tool { given: Given::Task, .. }) => {
                    let is_task = effect.target.as_deref().is_some_and(|target| TASKS.contains(&target));
                    is_task && self.is_given(effect, |given| given.are_plain() && !given.name_programs())
                }
                None => false,
            },
            // A program by its name, or a file, in a task or a script of the project.
            (None, Some(_)) => {
                let is_own = is_old || of_package(effect) || self.is_harmless(effect);
                is_own || effect.file_origin.is_none() && is_by_name(effect)
            }
            // What a person or an agent types.
            (None, None) if effect.verb.as_deref() == Some("declared") => {
                let is_installed = matches!(effect.place, None | Some(Scope::System | Scope::Home));
                (of_package(effect) || is_installed) && self.is_given(effect, |given| given.are_plain())
            }
            // Modules that a tool is told to load, and the file of the tool or of a package's program itself.
            (None, None) => {
                let of_tool = effect.command.is_some_and(|command| self.tools.contains_key(&command));
                // A program in a language that is read, and does nothing by itself that it may not do.
                let is_known = || is_old && self.is_program(effect);
                let is_named = effect.path.as_deref().is_some_and(|path| path.contains("/.bin/"));
                let is_own = is_old && of_tool || of_package(effect) && (of_tool || !is_named) || is_known();
                (is_own || of_tool && self.is_harmless(effect))
                    && self.is_given(effect, |given| given.stay_inside())
            }
        }
    }

    /// Whether the arguments of the command that an effect belongs to are as they have to be. The project's own files say theirs
    /// themselves; what is typed behind a task's name comes to the task.
    fn is_given(&self, effect: &Effect, are_fine: fn(&Arguments<'_>) -> bool) -> bool {
        let command = effect.command.and_then(|command| self.commands.get(&command));
        effect.script_path.is_some()
            || command.is_some_and(|command| are_fine(&Arguments { command, cwd: self.cwd }))
    }
}

/// Whether what runs lies in the workspace, is nothing from which other programs take orders, and was there before the session.
fn is_old(effect: &Effect) -> bool {
    effect.kind == EffectKind::Execute
        && effect.place == Some(Scope::Workspace)
        && effect.scope == Some(Scope::Workspace)
        && effect.file_origin == Some(FileOrigin::Repository)
}

/// Whether what runs is a file of an installed package, which the session has not touched.
fn of_package(effect: &Effect) -> bool {
    effect.place == Some(Scope::Workspace)
        && matches!(effect.scope, Some(Scope::Workspace | Scope::Hijack))
        && effect.file_origin == Some(FileOrigin::Repository)
        && effect.path.as_deref().is_some_and(|path| path.contains("/node_modules/"))
}

/// Whether a package is loaded that the project's manifest names, and not a program run that is nowhere.
fn is_declared_module(effect: &Effect, commands: &BTreeMap<usize, &Command>) -> bool {
    let command = effect.command.and_then(|command| commands.get(&command));
    let is_program = command.is_none_or(|command| command.name == effect.target);
    let is_module = effect.path.is_none() && effect.why == Some(Why::Unresolved);
    effect.kind == EffectKind::Execute && is_module && !is_program
}

/// Whether the machine's own program of that name runs, or a module that the project declares: no file that somebody names.
fn is_by_name(effect: &Effect) -> bool {
    let is_bare = effect.target.as_deref().is_some_and(|name| !name.contains('/'));
    is_bare || effect.path.is_none() || effect.place == Some(Scope::System)
}

fn tool(system: &str, verb: Option<&str>) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == system && verb.is_some_and(|verb| tool.verbs.contains(&verb)))
}
