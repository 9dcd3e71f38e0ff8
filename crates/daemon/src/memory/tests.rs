//! State over restarts and over damage to the file.

mod consent;
mod copying;
mod sessions;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use castellan_event::{AccessLevel, Code, ScriptFile, Verdict};
use castellan_policy::{Block, CallClass, FindingName, Grant, GrantPart};
use proptest::prelude::*;

use super::entry::GrantEntry;
use super::*;
use crate::limits::{
    GRANTS_MAX, PROCESSES_MAX, REMEMBERED_ANSWERS_MAX, REQUESTS_RESERVED, SESSION_IDLE_MS, SESSIONS_MAX,
};
use crate::requests::{GrantKey, GrantScope, Granted, Now, Subject, Taken};

fn key(number: usize) -> CallKey {
    CallKey(bytes(number))
}

fn session(number: usize) -> SessionKey {
    SessionKey(bytes(number))
}

fn bytes(number: usize) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&(number as u64).to_le_bytes());
    bytes
}

fn process(pid: u32) -> AgentProcess {
    AgentProcess { pid, started: u64::MAX }
}

const UNSEEN: AgentProcess = AgentProcess { pid: 0, started: 0 };

/// A memory of a new home, and its file.
fn new() -> (tempfile::TempDir, PathBuf, Memory) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal");
    let memory = Memory::open(path.clone(), true, 1).unwrap().0;
    (dir, path, memory)
}

/// The memory of the next daemon, which reads the file without trouble.
fn again(path: &Path) -> Memory {
    let (memory, trouble) = Memory::open(path.to_owned(), false, 1).unwrap();
    assert_eq!(trouble, None);
    memory
}

