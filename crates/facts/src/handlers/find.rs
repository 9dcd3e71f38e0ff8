//! `find`: where it looks, and what it deletes itself. What it runs was found with the command.

use castellan_event::{Effect, EffectKind};
use castellan_programs::{Arg, Invocation};

use crate::sink::Sink;

pub(super) fn find(read: &Invocation, argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let depth = |depth: &Arg| matches!(depth.as_str(), Some("0" | "1"));
    let recursive = Some(!read.values("-maxdepth").any(depth));
    for start in read.operands.iter().map(|one| &one.arg).chain(read.values("-f")) {
        sink.path_effect(Effect { kind: EffectKind::Read, recursive, ..Effect::default() }, start);
    }
    if read.operands.is_empty() && !read.given("-f") && !read.given("-files0-from") {
        let here = Arg::known(".");
        sink.path_effect(Effect { kind: EffectKind::Read, recursive, ..Effect::default() }, &here);
    }
    for used in read.options.iter().filter(|used| matches!(used.flag, "-delete" | "-rm")) {
        for found in read.found(argv, used.at) {
            let recursive = Some(found.is_all && recursive == Some(true));
            sink.path_effect(Effect { kind: EffectKind::Delete, recursive, ..Effect::default() }, &found.arg);
        }
    }
}
