//! The effects of a command's arguments by the model of its program, and those of the wrappers around it.

use castellan_event::{Command, EffectKind, Operation, Role, Scope, Why};
use castellan_programs::{Arg, Attribute, Invocation, Program, Style, base_name, find, invoke};
use castellan_shell::Run;

use super::program::is_put_there_by_tools;
use crate::limits::{BYTES_PER_WORK, WORK_OF_ARGUMENT};
use crate::sink::{About, Mode, Sink};
use crate::{handlers, loaded, rows, slots};

/// Adds the effects of the program's arguments.
pub(super) fn invocation_effects(
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
pub(super) fn wrapper_effects(argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let name = argv.first().and_then(Arg::as_str).map(base_name);
    let Some(program) = name.and_then(find).filter(|program| program.wrapper.is_some()) else { return };
    lies_elsewhere(argv, sink);
    if let Some(read) = read(program, argv, sink) {
        model_effects(&read, argv, sink);
    }
}

/// Adds an `execute` effect for a wrapper in a directory that anybody may write: it may be another program.
fn lies_elsewhere(argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let Some(name) = argv.first().filter(|name| name.prefix().contains('/') && !sink.setup.remote) else {
        return;
    };
    let located = sink.locate(name);
    if located.path.is_some() && !matches!(located.place, Some(Scope::System | Scope::Home)) {
        let target = Some(name.written().into_owned());
        let is_known = located.path.as_deref().is_some_and(is_put_there_by_tools);
        let about = About { unread: (!is_known).then_some(Why::Language), ..About::default() };
        sink.located(Operation { target, ..Operation::of(EffectKind::Execute) }, about, located);
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
    let own = Mode {
        recursive: attribute_of(read, Attribute::Recursive),
        force: attribute_of(read, Attribute::Force),
        dry: read.is(Attribute::Dry),
    };
    let outer_mode = std::mem::replace(&mut sink.mode, own);
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
    sink.mode = outer_mode;
    if let Some(outer) = outer {
        sink.cwd = outer;
    }
}

/// Programs that write the settings of the work trees that they create.
const VERSION_CONTROL: &[&str] =
    &["bzr", "cvs", "darcs", "fossil", "gh", "git", "glab", "got", "hg", "hub", "jj", "p4", "pijul", "svn"];

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
        let may_do_anything = unknown.as_str().is_none() || read.program.selects;
        let role = if may_do_anything { role } else { Role::Operand };
        sink.opaque(role, unknown.why().unwrap_or(Why::Unsupported), &unknown.written());
    }
}

/// Returns `None` if the program has no option for the attribute.
fn attribute_of(read: &Invocation, attribute: Attribute) -> Option<bool> {
    let has = |program: &Program| program.attributes.contains(&attribute);
    (has(read.command) || has(read.program)).then(|| read.is(attribute))
}
