//! `gh` and `glab`: what a request to the API does, by its method.

use castellan_event::{EffectKind, Remote, Role};
use castellan_programs::{Arg, Invocation};

use crate::remote::{self, Request, mutated};
use crate::sink::Sink;
use crate::targets::is_standard_stream;

/// `gh api PATH`: GET asks, DELETE destroys, every other method changes. Fields make it a POST; a query of GraphQL is
/// one, too.
pub(crate) fn api(read: &Invocation, _: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let system = if read.program.name() == "glab" { "gitlab" } else { "github" };
    let path = read.operands.first().map(|operand| &operand.arg);
    let has_fields = ["-f", "-F", "--input"].iter().any(|flag| read.given(flag));
    fields(read, &[], sink);
    let given = read.values("-X").last();
    if let Some((why, given)) = given.and_then(|given| Some((given.why()?, given))) {
        sink.opaque(Role::Target, why, &given.written());
    }
    let method = match given.map(|given| given.as_str().map(str::to_ascii_uppercase)) {
        Some(Some(method)) => method,
        Some(None) => "ANY".to_owned(),
        None if has_fields => "POST".to_owned(),
        None => "GET".to_owned(),
    };
    let is_graphql = path.and_then(Arg::as_str).is_some_and(|path| path.trim_matches('/') == "graphql");
    let kind = match method.as_str() {
        "GET" | "HEAD" => EffectKind::Query,
        "DELETE" => EffectKind::Destroy,
        "POST" if is_graphql => graphql(read),
        _ => EffectKind::Mutate,
    };
    sink.on(kind, system, &format!("api-{}", method.to_ascii_lowercase()), path);
    if kind == EffectKind::Mutate {
        let texts = |flag| read.values(flag).map(remote::text_of);
        let bodies: Vec<String> = texts("-f").chain(texts("-F")).collect();
        let headers: Vec<String> = texts("-H").collect();
        let host = read.values("--hostname").last().map_or(format!("{system}.com").into(), Arg::written);
        let url = path.map(|path| Arg::known(format!("https://{host}/{}", path.written())));
        remote::request(
            &Request {
                method: &method,
                url: url.as_ref(),
                bodies: &bodies,
                headers: &headers,
                ..Request::default()
            },
            sink,
        );
    }
}

/// Adds the files that fields name: `-F name=@file`.
pub(crate) fn fields(read: &Invocation, _: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let files = read.values("-F").filter_map(|field| {
        let (name, _) = field.prefix().split_once('=')?;
        field.strip_prefix(name)?.strip_prefix("=@")
    });
    for file in files.filter(|file| !is_standard_stream(file)) {
        sink.text_sent(Remote::default(), &file);
    }
}

/// GraphQL's document says whether it asks or changes; where it cannot be read, it may change.
fn graphql(read: &Invocation) -> EffectKind {
    let mut fields = read.values("-f").chain(read.values("-F"));
    let document = fields.find_map(|field| field.as_str()?.strip_prefix("query="));
    match document.and_then(mutated) {
        Some(fields) if fields.is_empty() => EffectKind::Query,
        Some(fields) if fields.iter().any(|field| field.contains("delete")) => EffectKind::Destroy,
        Some(_) | None => EffectKind::Mutate,
    }
}
