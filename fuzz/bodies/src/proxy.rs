//! What clients inside a sandbox send to its proxy.

use castellan_proxy::{
    Host, HostRule, Judged, Length, Request, RequestRule, Start, judge_request, only_reads, read_client_hello,
};

/// Reads bytes as a host, a head, a ClientHello, a GraphQL request and a path. What is accepted has one form, and no part
/// of what is rejected.
pub fn proxy(bytes: &[u8]) {
    hello(bytes);
    let _ = only_reads(bytes);
    if let Ok(request) = Request::parse(bytes) {
        assert!(request.length() != Ok(Length::ToEnd));
        let lines = bytes.split(|byte| *byte == b'\n').count();
        assert_eq!(lines, request.fields.len() + 3, "of {request:?}");
    }
    let Ok(text) = str::from_utf8(bytes) else { return };
    if let Ok(host) = Host::parse(text) {
        assert_eq!(Host::parse(&host.to_string()), Ok(host), "of {text:?}");
    }
    if let Ok(rule) = HostRule::parse(text) {
        assert!(rule.ports.len() <= 1 && !rule.raw);
    }
    let below =
        [RequestRule { methods: vec!["GET".to_owned()], path: Some("/a/**".to_owned()), queries: false }];
    if judge_request(&below, "GET", text, std::iter::empty()) == Ok(Judged::Allowed) {
        let path = text.split('?').next().unwrap_or_default();
        assert!(!path.contains("/../") && !path.contains("//") && !path.contains('\\'), "{path:?}");
    }
}

/// Reads bytes as a ClientHello, whole and in parts: a part never gives another name.
fn hello(bytes: &[u8]) {
    let Start::Hello(hello) = read_client_hello(bytes) else { return };
    for part in (0..bytes.len()).filter_map(|end| bytes.get(..end)) {
        assert_eq!(read_client_hello(part), Start::More, "{hello:?}");
    }
}
