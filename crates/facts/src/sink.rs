//! [`Sink`]: collects the effects of one command. A sink locates paths, adds the fields that all effects of the command
//! share, and adds an Opaque effect for each path that it could not locate.

use castellan_event::{Answer, Effect, EffectKind, FileKind, Guard, Query, Role, Scope, Why};
use castellan_programs::{Arg, Piece};
use castellan_shell::Stdin;

use crate::changes::{changes_tree, keeps_code};
use crate::guard;
use crate::language::SHELL;
use crate::limits::{
    BYTES_PER_WORK, LINKS_MAX, WORK_OF_DESCENT, WORK_OF_EFFECT, WORK_OF_LINK, WORK_OF_PATH, WORK_OF_UNSURE,
};
use crate::next::{From, Left, Program, Task};
use crate::overlay::Way;
use crate::path::{self, Last, Located};
use crate::scene::Scene;
use crate::scope;
use crate::{manifests, trees};

mod unknown;

pub(crate) struct Sink<'f, 's, 'w, 'r> {
    pub(crate) scene: &'f mut Scene<'s, 'w, 'r>,
    effects: &'f mut Vec<Effect>,
    /// Index of the command in the call.
    command: Option<usize>,
    /// Index of the file in the call, for an effect of the tool itself.
    pub(crate) file: Option<usize>,
    /// The directory for relative paths.
    pub(crate) cwd: Option<String>,
    /// The command descends into directories, for programs that can.
    pub(crate) recursive: Option<bool>,
    /// The command does not ask, for programs that can.
    pub(crate) force: Option<bool>,
    /// The command only shows the changes that it would make.
    pub(crate) dry: bool,
    /// Paths may begin with a drive or a server on every system, as in PowerShell and cmd.
    pub(crate) has_drives: bool,
    /// The command runs on another machine or in a container: paths are not paths of this machine.
    pub(crate) remote: bool,
    /// The program's handler understands a subcommand that the model does not know.
    pub(crate) knows_subcommand: bool,
    /// The command names git's repository, which may differ from the repository around its directory.
    pub(crate) names_repository: bool,
    /// The work tree that the command names for git.
    pub(crate) work_tree: Option<Arg>,
    /// The command's standard input.
    pub(crate) stdin: Stdin,
    /// The command is a shell.
    pub(crate) is_shell: bool,
    /// The command is version control: it fetches a work tree and writes that work tree's settings itself.
    pub(crate) is_of_versions: bool,
    /// Standard input is the output of another command.
    pub(crate) piped: bool,
    /// The walk follows the written contents: a redirect, or a program with known output.
    pub(crate) is_followed: bool,
    /// The programs and tasks that the command runs.
    pub(crate) left: Left,
    /// The command that a handler found within the arguments. Its effects follow those of the handler.
    pub(crate) inner: Option<Vec<Arg>>,
    /// Tasks are only shown: nothing runs except the code that runs when their file is read.
    pub(crate) shows_tasks: bool,
    /// The script that contains the command, and its SHA-256.
    script: Option<(String, Option<String>)>,
}

impl<'f, 's, 'w, 'r> Sink<'f, 's, 'w, 'r> {
    pub(crate) fn new(
        scene: &'f mut Scene<'s, 'w, 'r>,
        effects: &'f mut Vec<Effect>,
        command: Option<usize>,
        cwd: Option<String>,
    ) -> Self {
        Sink {
            scene,
            effects,
            command,
            file: None,
            cwd,
            recursive: None,
            force: None,
            dry: false,
            has_drives: false,
            remote: false,
            knows_subcommand: false,
            names_repository: false,
            work_tree: None,
            stdin: Stdin::Inherited,
            piped: false,
            is_shell: false,
            is_of_versions: false,
            is_followed: false,
            left: Left::default(),
            inner: None,
            shows_tasks: false,
            script: None,
        }
    }

    /// Sets the script of the effects that follow. `file` is the path as the walk asked for it.
    pub(crate) fn comes_from(&mut self, file: Option<&str>) {
        self.script = file.map(|file| match self.scene.files.known.get(file) {
            Some(known) => (known.path.clone(), known.sha256.clone()),
            None => (file.to_owned(), None),
        });
    }

