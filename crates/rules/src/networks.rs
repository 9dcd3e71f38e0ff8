//! Sets of networks and addresses. An address is a network of one address; IPv4 and IPv6 never match each other. A
//! query costs one look-up for each prefix length in the set, not one for each network.

use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use castellan_event::Net;

/// A set of networks.
#[derive(Debug)]
pub(crate) struct Networks {
    all: HashSet<Net>,
    /// The prefix lengths in the set, of IPv4 and of IPv6.
    prefixes: [Vec<u8>; 2],
}

impl Networks {
    pub(crate) fn new(nets: impl IntoIterator<Item = Net>) -> Self {
        let all: HashSet<Net> = nets.into_iter().map(|net| masked(net.address, net.prefix)).collect();
        let of = |v6: bool| {
            let mut prefixes: Vec<u8> =
                all.iter().filter(|net| net.address.is_ipv6() == v6).map(|net| net.prefix).collect();
            prefixes.sort_unstable();
            prefixes.dedup();
            prefixes
        };
        let prefixes = [of(false), of(true)];
        Self { all, prefixes }
    }

    /// Reports whether an address is in one of the networks.
    pub(crate) fn contains(&self, address: IpAddr) -> bool {
        self.covers(Net::from(address))
    }

    /// Reports whether a whole network is in one of the networks.
    pub(crate) fn covers(&self, net: Net) -> bool {
        let [v4, v6] = &self.prefixes;
        let prefixes = if net.address.is_ipv6() { v6 } else { v4 };
        let shorter = prefixes.iter().take_while(|prefix| **prefix <= net.prefix);
        shorter.into_iter().any(|prefix| self.all.contains(&masked(net.address, *prefix)))
    }
}

/// Returns the network of an address, with the bits behind its prefix cleared.
fn masked(address: IpAddr, prefix: u8) -> Net {
    let behind = u32::from(Net::from(address).prefix.saturating_sub(prefix));
    let address = match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(behind).unwrap_or_default();
            IpAddr::V4(Ipv4Addr::from_bits(address.to_bits() & mask))
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(behind).unwrap_or_default();
            IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & mask))
        }
    };
    Net { address, prefix }
}

#[cfg(test)]
mod tests {
    use castellan_event::Net;

    use super::Networks;

    #[test]
    fn membership() {
        let net = |text: &str| {
            Net::parse(text).unwrap_or_else(|| Net::from(text.parse::<std::net::IpAddr>().unwrap()))
        };
        for (set, asked, expected) in [
            ("10.0.0.0/8", "10.255.0.1", true),
            ("10.1.2.3/8", "10.255.0.1", true),
            ("10.0.0.0/8", "11.0.0.1", false),
            ("10.0.0.0/8", "10.1.0.0/16", true),
            ("10.1.0.0/16", "10.0.0.0/8", false),
            ("0.0.0.0/0", "1.2.3.4", true),
            ("0.0.0.0/0", "::1", false),
            ("::/0", "1.2.3.4", false),
            ("fe80::/10", "fe80::1", true),
            ("10.0.0.1", "10.0.0.1", true),
            ("10.0.0.1", "10.0.0.2", false),
        ] {
            let networks = Networks::new([net(set), net("192.168.7.7")]);
            assert_eq!(networks.covers(net(asked)), expected, "{asked} in {set}");
        }
        assert!(!Networks::new([]).contains("10.0.0.1".parse().unwrap()));
    }
}
