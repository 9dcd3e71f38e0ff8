//! Addresses: a table of notations and their machines, and properties.

use castellan_facts::url::{Host, Url};
use proptest::prelude::*;

fn shown(url: &Url) -> String {
    let port = url.port.map(|port| format!(":{port}")).unwrap_or_default();
    let user = if url.user_info { " user" } else { "" };
    let host = url.host.as_deref().unwrap_or("-");
    format!("{} {host}{port} {}{user} {}", url.scheme.as_deref().unwrap_or("-"), url.class.as_str(), url.text)
}

/// The lines `written => expected`.
fn cases(text: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with("# "));
    lines.map(|line| line.split_once(" => ").unwrap_or((line, "no expectation")))
}

#[test]
fn addresses_name_their_machines() {
    let mut count = 0;
    for (written, expected) in cases(include_str!("url/urls.txt")) {
        assert_eq!(shown(&Url::parse(written)), expected, "{written}");
        count += 1;
    }
    assert!(count > 50, "{count} cases");
}

#[test]
fn hosts_are_of_a_class() {
    let mut count = 0;
    for (written, expected) in cases(include_str!("url/hosts.txt")) {
        let Host { name, class } = Host::parse(written);
        assert_eq!(format!("{name} {}", class.as_str()), expected, "{written}");
        count += 1;
    }
    assert!(count > 80, "{count} cases");
}

#[test]
fn limits() {
    let long = format!("http://{}/", "a".repeat(10_000));
    assert_eq!(Url::parse(&long).host, None);
    assert_eq!(Url::parse(&format!("http://{}/", "a.".repeat(2_000))).class.as_str(), "unknown");
    assert_eq!(Host::parse(&"1".repeat(900)).class.as_str(), "unknown");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_text_is_read(text in "(https?:|ftp:|git@|//|)[/\\\\]{0,3}[a-z0-9.@:%\\[\\]\\\\?#x \\t-]{0,24}\\PC{0,4}") {
        let url = Url::parse(&text);
        prop_assert!(url.host.as_deref() != Some(""));
        let _ = Host::parse(&text);
    }

    /// The normalised address means the same machine.
    #[test]
    fn the_one_spelling_stays(text in "(https?://|ftp://|)([a-z]{1,3}@)?([a-z]{1,5}\\.[a-z]{2,3}|[0-9]{1,3}(\\.[0-9]{1,3}){0,3}|\\[::[0-9a-f]{1,4}\\]|0x[0-9a-f]{1,8})(:[0-9]{1,4})?(/[a-z.%2e]{0,4}){0,4}") {
        let once = Url::parse(&text);
        let again = Url::parse(&once.text);
        prop_assert_eq!((&again.host, again.port, &again.text), (&once.host, once.port, &once.text));
        prop_assert!(!again.user_info);
    }

    /// Every notation of an IPv4 address is that address.
    #[test]
    fn spellings_of_an_address(bits: u32) {
        let [a, b, c, d] = bits.to_be_bytes();
        let plain = Host::parse(&format!("{a}.{b}.{c}.{d}"));
        let low = bits & 0xffff;
        for spelling in [
            format!("{bits}"),
            format!("0x{bits:x}"),
            format!("0X{bits:08X}"),
            format!("{a}.{b}.{low}"),
            format!("{a}.{}", bits & 0xff_ffff),
            format!("0x{a:x}.{b}.0x{c:X}.{d}"),
            format!("{a}.{b}.{c}.{d}."),
            format!("{a}%2e{b}.{c}%2E{d}"),
            format!("{a}。{b}．{c}｡{d}"),
        ] {
            let host = Host::parse(&spelling);
            prop_assert_eq!(&host, &plain, "{}", spelling);
        }
        let mapped = Host::parse(&format!("[::ffff:{a}.{b}.{c}.{d}]"));
        prop_assert_eq!(mapped.class, plain.class);
    }
}
