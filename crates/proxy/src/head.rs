//! Heads of HTTP/1.1 messages. A request that two programs could read differently is an error (RFC 9112, section 11.2).

use crate::limits::HEADERS_MAX;

/// The head of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The method.
    pub method: String,
    /// The target: path, URL or authority, in visible ASCII.
    pub target: String,
    /// The minor version of HTTP/1: 0 or 1.
    pub minor: u8,
    /// The header fields in their order.
    pub fields: Vec<(String, Vec<u8>)>,
}

/// The head of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) minor: u8,
    pub(crate) reason: String,
    pub(crate) fields: Vec<(String, Vec<u8>)>,
}

/// The length of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// A number of bytes.
    Fixed(u64),
    /// Chunks.
    Chunked,
    /// To the end of the connection. Responses only.
    ToEnd,
}

/// The reason why a head is not accepted.
pub(crate) type Bad = &'static str;

/// Header fields of one connection, which a proxy does not pass on.
const OF_ONE_CONNECTION: &[&str] = &[
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "http2-settings",
];

impl Request {
    /// Reads a head, from its first byte to the empty line.
    ///
    /// # Errors
    ///
    /// A text: the part that is not as it must be.
    pub fn parse(bytes: &[u8]) -> Result<Request, &'static str> {
        check_lines(bytes)?;
        let mut space = [httparse::EMPTY_HEADER; HEADERS_MAX];
        let mut request = httparse::Request::new(&mut space);
        match request.parse(bytes) {
            Ok(httparse::Status::Complete(length)) if length == bytes.len() => {}
            Ok(_) => return Err("its head does not end where it seems to end"),
            Err(error) => return Err(reason(error)),
        }
        let target = request.path.unwrap_or_default();
        if !target.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#') {
            return Err("its target has characters other than visible ASCII, or a fragment");
        }
        Ok(Request {
            method: request.method.unwrap_or_default().to_owned(),
            target: target.to_owned(),
            minor: request.version.unwrap_or_default(),
            fields: fields(request.headers),
        })
    }

    /// Returns the length of the body.
    ///
    /// # Errors
    ///
    /// Both lengths, a length twice, or codings other than `chunked`.
    pub fn length(&self) -> Result<Length, &'static str> {
        let codings: Vec<&[u8]> = values(&self.fields, "transfer-encoding").collect();
        let lengths: Vec<&[u8]> = values(&self.fields, "content-length").collect();
        match (codings.as_slice(), lengths.as_slice()) {
            ([], []) => Ok(Length::Fixed(0)),
            ([], [length]) => number(length).map(Length::Fixed),
            ([coding], []) if coding.eq_ignore_ascii_case(b"chunked") && self.minor == 1 => {
                Ok(Length::Chunked)
            }
            ([], _) => Err("it has several lengths"),
            (_, []) => Err("it has a transfer coding other than `chunked`"),
            _ => Err("it has a length and a transfer coding"),
        }
    }

    /// Returns the only `Host` field.
    ///
    /// # Errors
    ///
    /// None, or several.
    pub fn host(&self) -> Result<&str, &'static str> {
        let mut hosts = values(&self.fields, "host");
        match (hosts.next(), hosts.next()) {
            (Some(host), None) => std::str::from_utf8(host).map_err(|_| "its `Host` field is no text"),
            (None, _) => Err("it has no `Host` field"),
            (Some(_), Some(_)) => Err("it has several `Host` fields"),
        }
    }
}

