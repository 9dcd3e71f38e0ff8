//! [`HostPattern`]: a host, or a domain with all hosts below it.

use std::net::Ipv6Addr;

use super::PatternError;

/// A host. `*.example.org` is `example.org` and every host below it, as in castellan's short rules.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HostPattern {
    /// In lower case, without a dot at the end.
    name: String,
    is_domain: bool,
}

impl HostPattern {
    /// Parses a pattern.
    pub fn parse(text: &str) -> Result<HostPattern, PatternError> {
        let (name, is_domain) = text.strip_prefix("*.").map_or((text, false), |name| (name, true));
        let name = name.trim_end_matches('.').to_lowercase();
        let is_address = !is_domain && name.parse::<Ipv6Addr>().is_ok();
        let is_odd = |letter: char| letter.is_whitespace() || matches!(letter, '*' | '/' | ':' | '@');
        if name.is_empty() || name.starts_with('.') || !is_address && name.contains(is_odd) {
            return Err(PatternError::Host);
        }
        Ok(HostPattern { name, is_domain })
    }

    /// Reports whether a host matches.
    pub fn matches(&self, host: &str) -> bool {
        let host = host.trim_end_matches('.').to_lowercase();
        if self.is_domain {
            host.strip_suffix(&self.name).is_some_and(|above| above.is_empty() || above.ends_with('.'))
        } else {
            host == self.name
        }
    }

    /// Reports whether the pattern matches every host that the other matches.
    pub(crate) fn includes(&self, other: &HostPattern) -> bool {
        (self.is_domain || !other.is_domain) && self.matches(&other.name)
    }

    /// Returns the text of the pattern.
    pub fn text(&self) -> String {
        if self.is_domain { format!("*.{}", self.name) } else { self.name.clone() }
    }
}
