//! Requests to other machines: by a method of HTTP, or by a member of a service's library. This module must not know
//! which of them change something.

use castellan_event::{EffectKind, Why};
use castellan_programs::{Arg, Piece};

use super::bound::Bound;
use super::{Argument, Machine};
use crate::act::What;
use crate::limits::{SENT_DEPTH_MAX, SERVICE_PATH_BYTES_MAX, VALUE_BYTES_MAX};
use crate::table::{Part, Space, Takes};
use crate::tree::Node;
use crate::value::{Ref, Value};

/// The system of these effects in the tables.
pub(super) const API: &str = "api";

/// The type of a service's library and of everything that it gives.
const REMOTE: &str = "Api";

/// Members that take the name of a service.
const OF_SERVICE: &[&str] = &["client", "resource"];

/// Parts of a parameter that names the machine.
const PLACES: [Part; 4] = [Part::Request, Part::Upload, Part::Download, Part::Connect];

/// What a request sends.
#[derive(Default)]
struct Sent {
    pieces: Vec<Piece>,
    bytes: usize,
}

impl Sent {
    fn push(&mut self, text: &str) {
        self.piece(Piece::Text(text.to_owned()));
    }

    fn piece(&mut self, piece: Piece) {
        self.bytes += piece.written().len();
        self.pieces.push(piece);
    }
}

