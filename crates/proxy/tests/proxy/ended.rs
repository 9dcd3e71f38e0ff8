//! TLS that the proxy ends: secrets, request rules, certificates.

use std::io::Write as _;

use castellan_proxy::{BadSettings, Event, HostPattern, HostRule, RequestRule, Secret, Settings, What};

use crate::support::{Ca, Running, Server, TlsClient, connect_tls, exactly, head, ok, rest, rule};

const PLACEHOLDER: &str = "castellan-placeholder-1";
const VALUE: &str = "real-value-that-is-secret";

fn secret(hosts: &[&str], headers: &[&str]) -> Secret {
    let hosts = hosts.iter().map(|host| HostPattern::parse(host).unwrap()).collect();
    Secret::new("TOKEN", PLACEHOLDER, VALUE, hosts, headers).unwrap()
}

fn base64(text: &str) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(text)
}

/// A proxy before a server for `a.example`, with the secret.
struct Setting {
    proxy: Running,
    pem: String,
    server: Server,
}

impl Setting {
    fn new(
        requests: &[&str],
        headers: &[&str],
        respond: impl Fn(&str, &str) -> Vec<u8> + Send + Sync + 'static,
    ) -> Setting {
        let ca = Ca::new();
        let server = ca.https("a.example", respond);
        let mut allowed = rule(&format!("a.example:{}", server.port()));
        allowed.requests = requests.iter().map(|text| RequestRule::parse(text).unwrap()).collect();
        let (proxy, pem) = Running::with_secrets(vec![allowed], vec![secret(&["a.example"], headers)], &ca);
        Setting { proxy, pem, server }
    }

    fn client(&self) -> TlsClient {
        let tunnel = self.proxy.tunnel(&format!("a.example:{}", self.server.port())).unwrap();
        connect_tls(tunnel, "a.example", &self.pem).unwrap()
    }

