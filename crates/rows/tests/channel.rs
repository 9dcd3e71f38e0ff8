//! The channel: both ends over a real socket.
#![cfg(test)]

use std::io::Read as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver as Events, channel};
use std::time::{Duration, Instant};

use castellan_event::{Row, Value};
use castellan_rows::{
    CallRows, Generation, Identity, Nonce, ReceiveError, Receiver, SendError, Sender, SenderEvent, encode,
};
use tempfile::TempDir;

const IDENTITY: Identity = Identity { key: [1; 32], generation: Generation([2; 32]) };
const SHORT: Duration = Duration::from_millis(20);
const LONG: Duration = Duration::from_secs(20);

/// A row without values.
struct Nothing;

impl Row for Nothing {
    fn value(&self, _field: usize, _arg: Option<&str>) -> Value<'_> {
        Value::Absent
    }
}

fn call(rows: usize) -> Vec<u8> {
    let rows: Vec<Nothing> = (0..rows).map(|_| Nothing).collect();
    encode(&rows, &[], IDENTITY.generation, &vec![Nonce([3; 16]); rows.len()]).unwrap()
}

fn user(stream: &UnixStream) -> std::io::Result<u32> {
    Ok(rustix::net::sockopt::socket_peercred(stream)?.uid.as_raw())
}

fn own() -> u32 {
    rustix::process::getuid().as_raw()
}

struct Daemon {
    sender: Sender,
    events: Events<SenderEvent>,
    path: PathBuf,
    _directory: TempDir,
}

