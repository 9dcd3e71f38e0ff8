//! The network of a sandbox: the hosts, requests and secrets of the settings → the rules of castellan's proxy, and the
//! variables inside. It must not know how a sandbox is made.

use std::ffi::OsString;
use std::fs::DirBuilder;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use castellan_daemon::SandboxInForce;
use castellan_files::{read_text, write_private};
use castellan_proxy::{
    CertificateFiles, HostPattern, HostRule, Range, RequestRule, Secret, Settings, environment,
};

use crate::limits::CERTIFICATES_BYTES_MAX;
use crate::random::random_id;

/// Files with the certificates that programs outside trust.
const SYSTEM_CERTIFICATES: &[&str] = &[
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// The word of a host whose protocol is neither TLS nor HTTP.
const RAW: &str = "raw";

/// The proxy's settings, and what programs inside must know.
#[derive(Debug)]
pub(super) struct Egress {
    pub(super) settings: Settings,
    /// Placeholders of secrets, by variable.
    pub(super) placeholders: Vec<(String, String)>,
    /// The files with certificates; removed with this value.
    certificates: Option<Certificates>,
}

#[derive(Debug)]
struct Certificates {
    dir: PathBuf,
}

impl Drop for Certificates {
    fn drop(&mut self) {
        // They hold nothing secret, and the next start makes others.
        let _left = std::fs::remove_dir_all(&self.dir);
    }
}

impl Egress {
    /// Reads the rules of the settings. `more`: hosts that the agent itself needs. `variable` reads the values of secrets;
    /// a secret without a value is left out. `dir`: a directory that programs inside can read.
    pub(super) fn new(
        in_force: &SandboxInForce,
        more: &[String],
        variable: impl Fn(&str) -> Option<OsString>,
        dir: &Path,
    ) -> anyhow::Result<Egress> {
        let mut rules: Vec<HostRule> =
            in_force.hosts.iter().chain(more).map(|text| host(text)).collect::<anyhow::Result<_>>()?;
        for text in &in_force.requests {
            let (host, request) = request(text)?;
            let named = rules.iter_mut().filter(|rule| rule.host == host.host && rule.ports == host.ports);
            let mut is_named = false;
            for rule in named {
                rule.requests.push(request.clone());
                is_named = true;
            }
            if !is_named {
                rules.push(HostRule { requests: vec![request], ..host });
            }
        }
        let (mut secrets, mut placeholders) = (Vec::new(), Vec::new());
        for text in &in_force.secrets {
            let (name, hosts) = secret(text)?;
            let Some(value) = variable(&name) else { continue };
            let Some(value) = value.to_str() else { bail!("the value of `{name}` is no text") };
            // The host of a secret is allowed, unless a rule about it says which of its requests are.
            for host in &hosts {
                if !rules.iter().any(|rule| rule.host.meets(host)) {
                    let text = host.to_string();
                    rules.push(
                        HostRule::parse(&text).with_context(|| format!("`sandbox.secrets` has `{text}`"))?,
                    );
                }
            }
            let placeholder = format!("castellan-{}", random_id()?);
            secrets.push(Secret::new(&name, &placeholder, value, hosts, &[])?);
            placeholders.push((name, placeholder));
        }
        let settings = Settings::new(rules, secrets)?;
        let certificates = settings.authority_pem().map(|pem| Certificates::write(dir, pem)).transpose()?;
        Ok(Egress { settings, placeholders, certificates })
    }

    /// Returns the variables inside. `port`: of the proxy's listener on the loopback that programs inside see.
    pub(super) fn variables(&self, port: u16) -> anyhow::Result<Vec<(OsString, OsString)>> {
        let proxy = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let files = self.certificates.as_ref().map(Certificates::files).transpose()?;
        let files = files.as_ref().map(|[bundle, authority]| CertificateFiles { bundle, authority });
        let of_proxy = environment(proxy, files).into_iter().map(|(name, value)| (name.into(), value.into()));
        let of_secrets =
            self.placeholders.iter().map(|(name, placeholder)| (name.into(), placeholder.into()));
        Ok(of_proxy.chain(of_secrets).collect())
    }
}

impl Certificates {
    /// Writes the sandbox's authority, alone and with those of the system.
    fn write(dir: &Path, authority: &str) -> anyhow::Result<Certificates> {
        let dir = dir.join(random_id()?);
        let failed = || format!("`{}`", dir.display());
        DirBuilder::new().recursive(true).mode(0o700).create(&dir).with_context(failed)?;
        let certificates = Certificates { dir: dir.clone() };
        let system = SYSTEM_CERTIFICATES
            .iter()
            .find_map(|file| read_text(Path::new(file), CERTIFICATES_BYTES_MAX).ok());
        let bundle = format!("{}\n{authority}", system.unwrap_or_default());
        let [of_bundle, of_authority] = certificates.paths();
        write_private(&of_bundle, bundle.as_bytes()).with_context(failed)?;
        write_private(&of_authority, authority.as_bytes()).with_context(failed)?;
        Ok(certificates)
    }

    fn paths(&self) -> [PathBuf; 2] {
        ["bundle.pem", "authority.pem"].map(|name| self.dir.join(name))
    }

    fn files(&self) -> anyhow::Result<[String; 2]> {
        let text = |path: PathBuf| path.to_str().map(str::to_owned).context("castellan's home is not UTF-8");
        let [bundle, authority] = self.paths();
        Ok([text(bundle)?, text(authority)?])
    }
}

/// Parses `HOST[:PORT] [raw] [ADDRESSES...]`.
fn host(text: &str) -> anyhow::Result<HostRule> {
    let wrong = || format!("`sandbox.hosts` has `{text}`");
    let mut words = text.split_whitespace();
    let mut rule = HostRule::parse(words.next().unwrap_or_default()).with_context(wrong)?;
    for word in words {
        match word {
            RAW => rule.raw = true,
            addresses => rule.addresses.push(Range::parse(addresses).with_context(wrong)?),
        }
    }
    Ok(rule)
}

/// Parses `HOST[:PORT] METHODS [PATH] [queries]`.
fn request(text: &str) -> anyhow::Result<(HostRule, RequestRule)> {
    let wrong = || format!("`sandbox.requests` has `{text}`: write `api.example.org GET,HEAD /path/**`");
    let (host, rest) = text.trim().split_once(char::is_whitespace).with_context(wrong)?;
    let host = HostRule::parse(host).with_context(wrong)?;
    Ok((host, RequestRule::parse(rest.trim()).with_context(wrong)?))
}

/// Parses `VARIABLE: HOST, HOST`.
fn secret(text: &str) -> anyhow::Result<(String, Vec<HostPattern>)> {
    let wrong =
        || format!("`sandbox.secrets` has `{text}`: write `GITHUB_TOKEN: github.com, api.github.com`");
    let (name, hosts) = text.split_once(':').with_context(wrong)?;
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    if name.is_empty() || !name.chars().all(is_letter) {
        bail!(wrong());
    }
    let hosts = hosts.split(',').map(|host| HostPattern::parse(host.trim()).with_context(wrong));
    Ok((name.to_owned(), hosts.collect::<anyhow::Result<_>>()?))
}

#[cfg(test)]
mod tests {
    use castellan_policy::SandboxSettings;

    use super::*;

    const VALUE: &str = "the-value-of-a-secret";

    fn made(settings: &SandboxSettings, more: &[&str]) -> anyhow::Result<Egress> {
        let more: Vec<String> = more.iter().map(|host| (*host).to_owned()).collect();
        let variable = |name: &str| match name {
            "TOKEN" => Some(VALUE.into()),
            "BROKEN" => Some(format!("{VALUE}\nmore").into()),
            _ => None,
        };
        let dir = tempfile::tempdir().unwrap();
        Egress::new(&SandboxInForce::from(settings), &more, variable, &dir.path().join("sandbox"))
    }

    fn texts(all: &[&str]) -> Vec<String> {
        all.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn a_wrong_line_is_an_error_that_names_it() {
        for host in [
            "",
            " ",
            "a b",
            "http://a.example",
            "a.example:0x1",
            "a.example:99999",
            "127.1",
            "*",
            "a.example 10.0.0.0/99",
        ] {
            let settings = SandboxSettings { hosts: texts(&[host]), ..SandboxSettings::DEFAULT };
            let why = format!("{:#}", made(&settings, &[]).unwrap_err());
            assert!(why.contains(&format!("`sandbox.hosts` has `{host}`")), "{host}: {why}");
        }
        for request in [
            "",
            "a.example",
            "a.example get/x",
            "a b.example GET",
            "a.example GET path",
            "a.example GET /x nothing",
        ] {
            let settings = SandboxSettings { requests: texts(&[request]), ..SandboxSettings::DEFAULT };
            let why = format!("{:#}", made(&settings, &[]).unwrap_err());
            assert!(why.contains(&format!("`sandbox.requests` has `{request}`")), "{request}: {why}");
        }
        for secret in [
            "",
            "TOKEN",
            "TOKEN:",
            ": a.example",
            "A B: a.example",
            "TOKEN: a.example,",
            "TOKEN: http://x",
            "TOKEN=x: a",
        ] {
            let settings = SandboxSettings { secrets: texts(&[secret]), ..SandboxSettings::DEFAULT };
            let why = format!("{:#}", made(&settings, &[]).unwrap_err());
            assert!(why.contains("`sandbox.secrets` has"), "{secret}: {why}");
        }
    }

    #[test]
    fn a_secret_has_a_placeholder_and_its_host_a_rule() {
        let secrets = texts(&["TOKEN: api.example", "ABSENT: other.example"]);
        let settings = SandboxSettings { secrets, ..SandboxSettings::DEFAULT };
        let egress = made(&settings, &["model.example:8443"]).unwrap();
        let [(name, placeholder)] = &egress.placeholders[..] else { panic!("{:?}", egress.placeholders) };
        assert!(name == "TOKEN" && placeholder.starts_with("castellan-") && !placeholder.contains(VALUE));
        // A secret without a value has no effect, so castellan ends no TLS for it.
        assert_eq!(egress.settings.ended_hosts(), ["api.example"]);
        assert!(!format!("{egress:?}").contains(VALUE), "the value is in a message");
        let other = made(&settings, &[]).unwrap();
        assert_ne!(other.placeholders, egress.placeholders, "each sandbox has its own placeholder");
        let variables = egress.variables(3128).unwrap();
        let value =
            |name: &str| variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        assert_eq!(value("TOKEN"), Some(placeholder.into()));
        assert_eq!(value("HTTPS_PROXY"), Some("http://127.0.0.1:3128".into()));
        assert!(value("SSL_CERT_FILE").is_some() && value("ABSENT").is_none());
    }

    #[test]
    fn no_message_has_the_value_of_a_secret() {
        let settings =
            SandboxSettings { secrets: texts(&["BROKEN: api.example"]), ..SandboxSettings::DEFAULT };
        let why = format!("{:#} {0:?}", made(&settings, &[]).unwrap_err());
        assert!(why.contains("BROKEN") && !why.contains(VALUE), "{why}");
    }

    #[test]
    fn certificates_end_with_the_sandbox() {
        let dir = tempfile::tempdir().unwrap();
        let secrets = texts(&["TOKEN: api.example"]);
        let settings = SandboxSettings { secrets, ..SandboxSettings::DEFAULT };
        let egress =
            Egress::new(&SandboxInForce::from(&settings), &[], |_| Some(VALUE.into()), dir.path()).unwrap();
        let files = || std::fs::read_dir(dir.path()).unwrap().count();
        assert_eq!(files(), 1);
        drop(egress);
        assert_eq!(files(), 0);
    }
}
