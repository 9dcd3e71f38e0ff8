//! Laws of the readers, over made-up input: they end, do not panic, and accept only what has one reading.

use castellan_proxy::{
    Host, HostPattern, HostRule, Judged, Length, Request, RequestRule, Start, judge_request, not_public,
    only_reads, read_client_hello,
};
use proptest::prelude::*;

use crate::hello::{made, names};

/// Texts that are nearly hosts.
fn near_hosts() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[a-zA-Z0-9.\\-_:\\[\\]%x@/ ]{0,40}",
        "(0x)?[0-9a-f]{1,4}(\\.(0x)?[0-9a-f]{1,4}){0,4}\\.?",
        "[a-z]{1,4}(\\.[a-z]{1,4}){0,3}(:[0-9]{0,6})?",
    ]
}

/// Texts that are nearly heads.
fn near_heads() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        "[A-Za-z\\-]{1,8}: ?[ -~]{0,10}",
        Just("Content-Length: 5".to_owned()),
        Just("Transfer-Encoding: chunked".to_owned()),
        Just("Host: a.example".to_owned()),
        "[ \\t]?[ -~]{0,8}",
    ];
    let end = prop_oneof![8 => Just("\r\n"), 1 => Just("\n"), 1 => Just("\r")];
    (prop::collection::vec((line, end), 0..6), "[A-Z]{1,4} /[a-z?#]{0,5} HTTP/1\\.[012]").prop_map(
        |(lines, first)| {
            let lines: String = lines.into_iter().map(|(line, end)| line + end).collect();
            format!("{first}\r\n{lines}\r\n")
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_accepted_host_has_one_form(text in near_hosts()) {
        if let Ok(host) = Host::parse(&text) {
            prop_assert_eq!(Host::parse(&host.to_string()), Ok(host.clone()));
            if let Host::Name(name) = host {
                prop_assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_.".contains(&byte)));
                // What the C library reads as an address is no name.
                prop_assert!(!name.rsplit('.').next().unwrap().bytes().all(|byte| byte.is_ascii_digit()));
            }
        }
        drop(HostRule::parse(&text));
        drop(Host::parse_with_port(&text, Some(80)));
    }

    #[test]
    fn a_pattern_below_a_name_has_no_other_hosts(text in near_hosts()) {
        if let Ok(host) = Host::parse(&text) {
            let matches = HostPattern::parse("*.a.b").unwrap().matches(&host);
            prop_assert_eq!(matches, host.to_string().ends_with(".a.b"));
        }
    }

    #[test]
    fn an_accepted_head_has_one_reading(text in near_heads()) {
        if let Ok(request) = Request::parse(text.as_bytes()) {
            let lines: Vec<&str> = text.split("\r\n").collect();
            prop_assert_eq!(lines.len(), request.fields.len() + 3);
            for (line, (name, value)) in lines[1..].iter().zip(&request.fields) {
                let (own, rest) = line.split_once(':').unwrap();
                prop_assert_eq!(own, name.as_str());
                prop_assert_eq!(rest.trim_matches([' ', '\t']).as_bytes(), value.as_slice());
            }
            let lower = text.to_lowercase();
            let has_both = lower.contains("\ncontent-length:") && lower.contains("\ntransfer-encoding:");
            prop_assert!(!has_both || request.length().is_err());
            prop_assert!(request.length() != Ok(Length::ToEnd));
        }
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes: Vec<u8>) {
        drop(Request::parse(&bytes));
        let _ = only_reads(&bytes);
        let started = [&[22, 3, 1][..], &bytes].concat();
        drop((read_client_hello(&bytes), read_client_hello(&started)));
    }

    /// A change of any byte gives another name only if that byte is in the name or in a length.
    #[test]
    fn a_changed_hello_ends(at in 0_usize..80, byte: u8) {
        let mut bytes = made(&[(0, names(&["a.example"])), (16, vec![0, 3, 2, b'h', b'2'])]);
        let at = at % bytes.len();
        bytes[at] = byte;
        for end in 0..=bytes.len() {
            if let Start::Hello(hello) = read_client_hello(&bytes[..end]) {
                prop_assert!(hello.name.is_none_or(|name| bytes.windows(name.len()).any(|window| window == name)));
            }
        }
    }

    /// No way of writing a path reaches beyond the part that is allowed.
    #[test]
    fn an_allowed_path_stays_below(path in "/a/([a-z.%/;\\\\?]|%2[ef5]|\\.\\.|//){0,8}") {
        let rules = [RequestRule::parse("GET /a/**").unwrap()];
        if judge_request(&rules, "GET", &path, std::iter::empty()) == Ok(Judged::Allowed) {
            let path = path.split('?').next().unwrap().replace("%2e", ".");
            let climbs = path.split('/').any(|part| part.split(';').next().unwrap() == "..");
            prop_assert!(!climbs && !path.contains("//") && !path.contains('\\') && !path.contains("%2f") && !path.contains("%25"));
        }
    }

    /// Braces and quotes of any kind do not hide a mutation behind a query.
    #[test]
    fn a_mutation_at_the_end_is_found(text in "[a-z{}()\"\\\\# \\n]{0,20}") {
        let document = format!("{{{text}}}\nmutation{{x}}");
        let body = serde_json::json!({ "query": document }).to_string();
        // In a block string or a string the word is text: then the document does not end.
        prop_assert!(only_reads(body.as_bytes()).is_err());
    }

    #[test]
    fn ipv4_in_ipv6_is_judged_like_ipv4(bits: u32) {
        let v4 = std::net::Ipv4Addr::from_bits(bits);
        let [a, b, c, d] = v4.octets();
        for text in [
            format!("64:ff9b::{a:02x}{b:02x}:{c:02x}{d:02x}"),
            format!("2002:{a:02x}{b:02x}:{c:02x}{d:02x}::1"),
        ] {
            prop_assert_eq!(not_public(text.parse().unwrap()), not_public(v4.into()), "{}", text);
        }
        prop_assert!(not_public(v4.to_ipv6_mapped().into()).is_some());
    }
}
