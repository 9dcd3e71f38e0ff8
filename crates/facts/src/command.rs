//! Converts one command into effects: of its program file, its model, its redirects and its environment.

use std::collections::BTreeSet;
use std::rc::Rc;

use castellan_event::{Command, Effect, EffectKind, FileOrigin, Role, Scope, Why};
use castellan_programs::base_name;
use castellan_programs::{Arg, Attribute, Invocation, Program, Style, find, invoke};
use castellan_shell::{Origin, Run, Stdin};

use crate::code::Own;
use crate::limits::{BYTES_PER_WORK, WORK_OF_ARGUMENT};
use crate::names::Resolved;
use crate::next::{Left, Next, Progress};
use crate::scene::Scene;
use crate::sink::Sink;
use crate::{
    code, declared, environment, given, handlers, inherited, loaded, redirect, rows, scripts, slots, told,
};

/// Adds a command and its effects, and leaves the programs and tasks that it runs as work. `pipe_from`: the name of the
/// command whose output it reads.
pub(crate) fn add(
    run: Run,
    pipe_from: Option<String>,
    scene: &mut Scene<'_, '_, '_>,
    progress: &mut Progress,
) {
    let facts = &mut progress.facts;
    let at = facts.commands.len();
    let bytes: usize = run.argv.iter().chain(run.env.iter().map(|(_, value)| value)).map(Arg::len).sum();
    let units = 10 + (bytes / BYTES_PER_WORK) as u64;
    if !scene.budget.spend(units, None, &mut facts.effects) {
        return;
    }
    let before = facts.effects.len();
    let (command, left) = with_effects(&run, at, pipe_from, scene, &mut facts.effects);
    installs(at, before, run.cwd.as_deref(), scene, &mut facts.effects);
    let own = facts.effects.get_mut(before..).unwrap_or_default();
    scene.secrets.add(&run, own);
    if fetches(own, &run) {
        downloads(own, scene);
    }
    if run.script.is_none() && own.iter().any(|effect| effect.kind == EffectKind::Execute) {
        scene.is_code_given_unknown |= is_open(&run);
    }
    facts.commands.push(command);
    if left.is_empty() {
        return given::add(&run, at, before, scene, facts);
    }
    let run = Rc::new(run);
    left.put(&run, at, &mut progress.next);
    progress.next.push(Next::Given(run, at, before));
}

/// Adds the effects of the command itself. Returns the command, and what it runs.
fn with_effects(
    run: &Run,
    at: usize,
    pipe_from: Option<String>,
    scene: &mut Scene<'_, '_, '_>,
    effects: &mut Vec<Effect>,
) -> (Command, Left) {
    let mut command = described(run, pipe_from);
    let mut sink = Sink::new(scene, effects, Some(at), run.cwd.clone());
    sink.remote = !run.remote.is_empty();
    sink.stdin = run.stdin.clone();
    sink.piped = run.pipe_from.is_some();
    sink.names_repository =
        names_repository(run) || sink.scene.exports.names.iter().any(|name| is_of_git(name));
    sink.work_tree = work_tree(run);
    sink.comes_from(run.script.as_deref());
    for wrapper in run.wrappers.iter() {
        wrapper_effects(&wrapper.argv, &mut sink);
    }
    for (name, value) in &run.env {
        environment::effect(name, value, &mut sink);
    }
    for text in std::mem::take(&mut sink.scene.exports.texts) {
        sink.shell(text);
    }
    redirect::effects(&run.redirects, &mut sink);
    let model = command.name.as_deref().and_then(find);
    if let Some(program) = run.argv.first() {
        command.path = program_effects(program, model, run, &mut sink);
        match model {
            Some(model) => invocation_effects(model, run, &mut command, &mut sink),
            None => {
                command.operands.clone_from(&command.args);
                if let Some(name) = &command.name {
                    told::unmodelled(name, run.argv.get(1..).unwrap_or_default(), &mut sink);
                }
            }
        }
    }
    inherited::inherited(run, model, &mut sink);
    let modules = code::module_programs(run, sink.scene);
    sink.left.programs.extend(modules);
    (command, sink.left)
}

/// Returns true if an argument or variable is unknown for another reason than a glob.
fn is_open(run: &Run) -> bool {
    let env = run.env.iter().map(|(_, value)| value);
    run.argv.iter().chain(env).any(|arg| arg.why().is_some_and(|why| why != Why::Glob))
}

/// Returns true if an option or a variable selects the repository for git.
fn names_repository(run: &Run) -> bool {
    let is_told = |arg: &Arg| GIT_OPTIONS.iter().any(|option| arg.prefix().starts_with(option));
    run.env.iter().any(|(name, _)| is_of_git(name)) || run.argv.iter().any(is_told)
}