    /// Adds an effect without a path.
    pub(crate) fn add(&mut self, effect: Effect) {
        if effect.kind == EffectKind::Interactive && !self.is_prompt(effect.system.as_deref()) {
            return;
        }
        if self.dry && !happens_dry(effect.kind) {
            return;
        }
        let place = effect.place.or_else(|| self.place_of_repository(&effect));
        self.push(Effect { place, ..effect });
    }

    /// The place of the repository that git changes or queries: the directory where git runs.
    fn place_of_repository(&self, effect: &Effect) -> Option<Scope> {
        let is_here = effect.system.as_deref() == Some("git")
            && matches!(effect.kind, EffectKind::Query | EffectKind::Mutate | EffectKind::Destroy)
            && !self.remote
            && !self.names_repository;
        let cwd = self.cwd.as_deref().filter(|_| is_here)?;
        Some(if is_below(cwd, &self.scene.session.setting.workspace) {
            Scope::Workspace
        } else {
            Scope::Outside
        })
    }

    /// True if a program that takes commands from standard input takes them from a person. Commands from a pipe, a file
    /// or a text are code. Such code for a shell was already found with the command.
    fn is_prompt(&mut self, system: Option<&str>) -> bool {
        let from = match &self.stdin {
            Stdin::Inherited if !self.piped => return true,
            Stdin::Inherited => From::Text(Arg::unknown(Why::Input, "", false)),
            Stdin::Text(text) => From::Text(text.clone()),
            Stdin::File(path) => From::File(path.clone()),
        };
        if !self.is_shell {
            self.program(system.unwrap_or_default(), from);
        }
        false
    }

    /// Adds a program in another language that the command runs.
    pub(crate) fn program(&mut self, language: &str, from: From) {
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
        if self.remote {
            return;
        }
        let (system, verb, is_shown) = (system.to_owned(), verb.to_owned(), self.shows_tasks);
        let task = Task { system, verb, file: Arg::known(file), name: name.map(str::to_owned), is_shown };
        self.left.tasks.push((task, self.cwd.clone()));
    }

    /// Spends work. False if the work is used up.
    pub(crate) fn spend(&mut self, units: u64) -> bool {
        self.scene.budget.spend(units, self.command, self.effects)
    }

    pub(crate) fn push(&mut self, effect: Effect) {
        let kept = [&effect.path, &effect.path_raw, &effect.target, &effect.url];
        let bytes: usize = kept.into_iter().flatten().map(String::len).sum();
        if !self.spend(WORK_OF_EFFECT + (bytes / BYTES_PER_WORK) as u64) {
            return;
        }
        self.remember_tree(&effect);
        let (script_path, script_sha256) =
            self.script.clone().map_or((None, None), |(path, hash)| (Some(path), hash));
        let (command, file) = (self.command, self.file);
        let home_bytes =
            effect.path.as_deref().and_then(|path| scope::home_of(path, &self.scene.session.places));
        let package = manifests::name_of_package(&effect);
        let guard = self.guard_of(&effect).or_else(|| self.guard_of_tree(&effect));
        self.effects.push(Effect {
            guard,
            command,
            file,
            home_bytes,
            package,
            script_path,
            script_sha256,
            ..effect
        });
    }

    /// Returns the part of the session's guard that an effect may change. Other machines' paths are not guarded.
    pub(crate) fn guard_of(&mut self, effect: &Effect) -> Option<Guard> {
        let raw = effect.path_raw.as_deref().filter(|_| !self.remote)?;
        if !guard::changes(effect.kind) {
            return None;
        }
        let called = effect.path.as_ref().and_then(|_| path::collapse(self.cwd.as_deref(), raw));
        let Scene { session, world, .. } = &mut *self.scene;
        session.guarded().reached(effect, called.as_deref(), &session.places, &mut |path| {
            let kind = world.ask(Query::FileKind { path });
            !matches!(kind, Some(Answer::FileKind(FileKind::Missing)))
        })
    }

    /// Returns the part of the guard that version control may change in a work tree without naming files.
    fn guard_of_tree(&mut self, effect: &Effect) -> Option<Guard> {
        if self.remote || !changes_tree(effect) {
            return None;
        }
        let root = match self.work_tree.clone() {
            Some(tree) => self.locate(&tree).path,
            None if self.names_repository => self.cwd.clone(),
            None => {
                let cwd =
                    self.cwd.clone().filter(|cwd| !is_below(cwd, &self.scene.session.setting.workspace));
                cwd.map(|cwd| trees::root(cwd, self.scene))
            }
        };
        self.guard_of(&Effect {
            kind: EffectKind::Write,
            recursive: Some(true),
            path_raw: root.clone(),
            path: Some(root?),
            ..Effect::default()
        })
    }

