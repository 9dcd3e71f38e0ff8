//! Plain HTTP to the proxy: hosts, requests on one connection, and messages that servers would read differently.

use std::io::Write as _;

use castellan_proxy::{RequestRule, Settings, Way, What};

use crate::support::{Names, Running, Server, exactly, head, ok, rule};

fn get(url: &str, host: &str) -> String {
    format!("GET {url} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")
}

#[test]
fn an_allowed_host_is_reached_and_told() {
    let server = Server::http(|_, _| ok("hello"));
    let port = server.port();
    let proxy = Running::new(vec![rule(&format!("a.example:{port}"))]);
    let answer = proxy.ask(get(&format!("http://A.Example:{port}/x?secret=1"), &format!("a.example:{port}")));
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("hello"), "{answer}");
    let request = &server.requests()[0];
    assert!(
        request.starts_with(&format!("GET /x?secret=1 HTTP/1.1\r\nHost: a.example:{port}\r\n")),
        "{request}"
    );
    let sent = proxy.wait(|event| matches!(event.what, What::Sent { .. }));
    assert_eq!((sent.host.as_str(), sent.port, sent.way), ("a.example", port, Way::Http));
    assert_eq!(sent.request, Some(("GET".to_owned(), "/x".to_owned())));
    let closed = proxy.wait(|event| matches!(event.what, What::Closed { .. }));
    let What::Closed { sent, received } = closed.what else { panic!("{closed:?}") };
    assert_eq!((sent, received), (request.len() as u64, answer.len() as u64));
}

/// Each URL with the code of its refusal, and a part of the answer.
#[test]
fn other_hosts_are_refused() {
    let server = Server::http(|_, _| ok("hello"));
    let port = server.port();
    for (url, code, part) in [
        (format!("http://evil.example:{port}/"), "host", "No rule names this host"),
        ("http://a.example:1/".to_owned(), "port", "on other ports only"),
        (format!("http://a.example.:{port}/"), "bad_host", "a dot at its end"),
        (format!("http://0x7f.1:{port}/"), "bad_host", "four decimal numbers"),
        (format!("http://[fe80::1%25lo]:{port}/"), "bad_host", "zone"),
        (format!("http://x@a.example:{port}/"), "bad_host", "character"),
        (format!("http://127.0.0.1:{port}/"), "host", "no rule"),
        (format!("http://[::ffff:127.0.0.1]:{port}/"), "host", "no rule"),
        ("https://a.example/".to_owned(), "http", "CONNECT"),
        ("ftp://a.example/".to_owned(), "http", "CONNECT"),
        ("/".to_owned(), "http", "no pages"),
        (format!("http://nowhere.example:{port}/"), "resolve", "no such name"),
        ("http://closed.example:1/".to_owned(), "upstream", "refused"),
    ] {
        let rules =
            [format!("a.example:{port}"), format!("nowhere.example:{port}"), "closed.example:1".to_owned()];
        let proxy = Running::new(rules.iter().map(|text| rule(text)).collect());
        let host = url.split('/').nth(2).unwrap_or("a.example");
        let answer = proxy.ask(get(&url, host));
        assert!(answer.to_lowercase().contains(&part.to_lowercase()), "{url}: {answer}");
        assert!(answer.contains(&format!("X-Castellan-Refused: {code}\r\n")), "{url}: {answer}");
        assert_eq!(proxy.refusal(), code, "{url}");
    }
    assert_eq!(server.requests(), Vec::<String>::new());
}

