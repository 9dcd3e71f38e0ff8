//! A round with this process in the place of Falco's plugin.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;

use castellan_engine::RemoteEngine;

use super::look::CLOSED;
use super::*;
use crate::engine::channel::{Channel, process};
use crate::engine::output::LastLine;
use crate::engine::program::Process;
use crate::engine::tests::{engine, wanted};
use crate::engine::unchanged::Stamps;

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
fn running(channel: Channel, remote: Arc<RemoteEngine>) -> Running {
    let mut command = Command::new("sleep");
    let child = command.arg("600").stdin(Stdio::null()).process_group(0).spawn().unwrap();
    let stamps = Stamps::of(std::iter::empty()).unwrap();
    Running { channel, process: Process::of(child), last: LastLine::default(), stamps, listening: remote }
}

fn wait_until(round: &Round, is_so: impl Fn(&Inner) -> bool) {
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
    let (channel, remote) = round.open().unwrap();
    *channel.only.lock() = process(std::process::id());
    let connected = channel.connect(&round.wanted).unwrap();
    wait_until(&round, |inner| inner.is_connected);
    drop(connected);
    wait_until(&round, |inner| inner.is_closed);
    channel.connect(&round.wanted).unwrap_err();
    let running = running(channel, remote);
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
    let (before, _) = round.open().unwrap();
    *before.only.lock() = process(std::process::id());
    let connected = before.connect(&round.wanted).unwrap();
    wait_until(&round, |inner| inner.is_connected);
    drop(before);
    let (send, done) = channel();
    std::thread::spawn(move || {
        let (next, _) = round.open().unwrap();
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

/// Another user's process at the port would get the alerts of the Falco that has not ended yet, with the secret path.
#[test]
fn the_port_for_alerts_stays_until_falco_has_ended() {
    let (round, _home) = round();
    let (channel, remote) = round.open().unwrap();
    let address = remote.address();
    let running = running(channel, remote);
    let pid = rustix::process::Pid::from_raw(i32::try_from(running.process.id()).unwrap()).unwrap();
    // Other rules are wanted.
    let mut inner = round.engine.lock();
    inner.round += 1;
    let before = inner.remote.take();
    drop(inner);
    drop(before);
    let is_taken = || std::net::TcpListener::bind(address).is_err();
    let ended = std::thread::spawn(move || running.end(Seen::Unwanted));
    // Both are looked at in this order, so the port was taken while the process ran.
    while rustix::process::test_kill_process(pid).is_ok() {
        let is_taken = is_taken();
        assert!(
            is_taken || rustix::process::test_kill_process(pid).is_err(),
            "the port is free, and Falco runs"
        );
    }
    ended.join().unwrap();
    assert!(!is_taken(), "the port stays");
}

/// Rules whose conditions are weaker have the same names, and pass each roll call.
#[test]
fn a_falco_whose_files_have_changed_at_its_start_judges_nothing() {
    let (round, _home) = round();
    let (mut channel, remote) = round.open().unwrap();
    channel.write(&round.wanted, "/bin/true").unwrap();
    let stamps = channel.stamps(&round.wanted).unwrap();
    let rules = channel.place.rules();
    std::fs::write(&rules, "weaker").unwrap();
    let why = channel.stamps(&round.wanted).err().unwrap();
    assert!(why.contains("rules.yaml") && why.contains("another program"), "{why}");
    std::fs::write(&rules, &round.wanted.rules.yaml).unwrap();
    *channel.only.lock() = process(std::process::id());
    let _connected = channel.connect(&round.wanted).unwrap();
    wait_until(&round, |inner| inner.is_connected);
    let running = Running { stamps, ..running(channel, remote) };
    let Seen::Failed(why) = round.look(&running) else { panic!("it may judge") };
    assert!(why.contains("rules.yaml") && why.contains("other rules"), "{why}");
    running.end(Seen::Unwanted);
}
