//! Calls of an embedded agent that castellan guards: each answer of the daemon, each failure, and consent.

use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context, Result};
use castellan_tests::home::Home;
use castellan_tests::hook::{ENFORCE, FakeDaemon, RULES};
use castellan_tests::model::{Api, Block, Model, Script};
use castellan_tests::process::{Running, processes_of, stop_process};
use castellan_tests::run::AGENT_LIMIT;
use castellan_tests::sdk::{Events, Query, Sdk};
use castellan_tests::terminal;
use castellan_tests::wait::until;
use castellan_wire::{Hold, Kind, Reply, write_frame};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value as Json, json};

use super::ready;

/// A call of a guarded agent, and what becomes of it.
struct Case {
    mode: &'static str,
    person: Option<&'static str>,
    /// Makes the file that it names at its end.
    call: (&'static str, &'static str),
    runs: bool,
    /// A part of the result that the model reads.
    told: &'static str,
    /// The questions to the person.
    asked: &'static [&'static str],
    /// The recorded answers.
    answers: &'static [&'static str],
}

const DENIED: Case = Case {
    mode: "default",
    person: None,
    call: ("Bash", "touch forbidden"),
    runs: false,
    told: "the test denies",
    asked: &[],
    answers: &["deny"],
};
const ASKED: Case =
    Case { call: ("Bash", "touch doubtful"), told: "tell the user: request", answers: &["ask"], ..DENIED };
const ALLOWED: Case =
    Case { call: ("Write", "permitted"), runs: true, told: "", answers: &["allow"], ..DENIED };
const DEFERRED: Case =
    Case { call: ("Bash", "touch plain"), told: "nobody can answer", answers: &["defer"], ..DENIED };

const CASES: &[Case] = &[
    DENIED,
    Case { mode: "bypassPermissions", ..DENIED },
    Case { person: Some("yes"), ..DENIED },
    ALLOWED,
    Case { mode: "dontAsk", ..ALLOWED },
    ASKED,
    // The SDK asks nobody in this mode.
    Case { mode: "dontAsk", told: "", ..ASKED },
    // castellan has not measured that this mode holds an ask here.
    Case { mode: "bypassPermissions", answers: &["deny"], ..ASKED },
    Case { person: Some("yes"), runs: true, told: "", asked: &["ask"], ..ASKED },
    Case { person: Some("no"), told: "the person refuses", asked: &["ask"], ..ASKED },
    DEFERRED,
    Case { person: Some("yes"), runs: true, told: "", asked: &["defer"], ..DEFERRED },
    Case { mode: "bypassPermissions", runs: true, told: "", ..DEFERRED },
];

fn block(home: &Home, (tool, text): (&str, &str)) -> Block {
    match tool {
        "Write" => Block::call(tool, json!({"file_path": home.workspace().join(text), "content": "x"})),
        _ => Block::call(tool, json!({"command": text, "description": "a test"})),
    }
}

fn file(text: &str) -> &str {
    text.rsplit(' ').next().unwrap_or_default()
}

/// A model that makes one call.
fn model(home: &Home, call: (&str, &str)) -> Result<Model> {
    Ok(Model::start(Api::Anthropic, vec![Script::main([vec![block(home, call)]])])?)
}

/// Returns the recorded calls.
fn calls(home: &Home) -> Result<Vec<Json>> {
    Ok(home.records()?.into_iter().filter_map(|mut record| Some(record.get_mut("call")?.take())).collect())
}

/// Runs a call and checks that it does not run, for this reason.
fn check_denied(sdk: Sdk, home: &Home, query: &Query<'_>, told: &str) -> Result<()> {
    let model = model(home, ("Bash", "touch plain"))?;
    query.run(sdk, home, &model)?;
    expect_denied(sdk, home, &model, "0-0-0", told);
    Ok(())
}

fn expect_denied(sdk: Sdk, home: &Home, model: &Model, call: &str, told: &str) {
    let heard = model.result_of(call).unwrap_or_default();
    assert!(heard.contains(told), "{sdk}: `{told}` is not in `{heard}`");
    assert!(!home.workspace().join("plain").exists(), "{sdk}: the call has run ({told})");
}