/// Heads that are refused before anything is sent.
#[test]
fn ambiguous_requests_are_refused() {
    let server = Server::http(|_, _| ok("hello"));
    let port = server.port();
    let host = format!("Host: a.example:{port}\r\n");
    let line = format!("POST http://a.example:{port}/ HTTP/1.1\r\n");
    for (case, text) in [
        (
            "both lengths",
            format!("{line}{host}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        ),
        ("two lengths", format!("{line}{host}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab")),
        ("one length twice", format!("{line}{host}Content-Length: 1\r\nContent-Length: 1\r\n\r\na")),
        ("a list of lengths", format!("{line}{host}Content-Length: 1, 1\r\n\r\na")),
        ("a length with a sign", format!("{line}{host}Content-Length: +1\r\n\r\na")),
        ("another coding", format!("{line}{host}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n")),
        ("a hidden coding", format!("{line}{host}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n")),
        ("a name with a space", format!("{line}{host}Content-Length : 1\r\n\r\na")),
        ("lines without CR", format!("{line}{host}X: y\n\r\n")),
        ("only LF", line.replace('\r', "") + &host.replace('\r', "") + "\n"),
        ("a CR alone", format!("{line}{host}X: a\rY: b\r\n\r\n")),
        ("a continued line", format!("{line}{host}X: a\r\n b\r\n\r\n")),
        ("a NUL", format!("{line}{host}X: a\0b\r\n\r\n")),
        ("no host", format!("{line}\r\n")),
        ("two hosts", format!("{line}{host}{host}\r\n")),
        ("another host", format!("{line}Host: evil.example:{port}\r\n\r\n")),
        ("another port", format!("{line}Host: a.example\r\n\r\n")),
        ("a fragment", format!("GET http://a.example:{port}/#x HTTP/1.1\r\n{host}\r\n")),
        ("an old version", format!("GET http://a.example:{port}/ HTTP/1.0\r\n{host}\r\n")),
        ("TRACE", format!("TRACE http://a.example:{port}/ HTTP/1.1\r\n{host}\r\n")),
        ("a long head", format!("{line}{host}X: {}\r\n\r\n", "a".repeat(70_000))),
        ("many fields", format!("{line}{host}{}\r\n", "X: y\r\n".repeat(200))),
        ("an expectation", format!("{line}{host}Expect: wonders\r\n\r\n")),
    ] {
        let proxy = Running::new(vec![rule(&format!("a.example:{port}"))]);
        let answer = proxy.ask(&text);
        assert!(answer.starts_with("HTTP/1.1 400 "), "{case}: {answer}");
        assert_eq!(proxy.refusal(), "http", "{case}");
    }
    assert_eq!(server.requests(), Vec::<String>::new());
}

#[test]
fn each_request_of_a_connection_is_checked() {
    let server = Server::http(|_, _| ok("hello"));
    let port = server.port();
    let mut allowed = rule(&format!("a.example:{port}"));
    allowed.requests = vec![RequestRule::parse("GET /ok").unwrap()];
    let proxy = Running::new(vec![allowed]);
    let mut client = proxy.client();
    let request = |method: &str, host: &str, path: &str| {
        format!("{method} http://{host}:{port}{path} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n")
    };
    for _ in 0..3 {
        client.write_all(request("GET", "a.example", "/ok").as_bytes()).unwrap();
        assert!(head(&mut client).starts_with("HTTP/1.1 200 "));
        assert_eq!(exactly(&mut client, 5), "hello");
    }
    assert_eq!(server.connections(), 1);
    client.write_all(request("GET", "a.example", "/other").as_bytes()).unwrap();
    assert!(head(&mut client).starts_with("HTTP/1.1 403 castellan refused request"));
    for (method, host) in [("DELETE", "a.example"), ("GET", "evil.example")] {
        // Both at once: the second must not pass behind the first.
        let answer = proxy.ask(request("GET", "a.example", "/ok") + &request(method, host, "/ok"));
        assert!(answer.contains("hello") && answer.contains("HTTP/1.1 403 "), "{answer}");
    }
    assert_eq!(server.requests().len(), 5);
}

#[test]
fn bodies_arrive_whole_and_with_one_framing() {
    let server = Server::http(|_, body| {
        format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n{:x}\r\n{body}\r\n0\r\nX-T: y\r\n\r\n", body.len())
            .into_bytes()
    });
    let port = server.port();
    let proxy = Running::new(vec![rule(&format!("a.example:{port}"))]);
    let line =
        format!("POST http://a.example:{port}/ HTTP/1.1\r\nHost: a.example:{port}\r\nConnection: close\r\n");
    let chunked = format!(
        "{line}Transfer-Encoding: chunked\r\n\r\n3;e=1\r\nabc\r\n2\r\nde\r\n0\r\nX-Trailer: x\r\n\r\n"
    );
    let fixed = format!("{line}Content-Length: 5\r\nExpect: 100-continue\r\n\r\nabcde");
    for text in [chunked, fixed] {
        let answer = proxy.ask(text);
        let (_, body) = answer.rsplit_once("\r\n\r\n5\r\n").unwrap_or_else(|| panic!("{answer}"));
        assert_eq!(body, "hello\r\n5\r\nabcde\r\n0\r\n\r\n");
    }
    let requests = server.requests();
    assert!(requests.iter().all(|request| request.ends_with("\r\n\r\nabcde")), "{requests:?}");
    assert!(!requests.concat().contains("railer"), "trailers are dropped");
    for wrong in [
        "3\r\nabcd\r\n0\r\n\r\n",
        "-1\r\n",
        "0x3\r\nabc\r\n0\r\n\r\n",
        "3\nabc\r\n0\r\n\r\n",
        "fffffffffffffffff\r\n",
    ] {
        let proxy = Running::new(vec![rule(&format!("a.example:{port}"))]);
        let answer = proxy.ask(format!("{line}Transfer-Encoding: chunked\r\n\r\n{wrong}"));
        assert!(answer.starts_with("HTTP/1.1 400 "), "{wrong:?}: {answer}");
    }
}

#[test]
fn responses_that_are_wrong_are_not_passed_on() {
    for (case, response) in [
        (
            "both lengths",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
        ),
        ("two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
        ("another protocol", "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n"),
        ("no HTTP", "SSH-2.0-x\r\n\r\n"),
        ("nothing", ""),
    ] {
        let server = Server::http(move |_, _| response.as_bytes().to_vec());
        let port = server.port();
        let proxy = Running::new(vec![rule(&format!("a.example:{port}"))]);
        let answer = proxy.ask(get(&format!("http://a.example:{port}/"), &format!("a.example:{port}")));
        assert!(answer.starts_with("HTTP/1.1 502 "), "{case}: {answer}");
        assert_eq!(proxy.refusal(), "upstream", "{case}");
    }
}

#[test]
fn a_response_to_the_end_of_the_connection_ends() {
    let server = Server::start(|mut client, _| {
        head(&mut client);
        client.write_all(b"HTTP/1.1 200 OK\r\n\r\nall of it").unwrap();
    });
    let port = server.port();
    let proxy = Running::new(vec![rule(&format!("a.example:{port}"))]);
    let answer = proxy.ask(get(&format!("http://a.example:{port}/"), &format!("a.example:{port}")));
    assert!(answer.ends_with("9\r\nall of it\r\n0\r\n\r\n"), "{answer}");
}

/// Names with addresses that are not public, also beside public ones. Nothing is connected.
#[test]
fn private_addresses_are_refused() {
    let server = Server::http(|_, _| ok("hello"));
    let port = server.port();
    for (answer, granted, reason) in [
        (&["127.0.0.1"][..], "10.0.0.0/8", "loopback"),
        (&["10.1.2.3"], "127.0.0.1", "private"),
        (&["169.254.169.254"], "169.254.0.0/16", "metadata"),
        (&["::ffff:127.0.0.1"], "127.0.0.1", "loopback"),
        (&["64:ff9b::7f00:1"], "127.0.0.1", "loopback"),
        (&["127.0.0.1", "10.0.0.1"], "127.0.0.1", "private"),
        (&["1.1.1.1", "127.0.0.1"], "10.0.0.0/8", "loopback"),
    ] {
        let mut allowed = rule(&format!("a.example:{port}"));
        allowed.addresses = vec![castellan_proxy::Range::parse(granted).unwrap()];
        let names = Names::default().add("a.example", &[answer]);
        let proxy = Running::with(Settings::new(vec![allowed], Vec::new()).unwrap(), &names);
        let text = proxy.ask(get(&format!("http://a.example:{port}/"), &format!("a.example:{port}")));
        assert!(text.starts_with("HTTP/1.1 403 ") && text.contains(reason), "{answer:?}: {text}");
        assert_eq!(proxy.refusal(), "not_public");
    }
    assert_eq!(server.connections(), 0);
}

/// The address that was checked is used: a name is resolved once for each connection, and checked each time.
#[test]
fn a_name_that_changes_is_checked_each_time() {
    let server = Server::http(|_, _| ok("hello"));
    let port = server.port();
    let names = Names::default().add("a.example", &[&["127.0.0.1"], &["127.0.0.2"]]);
    let settings = Settings::new(vec![rule(&format!("a.example:{port}"))], Vec::new()).unwrap();
    let proxy = Running::with(settings, &names);
    let text = get(&format!("http://a.example:{port}/"), &format!("a.example:{port}"));
    assert!(proxy.ask(&text).ends_with("hello"));
    assert_eq!(names.asked("a.example"), 1);
    assert!(proxy.ask(&text).starts_with("HTTP/1.1 403 "));
    assert_eq!(names.asked("a.example"), 2);
}

#[test]
fn an_address_needs_a_rule_of_its_own() {
    let server = Server::http(|_, _| ok("hello"));
    let port = server.port();
    let host = format!("127.0.0.1:{port}");
    let proxy = Running::new(vec![castellan_proxy::HostRule::parse(&host).unwrap()]);
    assert!(proxy.ask(get(&format!("http://{host}/"), &host)).ends_with("hello"));
    let other = format!("127.0.0.2:{port}");
    assert!(proxy.ask(get(&format!("http://{other}/"), &other)).starts_with("HTTP/1.1 403 "));
}

#[test]
fn header_fields_of_the_connection_stay_here() {
    let server = Server::http(|_, _| {
        b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: x-own\r\nX-Own: 1\r\nKeep-Alive: 5\r\nX-Other: 2\r\n\r\n".to_vec()
    });
    let port = server.port();
    let proxy = Running::new(vec![rule(&format!("a.example:{port}"))]);
    let answer = proxy.ask(format!(
        "GET http://a.example:{port}/ HTTP/1.1\r\nHost: a.example:{port}\r\nProxy-Authorization: Basic eA==\r\n\
         Connection: close, X-Mine\r\nX-Mine: 1\r\nUpgrade: h2c\r\nX-Kept: 1\r\n\r\n"
    ));
    let request = server.requests()[0].to_lowercase();
    for gone in ["proxy-authorization", "x-mine", "upgrade", "connection"] {
        assert!(!request.contains(gone), "{gone}: {request}");
    }
    assert!(request.contains("x-kept: 1"));
    assert!(
        answer.contains("X-Other: 2") && !answer.contains("X-Own") && !answer.contains("Keep-Alive"),
        "{answer}"
    );
}