/// The stored state without the clock's time and the sessions' last events.
fn kept(memory: &Memory) -> BTreeSet<String> {
    let mut text = Vec::new();
    memory.lasting.write(&Moment::read(), &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    let plain = |line: &str| {
        let mut entry: serde_json::Value = serde_json::from_str(line).unwrap();
        if let Some(session) = entry.get_mut("session") {
            session["seen_ms"] = 0.into();
        }
        entry.to_string()
    };
    text.lines().skip(1).map(plain).collect()
}

fn write(memory: &mut Memory, root: SessionKey, call: u64, path: &str) {
    let (use_id, paths) = (call.to_string(), BTreeSet::from([path.to_owned()]));
    let begun = Begun {
        call,
        id: &use_id,
        origins: Origins {
            downloaded: paths.clone().into(),
            secret_copies: paths.clone().into(),
            unread_output: paths.clone().into(),
        },
        opens_tunnel: true,
        paths,
        code: BTreeSet::from([format!("{path}/code")]),
        copying: Copying {
            reads: Some(BTreeSet::from([format!("{path}/read")])),
            into: BTreeSet::from([format!("{path}/copy")]),
        },
        in_background: call.is_multiple_of(2),
        ..Begun::default()
    };
    memory.begin(root, begun);
}

/// A class of calls with a word in each list.
fn class() -> CallClass {
    let words = |word: &str| vec![word.to_owned()];
    CallClass { findings: words("f"), programs: words("p"), kinds: words("k"), roots: words("r") }
}

/// Adds a grant that was given just now.
fn grant(memory: &mut Memory, id: u32, scope: GrantScope) {
    let text = |text: &str| text.to_owned();
    let name =
        FindingName { code: text("ask_rule"), rule: text("r"), layer: text("user"), message: text("m") };
    let script = ScriptFile { path: text("/w/x"), sha256: Some(text("00")), is_written: true };
    let later = Now { wall: Now::read().wall + Duration::from_secs(900), boot_s: Now::read().boot_s + 900 };
    let granted = Granted {
        id: RequestId::nth(id),
        key: GrantKey(bytes(1)),
        session: (scope != GrantScope::Always).then_some(session(1)),
        grant: Grant { parts: vec![GrantPart { lifts: Box::new([name]), scripts: vec![script] }] },
        scope,
        until: matches!(scope, GrantScope::Once | GrantScope::For(_)).then_some(later),
        given: Now::read(),
        subject: Subject { agent: text("a"), cwd: text("/w"), tool: text("Bash"), preview: text("p\n\"") },
        is_at_prompt: false,
        is_taken: false,
        class: (scope == GrantScope::Session).then(class),
    };
    memory.put(Entry::Granted(Box::new(GrantEntry::of(&granted))));
}

fn scope() -> impl Strategy<Value = GrantScope> {
    prop_oneof![
        Just(GrantScope::Once),
        Just(GrantScope::Session),
        Just(GrantScope::For(9)),
        Just(GrantScope::Always)
    ]
}

/// Ids of the grants that the session takes for the call.
fn taken(memory: &mut Memory) -> Option<Taken> {
    memory.requests_mut().take(&GrantKey(bytes(1)), &session(1), Now::read())
}

/// Rewrites the file as if from another boot, some time ago by the wall clock.
fn reboot(path: &Path, wall_ms_ago: i64) {
    let text = std::fs::read_to_string(path).unwrap();
    let (head, rest) = text.split_once('\n').unwrap();
    let mut head: serde_json::Value = serde_json::from_str(head).unwrap();
    head["boot"] = "another".into();
    head["wall_ms"] = head["wall_ms"].as_u64().unwrap().saturating_add_signed(-wall_ms_ago).into();
    std::fs::write(path, format!("{head}\n{rest}")).unwrap();
}

fn consequence() -> impl Strategy<Value = Consequence> {
    let block =
        |blocked: bool| blocked.then(|| Block { code: Code::Ungoverned, message: "a call ran".to_owned() });
    let level = prop::option::of(prop::sample::select(AccessLevel::ALL.to_vec()));
    (level, any::<bool>()).prop_map(move |(ceiling, blocked)| Consequence { ceiling, block: block(blocked) })
}

#[test]
fn what_follows_for_a_session_outlives_the_daemon_and_its_id() {
    let (_dir, path, mut memory) = new();
    let entered = memory.enter(session(1), process(7)).unwrap();
    let block = Some(Block { code: Code::Ungoverned, message: "a call ran".to_owned() });
    let follows = Consequence { ceiling: Some(AccessLevel::ReadOnly), block };
    memory.follow(&entered.id, follows.clone());
    memory.save().unwrap();
    let mut memory = again(&path);
    let other = memory.enter(session(2), process(7)).unwrap();
    assert_eq!(memory.consequence(&other.root), follows);
    let none = memory.enter(session(3), process(8)).unwrap();
    assert_eq!(memory.consequence(&none.root), Consequence::default());
}

#[derive(Debug, Clone)]
enum Event {
    Enter(usize, u32),
    Workspace(usize),
    Mark(usize),
    Write(usize, u64),
    End(usize, u64),
    EndTurn(usize),
    Trust(usize, Option<WorkspaceDecision>),
    Grant(u32, GrantScope),
    GrantOver(u32),
    Consequence(usize, Consequence),
    Ceiling(usize, AccessLevel),
    Request,
}

fn event() -> impl Strategy<Value = Event> {
    let decided = prop_oneof![
        Just(None),
        Just(Some(WorkspaceDecision::Trusted { project: None })),
        Just(Some(WorkspaceDecision::Trusted { project: Some("ab".to_owned()) })),
        Just(Some(WorkspaceDecision::Denied))
    ];
    prop_oneof![
        (0..5usize, 0..4u32).prop_map(|(id, pid)| Event::Enter(id, pid)),
        (0..5usize).prop_map(Event::Workspace),
        (0..5usize).prop_map(Event::Mark),
        (0..5usize, 0..6u64).prop_map(|(id, call)| Event::Write(id, call)),
        (0..5usize, 0..6u64).prop_map(|(id, call)| Event::End(id, call)),
        (0..5usize).prop_map(Event::EndTurn),
        (0..3usize, decided).prop_map(|(id, decided)| Event::Trust(id, decided)),
        (0..4u32, scope()).prop_map(|(id, scope)| Event::Grant(id, scope)),
        (0..4u32).prop_map(Event::GrantOver),
        (0..5usize, consequence()).prop_map(|(id, consequence)| Event::Consequence(id, consequence)),
        (0..5usize, prop::sample::select(AccessLevel::ALL.to_vec()))
            .prop_map(|(id, level)| Event::Ceiling(id, level)),
        Just(Event::Request),
    ]
}

fn happen(memory: &mut Memory, event: Event) {
    match event {
        Event::Enter(id, pid) => {
            memory.enter(session(id), process(pid)).unwrap();
        }
        Event::Workspace(id) => {
            let entered = memory.enter(session(id), UNSEEN).unwrap();
            memory.fix_workspace(entered, Workspace { path: format!("/w/{id}"), is_border: true });
        }
        Event::Mark(id) => {
            let root = memory.enter(session(id), UNSEEN).unwrap().root;
            memory.mark(root, &["a".to_owned(), id.to_string()]);
        }
        Event::Write(id, call) => {
            let root = memory.enter(session(id), UNSEEN).unwrap().root;
            write(memory, root, call, &format!("/w/{call}"));
        }
        Event::End(id, call) => {
            let root = memory.enter(session(id), UNSEEN).unwrap().root;
            memory.end(root, &call.to_string());
        }
        Event::EndTurn(id) => {
            let root = memory.enter(session(id), UNSEEN).unwrap().root;
            memory.end_turn(root);
        }
        Event::Trust(id, decided) => memory.decide(&format!("/w/{id}"), decided).unwrap(),
        Event::Grant(id, scope) => grant(memory, id, scope),
        Event::GrantOver(id) => {
            memory.refuse(&RequestId::nth(id).to_string());
        }
        Event::Consequence(id, consequence) => memory.follow(&session(id), consequence),
        Event::Ceiling(id, level) => {
            let id = memory.enter(session(id), UNSEEN).unwrap().id;
            memory.ceiling(&id, true, level);
        }
        Event::Request => {
            memory.take_request();
        }
    }
}

proptest! {
    // Each case writes files to disk.
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// After any events, a daemon that is killed after saving leaves its whole state to the next one.
    #[test]
    fn the_next_daemon_knows_what_was_saved(events in prop::collection::vec(event(), 0..40)) {
        let (_dir, path, mut memory) = new();
        for event in events {
            happen(&mut memory, event);
        }
        memory.save().unwrap();
        let next = again(&path);
        prop_assert_eq!(kept(&memory), kept(&next));
        // The rewritten file gives the same state again.
        prop_assert_eq!(kept(&next), kept(&again(&path)));
    }

    /// A file cut at any place is rejected or holds a state that was saved before.
    #[test]
    fn a_file_that_is_cut_is_a_state_of_before(events in prop::collection::vec(event(), 1..20), part in 0.0..1.0f64) {
        let (_dir, path, mut memory) = new();
        let mut states = vec![kept(&memory)];
        for event in events {
            happen(&mut memory, event);
            memory.save().unwrap();
            states.push(kept(&memory));
        }
        let bytes = std::fs::read(&path).unwrap();
        let left = (bytes.len() as f64 * part) as usize;
        std::fs::write(&path, &bytes[..left]).unwrap();
        let (cut, trouble) = Memory::open(path, false, 1).unwrap();
        // An event may be several lines.
        let is_known = |entry: &String| states.iter().any(|state| state.contains(entry));
        prop_assert!(trouble.is_some() || kept(&cut).iter().all(|entry| is_known(entry) || entry.contains("session")));
    }
}

#[test]
fn what_was_not_saved_is_not_known() {
    let (_dir, path, mut memory) = new();
    let root = memory.enter(session(1), UNSEEN).unwrap().root;
    memory.mark(root, &["a".to_owned()]);
    memory.save().unwrap();
    memory.mark(root, &["b".to_owned()]);
    let next = again(&path);
    assert_eq!(next.session(&root).marks.keys().collect::<Vec<_>>(), ["a"]);
}

#[test]
fn what_could_not_be_saved_is_saved_whole_later() {
    let (dir, path, mut memory) = new();
    let root = memory.enter(session(1), UNSEEN).unwrap().root;
    memory.mark(root, &["a".to_owned()]);
    // The folder is missing, so writing fails.
    let away = dir.path().with_extension("away");
    std::fs::rename(dir.path(), &away).unwrap();
    memory.journal.distrust();
    assert!(memory.save().is_err());
    memory.mark(root, &["b".to_owned()]);
    assert!(memory.save().is_err());
    assert!(memory.decide("/w", Some(WorkspaceDecision::Trusted { project: None })).is_err());
    assert!(memory.decide("/v", Some(WorkspaceDecision::Denied)).is_err());
    std::fs::rename(&away, dir.path()).unwrap();
    memory.save().unwrap();
    let next = again(&path);
    assert_eq!(next.session(&root).marks.keys().collect::<Vec<_>>(), ["a", "b"]);
    // The looser decision failed and does not apply. The stricter one applies.
    assert_eq!((next.trust().get("/w"), next.trust().get("/v")), (None, Some(&WorkspaceDecision::Denied)));
}

#[test]
fn a_file_that_was_removed_is_written_again() {
    let (_dir, path, mut memory) = new();
    let root = memory.enter(session(1), UNSEEN).unwrap().root;
    memory.mark(root, &["a".to_owned()]);
    memory.save().unwrap();
    assert!(!memory.mend().unwrap());
    std::fs::remove_file(&path).unwrap();
    assert!(memory.mend().unwrap());
    assert!(!memory.mend().unwrap());
    assert_eq!(kept(&again(&path)), kept(&memory));
}

/// Damages the file of a loosened and marked state. No grant or trust may remain; earlier sessions must be suspect.
fn check_lost(damage: impl FnOnce(&Path), expected: &str) {
    let (_dir, path, mut memory) = new();
    let root = memory.enter(session(1), UNSEEN).unwrap().root;
    memory.mark(root, &["a".to_owned()]);
    grant(&mut memory, 1, GrantScope::Always);
    memory.decide("/w", Some(WorkspaceDecision::Trusted { project: None })).unwrap();
    damage(&path);
    let (mut next, trouble) = Memory::open(path.clone(), false, 1).unwrap();
    assert!(trouble.as_deref().is_some_and(|why| why.contains(expected)), "{expected}: {trouble:?}");
    assert_eq!(next.trust().all().count(), 0, "{expected}");
    assert_eq!(taken(&mut next), None, "{expected}");
    assert!(next.has_any_written("/w/a") && !memory.has_any_written("/w/a"), "{expected}");
    let is_suspect = |memory: &mut Memory, number, process| {
        let root = memory.enter(session(number), process).unwrap().root;
        let is_full = memory.changed(&root, None).is_some_and(|changed| changed.is_full);
        assert_eq!(memory.is_suspect(&root), is_full, "{expected}");
        is_full
    };
    let old = AgentProcess { pid: 7, started: 0 };
    for _ in 0..2 {
        assert!(is_suspect(&mut next, 1, UNSEEN), "{expected}: an agent that cannot be seen");
        assert!(is_suspect(&mut next, 2, old), "{expected}: one that ran before");
        assert!(is_suspect(&mut next, 3, old), "{expected}: under another id");
        assert!(!is_suspect(&mut next, 4, process(8)), "{expected}: one that was started since");
        next.save().unwrap();
        next = again(&path);
    }
    // The process of an old session is suspect, too.
    assert!(is_suspect(&mut next, 4, AgentProcess { pid: 9, started: 0 }), "{expected}: merged");
}

/// Grants of version 1 do not record whether the agent's own prompt was open.
#[test]
fn a_journal_of_the_first_version_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal");
    let mut memory = Memory::open(path.clone(), true, 1).unwrap().0;
    grant(&mut memory, 7, GrantScope::Once);
    memory.save().unwrap();
    drop(memory);
    let text = std::fs::read_to_string(&path).unwrap();
    let before = text.replacen("\"castellan_journal\":7", "\"castellan_journal\":1", 1);
    let before = before.replace("\"is_at_prompt\":false,", "");
    assert!(!before.contains("is_at_prompt") && before != text, "{text}");
    std::fs::write(&path, before).unwrap();
    let (mut memory, trouble) = Memory::open(path.clone(), false, 1).unwrap();
    assert_eq!(trouble, None);
    assert!(taken(&mut memory).is_some());
    assert!(std::fs::read_to_string(&path).unwrap().starts_with("{\"castellan_journal\":7"));
}

