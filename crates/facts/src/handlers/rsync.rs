//! `rsync`: what is removed on either side.

use castellan_event::{EffectKind, Operation, Remote};
use castellan_programs::{Arg, Invocation};

use crate::sink::Sink;
use crate::targets::beside;

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
    if read.given("-R") {
        sources.iter().for_each(|source| relative(&source.arg, &last.arg, sink));
    }
    if DELETES.iter().any(|flag| read.given(flag)) {
        removed(&last.arg, sink);
    }
    if read.given("--remove-source-files") {
        sources.iter().for_each(|source| removed(&source.arg, sink));
    }
}

/// `-R`: the directories of a source are kept below the destination, from a `/./` on where there is one.
fn relative(source: &Arg, destination: &Arg, sink: &mut Sink<'_, '_, '_, '_>) {
    let is_local = |arg: &Arg| !arg.prefix().split('/').next().unwrap_or_default().contains(':');
    if !is_local(destination) {
        return;
    }
    let written = source.written();
    let path =
        if is_local(source) { &*written } else { written.split_once(':').map_or("", |(_, path)| path) };
    let kept = path.rsplit_once("/./").map_or(path, |(_, kept)| kept);
    let kept = Arg::known(kept.trim_start_matches(['~', '/']));
    sink.path(EffectKind::Write, &beside(destination, &kept));
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
            let op =
                Operation { target, recursive: sink.mode.recursive, ..Operation::of(EffectKind::Delete) };
            sink.add_remote(op, Remote { host: Some(host), ..Remote::default() });
        }
        _ => sink.path(EffectKind::Delete, arg),
    }
}
