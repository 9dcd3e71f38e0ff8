//! `castellan halt`: every further call is denied at once, under load, in each mode and after a restart, until a person
//! ends it. With `--kill` the agents' processes end, too.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use castellan_tests::control;
use castellan_tests::home::Home;
use castellan_tests::hook::{
    self, ENFORCE, HOOK_LIMIT, MONITOR, RULES, ask_again, bash, call, judge, understood,
};
use castellan_tests::process::Running;
use castellan_tests::terminal;
use castellan_tests::wait::{self, until};
use rustix::process::{Pid, test_kill_process};
use serde_json::{Value as Json, json};

use super::{LIMIT, kill, status};

/// A halt may take this long, also under load.
const HALT_TIME: Duration = Duration::from_millis(200);

fn home(name: &str, config: &str) -> anyhow::Result<Home> {
    let home = Home::with_castellan(name, config, RULES)?;
    home.start_daemon()?;
    Ok(home)
}

fn answer(home: &Home, command: &str) -> anyhow::Result<String> {
    Ok(understood(&judge(home, &bash(command))?))
}

fn in_session(session: &str, command: &str) -> Json {
    let mut call = bash(command);
    call["session_id"] = session.into();
    call
}

/// Asks as another agent, whose payloads have the same form.
fn as_agent(home: &Home, agent: &str, call: &Json) -> anyhow::Result<String> {
    let event = if agent == "gemini" { "BeforeTool" } else { "PreToolUse" };
    Ok(understood(&hook::run(home, agent, event, call.to_string().as_bytes())?))
}

/// Checks that nothing passes, whatever the mode.
fn check_halted(home: &Home) -> anyhow::Result<()> {
    for call in [bash("ls"), bash("doubtful"), call("Read", &json!({ "file_path": "/w/permitted" }))] {
        let done = judge(home, &call)?;
        assert_eq!(understood(&done), "deny", "{call}: {done:?}");
        let said = "castellan halt is in force; a person ends it with castellan resume";
        assert!(done.stdout.contains(said), "{done:?}");
        assert_eq!(understood(&ask_again(home, "claude", &call)?), "deny", "{call}");
    }
    for payload in ["", "{", "[]", "{\"tool_name\":7}"] {
        let done = hook::run(home, "claude", "PreToolUse", payload.as_bytes())?;
        assert_eq!(understood(&done), "deny", "{payload:?}: {done:?}");
    }
    Ok(())
}

#[test]
fn a_halt_holds_in_each_mode_and_over_restarts_until_a_person_ends_it() -> anyhow::Result<()> {
    let passthrough = "version = 1\nmode = \"passthrough\"\n";
    for (number, config) in [ENFORCE, MONITOR, passthrough].into_iter().enumerate() {
        let home = home(&format!("halt-{number}"), config)?;
        assert_eq!(answer(&home, "ls")?, "defer");
        let done = home.run_castellan(&["halt"])?;
        assert!(done.stdout.contains("every call of all agents is denied"), "{done:?}");
        check_halted(&home)?;
        kill(home.start_daemon()?)?;
        check_halted(&home)?;
        assert_eq!(status(&home)["halts"][0]["of"], "all agents");
        assert!(home.run_castellan(&["status"])?.stdout.contains("every call of all agents is denied"));
        // A program is no person.
        let refused = home.run_castellan(&["resume"]).unwrap_err();
        assert!(refused.to_string().contains("this needs a person"), "{refused}");
        check_halted(&home)?;
        let resumed = terminal::run_castellan(&home, &["resume"])?;
        assert_eq!(resumed.code, Some(0), "{resumed:?}");
        assert_eq!(answer(&home, "ls")?, "defer");
        assert_eq!(status(&home)["halts"], json!([]));
        let records = home.records()?;
        let said = |action: &str, accepted: bool| {
            records.iter().any(|record| {
                let control = &record["control"];
                control["action"] == action && control["accepted"] == accepted
            })
        };
        assert!(said("halt", true) && said("resume", false) && said("resume", true), "{records:?}");
        let denied = |record: &&Json| record["call"]["findings"][0]["code"] == "halted";
        assert!(records.iter().filter(denied).count() >= 6, "{records:?}");
    }
    Ok(())
}

#[test]
fn a_halt_is_of_one_agent_or_one_session() -> anyhow::Result<()> {
    let home = home("halt-some", ENFORCE)?;
    let ask = |session: &str| as_agent(&home, "claude", &in_session(session, "ls"));
    assert_eq!((ask("one")?, ask("two")?), ("defer".to_owned(), "defer".to_owned()));
    assert!(home.run_castellan(&["halt", "--session", "three"]).is_err(), "no such session");
    home.run_castellan(&["halt", "--session", "one"])?;
    assert_eq!((ask("one")?, ask("two")?), ("deny".to_owned(), "defer".to_owned()));
    home.run_castellan(&["halt", "--agent", "codex"])?;
    assert_eq!(as_agent(&home, "codex", &in_session("three", "ls"))?, "deny");
    assert_eq!((ask("one")?, ask("two")?), ("deny".to_owned(), "defer".to_owned()));
    let resumed = terminal::run_castellan(&home, &["resume", "--session", "one"])?;
    assert_eq!(resumed.code, Some(0), "{resumed:?}");
    assert_eq!(ask("one")?, "defer");
    assert_eq!(as_agent(&home, "codex", &in_session("three", "ls"))?, "deny");
    // Without an option, every halt ends.
    assert_eq!(terminal::run_castellan(&home, &["resume"])?.code, Some(0));
    assert_eq!(as_agent(&home, "codex", &in_session("three", "ls"))?, "defer");
    assert_eq!(terminal::run_castellan(&home, &["resume"])?.code, Some(7), "nothing is halted");
    Ok(())
}

