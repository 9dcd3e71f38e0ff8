//! `wget`: what comes into which files, and what is sent. Source: the manual of GNU Wget 1.21.

use castellan_event::{EffectKind, Operation, Remote, Role, Why};
use castellan_programs::{Arg, Attribute, Invocation};

use super::web;
use crate::remote::{self, Request};
use crate::sink::Sink;
use crate::targets;

/// Adds what each URL brings, and what goes there.
pub(super) fn wget(read: &Invocation, _argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let first = read.operands.first().map(|operand| web::with_scheme(&operand.arg, "http"));
    for file in read.values("--post-file").chain(read.values("--body-file")).filter_map(web::named) {
        sink.path(EffectKind::Read, &file);
        let url = first.as_ref().map(|url| url.written().into_owned());
        sink.sent(Remote { url, ..Remote::default() }, &file);
    }
    for setting in read.values("--execute") {
        startup(setting, sink);
    }
    if read.given("--input-file") {
        sink.opaque(Role::Target, Why::File, "");
    }
    let sends =
        ["--post-file", "--body-file", "--post-data", "--body-data"].iter().any(|flag| read.given(flag));
    let configured = read.values("--execute").filter_map(|line| {
        let (name, value) = line.as_str()?.split_once('=')?;
        (name.trim().eq_ignore_ascii_case("method")).then(|| value.trim().to_ascii_uppercase())
    });
    let given = read.values("--method").map(|method| method.written().to_ascii_uppercase());
    let method = configured.chain(given).last();
    let verb = method.as_deref().unwrap_or(if sends { "POST" } else { "" });
    let texts = |flag| read.values(flag).map(remote::text_of);
    let mut bodies: Vec<String> = texts("--post-data").chain(texts("--body-data")).collect();
    for file in read.values("--post-file").chain(read.values("--body-file")) {
        bodies.push(web::contents(file, sink));
    }
    let headers: Vec<String> = texts("--header").collect();
    let changes = !verb.is_empty() && web::changes(verb, sends);
    let is_kept = !read.given("--spider") && !read.given("--delete-after");
    for operand in &read.operands {
        let url = web::with_scheme(&operand.arg, "http");
        if read.given("--spider") {
            targets::url(EffectKind::Connect, &url, sink);
            continue;
        }
        web::exchange(&url, verb, sends, changes, true, sink);
        remote::request(
            &Request {
                method: verb,
                url: Some(&url),
                bodies: &bodies,
                headers: &headers,
                ..Request::default()
            },
            sink,
        );
        if is_kept && !read.given("--output-document") {
            stored(&url, read, sink);
        }
    }
    for file in read.values("--output-document").filter(|file| file.as_str() != Some("-")) {
        sink.path(EffectKind::Write, file);
    }
}

fn stored(url: &Arg, read: &Invocation, sink: &mut Sink<'_, '_, '_, '_>) {
    let directory = read.values("--directory-prefix").last().cloned().unwrap_or_else(|| Arg::known("."));
    // The path of the URL is made again below the directory.
    if read.given("--force-directories") {
        let effect = Operation { recursive: Some(true), ..Operation::of(EffectKind::Write) };
        return sink.path_effect(effect, &directory);
    }
    if read.is(Attribute::Recursive) || read.given("--page-requisites") {
        sink.path(EffectKind::Write, &directory);
        return;
    }
    sink.path(EffectKind::Write, &targets::joined(&directory, &web::file_name(url)));
}

/// A line of `.wgetrc`: some name files and programs.
fn startup(setting: &Arg, sink: &mut Sink<'_, '_, '_, '_>) {
    let Some((name, value)) = setting.as_str().and_then(|text| text.split_once('=')) else { return };
    let name: String = name.chars().filter(|letter| letter.is_alphanumeric()).collect();
    let kind = match name.to_ascii_lowercase().as_str() {
        "useaskpass" => EffectKind::Execute,
        "outputdocument" | "dirprefix" | "logfile" | "savecookies" => EffectKind::Write,
        "postfile" | "bodyfile" => EffectKind::Upload,
        "httpproxy" | "httpsproxy" => {
            return targets::url(
                EffectKind::Connect,
                &web::with_scheme(&Arg::known(value.trim()), "http"),
                sink,
            );
        }
        _ => return,
    };
    sink.path(kind, &Arg::known(value.trim()));
}
