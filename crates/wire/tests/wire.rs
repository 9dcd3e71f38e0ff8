//! Round trips, limits, and arbitrary bytes in both directions.
#![cfg(test)]

use castellan_wire::{Frame, Gap, Hold, Kind, Reply, Request, VERSION, WireError, read_frame, write_frame};
use proptest::prelude::*;

const MAX: usize = 1024;

fn framed(kind: Kind, body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_frame(&mut bytes, kind, body).unwrap();
    bytes
}

fn check(bytes: &[u8], expected: &str) {
    let got = match read_frame(&mut &*bytes, MAX) {
        Ok(Frame { kind, body }) => format!("{kind:?} {}", body.len()),
        Err(error) => error.to_string(),
    };
    assert_eq!(got, expected, "for {bytes:?}");
}

#[test]
fn frames_that_are_none_are_refused() {
    let good = framed(Kind::Reply, b"abc");
    check(&good, "Reply 3");
    check(b"", "the connection was closed");
    for cut in 1..good.len() {
        let error = read_frame(&mut &good[..cut], MAX).unwrap_err();
        assert!(matches!(error, WireError::Io(_)), "{cut} bytes: {error}");
    }
    check(b"GET / HTTP/1.1\r\n\r\n", "the received bytes are not a frame of castellan");
    let mut other_version = good.clone();
    other_version[4] = 9;
    check(
        &other_version,
        &format!(
            "the peer speaks protocol version 9, this castellan {VERSION}: install both from one version"
        ),
    );
    let mut other_kind = good.clone();
    other_kind[6] = 77;
    check(&other_kind, "the peer sent a frame of the unknown kind 77");
    check(&framed(Kind::Request, &[0; MAX + 1]), "a frame of 1025 bytes is over the limit of 1024");
}

#[test]
fn a_length_that_the_peer_does_not_send_reserves_nothing() {
    let mut bytes = framed(Kind::Request, b"");
    bytes[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
    let error = read_frame(&mut &*bytes, usize::MAX).unwrap_err();
    assert!(matches!(error, WireError::Io(_)), "{error}");
}

proptest! {
    #[test]
    fn requests_round_trip(agent in ".*", event in ".*", parent_pid: u32, cwd: Vec<u8>, payload: Vec<u8>) {
        let request = Request { agent, event, parent_pid, cwd, payload };
        prop_assert_eq!(Request::decode(request.encode()).unwrap(), request);
    }

    #[test]
    fn replies_and_holds_round_trip(exit: u8, stdout: Vec<u8>, stderr: Vec<u8>, ms: u32) {
        let reply = Reply { exit, stdout, stderr };
        prop_assert_eq!(Reply::decode(&reply.encode()).unwrap(), reply);
        prop_assert_eq!(Hold::decode(&Hold { ms }.encode()).unwrap(), Hold { ms });
    }

    #[test]
    fn gaps_round_trip(unix_ms: u64, parent_pid: u32, agent in "[!-~]{1,64}", event in "[!-~]{1,64}") {
        let gap = Gap { unix_ms, agent, event, parent_pid, failure: "deadline".to_owned() };
        let line = gap.to_string();
        prop_assert_eq!(Gap::parse(line.trim_end_matches('\n')), Some(gap));
    }

    #[test]
    fn a_gap_is_one_line_whatever_its_words(agent: String, event: String) {
        let gap = Gap { unix_ms: 1, agent, event, parent_pid: 2, failure: String::new() };
        let line = gap.to_string();
        prop_assert_eq!(line.lines().count(), 1);
        prop_assert!(Gap::parse(line.trim_end_matches('\n')).is_some());
    }

    #[test]
    fn a_cut_or_padded_body_is_refused(stdout: Vec<u8>, cut in 1usize..8) {
        let body = Reply { exit: 0, stdout, stderr: vec![] }.encode();
        prop_assert!(Reply::decode(&body[..body.len().saturating_sub(cut)]).is_err());
        prop_assert!(Reply::decode(&[&body[..], &[0]].concat()).is_err());
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes: Vec<u8>) {
        let _ = read_frame(&mut &*bytes, MAX);
        let _ = Request::decode(bytes.clone());
        let _ = Reply::decode(&bytes);
        let _ = Hold::decode(&bytes);
        let _ = Gap::parse(&String::from_utf8_lossy(&bytes));
    }
}
