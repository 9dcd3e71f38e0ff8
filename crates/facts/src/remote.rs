//! Changes on other machines, as effects of one kind with the system `api`: the object of the change, its machine, and how
//! final it is. They come from documents of GraphQL, methods and paths of REST, client libraries and tools of servers.
//! Machines of tests have no such effect. This module must not know programs.

use castellan_event::{HostClass, Operation, Remote, Role, Why};
use castellan_programs::lexicons::remote::{READS, TEST_DOMAINS, TEST_HOSTS};
use castellan_programs::{Arg, Piece};

use crate::limits::{BODY_BYTES_PER_WORK, FIELDS_MAX, OPERATION_BYTES_MAX, REQUEST_BYTES_MAX, URL_BYTES_MAX};
use crate::sink::Sink;
use crate::told::words;
use crate::url::Url;

mod body;
mod change;
mod found;
mod graphql;

use change::Change;
use found::Found;

pub(crate) use graphql::mutated;

/// The system of all these effects.
const API: &str = "api";

/// A request to another machine.
#[derive(Debug, Default)]
pub(crate) struct Request<'a> {
    /// The method, in capitals.
    pub(crate) method: &'a str,
    /// The reason why the method is not known.
    pub(crate) unknown: Option<Why>,
    /// The address; `None` if it is unknown.
    pub(crate) url: Option<&'a Arg>,
    /// What is sent, with source text for unknown parts.
    pub(crate) bodies: &'a [String],
    /// Headers, with source text for unknown parts.
    pub(crate) headers: &'a [String],
}

/// Adds the changes that a request makes.
pub(crate) fn request(request: &Request<'_>, sink: &mut Sink<'_, '_, '_, '_>) {
    let at = request.url.map(machine).unwrap_or_default();
    if is_for_tests(&at) && !sink.is_led_elsewhere() {
        return;
    }
    let address = request.url.map(Arg::written).unwrap_or_default();
    let (path, query) = address.split_once('?').unwrap_or((&address, ""));
    let path =
        path.split_once("://").map_or(path, |(_, rest)| rest.split_once('/').map_or("", |(_, path)| path));
    // A longer address is a part that is not understood.
    let path = body::percent_decoded(path.get(..path.floor_char_boundary(URL_BYTES_MAX)).unwrap_or_default());
    let path = path.as_str();
    let place = at.host.as_deref().map_or(path.to_owned(), |host| format!("{host}/{path}"));
    let length: usize = request.bodies.iter().map(String::len).sum();
    if length > REQUEST_BYTES_MAX {
        return sink.opaque(Role::Target, Why::Size, "");
    }
    if !sink.spend(((length + address.len()) / BODY_BYTES_PER_WORK) as u64) {
        return;
    }
    let mut found = Found::default();
    for text in request.bodies.iter().map(String::as_str).chain([query]) {
        found.in_document(text);
    }
    if found.fields > FIELDS_MAX {
        sink.opaque(Role::Target, Why::Budget, "");
    }
    match method(request, query) {
        "GET" | "HEAD" | "OPTIONS" | "TRACE" | "" => {}
        "DELETE" => found.add(Change::Delete, &place),
        _ => {
            for text in request.bodies.iter().chain(request.headers).map(String::as_str).chain([query]) {
                found.in_protocol(text);
            }
            found.in_path(path, &place, request.bodies);
        }
    }
    if let Some(why) = request.unknown {
        sink.opaque(Role::Target, why, request.method);
    } else if found.changes.is_empty() && path.contains("graphql") {
        request.bodies.iter().filter_map(|text| unread(text)).for_each(|text| {
            sink.opaque(Role::Target, Why::Variable, &text);
        });
    }
    effects(found, &at, sink);
}

/// A document that a variable or the server holds.
fn unread(text: &str) -> Option<String> {
    let mut queries = body::values(text, "query");
    if queries.is_empty() && text.contains("persistedQuery") && body::values(text, "operationName").is_empty()
    {
        return Some("persistedQuery".to_owned());
    }
    queries.extend(text.trim_start().starts_with('$').then(|| text.to_owned()));
    queries.retain(|query| query.trim_start().starts_with(['$', '`']));
    queries.into_iter().next()
}

/// Adds the request of a text that goes to a server as it is: `DELETE /v1/users/7 HTTP/1.1`.
pub(crate) fn raw(text: &str, host: Option<&str>, sink: &mut Sink<'_, '_, '_, '_>) {
    let Some((method, rest)) = text.split_once(' ') else { return };
    let Some((path, rest)) = rest.split_once(" HTTP/") else { return };
    let host = host.unwrap_or_default();
    let url = Arg::known(format!("http://{host}{path}"));
    request(&Request { method, url: Some(&url), bodies: &[rest.to_owned()], ..Request::default() }, sink);
}

