//! Effects of an invocation by the roles of its operands and option values.

use castellan_event::{Answer, Effect, EffectKind, FileKind, HostClass, Query, Role, Why};
use castellan_programs::{Arg, Does, Invocation, Piece, Slot, SlotRole, code};

use crate::handlers;
use crate::limits::{HOST_BYTES_MAX, URL_BYTES_MAX};
use crate::loaded;
use crate::next::From;
use crate::path::is_stream;
use crate::sink::Sink;
use crate::sql;
use crate::url::{Host, Url};

/// The verb of a write that only reformats a file, as formatters do: the code keeps its meaning.
pub(crate) const LAYOUT: &str = "layout";

/// True if a write keeps the code of a file: a reformat, or a setting of git that starts nothing.
pub fn keeps_code(effect: &Effect) -> bool {
    let verb = effect.verb.as_deref();
    verb == Some(LAYOUT) || verb == Some("config") && effect.system.as_deref() == Some("git")
}

/// Adds the effects of every operand and option value.
pub(crate) fn effects(read: &Invocation, argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let recursive = sink.recursive;
    for used in &read.options {
        let Some(value) = &used.value else { continue };
        let slot = used.option.slot;
        // A list of patterns is one file, even in a recursive search.
        sink.recursive = recursive.map(|recursive| recursive && slot.role == SlotRole::Into);
        effect(slot, value, read, sink);
        if slot.role == SlotRole::Execute && slot.detail.is_empty() {
            loaded::named::add(value, sink);
        }
    }
    sink.recursive = recursive;
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
    sink.path_effect(Effect { kind: EffectKind::Write, recursive: tree(slot), ..Effect::default() }, arg);
    sink.is_followed = false;
}

