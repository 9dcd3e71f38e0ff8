//! Workspaces of sessions, workspace trust, and a workspace's own files.

use castellan_rules::Source;

use super::*;
use crate::file_set::{FileSet, read_project};
use crate::layers::Layers;
use crate::layout::Layout;
use crate::memory::WorkspaceDecision;
use crate::projects::{Projects, keep_copy};
use crate::trial::Trial;

/// A strict policy without the bar for foreign hooks: the processes of these agents cannot be inspected.
fn strict() -> Policy {
    let mut config = Config::parse("version = 1\nprofile = \"strict\"").unwrap();
    config.settings.ungoverned.blocks_foreign_hooks = false;
    compile(&[], &config).policy
}

fn standard() -> Policy {
    compile(&[], &Config::parse("version = 1").unwrap()).policy
}

impl Bench {
    /// Writes a new file in the workspace `path` with Claude's tool.
    fn write_in(&self, session: &str, path: &str) -> String {
        let payload = json!({
            "session_id": session, "permission_mode": "default", "cwd": path, "hook_event_name": "PreToolUse", "tool_name": "Write",
            "tool_input": { "file_path": format!("{path}/{}", self.calls().len()), "content": "x" },
            "tool_use_id": "u",
        });
        let request = Request {
            agent: "claude".into(),
            event: "PreToolUse".into(),
            // A process that can be inspected and is not headless.
            parent_pid: std::process::id(),
            cwd: b"/".to_vec(),
            payload: payload.to_string().into_bytes(),
        };
        let reply = self.answer(&request);
        let output: Json = serde_json::from_slice(&reply.stdout).unwrap_or_default();
        let decision = output["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or("defer");
        decision.to_owned()
    }

    fn trust(&self, path: &str, decided: Option<WorkspaceDecision>) {
        self.judge.decide(path, decided).unwrap();
    }

    fn reported(&self) -> usize {
        let is_reported = |record: &Record| matches!(record, Record::Session(of) if of.message.starts_with("trust_required /"));
        self.records().iter().filter(|record| is_reported(record)).count()
    }
}

#[test]
fn a_workspace_is_unknown_until_a_person_trusts_it_and_that_outlives_the_daemon() {
    let bench = Bench::new(strict(), Mode::Enforce);
    let work = tempfile::tempdir().unwrap();
    let path = work.path().canonicalize().unwrap().display().to_string();
    assert_eq!(bench.write_in("a", &path), "ask");
    assert_eq!(bench.write_in("a", &path), "ask");
    assert_eq!(bench.reported(), 1, "once a session");
    assert_eq!(bench.write_in("b", &path), "ask");
    assert_eq!(bench.reported(), 2);
    bench.trust(&path, Some(WorkspaceDecision::Trusted { project: None }));
    assert_eq!(bench.write_in("a", &path), "defer");
    let bench = bench.restarted(strict());
    assert_eq!(bench.write_in("a", &path), "defer");
    assert_eq!(bench.write_in("c", &path), "defer");
    bench.trust(&path, Some(WorkspaceDecision::Denied));
    assert_eq!(bench.write_in("a", &path), "deny");
    let bench = bench.restarted(strict());
    assert_eq!(bench.write_in("c", &path), "deny");
    bench.trust(&path, None);
    assert_eq!(bench.write_in("c", &path), "ask");
}

#[test]
fn a_session_works_where_it_began() {
    let bench = Bench::new(strict(), Mode::Enforce);
    let work = tempfile::tempdir().unwrap();
    let root = work.path().canonicalize().unwrap();
    let [first, other] = ["first", "other"].map(|name| {
        std::fs::create_dir(root.join(name)).unwrap();
        root.join(name).display().to_string()
    });
    bench.trust(&first, Some(WorkspaceDecision::Trusted { project: None }));
    assert_eq!(bench.write_in("a", &first), "defer");
    // The session continues in another directory, outside of its workspace. Writes below the temporary directory need
    // no higher level, so the records are checked.
    bench.write_in("a", &other);
    let bench = bench.restarted(strict());
    bench.write_in("a", &other);
    bench.write_in("b", &other);
    let workspaces: Vec<String> = bench.calls().into_iter().map(|call| call.workspace.into()).collect();
    assert_eq!(workspaces, [&first, &first, &first, &other].map(String::clone));
}

/// Returns a directory with these subdirectories, and its real path.
fn place(directories: &[&str]) -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().canonicalize().unwrap();
    directories.iter().for_each(|name| std::fs::create_dir_all(path.join(name)).unwrap());
    (dir, path.display().to_string())
}

