//! Fake sockets of journald and syslog.

use std::path::Path;
use std::sync::Arc;

use castellan_audit::{CallRecord, Config, Copied, Copier, Log, Record};

use super::*;
use crate::clock::wall;

struct Machine {
    dir: tempfile::TempDir,
    outside: Arc<Outside>,
    log: Log,
}

impl Machine {
    fn new() -> Machine {
        Machine::with(&[])
    }

    /// A log whose machine has these sockets from the start.
    fn with(sockets: &[&str]) -> Machine {
        let dir = tempfile::tempdir().unwrap();
        for name in sockets {
            drop(UnixDatagram::bind(dir.path().join(name)).unwrap());
        }
        let places =
            vec![(Form::Journal, dir.path().join("journal")), (Form::Syslog, dir.path().join("log"))];
        let outside = Arc::new(Outside::at(places));
        let receiver = Arc::clone(&outside);
        let copier = Copier::new(move |copied| receiver.send(copied));
        let log = Log::open_copied(&dir.path().join("l"), Config::default(), copier, wall()).unwrap();
        Machine { dir, outside, log }
    }

    fn bind(&self, name: &str) -> UnixDatagram {
        bind(&self.dir.path().join(name))
    }

    fn deny(&self) {
        let call = CallRecord { verdict: "deny".into(), session_id: "s".into(), ..CallRecord::default() };
        self.log.append(&Record::Call(call), wall()).unwrap();
    }
}

fn bind(path: &Path) -> UnixDatagram {
    let _ = std::fs::remove_file(path);
    let socket = UnixDatagram::bind(path).unwrap();
    socket.set_nonblocking(true).unwrap();
    socket
}

/// Everything that was sent.
fn received(socket: &UnixDatagram) -> Vec<String> {
    let mut buffer = [0; 8192];
    let mut all = Vec::new();
    while let Ok(length) = socket.recv(&mut buffer) {
        all.push(String::from_utf8(buffer[..length].to_vec()).unwrap());
    }
    all
}

#[test]
fn a_denial_is_at_the_journal_when_it_is_written() {
    let machine = Machine::new();
    let (journal, syslog) = (machine.bind("journal"), machine.bind("log"));
    machine.deny();
    let lines = received(&journal);
    assert_eq!(received(&syslog), Vec::<String>::new());
    let [denial] = lines.as_slice() else { panic!("{lines:?}") };
    let fields: Vec<&str> = denial.lines().collect();
    let [message, priority, identifier] = fields.as_slice() else { panic!("{fields:?}") };
    assert_eq!((*priority, *identifier), ("PRIORITY=4", "SYSLOG_IDENTIFIER=castellan"));
    let copied = Copied::parse(message.strip_prefix("MESSAGE=").unwrap()).unwrap();
    assert_eq!((copied.verdict(), copied.last_seq()), ("deny", 1));
    assert_eq!(machine.outside.status().to, "journald");
    assert_eq!(machine.outside.retry(), None);
}

#[test]
fn without_a_journal_it_goes_to_syslog() {
    let machine = Machine::new();
    let syslog = machine.bind("log");
    machine.deny();
    let lines = received(&syslog);
    let [denial] = lines.as_slice() else { panic!("{lines:?}") };
    let start = format!("<12>castellan[{}]: ", std::process::id());
    assert_eq!(Copied::parse(denial.strip_prefix(&start).unwrap()).unwrap().verdict(), "deny");
    assert_eq!(machine.outside.status().to, "syslog");
}

#[test]
fn a_machine_without_both_is_no_failure_and_off_sends_nothing() {
    let machine = Machine::new();
    machine.deny();
    let none = OutsideStatus { to: "none".to_owned(), ..OutsideStatus::default() };
    assert_eq!((machine.outside.retry(), machine.outside.status()), (None, none));
    assert_eq!(Outside::new(false).status().to, "off");
    assert!(Outside::new(false).places.is_empty() && Outside::new(true).places.len() == 2);
}

#[test]
fn lines_wait_while_the_receiver_begins_again() {
    let machine = Machine::new();
    drop(machine.bind("journal"));
    machine.deny();
    let problem = machine.outside.retry().unwrap();
    assert!(problem.contains("Connection refused") || problem.contains("refused"), "{problem}");
    assert_eq!(machine.outside.retry(), None, "recorded once");
    assert_eq!(machine.outside.status().waiting, 1);
    let journal = machine.bind("journal");
    machine.deny();
    assert_eq!(received(&journal).len(), 2);
    // It begins again while nothing waits: no line is lost.
    drop(journal);
    let journal = machine.bind("journal");
    machine.deny();
    assert_eq!(received(&journal).len(), 1);
    assert_eq!(machine.outside.status().problem, "");
    // It goes away: the lines wait, and the problem is shown.
    drop(journal);
    std::fs::remove_file(machine.dir.path().join("journal")).unwrap();
    machine.deny();
    let status = machine.outside.status();
    assert_eq!((status.problem.as_str(), status.waiting), ("its socket is gone", 1));
}

#[test]
fn a_receiver_that_does_not_read_delays_nothing_and_memory_is_limited() {
    let machine = Machine::new();
    let journal = machine.bind("journal");
    // More than any kernel keeps for a socket, and than castellan keeps.
    let length: usize =
        std::fs::read_to_string("/proc/sys/net/unix/max_dgram_qlen").unwrap().trim().parse().unwrap();
    let calls = length + OUTSIDE_WAITING_MAX + 500;
    (0..calls).for_each(|_| machine.deny());
    let status = machine.outside.status();
    assert_eq!(status.waiting, OUTSIDE_WAITING_MAX);
    assert!(status.lost > 0 && status.problem.contains("does not read"), "{status:?}");
    assert_eq!(machine.log.status().last_seq, calls as u64, "each call is recorded");
    assert!(machine.outside.retry().unwrap().contains("does not read"));
    let before = received(&journal).len();
    assert_eq!(machine.outside.retry(), None, "recorded once");
    let after = received(&journal);
    assert!(!after.is_empty() && before > 0);
    // The newest are there.
    while machine.outside.status().waiting > 0 {
        assert_eq!(machine.outside.retry(), None);
        received(&journal);
    }
    assert_eq!(machine.outside.status().problem, "");
}