/// Adds the change that the name of an operation means: a method of a client's library (`rds.delete_db_instance`), a
/// procedure (`Instances/DeleteInstance`). The words before the last point or slash name its object.
pub(crate) fn named(name: &str, at: Option<&Arg>, sink: &mut Sink<'_, '_, '_, '_>) {
    let at = at.map(machine).unwrap_or_default();
    if name.len() > OPERATION_BYTES_MAX {
        return sink.opaque(Role::Target, Why::Size, "");
    }
    let (object, own) = name.rsplit_once(['.', '/']).unwrap_or(("", name));
    // An object with rights shows the meaning of a general method: `roleBindings.create`.
    let object = object.rsplit(['.', '/']).next().unwrap_or_default();
    let reads = words(own).split_whitespace().next().is_some_and(|first| READS.contains(&first));
    let change = Change::of(own).or_else(|| Change::of(&format!("{own} {object}")).filter(|_| !reads));
    if let Some(change) = change.filter(|_| !is_for_tests(&at)) {
        add(change, name, &at, sink);
    }
}

/// Adds the changes of the documents in a text, for a machine that is not known.
pub(crate) fn documents(text: &str, sink: &mut Sink<'_, '_, '_, '_>) {
    let mut found = Found::default();
    if text.len() > REQUEST_BYTES_MAX {
        return sink.opaque(Role::Target, Why::Size, "");
    }
    if sink.spend((text.len() / BODY_BYTES_PER_WORK) as u64) {
        found.of_document(text);
    }
    if found.fields > FIELDS_MAX {
        sink.opaque(Role::Target, Why::Budget, "");
    }
    effects(found, &Remote::default(), sink);
}

/// Returns the tool's change besides a deletion, which other names show better.
pub(crate) fn tool(server: &str, name: &str, sink: &mut Sink<'_, '_, '_, '_>) {
    if let Some(change @ (Change::Rotate | Change::Publish)) = Change::of(name) {
        add(change, &format!("{server}.{name}"), &Remote::default(), sink);
    }
}

/// The method that a server obeys: a header or a field may name another one.
fn method<'a>(request: &Request<'a>, query: &str) -> &'a str {
    let overrides = |text: &str| {
        let plain = |sign: &char| !sign.is_whitespace() && !matches!(sign, '"' | '\'');
        let text: String = body::percent_decoded(text).to_ascii_lowercase().chars().filter(plain).collect();
        ["method-override:delete", "x-http-method:delete", "_method=delete"]
            .iter()
            .any(|sign| text.contains(sign))
    };
    let mut texts = request.headers.iter().chain(request.bodies).map(String::as_str).chain([query]);
    let is_changed = matches!(request.method, "POST" | "PUT" | "PATCH") && texts.any(overrides);
    if is_changed { "DELETE" } else { request.method }
}

/// The machine of an address. The end of an address may be unknown: the host is known if a slash follows it.
fn machine(url: &Arg) -> Remote {
    let prefix = url.prefix();
    let has_host = prefix.split_once("://").is_some_and(|(_, rest)| rest.contains(['/', '?', '#']));
    let is_known = url.as_str().is_some() || has_host && !url.splits();
    let parsed = Url::parse(if is_known { prefix } else { "" });
    let class = (is_known && parsed.host.is_some()).then_some(parsed.class);
    Remote { host: parsed.host, class, url: Some(Url::parse(&url.written()).text) }
}

/// True for this machine, and for hosts that exist only in tests.
fn is_for_tests(at: &Remote) -> bool {
    let is_named =
        |host: &str| TEST_HOSTS.contains(&host) || TEST_DOMAINS.iter().any(|domain| host.ends_with(domain));
    at.class == Some(HostClass::Loopback) || at.host.as_deref().is_some_and(is_named)
}

fn effects(found: Found, at: &Remote, sink: &mut Sink<'_, '_, '_, '_>) {
    for (change, name) in found.changes {
        add(change, &name, at, sink);
    }
}

fn add(change: Change, name: &str, at: &Remote, sink: &mut Sink<'_, '_, '_, '_>) {
    let op = Operation {
        kind: change.kind(),
        system: Some(API.to_owned()),
        verb: Some(change.verb().to_owned()),
        target: Some(name.to_owned()),
        ..Operation::default()
    };
    sink.add_remote(op, at.clone());
}

/// The text of an argument, with source text for unknown parts.
pub(crate) fn text_of(arg: &Arg) -> String {
    arg.pieces().iter().map(Piece::written).collect()
}
