//! A round with this process in the place of Falco's plugin.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;

use super::*;
use crate::engine::tests::{engine, wanted};

const LIMIT: Duration = Duration::from_secs(20);

/// A round that is wanted; no thread serves it.
fn round() -> (Round, tempfile::TempDir) {
    let (wanted, home) = wanted(None);
    let (engine, wanted) = (engine(), Arc::new(wanted));
    let mut inner = engine.lock();
    (inner.wanted, inner.round) = (Some(Arc::clone(&wanted)), 1);
    drop(inner);
    (Round { engine, wanted, number: 1, refused: Arc::default() }, home)
}

/// A process that runs, in the place of Falco's own.
fn running(channel: Channel) -> Running {
    let mut command = Command::new("sleep");
    let child = command.arg("600").stdin(Stdio::null()).process_group(0).spawn().unwrap();
    Running { channel, process: Process::of(child), last: LastLine::default() }
}

fn wait_until(round: &Round, is_so: impl Fn(&crate::engine::Inner) -> bool) {
    let until = Instant::now() + LIMIT;
    let mut inner = round.engine.lock();
    while !is_so(&inner) {
        assert!(Instant::now() < until, "{inner:?}");
        inner = round.engine.wait(inner, ENGINE_LOOK);
    }
}

/// Falco reads changed files at SIGHUP, and its plugin connects again. The roll call does not show changed conditions.
#[test]
fn a_falco_whose_connection_has_ended_is_ended_too() {
    let (round, _home) = round();
    let channel = round.open().unwrap();
    *channel.only.lock() = process(std::process::id());
    let connected = channel.connect(&round.wanted).unwrap();
    wait_until(&round, |inner| inner.is_connected);
    drop(connected);
    wait_until(&round, |inner| inner.is_closed);
    channel.connect(&round.wanted).unwrap_err();
    let running = running(channel);
    let pid = rustix::process::Pid::from_raw(i32::try_from(running.process.id()).unwrap()).unwrap();
    let End::Failed(why) = round.watch(running) else { panic!("the round lasts") };
    assert_eq!(why, CLOSED);
    assert!(rustix::process::test_kill_process(pid).is_err(), "it runs");
    round.leave();
    let inner = round.engine.lock();
    assert!(inner.remote.is_none() && !inner.is_connected && inner.since.is_none(), "{inner:?}");
}

/// A panic leaves the channel of before; its end reports the end of its connection, for which it needs the lock.
#[test]
fn a_channel_of_before_ends_without_the_lock() {
    let (round, _home) = round();
    let before = round.open().unwrap();
    *before.only.lock() = process(std::process::id());
    let connected = before.connect(&round.wanted).unwrap();
    wait_until(&round, |inner| inner.is_connected);
    drop(before);
    let (send, done) = channel();
    std::thread::spawn(move || {
        let next = round.open().unwrap();
        send.send((round, next)).unwrap();
    });
    let (round, next) = done.recv_timeout(LIMIT).expect("it waits for itself");
    drop(connected);
    let inner = round.engine.lock();
    assert!(!inner.is_connected && !inner.is_closed, "an event of before has an effect: {inner:?}");
    drop(inner);
    drop(next);
    round.leave();
}