/// Returns the work tree that an option or a variable selects for git.
fn work_tree(run: &Run) -> Option<Arg> {
    let given = |at: usize, arg: &Arg| match arg.strip_prefix("--work-tree=") {
        None if arg.as_str() == Some("--work-tree") => run.argv.get(at + 1).cloned(),
        value => value,
    };
    let named = run.argv.iter().enumerate().find_map(|(at, arg)| given(at, arg));
    named.or_else(|| {
        let variable = run.env.iter().rev().find(|(name, _)| name.as_str() == "GIT_WORK_TREE");
        variable.map(|(_, value)| value.clone())
    })
}

fn is_of_git(variable: &str) -> bool {
    variable.starts_with("GIT_")
}

/// Options of git that select a repository or a work tree.
const GIT_OPTIONS: &[&str] = &["--git-dir", "--work-tree"];

/// Returns true if the output of a command came from the network: it downloads, reads a downloaded file, or gets data
/// from such a command.
fn fetches(effects: &[Effect], run: &Run) -> bool {
    let is_fetched = |effect: &Effect| {
        effect.kind == EffectKind::Download
            || effect.kind == EffectKind::Read && effect.file_origin == Some(FileOrigin::Downloaded)
    };
    let is_given = |arg: &Arg| arg.why() == Some(Why::Network);
    let input = matches!(&run.stdin, Stdin::Text(text) if is_given(text));
    effects.iter().any(is_fetched)
        || input
        || run.argv.iter().any(is_given)
        || run.redirects.iter().any(|redirect| is_given(&redirect.target))
}

/// Sets the origin of installed packages, one for each package manager. The command's effects start at `before`.
fn installs(
    at: usize,
    before: usize,
    cwd: Option<&str>,
    scene: &mut Scene<'_, '_, '_>,
    effects: &mut Vec<Effect>,
) {
    let Some(cwd) = cwd else { return };
    let is_install = |effect: &Effect| effect.kind == EffectKind::Install && effect.file_origin.is_none();
    let own = effects.iter().skip(before).filter(|effect| is_install(effect));
    let systems: BTreeSet<String> = own.filter_map(|effect| effect.system.clone()).collect();
    for system in systems {
        if !scene.budget.spend(declared::work_of_installation(&system), Some(at), effects) {
            return;
        }
        let origin = declared::origin_of_installation(&system, cwd, scene);
        let own = effects.iter_mut().skip(before).filter(|effect| is_install(effect));
        own.filter(|effect| effect.system.as_deref() == Some(&system))
            .for_each(|effect| effect.file_origin = origin);
    }
}

fn downloads(effects: &mut [Effect], scene: &mut Scene<'_, '_, '_>) {
    for effect in effects.iter_mut().filter(|effect| effect.kind == EffectKind::Write) {
        effect.file_origin = Some(FileOrigin::Downloaded);
        if let Some(path) = &effect.path {
            scene.overlay.download(path);
        }
    }
}

/// Returns the command as rules see it, without the data of its model.
fn described(run: &Run, pipe_from: Option<String>) -> Command {
    let texts = |args: &[Arg]| args.iter().map(|arg| arg.written().into_owned()).collect();
    let args: Vec<String> = texts(run.argv.get(1..).unwrap_or_default());
    Command {
        name: run.argv.first().and_then(Arg::as_str).map(|name| base_name(name).to_owned()),
        args,
        line: run.line.clone(),
        span: Some((run.span.start, run.span.end)),
        wrappers: run.wrappers.iter().map(|wrapper| wrapper.name.clone()).collect(),
        wrappers_are_neutral: run.wrappers.iter().all(|wrapper| wrapper.neutral),
        background: run.background,
        origin: run.origin.as_str().to_owned(),
        pipe_from,
        env: run.env.iter().map(|(name, value)| format!("{name}={}", value.written())).collect(),
        remote: (!run.remote.is_empty()).then(|| run.remote.join(" ")),
        ..Command::default()
    }
}