fn daemon_for(identity: Identity, admitted: u32) -> Daemon {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("rows.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let (tell, events) = channel();
    let admit = Box::new(move |stream: &UnixStream| match user(stream) {
        Ok(user) if user == admitted => Ok(()),
        other => Err(format!("{other:?} must not connect")),
    });
    let sender = Sender::start(listener, identity, admit, move |event| {
        tell.send(event).unwrap_or_default();
    });
    Daemon { sender: sender.unwrap(), events, path, _directory: directory }
}

fn daemon() -> Daemon {
    daemon_for(IDENTITY, own())
}

impl Daemon {
    fn event(&self) -> SenderEvent {
        self.events.recv_timeout(LONG).unwrap()
    }
}

fn engine(path: &Path) -> Receiver {
    Receiver::new(path.to_owned(), IDENTITY, own(), user)
}

/// Asks until something comes.
fn next(engine: &mut Receiver) -> Result<CallRows, ReceiveError> {
    let until = Instant::now() + LONG;
    while Instant::now() < until {
        if let Some(call) = engine.receive(SHORT)? {
            return Ok(call);
        }
    }
    panic!("no call came");
}

fn soon() -> Instant {
    Instant::now() + LONG
}

#[test]
fn calls_arrive_in_their_order_and_a_lost_daemon_is_found_again() {
    let daemon = daemon();
    let mut first = engine(&daemon.path);
    assert!(first.receive(SHORT).unwrap().is_none());
    assert_eq!(daemon.event(), SenderEvent::Connected(1));
    for rows in [1, 30, 2] {
        assert_eq!(daemon.sender.send(&call(rows), soon()), Ok(1));
    }
    for rows in [1, 30, 2] {
        assert_eq!(next(&mut first).unwrap().left(), rows);
    }
    drop(first);
    assert_eq!(daemon.event(), SenderEvent::Closed(1));
    let mut engine = engine(&daemon.path);
    let waits = std::thread::scope(|scope| {
        let found = scope.spawn(|| next(&mut engine).unwrap().left());
        assert!(daemon.sender.wait_for_engine(soon()));
        assert_eq!(daemon.sender.send(&call(7), soon()), Ok(2));
        found.join().unwrap()
    });
    assert_eq!(waits, 7);
}

#[test]
fn without_an_engine_nothing_is_sent() {
    let daemon = daemon();
    assert_eq!(daemon.sender.send(&call(1), soon()), Err(SendError::Gone));
    assert!(!daemon.sender.wait_for_engine(Instant::now() + SHORT));
}

#[test]
fn an_engine_that_ends_is_noticed() {
    let daemon = daemon();
    let mut engine = engine(&daemon.path);
    engine.receive(SHORT).unwrap();
    assert_eq!(daemon.event(), SenderEvent::Connected(1));
    drop(engine);
    assert_eq!(daemon.event(), SenderEvent::Closed(1));
    assert_eq!(daemon.sender.send(&call(1), soon()), Err(SendError::Gone));
}

#[test]
fn an_engine_that_does_not_read_delays_no_call_past_its_deadline() {
    let daemon = daemon();
    let mut engine = engine(&daemon.path);
    engine.receive(SHORT).unwrap();
    assert_eq!(daemon.event(), SenderEvent::Connected(1));
    let call = call(2_000);
    let sent = std::thread::scope(|scope| {
        let send = || daemon.sender.send(&call, Instant::now() + Duration::from_millis(200));
        let threads: Vec<_> = (0..16).map(|_| scope.spawn(send)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    assert!(sent.contains(&Err(SendError::Slow)), "{sent:?}");
    // A call of which a part was written cannot be followed by another one.
    assert_eq!(daemon.event(), SenderEvent::Closed(1));
}

#[test]
fn a_call_without_time_left_ends_no_connection() {
    let daemon = daemon();
    let mut engine = engine(&daemon.path);
    engine.receive(SHORT).unwrap();
    assert_eq!(daemon.event(), SenderEvent::Connected(1));
    assert_eq!(daemon.sender.send(&call(1), Instant::now()), Err(SendError::Slow));
    assert_eq!(daemon.sender.send(&call(2), soon()), Ok(1));
    assert_eq!(next(&mut engine).unwrap().left(), 2);
}

#[test]
fn strangers_are_refused_with_the_reason() {
    let refused = |daemon: &Daemon, identity: Identity| {
        let mut engine = Receiver::new(daemon.path.clone(), identity, own(), user);
        let error = next(&mut engine).unwrap_err().to_string();
        let event = daemon.event();
        assert!(matches!(event, SenderEvent::Refused(_)), "{event:?}");
        error
    };
    let daemon = daemon();
    assert!(refused(&daemon, Identity { key: [9; 32], ..IDENTITY }).contains("not castellan"));
    let old = Identity { generation: Generation([9; 32]), ..IDENTITY };
    assert!(refused(&daemon, old).contains("other rules"));
    let mut first = engine(&daemon.path);
    first.receive(SHORT).unwrap();
    assert_eq!(daemon.event(), SenderEvent::Connected(1));
    assert!(refused(&daemon, IDENTITY).contains("another engine"));
    assert_eq!(daemon.sender.send(&call(1), soon()), Ok(1), "the first engine stays connected");
    assert_eq!(next(&mut first).unwrap().left(), 1);
}

#[test]
fn another_user_is_refused_by_both_ends() {
    let daemon = daemon_for(IDENTITY, own() + 1);
    assert!(matches!(next(&mut engine(&daemon.path)), Err(ReceiveError::Io(..))));
    assert!(matches!(daemon.event(), SenderEvent::Refused(reason) if reason.contains("must not connect")));
    let mut other = Receiver::new(daemon.path.clone(), IDENTITY, own() + 1, user);
    assert!(matches!(next(&mut other), Err(ReceiveError::User(..))));
}

#[test]
fn a_process_that_connects_and_says_nothing_holds_nobody_up_for_long() {
    let daemon = daemon();
    let mut silent = UnixStream::connect(&daemon.path).unwrap();
    assert!(matches!(daemon.event(), SenderEvent::Refused(_)));
    assert_eq!(silent.read(&mut [0]).unwrap(), 0, "it is disconnected");
    let mut engine = engine(&daemon.path);
    engine.receive(SHORT).unwrap();
    assert_eq!(daemon.event(), SenderEvent::Connected(1));
}
