//! The environment variables by which programs inside the sandbox find the proxy and the sandbox's certificate authority.

use std::net::SocketAddr;

/// Variables with the URL of a proxy, in the forms that programs read. SOCKS is for programs without HTTP proxies; names
/// are resolved by the proxy (`socks5h`).
const PROXY: &[(&str, &str)] = &[
    ("HTTP_PROXY", "http"),
    ("http_proxy", "http"),
    ("HTTPS_PROXY", "http"),
    ("https_proxy", "http"),
    ("ALL_PROXY", "socks5h"),
    ("all_proxy", "socks5h"),
    ("npm_config_proxy", "http"),
    ("npm_config_https_proxy", "http"),
    ("CARGO_HTTP_PROXY", "http"),
];

/// Variables with a fixed value. An inherited `NO_PROXY` would make programs try to connect themselves, in vain.
const FIXED: &[(&str, &str)] = &[("NO_PROXY", ""), ("no_proxy", ""), ("NODE_USE_ENV_PROXY", "1")];

/// Variables with a file of all authorities that a program shall know: these replace the program's own list.
const BUNDLE: &[&str] = &[
    "SSL_CERT_FILE",
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "REQUESTS_CA_BUNDLE",
    "PIP_CERT",
    "CARGO_HTTP_CAINFO",
    "AWS_CA_BUNDLE",
    "DENO_CERT",
    "NIX_SSL_CERT_FILE",
];

/// Variables with a file of further authorities.
const FURTHER: &[&str] = &["NODE_EXTRA_CA_CERTS"];

/// Files with certificates in PEM format, by their paths inside the sandbox.
#[derive(Clone, Copy, Debug)]
pub struct CertificateFiles<'p> {
    /// The system's authorities, and the sandbox's own.
    pub bundle: &'p str,
    /// The sandbox's own authority alone.
    pub authority: &'p str,
}

/// Returns the variables for programs inside. `proxy`: the address of the listener as the inside sees it. `files`:
/// needed if [`crate::Settings::authority_pem`] returns a certificate.
#[must_use]
pub fn environment(proxy: SocketAddr, files: Option<CertificateFiles<'_>>) -> Vec<(&'static str, String)> {
    let mut variables: Vec<(&'static str, String)> =
        PROXY.iter().map(|(name, scheme)| (*name, format!("{scheme}://{proxy}"))).collect();
    variables.extend(FIXED.iter().map(|(name, value)| (*name, (*value).to_owned())));
    if let Some(files) = files {
        variables.extend(BUNDLE.iter().map(|name| (*name, files.bundle.to_owned())));
        variables.extend(FURTHER.iter().map(|name| (*name, files.authority.to_owned())));
    }
    variables
}
