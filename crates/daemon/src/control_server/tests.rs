//! Requests from a process that castellan cannot identify: loosening requests are rejected and recorded, the others are
//! not. The commands check by themselves before they send a request; these tests bypass that check.

use std::sync::mpsc::channel;

use castellan_audit::{Config as LogConfig, Filter, Log};

use super::*;
use crate::control::{DecidedWorkspace, GrantScope, HaltOf, PendingCall, RunNote, TrustDecision};
use crate::limits::NOTE_CHARS_MAX;
use crate::memory::Memory;
use crate::peers::AgentProcess;
use crate::plans::Plans;
use crate::presence::is_within_agent;

/// A process that cannot be inspected.
const NOBODY: (u32, u64) = (0, 0);

/// Every loosening request, with loosening arguments. `shown` is the hash of the set in force.
fn loosening(workspace: &str, shown: &str) -> Vec<(&'static str, ControlRequest)> {
    let trust =
        |decision| ControlRequest::Trust { workspace: workspace.to_owned(), trust: decision, project: None };
    let edit = |key: &str, edit| ControlRequest::Edit { key: key.to_owned(), edit, shown: shown.to_owned() };
    let edits = |words: [(&str, &str); 2]| ControlRequest::Edits {
        edits: words.map(|(key, word)| (key.to_owned(), KeyEdit::word(word))).to_vec(),
        shown: shown.to_owned(),
    };
    let approve = |scope| ControlRequest::Approve { id: "K7".to_owned(), shown: String::new(), scope };
    let undo = |is_final| ControlRequest::Undo { id: "c0".to_owned(), shown: String::new(), is_final };
    vec![
        ("mode", ControlRequest::Mode("monitor".to_owned())),
        ("mode", ControlRequest::Mode("passthrough".to_owned())),
        ("switch", ControlRequest::Switch { key: "profile".to_owned(), word: "kit".to_owned() }),
        ("switch", ControlRequest::Switch { key: "packs.git".to_owned(), word: "off".to_owned() }),
        ("switch", ControlRequest::Switch { key: "tiers.ask".to_owned(), word: "observe".to_owned() }),
        ("switch", edit("allow", KeyEdit::Add("Bash(rm:*)".to_owned()))),
        ("switch", edit("tags.deny", KeyEdit::Set("\"x\"".to_owned()))),
        ("switch", edit("mode", KeyEdit::word("monitor"))),
        ("switch", edit("deny", KeyEdit::Remove("Bash(a)".to_owned()))),
        ("switch", edit("deny", KeyEdit::Unset)),
        // It tightens, but a person reads the text of the client later.
        ("switch", edit("ask", KeyEdit::Add("Bash".to_owned()))),
        ("switch", edit("presence_check", KeyEdit::word("pin"))),
        // Neither engine is stricter, and the program decides about calls.
        ("switch", edit("engine.kind", KeyEdit::word("falco"))),
        ("switch", edit("engine.falco", KeyEdit::word("/f"))),
        ("switch", edits([("opaque", "deny"), ("engine.kind", "falco")])),
        ("switch", edits([("opaque", "deny"), ("engine.plugin", "/p")])),
        ("apply", ControlRequest::Apply { hash: "x".to_owned() }),
        ("stop", ControlRequest::Stop),
        ("restart", ControlRequest::Restart),
        ("handover", ControlRequest::HandOver),
        ("approve", approve(GrantScope::Once)),
        ("approve", approve(GrantScope::Session)),
        ("approve", approve(GrantScope::For(60))),
        ("approve", approve(GrantScope::Always)),
        ("trust", trust(TrustDecision::Trusted)),
        ("trust", trust(TrustDecision::Unknown)),
        ("set_pin", ControlRequest::SetPin { new: "4711".to_owned() }),
        ("loosen", ControlRequest::Loosen("uninstall".to_owned())),
        ("undo", undo(false)),
        ("undo", undo(true)),
        ("keep", ControlRequest::Keep { id: "c0".to_owned(), seen: Vec::new() }),
        ("keep", ControlRequest::KeepFiles { paths: vec!["/w".to_owned()], shown: String::new() }),
        ("pause", ControlRequest::Pause { seconds: 600 }),
        ("resume", ControlRequest::Resume { of: HaltOf::All }),
        ("resume", ControlRequest::Resume { of: HaltOf::Agent("claude".to_owned()) }),
    ]
}

