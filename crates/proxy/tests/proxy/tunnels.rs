//! Tunnels by CONNECT and SOCKS: hosts, TLS names, other protocols, defects and the end.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};

use castellan_proxy::{CONNECTIONS_MAX, HostRule, Way, What};

use crate::hello::{made, names, real};
use crate::support::{Ca, Running, Server, connect_tls, exactly, head, ok, rest, rule};

/// The greeting and request of a SOCKS client.
fn socks(kind: u8, address: &[u8], port: u16) -> Vec<u8> {
    [&[5, 1, 0, 5, 1, 0, kind], address, &port.to_be_bytes()[..]].concat()
}

fn socks_name(name: &str, port: u16) -> Vec<u8> {
    socks(3, &[&[u8::try_from(name.len()).unwrap()], name.as_bytes()].concat(), port)
}

/// Sends a request of SOCKS, and returns the code of the reply with the connection.
fn reply(proxy: &Running, request: &[u8]) -> (u8, TcpStream) {
    let mut client = proxy.client();
    client.write_all(request).unwrap();
    let mut reply = [0; 12];
    client.read_exact(&mut reply).unwrap();
    assert_eq!(reply[..3], [5, 0, 5], "{reply:?}");
    (reply[3], client)
}

#[test]
fn hosts_of_connect() {
    let server = Server::echo();
    let port = server.port();
    for (target, code) in [
        (format!("evil.example:{port}"), "host"),
        ("a.example:1".to_owned(), "port"),
        ("a.example".to_owned(), "bad_host"),
        ("a.example:0".to_owned(), "bad_host"),
        ("a.example:99999".to_owned(), "bad_host"),
        (format!("a.example.:{port}"), "bad_host"),
        (format!("2130706433:{port}"), "bad_host"),
        (format!("127.1:{port}"), "bad_host"),
        (format!("127.0.0.1:{port}"), "host"),
        (format!("[::1]:{port}"), "host"),
        (format!("[::ffff:7f00:1]:{port}"), "host"),
        (format!("[fe80::1%lo]:{port}"), "bad_host"),
        (format!("http://a.example:{port}"), "bad_host"),
        (format!("nowhere.example:{port}"), "resolve"),
    ] {
        let rules = vec![rule(&format!("a.example:{port}")), rule(&format!("nowhere.example:{port}"))];
        let proxy = Running::new(rules);
        let answer = proxy.tunnel(&target).expect_err(&target);
        assert!(answer.contains(&format!("X-Castellan-Refused: {code}\r\n")), "{target}: {answer}");
        assert_eq!(proxy.refusal(), code, "{target}");
    }
    assert_eq!(server.connections(), 0);
}

#[test]
fn hosts_of_socks() {
    let server = Server::echo();
    let port = server.port();
    for (case, request, expected) in [
        ("allowed", socks_name("a.example", port), 0),
        ("upper case", socks_name("A.EXAMPLE", port), 0),
        ("another host", socks_name("evil.example", port), 2),
        ("a NUL", socks_name("a.example\0.evil.example", port), 2),
        ("CR LF", socks_name("a.example\r\n", port), 2),
        ("a final dot", socks_name("a.example.", port), 2),
        ("a number", socks_name("2130706433", port), 2),
        ("an address as a name", socks_name("127.0.0.1", port), 2),
        ("an IPv6 address as a name", socks_name("::1", port), 2),
        ("no name", socks_name("", port), 2),
        ("port 0", socks_name("a.example", 0), 2),
        ("an address", socks(1, &[127, 0, 0, 1], port), 2),
        ("the address of a rule", socks(1, &[127, 0, 0, 9], port), 5),
        ("a mapped address", socks(4, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1], port), 2),
        ("a name that is not there", socks_name("nowhere.example", port), 4),
        ("an unknown kind", socks(9, &[], port), 7),
        ("the command BIND", [&[5, 1, 0, 5, 2, 0, 1, 127, 0, 0, 1], &port.to_be_bytes()[..]].concat(), 7),
    ] {
        let rules = ["a.example", "nowhere.example", "127.0.0.9"].map(|host| rule(&format!("{host}:{port}")));
        let proxy = Running::new(rules.to_vec());
        let (code, _client) = reply(&proxy, &request);
        assert_eq!(code, expected, "{case}");
    }
}

#[test]
fn socks_methods_and_versions() {
    let server = Server::echo();
    let mut raw = rule(&format!("a.example:{}", server.port()));
    raw.raw = true;
    let proxy = Running::new(vec![raw]);
    let mut client = proxy.client();
    client.write_all(&[5, 1, 2, 1, 3]).unwrap();
    client.write_all(b"abc\x03xyz").unwrap();
    client.write_all(&socks_name("a.example", server.port())[3..]).unwrap();
    assert_eq!(exactly(&mut client, 6).as_bytes(), [5, 2, 1, 0, 5, 0]);
    exactly(&mut client, 8);
    client.write_all(b"ping").unwrap();
    assert_eq!(exactly(&mut client, 4), "ping");
    assert_eq!(proxy.ask([5, 1, 1]).as_bytes(), "\u{5}\u{fffd}".as_bytes());
    assert!(proxy.ask([4, 1, 0, 80, 127, 0, 0, 1, 0]).contains("socks5h"));
    assert!(proxy.ask(real("a.example")).contains("speaks no TLS"));
}