#[test]
fn each_answer_of_the_daemon_holds() -> Result<()> {
    for sdk in ready()? {
        for (number, case) in CASES.iter().enumerate() {
            let home = Home::with_castellan("sdk", ENFORCE, RULES)?;
            // A repository's switch for hooks does not reach the hooks of a program.
            let switch = home.workspace().join(".claude/settings.json");
            home.write(
                &switch,
                r#"{"disableAllHooks":true,"permissions":{"allow":["Bash(touch forbidden)"]}}"#,
            )?;
            home.start_daemon()?;
            let model = model(&home, case.call)?;
            let query = Query { mode: case.mode, person: case.person, ..Query::guarded(&home) };
            let events = query.run(sdk, &home, &model)?;
            let heard = model.result_of("0-0-0").unwrap_or_default();
            let what = format!("{sdk}, case {number}: {heard}");
            assert_eq!(home.workspace().join(file(case.call.1)).exists(), case.runs, "{what}");
            assert!(heard.contains(case.told), "{what}");
            assert_eq!(events.all("person"), case.asked, "{what}");
            let answers: Vec<Json> = calls(&home)?.iter().map(|call| call["answer"].clone()).collect();
            assert_eq!(answers, case.answers, "one call is one record: {what}");
        }
    }
    Ok(())
}

/// Modes that skip prompts show most clearly that a failure denies.
fn unattended(home: &Home) -> Query<'static> {
    Query { mode: "bypassPermissions", ..Query::guarded(home) }
}

#[test]
fn a_missing_daemon_is_started_or_the_call_is_denied() -> Result<()> {
    for sdk in ready()? {
        let home = Home::with_castellan("sdk", ENFORCE, RULES)?;
        let stopped = home.castellan().join("run/stopped");
        home.write(&stopped, "")?;
        check_denied(sdk, &home, &unattended(&home), "castellan start")?;
        std::fs::remove_file(stopped)?;
        let alone = Query { castellan: "/nonexistent".into(), ..unattended(&home) };
        check_denied(sdk, &home, &alone, "could not be started")?;
        let broken = Query { castellan: "/bin/false".into(), ..unattended(&home) };
        check_denied(sdk, &home, &broken, "could not be started")?;
        let model = model(&home, ("Bash", "touch plain"))?;
        unattended(&home).run(sdk, &home, &model)?;
        assert!(home.workspace().join("plain").exists(), "{sdk}: {:?}", model.heard().results);
        let log = home.run_castellan(&["log", "--json"])?.stdout;
        assert!(log.contains("not_started") && log.contains("stopped"), "{sdk}: the gaps are not recorded");
    }
    Ok(())
}

#[test]
fn a_daemon_that_fails_denies() -> Result<()> {
    for sdk in ready()? {
        for (told, answer) in [
            ("broke off", &b""[..]),
            ("understand", b"HTTP/1.1 200 OK\r\n\r\n"),
            ("understand", &frame(Kind::Reply, &Reply { exit: 1, ..Reply::default() }.encode())),
            ("understand", &frame(Kind::Reply, b"\0\xff\xff\xff\xff")),
            ("in time", &frame(Kind::Hold, &Hold { ms: 50 }.encode())),
        ] {
            let home = Home::with_castellan("sdk", ENFORCE, RULES)?;
            let daemon = FakeDaemon::listen(&home)?;
            let model = model(&home, ("Bash", "touch plain"))?;
            let running = unattended(&home).start(sdk, &home, &model)?;
            // Prompt, then the question; then the daemon is gone.
            daemon.serve(drop_it)?;
            let mut kept = None;
            daemon.serve(|stream| {
                drop(std::io::Write::write_all(stream, answer));
                kept = stream.try_clone().ok().filter(|_| told == "in time");
            })?;
            drop(daemon);
            std::fs::remove_file(home.castellan().join("run/hook.sock"))?;
            Events::of(running.finish(AGENT_LIMIT)?)?;
            expect_denied(sdk, &home, &model, "0-0-0", told);
            drop(kept);
        }
    }
    Ok(())
}