/// Version 2 calls a block `bar`.
#[test]
fn a_journal_of_the_version_before_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal");
    let root = "7".repeat(64);
    let text = format!(
        "{{\"castellan_journal\":2,\"boot\":\"\",\"clock_ms\":5,\"boot_ms\":5,\"wall_ms\":5}}\n\
         {{\"session\":{{\"id\":\"{root}\",\"root\":\"{root}\",\"seen_ms\":5,\"workspace\":null}}}}\n\
         {{\"follows\":{{\"root\":\"{root}\",\"consequence\":{{\"ceiling\":null,\"bar\":\"it ran rm\"}}}}}}\n"
    );
    castellan_files::write_private(&path, text.as_bytes()).unwrap();
    let (_, trouble) = Memory::open(path.clone(), false, 1).unwrap();
    assert_eq!(trouble, None);
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(written.starts_with("{\"castellan_journal\":7"), "{written}");
    assert!(written.contains("\"consequence\":{\"ceiling\":null,\"block\":\"it ran rm\"}"), "{written}");
}

#[test]
fn a_state_that_is_lost_makes_nothing_looser() {
    let text = |path: &Path| std::fs::read_to_string(path).unwrap();
    let put = |path: &Path, text: String| std::fs::write(path, text).unwrap();
    check_lost(|path| std::fs::remove_file(path).unwrap(), "it is gone");
    check_lost(|path| put(path, String::new()), "it is empty");
    check_lost(|path| put(path, "{}\n".to_owned()), "no journal");
    check_lost(|path| put(path, "[1]\n".to_owned()), "no journal");
    check_lost(|path| put(path, "\n".to_owned()), "line 1");
    check_lost(
        |path| put(path, text(path).replacen("\"castellan_journal\":7", "\"castellan_journal\":8", 1)),
        "its version is 8",
    );
    check_lost(
        |path| put(path, text(path).replacen("\"boot\"", "\"bot\"", 1)),
        "line 1: unknown field `bot`",
    );
    check_lost(|path| put(path, format!("{}nonsense\n", text(path))), "expected");
    check_lost(|path| put(path, format!("{}{{\"trust\":7}}\n", text(path))), "invalid type");
    check_lost(|path| put(path, text(path).replace("\"trusted\"", "\"entrusted\"")), "unknown variant");
    check_lost(|path| put(path, text(path).replace("\"workspace\":\"", "\"workplace\":\"")), "unknown field");
    // A grant with additional, missing or different fields.
    for (from, to, expected) in [
        ("\"granted\":{", "\"granted\":{\"more\":1,", "unknown field `more`"),
        ("\"granted\":{", "\"granted\":7,\"x\":{", "invalid type"),
        ("\"scope\":\"always\"", "\"scope\":\"forever\"", "unknown variant"),
        ("\"scope\":\"always\"", "\"scope\":\"always\",\"scope\":\"always\"", "duplicate field"),
        ("\"scope\":\"always\",", "", "missing field `scope`"),
    ] {
        check_lost(
            |path| {
                assert!(text(path).contains(from), "{from}: {}", text(path));
                put(path, text(path).replace(from, to));
            },
            expected,
        );
    }
    check_lost(
        |path| {
            put(path, text(path).replace("\"workspace\":\"/w\"", "\"workspace\":\"/w\",\"workspace\":\"/v\""))
        },
        "duplicate field",
    );
    check_lost(
        |path| {
            let mut bytes = std::fs::read(path).unwrap();
            bytes.extend(b"\xff\n");
            std::fs::write(path, bytes).unwrap();
        },
        "not UTF-8",
    );
    check_lost(
        |path| std::fs::File::options().write(true).open(path).unwrap().set_len(100 * 1024 * 1024).unwrap(),
        "more than",
    );
    check_lost(
        |path| {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o666)).unwrap();
        },
        "other users can",
    );
    check_lost(
        |path| {
            std::fs::rename(path, path.with_extension("elsewhere")).unwrap();
            std::os::unix::fs::symlink(path.with_extension("elsewhere"), path).unwrap();
        },
        "a symbolic link",
    );
}

#[test]
fn a_session_of_which_nothing_is_known_may_have_written_any_file() {
    let (_dir, path, mut memory) = new();
    let root = memory.enter(session(1), UNSEEN).unwrap().root;
    assert!(!memory.has_any_written("/w/a"));
    memory.put(Entry::Suspect { root });
    assert!(memory.has_any_written("/w/a"));
    memory.save().unwrap();
    // After a reboot castellan cannot identify the earlier agents; their writes are still unknown.
    reboot(&path, 1000);
    assert!(again(&path).has_any_written("/w/a"));
}

#[test]
fn a_torn_last_line_was_never_acknowledged() {
    let (_dir, path, mut memory) = new();
    let root = memory.enter(session(1), UNSEEN).unwrap().root;
    memory.mark(root, &["a".to_owned()]);
    memory.save().unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.extend(b"{\"marked\":{\"root\":\"00");
    std::fs::write(&path, bytes).unwrap();
    let mut next = again(&path);
    assert_eq!(next.session(&root).marks.len(), 1);
    // The torn line does not spoil the lines after it.
    next.mark(root, &["b".to_owned()]);
    next.save().unwrap();
    assert_eq!(again(&path).session(&root).marks.len(), 2);
}
