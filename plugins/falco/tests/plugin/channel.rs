//! The plugin beside a daemon: many clients, ends in the middle, a second plugin.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::mpsc::{Sender as Answer, channel};

use castellan_rows::{Seen, SendError, SenderEvent, encode};

use crate::daemon::{Daemon, IDENTITY, nonce};
use crate::host::{Host, LONG};
use crate::rows::Made;

const CLIENTS: u64 = 16;
const CALLS: u64 = 10_000;

/// Answers by the row's nonce, as the daemon waits for them.
type Waiting = Mutex<HashMap<[u8; 16], Answer<Seen>>>;

/// Sends a call of two rows and waits for both answers. Returns false if the engine went away meanwhile.
fn judge(daemon: &Daemon, waiting: &Waiting, number: u64) -> bool {
    let nonces = [nonce(number * 2), nonce(number * 2 + 1)];
    let (answer, answers) = channel();
    for nonce in nonces {
        waiting.lock().unwrap().insert(nonce.0, answer.clone());
    }
    drop(answer);
    let rows =
        [Made::with("tool.use_id", format!("call {number}").as_bytes()), Made::with("tool.name", b"Bash")];
    let call = encode(&rows, &[], IDENTITY.generation, &nonces).unwrap();
    if daemon.send(&call) == Err(SendError::Gone) {
        return false;
    }
    for nonce in nonces {
        match answers.recv_timeout(LONG) {
            Ok(seen) => assert_eq!((seen.nonce, seen.rules), (nonce, vec![number % 1000])),
            Err(_) => return false,
        }
    }
    true
}

/// Judges one event as Falco with one rule would, and answers.
fn answer(host: &mut Host, waiting: &Waiting) -> bool {
    let Some(event) = host.poll() else { return false };
    let own = host.text(&event, "row.nonce").unwrap();
    let bytes = castellan_rows::Nonce::parse(&own).unwrap().0;
    let number = u64::from_le_bytes(bytes[..8].try_into().unwrap()) / 2;
    host.field(&event, &format!("row.match[{}]", number % 1000)).unwrap();
    let seen = Seen::parse(&host.seen(&event).unwrap()).unwrap();
    let waits = waiting.lock().unwrap().remove(&bytes).expect("each row is answered once");
    waits.send(seen).unwrap_or_default();
    true
}

#[test]
fn sixteen_clients_get_an_answer_for_each_of_ten_thousand_calls() {
    let daemon = Daemon::start();
    let mut host = Host::start(&daemon.settings);
    assert!(host.poll().is_none());
    let waiting = Waiting::default();
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (daemon, waiting) = (&daemon, &waiting);
            scope.spawn(move || {
                for number in (client..CALLS).step_by(CLIENTS as usize) {
                    assert!(judge(daemon, waiting, number), "call {number}");
                }
            });
        }
        let mut answered = 0;
        while answered < CALLS * 2 {
            answered += u64::from(answer(&mut host, &waiting));
        }
        assert!(host.poll().is_none(), "no row comes twice");
    });
}

#[test]
fn after_an_end_in_the_middle_the_next_start_takes_over() {
    let daemon = Daemon::start();
    let mut host = Host::start(&daemon.settings);
    assert!(host.poll().is_none());
    assert_eq!(daemon.event(), SenderEvent::Connected(1));
    let waiting = Waiting::default();
    let lost = std::thread::scope(|scope| {
        let calls =
            scope.spawn(|| (0..100).map(|number| judge(&daemon, &waiting, number)).collect::<Vec<_>>());
        let mut answered = 0;
        while answered < 51 {
            answered += u32::from(answer(&mut host, &waiting));
        }
        // The second row of a call is in the plugin now, and will never be judged.
        let runner = host.stop();
        drop(runner);
        assert_eq!(daemon.event(), SenderEvent::Closed(1));
        // The daemon denies what waits.
        waiting.lock().unwrap().clear();
        let answers = calls.join().unwrap();
        assert_eq!(answers.iter().filter(|answered| **answered).count(), 25);
        answers.len() - 25
    });
    assert_eq!(lost, 75);
    let mut host = Host::start(&daemon.settings);
    assert!(host.poll().is_none());
    assert_eq!(daemon.event(), SenderEvent::Connected(2));
    std::thread::scope(|scope| {
        let call = scope.spawn(|| judge(&daemon, &waiting, 7));
        let mut answered = 0;
        while answered < 2 {
            answered += u32::from(answer(&mut host, &waiting));
        }
        assert!(call.join().unwrap());
    });
}

#[test]
fn of_two_plugins_the_second_waits_until_the_first_ends() {
    let daemon = Daemon::start();
    let (mut first, mut second) = (Host::start(&daemon.settings), Host::start(&daemon.settings));
    assert!(first.poll().is_none());
    assert_eq!(daemon.event(), SenderEvent::Connected(1));
    assert!(second.poll().is_none());
    assert!(matches!(daemon.event(), SenderEvent::Refused(reason) if reason.contains("another engine")));
    let call = |number| {
        let rows = [Made::with("tool.name", b"Bash")];
        daemon.send(&encode(&rows, &[], IDENTITY.generation, &[nonce(number)]).unwrap())
    };
    assert_eq!(call(1), Ok(1));
    let event = first.event();
    assert_eq!(first.text(&event, "row.nonce").unwrap(), nonce(1).to_string());
    drop(first.stop());
    // The second one tries again by itself. Until the end of the first is noticed it is refused.
    let until = std::time::Instant::now() + LONG;
    while call(2) != Ok(2) {
        assert!(second.poll().is_none());
        assert!(std::time::Instant::now() < until, "the second plugin does not take over");
    }
    let event = second.event();
    assert_eq!(second.text(&event, "row.nonce").unwrap(), nonce(2).to_string());
}