fn drop_it(_: &mut std::os::unix::net::UnixStream) {}

fn frame(kind: Kind, body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_frame(&mut bytes, kind, body).expect("a vector takes every byte");
    bytes
}

/// Starts an agent in a mode without prompts. Stops the daemon before the agent's second call, and returns when the hook
/// waits for the answer.
fn at_hanging_daemon(sdk: Sdk, home: &Home) -> Result<(Model, Running, Pid)> {
    let daemon = home.start_daemon()?;
    let turns = ["true", "touch plain"].map(|call| vec![block(home, ("Bash", call))]);
    let (stopped, is_stopped) = mpsc::channel();
    // The agent has reported its first call by then.
    let script = Script::main(turns).before(1, move || drop(stopped.send(stop_process(daemon))));
    let model = Model::start(Api::Anthropic, vec![script])?;
    let running = unattended(home).start(sdk, home, &model)?;
    is_stopped.recv_timeout(AGENT_LIMIT)??;
    home.wait_for_waiting_hook(AGENT_LIMIT)?;
    Ok((model, running, daemon))
}

#[test]
fn a_daemon_that_hangs_or_is_killed_denies() -> Result<()> {
    for sdk in ready()? {
        for (is_killed, told) in [(false, "in time"), (true, "broke off")] {
            let home = Home::with_castellan("sdk", ENFORCE, RULES)?;
            let (model, running, daemon) = at_hanging_daemon(sdk, &home)?;
            if is_killed {
                kill_process(daemon, Signal::KILL)?;
            }
            let done = running.finish(AGENT_LIMIT)?;
            assert!(is_killed || done.took >= Duration::from_secs(10), "{done:?}");
            Events::of(done)?;
            expect_denied(sdk, &home, &model, "0-1-0", told);
        }
    }
    Ok(())
}

#[test]
fn a_call_does_not_run_after_its_program_is_killed() -> Result<()> {
    for sdk in ready()? {
        let home = Home::with_castellan("sdk", ENFORCE, RULES)?;
        let (_model, running, _) = at_hanging_daemon(sdk, &home)?;
        kill_process(running.pid(), Signal::KILL)?;
        // The agent, which the program has started in the workspace, ends by itself.
        let has_ended = || Ok(processes_of(&home.workspace()).is_empty().then_some(()));
        until(AGENT_LIMIT, has_ended)?.context("the agent runs on")?;
        assert!(!home.workspace().join("plain").exists(), "{sdk}");
    }
    Ok(())
}

#[test]
fn a_call_waits_for_consent_and_runs_with_it() -> Result<()> {
    for sdk in ready()? {
        let home = Home::with_castellan("sdk", "version = 1\nask_wait = 300\n", RULES)?;
        home.start_daemon()?;
        let model = model(&home, ("Bash", "touch doubtful"))?;
        let running = Query::guarded(&home).start(sdk, &home, &model)?;
        let look = || {
            let shown: Json = serde_json::from_str(&home.run_castellan(&["pending", "--json"])?.stdout)?;
            Ok(shown.pointer("/pending/0/id").and_then(Json::as_str).map(str::to_owned))
        };
        let id = until(AGENT_LIMIT, look)?.context("no call waits")?;
        // The parent of the program is this test. castellan does not take it for an agent, so a person can approve here.
        let approved = terminal::run_castellan(&home, &["approve", &id, "--yes"])?;
        assert_eq!(approved.code, Some(0), "{approved:?}");
        Events::of(running.finish(AGENT_LIMIT)?)?;
        assert!(home.workspace().join("doubtful").exists(), "{sdk}: {:?}", model.heard().results);
        let answers: Vec<Json> = calls(&home)?.iter().map(|call| call["answer"].clone()).collect();
        assert_eq!(answers, ["hold", "allow"], "{sdk}");
    }
    Ok(())
}
