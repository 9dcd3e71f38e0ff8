//! [`Sink`]: collects the effects of one command. A sink locates paths, adds the fields that all effects of the command
//! share, and adds an Opaque effect for each path that it could not locate.

use std::sync::Arc;

use castellan_event::{Effect, EffectKind, Object, Operation, Remote, Scope, ScriptId, Why};
use castellan_programs::Arg;
use castellan_shell::Stdin;

use crate::detours;
use crate::language::SHELL;
use crate::limits::{BYTES_PER_WORK, WORK_OF_EFFECT};
use crate::manifests;
use crate::next::{From, Left, Program, Task};
use crate::owner::sets_remote;
use crate::scene::Scene;

mod bounds;
mod guarded;
mod paths;
mod remember;
mod unknown;

pub(crate) use bounds::Content;
pub(crate) use paths::About;

pub(crate) struct Sink<'f, 's, 'w, 'r> {
    pub(crate) scene: &'f mut Scene<'s, 'w, 'r>,
    effects: &'f mut Vec<Effect>,
    pub(crate) source: Source,
    pub(crate) setup: Setup,
    pub(crate) mode: Mode,
    /// The directory for relative paths.
    pub(crate) cwd: Option<String>,
    /// Paths may begin with a drive or a server on every system, as in PowerShell and cmd.
    pub(crate) has_drives: bool,
    /// The program's handler understands a subcommand that the model does not know.
    pub(crate) knows_subcommand: bool,
    /// The command is a shell.
    pub(crate) is_shell: bool,
    /// The command is version control: it fetches a work tree and writes that work tree's settings itself.
    pub(crate) is_of_versions: bool,
    /// The walk follows the written contents: a redirect, or a program with known output.
    pub(crate) is_followed: bool,
    /// Tasks are only shown: nothing runs except the code that runs when their file is read.
    pub(crate) shows_tasks: bool,
    /// The programs and tasks that the command runs.
    pub(crate) left: Left,
    /// The command that a handler found within the arguments. Its effects follow those of the handler.
    pub(crate) inner: Option<Vec<Arg>>,
}

/// The part of the call that has the effects.
#[derive(Default)]
pub(crate) struct Source {
    /// Index of the command in the call.
    command: Option<usize>,
    /// Index of the file in the call, for an effect of the tool itself.
    pub(crate) file: Option<usize>,
    /// The script that contains the command.
    script: Option<Arc<ScriptId>>,
}

/// How the command is started.
pub(crate) struct Setup {
    /// The command runs on another machine or in a container: paths are not paths of this machine.
    pub(crate) remote: bool,
    /// The command's standard input.
    pub(crate) stdin: Stdin,
    /// Standard input is the output of another command.
    pub(crate) piped: bool,
    /// The command names git's repository, which may differ from the repository around its directory.
    pub(crate) names_repository: bool,
    /// The work tree that the command names for git.
    pub(crate) work_tree: Option<Arg>,
}

/// The meaning of the options of the program or subcommand.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Mode {
    /// The command descends into directories, for programs that can.
    pub(crate) recursive: Option<bool>,
    /// The command does not ask, for programs that can.
    pub(crate) force: Option<bool>,
    /// The command only shows the changes that it would make.
    pub(crate) dry: bool,
}

impl<'f, 's, 'w, 'r> Sink<'f, 's, 'w, 'r> {
    pub(crate) fn new(
        scene: &'f mut Scene<'s, 'w, 'r>,
        effects: &'f mut Vec<Effect>,
        command: Option<usize>,
        cwd: Option<String>,
    ) -> Self {
        let (names_repository, work_tree, stdin) = (false, None, Stdin::Inherited);
        Sink {
            scene,
            effects,
            source: Source { command, ..Source::default() },
            setup: Setup { remote: false, stdin, piped: false, names_repository, work_tree },
            mode: Mode::default(),
            cwd,
            has_drives: false,
            knows_subcommand: false,
            is_shell: false,
            is_of_versions: false,
            is_followed: false,
            shows_tasks: false,
            left: Left::default(),
            inner: None,
        }
    }

    /// Sets the script of the effects that follow. `file` is the path as the walk asked for it.
    pub(crate) fn comes_from(&mut self, file: Option<&str>) {
        self.source.script = file.map(|file| {
            Arc::new(match self.scene.files.known.get(file) {
                Some(known) => ScriptId { path: known.path.clone(), sha256: known.sha256.clone() },
                None => ScriptId { path: file.to_owned(), sha256: None },
            })
        });
    }

    /// Adds an operation without a path.
    pub(crate) fn add(&mut self, op: Operation) {
        self.add_on(op, Object::Target);
    }

    /// Adds an operation on another machine, or over the network.
    pub(crate) fn add_remote(&mut self, op: Operation, remote: Remote) {
        self.add_on(op, Object::Remote(Box::new(remote)));
    }

    /// Adds an operation on an object that is not a path of this machine.
    pub(crate) fn add_on(&mut self, op: Operation, object: Object) {
        if op.kind == EffectKind::Interactive && !self.is_prompt(op.system.as_deref()) {
            return;
        }
        if !self.mode.dry || happens_dry(op.kind) {
            let object = if object == Object::Target { self.object_of(&op) } else { object };
            self.push(op, object);
        }
    }

    /// Returns the object that the words of an operation name: a repository, or a package.
    fn object_of(&mut self, op: &Operation) -> Object {
        if op.kind == EffectKind::Install {
            return Object::Package { name: manifests::name_of_package(op), origin: None };
        }
        let (place, guard) = (self.place_of_repository(op), self.guard_of_tree(op));
        if place.is_none() && guard.is_none() { Object::Target } else { Object::Repository { place, guard } }
    }