#[test]
fn a_session_that_begins_nowhere_stays_there() {
    let bench = Bench::new(standard(), Mode::Enforce);
    let (_dir, path) = place(&["work"]);
    std::os::unix::fs::symlink("loop", format!("{path}/loop")).unwrap();
    bench.write_in("a", &format!("{path}/loop"));
    bench.write_in("a", &format!("{path}/work"));
    let bench = bench.restarted(standard());
    bench.write_in("a", &format!("{path}/work"));
    bench.write_in("b", &format!("{path}/work"));
    let workspaces: Vec<String> = bench.calls().into_iter().map(|call| call.workspace.into()).collect();
    assert_eq!(workspaces, ["", "", "", &format!("{path}/work")]);
}

#[test]
fn what_is_denied_stays_so_whatever_repository_it_is_in_by_now() {
    let bench = Bench::new(standard(), Mode::Enforce);
    let (_dir, path) = place(&["w/denied/below", "w/beside"]);
    bench.trust(&format!("{path}/w/denied"), Some(WorkspaceDecision::Denied));
    assert_eq!(bench.write_in("before", &format!("{path}/w/denied")), "deny");
    std::fs::create_dir(format!("{path}/w/.git")).unwrap();
    for session in ["before", "after"] {
        assert_eq!(bench.write_in(session, &format!("{path}/w/denied")), "deny", "{session}");
        assert_eq!(bench.write_in(session, &format!("{path}/w/denied/below")), "deny", "{session}");
    }
    assert_eq!(bench.write_in("beside", &format!("{path}/w/beside")), "defer");
    assert_eq!(bench.write_in("beside", &format!("{path}/w/denied")), "deny", "a session that goes there");
    // A directory that cannot be resolved.
    std::os::unix::fs::symlink("loop", format!("{path}/loop")).unwrap();
    assert_eq!(bench.write_in("lost", &format!("{path}/loop")), "deny");
    bench.trust(&format!("{path}/w/denied"), None);
    assert_eq!(bench.write_in("after", &format!("{path}/w/denied")), "defer");
}

#[test]
fn own_files_that_do_not_count_are_told_once_a_session() {
    let bench = Bench::new(standard(), Mode::Enforce);
    let (_dir, path) = place(&["plain", "w/.castellan"]);
    let (plain, own) = (format!("{path}/plain"), format!("{path}/w"));
    bench.write_in("plain", &plain);
    bench.prompt("plain");
    assert_eq!(bench.reported(), 0, "without files of its own nothing is to be decided");
    // The files are created in the middle of a session.
    std::fs::create_dir(format!("{plain}/.castellan")).unwrap();
    std::fs::write(format!("{plain}/.castellan/config.toml"), "version = 1\n").unwrap();
    bench.write_in("plain", &plain);
    assert_eq!(bench.reported(), 0);
    bench.prompt("plain");
    bench.prompt("plain");
    assert_eq!(bench.reported(), 1);

    let write = |text: &str| std::fs::write(format!("{own}/.castellan/config.toml"), text).unwrap();
    write("version = 1\n");
    bench.write_in("unknown", &own);
    bench.write_in("unknown", &own);
    assert_eq!(bench.reported(), 2);
    let hash = read_project(Path::new(&own)).unwrap().unwrap().hash();
    bench.trust(&own, Some(WorkspaceDecision::Trusted { project: Some(hash) }));
    bench.write_in("trusted", &own);
    assert_eq!(bench.reported(), 2, "they are those that count");
    bench.trust(&own, Some(WorkspaceDecision::Trusted { project: None }));
    bench.write_in("new", &own);
    assert_eq!(bench.reported(), 3, "there were none when it was trusted");
    std::fs::remove_dir_all(format!("{own}/.castellan")).unwrap();
    bench.write_in("same", &own);
    assert_eq!(bench.reported(), 3);
    std::fs::create_dir(format!("{own}/.castellan")).unwrap();
    write("version = 1\nmode = \"enforce\"\n");
    bench.prompt("same");
    assert_eq!(bench.reported(), 4);
    let reported = |record| if let Record::Session(of) = record { Some(of.message) } else { None };
    let mut messages = bench.records().into_iter().rev().filter_map(reported);
    let last = messages.find(|message| message.starts_with("trust_required"));
    let expected = format!("trust_required {own}: its own files are others than those that count");
    assert_eq!(last.as_deref(), Some(expected.as_str()));
}

