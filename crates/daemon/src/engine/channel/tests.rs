//! The process that may connect, once.

use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use super::*;
use crate::engine::tests::wanted;

const LIMIT: Duration = Duration::from_secs(20);

fn open(wanted: &Wanted) -> (Channel, Arc<RemoteEngine>, Receiver<SenderEvent>) {
    let (send, heard) = channel();
    let (channel, remote) = Channel::open(wanted, move |event| send.send(event.clone()).unwrap()).unwrap();
    (channel, remote, heard)
}

fn refused(heard: &Receiver<SenderEvent>, part: &str) {
    let event = heard.recv_timeout(LIMIT).unwrap();
    assert!(matches!(&event, SenderEvent::Refused(why) if why.contains(part)), "{event:?}, not {part}");
}

/// This process has the key. Before the start and in a pause no process is Falco, and a later process with the id of a
/// Falco that has ended is none.
#[test]
fn only_the_process_of_this_start_is_let_in() {
    let (wanted, _home) = wanted(None);
    let (channel, _remote, heard) = open(&wanted);
    let own = process(std::process::id()).unwrap();
    channel.connect(&wanted).unwrap_err();
    refused(&heard, "no Falco is expected");
    for other in [AgentProcess { started: own.started + 1, ..own }, AgentProcess { pid: 1, ..own }] {
        *channel.only.lock() = Some(other);
        channel.connect(&wanted).unwrap_err();
        refused(&heard, "is not the Falco that castellan started");
    }
    *channel.only.lock() = Some(own);
    let connected = channel.connect(&wanted).unwrap();
    assert_eq!(heard.recv_timeout(LIMIT), Ok(SenderEvent::Connected(1)));
    drop(connected);
}

/// The same process may have read changed files since.
#[test]
fn a_process_is_let_in_once() {
    let (wanted, _home) = wanted(None);
    let (channel, _remote, heard) = open(&wanted);
    *channel.only.lock() = process(std::process::id());
    let connected = channel.connect(&wanted).unwrap();
    assert_eq!(heard.recv_timeout(LIMIT), Ok(SenderEvent::Connected(1)));
    drop(connected);
    assert_eq!(heard.recv_timeout(LIMIT), Ok(SenderEvent::Closed(1)));
    channel.connect(&wanted).unwrap_err();
    refused(&heard, "no Falco is expected");
}

/// Calls may hold the engine of before when its Falco has ended.
#[test]
fn the_end_of_a_channel_lets_in_nobody_and_each_one_makes_its_folder() {
    let (wanted, _home) = wanted(None);
    let (mut channel, remote, _heard) = open(&wanted);
    channel.write(&wanted, "/plugin").unwrap();
    let own = channel.only.clone();
    *own.lock() = process(std::process::id());
    let key = channel.key.clone();
    drop(channel);
    assert_eq!(*own.lock(), None);
    assert!(!wanted.place.join("s").exists() && !wanted.place.join("falco.yaml").exists());
    std::fs::remove_dir_all(&wanted.place).unwrap();
    let (mut next, _next_remote, heard) = open(&wanted);
    next.write(&wanted, "/plugin").unwrap();
    assert_ne!(next.key, key);
    *next.only.lock() = process(std::process::id());
    let _connected = next.connect(&wanted).unwrap();
    assert_eq!(heard.recv_timeout(LIMIT), Ok(SenderEvent::Connected(1)));
    drop(remote);
}