#[test]
fn names_of_tls() {
    let server = Server::echo();
    let port = server.port();
    let address = HostRule::parse(&format!("127.0.0.1:{port}")).unwrap();
    let name = |name: &str| (0, names(&[name]));
    for (host, hello, code) in [
        ("a.example", real("a.example"), None),
        ("a.example", made(&[name("A.EXAMPLE")]), None),
        ("127.0.0.1", made(&[]), None),
        ("a.example", real("evil.example"), Some("server_name")),
        ("a.example", made(&[name("a.example.")]), Some("server_name")),
        ("a.example", made(&[name("a.example\0")]), Some("server_name")),
        ("127.0.0.1", made(&[name("a.example")]), Some("server_name")),
        ("a.example", made(&[]), Some("no_server_name")),
        ("a.example", made(&[name("a.example"), (0xfe0d, vec![0; 9])]), Some("hidden_server_name")),
        ("a.example", made(&[name("a.example"), name("evil.example")]), Some("handshake")),
    ] {
        let proxy = Running::new(vec![rule(&format!("a.example:{port}")), address.clone()]);
        let mut client = proxy.tunnel(&format!("{host}:{port}")).unwrap();
        // In two parts, as networks may cut it.
        let (start, end) = hello.split_at(20);
        client.write_all(start).unwrap();
        client.write_all(end).unwrap();
        match code {
            None => {
                let mut echoed = vec![0; hello.len()];
                client.read_exact(&mut echoed).unwrap();
                assert_eq!(echoed, hello);
            }
            Some(code) => {
                let mut alert = Vec::new();
                client.read_to_end(&mut alert).unwrap();
                assert_eq!(alert, [21, 3, 3, 0, 2, 2, 49], "{code}");
                assert_eq!(proxy.refusal(), code);
            }
        }
    }
}

#[test]
fn other_protocols_need_a_raw_rule() {
    let server = Server::echo();
    let port = server.port();
    let proxy = Running::new(vec![rule(&format!("a.example:{port}"))]);
    let mut client = proxy.tunnel(&format!("a.example:{port}")).unwrap();
    client.write_all(b"\x00\x01binary").unwrap();
    assert_eq!(rest(&mut client), "");
    assert_eq!(proxy.refusal(), "not_tls");

    let mut raw = rule(&format!("a.example:{port}"));
    raw.raw = true;
    let proxy = Running::new(vec![raw.clone()]);
    let mut client = proxy.tunnel(&format!("a.example:{port}")).unwrap();
    client.write_all(b"\x00\x01binary").unwrap();
    assert_eq!(exactly(&mut client, 8), "\0\x01binary");
    client.shutdown(Shutdown::Write).unwrap();
    assert_eq!(rest(&mut client), "");
    // TLS is compared all the same.
    let mut client = proxy.tunnel(&format!("a.example:{port}")).unwrap();
    client.write_all(&real("evil.example")).unwrap();
    assert_eq!(proxy.refusal(), "server_name");
    let closed = proxy.wait(|event| matches!(event.what, What::Closed { sent: 8, .. }));
    assert_eq!(closed.what, What::Closed { sent: 8, received: 8 });
}

#[test]
fn a_raw_server_may_speak_first() {
    let server = Server::start(|mut client, _| {
        client.write_all(b"SSH-2.0-server\r\n").unwrap();
        rest(&mut client);
    });
    let mut raw = rule(&format!("a.example:{}", server.port()));
    raw.raw = true;
    let proxy = Running::new(vec![raw]);
    let mut client = proxy.tunnel(&format!("a.example:{}", server.port())).unwrap();
    assert_eq!(exactly(&mut client, 16), "SSH-2.0-server\r\n");
}

#[test]
fn http_in_a_tunnel_is_checked() {
    let server = Server::http(|_, _| ok("hello"));
    let port = server.port();
    let proxy = Running::new(vec![rule(&format!("a.example:{port}"))]);
    let (code, mut client) = reply(&proxy, &socks_name("a.example", port));
    assert_eq!(code, 0);
    client.write_all(format!("GET /x HTTP/1.1\r\nHost: a.example:{port}\r\n\r\n").as_bytes()).unwrap();
    assert!(head(&mut client).starts_with("HTTP/1.1 200 "));
    assert_eq!(exactly(&mut client, 5), "hello");
    client.write_all(format!("GET /x HTTP/1.1\r\nHost: evil.example:{port}\r\n\r\n").as_bytes()).unwrap();
    assert!(rest(&mut client).starts_with("HTTP/1.1 400 "));
    let sent = proxy.wait(|event| matches!(event.what, What::Sent { .. }));
    assert_eq!((sent.way, sent.request), (Way::Http, Some(("GET".to_owned(), "/x".to_owned()))));
}

