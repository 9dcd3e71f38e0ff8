//! Variables that every program may have: they hold no secret and start nothing.

/// Variables of every program.
const COMMON: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "COLORTERM",
    "NO_COLOR",
    "TMPDIR",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
];

/// The beginning of the names of variables for parts of a language.
const LANGUAGE: &str = "LC_";

/// Reports whether a variable is one of those of every program.
pub(crate) fn is_common(name: &str) -> bool {
    COMMON.contains(&name) || name.starts_with(LANGUAGE)
}
