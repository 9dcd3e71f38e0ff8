//! The program file of a command: where it is, and whether it is the known program of its name.

use castellan_event::{Doubt, EffectKind, Object, Operation, Role, Scope, Why};
use castellan_programs::{Arg, Program, Style, base_name, find};
use castellan_shell::{Origin, Run};

use crate::code::Own;
use crate::names::Resolved;
use crate::scene::Scene;
use crate::sink::{About, Sink};
use crate::{code, declared, scripts};

/// Adds the effect of running the program file; returns its path. A program without a model has an `execute` effect. A
/// program in a directory in which the agent may have put it has the same effect.
pub(super) fn effects(
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
    if resolved == Resolved::Unknown && !sink.setup.remote {
        sink.opaque(Role::Program, Why::Unreadable, name);
    }
    let Resolved::File(path) = resolved else {
        if model.is_none() {
            sink.loads_project(|_| true);
            let op = unmodelled(name, model, run, sink);
            sink.add_on(op, Object::Unknown(Doubt { role: None, why: Why::Unresolved }));
        }
        return None;
    };
    sink.scene.meet_contained(&path);
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
        sink.loads_project(|_| true);
        let op = unmodelled(name, model, run, sink);
        let located = sink.scene.program(&path).clone();
        sink.located(op, About::default(), located);
    }
    Some(path)
}

/// Returns the `execute` effect of a program without a model, or of a program in a directory that anybody may write.
fn unmodelled(name: &str, model: Option<&Program>, run: &Run, sink: &mut Sink<'_, '_, '_, '_>) -> Operation {
    let is_declared = model.is_none()
        && !sink.setup.remote
        && declared::is_declared(name, &run.argv, run.cwd.as_deref(), sink.scene);
    let verb = is_declared.then(|| declared::DECLARED.to_owned());
    Operation { target: Some(name.to_owned()), verb, ..Operation::of(EffectKind::Execute) }
}

/// Returns true for a file in a directory where tools install programs, and for build wrappers in a project.
pub(super) fn is_put_there_by_tools(path: &str) -> bool {
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
    if sink.setup.remote {
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
        || scene.session.is_contained(path)
        || place != Some(Scope::System)
            && (scene.session.setting.written_is_full || scene.session.has_written(path))
}
