//! [`checked`]: the URLs to which castellan sends evidence and a key.

use std::net::IpAddr;

use ureq::http::Uri;

use crate::limits::URL_BYTES_MAX;

/// Returns the URL without a slash at its end. `localhost` becomes `127.0.0.1`, so that no lookup sends evidence to
/// another machine.
pub(super) fn checked(url: &str) -> Result<String, &'static str> {
    if url.len() > URL_BYTES_MAX {
        return Err("its URL is longer than 1024 bytes");
    }
    if url.contains(['#', '?']) {
        return Err("its URL has a query or a fragment");
    }
    let parsed: Uri = url.parse().map_err(|_| "its URL is none")?;
    let scheme = parsed.scheme_str().ok_or("its URL has no scheme")?;
    let authority = parsed.authority().ok_or("its URL has no host")?;
    if authority.as_str().contains('@') {
        return Err("its URL has a user name");
    }
    let host = authority.host();
    if host.is_empty() {
        return Err("its URL has no host");
    }
    let here = host.eq_ignore_ascii_case("localhost");
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    match scheme {
        "https" => {}
        "http" if here || address.is_ok_and(|address| address.is_loopback()) => {}
        "http" => return Err("it is not on this machine, and `http` sends the evidence unencrypted"),
        _ => return Err("its URL is neither `https` nor `http`"),
    }
    let port = authority.port_u16().map(|port| format!(":{port}")).unwrap_or_default();
    let host = if here && scheme == "http" { "127.0.0.1" } else { host };
    Ok(format!("{scheme}://{host}{port}{}", parsed.path().trim_end_matches('/')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_goes_only_to_this_machine_or_encrypted() {
        for (url, expected) in [
            ("https://api.example.com/v1/", Ok("https://api.example.com/v1")),
            ("HTTPS://api.example.com", Ok("https://api.example.com")),
            ("https://localhost:8443/v1", Ok("https://localhost:8443/v1")),
            ("http://localhost:11434/v1", Ok("http://127.0.0.1:11434/v1")),
            ("http://LOCALHOST/v1", Ok("http://127.0.0.1/v1")),
            ("http://127.1.2.3:1/v1", Ok("http://127.1.2.3:1/v1")),
            ("http://[::1]:1/v1", Ok("http://[::1]:1/v1")),
            ("http://api.example.com/v1", Err("unencrypted")),
            ("http://localhost.example.com", Err("unencrypted")),
            ("http://127.0.0.1.example.com", Err("unencrypted")),
            ("http://0.0.0.0/", Err("unencrypted")),
            ("http://2130706433/", Err("unencrypted")),
            ("http://[::ffff:127.0.0.1]/", Err("unencrypted")),
            ("http://127.0.0.1@example.com/", Err("user name")),
            ("https://u:p@example.com/", Err("user name")),
            ("https://example.com/?key=k", Err("query")),
            ("https://example.com/#x", Err("fragment")),
            ("ftp://example.com/", Err("neither")),
            ("unix:///run/x", Err("")),
            ("example.com/v1", Err("")),
            ("/v1", Err("scheme")),
            ("https:///v1", Err("")),
            ("https://exa mple.com", Err("none")),
            ("https://example.com\r\nx: y", Err("none")),
            ("", Err("none")),
        ] {
            match (checked(url), expected) {
                (Ok(url), Ok(expected)) => assert_eq!(url, expected),
                (Err(reason), Err(expected)) => assert!(reason.contains(expected), "{url}: {reason}"),
                (result, expected) => panic!("{url}: {result:?} instead of {expected:?}"),
            }
        }
        let longest = format!("https://example.com/{}", "x".repeat(URL_BYTES_MAX - 20));
        assert!(checked(&longest).is_ok());
        assert_eq!(checked(&format!("{longest}x")), Err("its URL is longer than 1024 bytes"));
    }
}