/// Adds the effect of running the program file; returns its path. A program without a model has an `execute` effect. A
/// program in a directory in which the agent may have put it has the same effect.
fn program_effects(
    program: &Arg,
    model: Option<&'static Program>,
    run: &Run,
    sink: &mut Sink<'_, '_, '_, '_>,
) -> Option<String> {
    let Some(name) = program.as_str() else {
        sink.opaque(Role::Program, program.why().unwrap_or_default(), &program.written());
        return None;
    };
    if model.is_some_and(|model| model.builtin) && !name.contains('/') && !is_run_as_file(run) {
        return None;
    }
    let resolved = resolve(name, run, sink);
    if resolved == Resolved::Unknown && !sink.remote {
        sink.opaque(Role::Program, Why::Unreadable, name);
    }
    let Resolved::File(path) = resolved else {
        if model.is_none() {
            let effect = unmodelled(name, model, run, sink);
            sink.add(Effect { why: Some(Why::Unresolved), ..effect });
        }
        return None;
    };
    let place = sink.scene.program(&path).place;
    let is_installed = matches!(place, Some(Scope::System | Scope::Home));
    let own = if model.is_none() { code::own_program(name, run, sink.scene) } else { None };
    let is_unknown = model.is_none() && !is_installed;
    let is_other = model.is_some() && !is_installed && !is_put_there_by_tools(&path);
    if let Some(own) = own {
        match own {
            Own::Program(program) => sink.left.programs.push(program),
            Own::Given(path) => sink.left.other = Some(path),
        }
    } else if is_other && code::is_script(&path, sink.scene) {
        sink.left.other = Some(path.clone());
    } else if is_unknown && name.contains('/') && scripts::is_strange_script(&path, sink.scene) {
        sink.opaque(Role::Code, Why::Encoding, &path);
    } else if is_shadowed(&path, place, sink.scene) {
        sink.opaque(Role::Program, Why::Shadowed, &path);
    }
    if model.is_none() || !is_installed {
        let effect = unmodelled(name, model, run, sink);
        let located = sink.scene.program(&path).clone();
        sink.located(effect, located);
    }
    Some(path)
}

/// Returns the `execute` effect of a program without a model, or of a program in a directory that anybody may write.
fn unmodelled(name: &str, model: Option<&Program>, run: &Run, sink: &mut Sink<'_, '_, '_, '_>) -> Effect {
    let is_declared = model.is_none()
        && !sink.remote
        && declared::is_declared(name, &run.argv, run.cwd.as_deref(), sink.scene);
    let verb = is_declared.then(|| declared::DECLARED.to_owned());
    Effect { kind: EffectKind::Execute, target: Some(name.to_owned()), verb, ..Effect::default() }
}

/// Returns true for a file in a directory where tools install programs, and for build wrappers in a project.
fn is_put_there_by_tools(path: &str) -> bool {
    let (directory, name) = path.rsplit_once('/').unwrap_or_default();
    matches!(base_name(directory), "bin" | ".bin" | "sbin" | "Scripts" | "shims")
        || matches!(name, "gradlew" | "mvnw")
}

/// Returns true if another program starts it: `env test` runs the file `test` in `PATH`, not the builtin.
fn is_run_as_file(run: &Run) -> bool {
    let inner = run.wrappers.last().and_then(|wrapper| find(base_name(&wrapper.name)));
    let is_of_shell = matches!(run.origin, Origin::Argument | Origin::Stdin | Origin::Trap);
    let runs_files = |program: &Program| !program.builtin && program.style != Style::Shell;
    // `exec` is a builtin, but runs files.
    inner.is_some_and(|program| runs_files(program) || program.name() == "exec") && !is_of_shell
}

fn resolve(name: &str, run: &Run, sink: &mut Sink<'_, '_, '_, '_>) -> Resolved {
    if sink.remote {
        return Resolved::Unknown;
    }
    if name.contains('/') {
        return sink.locate(&Arg::known(name)).path.map_or(Resolved::Unknown, Resolved::File);
    }
    let scene = &mut *sink.scene;
    scene.names.resolve(name, &run.env, scene.world, &mut scene.budget.work)
}

/// Returns true if the agent may have created the program file in any call, and the analysis has not read it.
fn is_shadowed(path: &str, place: Option<Scope>, scene: &Scene<'_, '_, '_>) -> bool {
    if scene.files.read.contains(path) {
        return false;
    }
    scene.overlay.has_written(path)
        || scene.session.setting.written.contains(path)
        || place != Some(Scope::System)
            && (scene.session.setting.written_is_full || scene.session.has_written(path))
}

/// Adds the effects of the program's arguments.
fn invocation_effects(
    program: &'static Program,
    run: &Run,
    command: &mut Command,
    sink: &mut Sink<'_, '_, '_, '_>,
) {
    let Some(read) = read(program, &run.argv, sink) else { return };
    command.flags = read.flags(&run.argv).collect();
    command.flag_spellings = read.spellings().map(str::to_owned).collect();
    command.operands = read.operands.iter().map(|operand| operand.arg.written().into_owned()).collect();
    command.subcommand = (!read.subcommand.is_empty()).then(|| read.subcommand.join(" "));
    let before = sink.left.programs.len();
    model_effects(&read, &run.argv, sink);
    for program in sink.left.programs.iter_mut().skip(before) {
        program.given(&read.operands);
    }
}

/// Adds the effects of a wrapper's own arguments, without those of the wrapped command.
fn wrapper_effects(argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let name = argv.first().and_then(Arg::as_str).map(base_name);
    let Some(program) = name.and_then(find).filter(|program| program.wrapper.is_some()) else { return };
    lies_elsewhere(argv, sink);
    if let Some(read) = read(program, argv, sink) {
        model_effects(&read, argv, sink);
    }
}