    /// Adds an effect of this kind on a target that is not a path.
    pub(crate) fn on(&mut self, kind: EffectKind, system: &str, verb: &str, target: Option<&Arg>) {
        let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        self.add(Effect {
            kind,
            system: text(system),
            verb: text(verb),
            target: target.map(|arg| arg.written().into_owned()),
            recursive: self.recursive,
            force: self.force,
            ..Effect::default()
        });
        if let Some(arg) = target {
            self.unless_known((kind, system, verb), arg);
        }
    }

    /// Adds an effect of this kind on the path in an argument.
    pub(crate) fn path(&mut self, kind: EffectKind, arg: &Arg) {
        self.path_effect(Effect { kind, ..Effect::default() }, arg);
    }

    /// Adds an effect on the path in an argument.
    pub(crate) fn path_effect(&mut self, effect: Effect, arg: &Arg) {
        let is_entry = matches!(effect.kind, EffectKind::Delete | EffectKind::Link);
        let mut located = if is_entry { self.locate_entry(arg) } else { self.locate(arg) };
        if effect.kind == EffectKind::Read && located.path.is_none() && self.is_surely_secret(arg) {
            located.scope = Some(Scope::Secret);
        }
        if effect.kind == EffectKind::Execute && !self.dry {
            self.unless_file(&located);
        }
        self.located(effect, located);
    }

    /// True if every value of a path's unknown part makes it a secret: `config/$STAGE.secrets.yml`.
    fn is_surely_secret(&mut self, arg: &Arg) -> bool {
        if arg.as_str().is_some() {
            return false;
        }
        // The unknown part may be a whole name before the secret's own name.
        let named = |with: &str| {
            let mut path = String::new();
            for piece in arg.pieces() {
                match piece {
                    Piece::Text(text) if with.is_empty() => path += text.trim_start_matches(['.', '-', '_']),
                    Piece::Text(text) => path += text,
                    Piece::Unknown { .. } => path += with,
                }
            }
            path
        };
        let mut is_secret = |path: String| self.locate(&Arg::known(path)).scope == Some(Scope::Secret);
        is_secret(named("x")) || is_secret(named(""))
    }

    /// Adds an effect on a path that was already located.
    pub(crate) fn located(&mut self, effect: Effect, located: Located) {
        if self.dry && !happens_dry(effect.kind) {
            return;
        }
        // Streams store nothing, or the process has them open already.
        let kind = effect.kind;
        if located.path.as_deref().is_some_and(path::is_stream) {
            // Code that a shell reads from a stream was found with the command.
            let is_empty = located.path.as_deref() == Some("/dev/null");
            if kind == EffectKind::Execute && !self.is_shell && !is_empty {
                self.opaque(Role::Code, Why::Input, &located.raw);
            }
            return;
        }
        if kind == EffectKind::Execute && !self.remote {
            let Effect { system, verb, target, .. } = &effect;
            if let Some(system) = system {
                let verb = verb.as_deref().unwrap_or_default();
                self.task(system, verb, target.as_deref(), &located.raw);
            }
        }
        // This must precede `remember`: a deletion changes the origin.
        let finds = [EffectKind::Execute, EffectKind::Read, EffectKind::Upload, EffectKind::Delete];
        let origin = located.path.as_deref().filter(|_| finds.contains(&kind) && !self.remote);
        let origin = origin.and_then(|path| self.scene.origin_of(path, located.place));
        self.remember(kind, &effect, &located);
        if kind == EffectKind::Write && self.kind_at(&located) == Some(FileKind::Fifo) {
            self.inject(&located);
        }
        let changing = located.path.as_deref().filter(|path| self.scene.session.is_changing(path));
        let changing = changing.map(|_| Why::Changing);
        let Located { path, raw, scope, place, is_linked, why, about: _ } = located;
        self.push(Effect {
            path,
            path_raw: Some(raw.clone()),
            is_linked,
            scope,
            place,
            file_origin: origin,
            recursive: effect.recursive.or(self.recursive),
            force: effect.force.or(self.force),
            ..effect
        });
        if let Some(why) = why.or(changing) {
            // A path that is too long to locate may hide the file that is read. No real file has such a name.
            let is_hidden = kind == EffectKind::Read && why == Why::Size;
            let role = if is_hidden { Role::Target } else { role_of(kind, scope) };
            self.opaque(role, why, &raw);
        }
    }