/// Every request that does not loosen.
fn others(workspace: &str, shown: &str) -> Vec<ControlRequest> {
    let edit = |key: &str, edit| ControlRequest::Edit { key: key.to_owned(), edit, shown: shown.to_owned() };
    let denied = TrustDecision::Denied;
    vec![
        edit("opaque", KeyEdit::word("deny")),
        ControlRequest::Edits { edits: Vec::new(), shown: shown.to_owned() },
        ControlRequest::Status,
        ControlRequest::Mode("enforce".to_owned()),
        ControlRequest::Switch { key: "profile".to_owned(), word: "strict".to_owned() },
        ControlRequest::EndTrial,
        ControlRequest::Pending,
        ControlRequest::Granted,
        ControlRequest::Show { id: "K7".to_owned() },
        ControlRequest::Refuse { id: "K7".to_owned() },
        ControlRequest::Trusted,
        ControlRequest::Trust { workspace: workspace.to_owned(), trust: denied, project: None },
        ControlRequest::Halt { of: HaltOf::Agent("claude".to_owned()), kill: false },
        ControlRequest::EndPause,
        ControlRequest::Checkpoints,
        ControlRequest::Diff { id: "c0".to_owned() },
        ControlRequest::MarkedFiles { paths: vec!["/w".to_owned()] },
    ]
}

fn serve(layout: &Layout) -> ControlServer {
    let (policy, _, terms) = PolicyState::start(layout);
    let log = Log::open(&layout.log(), LogConfig::default(), wall()).unwrap();
    let (memory, _) = Memory::open(layout.journal(), true, 1).unwrap();
    ControlServer {
        layout: layout.clone(),
        judge: Arc::new(Judge::new(
            terms,
            log,
            Vec::new(),
            memory,
            Plans::new(layout.state()),
            Arc::default(),
        )),
        peers: Arc::new(Peers::default()),
        policy: Arc::new(policy),
        secrets: Secrets::new(layout.secrets()),
        signals: channel().0,
        started: Instant::now(),
        connections: Connections::default(),
        strangers: Refusals::default(),
        deciding: Mutex::default(),
        mode_changes: Mutex::default(),
        plan_changes: Mutex::default(),
        is_managed: false,
        handing_over: AtomicBool::new(false),
    }
}

/// Returns the actions that the log shows as rejected.
fn refusals(layout: &Layout) -> Vec<String> {
    let entries = castellan_audit::read(&layout.log(), &Filter::default()).unwrap().entries;
    let controls = entries
        .into_iter()
        .filter_map(|entry| if let Record::Control(control) = entry.record { Some(control) } else { None });
    controls.filter(|control| !control.accepted).map(|control| control.action.into()).collect()
}

#[test]
fn whatever_loosens_needs_a_person() {
    let root = tempfile::tempdir().unwrap();
    let own = rustix::process::geteuid().as_raw();
    let layout = Layout::read(&root.path().join("home")).unwrap();
    let layout = layout.with_organisation(&root.path().join("organisation"), own);
    layout.create().unwrap();
    let workspace = root.path().canonicalize().unwrap().join("repo");
    std::fs::create_dir_all(workspace.join(".git")).unwrap();
    let workspace = workspace.display().to_string();
    std::fs::write(layout.config_file(), "version = 1\ndeny = ['Bash(a)']\n").unwrap();
    let server = serve(&layout);
    let known = Known::default();
    let peer = Peer { pid: NOBODY.0, started: NOBODY.1, uid: own, is_administrator: false, known: &known };
    let is_refused = |request: &ControlRequest| {
        matches!(server.carry_out(request, peer), Err(ControlResponse::Refused(_)))
    };
    let before = server.judge.terms();
    let mut expected = Vec::new();
    for (action, request) in loosening(&workspace, &server.policy.files()) {
        assert!(is_refused(&request), "{action}");
        expected.push(action);
    }
    assert_eq!(refusals(&layout), expected);
    assert_eq!(server.judge.tally().refusals().0, expected.len() as u64);
    // None of them was carried out.
    let now = server.judge.terms();
    assert_eq!((now.mode, now.policy.hash()), (before.mode, before.policy.hash()));
    assert!(!server.secrets.has_pin() && !layout.home().stopped_marker().exists());
    assert!(server.judge.decided_workspaces().is_empty() && server.judge.pause_now().is_none());
    let shown = server.policy.files();
    for request in others(&workspace, &shown) {
        assert!(!is_refused(&request));
    }
}

