//! The frame: magic, version, kind, length, body.
//!
//! ```text
//! 0      4         6      8        12
//! | CSTL | version | kind | length | body ...
//! ```

use std::fmt;
use std::io::{self, Read, Write};

use crate::limits::BODY_BYTES_AHEAD;

/// Version of the protocol. A reader rejects other versions; the hook then denies.
pub const VERSION: u16 = 1;

const MAGIC: [u8; 4] = *b"CSTL";
const HEADER_BYTES: usize = 12;

/// The content of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Hook to daemon: a [`crate::Request`].
    Request,
    /// Daemon to hook: a [`crate::Reply`], the last frame of a connection.
    Reply,
    /// Daemon to hook: a [`crate::Hold`]; another frame follows.
    Hold,
    /// Both directions on the control socket: JSON. The daemon's control module defines its shape.
    Control,
}

impl Kind {
    const ALL: [(Kind, u16); 4] = [(Kind::Request, 1), (Kind::Reply, 2), (Kind::Hold, 3), (Kind::Control, 4)];

    fn number(self) -> u16 {
        Kind::ALL.iter().find_map(|(kind, number)| (*kind == self).then_some(*number)).unwrap_or_default()
    }

    fn from_number(number: u16) -> Option<Kind> {
        Kind::ALL.iter().find_map(|(kind, n)| (*n == number).then_some(*kind))
    }
}

/// One frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The kind of the body.
    pub kind: Kind,
    /// The body.
    pub body: Vec<u8>,
}

/// The reason why a frame could not be read.
#[derive(Debug)]
pub enum WireError {
    /// The peer closed the connection before the first byte of a frame.
    Closed,
    /// Reading or writing failed, or the stream ended inside a frame.
    Io(io::Error),
    /// The first bytes are not the magic of a frame.
    NotAFrame,
    /// The peer speaks another version.
    Version(u16),
    /// A kind that this version does not know.
    Kind(u16),
    /// The body is longer than the reader accepts.
    TooLong {
        /// Bytes announced.
        bytes: usize,
        /// Bytes accepted.
        max: usize,
    },
    /// The body does not match its kind.
    Body,
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WireError::Closed => f.write_str("the connection was closed"),
            WireError::Io(error) => write!(f, "the connection failed: {error}"),
            WireError::NotAFrame => f.write_str("the received bytes are not a frame of castellan"),
            WireError::Version(version) => {
                write!(
                    f,
                    "the peer speaks protocol version {version}, this castellan {VERSION}: install both from one version"
                )
            }
            WireError::Kind(kind) => write!(f, "the peer sent a frame of the unknown kind {kind}"),
            WireError::TooLong { bytes, max } => {
                write!(f, "a frame of {bytes} bytes is over the limit of {max}")
            }
            WireError::Body => f.write_str("the body of a frame is malformed"),
        }
    }
}

impl std::error::Error for WireError {}

impl From<io::Error> for WireError {
    fn from(error: io::Error) -> WireError {
        WireError::Io(error)
    }
}

/// Writes one frame, in one `write` if the kernel accepts it.
pub fn write_frame(to: &mut impl Write, kind: Kind, body: &[u8]) -> Result<(), WireError> {
    let length = u32::try_from(body.len())
        .map_err(|_| WireError::TooLong { bytes: body.len(), max: u32::MAX as usize })?;
    let mut bytes = Vec::with_capacity(HEADER_BYTES.saturating_add(body.len()));
    bytes.extend_from_slice(&MAGIC);
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&kind.number().to_le_bytes());
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(body);
    to.write_all(&bytes)?;
    to.flush()?;
    Ok(())
}

/// Reads one frame whose body has at most `max` bytes.
pub fn read_frame(from: &mut impl Read, max: usize) -> Result<Frame, WireError> {
    Announced::read(from, max)?.read_body(from)
}

/// A frame of which only the header was read. The caller can reserve memory for the body first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Announced {
    kind: Kind,
    bytes: usize,
}

impl Announced {
    /// Reads the header of a frame whose body has at most `max` bytes.
    pub fn read(from: &mut impl Read, max: usize) -> Result<Announced, WireError> {
        let [m0, m1, m2, m3, v0, v1, k0, k1, l0, l1, l2, l3] = read_header(from)?;
        if [m0, m1, m2, m3] != MAGIC {
            return Err(WireError::NotAFrame);
        }
        let version = u16::from_le_bytes([v0, v1]);
        if version != VERSION {
            return Err(WireError::Version(version));
        }
        let number = u16::from_le_bytes([k0, k1]);
        let kind = Kind::from_number(number).ok_or(WireError::Kind(number))?;
        let bytes = u32::from_le_bytes([l0, l1, l2, l3]) as usize;
        if bytes > max {
            return Err(WireError::TooLong { bytes, max });
        }
        Ok(Announced { kind, bytes })
    }

    /// Returns the number of bytes of the body.
    pub fn body_bytes(&self) -> usize {
        self.bytes
    }

    /// Reads the body.
    pub fn read_body(self, from: &mut impl Read) -> Result<Frame, WireError> {
        let Announced { kind, bytes } = self;
        let mut body = Vec::with_capacity(bytes.min(BODY_BYTES_AHEAD));
        from.take(bytes as u64).read_to_end(&mut body)?;
        if body.len() < bytes {
            return Err(WireError::Io(io::ErrorKind::UnexpectedEof.into()));
        }
        Ok(Frame { kind, body })
    }
}

fn read_header(from: &mut impl Read) -> Result<[u8; HEADER_BYTES], WireError> {
    let mut header = [0; HEADER_BYTES];
    let mut filled = 0;
    while let Some(rest) = header.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match from.read(rest) {
            Ok(0) if filled == 0 => return Err(WireError::Closed),
            Ok(0) => return Err(WireError::Io(io::ErrorKind::UnexpectedEof.into())),
            Ok(n) => filled = filled.saturating_add(n),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(header)
}