    /// Sends a request without line ends of its own, and returns the response to the end of the connection.
    fn ask(&self, line: &str, fields: &str, body: &str) -> String {
        let mut client = self.client();
        let host = format!("Host: a.example:{}", self.server.port());
        let length =
            if body.is_empty() { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
        let text = format!("{line} HTTP/1.1\r\n{host}\r\nConnection: close\r\n{length}{fields}\r\n{body}");
        client.write_all(text.as_bytes()).unwrap();
        rest(&mut client)
    }

    fn events(&self) -> Vec<Event> {
        self.proxy.wait(|event| matches!(event.what, What::Closed { .. }));
        self.proxy.events()
    }
}

#[test]
fn the_value_reaches_its_host() {
    for (field, expected) in [
        (format!("Authorization: Bearer {PLACEHOLDER}"), format!("Authorization: Bearer {VALUE}")),
        (format!("authorization: token {PLACEHOLDER}"), format!("authorization: token {VALUE}")),
        (
            format!("Authorization: Basic {}", base64(&format!("x-access-token:{PLACEHOLDER}"))),
            format!("Authorization: Basic {}", base64(&format!("x-access-token:{VALUE}"))),
        ),
        (
            format!("Authorization: basic {}", base64(&format!("{PLACEHOLDER}:"))),
            format!("Authorization: basic {}", base64(&format!("{VALUE}:"))),
        ),
        ("Authorization: Basic eDp5".to_owned(), "Authorization: Basic eDp5".to_owned()),
    ] {
        let setting = Setting::new(&[], &[], |_, _| ok("hello"));
        let answer = setting.ask("GET /x?y=z", &format!("{field}\r\n"), "");
        assert!(answer.ends_with("hello"), "{answer}");
        let request = setting.server.requests()[0].clone();
        assert!(request.contains(&format!("{expected}\r\n")), "{request}");
        assert!(!request.contains(PLACEHOLDER));
        let used = if field.ends_with("eDp5") { vec![] } else { vec!["TOKEN".to_owned()] };
        let events = setting.events();
        let sent = events.iter().find_map(|event| match &event.what {
            What::Sent { secrets, .. } => Some(secrets.clone()),
            What::Opened { .. } | What::Refused(_) | What::Closed { .. } => None,
        });
        assert_eq!(sent, Some(used));
        assert!(!format!("{events:?}").contains(VALUE));
    }
}

#[test]
fn other_header_fields_by_name() {
    let setting = Setting::new(&[], &["X-Api-Key"], |_, _| ok("hello"));
    assert!(setting.ask("GET /", &format!("x-api-key: {PLACEHOLDER}\r\n"), "").ends_with("hello"));
    assert!(setting.server.requests()[0].contains(&format!("x-api-key: {VALUE}\r\n")));
    let answer = setting.ask("GET /", &format!("Authorization: Bearer {PLACEHOLDER}\r\n"), "");
    assert!(answer.contains("403") && answer.contains("the header `Authorization`"), "{answer}");
}

/// Places and hosts at which the placeholder is refused. Nothing is sent.
#[test]
fn the_placeholder_elsewhere_is_refused() {
    let setting = Setting::new(&[], &[], |_, _| ok("hello"));
    for (line, field, part) in [
        (format!("GET /?token={PLACEHOLDER}"), String::new(), "in the URL"),
        ("GET /".to_owned(), format!("Cookie: a={PLACEHOLDER}"), "the header `Cookie`"),
        ("GET /".to_owned(), format!("X-Basic: Basic {}", base64(PLACEHOLDER)), "the header `X-Basic`"),
    ] {
        let answer = setting.ask(&line, &(field.clone() + if field.is_empty() { "" } else { "\r\n" }), "");
        assert!(
            answer.starts_with("HTTP/1.1 403 castellan refused secret") && answer.contains(part),
            "{answer}"
        );
    }
    assert_eq!(setting.server.requests(), Vec::<String>::new());
}

#[test]
fn other_hosts_do_not_get_the_value() {
    let ca = Ca::new();
    let theirs = ca.https("b.example", |_, _| ok("hello"));
    let plain = Server::http(|_, _| ok("hello"));
    let mut other = rule(&format!("b.example:{}", theirs.port()));
    other.requests = vec![RequestRule::parse("*").unwrap()];
    let mut own = rule("a.example");
    own.ports = vec![plain.port()];
    let rules = vec![other, own, rule(&format!("c.example:{}", plain.port()))];
    let (proxy, pem) = Running::with_secrets(rules, vec![secret(&["a.example"], &[])], &ca);
    let tunnel = proxy.tunnel(&format!("b.example:{}", theirs.port())).unwrap();
    let mut client = connect_tls(tunnel, "b.example", &pem).unwrap();
    let credentials = base64(&format!("x:{PLACEHOLDER}"));
    let text = format!(
        "GET / HTTP/1.1\r\nHost: b.example:{}\r\nAuthorization: Basic {credentials}\r\n\r\n",
        theirs.port()
    );
    client.write_all(text.as_bytes()).unwrap();
    assert!(rest(&mut client).contains("`TOKEN` is not for this host"));
    // Without TLS not even the own host gets it.
    for (host, part) in [("c.example", "not for this host"), ("a.example", "over TLS only")] {
        let authority = format!("{host}:{}", plain.port());
        let answer = proxy.ask(format!(
            "GET http://{authority}/ HTTP/1.1\r\nHost: {authority}\r\nAuthorization: Bearer {PLACEHOLDER}\r\n\r\n"
        ));
        assert!(answer.contains(part), "{answer}");
    }
    assert_eq!(theirs.requests().len() + plain.requests().len(), 0);
    assert_eq!(proxy.refusal(), "secret");
}

/// Another host inside the tunnel of the secret's host gets nothing, and neither does another server behind its name.
#[test]
fn fronting_and_false_servers_are_refused() {
    let setting = Setting::new(&[], &[], |_, _| ok("hello"));
    let mut client = setting.client();
    let text = format!("GET / HTTP/1.1\r\nHost: evil.example\r\nAuthorization: Bearer {PLACEHOLDER}\r\n\r\n");
    client.write_all(text.as_bytes()).unwrap();
    assert!(rest(&mut client).contains("names another host"));
    assert_eq!(setting.server.requests(), Vec::<String>::new());

    for (name, false_ca) in [("other.example", false), ("a.example", true)] {
        let (ca, other) = (Ca::new(), Ca::new());
        let server = if false_ca { &other } else { &ca }.https(name, |_, _| ok("hello"));
        let allowed = rule(&format!("a.example:{}", server.port()));
        let (proxy, pem) = Running::with_secrets(vec![allowed], vec![secret(&["a.example"], &[])], &ca);
        let tunnel = proxy.tunnel(&format!("a.example:{}", server.port())).unwrap();
        let mut client = connect_tls(tunnel, "a.example", &pem).unwrap();
        let answer = rest(&mut client);
        assert!(answer.starts_with("HTTP/1.1 502 ") && answer.contains("certificate"), "{answer}");
        assert_eq!(proxy.refusal(), "upstream");
        assert_eq!(server.requests(), Vec::<String>::new());
    }
}

#[test]
fn a_response_does_not_show_the_value() {
    let sent = base64(&format!("user:{VALUE}"));
    let echo = sent.clone();
    let setting = Setting::new(&[], &[], move |_, body| {
        match body {
        "fixed" => format!("HTTP/1.1 200 OK\r\nX-Echo: {VALUE}\r\nContent-Length: {}\r\n\r\n[{VALUE}]", VALUE.len() + 2),
        "chunked" => {
            let (start, end) = VALUE.split_at(7);
            format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7\r\n{start}\r\n{:x}\r\n{end}]\r\n0\r\n\r\n", end.len() + 1)
        }
        _ => format!("HTTP/1.1 200 OK\r\n\r\n{echo}"),
    }
    .into_bytes()
    });
    let stars = "*".repeat(VALUE.len());
    for (body, expected) in
        [("fixed", format!("[{stars}]")), ("chunked", format!("{stars}]")), ("all", "*".repeat(sent.len()))]
    {
        let placeholder = base64(&format!("user:{PLACEHOLDER}"));
        let answer = setting.ask(
            "POST /",
            &format!("Accept-Encoding: gzip\r\nAuthorization: Basic {placeholder}\r\n"),
            body,
        );
        assert!(!answer.contains(VALUE) && !answer.contains(&sent), "{answer}");
        assert!(
            answer.replace("\r\n0\r\n\r\n", "").replace("\r\n", "").contains(&expected),
            "{body}: {answer}"
        );
    }
    let request = setting.server.requests()[0].clone();
    assert!(request.contains("Accept-Encoding: identity\r\n") && !request.contains("gzip"), "{request}");
}

