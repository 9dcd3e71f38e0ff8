//! Monitored sessions, and the settings and transcripts of their agents.

use std::process::{Child, Command, Stdio};

use super::*;
use crate::process::{Process, arguments_of, set_variable};

const KEY: SessionKey = SessionKey([1; 32]);

/// An agent's process with its settings directory; it runs until it is dropped.
pub(crate) struct Runs {
    child: Child,
    pub(crate) dir: tempfile::TempDir,
}

impl Runs {
    pub(crate) fn new() -> Runs {
        Runs::with(&[])
    }

    /// Starts it with these additional arguments.
    pub(crate) fn with(arguments: &[&str]) -> Runs {
        let dir = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "read end"]).args(arguments);
        command.env("CLAUDE_CONFIG_DIR", dir.path()).stdin(Stdio::piped());
        let child = command.spawn().unwrap();
        until_read(&child);
        Runs { child, dir }
    }

    pub(crate) fn process(&self) -> AgentProcess {
        let pid = self.child.id();
        AgentProcess { pid, started: Process::read(pid).unwrap().started }
    }

    pub(crate) fn write(&self, text: &str) {
        std::fs::write(self.dir.path().join("settings.json"), text).unwrap();
    }
}

impl Drop for Runs {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        self.child.wait().unwrap();
    }
}

/// Waits until the command line and the environment of a program can be read: the kernel sets both a moment after its
/// start.
pub(crate) fn until_read(child: &Child) {
    let is_set = || set_variable(child.id(), &["CLAUDE_CONFIG_DIR"]).is_some();
    while arguments_of(child.id()).is_none() || !is_set() {
        std::thread::yield_now();
    }
}

/// Claude Code with this transcript.
fn claude(transcript: &str) -> Agent {
    Agent { cwd: "/nowhere".to_owned(), transcript_path: transcript.to_owned(), ..Agent::default() }
}

fn changes(live: &Live) -> Vec<SettingsChange> {
    live.look_at_settings().into_iter().map(|changed| changed.change).collect()
}

#[test]
fn no_session_whose_agent_runs_makes_room_for_another() {
    let sessions = LiveSessions::default();
    let pid = std::process::id();
    let runs = AgentProcess { pid, started: Process::read(pid).unwrap().started };
    let agent = Agent { cwd: "/nowhere".to_owned(), ..Agent::default() };
    let hear = |number: usize, process| {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&(number as u64).to_le_bytes());
        let key = SessionKey(key);
        let heard = sessions.hear(key, AgentId::CLAUDE, &agent, process);
        assert_eq!(sessions.of(&key).is_some(), heard.is_ok());
        heard
    };
    // It runs until its input ends.
    let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
    let ends = AgentProcess { pid: child.id(), started: Process::read(child.id()).unwrap().started };
    for number in 1..=LIVE_SESSIONS_MAX {
        assert_eq!(hear(number, if number == 1 { ends } else { runs }), Ok(()));
    }
    assert_eq!(hear(0, runs), Err(Full { is_news: true }));
    assert_eq!(hear(0, runs), Err(Full { is_news: false }));
    for number in 1..=LIVE_SESSIONS_MAX {
        let process = if number == 1 { ends } else { runs };
        assert_eq!(hear(number, process), Ok(()), "{number} is there still");
    }
    drop(child.stdin.take());
    child.wait().unwrap();
    assert_eq!(hear(0, runs), Ok(()));
    assert_eq!(hear(1, runs), Err(Full { is_news: true }));
}

#[test]
fn whoever_else_says_to_be_of_a_session_hides_nothing_of_its_agent() {
    let sessions = LiveSessions::default();
    let agent = Agent { cwd: "/nowhere".to_owned(), ..Agent::default() };
    let of = |pid| AgentProcess { pid, started: Process::read(pid).unwrap().started };
    let own = of(std::process::id());
    let key = SessionKey([1; 32]);
    let hear = |process| sessions.hear(key, AgentId::CLAUDE, &agent, process).unwrap();
    hear(own);
    let live = sessions.of(&key).unwrap();
    let is_known = |process| live.with_settings(process, |_| ()).is_some();
    assert!(is_known(own));
    // Processes that have already ended.
    for pid in 1..100 {
        hear(AgentProcess { pid, started: 0 });
        assert!(is_known(own), "{pid}");
        assert!(live.runs() && !live.is_gone(), "{pid}");
    }
    // A running process.
    let parent = of(rustix::process::getppid().unwrap().as_raw_nonzero().get().unsigned_abs());
    hear(parent);
    assert!(is_known(own) && is_known(parent));
    // Ended processes are dropped.
    assert!(live.starts().len() <= STARTS_PER_SESSION_MAX);
}