const ENFORCE: &str = "version = 1\nmode = \"enforce\"\n";

/// Trusts a workspace with its own files while the user's mode is `monitor`. `works_there`: the session of the process
/// works there or elsewhere; `None`: the process is unknown. Checks whether a failure is denied.
fn check_unread(project: &str, works_there: Option<bool>, expected: bool) {
    let mut bench = Bench::new(standard(), Mode::Monitor);
    let (_dir, path) = place(&["there", "elsewhere"]);
    let layout = Layout::read(&bench.dir.path().join("home")).unwrap();
    layout.create().unwrap();
    let project = FileSet { config: project.to_owned(), rules: Vec::new() };
    keep_copy(&layout, &project).unwrap();
    let user =
        FileSet { config: "version = 1\nmode = \"monitor\"\n".to_owned(), rules: Vec::<Source>::new() };
    let set = Layers { organisation: None, user, project: None, trial: Trial::new() };
    let projects = Arc::new(Projects::below(&layout, Arc::new(set)));
    let below = Terms { projects, ..Terms::new(Arc::new(standard()), Mode::Monitor) };
    bench.judge.put(Mode::Monitor, below);
    bench.process = AgentProcess { pid: 7, started: 1 };
    let malformed = Request {
        agent: "claude".into(),
        event: "PreToolUse".into(),
        parent_pid: 7,
        cwd: b"/".to_vec(),
        payload: b"{".to_vec(),
    };
    let check = |bench: &Bench, expected: bool, what: &str| {
        assert_eq!(bench.answer(&malformed).exit == 2, expected, "{works_there:?} {what}: malformed");
        let refusal = bench.judge.mode_of_refusal(bench.process, AgentProcess::default());
        assert_eq!(refusal == Mode::Enforce, expected, "{works_there:?} {what}: turned away");
    };
    check(&bench, false, "nothing is trusted");
    let hash = Some(project.hash());
    bench.trust(&format!("{path}/there"), Some(WorkspaceDecision::Trusted { project: hash }));
    match works_there {
        Some(true) => drop(bench.write_in("a", &format!("{path}/there"))),
        Some(false) => drop(bench.write_in("a", &format!("{path}/elsewhere"))),
        None => {}
    }
    check(&bench, expected, "trusted");
    if works_there == Some(true) {
        // The program that embeds this agent runs below an agent that works elsewhere.
        let above = AgentProcess { pid: 9, started: 1 };
        let embedding = std::mem::replace(&mut bench.process, above);
        drop(bench.write_in("b", &format!("{path}/elsewhere")));
        let refusal = |peer| bench.judge.mode_of_refusal(above, peer) == Mode::Enforce;
        assert_eq!((refusal(AgentProcess::default()), refusal(embedding)), (false, expected));
    }
    let answers: Vec<String> = bench
        .records()
        .into_iter()
        .filter_map(
            |record| if let Record::Failure(failure) = record { Some(failure.answer.into()) } else { None },
        )
        .collect();
    assert_eq!(answers.last().is_some_and(|answer| answer == "deny"), expected, "{answers:?}");
}

#[test]
fn what_cannot_be_read_is_answered_as_the_workspace_of_its_process_says() {
    check_unread(ENFORCE, Some(true), true);
    check_unread(ENFORCE, Some(false), false);
    check_unread(ENFORCE, None, true);
    // The files of the possible workspace set no mode.
    let silent = "version = 1\nask = [\"Bash(rm:*)\"]\n";
    check_unread(silent, Some(true), false);
    check_unread(silent, None, false);
    // A session without tools has none.
    check_unread("version = 1\nprofile = \"observer\"\n", None, true);
}

#[test]
fn one_of_more_workspaces_than_are_looked_through_may_say_enforce() {
    let check = |trusted: usize, expected: Mode| {
        let bench = Bench::new(standard(), Mode::Monitor);
        for number in 0..trusted {
            let project = Some(format!("{number:064}"));
            bench.trust(&format!("/w{number}"), Some(WorkspaceDecision::Trusted { project }));
        }
        assert_eq!(
            bench.judge.mode_of_refusal(bench.process, AgentProcess::default()),
            expected,
            "{trusted}"
        );
    };
    check(crate::limits::PROJECTS_MAX, Mode::Monitor);
    check(crate::limits::PROJECTS_MAX + 1, Mode::Enforce);
}