/// A person who has forgotten the PIN asks root, who does not know it either.
#[test]
fn the_administrator_sets_a_pin_without_the_old_one() {
    let root = tempfile::tempdir().unwrap();
    let own = rustix::process::geteuid().as_raw();
    let layout = Layout::read(&root.path().join("home")).unwrap();
    let layout = layout.with_organisation(&root.path().join("organisation"), own);
    layout.create().unwrap();
    let server = serve(&layout);
    let known = Known::default();
    let administrator =
        Peer { pid: NOBODY.0, started: NOBODY.1, uid: own, is_administrator: true, known: &known };
    let set = |new: &str, peer| server.carry_out(&ControlRequest::SetPin { new: new.to_owned() }, peer);
    for pin in ["first-4711", "second-0815"] {
        assert_eq!(set(pin, administrator), Ok(ControlResponse::Done), "{pin}");
        assert_eq!(server.secrets.check_pin(pin, wall()), Ok(()), "{pin}");
    }
    // Nobody else does.
    let other = Peer { is_administrator: false, ..administrator };
    assert!(matches!(set("third-1234", other), Err(ControlResponse::Refused(_))));
    assert_eq!(server.secrets.check_pin("second-0815", wall()), Ok(()));
}

/// Only the process of the connection that registered a run adds notes, so no agent writes about another's session.
#[test]
fn only_a_run_records_notes_about_itself() {
    let root = tempfile::tempdir().unwrap();
    let own = rustix::process::geteuid().as_raw();
    let layout = Layout::read(&root.path().join("home")).unwrap();
    let layout = layout.with_organisation(&root.path().join("organisation"), own);
    layout.create().unwrap();
    let server = serve(&layout);
    let known = Known::default();
    let peer = |pid| {
        let started = Process::read(pid).map_or(0, |process| process.started);
        Peer { pid, started, uid: own, is_administrator: false, known: &known }
    };
    let (this, above) = (peer(std::process::id()), peer(std::os::unix::process::parent_id()));
    let note = |text: &str, peer| {
        let request = ControlRequest::Note { kind: RunNote::ToolAttempt, text: text.to_owned() };
        server.carry_out(&request, peer)
    };
    assert!(matches!(note("early", this), Err(ControlResponse::Failed(_))));
    let observer = ControlRequest::Run { profile: Some("observer".to_owned()), is_sandboxed: false };
    assert!(matches!(server.carry_out(&observer, this), Ok(ControlResponse::Run(_))));
    assert_eq!(note("seen", this), Ok(ControlResponse::Done));
    assert_eq!(note(&"x".repeat(1 << 20), this), Ok(ControlResponse::Done));
    // A reused process id, another process, and one that cannot be inspected.
    for other in [Peer { started: this.started + 1, ..this }, above, peer(0)] {
        assert!(matches!(note("forged", other), Err(ControlResponse::Failed(_))));
    }
    let entries = castellan_audit::read(&layout.log(), &Filter::default()).unwrap().entries;
    let notes: Vec<String> = entries
        .into_iter()
        .filter_map(|entry| if let Record::Control(control) = entry.record { Some(control) } else { None })
        .filter(|control| control.action == "tool_attempt")
        .map(|control| control.argument.into())
        .collect();
    // These tests may themselves run within an agent.
    let notes: Vec<&str> = notes.iter().map(|note| note.trim_start_matches("within an agent: ")).collect();
    assert!(matches!(notes[..], ["seen", long] if long.len() <= NOTE_CHARS_MAX), "{notes:?}");
}

