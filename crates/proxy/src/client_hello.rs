//! The first message of a TLS client, as far as it names the host (RFC 8446, section 4.1.2; RFC 6066, section 3).

use crate::limits::HELLO_BYTES_MAX;

/// The kind of the first bytes of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// Too few bytes to know.
    More,
    /// Other bytes than those of TLS.
    NotTls,
    /// TLS, with an error.
    Bad(&'static str),
    /// A ClientHello.
    Hello(ClientHello),
}

/// The parts of a ClientHello that name its host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientHello {
    /// The name of the server (SNI).
    pub name: Option<Vec<u8>>,
    /// A second, encrypted ClientHello is inside (ECH), or something that looks like it.
    pub is_hidden: bool,
}

const HANDSHAKE: u8 = 22;
const CLIENT_HELLO: u8 = 1;
const SERVER_NAME: u16 = 0;
const ENCRYPTED_CLIENT_HELLO: u16 = 0xfe0d;
/// The longest record of TLS without encryption.
const RECORD_BYTES_MAX: usize = 16 * 1024;

/// Reads the first bytes of a client. The message may be in several records.
#[must_use]
pub fn read(bytes: &[u8]) -> Start {
    match bytes {
        [] => return Start::More,
        [HANDSHAKE] | [HANDSHAKE, 3] => return Start::More,
        [HANDSHAKE, 3, ..] => {}
        _ => return Start::NotTls,
    }
    let message = match message(bytes) {
        Ok(Some(message)) => message,
        Ok(None) if bytes.len() > HELLO_BYTES_MAX => return Start::Bad("the ClientHello is too long"),
        Ok(None) => return Start::More,
        Err(reason) => return Start::Bad(reason),
    };
    match hello(&mut Cut(&message)) {
        Some(Ok(hello)) => Start::Hello(hello),
        Some(Err(reason)) => Start::Bad(reason),
        None => Start::Bad("the ClientHello is cut off"),
    }
}

/// Joins the records to the body of the ClientHello; `None` if records are missing.
fn message(bytes: &[u8]) -> Result<Option<Vec<u8>>, &'static str> {
    let mut records = Cut(bytes);
    let mut joined: Vec<u8> = Vec::new();
    loop {
        if let [kind, lengths @ ..] = joined.as_slice()
            && let Some([high, middle, low]) = lengths.first_chunk::<3>()
        {
            if *kind != CLIENT_HELLO {
                return Err("the first message is no ClientHello");
            }
            let length = usize::from(*high) << 16 | usize::from(*middle) << 8 | usize::from(*low);
            if length > HELLO_BYTES_MAX {
                return Err("the ClientHello is too long");
            }
            if joined.len() > length + 4 {
                return Err("bytes follow the ClientHello");
            }
            if joined.len() == length + 4 {
                return Ok(Some(joined.split_off(4)));
            }
        }
        let Some(kind) = records.u8() else { return Ok(None) };
        if kind != HANDSHAKE {
            return Err("another record interrupts the ClientHello");
        }
        let (Some(_version), Some(length)) = (records.u16(), records.u16()) else { return Ok(None) };
        let length = usize::from(length);
        if length == 0 || length > RECORD_BYTES_MAX {
            return Err("a record has a wrong length");
        }
        let Some(part) = records.take(length) else { return Ok(None) };
        joined.extend_from_slice(part);
    }
}

/// Reads the body of a ClientHello; `None` if it is too short for its own lengths.
fn hello(body: &mut Cut<'_>) -> Option<Result<ClientHello, &'static str>> {
    body.take(2 + 32)?;
    let session = body.u8()?;
    body.take(session.into())?;
    let suites = body.u16()?;
    body.take(suites.into())?;
    let compressions = body.u8()?;
    body.take(compressions.into())?;
    if body.0.is_empty() {
        return Some(Ok(ClientHello::default()));
    }
    let length = body.u16()?;
    let mut extensions = Cut(body.take(length.into())?);
    if !body.0.is_empty() {
        return Some(Err("bytes follow the extensions"));
    }
    let mut hello = ClientHello::default();
    let mut seen = Vec::new();
    while !extensions.0.is_empty() {
        let kind = extensions.u16()?;
        let length = extensions.u16()?;
        let mut content = Cut(extensions.take(length.into())?);
        if seen.contains(&kind) {
            return Some(Err("an extension is there twice"));
        }
        seen.push(kind);
        match kind {
            SERVER_NAME => match server_name(&mut content) {
                Some(name) => hello.name = Some(name),
                None => return Some(Err("the server name is not a list of one name")),
            },
            ENCRYPTED_CLIENT_HELLO => hello.is_hidden = true,
            _ => {}
        }
    }
    Some(Ok(hello))
}

/// Reads a list of one host name. A server could take any name of a longer list.
fn server_name(content: &mut Cut<'_>) -> Option<Vec<u8>> {
    let length = content.u16()?;
    let mut list = Cut(content.take(length.into())?);
    let kind = list.u8()?;
    let length = list.u16()?;
    let name = list.take(length.into())?;
    (kind == 0 && list.0.is_empty() && content.0.is_empty()).then(|| name.to_vec())
}

/// The rest of some bytes.
struct Cut<'b>(&'b [u8]);

impl<'b> Cut<'b> {
    fn take(&mut self, length: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn u8(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    fn u16(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes(*self.take(2)?.first_chunk()?))
    }
}