    fn kind_at(&mut self, located: &Located) -> Option<FileKind> {
        let path = located.path.clone().filter(|_| !self.remote)?;
        match self.scene.world.ask(Query::FileKind { path })? {
            Answer::FileKind(kind) => Some(kind),
            Answer::RealPath(_)
            | Answer::Contents(_)
            | Answer::Executable(_)
            | Answer::Repository(_)
            | Answer::Newest(_)
            | Answer::Process(_) => None,
        }
    }

    /// Adds an Opaque effect for code that is not in a regular file: an open descriptor, a FIFO, a device. For a shell,
    /// such code by path was found with the command.
    fn unless_file(&mut self, located: &Located) {
        let path = located.path.as_deref();
        let is_stream = path.is_some_and(path::is_stream);
        let gives = |kind| matches!(kind, FileKind::Fifo | FileKind::Device | FileKind::Socket);
        let is_given = match self.is_shell {
            true => is_stream && path != Some("/dev/null"),
            false => !is_stream && self.kind_at(located).is_some_and(gives),
        };
        if is_given {
            self.opaque(Role::Code, Why::Input, &located.raw);
        }
    }

    /// Adds an Inject effect for a write to a FIFO: another program reads the text and may run it as commands.
    fn inject(&mut self, located: &Located) {
        let (path, path_raw) = (located.path.clone(), Some(located.raw.clone()));
        let verb = Some("fifo".to_owned());
        self.push(Effect { kind: EffectKind::Inject, verb, path, path_raw, ..Effect::default() });
    }

    /// True if the command, as far as it was analysed, changes a system.
    pub(crate) fn has_changed_a_system(&self) -> bool {
        let changes = |effect: &Effect| matches!(effect.kind, EffectKind::Mutate | EffectKind::Destroy);
        // The command's own effects are the last ones.
        self.effects.iter().rev().take_while(|effect| effect.command == self.command).any(changes)
    }

    /// True if the command itself, as far as it was analysed, writes a path.
    pub(crate) fn has_itself_written(&self, path: &str) -> bool {
        let mut own = self.effects.iter().rev().take_while(|effect| effect.command == self.command);
        own.any(|effect| effect.kind == EffectKind::Write && effect.path.as_deref() == Some(path))
    }

    /// Locates an argument, through links that this call has made.
    pub(crate) fn locate(&mut self, arg: &Arg) -> Located {
        self.followed(arg, Last::Followed, true)
    }

    /// Locates an argument for an effect on the name itself: a final link is not followed.
    fn locate_entry(&mut self, arg: &Arg) -> Located {
        // `link/` means the link's target.
        let through = arg.as_str().is_some_and(|text| text.ends_with('/'));
        self.followed(arg, Last::Kept, through)
    }

    /// `through`: a final link that this call has made is followed.
    fn followed(&mut self, arg: &Arg, last: Last, through: bool) -> Located {
        let unsure = arg.pieces().iter().filter(|piece| matches!(piece, Piece::Unknown { .. })).count();
        let bytes = arg.len() + self.cwd.as_ref().map_or(0, String::len);
        let descends = arg.pieces().iter().any(|piece| piece.written().contains("**"));
        let times = if descends { WORK_OF_DESCENT } else { 1 };
        let units = WORK_OF_PATH + (bytes / BYTES_PER_WORK) as u64 + unsure as u64 * WORK_OF_UNSURE * times;
        if !self.spend(units) {
            return path::unknown(arg, Why::Budget);
        }
        if self.remote {
            return path::elsewhere(arg, &self.scene.session.places);
        }
        let on_drive = self.has_drives && !self.scene.session.places.is_windows;
        if let Some(located) = on_drive.then(|| path::on_drive(arg, self.scene.world, last)).flatten() {
            return located;
        }
        let located = self.scene.located(arg, self.cwd.as_deref(), last);
        let way = located.path.as_deref().map_or(Way::Same, |path| self.scene.overlay.follow(path, through));
        let followed = match way {
            Way::Same => return located,
            Way::Elsewhere(_) => 1,
            Way::Endless => LINKS_MAX as u64,
        };
        if !self.spend(followed * WORK_OF_LINK) {
            return path::unknown(arg, Why::Budget);
        }
        let elsewhere = match way {
            Way::Same => return located,
            Way::Elsewhere(path) => path,
            Way::Endless => return located.without_end(),
        };
        let (places, world) = (&self.scene.session.places, &mut *self.scene.world);
        let followed = path::find(&Arg::known(elsewhere), None, places, world, last);
        Located { raw: located.raw, is_linked: true, ..followed }
    }

