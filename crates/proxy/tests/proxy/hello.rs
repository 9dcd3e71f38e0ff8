//! The ClientHello: the name, in one record or several, and what is not accepted.

use std::io::Write as _;
use std::sync::Arc;

use castellan_proxy::{ClientHello, Start, read_client_hello};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore};

/// Returns the first record of a real client.
pub(crate) fn real(name: &str) -> Vec<u8> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    let mut client =
        ClientConnection::new(Arc::new(config), ServerName::try_from(name.to_owned()).unwrap()).unwrap();
    let mut bytes = Vec::new();
    client.write_tls(&mut bytes).unwrap();
    bytes.flush().unwrap();
    bytes
}

/// Returns a ClientHello with extensions of a number and a content.
pub(crate) fn made(extensions: &[(u16, Vec<u8>)]) -> Vec<u8> {
    let mut body = vec![3, 3];
    body.extend([7; 32]);
    body.extend([0, 0, 2, 0x13, 1, 1, 0]);
    let mut list = Vec::new();
    for (kind, content) in extensions {
        list.extend(kind.to_be_bytes());
        list.extend(u16::try_from(content.len()).unwrap().to_be_bytes());
        list.extend(content);
    }
    body.extend(u16::try_from(list.len()).unwrap().to_be_bytes());
    body.extend(list);
    record(22, &[&[1, 0], &u16::try_from(body.len()).unwrap().to_be_bytes()[..], &body].concat())
}

/// Returns the content of an extension with names of servers.
pub(crate) fn names(names: &[&str]) -> Vec<u8> {
    let mut list = Vec::new();
    for name in names {
        list.push(0);
        list.extend(u16::try_from(name.len()).unwrap().to_be_bytes());
        list.extend(name.as_bytes());
    }
    [&u16::try_from(list.len()).unwrap().to_be_bytes()[..], &list].concat()
}

fn record(kind: u8, content: &[u8]) -> Vec<u8> {
    [&[kind, 3, 1], &u16::try_from(content.len()).unwrap().to_be_bytes()[..], content].concat()
}

/// Splits a record into records of some bytes.
fn split(bytes: &[u8], size: usize) -> Vec<u8> {
    bytes[5..].chunks(size).flat_map(|part| record(22, part)).collect()
}

fn hello(name: Option<&str>, is_hidden: bool) -> Start {
    Start::Hello(ClientHello { name: name.map(|name| name.as_bytes().to_vec()), is_hidden })
}

#[test]
fn names_of_real_clients() {
    assert_eq!(read_client_hello(&real("example.org")), hello(Some("example.org"), false));
    assert_eq!(read_client_hello(&real("192.0.2.1")), hello(None, false));
}

#[test]
fn each_beginning_is_incomplete() {
    for bytes in [real("example.org"), split(&real("example.org"), 1), split(&real("example.org"), 50)] {
        for end in 0..bytes.len() {
            assert_eq!(read_client_hello(&bytes[..end]), Start::More, "{end}");
        }
        assert_eq!(read_client_hello(&bytes), hello(Some("example.org"), false));
    }
}

#[test]
fn made_ones() {
    let name = || (0, names(&["example.org"]));
    assert_eq!(read_client_hello(&made(&[name()])), hello(Some("example.org"), false));
    assert_eq!(read_client_hello(&made(&[])), hello(None, false));
    assert_eq!(read_client_hello(&made(&[name(), (0xfe0d, vec![0; 40])])), hello(Some("example.org"), true));
}

#[test]
fn wrong_ones() {
    let mut long_extensions = made(&[(0, names(&["example.org"]))]);
    let last = long_extensions.len() - names(&["example.org"]).len() - 1;
    long_extensions[last] += 1;
    for (case, bytes) in [
        ("two names", made(&[(0, names(&["example.org", "evil.example"]))])),
        ("no name", made(&[(0, names(&[]))])),
        ("two extensions", made(&[(0, names(&["example.org"])), (0, names(&["evil.example"]))])),
        ("bytes behind the list", made(&[(0, [names(&["example.org"]), vec![0]].concat())])),
        ("a length beyond the end", long_extensions),
        ("a ServerHello", record(22, &[2, 0, 0, 0])),
        ("an empty record", vec![22, 3, 1, 0, 0]),
        (
            "an alert between",
            [split(&made(&[]), 10), record(21, &[2, 40])].concat()[..]
                .iter()
                .copied()
                .take(15)
                .chain(record(21, &[2, 40]))
                .collect(),
        ),
        ("bytes behind", record(22, &[&made(&[])[5..], b"x"].concat())),
        ("a very long one", record(22, &[1, 1, 0, 0])),
    ] {
        let read = read_client_hello(&bytes);
        assert!(matches!(read, Start::Bad(_)), "{case}: {read:?}");
    }
}

#[test]
fn other_protocols() {
    for bytes in [&b"GET / HTTP/1.1\r\n"[..], b"SSH-2.0-x\r\n", &[0x80, 0x2e, 1, 3, 1], &[22, 2, 0], &[0]] {
        assert_eq!(read_client_hello(bytes), Start::NotTls, "{bytes:?}");
    }
}
