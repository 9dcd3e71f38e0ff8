//! HTTPie and xh: `[METHOD] URL [ITEM...]`, where an item is part of the body, of the query, or a header. Source: the
//! manuals of HTTPie 3 and xh 0.23.

use castellan_event::{EffectKind, Remote};
use castellan_programs::{Arg, Invocation};
use castellan_shell::Stdin;

use super::web;
use crate::remote::{self, Request};
use crate::sink::Sink;
use crate::targets;

/// Adds what the request does.
pub(super) fn httpie(read: &Invocation, argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let args: Vec<&Arg> = read.operands.iter().map(|operand| &operand.arg).collect();
    let is_method = |arg: &&Arg| {
        arg.as_str().is_some_and(|text| !text.is_empty() && text.chars().all(|one| one.is_ascii_alphabetic()))
    };
    let has_method = args.len() > 1 && args.first().is_some_and(is_method);
    let method = args.first().filter(|_| has_method).map(|method| method.written().to_ascii_uppercase());
    let Some(url) = args.get(usize::from(has_method)) else { return };
    let is_secure = argv.first().is_some_and(|name| matches!(name.as_str(), Some("https" | "xhs")));
    let scheme = if is_secure { "https" } else { "http" };
    let url = match url.strip_prefix(":") {
        Some(port) if port.prefix().starts_with('/') || port.prefix().is_empty() => {
            Arg::known(format!("{scheme}://localhost{}", port.written()))
        }
        Some(port) => Arg::known(format!("{scheme}://localhost:{}", port.written())),
        None => web::with_scheme(url, scheme),
    };
    let mut sends = read.given("--raw") || sink.setup.piped && !read.given("--ignore-stdin");
    for item in args.iter().skip(usize::from(has_method) + 1) {
        sends |= has_body(item);
        if let Some(file) = file(item) {
            sink.path(EffectKind::Read, &file);
            let url = Some(url.written().into_owned());
            sink.sent(Remote { url, ..Remote::default() }, &file);
        }
    }
    if let Stdin::File(file) = sink.setup.stdin.clone()
        && !read.given("--ignore-stdin")
    {
        let url = Some(url.written().into_owned());
        sink.sent(Remote { url, ..Remote::default() }, &file);
        sends = true;
    }
    let default = if sends { "POST" } else { "GET" };
    let verb = method.as_deref().unwrap_or(default);
    if verb == "HEAD" {
        targets::url(EffectKind::Connect, &url, sink);
        return;
    }
    // `SCHEME:ADDRESS`
    for proxy in read.values("--proxy") {
        let scheme = proxy.prefix().split_once(':').filter(|(_, address)| !address.starts_with("//"));
        let address = scheme.and_then(|(scheme, _)| proxy.strip_prefix(scheme)?.strip_prefix(":"));
        targets::url(EffectKind::Connect, address.as_ref().unwrap_or(proxy), sink);
    }
    let stores = read.given("--download") || read.given("--output");
    web::exchange(&url, verb, sends, web::changes(verb, sends), stores, sink);
    let items = args.iter().skip(usize::from(has_method) + 1).map(|item| remote::text_of(item));
    let mut bodies: Vec<String> = items.chain(read.values("--raw").map(remote::text_of)).collect();
    let headers = bodies.clone();
    if !read.given("--ignore-stdin") {
        bodies.push(web::contents(&Arg::known("-"), sink));
    }
    remote::request(
        &Request { method: verb, url: Some(&url), bodies: &bodies, headers: &headers, ..Request::default() },
        sink,
    );
    if read.given("--download") && !read.given("--output") {
        sink.path(EffectKind::Write, &web::file_name(&url));
    }
}

/// The sign of an item: the first of these that stands in it.
fn sign(item: &str) -> Option<(usize, &'static str)> {
    const SIGNS: [&str; 8] = [":=@", "==@", ":@", "=@", "==", ":=", "=", "@"];
    let found = SIGNS.iter().filter_map(|sign| Some((item.find(sign)?, *sign)));
    let colon = item.find(':').map(|at| (at, ":"));
    found.chain(colon).min_by_key(|(at, sign)| (*at, usize::MAX - sign.len()))
}

fn has_body(item: &Arg) -> bool {
    matches!(sign(item.prefix()), Some((_, ":=@" | "=@" | ":=" | "=" | "@")))
}

fn file(item: &Arg) -> Option<Arg> {
    let (at, sign) = sign(item.prefix()).filter(|(_, sign)| sign.ends_with('@'))?;
    let rest = item.strip_prefix(item.prefix().get(..at + sign.len())?)?;
    let Some(text) = rest.as_str() else { return Some(rest) };
    Some(Arg::known(text.split(';').next().unwrap_or_default()))
}