/// Without its state on disk, the daemon still knows from the log that a person has halted the agents.
#[test]
fn a_lost_state_ends_no_halt() -> anyhow::Result<()> {
    let home = home("halt-lost", ENFORCE)?;
    let lose = || -> anyhow::Result<()> {
        kill(home.start_daemon()?)?;
        Ok(fs::remove_file(home.castellan().join("state/journal"))?)
    };
    lose()?;
    assert_eq!(answer(&home, "ls")?, "defer");
    home.run_castellan(&["halt", "--agent", "claude"])?;
    lose()?;
    check_halted(&home)?;
    assert_eq!(status(&home)["halts"][0]["of"], "all agents");
    assert_eq!(terminal::run_castellan(&home, &["resume"])?.code, Some(0));
    lose()?;
    assert_eq!(answer(&home, "ls")?, "defer");
    Ok(())
}

#[test]
fn a_halt_starts_the_daemon_that_it_needs() -> anyhow::Result<()> {
    let home = Home::with_castellan("halt-start", ENFORCE, RULES)?;
    home.run_castellan(&["halt"])?;
    check_halted(&home)
}

#[test]
fn a_call_that_waits_for_a_person_is_denied() -> anyhow::Result<()> {
    let home = home("halt-held", "version = 1\nask_wait = 300\n")?;
    let call = bash("doubtful");
    let mut command = hook::command(&home, "claude", "PreToolUse");
    let waiting = Running::start_with_input(&mut command, call.to_string().as_bytes())?;
    let pending = until(LIMIT, || Ok((status(&home)["waiting"] == 1).then_some(())))?;
    pending.context("the call does not wait")?;
    home.run_castellan(&["halt"])?;
    let done = waiting.finish(HOOK_LIMIT)?;
    assert_eq!(understood(&done), "deny", "{done:?}");
    assert!(done.took < HOOK_LIMIT, "{done:?}");
    Ok(())
}

/// A call of a thread: begin and end, and the answer.
type Asked = (Instant, Instant, String);

/// Many hooks ask at once while the agents are halted. Calls that begin after the halt are denied, and so are earlier
/// calls that get their answers later.
#[test]
fn nothing_is_allowed_after_a_halt_under_load() -> anyhow::Result<()> {
    const CLIENTS: usize = 32;
    let home = home("halt-load", MONITOR)?;
    let (is_over, answered) = (AtomicBool::new(false), AtomicUsize::new(0));
    let client = || -> anyhow::Result<Vec<Asked>> {
        let mut asked = Vec::new();
        while !is_over.load(Ordering::SeqCst) {
            let begun = Instant::now();
            let word = answer(&home, "ls")?;
            answered.fetch_add(1, Ordering::SeqCst);
            asked.push((begun, Instant::now(), word));
        }
        Ok(asked)
    };
    let (halted, asked) = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(client)).collect();
        let wait_for = |count: usize| {
            until(LIMIT, || Ok((answered.load(Ordering::SeqCst) >= count).then_some(())))?.context("no load")
        };
        let halted = wait_for(2 * CLIENTS).and_then(|()| {
            let begun = Instant::now();
            let response = control::ask(&home, &json!({ "halt": { "of": "all", "kill": false } }))?;
            let halted = Instant::now();
            ensure!(response["halted"].is_object(), "{response}");
            wait_for(answered.load(Ordering::SeqCst) + 4 * CLIENTS)?;
            Ok((begun, halted))
        });
        is_over.store(true, Ordering::SeqCst);
        (halted, clients.into_iter().map(|client| client.join().unwrap()).collect::<Result<Vec<_>, _>>())
    });
    let ((begun, halted), asked) = (halted?, asked?.concat());
    // The machine runs other tests, so a call under the same load is the measure.
    let mut took: Vec<_> = asked.iter().map(|(begun, ended, _)| *ended - *begun).collect();
    took.sort_unstable();
    let usual = took.get(took.len() / 2).copied().unwrap_or_default();
    assert!(halted - begun <= usual.max(HALT_TIME), "the halt took {:?}, a call {usual:?}", halted - begun);
    let (after, before): (Vec<_>, Vec<_>) = asked.iter().partition(|(begun, ..)| *begun >= halted);
    assert!(after.len() >= CLIENTS && before.iter().any(|(.., word)| word == "defer"), "no load: {asked:?}");
    assert!(after.iter().all(|(.., word)| word == "deny"), "{after:?}");
    println!("halted in {:?} with {} calls in flight", halted - begun, CLIENTS);
    Ok(())
}

