//! Effects on what an argument names besides a path: hosts, URLs, files of other machines. The paths that programs make
//! of a directory and a source. Must not know models.

use castellan_event::{Answer, EffectKind, FileKind, HostClass, Operation, Query, Remote, Role, Why};
use castellan_programs::{Arg, Piece};

use crate::limits::{HOST_BYTES_MAX, URL_BYTES_MAX};
use crate::sink::Sink;
use crate::url::{Host, Url};

/// `-` means standard input or output.
pub(crate) fn is_standard_stream(arg: &Arg) -> bool {
    arg.as_str() == Some("-")
}

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

pub(crate) fn host(kind: EffectKind, arg: &Arg, sink: &mut Sink<'_, '_, '_, '_>) {
    let written = arg.written();
    let host = arg.as_str().map(|name| Host::parse(name.rsplit('@').next().unwrap_or_default()));
    let op = Operation { target: Some(written.clone().into_owned()), ..Operation::of(kind) };
    let class = host.as_ref().map(|host| host.class);
    sink.add_remote(op, Remote { host: host.map(|host| host.name), class, url: None });
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
    url_effect(Operation::of(kind), arg, sink);
}

/// Adds an effect on the machine of a URL. For a `file:` URL the file is read.
pub(crate) fn url_effect(op: Operation, arg: &Arg, sink: &mut Sink<'_, '_, '_, '_>) {
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
    // expanded and mostly stays unchanged (`localhost/a?b=c`): on this machine it sends nothing away. The same holds
    // for an end that stays one word.
    let is_pattern = |piece: &Piece| matches!(piece, Piece::Text(_) | Piece::Unknown { why: Why::Glob, .. });
    let is_here = url.class == HostClass::Loopback && has_whole_host(arg.prefix());
    let has_host = is_here && (!arg.splits() || arg.pieces().iter().all(is_pattern));
    let is_known = arg.why().is_none() || has_host;
    // Rules see neither the whole address nor such a long host.
    let has_odd_host = url.host.is_some() && url.class == HostClass::Unknown;
    let is_long = written.len() > if has_odd_host { HOST_BYTES_MAX } else { URL_BYTES_MAX };
    if is_known && is_long {
        sink.opaque(Role::Target, Why::Size, beginning(&written));
    }
    let to = Remote {
        host: url.host.filter(|_| is_known),
        class: is_known.then_some(url.class),
        url: Some(if is_known { url.text } else { written.clone().into_owned() }),
    };
    sink.add_remote(op, to);
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

pub(crate) fn is_elsewhere(arg: &Arg) -> bool {
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
            let to = Remote { host: Some(host.name), class: Some(host.class), url: None };
            sink.add_remote(Operation { target, ..Operation::of(away) }, to);
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
