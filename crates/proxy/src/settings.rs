//! The settings of one proxy: rules, secrets, roots, resolver.

use std::fmt;
use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::Arc;

use crate::authority::Authority;
use crate::host::Host;
use crate::limits::{RULES_MAX, SECRETS_MAX};
use crate::roots::{self, Roots};
use crate::rules::{self, Found, HostPattern, HostRule};
use crate::secrets::{self, BadSecret, Secret};

/// Resolves a name to addresses. The proxy calls it once for each connection that it makes.
pub type Resolver = Arc<dyn Fn(&str) -> io::Result<Vec<IpAddr>> + Send + Sync>;

/// The settings of one proxy. They own the certificate authority of the sandbox.
#[derive(Clone)]
pub struct Settings {
    pub(crate) rules: Arc<[HostRule]>,
    pub(crate) secrets: Arc<[Secret]>,
    pub(crate) authority: Option<Arc<Authority>>,
    pub(crate) client: Arc<rustls::ClientConfig>,
    pub(crate) resolver: Resolver,
}

/// The reason why settings cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadSettings {
    /// More than a sandbox may have.
    #[error("the sandbox's network has more than {RULES_MAX} rules, or more than {SECRETS_MAX} secrets")]
    Many,
    /// A rule that allows anything and restricts requests.
    #[error("the rule of `{0}` is raw, so its requests cannot be checked: remove `raw` or the requests")]
    Raw(String),
    /// A secret that cannot be used.
    #[error("{0}")]
    Secret(#[from] BadSecret),
    /// No rule reaches the host of a secret.
    #[error("no rule allows `{host}`, so the secret `{secret}` is never used: add a rule for the host")]
    Unreachable {
        /// The secret.
        secret: String,
        /// The pattern of its host.
        host: String,
    },
    /// Certificates that cannot be read.
    #[error("the certificate authorities cannot be read: {0}")]
    Roots(String),
    /// The system has no random numbers, or a name fits in no certificate.
    #[error("the certificate authority of the sandbox cannot be made: {0}")]
    Authority(String),
}

impl Settings {
    /// Checks rules and secrets, and makes the sandbox's certificate authority if a host needs it. Servers are verified
    /// with Mozilla's authorities, and names are resolved by the system.
    ///
    /// # Errors
    ///
    /// See [`BadSettings`].
    pub fn new(rules: Vec<HostRule>, secrets: Vec<Secret>) -> Result<Settings, BadSettings> {
        if rules.len() > RULES_MAX || secrets.len() > SECRETS_MAX {
            return Err(BadSettings::Many);
        }
        secrets::check_overlaps(&secrets)?;
        for secret in &secrets {
            if let Some(host) =
                secret.hosts().iter().find(|host| !rules.iter().any(|rule| rule.host.meets(host)))
            {
                return Err(BadSettings::Unreachable {
                    secret: secret.name().to_owned(),
                    host: host.to_string(),
                });
            }
        }
        let of_secrets = || secrets.iter().flat_map(Secret::hosts);
        if let Some(rule) = rules.iter().find(|rule| rule.raw && !rule.requests.is_empty()) {
            return Err(BadSettings::Raw(rule.host.to_string()));
        }
        let of_rules = rules.iter().filter(|rule| !rule.requests.is_empty()).map(|rule| &rule.host);
        let ended: Vec<&HostPattern> = of_rules.chain(of_secrets()).collect();
        let authority = match ended.as_slice() {
            [] => None,
            ended => Some(Arc::new(Authority::new(ended).map_err(BadSettings::Authority)?)),
        };
        let client = roots::client(&Roots::Mozilla).map_err(BadSettings::Roots)?;
        Ok(Settings {
            rules: rules.into(),
            secrets: secrets.into(),
            authority,
            client,
            resolver: Arc::new(resolve_by_system),
        })
    }

    /// Verifies servers with other certificate authorities.
    ///
    /// # Errors
    ///
    /// If a certificate cannot be read.
    pub fn with_roots(mut self, roots: &Roots) -> Result<Settings, BadSettings> {
        self.client = roots::client(roots).map_err(BadSettings::Roots)?;
        Ok(self)
    }

    /// Resolves names by a function.
    #[must_use]
    pub fn with_resolver(mut self, resolver: Resolver) -> Settings {
        self.resolver = resolver;
        self
    }

    /// The certificate of the sandbox's authority in PEM format: clients inside must know it. `None` if the proxy ends
    /// no TLS.
    #[must_use]
    pub fn authority_pem(&self) -> Option<&str> {
        self.authority.as_ref().map(|authority| authority.pem())
    }

    /// The hosts whose TLS the proxy ends, for the sandbox's report: patterns of rules and secrets.
    #[must_use]
    pub fn ended_hosts(&self) -> Vec<String> {
        let of_rules = self.rules.iter().filter(|rule| !rule.requests.is_empty()).map(|rule| &rule.host);
        let of_secrets = self.secrets.iter().flat_map(Secret::hosts);
        let mut hosts: Vec<String> = of_rules.chain(of_secrets).map(ToString::to_string).collect();
        hosts.sort();
        hosts.dedup();
        hosts
    }

    /// Checks if the proxy ends the TLS of this host: if it has request rules or a secret.
    pub(crate) fn ends_tls(&self, host: &Host, port: u16) -> bool {
        let has_requests = match rules::find(&self.rules, host, port) {
            Found::Rules(applied) => applied.requests().is_some(),
            Found::OtherPorts(_) | Found::Nothing => false,
        };
        has_requests || self.secrets.iter().any(|secret| secret.is_for(host))
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("rules", &self.rules)
            .field("secrets", &self.secrets)
            .finish_non_exhaustive()
    }
}

/// Asks the system's resolver. It takes as long as the system lets it.
fn resolve_by_system(name: &str) -> io::Result<Vec<IpAddr>> {
    Ok((name, 0).to_socket_addrs()?.map(|address| address.ip()).collect())
}
