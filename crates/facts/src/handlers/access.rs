//! `chmod`, `chown`, `chattr`, `setfacl` and the like: which mode, owner or list a path is given.

use castellan_event::{EffectKind, Operation, Role, Why};
use castellan_programs::{Arg, Invocation, SlotRole, Takes};

use crate::sink::Sink;

/// Options that say what is given, by their values or, without one, by themselves. The first that was given counts.
const GIVEN: &[&str] =
    &["--reference", "-m", "-x", "--set", "-u", "-r", "-t", "-l", "-M", "-X", "--set-file", "-b", "-k"];

pub(super) fn access(read: &Invocation, argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let given = given(read, argv);
    for operand in read.operands.iter().filter(|one| one.slot.role == SlotRole::Special) {
        let verb = Some(read.program.name().to_owned());
        let effect = Operation { verb, target: given.clone(), ..Operation::of(EffectKind::Permission) };
        sink.path_effect(effect, &operand.arg);
    }
    if let Some(list) = read.values("--restore").next() {
        sink.opaque(Role::Target, Why::File, &list.written());
    }
}

fn given(read: &Invocation, argv: &[Arg]) -> Option<String> {
    let text = |arg: &Arg| arg.written().into_owned();
    if let Some(operand) = read.operands.iter().find(|one| one.slot.role == SlotRole::Text) {
        return Some(text(&operand.arg));
    }
    // A mode with a dash looks like an option: `chmod -x`, `chattr -i`.
    if let Some(mode) = read.options.iter().find(|used| used.option.takes == Takes::Attached) {
        return argv.get(mode.at).map(text);
    }
    let used =
        GIVEN.iter().find_map(|flag| read.options.iter().find(|used| used.option.flags.contains(flag)))?;
    Some(used.value.as_ref().map_or_else(|| used.flag.to_owned(), text))
}