impl Response {
    /// Reads a head. It is written anew for the client, so line ends may be of any kind.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Response, Bad> {
        let mut space = [httparse::EMPTY_HEADER; HEADERS_MAX];
        let mut response = httparse::Response::new(&mut space);
        match response.parse(bytes) {
            Ok(httparse::Status::Complete(length)) if length == bytes.len() => {}
            Ok(_) => return Err("its head does not end where it seems to end"),
            Err(error) => return Err(reason(error)),
        }
        Ok(Response {
            status: response.code.unwrap_or_default(),
            minor: response.version.unwrap_or_default(),
            reason: response.reason.unwrap_or_default().to_owned(),
            fields: fields(response.headers),
        })
    }

    /// Returns the length of the body of the response to a method.
    pub(crate) fn length(&self, method: &str) -> Result<Length, Bad> {
        if method == "HEAD" || matches!(self.status, 204 | 304) {
            return Ok(Length::Fixed(0));
        }
        let codings: Vec<&[u8]> = values(&self.fields, "transfer-encoding").collect();
        let mut lengths: Vec<&[u8]> = values(&self.fields, "content-length").collect();
        lengths.dedup();
        match (codings.as_slice(), lengths.as_slice()) {
            ([], []) => Ok(Length::ToEnd),
            ([], [length]) => number(length).map(Length::Fixed),
            ([coding], []) if coding.eq_ignore_ascii_case(b"chunked") => Ok(Length::Chunked),
            ([], _) => Err("it has several lengths"),
            (_, []) => Err("it has a transfer coding other than `chunked`"),
            _ => Err("it has a length and a transfer coding"),
        }
    }
}

/// Returns the values of a header field.
pub(crate) fn values<'f>(fields: &'f [(String, Vec<u8>)], name: &'f str) -> impl Iterator<Item = &'f [u8]> {
    fields.iter().filter(move |(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_slice())
}

/// Checks if a header field is a list with this word.
pub(crate) fn has_word(fields: &[(String, Vec<u8>)], name: &str, word: &str) -> bool {
    values(fields, name)
        .flat_map(|value| value.split(|byte| *byte == b','))
        .any(|own| own.trim_ascii().eq_ignore_ascii_case(word.as_bytes()))
}

/// Returns the fields that a proxy passes on: not those of one connection, nor those that `Connection` names.
pub(crate) fn passed_on(fields: &[(String, Vec<u8>)]) -> impl Iterator<Item = (&str, &[u8])> {
    let is_own = |name: &str| {
        OF_ONE_CONNECTION.iter().any(|own| name.eq_ignore_ascii_case(own))
            || has_word(fields, "connection", name)
    };
    fields
        .iter()
        .filter(move |(name, _)| !is_own(name))
        .map(|(name, value)| (name.as_str(), value.as_slice()))
}

fn fields(headers: &[httparse::Header<'_>]) -> Vec<(String, Vec<u8>)> {
    headers.iter().map(|header| (header.name.to_owned(), header.value.to_vec())).collect()
}

/// Rejects line ends other than CR LF, empty lines before the head, and lines that continue the one before.
fn check_lines(bytes: &[u8]) -> Result<(), Bad> {
    let mut before = b'\n';
    for byte in bytes {
        match (before, byte) {
            (b'\r', b'\n') => {}
            (b'\r', _) | (_, b'\n') => return Err("a line does not end with CR and LF"),
            (b'\n', b' ' | b'\t') => return Err("a line continues the one before"),
            (_, 0) => return Err("it has a NUL"),
            _ => {}
        }
        before = *byte;
    }
    if bytes.starts_with(b"\r\n") { Err("it begins with an empty line") } else { Ok(()) }
}

fn number(text: &[u8]) -> Result<u64, Bad> {
    let digits = std::str::from_utf8(text).unwrap_or_default();
    let is_plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| is_plain).ok_or("its length is not a number")
}

fn reason(error: httparse::Error) -> Bad {
    match error {
        httparse::Error::HeaderName => "the name of a header field is wrong",
        httparse::Error::HeaderValue => "the value of a header field is wrong",
        httparse::Error::NewLine => "a line end is wrong",
        httparse::Error::Status => "its status is wrong",
        httparse::Error::Token => "its first line is wrong",
        httparse::Error::TooManyHeaders => "it has more than 128 header fields",
        httparse::Error::Version => "its version is not HTTP/1.1",
    }
}
