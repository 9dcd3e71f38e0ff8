//! SOCKS version 5 (RFC 1928), the command CONNECT only. Names and passwords (RFC 1929) are read and ignored: each
//! connection comes from the sandbox.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::event::Refusal;
use crate::host::{BadHost, Host};
use crate::stream::{Source, Trouble};

/// The reason why there is no request.
#[derive(Debug)]
pub(crate) enum Failed {
    /// The connection ended.
    Gone,
    /// The client must be told.
    Refused(Refusal),
    /// The client must be told; it asked for this host and port.
    Host(String, u16, BadHost),
}

impl From<Trouble> for Failed {
    fn from(trouble: Trouble) -> Failed {
        match trouble {
            Trouble::Gone => Failed::Gone,
            Trouble::Slow => Failed::Refused(Refusal::Slow),
            Trouble::Wrong(reason) => Failed::Refused(Refusal::Socks(reason)),
        }
    }
}

const VERSION: u8 = 5;
const NO_METHOD: u8 = 0xff;
const NONE: u8 = 0;
const PASSWORD: u8 = 2;

/// Reads the greeting and the request.
pub(crate) fn request<S: Read + Write>(source: &mut Source<S>) -> Result<(Host, u16), Failed> {
    greet(source)?;
    let [version, command, _, kind] = bytes::<4>(source)?;
    if version != VERSION {
        return Err(Failed::Refused(Refusal::Socks("its version changes")));
    }
    let host = match kind {
        1 => Ok(Host::Address(IpAddr::V4(Ipv4Addr::from(bytes::<4>(source)?)))),
        4 => Ok(Host::Address(IpAddr::V6(Ipv6Addr::from(bytes::<16>(source)?)))),
        3 => {
            let [length] = bytes::<1>(source)?;
            let name = source.exact(length.into())?;
            Host::parse_bytes(&name).map_err(|error| (name, error))
        }
        _ => return Err(Failed::Refused(Refusal::Socks("its kind of address is unknown"))),
    };
    let port = u16::from_be_bytes(bytes::<2>(source)?);
    if command != 1 {
        return Err(Failed::Refused(Refusal::Socks("only the command CONNECT is there, not BIND or UDP")));
    }
    let text = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
    let host = host.map_err(|(name, error)| Failed::Host(text(&name), port, error))?;
    if port == 0 { Err(Failed::Host(host.to_string(), port, BadHost::Port)) } else { Ok((host, port)) }
}

/// Reads the greeting and agrees on a method.
fn greet<S: Read + Write>(source: &mut Source<S>) -> Result<(), Failed> {
    let [version, count] = bytes::<2>(source)?;
    if version != VERSION {
        return Err(Failed::Refused(Refusal::Socks("its version is not 5")));
    }
    let methods = source.exact(count.into())?;
    let method = if methods.contains(&NONE) {
        NONE
    } else if methods.contains(&PASSWORD) {
        PASSWORD
    } else {
        write(source, &[VERSION, NO_METHOD])?;
        return Err(Failed::Gone);
    };
    write(source, &[VERSION, method])?;
    if method == PASSWORD {
        let [_, length] = bytes::<2>(source)?;
        source.exact(length.into())?;
        let [length] = bytes::<1>(source)?;
        source.exact(length.into())?;
        write(source, &[1, 0])?;
    }
    Ok(())
}

/// Returns a reply: 0, or the reason of [`Refusal::socks_reply`]. The bound address is left out.
pub(crate) fn reply(code: u8) -> [u8; 10] {
    [VERSION, code, 0, 1, 0, 0, 0, 0, 0, 0]
}

fn write<S: Write>(source: &mut Source<S>, text: &[u8]) -> Result<(), Failed> {
    source.inner.write_all(text).map_err(|_| Failed::Gone)
}

fn bytes<const N: usize>(source: &mut Source<impl Read>) -> Result<[u8; N], Failed> {
    source.exact(N)?.try_into().map_err(|_| Failed::Gone)
}

#[cfg(test)]
mod tests {
    use std::io;

    use proptest::prelude::*;

    use super::*;

    /// A client that has sent some bytes, and reads nothing.
    struct Client<'b>(&'b [u8]);

    impl Read for Client<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            // In small parts, as networks may cut them.
            let most = buffer.len().min(3);
            self.0.read(buffer.get_mut(..most).unwrap_or_default())
        }
    }

    impl Write for Client<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_bytes_end(bytes: Vec<u8>, start in prop::sample::select(vec![vec![], vec![5, 1, 0, 5, 1, 0, 3], vec![5, 1, 2]])) {
            let sent = [start, bytes].concat();
            if let Ok((_, port)) = request(&mut Source::new(Client(&sent))) {
                prop_assert!(port != 0);
            }
        }

        #[test]
        fn a_name_arrives_as_it_was_sent(name in "[a-z]{1,9}(\\.[a-z]{1,9}){0,3}", port in 1_u16..) {
            let length = u8::try_from(name.len()).unwrap();
            let sent = [&[5, 1, 0, 5, 1, 0, 3, length], name.as_bytes(), &port.to_be_bytes(), b"rest"].concat();
            let mut source = Source::new(Client(&sent));
            let asked = request(&mut source);
            prop_assert!(matches!(asked, Ok((Host::Name(own), own_port)) if own == name && own_port == port));
            while source.fill().unwrap() > 0 {}
            prop_assert_eq!(source.waiting(), b"rest");
        }
    }
}
