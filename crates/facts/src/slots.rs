//! Effects of an invocation by the roles of its operands and option values.

use castellan_event::{EffectKind, Operation, Remote, Role, Why};
use castellan_programs::{Arg, Invocation, Slot, SlotRole};

use crate::environment;
use crate::little::in_code;
use crate::loaded;
use crate::next::From;
use crate::owner::LAYOUT;
use crate::packages;
use crate::path::is_stream;
use crate::sink::Sink;
use crate::sql;
use crate::targets::{beside, host, is_directory, is_elsewhere, is_standard_stream, joined, remote, url};

/// Adds the effects of every operand and option value.
pub(crate) fn effects(read: &Invocation, argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let recursive = sink.mode.recursive;
    for used in &read.options {
        let Some(value) = &used.value else { continue };
        let slot = used.option.slot;
        // A list of patterns is one file, even in a recursive search.
        sink.mode.recursive = recursive.map(|recursive| recursive && slot.role == SlotRole::Into);
        effect(slot, value, read, sink);
        if slot.role == SlotRole::Execute && slot.detail.is_empty() {
            loaded::named::add(value, read.program.name(), sink);
        }
    }
    sink.mode.recursive = recursive;
    for operand in &read.operands {
        if operand.slot.role == SlotRole::JoinedCode {
            let text = spaced(argv.get(operand.at..).unwrap_or_default());
            effect(operand.slot, &text, read, sink);
            continue;
        }
        effect(operand.slot, &operand.arg, read, sink);
    }
}

/// Joins arguments with blanks into one text.
fn spaced(argv: &[Arg]) -> Arg {
    let blank = Arg::known(" ");
    let parts = argv.iter().flat_map(|arg| [&blank, arg]).skip(1);
    Arg::from_pieces(parts.flat_map(|part| part.pieces().iter().cloned()), false)
}

/// Returns whether the slot's effect also changes everything below the path.
fn tree(slot: Slot) -> Option<bool> {
    (slot.detail == "tree").then_some(true)
}

fn write(slot: Slot, arg: &Arg, sink: &mut Sink<'_, '_, '_, '_>) {
    // Programs that accept a command here accept it after `|`. No real file has such a name.
    if arg.prefix().starts_with('|') {
        return sink.shell(arg.strip_prefix("|").unwrap_or_else(|| arg.clone()));
    }
    // The walk follows the program's output if it knows the file's name.
    sink.is_followed = slot.detail == "input" && arg.as_str().is_some();
    sink.path_effect(Operation { recursive: tree(slot), ..Operation::of(EffectKind::Write) }, arg);
    sink.is_followed = false;
}