fn effect(slot: Slot, arg: &Arg, read: &Invocation, sink: &mut Sink<'_, '_, '_, '_>) {
    match slot.role {
        SlotRole::Read | SlotRole::Write | SlotRole::Update if is_standard_stream(arg) => {}
        SlotRole::Read => sink.path(EffectKind::Read, arg),
        SlotRole::Write => write(slot, arg, sink),
        SlotRole::Update => {
            sink.path(EffectKind::Read, arg);
            // A script that only has a formatter's name may write anything.
            let is_layout = slot.detail == LAYOUT && sink.left.other.is_none();
            let verb = is_layout.then(|| LAYOUT.to_owned());
            sink.path_effect(Effect { kind: EffectKind::Write, verb, ..Effect::default() }, arg);
        }
        SlotRole::Delete => {
            sink.path_effect(
                Effect { kind: EffectKind::Delete, recursive: tree(slot), ..Effect::default() },
                arg,
            );
        }
        SlotRole::Move => {
            sink.path(EffectKind::Read, arg);
            let verb = Some("move".to_owned());
            sink.path_effect(Effect { kind: EffectKind::Delete, verb, ..Effect::default() }, arg);
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
        SlotRole::UploadFile => {
            sink.path(EffectKind::Read, arg);
            sink.path(EffectKind::Upload, arg);
        }
        SlotRole::RemoteRead => remote(EffectKind::Download, EffectKind::Read, arg, sink),
        SlotRole::RemoteWrite => arrives(slot, arg, read, sink),
        SlotRole::Package => handlers::manifest::package(slot.detail, arg, sink),
        SlotRole::Sql => sql::effects(slot.detail, arg, sink),
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

/// `-` means standard input or output.
pub(crate) fn is_standard_stream(arg: &Arg) -> bool {
    arg.as_str() == Some("-")
}

/// Adds the effects of the code itself. The shell text that the code runs was found with the command.
pub(crate) fn in_code(language: &str, arg: &Arg, sink: &mut Sink<'_, '_, '_, '_>) {
    let Some(does) = code(language, arg) else {
        sink.program(language, From::Text(arg.clone()));
        return;
    };
    let is_unknown = does.iter().any(|one| matches!(one, Does::Unknown { .. }));
    does.into_iter().for_each(|one| self::does(language, one, sink));
    // The unknown part is only text here: in a pattern, a replacement, a literal.
    if let Some(why) = arg.why().filter(|_| !is_unknown) {
        sink.opaque(Role::Operand, why, &arg.written());
    }
}

/// Adds one effect of code in a little language. The shell text that the code runs was found with the command.
pub(crate) fn does(language: &str, one: Does, sink: &mut Sink<'_, '_, '_, '_>) {
    match one {
        Does::Shell(_) => {}
        Does::Read(path) => sink.path(EffectKind::Read, &named_in(language, path, sink)),
        Does::Write(path) => sink.path(EffectKind::Write, &named_in(language, path, sink)),
        Does::Execute(path) => {
            let path = named_in(language, path, sink);
            sink.path(EffectKind::Execute, &path);
            sink.program(language, From::File(path));
        }
        Does::Unknown { why, text } => sink.opaque(Role::Code, why, &text),
    }
}

/// Resolves a path by the rules of the language: ex expands `~` and variables.
fn named_in(language: &str, path: Arg, sink: &Sink<'_, '_, '_, '_>) -> Arg {
    let Some(text) = path.as_str().filter(|_| language == "ex") else { return path };
    let home = text.strip_prefix("~/").or_else(|| text.strip_prefix("$HOME/"));
    match home {
        Some(rest) => Arg::known(format!("{}/{rest}", sink.scene.places.home())),
        None if text.contains(['$', '`']) => Arg::unknown(Why::Expansion, text, false),
        None => path,
    }
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

/// True if the path is a directory or is written like one.
pub(crate) fn is_directory(arg: &Arg, sink: &mut Sink<'_, '_, '_, '_>) -> bool {
    let path = sink.locate(arg).path;
    let kind = path.and_then(|path| sink.scene.world.ask(Query::FileKind { path }));
    matches!(kind, Some(Answer::FileKind(FileKind::Directory)))
        || arg.as_str().is_some_and(|text| text.ends_with('/'))
}

/// `directory/name`, for the last component of a source.
pub(crate) fn joined(directory: &Arg, source: &Arg) -> Arg {
    match source.as_str() {
        Some(text) => {
            let name = text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
            beside(directory, &Arg::known(name))
        }
        None => beside(directory, &Arg::from_pieces(last_component(source), source.splits())),
    }
}

/// The pieces after the last written slash; all pieces if nothing follows a slash.
fn last_component(source: &Arg) -> Vec<Piece> {
    let pieces = source.pieces();
    let name = |(at, piece): (usize, &Piece)| match piece {
        Piece::Text(text) => text.rsplit_once('/').map(|(_, name)| (at, name.to_owned())),
        Piece::Unknown { .. } => None,
    };
    match pieces.iter().enumerate().rev().find_map(name) {
        Some((at, name)) if !name.is_empty() || at + 1 < pieces.len() => {
            let rest = pieces.iter().skip(at + 1).cloned();
            std::iter::once(Piece::Text(name)).chain(rest).collect()
        }
        _ => pieces.to_vec(),
    }
}

/// `directory/path`
pub(crate) fn beside(directory: &Arg, path: &Arg) -> Arg {
    let slash = Piece::Text("/".to_owned());
    let pieces = directory.pieces().iter().cloned().chain([slash]).chain(path.pieces().iter().cloned());
    Arg::from_pieces(pieces, directory.splits() || path.splits())
}

fn link(arg: &Arg, read: &Invocation, sink: &mut Sink<'_, '_, '_, '_>) {
    let source = read.operands.iter().find(|one| one.slot.role != SlotRole::Link);
    let target = source.map(|source| sink.locate(&source.arg));
    let target = target.map(|located| located.path.unwrap_or(located.raw));
    sink.path_effect(Effect { kind: EffectKind::Link, target, ..Effect::default() }, arg);
}

pub(crate) fn host(kind: EffectKind, arg: &Arg, sink: &mut Sink<'_, '_, '_, '_>) {
    let written = arg.written();
    let host = arg.as_str().map(|name| Host::parse(name.rsplit('@').next().unwrap_or_default()));
    sink.add(Effect {
        kind,
        host_class: host.as_ref().map(|host| host.class),
        host: host.map(|host| host.name),
        target: Some(written.clone().into_owned()),
        ..Effect::default()
    });
    if let Some(why) = arg.why() {
        sink.opaque(Role::Target, why, &written);
    } else if written.len() > HOST_BYTES_MAX {
        sink.opaque(Role::Target, Why::Size, beginning(&written));
    }
}

/// The first part of a long address, short enough to show to people.
fn beginning(address: &str) -> &str {
    address.get(..address.floor_char_boundary(80)).unwrap_or_default()
}

pub(crate) fn url(kind: EffectKind, arg: &Arg, sink: &mut Sink<'_, '_, '_, '_>) {
    url_effect(Effect { kind, ..Effect::default() }, arg, sink);
}

/// Adds an effect on the machine of a URL. For a `file:` URL the file is read.
pub(crate) fn url_effect(effect: Effect, arg: &Arg, sink: &mut Sink<'_, '_, '_, '_>) {
    let written = arg.written();
    let url = Url::parse(&written);
    if url.scheme.as_deref() == Some("file") && url.host.is_none() {
        let path = written.trim_start().get("file:".len()..).unwrap_or_default();
        let path = path.strip_prefix("//").unwrap_or(path);
        sink.path(EffectKind::Read, &Arg::known(path));
        return;
    }
    if arg.why().is_some() && arg.prefix().trim_start().starts_with("file:///") {
        return sink.path(EffectKind::Read, &without_scheme(arg));
    }
    // The host of a partly unknown URL may differ from its known part. A shell pattern keeps its beginning when
    // expanded and mostly stays unchanged (`localhost/a?b=c`): on this machine it sends nothing away.
    let is_pattern = |piece: &Piece| matches!(piece, Piece::Text(_) | Piece::Unknown { why: Why::Glob, .. });
    let is_here = url.class == HostClass::Loopback && has_whole_host(arg.prefix());
    let has_host = is_here && arg.pieces().iter().all(is_pattern);
    let is_known = arg.why().is_none() || has_host;
    // Rules see neither the whole address nor such a long host.
    let has_odd_host = url.host.is_some() && url.class == HostClass::Unknown;
    let is_long = written.len() > if has_odd_host { HOST_BYTES_MAX } else { URL_BYTES_MAX };
    if is_known && is_long {
        sink.opaque(Role::Target, Why::Size, beginning(&written));
    }
    sink.add(Effect {
        host: url.host.filter(|_| is_known),
        host_class: is_known.then_some(url.class),
        url: Some(if is_known { url.text } else { written.clone().into_owned() }),
        ..effect
    });
    if let Some(why) = arg.why().filter(|_| !is_known) {
        sink.opaque(Role::Target, why, &written);
    }
}

/// The path of a `file:` URL.
fn without_scheme(arg: &Arg) -> Arg {
    let mut pieces = arg.pieces().to_vec();
    if let Some(Piece::Text(first)) = pieces.first_mut() {
        *first = first.trim_start().trim_start_matches("file://").to_owned();
    }
    Arg::from_pieces(pieces, arg.splits())
}

/// True if the known beginning of a URL contains the whole host.
fn has_whole_host(prefix: &str) -> bool {
    prefix.split_once("://").is_some_and(|(_, rest)| rest.contains(['/', '?', '#']))
}

fn is_elsewhere(arg: &Arg) -> bool {
    let head = arg.prefix().split('/').next().unwrap_or_default();
    arg.prefix().contains("://") || head.split_once(':').is_some_and(|(host, _)| !host.is_empty())
}

/// `[user@]host:path` is on another machine. Without a colon before the first slash it is a local path.
pub(crate) fn remote(away: EffectKind, here: EffectKind, arg: &Arg, sink: &mut Sink<'_, '_, '_, '_>) {
    if arg.prefix().contains("://") {
        return url(away, arg, sink);
    }
    let head = arg.prefix().split('/').next().unwrap_or_default();
    match head.split_once(':') {
        Some((host, _)) if is_elsewhere(arg) => {
            let host = Host::parse(host.rsplit('@').next().unwrap_or_default());
            let target = Some(arg.written().into_owned());
            let host_class = Some(host.class);
            sink.add(Effect { kind: away, host: Some(host.name), host_class, target, ..Effect::default() });
        }
        _ => sink.path(here, arg),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_copied_into_a_directory_keeps_its_name() {
        let found = Piece::Unknown { why: Why::Glob, written: "{}".to_owned() };
        let text = |text: &str| Piece::Text(text.to_owned());
        for (source, expected) in [
            (vec![text("src/main.c")], "build/main.c"),
            (vec![text("src/")], "build/src"),
            (vec![text("src/"), found.clone()], "build/{}"),
            (vec![text("src/a-"), found.clone(), text(".c")], "build/a-{}.c"),
            (vec![found.clone(), text("/x")], "build/x"),
            (vec![found.clone(), text("/")], "build/{}/"),
        ] {
            let source = Arg::from_pieces(source, false);
            assert_eq!(joined(&Arg::known("build"), &source).written(), expected);
        }
    }
}
