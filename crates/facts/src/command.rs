//! Converts one command into effects: of its program file, its model, its redirects and its environment.

use std::rc::Rc;

use castellan_event::{Command, Effect, EffectKind, Why};
use castellan_programs::{Arg, base_name, find};
use castellan_shell::Run;

use crate::limits::BYTES_PER_WORK;
use crate::next::{Left, Next, Progress};
use crate::scene::Scene;
use crate::sink::Sink;
use crate::{code, contained, copies, detours, environment, given, ignored, inherited, redirect, told};

mod invocation;
mod origin;
mod program;
mod setup;

pub use invocation::is_version_control;

use invocation::{invocation_effects, wrapper_effects};

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
    let name = run.argv.first().and_then(Arg::as_str).map(base_name);
    ignored::add(name.unwrap_or_default(), &run, scene);
    let (command, left) = with_effects(&run, at, pipe_from, scene, &mut facts.effects);
    origin::installs(at, before, run.cwd.as_deref(), scene, &mut facts.effects);
    let own = facts.effects.get_mut(before..).unwrap_or_default();
    let own_count = own.len();
    scene.secrets.add(&run, own);
    copies::of_command(&run, own, scene);
    copies::of_repository(&run, own, scene);
    if name.is_some_and(is_version_control) {
        contained::of_command(&run, own, setup::work_tree(&run), scene);
    }
    if origin::fetches(own, &run) {
        origin::downloads(own, scene);
    }
    if run.script.is_none() && own.iter().any(|effect| effect.kind() == EffectKind::Execute) {
        scene.is_code_given_unknown |= is_open(&run);
    }
    scene.has_tunnel |= detours::opens_tunnel(&command, facts.effects.get(before..).unwrap_or_default());
    facts.commands.push(command);
    if left.is_empty() {
        return given::add(&run, at, before, scene, facts);
    }
    let run = Rc::new(run);
    left.put(&run, at, &mut progress.next);
    progress.next.push(Next::Given(Rc::clone(&run), at, before));
    progress.next.push(Next::Copies(run, before + own_count));
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
    sink.setup = setup::of(run, sink.scene);
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
        command.path = program::effects(program, model, run, &mut sink);
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

/// Returns true if an argument or variable is unknown for another reason than a glob.
fn is_open(run: &Run) -> bool {
    let env = run.env.iter().map(|(_, value)| value);
    run.argv.iter().chain(env).any(|arg| arg.why().is_some_and(|why| why != Why::Glob))
}
