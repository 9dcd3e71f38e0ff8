//! Each limit, with input at or beyond it.

use std::io::Write as _;

use castellan_proxy::{
    Host, HostPattern, HostRule, Range, RequestRule, Secret, Settings, Start, judge_request, only_reads,
    read_client_hello,
};

use crate::listed;
use crate::support::{Names, Running, Server, head, ok};

const EXEMPT: &[(&str, &str)] = &[
    ("CONNECTIONS_MAX", "tunnels: too_many_connections_are_told_so_and_room_comes_back"),
    ("STACK_BYTES", "a size of the system: each test runs on such a stack"),
    ("DOCUMENT_BYTES_MAX", "ended: request_rules_in_tls has a longer body"),
    ("BUFFER_BYTES", "a size of one copy: tunnels: long_transfers_arrive_whole needs many"),
    ("COPIED_BYTES", "tunnels: long_transfers_arrive_whole passes it, shorter ones do not"),
    ("PIPE_BYTES", "a size of one copy: tunnels: long_transfers_arrive_whole needs many"),
    ("LEAVES_MAX", "beyond it a certificate is made again, which no client sees"),
    ("LEAF_BEFORE_S", "a time that no test can wait for"),
    ("LEAF_AFTER_S", "a time that no test can wait for"),
    ("HEAD_TIME", "a time that no test should wait for"),
    ("IDLE_TIME", "a time that no test should wait for"),
    ("CONNECT_TIME", "a time that needs a network which drops packets"),
    ("TUNNEL_TIME", "a time that no test can wait for"),
    ("SERVER_TIME", "a time that no test can wait for"),
    ("STOP_TIME", "a time that no test should wait for"),
    ("LINGER_BYTES_MAX", "beyond it the client may not see the answer, which depends on the system"),
    ("LINGER_TIME", "beyond it the client may not see the answer, which depends on the system"),
];

