//! [`Host`]: a host's name or address in any notation, and its class.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::limits::HOST_BYTES_MAX;

pub use castellan_event::HostClass;

/// A host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// The form for the connection: lower case, ASCII (`xn--`), an address in its usual notation without brackets. As
    /// written if the text is not a host.
    pub name: String,
    /// The class of the machine.
    pub class: HostClass,
}

/// Names of this machine.
const LOOPBACK_NAMES: &[&str] = &["localhost", "ip6-localhost", "ip6-loopback", "localhost4", "localhost6"];

/// Domains in which every name is this machine.
const LOOPBACK_DOMAINS: &[&str] = &["localhost", "localdomain", "localdomain4", "localdomain6"];

/// Names of metadata services.
const METADATA_NAMES: &[&str] = &[
    "metadata.google.internal",
    "metadata.goog",
    "metadata",
    "metadata.platformequinix.com",
    "metadata.packet.net",
    "metadata.tencentyun.com",
    "metadata.azure.internal",
    "metadata.azure.com",
    "instance-data",
    "instance-data.ec2.internal",
    "rancher-metadata",
];

/// Addresses of metadata services: most clouds, containers of AWS, Alibaba, Oracle, the host of Azure, and IPv6 ones.
const METADATA_ADDRESSES: &[IpAddr] = &[
    IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254)),
    IpAddr::V4(Ipv4Addr::new(169, 254, 170, 2)),
    IpAddr::V4(Ipv4Addr::new(169, 254, 170, 23)),
    IpAddr::V4(Ipv4Addr::new(169, 254, 0, 23)),
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    IpAddr::V4(Ipv4Addr::new(192, 0, 0, 192)),
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23)),
    IpAddr::V6(Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42)),
];

/// Domains of private networks: reserved for them, or used only for them.
const PRIVATE_DOMAINS: &[&str] = &[
    "internal",
    "local",
    "lan",
    "home",
    "home.arpa",
    "corp",
    "intranet",
    "private",
    "localnet",
    "svc",
    "test",
    "example",
    "invalid",
];

/// IPv4 networks that the internet does not reach: address and prefix length.
const PRIVATE_NETWORKS: &[(Ipv4Addr, u32)] = &[
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    (Ipv4Addr::new(224, 0, 0, 0), 3),
];

/// IPv6 networks that the internet does not reach: unique local, link local, site local, multicast, documentation.
const PRIVATE_NETWORKS_6: &[(u128, u32)] = &[
    (0xfc00 << 112, 7),
    (0xfe80 << 112, 10),
    (0xfec0 << 112, 10),
    (0xff00 << 112, 8),
    (0x2001_0db8 << 96, 32),
    (0x0100 << 112, 64),
];

impl Host {
    /// Parses a host from a URL or an argument.
    pub fn parse(text: &str) -> Host {
        let unknown = || Host { name: text.to_lowercase(), class: HostClass::Unknown };
        if text.is_empty() || text.len() > HOST_BYTES_MAX {
            return Host { name: text.chars().take(HOST_BYTES_MAX / 4).collect(), class: HostClass::Unknown };
        }
        let is_bracketed = text.starts_with('[') || text.ends_with(']');
        let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
        // A zone names the network card: `fe80::1%eth0`, in URLs `%25eth0`.
        let address = bare.split_once('%').map_or(bare, |(address, _)| address);
        if let Ok(address) = address.parse::<Ipv6Addr>() {
            return Host::of_address(IpAddr::V6(address));
        }
        if is_bracketed {
            return unknown();
        }
        let Some(decoded) = percent_decoded(text) else { return unknown() };
        let Some(name) = ascii(&decoded) else { return unknown() };
        let dotless = name.strip_suffix('.').unwrap_or(&name);
        match Numeric::of(dotless) {
            Numeric::Address(address) => Host::of_address(IpAddr::V4(address)),
            // Some programs read a leading zero as octal, others do not.
            Numeric::Either(octal, decimal) => {
                let (octal, decimal) = (Host::of_address(octal.into()), Host::of_address(decimal.into()));
                let differs = octal.class != decimal.class;
                let worse = if decimal.class < octal.class { decimal } else { octal };
                let class = if differs { worse.class.min(HostClass::Unknown) } else { worse.class };
                Host { class, ..worse }
            }
            Numeric::Broken => Host { name: dotless.to_owned(), class: HostClass::Unknown },
            Numeric::No => Host { class: class_of_name(dotless), name: dotless.to_owned() },
        }
    }

    fn of_address(address: IpAddr) -> Host {
        Host { name: address.to_string(), class: class_of(address) }
    }
}