/// On port 443 there is TLS only. Needs the right to listen there.
#[test]
fn port_443_is_for_tls() {
    let Ok(listener) = TcpListener::bind("127.83.4.1:443") else {
        println!("skipped: this user cannot listen on port 443");
        return;
    };
    let server = Server::on(listener, |mut client, _| drop(rest(&mut client)));
    let proxy = Running::new(vec![HostRule::parse("127.83.4.1").unwrap()]);
    let mut client = proxy.tunnel("127.83.4.1:443").unwrap();
    client.write_all(b"GET / HTTP/1.1\r\nHost: 127.83.4.1:443\r\n\r\n").unwrap();
    assert!(rest(&mut client).contains("X-Castellan-Refused: not_tls"));
    assert_eq!(server.requests(), Vec::<String>::new());
}

#[test]
fn tls_passes_through_untouched() {
    let ca = Ca::new();
    let server = ca.https("a.example", |_, _| ok("hello"));
    let port = server.port();
    let proxy = Running::new(vec![rule(&format!("*.example:{port}"))]);
    let tunnel = proxy.tunnel(&format!("a.example:{port}")).unwrap();
    // The server's own certificate: the proxy has no part in it.
    let mut client = connect_tls(tunnel, "a.example", &ca.pem()).unwrap();
    client.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    assert!(head(&mut client).starts_with("HTTP/1.1 200 "));
}

#[test]
fn long_transfers_arrive_whole() {
    let server = Server::echo();
    let mut raw = rule(&format!("a.example:{}", server.port()));
    raw.raw = true;
    let proxy = Running::new(vec![raw]);
    let mut client = proxy.tunnel(&format!("a.example:{}", server.port())).unwrap();
    let data: Vec<u8> = (0_u32..3_000_000).flat_map(|number| number.to_le_bytes()).collect();
    let mut writer = client.try_clone().unwrap();
    let sent = data.clone();
    let writing = std::thread::spawn(move || {
        writer.write_all(&sent).unwrap();
        writer.shutdown(Shutdown::Write).unwrap();
    });
    let mut received = Vec::new();
    client.read_to_end(&mut received).unwrap();
    writing.join().unwrap();
    assert!(received == data, "{} of {} bytes", received.len(), data.len());
    let closed = proxy.wait(|event| matches!(event.what, What::Closed { .. }));
    let size = data.len() as u64;
    assert_eq!(closed.what, What::Closed { sent: size, received: size });
}

#[test]
fn a_defect_ends_one_connection_only() {
    let server = Server::http(|_, _| ok("hello"));
    let port = server.port();
    let proxy = Running::new(vec![rule(&format!("*.example:{port}"))]);
    assert_eq!(proxy.ask(format!("CONNECT defect.example:{port} HTTP/1.1\r\n\r\n")), "");
    assert_eq!(proxy.refusal(), "defect");
    let text = format!(
        "GET http://a.example:{port}/ HTTP/1.1\r\nHost: a.example:{port}\r\nConnection: close\r\n\r\n"
    );
    assert!(proxy.ask(text).ends_with("hello"));
}

#[test]
fn too_many_connections_are_told_so_and_room_comes_back() {
    let proxy = Running::new(Vec::new());
    let mut idle: Vec<TcpStream> = (0..CONNECTIONS_MAX).map(|_| proxy.client()).collect();
    // The first byte is answered, so all of them are accepted.
    let last = idle.last_mut().unwrap();
    last.write_all(&[5, 1, 0]).unwrap();
    assert_eq!(exactly(last, 2), "\u{5}\0");
    let mut client = proxy.client();
    assert!(rest(&mut client).starts_with("HTTP/1.1 503 "));
    assert_eq!(proxy.refusal(), "connections");
    drop(idle);
    let deadline = std::time::Instant::now() + crate::support::PATIENT;
    while proxy.ask("GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 503 ") {
        assert!(std::time::Instant::now() < deadline, "no room comes back");
    }
}

#[test]
fn stop_ends_everything() {
    let server = Server::echo();
    let mut raw = rule(&format!("a.example:{}", server.port()));
    raw.raw = true;
    let mut proxy = Running::new(vec![raw]);
    let mut tunnel = proxy.tunnel(&format!("a.example:{}", server.port())).unwrap();
    tunnel.write_all(b"x").unwrap();
    assert_eq!(exactly(&mut tunnel, 1), "x");
    let mut idle = proxy.client();
    idle.write_all(b"GET ").unwrap();
    assert_eq!(proxy.proxy.stop(), 0);
    assert_eq!(rest(&mut tunnel) + &rest(&mut idle), "");
    assert!(proxy.events().iter().any(|event| event.what == What::Closed { sent: 1, received: 1 }));
    assert!(TcpStream::connect(proxy.address()).is_err());
}
