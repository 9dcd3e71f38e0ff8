//! Request rules: methods and paths, and GraphQL documents that only read.

use crate::graphql;
use crate::limits::PATH_BYTES_MAX;

/// Requests that are allowed at a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestRule {
    /// Methods in upper case. Empty means any.
    pub methods: Vec<String>,
    /// The path, without the query. `*` stands for any text without `/`, and `**` for any text. `None` means any path.
    pub path: Option<String>,
    /// The body must be a GraphQL document whose operations are all queries.
    pub queries: bool,
}

/// The reason why a text is not a request rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadRequestRule {
    /// No methods, or characters that no method has.
    #[error("a request rule begins with methods in upper case (`GET,HEAD`) or `*`")]
    Methods,
    /// A path that does not begin with `/`, or that requests cannot have.
    #[error("the path of a request rule begins with `/` and has no query, escape, or `.` and `..` parts")]
    Path,
    /// A third word that is not `queries`, or more words.
    #[error("a request rule has methods, then a path, then perhaps the word `queries`")]
    Words,
    /// `queries` without the only method that has a body of this form.
    #[error("`queries` needs the method POST alone, and a path")]
    Queries,
}

impl RequestRule {
    /// Reads `METHODS [PATH [queries]]`: `GET,HEAD`, `* /public/**`, `POST /graphql queries`.
    ///
    /// # Errors
    ///
    /// If a part is not as it must be; the error says how.
    pub fn parse(text: &str) -> Result<RequestRule, BadRequestRule> {
        let mut words = text.split_ascii_whitespace();
        let methods = words.next().ok_or(BadRequestRule::Methods)?;
        let methods = match methods {
            "*" => Vec::new(),
            list => list.split(',').map(method).collect::<Result<_, _>>()?,
        };
        let path = words.next().map(pattern).transpose()?;
        let queries = match words.next() {
            None => false,
            Some("queries") => true,
            Some(_) => return Err(BadRequestRule::Words),
        };
        if words.next().is_some() {
            return Err(BadRequestRule::Words);
        }
        if queries && (methods != ["POST"] || path.is_none()) {
            return Err(BadRequestRule::Queries);
        }
        Ok(RequestRule { methods, path, queries })
    }

    fn matches(&self, method: &str, path: &str) -> bool {
        let is_method = self.methods.is_empty() || self.methods.iter().any(|own| own == method);
        is_method && self.path.as_ref().is_none_or(|own| glob(own.as_bytes(), path.as_bytes()))
    }
}

fn method(text: &str) -> Result<String, BadRequestRule> {
    let is_method = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'-');
    is_method.then(|| text.to_owned()).ok_or(BadRequestRule::Methods)
}

fn pattern(text: &str) -> Result<String, BadRequestRule> {
    let is_path = !text.contains(['?', '#', '%']) && plain_path(text).is_ok();
    is_path.then(|| text.to_owned()).ok_or(BadRequestRule::Path)
}

/// The answer of the rules to a request before its body is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    /// It is allowed with any body.
    Allowed,
    /// It is allowed if the body is a GraphQL document that only reads.
    IfReads,
}

/// The reason why the rules refuse a request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadRequest {
    /// No rule allows method and path.
    #[error("no request rule of this host allows this method and path")]
    NotAllowed,
    /// Servers read the path differently.
    #[error("the path has a form that servers read differently (`..`, `//`, an encoded `/`, a backslash)")]
    Path,
    /// A header field that changes method or path at the server.
    #[error("the header `{0}` changes the method or path of a request")]
    Override(&'static str),
    /// The URL has a query, which servers read as a part of the GraphQL request.
    #[error("a GraphQL request to this path must have no query in its URL")]
    Query,
    /// The body is no GraphQL request that only reads.
    #[error("the GraphQL request is refused: {0}")]
    Document(#[from] graphql::BadDocument),
}

/// Header fields by which a client gives a server another method or path.
const OVERRIDES: &[&str] = &[
    "x-http-method-override",
    "x-http-method",
    "x-method-override",
    "x-original-url",
    "x-original-uri",
    "x-rewrite-url",
    "x-forwarded-uri",
    "x-forwarded-prefix",
];

/// Judges a request by the rules of its host. `target` is path and query; `names` are the names of its header fields.
///
/// # Errors
///
/// See [`BadRequest`].
pub fn judge<'n>(
    rules: &[RequestRule],
    method: &str,
    target: &str,
    names: impl Iterator<Item = &'n str>,
) -> Result<Judged, BadRequest> {
    for name in names {
        // Programs behind CGI see no difference between `_` and `-`.
        let name = name.replace('_', "-");
        if let Some(known) = OVERRIDES.iter().find(|known| name.eq_ignore_ascii_case(known)) {
            return Err(BadRequest::Override(known));
        }
    }
    let (path, query) = target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query)));
    let path = plain_path(path)?;
    let matching: Vec<&RequestRule> = rules.iter().filter(|rule| rule.matches(method, &path)).collect();
    if matching.is_empty() {
        return Err(BadRequest::NotAllowed);
    }
    if matching.iter().any(|rule| !rule.queries) {
        return Ok(Judged::Allowed);
    }
    if query.is_some_and(|query| !query.is_empty()) {
        return Err(BadRequest::Query);
    }
    Ok(Judged::IfReads)
}