#[test]
fn request_rules_in_tls() {
    let setting = Setting::new(&["GET /repos/**", "POST /graphql queries"], &[], |_, _| ok("hello"));
    let json = "Content-Type: application/json\r\n";
    for (line, fields, body, is_allowed) in [
        ("GET /repos/a", "", "", true),
        ("DELETE /repos/a", "", "", false),
        ("GET /user", "", "", false),
        ("GET /repos/../user", "", "", false),
        ("GET /repos/a", "X-HTTP-Method-Override: DELETE\r\n", "", false),
        ("POST /graphql", json, "{\"query\":\"{viewer{login}}\"}", true),
        ("POST /graphql", json, "{\"query\":\"mutation{deleteVolume(id:1)}\"}", false),
        ("POST /graphql", "Content-Type: application/graphql\r\n", "{\"query\":\"{a}\"}", false),
        (
            "POST /graphql",
            "Content-Type: application/json\r\nContent-Encoding: gzip\r\n",
            "{\"query\":\"{a}\"}",
            false,
        ),
        ("POST /graphql", "", "{\"query\":\"{a}\"}", false),
        ("POST /graphql", json, "", false),
        ("POST /graphql?query=mutation%7Ba%7D", json, "{\"query\":\"{a}\"}", false),
    ] {
        let before = setting.server.requests().len();
        let answer = setting.ask(line, fields, body);
        let expected = if is_allowed { "HTTP/1.1 200 " } else { "HTTP/1.1 403 castellan refused request" };
        assert!(answer.starts_with(expected), "{line} {body}: {answer}");
        assert_eq!(setting.server.requests().len() - before, usize::from(is_allowed), "{line} {body}");
    }
    let long = format!("{{\"query\":\"{{a}}\",\"variables\":\"{}\"}}", "x".repeat(1024 * 1024));
    assert!(setting.ask("POST /graphql", json, &long).contains("longer than 1 MiB"));
}

