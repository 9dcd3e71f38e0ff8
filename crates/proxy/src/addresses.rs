//! Addresses that a name must not lead to: those of the machine, its networks and its cloud.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A range of addresses: `10.0.0.0/8`, `fd00::/8`, or one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    first: IpAddr,
    bits: u8,
}

impl Range {
    /// The range of one address.
    #[must_use]
    pub fn one(address: IpAddr) -> Range {
        Range { first: address, bits: if address.is_ipv4() { 32 } else { 128 } }
    }

    /// Reads `ADDRESS/BITS` or `ADDRESS`. `None` if it is neither.
    #[must_use]
    pub fn parse(text: &str) -> Option<Range> {
        let Some((address, bits)) = text.split_once('/') else {
            return text.parse().ok().map(Range::one);
        };
        let first: IpAddr = address.parse().ok()?;
        let bits: u8 = bits.parse().ok()?;
        (bits <= Range::one(first).bits).then_some(Range { first, bits })
    }

    /// Checks if an address is in the range. An IPv4 address is in no range of IPv6.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.first, address) {
            (IpAddr::V4(first), IpAddr::V4(address)) => {
                same_start(first.to_bits().into(), address.to_bits().into(), 32, self.bits)
            }
            (IpAddr::V6(first), IpAddr::V6(address)) => {
                same_start(first.to_bits(), address.to_bits(), 128, self.bits)
            }
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
        }
    }

    fn is_one(&self) -> bool {
        *self == Range::one(self.first)
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_one() { write!(f, "{}", self.first) } else { write!(f, "{}/{}", self.first, self.bits) }
    }
}

fn same_start(a: u128, b: u128, width: u32, bits: u8) -> bool {
    (a ^ b).checked_shr(width.saturating_sub(bits.into())).is_none_or(|rest| rest == 0)
}

/// Services of clouds that give credentials to any program of the machine. A rule reaches one only by its exact address.
const METADATA: &[&str] = &[
    "169.254.169.254", // most clouds
    "169.254.170.2",   // containers of Amazon
    "169.254.170.23",  // pods of Amazon
    "168.63.129.16",   // Azure, outside of the private ranges
    "192.0.0.192",     // Oracle
    "100.100.100.200", // Alibaba
    "fd00:ec2::254",   // Amazon
    "fd00:ec2::23",    // pods of Amazon
    "fd20:ce::254",    // Google
];

/// Ranges of IPv4 that are not public.
const IPV4: &[(&str, &str)] = &[
    ("0.0.0.0/8", "unspecified"),
    ("10.0.0.0/8", "private"),
    ("100.64.0.0/10", "of a carrier's private network"),
    ("127.0.0.0/8", "loopback"),
    ("169.254.0.0/16", "link-local"),
    ("172.16.0.0/12", "private"),
    ("192.0.0.0/24", "reserved"),
    ("192.0.2.0/24", "documentation"),
    ("192.88.99.0/24", "reserved"),
    ("192.168.0.0/16", "private"),
    ("198.18.0.0/15", "for measurements"),
    ("198.51.100.0/24", "documentation"),
    ("203.0.113.0/24", "documentation"),
    ("224.0.0.0/4", "multicast"),
    ("240.0.0.0/4", "reserved"),
];

/// Ranges of IPv6 with a reason of their own. Outside of `2000::/3` no address is public.
const IPV6: &[(&str, &str)] = &[
    ("::/128", "unspecified"),
    ("::1/128", "loopback"),
    ("fc00::/7", "private"),
    ("fe80::/10", "link-local"),
    ("fec0::/10", "private"),
    ("ff00::/8", "multicast"),
    ("2001::/23", "reserved or a tunnel"),
    ("2001:db8::/32", "documentation"),
    ("3fff::/20", "documentation"),
];

/// Returns the reason why the address is not a public one, as an adjective. `None` for a public address.
///
/// An IPv6 address that carries an IPv4 address is judged by that one too.
#[must_use]
pub fn not_public(address: IpAddr) -> Option<&'static str> {
    if is_metadata(address) {
        return Some("of a cloud's metadata service");
    }
    match address {
        IpAddr::V4(_) => listed(IPV4, address),
        IpAddr::V6(v6) => {
            if let Some(carried) = carried(v6) {
                // Mapped and compatible forms reach IPv4 by another way of writing it: no name needs them.
                return not_public(IpAddr::V4(carried))
                    .or_else(|| is_written_ipv4(v6).then_some("IPv4 in IPv6"));
            }
            let is_global = v6.segments()[0] & 0xe000 == 0x2000;
            listed(IPV6, address).or((!is_global).then_some("reserved"))
        }
    }
}

/// Checks if a rule's ranges contain the address. A metadata service needs a range of exactly its address.
pub(crate) fn is_granted(ranges: &[Range], address: IpAddr) -> bool {
    let is_metadata = is_metadata(address);
    ranges.iter().any(|range| range.contains(address) && (!is_metadata || range.is_one()))
}

fn is_metadata(address: IpAddr) -> bool {
    METADATA.iter().any(|text| text.parse() == Ok(address))
}

fn listed(table: &[(&str, &'static str)], address: IpAddr) -> Option<&'static str> {
    let is_in = |range: &str| Range::parse(range).is_some_and(|range| range.contains(address));
    table.iter().find(|(range, _)| is_in(range)).map(|(_, reason)| *reason)
}

/// Returns the IPv4 address that an IPv6 address reaches: mapped, compatible, translated, 6to4, NAT64 or ISATAP.
fn carried(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, d, e, f, high, low] = address.segments();
    let v4 = |high: u16, low: u16| Some(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)));
    match (a, b, c, d, e, f) {
        (0, 0, 0, 0, 0, 0) if high != 0 => v4(high, low),
        (0, 0, 0, 0, 0, 0xffff) | (0, 0, 0, 0, 0xffff, 0) | (0x64, 0xff9b, 0, 0, 0, 0) => v4(high, low),
        (0x2002, ..) => v4(b, c),
        (_, _, _, _, 0 | 0x200, 0x5efe) => v4(high, low),
        _ => None,
    }
}

/// Checks if an address is only another way to write an IPv4 address.
fn is_written_ipv4(address: Ipv6Addr) -> bool {
    matches!(address.segments(), [0, 0, 0, 0, ..])
}
