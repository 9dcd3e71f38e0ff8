//! `grpcurl` and `hurl`: calls of procedures, and files of requests. Source: the help of grpcurl 1.9, the manual of Hurl 6.

use castellan_event::{EffectKind, Role, Why};
use castellan_programs::{Arg, Invocation};

use super::web;
use crate::limits::{LINES_MAX, REQUEST_BYTES_MAX};
use crate::remote::{self, Request};
use crate::sink::Sink;
use crate::targets;

/// `grpcurl [ADDRESS] SERVICE/METHOD`. `list` and `describe` only ask.
pub(super) fn grpc(read: &Invocation, _: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let args: Vec<&Arg> = read.operands.iter().map(|operand| &operand.arg).collect();
    let Some(address) = args.first() else { return };
    let url = web::with_scheme(address, "http");
    targets::url(EffectKind::Connect, &url, sink);
    let is_asked = args.get(1).is_some_and(|arg| matches!(arg.as_str(), Some("list" | "describe")));
    if let Some(method) = args.get(1).filter(|_| !is_asked) {
        let url = format!("{}/", remote::text_of(&url));
        remote::named(&method.written(), Some(&Arg::known(url)), sink);
    }
}

/// `hurl FILE...`: each request of the files, or of standard input.
pub(super) fn hurl(read: &Invocation, _: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let mut variables: Vec<(String, String)> = Vec::new();
    for variable in read.values("--variable") {
        let written = variable.written();
        variables.extend(
            written.split_once('=').map(|(name, value)| (format!("{{{{{name}}}}}"), value.to_owned())),
        );
    }
    let files: Vec<Arg> = read.operands.iter().map(|operand| operand.arg.clone()).collect();
    for file in if files.is_empty() { vec![Arg::known("-")] } else { files } {
        let text = web::contents(&file, sink);
        if text.is_empty() {
            sink.opaque(Role::Operand, Why::File, &file.written());
        }
        // A value may hold variables: each one may make the text much longer.
        let filled = variables.iter().try_fold(text, |text, (name, value)| {
            let is_small = text.matches(name).count().saturating_mul(value.len()) <= REQUEST_BYTES_MAX;
            is_small.then(|| text.replace(name, value))
        });
        match filled {
            Some(text) => requests(&text, sink),
            None => sink.opaque(Role::Target, Why::Size, ""),
        }
    }
}

/// The requests of a file: a line with method and address begins each.
fn requests(text: &str, sink: &mut Sink<'_, '_, '_, '_>) {
    let lines: Vec<&str> = text.lines().collect();
    if lines.len() > LINES_MAX {
        return sink.opaque(Role::Target, Why::Size, "");
    }
    let begins =
        |line: &&str| line.split_once(' ').is_some_and(|(method, url)| is_method(method) && !url.is_empty());
    let mut rest = lines.as_slice();
    while let Some(at) = rest.iter().position(&begins) {
        let (first, behind) = rest.get(at..).and_then(<[&str]>::split_first).unwrap_or((&"", &[]));
        let end = behind.iter().position(&begins).unwrap_or(behind.len());
        let (body, next) = behind.split_at_checked(end).unwrap_or_default();
        rest = next;
        let Some((method, url)) = first.split_once(' ') else { continue };
        let url = Arg::known(url.trim());
        let kind = if method == "GET" { EffectKind::Download } else { EffectKind::Upload };
        targets::url(kind, &url, sink);
        let headers: Vec<String> = body.iter().map(|line| (*line).to_owned()).collect();
        remote::request(
            &Request {
                method,
                url: Some(&url),
                bodies: &[body.join("\n")],
                headers: &headers,
                ..Request::default()
            },
            sink,
        );
    }
}

fn is_method(word: &str) -> bool {
    word.len() > 2 && word.bytes().all(|letter| letter.is_ascii_uppercase()) && word != "HTTP"
}