/// Adds an `execute` effect for a wrapper in a directory that anybody may write: it may be another program.
fn lies_elsewhere(argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let Some(name) = argv.first().filter(|name| name.prefix().contains('/') && !sink.remote) else { return };
    let located = sink.locate(name);
    if located.path.is_some() && !matches!(located.place, Some(Scope::System | Scope::Home)) {
        let target = Some(name.written().into_owned());
        let is_known = located.path.as_deref().is_some_and(is_put_there_by_tools);
        let why = (!is_known).then_some(Why::Language);
        sink.located(Effect { kind: EffectKind::Execute, target, why, ..Effect::default() }, located);
    }
}

/// Parses arguments if the work limit allows it.
fn read(program: &'static Program, argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) -> Option<Invocation> {
    let bytes: usize = argv.iter().map(Arg::len).sum();
    let units = argv.len() as u64 * WORK_OF_ARGUMENT + (bytes / BYTES_PER_WORK) as u64;
    sink.spend(units).then(|| invoke(program, argv))
}

/// Adds the effects of the inner command that a handler found. It is a part of the outer command's own arguments, so
/// the recursion ends.
fn inner_effects(argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let knows_subcommand = std::mem::take(&mut sink.knows_subcommand);
    if let Some(program) = argv.first().and_then(Arg::as_str).map(base_name).and_then(find)
        && let Some(read) = read(program, argv, sink)
    {
        model_effects(&read, argv, sink);
    }
    sink.knows_subcommand = knows_subcommand;
}

fn model_effects(read: &Invocation, argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    if read.is(Attribute::Inert) {
        return;
    }
    let before = (sink.recursive, sink.force, sink.dry);
    sink.recursive = attribute_of(read, Attribute::Recursive);
    sink.force = attribute_of(read, Attribute::Force);
    sink.dry = read.is(Attribute::Dry);
    sink.is_shell = read.program.style == Style::Shell;
    sink.is_of_versions = is_version_control(read.program.name());
    let outer = read.directory().map(|directory| {
        let inner = sink.locate(directory).path;
        std::mem::replace(&mut sink.cwd, inner)
    });
    slots::effects(read, argv, sink);
    rows::effects(read, sink);
    let handler = read.command.handler.or(read.program.handler);
    if let Some(handler) = handler.and_then(handlers::handler) {
        handler(read, argv, sink);
        if let Some(argv) = sink.inner.take() {
            inner_effects(&argv, sink);
        }
    }
    loaded::add(read, argv, sink);
    not_understood(read, argv, sink);
    sink.knows_subcommand = false;
    (sink.recursive, sink.force, sink.dry) = before;
    if let Some(outer) = outer {
        sink.cwd = outer;
    }
}

/// Programs that write the settings of the work trees that they create.
const VERSION_CONTROL: &[&str] = &["gh", "git", "glab", "hg", "hub", "jj", "svn"];

/// Returns true if a program, by its name, itself writes the settings of the work trees that it creates.
pub fn is_version_control(program: &str) -> bool {
    VERSION_CONTROL.contains(&program)
}

/// Adds Opaque effects for options that the model does not know, and for arguments that may be options.
fn not_understood(read: &Invocation, argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let arg = |at: &usize| argv.get(*at);
    let is_open = read.program.open || read.command.open;
    // Arguments after a subcommand that is another program belong to that program.
    let foreign = read.unknown_subcommand.filter(|_| sink.knows_subcommand);
    let own = read.unknown.iter().filter(|at| foreign.is_none_or(|foreign| **at < foreign));
    for unknown in own.filter_map(arg).filter(|_| !is_open) {
        sink.opaque(Role::Operand, Why::Flag, &unknown.written());
    }
    // If subcommands select the action, an unknown subcommand may do anything.
    let decides = !read.program.subs.is_empty() && read.subcommand.is_empty();
    let role = if decides { Role::Program } else { Role::Operand };
    for uncertain in read.uncertain.iter().filter_map(arg).filter(|arg| arg.splits()) {
        sink.opaque(role, uncertain.why().unwrap_or_default(), &uncertain.written());
    }
    if let Some(unknown) = read.unknown_subcommand.as_ref().and_then(arg)
        && !sink.knows_subcommand
    {
        let role = if unknown.as_str().is_none() { role } else { Role::Operand };
        sink.opaque(role, unknown.why().unwrap_or(Why::Unsupported), &unknown.written());
    }
}

/// Returns `None` if the program has no option for the attribute.
fn attribute_of(read: &Invocation, attribute: Attribute) -> Option<bool> {
    let has = |program: &Program| program.attributes.contains(&attribute);
    (has(read.command) || has(read.program)).then(|| read.is(attribute))
}
