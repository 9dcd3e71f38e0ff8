//! Effects from the rows of a program's model, in addition to those of its argument slots.

use castellan_event::{EffectKind, Operation, Role, Why};
use castellan_programs::{Arg, EffectRow, Invocation, Program, Source};

use crate::environment;
use crate::loaded;
use crate::sink::Sink;
use crate::targets::is_standard_stream;

/// Adds the effects of every row of the program and the subcommand whose condition holds.
pub(crate) fn effects(read: &Invocation, sink: &mut Sink<'_, '_, '_, '_>) {
    let own = std::ptr::eq(read.program, read.command);
    let programs: &[&'static Program] = &[read.program, read.command];
    for program in programs.iter().skip(usize::from(own)) {
        for row in program.effects.iter().filter(|row| read.holds(row.when)) {
            if row.kind == EffectKind::Spawn
                && let Some(home) = sink.scene.exports.home.clone()
            {
                environment::effect(environment::HOME, &home, sink);
            }
            effect(row, read, sink);
        }
    }
}

fn effect(row: &EffectRow, read: &Invocation, sink: &mut Sink<'_, '_, '_, '_>) {
    let targets: Vec<&Arg> = match row.of {
        Source::Nothing => Vec::new(),
        Source::Operands => read.operands.iter().map(|operand| &operand.arg).collect(),
        Source::Operand(number) => {
            read.operands.get(number).map(|operand| &operand.arg).into_iter().collect()
        }
        Source::Value(flag) => read.values(flag).collect(),
    };
    if row.kind == EffectKind::Opaque && row.verb == NAMED {
        let written = targets.first().map(|target| target.written()).unwrap_or_default();
        sink.opaque(Role::Target, Why::File, &written);
    } else if !row.path.is_empty() {
        let path = match row.path.strip_prefix("~/") {
            Some(rest) => format!("{}/{rest}", sink.scene.session.places.home()),
            None => row.path.to_owned(),
        };
        on_path(row, &path, &targets, sink);
    } else if targets.is_empty() {
        one(row, None, false, sink);
    } else {
        for target in targets {
            one(row, Some(target), is_on_a_path(row.kind), sink);
            if row.kind == EffectKind::Execute && matches!(row.of, Source::Value(_)) {
                loaded::named::add(target, read.program.name(), sink);
            }
        }
    }
}

/// Adds an effect on a fixed path of the model. Arguments name the part of it, such as the script of a manifest.
fn on_path(row: &EffectRow, path: &str, targets: &[&Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let path = Arg::known(path);
    if targets.is_empty() {
        one(row, Some(&path), true, sink);
    }
    for target in targets {
        let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let target = Some(target.written().into_owned());
        let (system, verb) = (text(row.system), text(row.verb));
        sink.path_effect(Operation { kind: row.kind, system, verb, target, ..Operation::default() }, &path);
    }
}

fn one(row: &EffectRow, target: Option<&Arg>, is_path: bool, sink: &mut Sink<'_, '_, '_, '_>) {
    match target {
        Some(arg)
            if is_path
                && matches!(row.kind, EffectKind::Read | EffectKind::Write)
                && is_standard_stream(arg) => {}
        Some(arg) if is_path => {
            let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
            let is_tree = row.kind == EffectKind::Write && row.verb == TREE;
            let effect = Operation {
                kind: row.kind,
                system: text(row.system),
                verb: text(row.verb).filter(|_| !is_tree),
                recursive: is_tree.then_some(true),
                ..Operation::default()
            };
            sink.path_effect(effect, arg);
        }
        _ => sink.on(row.kind, row.system, row.verb, target),
    }
}

/// The verb of an Opaque row: the content of the argument names the files that are written.
const NAMED: &str = "named";

/// The verb of a row whose write fills a directory, as the detail of a slot.
const TREE: &str = "tree";

fn is_on_a_path(kind: EffectKind) -> bool {
    matches!(
        kind,
        EffectKind::Read
            | EffectKind::Write
            | EffectKind::Delete
            | EffectKind::Link
            | EffectKind::Permission
            | EffectKind::Execute
    )
}
