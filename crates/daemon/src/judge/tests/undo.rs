//! Checkpoints before calls, and what the daemon records about them.

use std::path::PathBuf;

use super::*;
use crate::judge::checkpoint::checkpoint_id;

/// A judge with a store of checkpoints, and a workspace with a file.
struct Place {
    bench: Bench,
    workspace: PathBuf,
}

/// This process: an agent whose environment can be read, so that places are known.
fn own_process() -> AgentProcess {
    let own = crate::process::Process::read(std::process::id()).unwrap();
    AgentProcess { pid: own.pid, started: own.started }
}

impl Place {
    fn new(config: &str) -> Place {
        Place::in_mode(config, Mode::Enforce)
    }

    fn in_mode(config: &str, mode: Mode) -> Place {
        let config = Config::parse(&format!("version = 1\nopaque = \"defer\"\n{config}")).unwrap();
        let sources = [Source { name: "test.yaml".into(), text: String::new() }];
        let compiled = compile(&sources, &config);
        assert_eq!(compiled.error(), None);
        let bench = Bench { process: own_process(), ..Bench::new(compiled.policy, mode) };
        let top = bench.dir.path().canonicalize().unwrap();
        assert_eq!(bench.judge.undo().open(&top.join("checkpoints")), Vec::<String>::new());
        let workspace = top.join("w");
        std::fs::create_dir_all(workspace.join(".git")).unwrap();
        std::fs::write(workspace.join("notes"), "first").unwrap();
        Place { bench, workspace }
    }

    /// Asks about a tool call in the workspace.
    fn ask(&self, session: &str, tool: &str, input: &Json) -> Json {
        let payload = json!({
            "session_id": session, "permission_mode": "default", "cwd": self.workspace, "hook_event_name": "PreToolUse",
            "tool_name": tool, "tool_input": input, "tool_use_id": "u",
        });
        let reply = self.bench.answer(&claude("PreToolUse", &payload));
        serde_json::from_slice(&reply.stdout).unwrap_or_default()
    }