/// A program that plays an agent: it asks about a call, and then does `more` in a shell.
fn agent(home: &Home, name: &str, more: &str) -> anyhow::Result<Running> {
    let payload = home.workspace().join(format!("{name}.json"));
    fs::write(&payload, in_session(name, "ls").to_string())?;
    let hook = home.bin().join("castellan-hook");
    let script = format!(
        "{} --agent {name} --event PreToolUse --home {} < {} > /dev/null; {more}",
        hook.display(),
        home.castellan().display(),
        payload.display(),
    );
    Running::start(home.command(Path::new("timeout")).args(["600", "sh", "-c", &script]))
}

/// Reads the process ids that a script has written to a file, one a line.
fn pids(file: &Path, count: usize) -> anyhow::Result<Vec<Pid>> {
    let read = || {
        let text = fs::read_to_string(file).unwrap_or_default();
        let pids: Vec<Pid> = text.lines().filter_map(|line| Pid::from_raw(line.parse().ok()?)).collect();
        Ok((pids.len() == count).then_some(pids))
    };
    until(LIMIT, read)?.with_context(|| format!("not {count} processes: `{}`", file.display()))
}

#[test]
fn a_halt_ends_the_processes_of_its_agents_alone() -> anyhow::Result<()> {
    let home = home("halt-kill", ENFORCE)?;
    let daemon = home.start_daemon()?;
    let files = ["claude", "codex"].map(|name| home.workspace().join(format!("{name}.pids")));
    let [file, other] = &files;
    // One process has a session of its own, and one ignores the request to end.
    let more = format!(
        "echo $$ > {0}; sleep 600 & echo $! >> {0}; setsid sleep 600 & echo $! >> {0}; trap '' TERM; sleep 600 & echo \
         $! >> {0}; wait",
        file.display()
    );
    let _claude = agent(&home, "claude", &more)?;
    let _codex = agent(&home, "codex", &format!("echo $$ > {}; sleep 600; echo", other.display()))?;
    let (ours, theirs) = (pids(file, 4)?, pids(other, 1)?);
    let done = home.run_castellan(&["halt", "--agent", "claude", "--kill"])?;
    for pid in ours {
        assert!(done.stdout.contains(&format!("process {} (", pid.as_raw_nonzero())), "{pid:?}: {done:?}");
        assert!(wait::ended(pid, LIMIT)?, "{pid:?} lives on: {done:?}");
    }
    assert!(done.stdout.contains("killed: process"), "{done:?}");
    assert!(theirs.iter().all(|pid| test_kill_process(*pid).is_ok()), "the other agent has ended: {done:?}");
    assert_eq!(as_agent(&home, "codex", &in_session("codex", "ls"))?, "defer");
    assert_eq!(as_agent(&home, "claude", &in_session("claude", "ls"))?, "deny");
    assert_eq!(home.start_daemon()?, daemon, "the daemon runs on");
    let records = home.records()?;
    let is_recorded = |record: &Json| {
        let argument = record["control"]["argument"].as_str().unwrap_or_default();
        record["control"]["action"] == "halt_kill" && argument.contains("sleep")
    };
    assert!(records.iter().any(is_recorded), "{records:?}");
    Ok(())
}

/// An agent that could halt the user's other agents would stop their work.
#[test]
fn an_agent_halts_nothing_and_ends_no_halt() -> anyhow::Result<()> {
    let home = home("halt-agent", ENFORCE)?;
    let castellan = home.bin().join("castellan");
    let own = |subcommand: &str| {
        format!("{} --home {} {subcommand}", castellan.display(), home.castellan().display())
    };
    let code = home.workspace().join("code");
    for subcommand in ["halt", "halt --agent codex --kill", "resume"] {
        assert_eq!(answer(&home, &own(subcommand))?, "deny", "{subcommand}");
        // A program of the agent that no call names.
        let more = format!("{}; echo $? > {}", own(subcommand), code.display());
        let done = agent(&home, "claude", &more)?.finish(LIMIT)?;
        assert_eq!(fs::read_to_string(&code)?.trim(), "4", "{subcommand}: {done:?}");
        assert!(done.stderr.contains("guarded agent") || done.stderr.contains("person"), "{done:?}");
    }
    assert_eq!(answer(&home, "ls")?, "defer");
    Ok(())
}

/// Silent connections and slow requests keep no halt out.
#[test]
fn a_full_control_socket_keeps_no_halt_out() -> anyhow::Result<()> {
    let home = home("halt-full", ENFORCE)?;
    let _silent: Vec<_> = (0..200).map(|_| control::begin(&home)).collect::<Result<_, _>>()?;
    let begun = Instant::now();
    let response = control::ask(&home, &json!({ "halt": { "of": "all", "kill": false } }))?;
    assert!(response["halted"].is_object(), "{response}");
    assert!(begun.elapsed() <= HALT_TIME, "{:?}", begun.elapsed());
    check_halted(&home)
}