impl Machine<'_> {
    /// Adds the request that an entry makes. An empty `method`: the arguments have it.
    pub(super) fn requests(&mut self, node: &Node, method: &str, bound: &Bound) {
        let is_place = |parts: &[Part]| parts.iter().any(|part| PLACES.contains(part));
        let places = || bound.given.iter().filter(|(parameter, _)| is_place(parameter.parts));
        let place =
            places().find(|(parameter, _)| parameter.takes != Takes::Receiver).map(|(_, value)| value);
        let place = place.or_else(|| bound.named("url")).cloned().unwrap_or(Value::Constant);
        let (url, prepared) = match &place {
            // A prepared request: URL, method and body.
            Value::Object(_, inner) if matches!(&**inner, Value::List(_)) => {
                let (parts, _) = self.elements(node, inner);
                (parts.first().cloned().unwrap_or(Value::Constant), parts)
            }
            Value::Object(_, inner) => ((**inner).clone(), Vec::new()),
            _ => (place.clone(), Vec::new()),
        };
        let others = bound.given.iter().filter(|(parameter, value)| {
            parameter.takes != Takes::Receiver && !parameter.parts.contains(&Part::Method) && *value != place
        });
        let others = others.map(|(_, value)| value).chain(&bound.others).chain(prepared.get(2));
        let mut sent = Sent::default();
        for value in others.cloned().collect::<Vec<_>>() {
            self.add_json(&value, 0, &mut sent);
            sent.push("\n");
        }
        let is_sent = |value: Option<&Value>| value.is_some_and(|value| *value != Value::Constant);
        let is_post = is_sent(bound.part(Part::Body)) || is_sent(prepared.get(2));
        let default = Value::text(if is_post { "POST" } else { "GET" });
        // A prepared request that sends something has another default.
        let prepared_method = prepared.get(1).filter(|method| !is_post || method.as_str() != Some("GET"));
        let given = bound.part(Part::Method).or(prepared_method).unwrap_or(&default);
        let methods = if method.is_empty() { self.operands(node, given) } else { vec![Arg::known(method)] };
        let body = Arg::from_pieces(sent.pieces, false);
        let receiver = bound.given.iter().find(|(parameter, _)| parameter.takes == Takes::Receiver);
        let base = receiver.and_then(|(_, value)| self.base(node, value));
        let urls = self.operands(node, &url);
        for url in if urls.is_empty() { vec![None] } else { urls.into_iter().map(Some).collect() } {
            let url = with_base(url, base.as_ref());
            for method in &methods {
                let reads = method.as_str().is_some_and(is_read);
                let (method, url, body) = (method.clone(), url.clone(), body.clone());
                if !reads {
                    self.act(node.at, What::Request { method, url, body });
                }
            }
        }
    }

    /// Adds a request of a known form.
    pub(super) fn request_of(&mut self, node: &Node, method: &Value, url: &Value, body: &Value) {
        let mut sent = Sent::default();
        self.add_json(body, 0, &mut sent);
        let body = Arg::from_pieces(sent.pieces, false);
        let url = self.operands(node, url).into_iter().next();
        for method in self.operands(node, method) {
            self.act(node.at, What::Request { method, url: url.clone(), body: body.clone() });
        }
    }

    /// The address that a client has from its start.
    fn base(&self, node: &Node, client: &Value) -> Option<Arg> {
        let Value::Object(_, inner) = client else { return None };
        match &**inner {
            Value::Text(_) => self.owned_args(node, inner).next(),
            _ => None,
        }
    }

    /// Adds a value as JSON, for a reader that looks for keys and texts in it.
    fn add_json(&mut self, value: &Value, depth: usize, sent: &mut Sent) {
        if depth > SENT_DEPTH_MAX || sent.bytes > VALUE_BYTES_MAX || !self.step(1) {
            return sent.piece(Piece::Unknown { why: Why::Nesting, written: "...".to_owned() });
        }
        match value {
            // A text that is sent by itself has no quotes.
            Value::Text(text) if depth == 0 => {
                text.pieces().iter().for_each(|piece| sent.piece(piece.clone()))
            }
            Value::Text(text) => {
                sent.push("\"");
                for piece in text.pieces() {
                    match piece {
                        Piece::Text(text) => sent.push(&escaped(text)),
                        unknown @ Piece::Unknown { .. } => sent.piece(unknown.clone()),
                    }
                }
                sent.push("\"");
            }
            Value::Number(number) => sent.push(&number.to_string()),
            Value::List(cell) | Value::Map(cell) => {
                let entries = self.state.cell(*cell).entries;
                let is_map = matches!(value, Value::Map(_)) || entries.iter().any(|(key, _)| key.is_some());
                sent.push(if is_map { "{" } else { "[" });
                for (at, (key, value)) in entries.iter().enumerate() {
                    sent.push(if at > 0 { "," } else { "" });
                    if is_map {
                        sent.push(&format!("\"{}\": ", escaped(key.as_deref().unwrap_or_default())));
                    }
                    self.add_json(value, depth + 1, sent);
                }
                sent.push(if is_map { "}" } else { "]" });
            }
            Value::Object(_, inner) => self.add_json(inner, depth + 1, sent),
            Value::Any(values) => values.iter().for_each(|value| {
                self.add_json(value, depth, sent);
                sent.push(",");
            }),
            Value::Unknown(why, written) => {
                sent.piece(Piece::Unknown { why: *why, written: written.to_string() });
            }
            Value::Constant
            | Value::Instance(_)
            | Value::Function(_)
            | Value::Class(_)
            | Value::Module(_)
            | Value::Package(_)
            | Value::Library(..)
            | Value::Method(..)
            | Value::Partial(..)
            | Value::Names(_) => sent.push("null"),
        }
    }

    /// Returns a member of a service's library. Its inner value is the way to it.
    pub(super) fn remote_member(&self, space: &'static Space, inner: &Value, name: &str) -> Option<Value> {
        let is_own = space.name() == REMOTE && space.entry(name).is_none() && !space.has_inert(name);
        let path = inner.as_str().filter(|path| !path.is_empty() && path.len() < SERVICE_PATH_BYTES_MAX);
        let path = path.map_or(name.to_owned(), |path| format!("{path}.{name}"));
        is_own.then(|| Value::Object(Ref(space), Value::text(path).into()))
    }

    /// Calls a member of a service's library. `None` for another value.
    pub(super) fn remote_call(
        &mut self,
        node: &Node,
        callee: &Value,
        arguments: &[Argument],
    ) -> Option<Value> {
        let Value::Object(space, inner) = callee else { return None };
        if space.0.name() != REMOTE {
            return None;
        }
        let path = inner.as_str().unwrap_or_default();
        let (base, name) = path.split_once('\n').map_or((None, path), |(base, name)| (Some(base), name));
        self.hand_all(node, arguments);
        let texts: Vec<&str> = arguments.iter().filter_map(|argument| argument.value.as_str()).collect();
        let base = texts.iter().find(|text| text.contains("://")).copied().or(base).map(str::to_owned);
        let last = name.rsplit('.').next().unwrap_or_default();
        let service = texts.first().filter(|_| OF_SERVICE.contains(&last));
        let path = service.map_or(name.to_owned(), |service| format!("{name}.{service}"));
        self.act(node.at, What::Call { name: name.to_owned(), url: base.as_deref().map(Arg::known) });
        self.text_requests(node, &texts, base.as_deref());
        let path = base.map_or(path.clone(), |base| format!("{base}\n{path}"));
        Some(Value::Object(*space, Value::text(path).into()))
    }

    /// Adds the requests that texts hold for a service: `DELETE /repos/{owner}/{repo}`, a document of GraphQL.
    fn text_requests(&mut self, node: &Node, texts: &[&str], base: Option<&str>) {
        for text in texts {
            let (method, path) = text.split_once(" /").unwrap_or_default();
            let is_method = !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_uppercase());
            let (method, path) = if is_method { (method, path) } else { ("POST", "") };
            if is_method && !is_read(method) || text.contains("mutation") {
                let url = Some(Arg::known(format!("{}/{path}", base.unwrap_or("https://"))));
                self.act(node.at, What::Request { method: Arg::known(method), url, body: Arg::known(*text) });
            }
        }
    }

    /// Returns the library of a service to which a module belongs: `@aws-sdk/client-s3`, `azure.mgmt.compute`.
    pub(super) fn service_of(&self, module: &str) -> Option<&'static Space> {
        let ends = module.rmatch_indices(['.', '/']).map(|(at, _)| at);
        let above = ends.filter_map(|at| self.table.module(module.get(..at)?)).next()?;
        above.entry("*").is_some_and(|entry| entry.gives == REMOTE).then_some(above)
    }

    /// Reports whether a value belongs to a service's library.
    pub(super) fn is_service(&self, value: &Value) -> bool {
        matches!(value, Value::Object(space, _) if space.0.name() == REMOTE)
    }

    /// Returns what a service's library gives under any name, and adds the connection.
    pub(super) fn remote_of_module(
        &mut self,
        node: &Node,
        space: &'static Space,
        name: &str,
    ) -> Option<Value> {
        let entry = space.entry("*").filter(|entry| entry.gives == REMOTE)?;
        let kind = self.table.kind(entry.gives)?;
        self.effect(node, EffectKind::Connect, crate::act::Operand::Nothing);
        Some(Value::Object(Ref(kind), Value::text(name).into()))
    }
}

fn is_read(method: &str) -> bool {
    ["GET", "HEAD", "OPTIONS"].iter().any(|read| method.eq_ignore_ascii_case(read))
}

/// An address below the client's own.
fn with_base(url: Option<Arg>, base: Option<&Arg>) -> Option<Arg> {
    let has_host = |arg: &Arg| arg.written().contains("://");
    match (url, base) {
        (Some(url), _) if has_host(&url) => Some(url),
        (url, Some(base)) => {
            let scheme = if has_host(base) { "" } else { "https://" };
            let path = url.map(|url| url.pieces().to_vec()).unwrap_or_default();
            let slash =
                if path.first().is_some_and(|piece| piece.written().starts_with('/')) { "" } else { "/" };
            let start = [Piece::Text(scheme.to_owned())].into_iter().chain(base.pieces().iter().cloned());
            let start = start.chain([Piece::Text(slash.to_owned())]);
            Some(Arg::from_pieces(start.chain(path), false))
        }
        (url, None) => url,
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