fn class_of(address: IpAddr) -> HostClass {
    if METADATA_ADDRESSES.contains(&address) {
        return HostClass::Metadata;
    }
    match address {
        // On Linux all of 0.0.0.0/8 leads to this machine, if it leads anywhere.
        IpAddr::V4(v4) if v4.is_loopback() || matches!(v4.octets(), [0, ..]) => HostClass::Loopback,
        IpAddr::V4(v4) if PRIVATE_NETWORKS.iter().any(|(network, bits)| is_in(v4, *network, *bits)) => {
            HostClass::Private
        }
        IpAddr::V4(_) => HostClass::Public,
        IpAddr::V6(v6) if v6.is_loopback() || v6.is_unspecified() => HostClass::Loopback,
        IpAddr::V6(v6) => match embedded(v6) {
            Some(v4) => class_of(IpAddr::V4(v4)),
            None => {
                let bits_of = |bits: u32| u128::MAX.checked_shl(128 - bits).unwrap_or(0);
                let is_in = |network: u128, bits: u32| (u128::from(v6) ^ network) & bits_of(bits) == 0;
                let is_private = PRIVATE_NETWORKS_6.iter().any(|(network, bits)| is_in(*network, *bits));
                if is_private { HostClass::Private } else { HostClass::Public }
            }
        },
    }
}

fn is_in(address: Ipv4Addr, network: Ipv4Addr, bits: u32) -> bool {
    let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
    (u32::from(address) ^ u32::from(network)) & mask == 0
}

/// Returns the IPv4 address inside an IPv6 address: mapped, compatible, translated (NAT64) or tunnelled (6to4).
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let v4 = |high: u16, low: u16| Some(Ipv4Addr::from(u32::from(high) << 16 | u32::from(low)));
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff, high, low]
        | [0, 0, 0, 0, 0, 0, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x64, 0xff9b, 1, _, _, _, high, low]
        | [0x2002, high, low, ..] => v4(high, low),
        _ => None,
    }
}

fn class_of_name(name: &str) -> HostClass {
    let is_below = |domain: &&str| name.strip_suffix(*domain).is_some_and(|rest| rest.ends_with('.'));
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let labels_are_there = name.split('.').all(|label| !label.is_empty());
    if !labels_are_there || !name.bytes().all(is_name) || name.starts_with('-') {
        HostClass::Unknown
    } else if METADATA_NAMES.contains(&name) {
        HostClass::Metadata
    } else if LOOPBACK_NAMES.contains(&name) || LOOPBACK_DOMAINS.iter().any(is_below) {
        HostClass::Loopback
    } else if !name.contains('.') || PRIVATE_DOMAINS.iter().any(is_below) || is_below(&"cluster.local") {
        HostClass::Private
    } else {
        HostClass::Public
    }
}

/// A host that may be an IPv4 address in any of its notations: one to four numbers, decimal, octal or hexadecimal. The
/// last number fills the remaining bytes, as `inet_aton` and browsers read it.
enum Numeric {
    Address(Ipv4Addr),
    Either(Ipv4Addr, Ipv4Addr),
    /// The host ends in a number, so it cannot be a name, but it is not a valid address either.
    Broken,
    No,
}

impl Numeric {
    fn of(name: &str) -> Numeric {
        let parts: Vec<&str> = name.split('.').collect();
        let Some(last) = parts.last().filter(|last| !last.is_empty()) else { return Numeric::No };
        let is_digits = last.bytes().all(|byte| byte.is_ascii_digit());
        if !is_digits && number(last, true).is_none() {
            return Numeric::No;
        }
        match (address(&parts, true), address(&parts, false)) {
            (Some(octal), Some(decimal)) if octal != decimal => Numeric::Either(octal, decimal),
            (Some(one), _) | (None, Some(one)) => Numeric::Address(one),
            (None, None) => Numeric::Broken,
        }
    }
}

fn address(parts: &[&str], octal: bool) -> Option<Ipv4Addr> {
    let numbers: Option<Vec<u64>> = parts.iter().map(|part| number(part, octal)).collect();
    let numbers = numbers.filter(|numbers| numbers.len() <= 4)?;
    let (last, front) = numbers.split_last()?;
    let bytes_left = 4_u32.checked_sub(u32::try_from(front.len()).ok()?)?;
    if *last >= 1 << (8 * bytes_left) || front.iter().any(|part| *part > 255) {
        return None;
    }
    let high = front.iter().zip([24, 16, 8]).map(|(part, shift)| part << shift).sum::<u64>();
    u32::try_from(high + last).ok().map(Ipv4Addr::from)
}

fn number(text: &str, octal: bool) -> Option<u64> {
    let lower = text.to_ascii_lowercase();
    let (digits, radix) = match lower.strip_prefix("0x") {
        Some("") => return Some(0),
        Some(digits) => (digits, 16),
        None if octal && lower.len() > 1 && lower.starts_with('0') => (lower.as_str(), 8),
        None => (lower.as_str(), 10),
    };
    let is_number = digits.bytes().all(|byte| byte.is_ascii_alphanumeric());
    u64::from_str_radix(digits, radix).ok().filter(|_| is_number)
}

/// `None` if a percent sign has no digits, or if the bytes are not text.
fn percent_decoded(text: &str) -> Option<String> {
    if !text.contains('%') {
        return Some(text.to_owned());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
                u8::try_from(digit(rest.next())? * 16 + digit(rest.next())?).ok()?
            }
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

/// The name for a DNS query: wide digits and dots become plain ones, other scripts `xn--`. `None` if it is not a name.
fn ascii(text: &str) -> Option<String> {
    let needs_idna = !text.is_ascii() || text.to_ascii_lowercase().contains("xn--");
    if needs_idna {
        return idna::domain_to_ascii(text).ok().filter(|name| !name.is_empty());
    }
    Some(text.to_ascii_lowercase())
}