    fn run(&self, command: &str) -> String {
        let output = self.ask("s", "Bash", &json!({ "command": command }));
        output["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or("defer").to_owned()
    }

    fn count(&self) -> usize {
        self.bench.judge.undo().store().unwrap().usage().count
    }

    fn last(&self) -> CallRecord {
        self.bench.calls().pop().unwrap()
    }
}

#[test]
fn only_a_call_that_changes_files_of_the_workspace_gets_a_checkpoint() {
    let place = Place::new("");
    let outside = tempfile::tempdir().unwrap();
    let elsewhere = format!("echo x > {}/x", outside.path().canonicalize().unwrap().display());
    for (command, expected) in [
        ("cat notes", 0),
        ("ls -la", 0),
        (elsewhere.as_str(), 0),
        ("echo x > notes", 1),
        ("rm notes", 1),
        ("sed -i s/a/b/ notes", 1),
        ("mv notes others", 1),
        ("truncate -s 0 notes", 1),
        ("chmod 600 notes", 1),
        ("ln -sf notes link", 1),
        ("git checkout -- .", 1),
        ("git clean -fdx", 1),
        ("git reset --hard", 1),
        ("rm *", 1),
    ] {
        let before = place.count();
        place.run(command);
        assert_eq!(place.count() - before, expected, "{command}");
        let record = place.last();
        let is_recorded = record.obligations.iter().any(|one| *one.kind == *"checkpoint");
        assert_eq!(is_recorded, expected == 1, "{command}: {record:?}");
    }
}

#[test]
fn a_checkpoint_before_an_edit_puts_the_file_back() {
    let place = Place::new("");
    let notes = place.workspace.join("notes");
    place.ask("s", "Write", &json!({ "file_path": notes, "content": "second" }));
    let id = checkpoint_id(place.last().correlation_id);
    std::fs::write(&notes, "second").unwrap();
    let store = place.bench.judge.undo().store().unwrap();
    store.restore(&id, None).unwrap();
    assert_eq!(std::fs::read_to_string(&notes).unwrap(), "first");
}

#[test]
fn a_denied_call_and_a_monitored_one_get_none() {
    let place = Place::new("deny = [\"Bash(rm:*)\"]\n");
    assert_eq!((place.run("rm notes").as_str(), place.count()), ("deny", 0));
    let monitored = Place::in_mode("", Mode::Monitor);
    monitored.run("rm notes");
    assert_eq!(monitored.count(), 0);
}

#[test]
fn a_failure_is_recorded_and_asks_only_if_checkpoints_are_required() {
    for (config, expected) in
        [("", "defer"), ("[undo]\nrequired = true\n", "ask"), ("[undo]\nmode = \"off\"\n", "defer")]
    {
        let place = Place::new(config);
        // Nothing can be written where a file is in the place of the contents.
        let contents = place.bench.dir.path().join("checkpoints/contents");
        std::fs::remove_dir_all(&contents).unwrap();
        std::fs::write(&contents, "x").unwrap();
        let is_off = config.contains("off");
        assert_eq!(place.run("rm notes"), expected, "{config}");
        let record = place.last();
        let is_told = record.findings.iter().any(|finding| *finding.code == *"unmet");
        assert_eq!(is_told, !is_off, "{config}: {record:?}");
        let status = place.bench.judge.undo().status(castellan_policy::UndoSettings::DEFAULT);
        assert_eq!(status.failures, u64::from(!is_off), "{config}");
        assert_eq!(status.last_failure.is_empty(), is_off);
    }
}

#[test]
fn castellans_own_files_never_get_into_a_checkpoint() {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path().canonicalize().unwrap();
    let (memory, _) = Memory::open(top.join("journal"), true, 1).unwrap();
    let log = Log::open(&top.join("log"), LogConfig::default(), SystemTime::now()).unwrap();
    let own = vec![top.join("w/castellan").display().to_string()];
    let terms = Terms::new(Arc::new(policy(&[])), Mode::Enforce);
    let judge = Judge::new(terms, log, own, memory, Plans::new(&top), Arc::default());
    judge.undo().open(&top.join("checkpoints"));
    let workspace = top.join("w");
    std::fs::create_dir_all(workspace.join(".git")).unwrap();
    std::fs::create_dir(workspace.join("castellan")).unwrap();
    let place = Place { bench: Bench { judge, process: own_process(), dir }, workspace };
    place.run("rm -r src");
    assert_eq!(place.count(), 0);
    assert_eq!(place.bench.judge.undo().status(castellan_policy::UndoSettings::DEFAULT).failures, 1);
}

/// `cargo test` names no file that it runs, and it loads what a contained call writes beside it.
#[test]
fn a_call_that_loads_the_project_keeps_contained_ones_from_starting() {
    use crate::containment::{Before, ContainedPolicy, Containment, Refused, Ticket};
    let place = Place::new("");
    std::fs::write(place.workspace.join("Cargo.toml"), "[package]\nname = \"a\"\n").unwrap();
    let (judge, workspace) = (&place.bench.judge, place.workspace.to_str().unwrap());
    let layout = crate::layout::Layout::read(&place.bench.dir.path().join("home")).unwrap();
    judge.contain_with(Containment::new(layout));
    let redeem = || {
        let policy = ContainedPolicy {
            hosts: Vec::new(),
            environment: Vec::new(),
            homes: Vec::new(),
            tools: Vec::new(),
        };
        let ticket = Ticket {
            command: "make".to_owned(),
            workspace: workspace.to_owned(),
            policy,
            call: 7,
            agent: own_process(),
            before: Arc::new(Before::default()),
        };
        let made = judge.containment.get().unwrap().tickets().make(ticket, crate::clock::boot_ms());
        judge.redeem(made.unwrap(), own_process())
    };
    assert!(!matches!(redeem(), Ok(Err(_))));
    assert!(!judge.memory().runs_code_in(workspace, 7));
    assert_eq!(place.run("sleep 9; cargo test"), "defer");
    assert!(judge.memory().runs_code_in(workspace, 7));
    assert!(matches!(redeem(), Ok(Err(Refused::Beside))));
}

/// A checkpoint leaves installed packages out, so an undo puts none back: a package that nobody has read stays one.
#[test]
fn an_undo_settles_only_what_it_put_back() {
    use castellan_checkpoint::Scope;
    let place = Place::new("");
    let (judge, workspace) = (&place.bench.judge, place.workspace.to_str().unwrap());
    let path = |name: &str| format!("{workspace}/{name}");
    std::fs::create_dir_all(place.workspace.join("node_modules/a")).unwrap();
    for name in ["package.json", "node_modules/a/index.js", "node_modules/a/other.js"] {
        std::fs::write(path(name), "1").unwrap();
    }
    let (store, id) = (judge.undo().store().unwrap(), checkpoint_id(7));
    let undo = |written: Option<&[&str]>| {
        store.take(&id, "o", &place.workspace, Scope::Workspace).unwrap();
        judge.memory().begin_contained(7, workspace, AgentProcess::default()).unwrap();
        if let Some(written) = written {
            for name in written {
                std::fs::write(path(name), "2").unwrap();
            }
            let written = written.iter().map(|name| path(name)).collect();
            judge.memory().end_contained(7, workspace, written).unwrap();
        }
        let restored = store.restore(&id, None).unwrap();
        judge.settle_but(&id, &restored.unknown);
        store.remove(&id);
        ["notes", "new", "node_modules/a/index.js", "node_modules/a/other.js"]
            .map(|name| judge.memory().has_any_written(&path(name)))
    };
    assert_eq!(undo(Some(&["notes", "new"])), [false; 4]);
    assert_eq!(undo(Some(&["notes", "new", "node_modules/a/index.js"])), [false, false, true, false]);
    // The daemon ended meanwhile: each package may be written.
    assert_eq!(undo(None), [false, false, true, true]);
}
