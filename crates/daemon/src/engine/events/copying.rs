//! No call waits for copies, and a panic ends none.

use std::sync::mpsc::channel;
use std::time::Duration;

use castellan_event::{Agent, Tool, ToolKind};
use castellan_rows::Receiver;

use super::*;

const LIMIT: Duration = Duration::from_secs(20);

/// A call of a shell, which needs no answers.
fn call() -> Call {
    Call {
        correlation_id: 1,
        agent: Agent::default(),
        tool: Tool {
            name: "Bash".to_owned(),
            name_raw: "Bash".to_owned(),
            use_id: String::new(),
            kind: ToolKind::Shell,
            mcp: None,
        },
        input: serde_json::json!({}),
        input_text: "{}".to_owned(),
        command: Some("ls".to_owned()),
        files: Vec::new(),
        in_background: false,
        problems: Vec::new(),
    }
}

fn copy(events: &Events) {
    events.copy(&call(), &Facts::default(), &Session::default(), &Answers::default());
}

/// The begin and the end of copies hold the lock while a thread of the channel ends. No call waits for that.
#[test]
fn a_call_waits_for_no_copies_that_begin_or_end() {
    let events = Arc::new(Events::default());
    let (tell, done) = channel();
    let begins = events.running.lock().unwrap();
    let of_call = Arc::clone(&events);
    std::thread::spawn(move || {
        copy(&of_call);
        tell.send(()).unwrap();
    });
    done.recv_timeout(LIMIT).expect("the call waits for the lock");
    drop(begins);
}

/// A panic with the lock, in a call or in a change, ends no copies.
#[test]
fn copies_go_on_after_a_panic() {
    let (events, home) = (Arc::new(Events::default()), tempfile::tempdir().unwrap());
    let (place, key_file) = (home.path().join("events"), home.path().join("events.key"));
    let wanted = WantedEvents { place, key: key_file.clone(), library: Some("/plugin".to_owned()) };
    events.want(wanted, |line| panic!("{line}"));
    let poisons = Arc::clone(&events);
    let panicked = std::thread::spawn(move || {
        let _running = poisons.running.lock().unwrap();
        panic!("a test");
    });
    panicked.join().unwrap_err();
    assert!(events.running.is_poisoned());
    let identity = Identity { key: key(&key_file).unwrap(), generation: GENERATION };
    let own = rustix::process::geteuid().as_raw();
    let peer = |stream: &UnixStream| peer_of(stream).map(|peer| peer.user);
    let mut falco = Receiver::new(home.path().join("events/s"), identity, own, peer);
    assert!(falco.receive(Duration::ZERO).unwrap().is_none() && falco.is_connected());
    let until = Instant::now() + LIMIT;
    let mut copied = None;
    // The daemon notes the connection a little later than this end.
    while copied.is_none() && Instant::now() < until {
        copy(&events);
        copied = falco.receive(Duration::from_millis(50)).unwrap();
    }
    assert_eq!(copied.expect("no copy comes").left(), 1);
}