/// A limit, and a check that gives `true` just within it and `false` beyond.
type Row = (&'static str, fn(bool) -> bool);

const ROWS: &[Row] = &[
    ("HEAD_BYTES_MAX", |within| {
        answer(&field(if within { 60_000 } else { 66_000 })).starts_with("HTTP/1.1 200 ")
    }),
    ("HEADERS_MAX", |within| {
        answer(&"X: y\r\n".repeat(if within { 126 } else { 128 })).starts_with("HTTP/1.1 200 ")
    }),
    ("HELLO_BYTES_MAX", |within| {
        let length = if within { [0, 0x7f, 0xff] } else { [0, 0x80, 1] };
        read_client_hello(&[&[22, 3, 1, 0, 4, 1][..], &length].concat()) == Start::More
    }),
    ("HOST_BYTES_MAX", |within| {
        let label = "a".repeat(63);
        Host::parse(&format!("{label}.{label}.{label}.{}", "a".repeat(if within { 61 } else { 62 }))).is_ok()
    }),
    ("PATH_BYTES_MAX", |within| {
        let path = format!("/{}", "a".repeat(if within { 8191 } else { 8192 }));
        judge_request(&[RequestRule::parse("GET").unwrap()], "GET", &path, std::iter::empty()).is_ok()
    }),
    ("DOCUMENT_DEPTH_MAX", |within| {
        let depth = if within { 200 } else { 201 };
        only_reads(format!("{{\"query\":\"{}a{}\"}}", "{".repeat(depth), "}".repeat(depth)).as_bytes())
            .is_ok()
    }),
    ("CHUNK_LINE_BYTES_MAX", |within| {
        let extension = "x".repeat(if within { 4_000 } else { 5_000 });
        answer_chunked(&format!("1;{extension}\r\na\r\n0\r\n\r\n"))
    }),
    ("TRAILER_BYTES_MAX", |within| {
        answer_chunked(&format!("0\r\n{}\r\n", "X: yyyyyyyy\r\n".repeat(if within { 600 } else { 640 })))
    }),
    ("INTERIM_MAX", |within| interim(if within { 7 } else { 8 })),
    ("RULES_MAX", |within| {
        let rule = HostRule::parse("a.example").unwrap();
        Settings::new(vec![rule; if within { 1024 } else { 1025 }], Vec::new()).is_ok()
    }),
    ("SECRETS_MAX", |within| {
        let secrets = (0..if within { 64 } else { 65 }).map(|number| {
            let (placeholder, value) =
                (format!("placeholder-{number:03}"), format!("the-value-of-{number:03}"));
            secret(&placeholder, &value).unwrap()
        });
        Settings::new(vec![HostRule::parse("a.example").unwrap()], secrets.collect()).is_ok()
    }),
    ("SECRET_BYTES_MAX", |within| {
        secret("placeholder-1", &"v".repeat(if within { 8192 } else { 8193 })).is_some()
    }),
    ("PLACEHOLDER_BYTES_MIN", |within| {
        secret(&"p".repeat(if within { 12 } else { 11 }), "the-value-of-it").is_some()
    }),
    ("PLACEHOLDER_BYTES_MAX", |within| {
        secret(&"p".repeat(if within { 1024 } else { 1025 }), "the-value-of-it").is_some()
    }),
    ("ADDRESSES_MAX", |within| addresses(if within { 7 } else { 8 })),
    ("SHOWN_BYTES_MAX", |within| {
        let name = "a".repeat(if within { 480 } else { 520 });
        Running::new(Vec::new())
            .ask(format!("CONNECT {name}.b HTTP/1.1\r\n\r\n"))
            .contains(&format!("{name}.b"))
    }),
];

fn secret(placeholder: &str, value: &str) -> Option<Secret> {
    Secret::new("S", placeholder, value, vec![HostPattern::parse("a.example").unwrap()], &[]).ok()
}

/// A proxy for a server, and the target.
fn proxy(server: &Server) -> (Running, String) {
    let host = format!("127.0.0.1:{}", server.port());
    (Running::new(vec![HostRule::parse(&host).unwrap()]), host)
}

fn field(bytes: usize) -> String {
    format!("X: {}\r\n", "x".repeat(bytes))
}

/// The answer to a request with these fields.
fn answer(fields: &str) -> String {
    let server = Server::http(|_, _| ok(""));
    let (proxy, host) = proxy(&server);
    proxy.ask(format!("GET http://{host}/ HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{fields}\r\n"))
}

fn answer_chunked(body: &str) -> bool {
    answer(&format!("Transfer-Encoding: chunked\r\n\r\n{}", body.strip_suffix("\r\n").unwrap()))
        .starts_with("HTTP/1.1 200 ")
}

/// Checks if a response after some interim ones arrives.
fn interim(count: usize) -> bool {
    let server = Server::start(move |mut client, _| {
        head(&mut client);
        let interim = "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(count);
        // The proxy may have given up.
        drop(client.write_all(&[interim.as_bytes(), &ok("")].concat()));
    });
    let (proxy, host) = proxy(&server);
    let text = format!("GET http://{host}/ HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    proxy.ask(text).starts_with("HTTP/1.1 200 ")
}

/// Checks if the server behind some addresses that do not answer is reached.
fn addresses(silent: usize) -> bool {
    let server = Server::http(|_, _| ok(""));
    let mut rule = HostRule::parse(&format!("a.example:{}", server.port())).unwrap();
    rule.addresses = vec![Range::parse("127.0.0.0/8").unwrap()];
    let all: Vec<String> =
        (0..silent).map(|number| format!("127.0.1.{}", number + 1)).chain(["127.0.0.1".to_owned()]).collect();
    let names = Names::default().add("a.example", &[&all.iter().map(String::as_str).collect::<Vec<_>>()]);
    let proxy = Running::with(Settings::new(vec![rule], Vec::new()).unwrap(), &names);
    let host = format!("a.example:{}", server.port());
    proxy
        .ask(format!("GET http://{host}/ HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"))
        .starts_with("HTTP/1.1 200 ")
}

#[test]
fn each_limit() {
    for (name, check) in ROWS {
        assert!(check(true), "{name}: within");
        assert!(!check(false), "{name}: beyond");
    }
}

#[test]
fn no_limit_is_forgotten() {
    listed::check(include_str!("../../src/limits.rs"), ROWS.iter().map(|(name, _)| *name), EXEMPT);
}
