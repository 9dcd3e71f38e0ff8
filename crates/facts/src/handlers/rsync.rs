//! `rsync`: what is removed on either side.

use castellan_event::{Effect, EffectKind};
use castellan_programs::{Arg, Invocation};

use crate::sink::Sink;

/// Options that remove what is only at the destination.
const DELETES: [&str; 8] = [
    "--del",
    "--delete",
    "--delete-after",
    "--delete-before",
    "--delete-delay",
    "--delete-during",
    "--delete-excluded",
    "--delete-missing-args",
];

/// Adds what is removed.
pub(super) fn rsync(read: &Invocation, _argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let Some((last, sources)) = read.operands.split_last() else { return };
    if sources.is_empty() || read.given("--list-only") {
        return;
    }
    if DELETES.iter().any(|flag| read.given(flag)) {
        removed(&last.arg, sink);
    }
    if read.given("--remove-source-files") {
        sources.iter().for_each(|source| removed(&source.arg, sink));
    }
}

fn removed(arg: &Arg, sink: &mut Sink<'_, '_, '_, '_>) {
    if arg.prefix().contains("://") {
        return sink.on(EffectKind::Delete, "rsync", "", Some(arg));
    }
    let head = arg.prefix().split('/').next().unwrap_or_default();
    match head.split_once(':') {
        Some((host, _)) if !host.is_empty() => {
            let host = host.rsplit('@').next().unwrap_or_default().to_owned();
            let target = Some(arg.written().into_owned());
            let recursive = sink.recursive;
            sink.add(Effect {
                kind: EffectKind::Delete,
                host: Some(host),
                target,
                recursive,
                ..Effect::default()
            });
        }
        _ => sink.path(EffectKind::Delete, arg),
    }
}
