//! Rules: the hosts that a sandbox may reach, and the requests that it may make there.

use std::fmt;

use crate::addresses::Range;
use crate::host::{BadHost, Host};
use crate::requests::RequestRule;

/// The ports of a rule that names none.
const PORTS: [u16; 2] = [443, 80];

/// The hosts of a rule or of a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostPattern {
    /// This name or address.
    Exact(Host),
    /// Each name below this one (`*.example.org`), the name itself not included.
    Below(String),
}

impl HostPattern {
    /// Reads a host, or `*.` and a name.
    ///
    /// # Errors
    ///
    /// If the host is not one.
    pub fn parse(text: &str) -> Result<HostPattern, BadHost> {
        let Some(parent) = text.strip_prefix("*.") else {
            return Ok(HostPattern::Exact(Host::parse(text)?));
        };
        match Host::parse(parent)? {
            Host::Name(name) => Ok(HostPattern::Below(name)),
            Host::Address(_) => Err(BadHost::Number),
        }
    }

    /// Checks if a host is meant.
    #[must_use]
    pub fn matches(&self, host: &Host) -> bool {
        match (self, host) {
            (HostPattern::Exact(own), host) => own == host,
            (HostPattern::Below(parent), Host::Name(name)) => name
                .strip_suffix(parent.as_str())
                .is_some_and(|start| start.len() > 1 && start.ends_with('.')),
            (HostPattern::Below(_), Host::Address(_)) => false,
        }
    }

    /// Checks if two patterns have a host in common.
    #[must_use]
    pub fn meets(&self, other: &HostPattern) -> bool {
        let below = |name: &str, parent: &str| name == parent || name.ends_with(&format!(".{parent}"));
        match (self, other) {
            (HostPattern::Exact(host), pattern) | (pattern, HostPattern::Exact(host)) => {
                pattern.matches(host)
            }
            (HostPattern::Below(a), HostPattern::Below(b)) => below(a, b) || below(b, a),
        }
    }

    /// An exact host is narrower than any pattern, and a longer pattern than a shorter one.
    fn narrowness(&self) -> usize {
        match self {
            HostPattern::Exact(_) => usize::MAX,
            HostPattern::Below(parent) => parent.len(),
        }
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HostPattern::Exact(host) => write!(f, "{host}"),
            HostPattern::Below(parent) => write!(f, "*.{parent}"),
        }
    }
}

/// One rule: hosts with ports, and what is allowed there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostRule {
    /// The hosts.
    pub host: HostPattern,
    /// The ports. Empty means 443 and 80.
    pub ports: Vec<u16>,
    /// Protocols other than TLS and HTTP are allowed: ssh, for example. The proxy then checks the host alone.
    pub raw: bool,
    /// Addresses that are not public and that these hosts may have. A rule for an address grants this address.
    pub addresses: Vec<Range>,
    /// The allowed requests. Empty means any. With a request rule, the proxy ends TLS for these hosts.
    pub requests: Vec<RequestRule>,
}

impl HostRule {
    /// Reads `HOST` or `HOST:PORT`, with any requests: `example.org`, `*.example.org`, `10.0.0.5:8080`, `[::1]:80`.
    ///
    /// # Errors
    ///
    /// If the host or port is not one.
    pub fn parse(text: &str) -> Result<HostRule, BadHost> {
        let end = text.rfind(']').map_or(0, |end| end + 1);
        let has_port = text.get(end..).is_some_and(|rest| rest.contains(':'));
        let (host, ports) = match text.rsplit_once(':').filter(|_| has_port) {
            Some((host, _)) => {
                let (_, port) = Host::parse_with_port(text.strip_prefix("*.").unwrap_or(text), None)?;
                (host, vec![port])
            }
            None => (text, Vec::new()),
        };
        let host = HostPattern::parse(host)?;
        Ok(HostRule { host, ports, raw: false, addresses: Vec::new(), requests: Vec::new() })
    }

    fn has_port(&self, port: u16) -> bool {
        if self.ports.is_empty() { PORTS.contains(&port) } else { self.ports.contains(&port) }
    }
}

/// The rules that apply to one host and port.
#[derive(Debug)]
pub(crate) struct Applied<'r> {
    rules: Vec<&'r HostRule>,
}

/// The answer of the rules to a host and port.
#[derive(Debug)]
pub(crate) enum Found<'r> {
    /// These rules allow it.
    Rules(Applied<'r>),
    /// Rules name the host, with these ports only.
    OtherPorts(Vec<u16>),
    /// No rule names the host.
    Nothing,
}

/// Finds the rules for a host and port: those of the narrowest pattern. Several rules of one pattern add up.
pub(crate) fn find<'r>(rules: &'r [HostRule], host: &Host, port: u16) -> Found<'r> {
    let named: Vec<&HostRule> = rules.iter().filter(|rule| rule.host.matches(host)).collect();
    let with_port = || named.iter().filter(|rule| rule.has_port(port));
    let Some(narrowest) = with_port().map(|rule| rule.host.narrowness()).max() else {
        let ports =
            |rule: &&HostRule| if rule.ports.is_empty() { PORTS.to_vec() } else { rule.ports.clone() };
        let ports: Vec<u16> = named.iter().flat_map(ports).collect();
        return if named.is_empty() { Found::Nothing } else { Found::OtherPorts(ports) };
    };
    let rules = with_port().filter(|rule| rule.host.narrowness() == narrowest).copied().collect();
    Found::Rules(Applied { rules })
}

impl Applied<'_> {
    /// Checks if protocols other than TLS and HTTP are allowed. Where requests are restricted, they are not.
    pub(crate) fn is_raw(&self) -> bool {
        self.rules.iter().any(|rule| rule.raw) && self.requests().is_none()
    }

    /// Returns the request rules; `None` if any request is allowed.
    pub(crate) fn requests(&self) -> Option<Vec<RequestRule>> {
        if self.rules.iter().any(|rule| rule.requests.is_empty()) {
            return None;
        }
        Some(self.rules.iter().flat_map(|rule| rule.requests.clone()).collect())
    }

    /// Returns the addresses that are granted although they are not public.
    pub(crate) fn addresses(&self) -> Vec<Range> {
        let own = self.rules.iter().filter_map(|rule| match rule.host {
            HostPattern::Exact(Host::Address(address)) => Some(Range::one(address)),
            HostPattern::Exact(Host::Name(_)) | HostPattern::Below(_) => None,
        });
        own.chain(self.rules.iter().flat_map(|rule| rule.addresses.iter().copied())).collect()
    }
}