/// Decodes the escapes of a path. A path that servers read in several ways is an error.
fn plain_path(path: &str) -> Result<String, BadRequest> {
    if !path.starts_with('/') || path.len() > PATH_BYTES_MAX {
        return Err(BadRequest::Path);
    }
    let mut bytes = path.bytes();
    let mut plain = Vec::new();
    while let Some(byte) = bytes.next() {
        let decoded = if byte == b'%' {
            let digit = |byte: Option<u8>| char::from(byte.unwrap_or_default()).to_digit(16);
            let (high, low) = (digit(bytes.next()), digit(bytes.next()));
            let value =
                high.zip(low).map(|(high, low)| high * 16 + low).and_then(|value| u8::try_from(value).ok());
            // An encoded separator, wildcard of a server or second escape: servers differ in when they decode it.
            value
                .filter(|value| !matches!(value, b'/' | b'\\' | b'%' | b'?' | b'#' | b';'))
                .ok_or(BadRequest::Path)?
        } else {
            byte
        };
        if decoded < 0x20 || decoded == 0x7f || decoded == b'\\' {
            return Err(BadRequest::Path);
        }
        plain.push(decoded);
    }
    let plain = String::from_utf8(plain).map_err(|_| BadRequest::Path)?;
    let mut segments = plain.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        // Some servers drop `;...` before they resolve dots.
        let name = segment.split(';').next().unwrap_or_default();
        let is_inner_empty = name.is_empty() && (segments.peek().is_some() || !segment.is_empty());
        if is_inner_empty || name == "." || name == ".." {
            return Err(BadRequest::Path);
        }
    }
    Ok(plain)
}

/// Compares a path with a pattern of `*` (not `/`) and `**` (anything). Its time is the product of both lengths.
fn glob(pattern: &[u8], path: &[u8]) -> bool {
    // The positions of the pattern that the bytes read so far may have reached.
    let mut reached = vec![false; pattern.len() + 1];
    mark(pattern, &mut reached, 0);
    for byte in path {
        let mut next = vec![false; pattern.len() + 1];
        for (at, _) in reached.iter().enumerate().filter(|(_, is_reached)| **is_reached) {
            match pattern.get(at) {
                Some(b'*') if pattern.get(at + 1) == Some(&b'*') || *byte != b'/' => {
                    mark(pattern, &mut next, at)
                }
                Some(own) if own == byte && *own != b'*' => mark(pattern, &mut next, at + 1),
                Some(_) | None => {}
            }
        }
        reached = next;
    }
    reached.last().copied().unwrap_or_default()
}

/// Marks a position, and those behind the stars that begin there, as stars may stand for nothing.
fn mark(pattern: &[u8], reached: &mut [bool], at: usize) {
    let mut at = at;
    loop {
        match reached.get_mut(at) {
            Some(place) if !*place => *place = true,
            Some(_) | None => return,
        }
        match (pattern.get(at), pattern.get(at + 1)) {
            (Some(b'*'), Some(b'*')) => at += 2,
            (Some(b'*'), _) => at += 1,
            _ => return,
        }
    }
}
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars() {
        for (pattern, path, expected) in [
            ("/a", "/a", true),
            ("/a", "/a/", false),
            ("/a", "/ab", false),
            ("/*", "/a", true),
            ("/*", "/a/b", false),
            ("/**", "/a/b", true),
            ("/**", "/", true),
            ("/a/**/c", "/a/x/y/c", true),
            ("/a/**/c", "/a/c", false),
            ("/a*c", "/abbc", true),
            ("/a*c", "/a/c", false),
            ("/repos/*/*/pulls", "/repos/o/r/pulls", true),
            ("/repos/*/*/pulls", "/repos/o/r/x/pulls", false),
            ("/**/info/refs", "/o/r.git/info/refs", true),
        ] {
            assert_eq!(glob(pattern.as_bytes(), path.as_bytes()), expected, "{pattern} {path}");
        }
    }
}