/// A program outside of agents is believed, an agent and what it starts are not. Within a sandbox a further run is in it too.
#[test]
fn only_what_no_agent_started_says_that_it_is_in_a_sandbox() {
    let root = tempfile::tempdir().unwrap();
    let own = rustix::process::geteuid().as_raw();
    let layout = Layout::read(&root.path().join("home")).unwrap();
    let layout = layout.with_organisation(&root.path().join("organisation"), own);
    layout.create().unwrap();
    let server = serve(&layout);
    let known = Known::default();
    let process =
        |pid| AgentProcess { pid, started: Process::read(pid).map_or(0, |process| process.started) };
    let register = |AgentProcess { pid, started }| {
        let request = ControlRequest::Run { profile: None, is_sandboxed: true };
        let peer = Peer { pid, started, uid: own, is_administrator: false, known: &known };
        assert!(matches!(server.carry_out(&request, peer), Ok(ControlResponse::Run(_))));
    };
    // A child stands for an agent, and this test for the person's shell.
    let mut child = std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
    let (this, agent) = (process(std::process::id()), process(child.id()));
    server.peers.guard_again([agent]);
    register(agent);
    assert!(!server.judge.is_sandboxed(agent), "an agent says so of itself");
    register(this);
    let is_within_agent = is_within_agent(this.pid, |_, _| false);
    assert_eq!(server.judge.is_sandboxed(this), !is_within_agent);
    assert_eq!(server.judge.is_sandboxed(agent), !is_within_agent, "it is below the run in a sandbox");
    drop(child.stdin.take());
    child.wait().unwrap();
}

/// A missing policy is not one with the default settings.
#[test]
fn settings_of_sandboxes_are_those_in_force_or_none() {
    let root = tempfile::tempdir().unwrap();
    let own = rustix::process::geteuid().as_raw();
    let layout = Layout::read(&root.path().join("home")).unwrap();
    let layout = layout.with_organisation(&root.path().join("organisation"), own);
    layout.create().unwrap();
    std::fs::write(layout.config_file(), "version = 1\n[sandbox]\nnetwrk = \"none\"\n").unwrap();
    let server = serve(&layout);
    let known = Known::default();
    let pid = std::process::id();
    let started = Process::read(pid).map_or(0, |process| process.started);
    let asked = server.carry_out(
        &ControlRequest::Sandbox,
        Peer { pid, started, uid: own, is_administrator: false, known: &known },
    );
    let Err(ControlResponse::Failed(why)) = asked else { panic!("{asked:?}") };
    assert!(why.contains("netwrk") && why.contains("castellan config check"), "{why}");
}

#[test]
fn requests_of_this_version_and_the_one_before_are_read() {
    let trust =
        ControlRequest::Trust { workspace: "/w".to_owned(), trust: TrustDecision::Denied, project: None };
    for (body, expected) in [
        (r#"{"version":1,"body":"status"}"#, Ok(ControlRequest::Status)),
        (r#"{"version":1,"body":{"trust":{"workspace":"/w","standing":"denied"}}}"#, Ok(trust.clone())),
        (r#"{"version":2,"body":{"trust":{"workspace":"/w","trust":"denied"}}}"#, Ok(trust.clone())),
        (r#"{"version":3,"body":"status"}"#, Err("castellan speaks control version 3, the daemon 2")),
        (r#"{"version":0,"body":"status"}"#, Err("castellan speaks control version 0, the daemon 2")),
    ] {
        let frame = Frame { kind: Kind::Control, body: body.as_bytes().to_vec() };
        match (read_request(&frame), expected) {
            (Ok((request, _)), Ok(expected)) => assert!(request == expected, "{body}"),
            (Err(why), Err(expected)) => assert!(why.starts_with(expected), "{body}: {why}"),
            (read, _) => panic!("{body}: {:?}", read.err()),
        }
    }
    // An older daemon, which runs on after an upgrade, must understand what ends it.
    assert_eq!(ControlRequest::Restart.version(), 1);
    assert_eq!(trust.version(), 2);
}

#[test]
fn answers_of_the_version_before_are_read() {
    let decided: DecidedWorkspace =
        serde_json::from_str(r#"{"workspace":"/w","standing":"denied"}"#).unwrap();
    assert_eq!(decided.trust, TrustDecision::Denied);
    let pending: PendingCall = serde_json::from_str(
        r#"{"id":"K7","agent":"claude_code","session":"s","cwd":"/w","tool":"Bash","input":"ls","reasons":[],
            "age_s":1,"times":1,"held":true}"#,
    )
    .unwrap();
    assert!(pending.waiting);
}
