//! What clients of the web share: URLs without a scheme, what a method does, what a download is stored as.

use castellan_event::{EffectKind, Operation};
use castellan_programs::{Arg, Piece};
use castellan_shell::Stdin;

use super::patch::given_text;
use crate::sink::Sink;
use crate::{remote, targets};

/// A URL with the scheme that the client would add.
pub(super) fn with_scheme(arg: &Arg, scheme: &str) -> Arg {
    let start = arg.prefix();
    if start.is_empty()
        || start.split(['/', '?']).next().is_some_and(|head| head.contains("://"))
        || start.contains("://")
    {
        return arg.clone();
    }
    let start = [Piece::Text(format!("{scheme}://"))];
    Arg::from_pieces(start.into_iter().chain(arg.pieces().iter().cloned()), arg.splits())
}

/// The path of a `file:` URL.
pub(super) fn local_file(url: &Arg) -> Option<Arg> {
    let path = url.strip_prefix("file://")?;
    path.strip_prefix("localhost").or(Some(path))
}

/// A file that is named; `-` and the empty name are standard input.
pub(super) fn named(file: &Arg) -> Option<Arg> {
    (!matches!(file.as_str(), Some("-" | "." | ""))).then(|| file.clone())
}

/// The contents of a file that is sent, or of standard input, with source text for unknown parts.
pub(super) fn contents(file: &Arg, sink: &mut Sink<'_, '_, '_, '_>) -> String {
    let file = named(file);
    match (given_text(file.as_ref(), sink), &sink.setup.stdin) {
        (Some(text), _) => text,
        (None, Stdin::Text(text)) if file.is_none() => remote::text_of(text),
        (None, _) => String::new(),
    }
}

/// The name under which a client stores what a URL gives.
pub(super) fn file_name(url: &Arg) -> Arg {
    let Some(text) = url.as_str() else { return url.clone() };
    let path = text.split(['?', '#']).next().unwrap_or_default();
    let path = path.split_once("://").map_or(path, |(_, rest)| rest);
    let name = path.split_once('/').map_or("", |(_, rest)| rest).rsplit('/').next().unwrap_or_default();
    Arg::known(if name.is_empty() { "index.html" } else { name })
}

/// Whether a request of this method changes something by itself. What is sent with POST, PUT and PATCH is an upload.
pub(super) fn changes(method: &str, sends: bool) -> bool {
    match method {
        "GET" | "HEAD" | "OPTIONS" | "TRACE" | "PROPFIND" => false,
        "POST" | "PUT" | "PATCH" => !sends,
        _ => true,
    }
}

/// A request and its answer.
pub(super) fn exchange(
    url: &Arg,
    verb: &str,
    sends: bool,
    changes: bool,
    stores: bool,
    sink: &mut Sink<'_, '_, '_, '_>,
) {
    let op = |kind, system: Option<&str>| Operation {
        kind,
        system: system.map(str::to_owned),
        verb: (!verb.is_empty()).then(|| verb.to_owned()),
        ..Operation::default()
    };
    if sends {
        targets::url_effect(op(EffectKind::Upload, None), url, sink);
    }
    if changes {
        targets::url_effect(op(EffectKind::Mutate, Some("http")), url, sink);
    }
    if !sends && !changes || stores {
        targets::url(EffectKind::Download, url, sink);
    }
}