    /// The place of the repository that git changes or queries: the directory where git runs.
    fn place_of_repository(&self, op: &Operation) -> Option<Scope> {
        let is_here = op.system.as_deref() == Some("git")
            && matches!(op.kind, EffectKind::Query | EffectKind::Mutate | EffectKind::Destroy)
            && !self.setup.remote
            && !self.setup.names_repository;
        let cwd = self.cwd.as_deref().filter(|_| is_here)?;
        Some(if is_below(cwd, &self.scene.session.setting.workspace) {
            Scope::Workspace
        } else {
            Scope::Outside
        })
    }

    /// True if the call so far has set the address of a remote in the settings file of a repository.
    pub(crate) fn has_set_remote(&self, settings: &str) -> bool {
        self.effects.iter().any(|effect| sets_remote(&effect.op) && effect.path() == Some(settings))
    }

    /// True if the call so far has changed settings of git.
    pub(crate) fn has_configured_git(&self) -> bool {
        self.effects.iter().any(|effect| {
            effect.kind() == EffectKind::Mutate
                && effect.system() == Some("git")
                && effect.verb() == Some("config")
        })
    }

    /// True if a program that takes commands from standard input takes them from a person. Commands from a pipe, a file
    /// or a text are code. Such code for a shell was already found with the command.
    fn is_prompt(&mut self, system: Option<&str>) -> bool {
        let from = match &self.setup.stdin {
            Stdin::Inherited if !self.setup.piped => return true,
            Stdin::Inherited => From::Text(Arg::unknown(Why::Input, "", false)),
            Stdin::Text(text) => From::Text(text.clone()),
            Stdin::File(path) => From::File(path.clone()),
        };
        if !self.is_shell {
            self.program(system.unwrap_or_default(), from);
        }
        false
    }

    /// Notices that the command may load the files of its project that `may_load` accepts.
    pub(crate) fn loads_project(&mut self, may_load: impl Fn(&str) -> bool) {
        if !self.setup.remote {
            self.scene.load_contained(self.cwd.as_deref(), may_load);
        }
    }

    /// Adds a program in another language that the command runs.
    pub(crate) fn program(&mut self, language: &str, from: From) {
        // The commands of shell text are looked at one by one.
        if language != SHELL {
            self.loads_project(|_| true);
        }
        self.left.programs.push(Program {
            language: language.to_owned(),
            from,
            cwd: self.cwd.clone(),
            args: None,
        });
    }

    /// Adds text that the command passes to a shell and that was not found with the command.
    pub(crate) fn shell(&mut self, text: Arg) {
        self.program(SHELL, From::Text(text));
    }

    /// Adds a task of a file that the command runs.
    pub(crate) fn task(&mut self, system: &str, verb: &str, name: Option<&str>, file: &str) {
        if self.setup.remote {
            return;
        }
        let (system, verb, is_shown) = (system.to_owned(), verb.to_owned(), self.shows_tasks);
        let task = Task { system, verb, file: Arg::known(file), name: name.map(str::to_owned), is_shown };
        self.left.tasks.push((task, self.cwd.clone()));
    }

    /// Spends work. False if the work is used up.
    pub(crate) fn spend(&mut self, units: u64) -> bool {
        self.scene.budget.spend(units, self.source.command, self.effects)
    }

    pub(crate) fn push(&mut self, op: Operation, object: Object) {
        let effect = Effect {
            command: self.source.command,
            file: self.source.file,
            script: self.source.script.clone(),
            op,
            object,
        };
        let kept = [effect.path(), effect.path_raw(), effect.target(), effect.url()];
        let bytes: usize = kept.into_iter().flatten().map(str::len).sum();
        if self.spend(WORK_OF_EFFECT + (bytes / BYTES_PER_WORK) as u64) {
            self.remember_tree(&effect);
            self.effects.push(effect);
        }
    }

    /// Adds an effect of this kind on a target that is not a path.
    pub(crate) fn on(&mut self, kind: EffectKind, system: &str, verb: &str, target: Option<&Arg>) {
        let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        self.add(Operation {
            kind,
            system: text(system),
            verb: text(verb),
            target: target.map(|arg| arg.written().into_owned()),
            recursive: self.mode.recursive,
            force: self.mode.force,
        });
        if let Some(arg) = target {
            self.unless_known((kind, system, verb), arg);
        }
    }

    /// True if the command, as far as it was analysed, changes a system.
    pub(crate) fn has_changed_a_system(&self) -> bool {
        let changes = |effect: &Effect| matches!(effect.kind(), EffectKind::Mutate | EffectKind::Destroy);
        // The command's own effects are the last ones.
        self.effects.iter().rev().take_while(|effect| effect.command == self.source.command).any(changes)
    }

    /// True if requests of the command to this machine reach another one, as far as the call was analysed.
    pub(crate) fn is_led_elsewhere(&self) -> bool {
        self.scene.has_tunnel || detours::are_requests_led(self.source.command, self.effects)
    }

    /// True if the command itself, as far as it was analysed, writes a path.
    pub(crate) fn has_itself_written(&self, path: &str) -> bool {
        let mut own = self.effects.iter().rev().take_while(|effect| effect.command == self.source.command);
        own.any(|effect| effect.kind() == EffectKind::Write && effect.path() == Some(path))
    }
}

/// True if a path is the directory or is below the directory. False for an unknown directory.
fn is_below(path: &str, directory: &str) -> bool {
    !directory.is_empty()
        && path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// True if the effect happens even if changes are only shown.
fn happens_dry(kind: EffectKind) -> bool {
    matches!(kind, EffectKind::Read | EffectKind::Connect | EffectKind::Query | EffectKind::Opaque)
}
