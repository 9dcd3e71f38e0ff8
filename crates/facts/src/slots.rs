//! What an invocation does by what its operands and its options' values are for.

use castellan_event::{Answer, Effect, EffectKind, FileKind, Query, Role, Why};
use castellan_programs::{Arg, Invocation, Piece, Slot, SlotRole};

use crate::sink::Sink;
use crate::sql;

/// Adds the effects of every operand and option value.
pub(crate) fn effects(read: &Invocation, sink: &mut Sink<'_, '_, '_, '_>) {
    let options = read.options.iter().filter_map(|used| Some((used.option.slot, used.value.as_ref()?)));
    let operands = read.operands.iter().map(|operand| (operand.slot, &operand.arg));
    for (slot, arg) in options.chain(operands) {
        effect(slot, arg, read, sink);
    }
}

fn effect(slot: Slot, arg: &Arg, read: &Invocation, sink: &mut Sink<'_, '_, '_, '_>) {
    match slot.role {
        SlotRole::Read => sink.path(EffectKind::Read, arg),
        SlotRole::Write => sink.path(EffectKind::Write, arg),
        SlotRole::Update => {
            sink.path(EffectKind::Read, arg);
            sink.path(EffectKind::Write, arg);
        }
        SlotRole::Delete => sink.path(EffectKind::Delete, arg),
        SlotRole::Move => {
            sink.path(EffectKind::Read, arg);
            let verb = Some("move".to_owned());
            sink.path_effect(Effect { kind: EffectKind::Delete, verb, ..Effect::default() }, arg);
        }
        SlotRole::Into => into(arg, read, sink),
        SlotRole::Permission => sink.path(EffectKind::Permission, arg),
        SlotRole::Link => link(arg, read, sink),
        SlotRole::Execute => sink.path(EffectKind::Execute, arg),
        SlotRole::Code => {
            sink.opaque(Role::Code, Why::Language, slot.detail);
        }
        SlotRole::Where if slot.detail == "host" => host(EffectKind::Connect, arg, sink),
        SlotRole::Host => host(EffectKind::Connect, arg, sink),
        SlotRole::Listen => sink.on(EffectKind::Listen, "", "", Some(arg)),
        SlotRole::UrlDownload => url(EffectKind::Download, arg, sink),
        SlotRole::UrlUpload => url(EffectKind::Upload, arg, sink),
        SlotRole::UrlConnect => url(EffectKind::Connect, arg, sink),
        SlotRole::UploadFile => {
            sink.path(EffectKind::Read, arg);
            sink.path(EffectKind::Upload, arg);
        }
        SlotRole::RemoteRead => remote(EffectKind::Download, EffectKind::Read, arg, sink),
        SlotRole::RemoteWrite => remote(EffectKind::Upload, EffectKind::Write, arg, sink),
        SlotRole::Package => sink.on(EffectKind::Install, slot.detail, "", Some(arg)),
        SlotRole::Sql => sql::effects(slot.detail, arg, sink),
        SlotRole::Process => sink.on(EffectKind::Signal, "", "", Some(arg)),
        // What runs in turn was found with the command; the rest changes nothing by itself, or is the handler's.
        SlotRole::Text
        | SlotRole::Directory
        | SlotRole::Command
        | SlotRole::Clause
        | SlotRole::Shell
        | SlotRole::Joined
        | SlotRole::Line
        | SlotRole::Assignment
        | SlotRole::Where
        | SlotRole::User
        | SlotRole::Service
        | SlotRole::Special => {}
    }
}

/// Into a directory goes each source under its own name; anything else is written itself.
fn into(arg: &Arg, read: &Invocation, sink: &mut Sink<'_, '_, '_, '_>) {
    let located = sink.locate(arg);
    let kind = located.path.as_ref().map(|path| sink.scene.world.ask(Query::FileKind { path: path.clone() }));
    let is_directory = matches!(kind, Some(Some(Answer::FileKind(FileKind::Directory))))
        || arg.as_str().is_some_and(|text| text.ends_with('/'));
    if !is_directory {
        sink.located(Effect { kind: EffectKind::Write, ..Effect::default() }, located);
        return;
    }
    let sources = read.operands.iter().filter(|one| matches!(one.slot.role, SlotRole::Read | SlotRole::Move));
    for source in sources {
        sink.path(EffectKind::Write, &joined(arg, &source.arg));
    }
}

/// `directory/name`, for the last component of a source.
pub(crate) fn joined(directory: &Arg, source: &Arg) -> Arg {
    let slash = Piece::Text("/".to_owned());
    let name = match source.as_str() {
        Some(text) => {
            let name = text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
            vec![Piece::Text(name.to_owned())]
        }
        None => source.pieces().to_vec(),
    };
    let pieces = directory.pieces().iter().cloned().chain([slash]).chain(name);
    Arg::from_pieces(pieces, directory.splits() || source.splits())
}

fn link(arg: &Arg, read: &Invocation, sink: &mut Sink<'_, '_, '_, '_>) {
    let source = read.operands.iter().find(|one| one.slot.role != SlotRole::Link);
    let target = source.map(|source| sink.locate(&source.arg));
    let target = target.map(|located| located.path.unwrap_or(located.raw));
    sink.path_effect(Effect { kind: EffectKind::Link, target, ..Effect::default() }, arg);
}

pub(crate) fn host(kind: EffectKind, arg: &Arg, sink: &mut Sink<'_, '_, '_, '_>) {
    let name = arg.written();
    let host = name.rsplit('@').next().unwrap_or_default().to_owned();
    sink.add(Effect { kind, host: Some(host), target: Some(name.into_owned()), ..Effect::default() });
    if let Some(why) = arg.why() {
        sink.opaque(Role::Target, why, &arg.written());
    }
}

pub(crate) fn url(kind: EffectKind, arg: &Arg, sink: &mut Sink<'_, '_, '_, '_>) {
    let text = arg.written().into_owned();
    sink.add(Effect { kind, url: Some(text), ..Effect::default() });
    if let Some(why) = arg.why() {
        sink.opaque(Role::Target, why, &arg.written());
    }
}

/// `[user@]host:path` is on another machine; without a colon before the first slash it is a local path.
pub(crate) fn remote(away: EffectKind, here: EffectKind, arg: &Arg, sink: &mut Sink<'_, '_, '_, '_>) {
    if arg.prefix().contains("://") {
        return url(away, arg, sink);
    }
    let head = arg.prefix().split('/').next().unwrap_or_default();
    match head.split_once(':') {
        Some((host, _)) if !host.is_empty() => {
            let host = host.rsplit('@').next().unwrap_or_default().to_owned();
            let target = Some(arg.written().into_owned());
            sink.add(Effect { kind: away, host: Some(host), target, ..Effect::default() });
        }
        _ => sink.path(here, arg),
    }
}