#[test]
fn what_the_settings_of_a_second_agent_say_is_a_change() {
    let (calm, off) = (Runs::new(), Runs::new());
    off.write(r#"{"disableAllHooks":true}"#);
    let sessions = LiveSessions::default();
    let hear = |runs: &Runs| sessions.hear(KEY, AgentId::CLAUDE, &claude(""), runs.process()).unwrap();
    hear(&calm);
    let live = sessions.of(&KEY).unwrap();
    assert_eq!(changes(&live), []);
    hear(&off);
    let [SettingsChange::HooksOff { file, how }] = &changes(&live)[..] else { panic!("it is not told") };
    assert_eq!(
        (file.as_path(), how.as_str()),
        (&*off.dir.path().join("settings.json"), "`disableAllHooks: true` is in it now")
    );
    // Reported once, even if it asks repeatedly.
    hear(&off);
    hear(&calm);
    assert_eq!(changes(&live), []);
    // Both are monitored from now on.
    calm.write(r#"{"disableAllHooks":true}"#);
    assert_eq!(changes(&live).len(), 1);
}

#[test]
fn no_agent_that_runs_is_forgotten_for_another() {
    let all: Vec<Runs> = (0..=STARTS_PER_SESSION_MAX).map(|_| Runs::new()).collect();
    let sessions = LiveSessions::default();
    for runs in &all {
        sessions.hear(KEY, AgentId::CLAUDE, &claude(""), runs.process()).unwrap();
    }
    let live = sessions.of(&KEY).unwrap();
    let known: Vec<bool> =
        all.iter().map(|runs| live.with_settings(runs.process(), |_| ()).is_some()).collect();
    let mut expected = vec![true; STARTS_PER_SESSION_MAX];
    expected.push(false);
    assert_eq!(known, expected);
}

#[test]
fn a_number_that_comes_again_is_another_agents() {
    let runs = Runs::new();
    let AgentProcess { pid, started } = runs.process();
    let before = AgentProcess { pid, started: started - 1 };
    assert!(runs.process().lives() && !before.lives());
    let sessions = LiveSessions::default();
    sessions.hear(KEY, AgentId::CLAUDE, &claude(""), before).unwrap();
    let live = sessions.of(&KEY).unwrap();
    assert!(!live.runs(), "the one that had the number is gone");
    sessions.hear(KEY, AgentId::CLAUDE, &claude(""), runs.process()).unwrap();
    assert!(live.with_settings(before, |_| ()).is_none(), "it makes room");
    assert!(live.with_settings(runs.process(), |_| ()).is_some());
}

#[test]
fn a_transcript_is_read_from_where_it_was_when_it_was_heard_of() {
    let (runs, dir) = (Runs::new(), tempfile::tempdir().unwrap());
    let path = dir.path().join("t.jsonl");
    std::fs::write(&path, "before\n").unwrap();
    let sessions = LiveSessions::default();
    let hear = |transcript: &str| {
        sessions.hear(KEY, AgentId::CLAUDE, &claude(transcript), runs.process()).unwrap();
        sessions.of(&KEY).unwrap().take_new()
    };
    let mut new = hear(path.to_str().unwrap());
    assert_eq!(new.len(), 1);
    assert_eq!(new[0].look().lines, [b""; 0]);
    std::fs::write(&path, "before\nafter\n").unwrap();
    assert_eq!(new[0].look().lines, [b"after"]);
    // The same path again, an empty path, and relative paths, which would be resolved in the daemon's directory.
    for path in [path.to_str().unwrap(), "", "Cargo.toml", "./src/lib.rs"] {
        assert_eq!(hear(path).len(), 0, "{path}");
    }
}

#[test]
fn the_last_lines_of_an_agent_that_has_ended_are_read() {
    let runs = Runs::new();
    let sessions = LiveSessions::default();
    sessions.hear(KEY, AgentId::CLAUDE, &claude(""), runs.process()).unwrap();
    drop(runs);
    sessions.forget_ended();
    let live = sessions.of(&KEY).expect("it has ended just now");
    assert!(live.is_gone() && !live.is_over());
    let long_ago = Instant::now().checked_sub(2 * LINGER).unwrap();
    live.lock().at = long_ago;
    sessions.forget_ended();
    assert!(sessions.of(&KEY).is_none());
}