#[test]
fn requests_share_a_connection_and_survive_its_end() {
    let setting = Setting::new(&[], &[], |head, _| {
        if head.starts_with("GET /last") {
            b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello".to_vec()
        } else {
            ok("hello")
        }
    });
    let mut client = setting.client();
    for path in ["/1", "/2", "/last", "/3"] {
        let text = format!("GET {path} HTTP/1.1\r\nHost: a.example:{}\r\n\r\n", setting.server.port());
        client.write_all(text.as_bytes()).unwrap();
        assert!(head(&mut client).starts_with("HTTP/1.1 200 "), "{path}");
        assert_eq!(exactly(&mut client, 5), "hello");
    }
    assert_eq!(setting.server.connections(), 2);
}

/// The sandbox's authority cannot certify hosts whose TLS the proxy does not end, and other clients do not know it.
#[test]
fn the_authority_is_for_its_hosts() {
    let setting = Setting::new(&[], &[], |_, _| ok("hello"));
    let tunnel = setting.proxy.tunnel(&format!("a.example:{}", setting.server.port())).unwrap();
    assert!(connect_tls(tunnel, "a.example", &Ca::new().pem()).is_err());
    assert_eq!(setting.proxy.refusal(), "handshake");
    let other = Setting::new(&[], &[], |_, _| ok("hello"));
    assert_ne!(setting.pem, other.pem, "each sandbox has an authority of its own");
    let plain = Settings::new(vec![HostRule::parse("a.example").unwrap()], Vec::new()).unwrap();
    assert_eq!(plain.authority_pem(), None);
}

#[test]
fn the_value_is_in_no_text() {
    let secret = secret(&["a.example"], &[]);
    let settings = Settings::new(vec![HostRule::parse("a.example").unwrap()], vec![secret.clone()]).unwrap();
    let text = format!("{secret:?} {settings:?}");
    assert!(text.contains(PLACEHOLDER) && !text.contains(VALUE), "{text}");
    assert_eq!(settings.ended_hosts(), ["a.example"]);
}

#[test]
fn wrong_secrets_and_settings() {
    let host = || vec![HostPattern::parse("a.example").unwrap()];
    for (placeholder, value, hosts, headers) in [
        ("short", VALUE, host(), &[][..]),
        ("with space in it", VALUE, host(), &[]),
        (PLACEHOLDER, "short", host(), &[]),
        (PLACEHOLDER, "with\r\nline end", host(), &[]),
        (PLACEHOLDER, "with space in it", host(), &[]),
        (PLACEHOLDER, "x-castellan-placeholder-1", host(), &[]),
        ("real-value-that-is-secret-x", VALUE, host(), &[]),
        (PLACEHOLDER, VALUE, Vec::new(), &[]),
        (PLACEHOLDER, VALUE, host(), &["Host"]),
        (PLACEHOLDER, VALUE, host(), &["X Y"]),
    ] {
        let error = Secret::new("TOKEN", placeholder, value, hosts, headers).expect_err(value);
        assert!(!format!("{error} {error:?}").contains(VALUE));
    }
    let rules = || vec![HostRule::parse("a.example").unwrap()];
    let first = || secret(&["a.example"], &[]);
    let longer = Secret::new("B", &format!("{PLACEHOLDER}2"), "another-value-x", host(), &[]).unwrap();
    assert!(matches!(Settings::new(rules(), vec![first(), longer]), Err(BadSettings::Secret(_))));
    let unreachable = secret(&["b.example"], &[]);
    assert!(matches!(Settings::new(rules(), vec![unreachable]), Err(BadSettings::Unreachable { .. })));
    let mut raw = rules();
    raw[0].raw = true;
    raw[0].requests = vec![RequestRule::parse("GET").unwrap()];
    assert!(matches!(Settings::new(raw, Vec::new()), Err(BadSettings::Raw(_))));
}
