//! `aria2c`: the file that each URL comes into. Source: the manual of aria2 1.37.

use castellan_event::EffectKind;
use castellan_programs::{Arg, Invocation};

use super::web;
use crate::sink::Sink;

/// Adds a file named after each URL, unless the call names the file. The model gives `--dir` as the directory.
pub(super) fn aria(read: &Invocation, _argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    if read.given("--out") {
        return;
    }
    for operand in &read.operands {
        sink.path(EffectKind::Write, &web::file_name(&operand.arg));
    }
}
