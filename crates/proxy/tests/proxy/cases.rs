//! Cases in files: `INPUT => RESULT`, one on each line.

use castellan_proxy::{
    BadDocument, BadRequest, Host, HostPattern, HostRule, Range, RequestRule, judge_request, not_public,
    only_reads,
};

/// Returns the cases of a file.
fn cases(text: &str) -> Vec<(&str, &str)> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let cases: Vec<(&str, &str)> =
        lines.map(|line| line.split_once("=> ").expect("a case has `=> `")).collect();
    assert!(cases.len() > 20);
    cases
}

/// Replaces the escapes of a case.
fn unescape(text: &str) -> String {
    let mut plain = text.replace("\\0", "\0").replace("\\r", "\r").replace("\\n", "\n");
    while let Some((before, rest)) = plain.clone().split_once("\\u{") {
        let (digits, after) = rest.split_once('}').expect("an escape ends with `}`");
        let letter = char::from_u32(u32::from_str_radix(digits, 16).unwrap()).unwrap();
        plain = format!("{before}{letter}{after}");
    }
    plain.replace("\\\\", "\\")
}

#[test]
fn hosts() {
    for (input, expected) in cases(include_str!("../cases/hosts.txt")) {
        let input = unescape(input.strip_suffix(' ').unwrap_or(input));
        let found = match Host::parse(&input) {
            Ok(Host::Name(name)) => format!("name {name}"),
            Ok(Host::Address(address)) => format!("address {address}"),
            Err(error) => format!("{error:?}"),
        };
        assert_eq!(found, expected, "{input:?}");
    }
}

#[test]
fn addresses() {
    for (input, expected) in cases(include_str!("../cases/addresses.txt")) {
        let address = input.trim().parse().unwrap();
        assert_eq!(not_public(address).unwrap_or("public"), expected, "{input}");
    }
}

#[test]
fn requests() {
    for (input, expected) in cases(include_str!("../cases/requests.txt")) {
        let [rules, request, field] = input.split('|').map(str::trim).collect::<Vec<_>>()[..] else {
            panic!("{input}: three parts")
        };
        let rules: Vec<RequestRule> =
            rules.split(';').map(|rule| RequestRule::parse(rule).unwrap()).collect();
        let (method, target) = request.split_once(' ').unwrap();
        let names = field.split_once(':').map(|(name, _)| name);
        let found = match judge_request(&rules, method, &unescape(target), names.into_iter()) {
            Ok(judged) => format!("{judged:?}"),
            Err(BadRequest::NotAllowed) => "NotAllowed".to_owned(),
            Err(BadRequest::Path) => "Path".to_owned(),
            Err(BadRequest::Override(_)) => "Override".to_owned(),
            Err(BadRequest::Query) => "Query".to_owned(),
            Err(BadRequest::Document(_)) => "Document".to_owned(),
        };
        assert_eq!(found, expected, "{input}");
    }
}

#[test]
fn graphql() {
    for (input, expected) in cases(include_str!("../cases/graphql.txt")) {
        let found = match only_reads(input.trim().as_bytes()) {
            Ok(()) => "reads",
            Err(BadDocument::Json) => "Json",
            Err(BadDocument::NotAQuery) => "NotAQuery",
            Err(BadDocument::Unknown) => "Unknown",
            Err(BadDocument::Long | BadDocument::Type) => "another",
        };
        assert_eq!(found, expected, "{input}");
    }
}

#[test]
fn request_rules() {
    for (text, is_rule) in [
        ("GET", true),
        ("GET,POST /a/*", true),
        ("* /a", true),
        ("POST /g queries", true),
        ("", false),
        ("get", false),
        ("GET a", false),
        ("GET /a?b", false),
        ("GET /a/../b", false),
        ("GET /a%20b", false),
        ("GET /g queries", false),
        ("POST queries", false),
        ("POST /g mutations", false),
        ("POST /g queries x", false),
    ] {
        assert_eq!(RequestRule::parse(text).is_ok(), is_rule, "{text:?}");
    }
}

#[test]
fn host_rules() {
    for (text, host, ports) in [
        ("example.org", "example.org", &[][..]),
        ("*.Example.org", "*.example.org", &[]),
        ("example.org:8443", "example.org", &[8443]),
        ("*.example.org:22", "*.example.org", &[22]),
        ("10.0.0.5:80", "10.0.0.5", &[80]),
        ("[::1]:80", "[::1]", &[80]),
        ("[::1]", "[::1]", &[]),
    ] {
        let rule = HostRule::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!((rule.host.to_string().as_str(), rule.ports.as_slice()), (host, ports), "{text}");
    }
    for text in [
        "",
        "*",
        "*.",
        "*.10.0.0.1",
        "a:0",
        "a:",
        "a:+80",
        "a:65536",
        "::1",
        "a.*.b",
        "http://a",
        "a:80:90",
        "a:080",
    ] {
        assert!(HostRule::parse(text).is_err(), "{text:?}");
    }
}

#[test]
fn patterns() {
    for (pattern, host, matches) in [
        ("example.org", "example.org", true),
        ("example.org", "a.example.org", false),
        ("*.example.org", "a.example.org", true),
        ("*.example.org", "a.b.example.org", true),
        ("*.example.org", "example.org", false),
        ("*.example.org", "evilexample.org", false),
        ("*.example.org", "example.org.evil.example", false),
        ("10.0.0.1", "10.0.0.1", true),
        ("10.0.0.1", "[::ffff:10.0.0.1]", false),
    ] {
        let is_match = HostPattern::parse(pattern).unwrap().matches(&Host::parse(host).unwrap());
        assert_eq!(is_match, matches, "{pattern} {host}");
    }
}

#[test]
fn ranges() {
    for (range, address, contains) in [
        ("10.0.0.0/8", "10.255.0.1", true),
        ("10.0.0.0/8", "11.0.0.1", false),
        ("0.0.0.0/0", "8.8.8.8", true),
        ("0.0.0.0/0", "::1", false),
        ("fd00::/8", "fdff::1", true),
        ("::/0", "fdff::1", true),
        ("10.0.0.1", "10.0.0.1", true),
        ("10.0.0.1", "10.0.0.2", false),
    ] {
        assert_eq!(
            Range::parse(range).unwrap().contains(address.parse().unwrap()),
            contains,
            "{range} {address}"
        );
    }
    for text in ["", "10.0.0.0/33", "10.0.0/8", "::/129", "x/8", "10.0.0.0/-1"] {
        assert_eq!(Range::parse(text), None, "{text:?}");
    }
}