    /// Stores the changes of version control in a work tree: anything below the repository may change.
    fn remember_tree(&mut self, effect: &Effect) {
        if !changes_tree(effect) || self.remote {
            return;
        }
        let workspace = Some(self.scene.session.setting.workspace.as_str()).filter(|path| !path.is_empty());
        let here = self.cwd.as_deref();
        let inside = workspace.filter(|path| here.is_none_or(|here| is_below(here, path)));
        let Some(directory) = inside.or(here).map(str::to_owned) else { return };
        if effect.verb.is_some() {
            self.scene.overlay.change_below(&directory);
        }
        self.scene.changed_trees.insert(directory);
    }

    fn remember(&mut self, kind: EffectKind, effect: &Effect, located: &Located) {
        let Some(path) = &located.path else { return };
        if keeps_code(effect) {
            return;
        }
        // A pattern may mean every path that matches it.
        if matches!(kind, EffectKind::Write | EffectKind::Link)
            && let Some(at) = path.find(PATTERN)
        {
            let directory =
                path.get(..at).and_then(|known| known.rsplit_once('/')).map_or("", |(above, _)| above);
            self.scene.overlay.change_named(directory, ending(path));
        }
        if kind == EffectKind::Delete {
            self.scene.overlay.remove(path);
        }
        let is_deep = effect.recursive.or(self.recursive) == Some(true);
        if kind == EffectKind::Write && is_deep && !self.is_of_versions {
            self.scene.overlay.put_below(path);
        } else if kind == EffectKind::Delete || kind == EffectKind::Write && is_deep {
            self.scene.overlay.change_below(path);
        }
        match (kind, &effect.target) {
            (EffectKind::Write, _) => {
                let name = path::collapse(self.cwd.as_deref(), &located.raw);
                self.scene.overlay.write(path, name.filter(|_| self.is_followed));
            }
            (EffectKind::Link, Some(target)) => self.scene.overlay.link(path, target),
            _ => {}
        }
    }
}

/// True if a path is the directory or is below the directory. False for an unknown directory.
fn is_below(path: &str, directory: &str) -> bool {
    !directory.is_empty()
        && path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The end of every name that matches a pattern.
fn ending(pattern: &str) -> &str {
    let name = pattern.rsplit('/').next().unwrap_or_default();
    let end = name.rsplit_once(['*', '?', ']', '}', '{', '[']).map_or("", |(_, end)| end);
    if name.ends_with('}') || name.contains('{') { "" } else { end }
}

/// Characters of a shell pattern.
const PATTERN: &[char] = &['*', '?', '[', '{'];

/// An unknown target is as important as the effect on it.
fn role_of(kind: EffectKind, scope: Option<Scope>) -> Role {
    use EffectKind::{
        Connect, Delete, Destroy, Download, Elevate, Environment, Execute, Inject, Install, Link, Mutate,
        Permission, Publish, Read, Schedule, Service, Signal, Upload, Write,
    };
    match kind {
        Execute => Role::Program,
        Read if scope.is_none_or(|scope| scope > Scope::Vcs) => Role::Operand,
        Read | Write | Delete | Link | Permission | Upload | Download | Connect | Install | Publish
        | Mutate | Destroy | Signal | Service | Schedule | Inject | Environment | Elevate => Role::Target,
        EffectKind::Interactive
        | EffectKind::Listen
        | EffectKind::Query
        | EffectKind::Detach
        | EffectKind::Spawn
        | EffectKind::Mcp
        | EffectKind::Opaque => Role::Operand,
    }
}

/// True if the effect happens even if changes are only shown.
fn happens_dry(kind: EffectKind) -> bool {
    matches!(kind, EffectKind::Read | EffectKind::Connect | EffectKind::Query | EffectKind::Opaque)
}