fn effect(slot: Slot, arg: &Arg, read: &Invocation, sink: &mut Sink<'_, '_, '_, '_>) {
    match slot.role {
        SlotRole::Read | SlotRole::Write | SlotRole::Update | SlotRole::UploadFile
            if is_standard_stream(arg) => {}
        SlotRole::Read => sink.path(EffectKind::Read, arg),
        SlotRole::Write => write(slot, arg, sink),
        SlotRole::Update => {
            sink.path(EffectKind::Read, arg);
            // A script that only has a formatter's name may write anything.
            let is_layout = slot.detail == LAYOUT && sink.left.other.is_none();
            let verb = is_layout.then(|| LAYOUT.to_owned());
            sink.path_effect(Operation { verb, ..Operation::of(EffectKind::Write) }, arg);
        }
        SlotRole::Delete => {
            sink.path_effect(Operation { recursive: tree(slot), ..Operation::of(EffectKind::Delete) }, arg);
        }
        SlotRole::Move => {
            sink.path(EffectKind::Read, arg);
            let verb = Some("move".to_owned());
            let target = destination(read).map(|to| sink.locate(to)).map(|to| to.path.unwrap_or(to.raw));
            sink.path_effect(Operation { verb, target, ..Operation::of(EffectKind::Delete) }, arg);
        }
        SlotRole::Into => into(arg, read, sink),
        SlotRole::Permission => sink.path(EffectKind::Permission, arg),
        SlotRole::Link => link(arg, read, sink),
        SlotRole::Execute => {
            // For an open descriptor the reader of the language reports the unknown code.
            if slot.detail.is_empty() || !arg.as_str().is_some_and(is_stream) {
                execute(slot.detail, arg, sink);
            }
            if !slot.detail.is_empty() && !is_standard_stream(arg) {
                sink.program(slot.detail, From::File(arg.clone()));
            }
        }
        SlotRole::Code | SlotRole::JoinedCode => in_code(slot.detail, arg, sink),
        SlotRole::Where if slot.detail == "host" => host(EffectKind::Connect, arg, sink),
        SlotRole::Host => host(EffectKind::Connect, arg, sink),
        SlotRole::Listen => sink.on(EffectKind::Listen, "", "", Some(arg)),
        SlotRole::UrlDownload => url(EffectKind::Download, arg, sink),
        SlotRole::UrlUpload => url(EffectKind::Upload, arg, sink),
        SlotRole::UrlConnect => url(EffectKind::Connect, arg, sink),
        SlotRole::UploadFile if slot.detail == "text" => sink.text_sent(Remote::default(), arg),
        SlotRole::UploadFile => {
            sink.path(EffectKind::Read, arg);
            sink.path(EffectKind::Upload, arg);
        }
        SlotRole::RemoteRead => remote(EffectKind::Download, EffectKind::Read, arg, sink),
        SlotRole::RemoteWrite => arrives(slot, arg, read, sink),
        SlotRole::Package => packages::package(slot.detail, arg, sink),
        SlotRole::Sql => sql::effects(slot.detail, arg, sink),
        SlotRole::Assignment if read.program.wrapper.is_none() => assignment(arg, sink),
        SlotRole::Process => sink.on(EffectKind::Signal, "", "", Some(arg)),
        // Inner commands were found with the command. Other roles change nothing, or the handler adds their effects.
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

/// Adds the effects of a file whose code runs. `-` is code from standard input, a URL is code from the network.
fn execute(language: &str, arg: &Arg, sink: &mut Sink<'_, '_, '_, '_>) {
    if is_standard_stream(arg) {
        return sink.on(EffectKind::Interactive, language, "", None);
    }
    let lower = arg.prefix().to_ascii_lowercase();
    if lower.starts_with("http://") || lower.starts_with("https://") {
        url(EffectKind::Download, arg, sink);
        sink.opaque(Role::Code, Why::Network, &arg.written());
    }
    sink.path(EffectKind::Execute, arg);
}

/// Adds the writes to a destination: each source by its name in a directory, else the destination itself.
fn into(arg: &Arg, read: &Invocation, sink: &mut Sink<'_, '_, '_, '_>) {
    // `-t` names a directory, otherwise the program does nothing.
    let is_target = read.values("-t").any(|target| target == arg);
    if !is_target && !is_directory(arg, sink) {
        sink.path(EffectKind::Write, arg);
        moved_to(arg, read, sink);
        return;
    }
    // If the call has deleted that directory before, the source takes its place.
    if sink.locate(arg).path.is_some_and(|path| sink.scene.overlay.may_be_gone(&path)) {
        sink.path(EffectKind::Write, arg);
    }
    let sources = read.operands.iter().filter(|one| matches!(one.slot.role, SlotRole::Read | SlotRole::Move));
    for source in sources {
        // `cp --parents a/b c` writes `c/a/b`.
        let written =
            if read.given("--parents") { beside(arg, &source.arg) } else { joined(arg, &source.arg) };
        sink.path(EffectKind::Write, &written);
        moved_to(&written, read, sink);
    }
}

/// Adds the variable that a program sets for the commands that it runs. Commands of a wrapper have their own effect.
fn assignment(arg: &Arg, sink: &mut Sink<'_, '_, '_, '_>) {
    if let Some((name, _)) = arg.prefix().split_once('=')
        && let Some(value) = arg.strip_prefix(name).and_then(|rest| rest.strip_prefix("="))
    {
        environment::passed_on(name, &value, sink);
    }
}

/// Returns the path that moved sources get or go into.
fn destination(read: &Invocation) -> Option<&Arg> {
    let options = read.options.iter().filter(|used| used.option.slot.role == SlotRole::Into);
    let is_written = |role| matches!(role, SlotRole::Into | SlotRole::Write);
    let operands = read.operands.iter().filter(|one| is_written(one.slot.role));
    options.filter_map(|used| used.value.as_ref()).chain(operands.map(|one| &one.arg)).last()
}

/// Stores that a moved source may be a directory with further files.
fn moved_to(arg: &Arg, read: &Invocation, sink: &mut Sink<'_, '_, '_, '_>) {
    let mut moves = read.operands.iter().filter(|one| one.slot.role == SlotRole::Move);
    let is_deep = moves.any(|one| is_directory(&one.arg, sink) || has_files(&one.arg, sink));
    if is_deep
        && !sink.is_of_versions
        && let Some(path) = sink.locate(arg).path
    {
        sink.scene.overlay.put_below(&path);
    }
}

/// True if the call itself has put files below a path.
fn has_files(arg: &Arg, sink: &mut Sink<'_, '_, '_, '_>) -> bool {
    let path = sink.locate(arg).path;
    path.is_some_and(|path| sink.scene.overlay.written_below(&format!("{path}/")).next().is_some())
}

/// Adds the effects of a copy from or to another machine. In a local directory each source keeps its name, except for
/// programs that copy the source's contents. rsync does so if the source ends in a slash.
fn arrives(slot: Slot, arg: &Arg, read: &Invocation, sink: &mut Sink<'_, '_, '_, '_>) {
    let is_here = !is_elsewhere(arg) && slot.detail != CONTENTS && is_directory(arg, sink);
    let is_contents = |source: &Arg| {
        slot.detail == CONTENTS_BEHIND_SLASH && source.as_str().is_some_and(|text| text.ends_with('/'))
    };
    let sources: Vec<&Arg> = read
        .operands
        .iter()
        .filter(|one| is_here && one.slot.role == SlotRole::RemoteRead)
        .map(|one| &one.arg)
        .collect();
    if sources.is_empty() || sources.iter().any(|source| is_contents(source)) {
        remote(EffectKind::Upload, EffectKind::Write, arg, sink);
    }
    for source in sources.into_iter().filter(|source| !is_contents(source)) {
        let host = source.prefix().split('/').next().and_then(|head| Some(head.rfind(':')? + 1));
        let host = host.and_then(|end| source.prefix().get(..end));
        let path = host.and_then(|host| source.strip_prefix(host));
        sink.path(EffectKind::Write, &joined(arg, path.as_ref().unwrap_or(source)));
    }
}

/// Detail of a destination slot: the source's contents are copied there, not the source under its name.
const CONTENTS: &str = "contents";

/// [`CONTENTS`], but only if the source ends in a slash.
const CONTENTS_BEHIND_SLASH: &str = "slash";

fn link(arg: &Arg, read: &Invocation, sink: &mut Sink<'_, '_, '_, '_>) {
    let source = read.operands.iter().find(|one| one.slot.role != SlotRole::Link);
    let target = source.map(|source| sink.locate(&source.arg));
    let target = target.map(|located| located.path.unwrap_or(located.raw));
    sink.path_effect(Operation { target, ..Operation::of(EffectKind::Link) }, arg);
}
