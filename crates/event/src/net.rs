//! [`Net`]: networks in rules and events. The rules crate matches addresses against them.

use std::fmt;
use std::net::IpAddr;

/// A network: an address and the length of its prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Net {
    /// An address of the network.
    pub address: IpAddr,
    /// Number of leading bits that are compared.
    pub prefix: u8,
}

/// Returns the network of this one address.
impl From<IpAddr> for Net {
    fn from(address: IpAddr) -> Net {
        Net { address, prefix: bits(address) }
    }
}

impl fmt::Display for Net {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

impl Net {
    /// Parses `address/prefix`; the bits behind the prefix stay as written.
    pub fn parse(text: &str) -> Option<Net> {
        let (address, prefix) = text.split_once('/')?;
        let address: IpAddr = address.parse().ok()?;
        // Rust's number parser accepts a sign.
        let digits = prefix.bytes().all(|byte| byte.is_ascii_digit());
        let prefix: u8 = prefix.parse().ok().filter(|prefix| digits && *prefix <= bits(address))?;
        Some(Net { address, prefix })
    }
}

fn bits(address: IpAddr) -> u8 {
    if address.is_ipv6() { 128 } else { 32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts() {
        for sound in ["10.1.2.3/8", "0.0.0.0/0", "10.0.0.1/32", "fe80::1/10", "::/0", "::1/128"] {
            assert_eq!(Net::parse(sound).map(|net| net.to_string()).as_deref(), Some(sound));
        }
        for none in ["10.0.0.0/33", "::/129", "10.0.0.0/+8", "10.0.0.0/", "10.0.0.0", "10.0.0/8", "/8", ""] {
            assert_eq!(Net::parse(none), None, "{none}");
        }
        let address: IpAddr = "fe80::1".parse().unwrap();
        assert_eq!(Net::from(address).to_string(), "fe80::1/128");
    }
}
