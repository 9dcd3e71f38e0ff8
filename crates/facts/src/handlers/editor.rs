//! Programs that show or change files and take commands among their operands after a plus: pagers.

use castellan_event::{EffectKind, Role, Why};
use castellan_programs::{Arg, Invocation, SlotRole};

use crate::sink::Sink;
use crate::slots::is_standard_stream;

pub(super) fn editor(read: &Invocation, _: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    for operand in read.operands.iter().filter(|one| one.slot.role == SlotRole::Special) {
        match operand.arg.strip_prefix("+") {
            Some(command) => {
                if let Some(shell) = command.strip_prefix("!") {
                    sink.opaque(Role::Code, Why::Unsupported, &shell.written());
                }
            }
            None if is_standard_stream(&operand.arg) => {}
            None => sink.path(EffectKind::Read, &operand.arg),
        }
    }
}
