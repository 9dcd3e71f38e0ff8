//! Bad input of each kind: in enforce mode castellan denies and records every call.

use std::io::Write;
use std::net::Shutdown;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;

use castellan_agents::{AgentId, encode_failure};
use castellan_tests::home::Home;
use castellan_tests::hook::{self, ENFORCE, FakeDaemon, MONITOR, RULES, bash, call, judge, understood};
use castellan_tests::process::Running;
use castellan_wire::{Kind, REPLY_BYTES_MAX, Reply, VERSION, connect, read_frame, write_frame};
use serde_json::{Value as Json, json};

fn payloads() -> Vec<(&'static str, Vec<u8>)> {
    let good = bash("echo hi").to_string();
    let text = |name, text: String| (name, text.into_bytes());
    let pad = |total: usize| {
        let empty = bash("").to_string().len();
        bash(&" ".repeat(total - empty)).to_string()
    };
    vec![
        text("empty", String::new()),
        text("blank", "\n".into()),
        text("not JSON", "hello".into()),
        text("cut JSON", good.trim_end_matches('}').to_owned()),
        text("trailing text", format!("{good} x")),
        text("an array", "[]".into()),
        text("null", "null".into()),
        text("an empty object", "{}".into()),
        text("a command that is a list", call("Bash", &json!({"command": ["rm", "-rf"]})).to_string()),
        text("a command that is missing", call("Bash", &json!({})).to_string()),
        text("an input that is text", call("Bash", &json!("ls")).to_string()),
        text("a path that is a number", call("Write", &json!({"file_path": 7, "content": ""})).to_string()),
        text("a tool that is a number", good.replace("\"Bash\"", "7")),
        text("a NUL in the command", bash("echo \0").to_string()),
        text("a lone surrogate", good.replace("echo hi", "echo \\ud800")),
        ("bad UTF-8", good.replace("hi", "\u{1}").bytes().map(|b| if b == 1 { 0xff } else { b }).collect()),
        text("a duplicate key", good.replace("\"session_id\"", "\"tool_name\":\"Read\",\"session_id\"")),
        text("a duplicate key inside", good.replace("\"command\"", "\"command\":\"ls\",\"command\"")),
        text("another event", good.replace("PreToolUse", "PostToolUse")),
        text(
            "a session id of no agent",
            good.replace("\"session_id\":\"", &format!("\"session_id\":\"{}", "x".repeat(600))),
        ),
        text("one byte over the limit", pad(castellan_wire::PAYLOAD_BYTES_MAX + 1)),
        text(
            "nested too deeply",
            call("X", &json!({"a": "N"})).to_string().replace("\"N\"", &nested(100_000)),
        ),
    ]
}

fn nested(depth: usize) -> String {
    format!("{}{}", "[".repeat(depth), "]".repeat(depth))
}

#[test]
fn no_malformed_payload_goes_through() -> anyhow::Result<()> {
    let home = Home::with_castellan("malformed", ENFORCE, RULES)?;
    let payloads = payloads();
    for (name, payload) in &payloads {
        let done = hook::run(&home, "claude", "PreToolUse", payload)?;
        assert_eq!(understood(&done), "deny", "{name}: {done:?}");
        // Codex has no tool of that name. castellan does not read the input of an unknown tool.
        let expected = if *name == "a path that is a number" { "defer" } else { "deny" };
        let codex = hook::run(&home, "codex", "PreToolUse", payload)?;
        assert_eq!(understood(&codex), expected, "{name} on codex: {codex:?}");
    }
    assert_eq!(recorded(&home)?, 2 * payloads.len() - 1);
    Ok(())
}

#[test]
fn in_monitor_mode_they_are_recorded_and_left_to_the_agent() -> anyhow::Result<()> {
    let home = Home::with_castellan("malformed-monitor", MONITOR, RULES)?;
    let payloads = payloads();
    for (name, payload) in &payloads {
        let done = hook::run(&home, "claude", "PreToolUse", payload)?;
        assert_eq!(understood(&done), "defer", "{name}: {done:?}");
    }
    assert_eq!(recorded(&home)?, payloads.len());
    Ok(())
}

/// Counts the records of denied calls, including calls that monitor mode would have denied.
fn recorded(home: &Home) -> anyhow::Result<usize> {
    let denied = |record: &Json| record["type"] == "failure" || record["call"]["verdict"] == "deny";
    Ok(home.records()?.iter().filter(|record| denied(record)).count())
}

#[test]
fn a_call_at_the_size_limit_is_judged() -> anyhow::Result<()> {
    let home = Home::with_castellan("largest", ENFORCE, RULES)?;
    let room = castellan_wire::PAYLOAD_BYTES_MAX - bash("").to_string().len();
    // The text is longer than the analysed part, so its contents are Opaque.
    for (command, expected) in
        [(" ".repeat(room), "ask"), (format!("{}forbidden", " ".repeat(room - 9)), "deny")]
    {
        assert_eq!(understood(&judge(&home, &bash(&command))?), expected);
    }
    Ok(())
}

#[test]
fn unknown_events_agents_and_arguments_deny() -> anyhow::Result<()> {
    let home = Home::with_castellan("unknown", ENFORCE, RULES)?;
    let payload = bash("ls").to_string();
    for (agent, event) in
        [("claude", "PreToolUze"), ("claude", "Notification2"), ("cursor", "preToolUse"), ("", "")]
    {
        let done = hook::run(&home, agent, event, payload.as_bytes())?;
        assert_eq!(understood(&done), "deny", "{agent} {event}");
    }
    let mut relative = home.command(&home.bin().join("castellan-hook"));
    relative.args(["--agent", "claude", "--event", "PreToolUse", "--home", "relative"]);
    assert_eq!(
        understood(&Running::start_with_input(&mut relative, b"{}")?.finish(hook::HOOK_LIMIT)?),
        "deny"
    );
    Ok(())
}

/// Checks the answer to each event without a daemon. It comes from the hook's own table and must have the form of the
/// daemon's failures, which the `agents` crate encodes.
fn check_without_daemon(home: &Home, agent: AgentId, event: &str, expected: &str) {
    let done = hook::run(home, agent.word(), event, bash("ls").to_string().as_bytes()).unwrap();
    assert_eq!(understood(&done), expected, "{agent:?} {event}: {done:?}");
    let daemons = encode_failure(agent, event, "why");
    let shape = |exit: Option<i32>, out: &str, err: &str| (exit, out.is_empty(), err.is_empty());
    let (out, err) = (String::from_utf8_lossy(&daemons.stdout), String::from_utf8_lossy(&daemons.stderr));
    assert_eq!(
        shape(done.code, &done.stdout, &done.stderr),
        shape(Some(daemons.exit.into()), &out, &err),
        "{event}"
    );
    let text = format!("{}{}", done.stdout, done.stderr);
    assert!(text.contains("Tell the user"), "{text}");
    assert!(!text.contains("castellan start") && !text.contains("doctor"), "{text}");
}

#[test]
fn without_a_daemon_every_event_is_answered_as_its_agent_understands() -> anyhow::Result<()> {
    let home = Home::new("no-daemon")?;
    home.link("castellan-hook")?;
    const DENIED: &[&str] = &["PreToolUse", "PermissionRequest", "BeforeTool"];
    let mut count = 0;
    for agent in AgentId::ALL {
        for event in castellan_agents::hook_events(agent) {
            let expected = if DENIED.contains(&event.name) { "deny" } else { "defer" };
            check_without_daemon(&home, agent, event.name, expected);
            count += 1;
        }
    }
    // The next daemon records the gaps.
    home.link("castellan")?;
    home.start_daemon()?;
    let records = home.records()?;
    let gaps: Vec<_> = records.iter().filter(|record| record["type"] == "gap").collect();
    assert_eq!(gaps.len(), count, "{records:?}");
    assert_eq!(gaps[0]["gap"]["event"], "PreToolUse");
    Ok(())
}

/// Lets a daemon answer with these bytes and close.
fn check_answer(name: &str, bytes: &[u8]) {
    let home = Home::with_castellan("answer", ENFORCE, RULES).unwrap();
    let daemon = FakeDaemon::listen(&home).unwrap();
    let payload = bash("ls").to_string();
    let running =
        Running::start_with_input(&mut hook::command(&home, "claude", "PreToolUse"), payload.as_bytes())
            .unwrap();
    daemon.serve(|stream| drop(stream.write_all(bytes))).unwrap();
    let done = running.finish(hook::HOOK_LIMIT).unwrap();
    assert_eq!(understood(&done), "deny", "{name}: {done:?}");
}

#[test]
fn a_daemon_that_answers_nonsense_or_breaks_off_denies() {
    let mut reply = Vec::new();
    write_frame(&mut reply, Kind::Reply, &Reply::default().encode()).unwrap();
    check_answer("nothing", b"");
    check_answer("half a reply", &reply[..reply.len() - 3]);
    check_answer("half a header", &reply[..7]);
    check_answer("garbage", b"HTTP/1.1 200 OK\r\n\r\n");
    check_answer("oversized", &[&reply[..8], &u32::MAX.to_le_bytes()[..], &[0; 64]].concat());
    check_answer("another version", &[&reply[..4], &(VERSION + 1).to_le_bytes()[..], &reply[6..]].concat());
    check_answer("a body that is none", &{
        let mut bytes = Vec::new();
        write_frame(&mut bytes, Kind::Reply, b"\0\xff\xff").unwrap();
        bytes
    });
    let mut request = Vec::new();
    write_frame(&mut request, Kind::Request, &Reply::default().encode()).unwrap();
    check_answer("a request", &request);
}

#[test]
fn a_daemon_that_hangs_denies_before_the_agent_gives_up() -> anyhow::Result<()> {
    let home = Home::with_castellan("hung", ENFORCE, RULES)?;
    // Listens and never accepts.
    let _daemon = FakeDaemon::listen(&home)?;
    let done = judge(&home, &bash("ls"))?;
    assert_eq!(understood(&done), "deny");
    assert!(done.stderr.contains("did not answer in time"), "{done:?}");
    Ok(())
}

#[test]
fn a_hook_whose_input_never_ends_denies() -> anyhow::Result<()> {
    let home = Home::with_castellan("endless", ENFORCE, RULES)?;
    let (ours, theirs) = UnixStream::pair()?;
    let mut command = hook::command(&home, "codex", "PreToolUse");
    let stderr = tempfile::NamedTempFile::new()?;
    let mut child = command.stdin(std::os::fd::OwnedFd::from(theirs)).stderr(stderr.reopen()?).spawn()?;
    let status = child.wait()?;
    drop(ours);
    assert_eq!(status.code(), Some(2));
    assert!(std::fs::read_to_string(stderr.path())?.contains("did not answer in time"));
    Ok(())
}

#[test]
fn a_blocked_alarm_does_not_unarm_the_deadline() -> anyhow::Result<()> {
    let home = Home::with_castellan("blocked-alarm", ENFORCE, RULES)?;
    let _daemon = FakeDaemon::listen(&home)?;
    let mut command = home.command(Path::new("env"));
    command.arg("--block-signal=ALRM").arg(home.bin().join("castellan-hook"));
    command.args(["--agent", "claude", "--event", "PreToolUse"]).arg("--home").arg(home.castellan());
    let payload = bash("ls").to_string();
    let done = Running::start_with_input(&mut command, payload.as_bytes())?.finish(hook::HOOK_LIMIT)?;
    assert_eq!(understood(&done), "deny");
    Ok(())
}

#[test]
fn hold_makes_the_hook_wait_on() -> anyhow::Result<()> {
    let home = Home::with_castellan("hold", ENFORCE, RULES)?;
    let daemon = FakeDaemon::listen(&home)?;
    let payload = bash("ls").to_string();
    let running =
        Running::start_with_input(&mut hook::command(&home, "claude", "PreToolUse"), payload.as_bytes())?;
    daemon.serve(|stream| {
        let hold = castellan_wire::Hold { ms: 30_000 };
        let reply = Reply { exit: 7, stdout: b"out".to_vec(), stderr: b"err".to_vec() };
        write_frame(stream, Kind::Hold, &hold.encode()).unwrap();
        write_frame(stream, Kind::Hold, &hold.encode()).unwrap();
        write_frame(stream, Kind::Reply, &reply.encode()).unwrap();
    })?;
    let done = running.finish(hook::HOOK_LIMIT)?;
    assert_eq!((done.code, done.stdout.as_str(), done.stderr.as_str()), (Some(7), "out", "err"));
    Ok(())
}

#[test]
fn the_daemon_survives_garbage_and_goes_on() -> anyhow::Result<()> {
    let home = Home::with_castellan("garbage", ENFORCE, RULES)?;
    home.start_daemon()?;
    let socket = castellan_wire::Home::new(home.castellan()).unwrap().hook_socket();
    let good = hook::request_frame(&bash("ls"))?;
    let oversized = [&good[..8], &u32::MAX.to_le_bytes()[..]].concat();
    let other_version = [&good[..4], &(VERSION + 1).to_le_bytes()[..], &good[6..]].concat();
    for bytes in
        [&b"garbage, not a frame"[..], &good[..9], &good[..good.len() - 4], &oversized, &other_version]
    {
        let mut stream = connect(&socket)?;
        stream.write_all(bytes)?;
        stream.shutdown(Shutdown::Write)?;
        assert!(read_frame(&mut stream, REPLY_BYTES_MAX).is_err(), "{bytes:?} was answered");
    }
    assert_eq!(understood(&judge(&home, &bash("ls"))?), "defer");
    assert_eq!(understood(&judge(&home, &bash("forbidden"))?), "deny");
    // Later failures in fast succession are only counted in the next record, so that nobody can fill the log.
    let records = home.records()?;
    let mut failures = records.iter().filter(|record| record["type"] == "failure");
    let first = failures.next().map(|record| record["failure"].to_string()).unwrap_or_default();
    assert!(first.contains("a request could not be read"), "{records:?}");
    Ok(())
}

#[test]
fn a_hostile_environment_changes_nothing() -> anyhow::Result<()> {
    let home = Home::with_castellan("environment", ENFORCE, RULES)?;
    let (trap, sprung) = (home.workspace().join("trap"), home.workspace().join("sprung"));
    let programs = trap.join("bin");
    std::fs::create_dir_all(trap.join("castellan/run"))?;
    let script = format!("#!/bin/sh\n: > '{}'\n", sprung.display());
    for name in ["castellan", "castellan-hook", "sh", "bash", "env", "curl"] {
        home.write(&programs.join(name), &script)?;
        std::fs::set_permissions(programs.join(name), std::fs::Permissions::from_mode(0o755))?;
    }
    let hostile = |mut command: Command| {
        for name in
            ["HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "TMPDIR"]
        {
            command.env(name, &trap);
        }
        command.env("PATH", format!("{}:/usr/bin:/bin", programs.display()));
        command.env("BASH_ENV", programs.join("sh")).env("ENV", programs.join("sh"));
        command.env("CASTELLAN_HOME", &trap).env("RUST_LOG", "trace").env("RUST_MIN_STACK", "1");
        command
    };
    // The trap works on a program that searches PATH.
    let mut shell = hostile(home.command(Path::new("sh")));
    assert_eq!(Running::start(shell.args(["-c", "true"]))?.finish(hook::HOOK_LIMIT)?.code, Some(0));
    std::fs::remove_file(&sprung)?;

    let mut command = hostile(hook::command(&home, "claude", "PreToolUse"));
    let payload = bash("forbidden").to_string();
    let done = Running::start_with_input(&mut command, payload.as_bytes())?.finish(hook::HOOK_LIMIT)?;
    assert_eq!(understood(&done), "deny", "{done:?}");
    assert!(done.stdout.contains("the test denies"), "{done:?}");
    assert!(!sprung.exists(), "a program of the trap was run");
    assert_eq!(std::fs::read_dir(trap.join("castellan/run"))?.count(), 0, "the trap's home was used");
    Ok(())
}

/// A library that ends the process silently with exit 0 when it is loaded. Agents interpret that as "no opinion".
#[test]
fn a_preloaded_library_is_not_loaded() -> anyhow::Result<()> {
    let Some(hook) = castellan_tests::home::static_hook()? else {
        return castellan_tests::agents::not_run("no static hook; `cargo xtask build-hook` builds it");
    };
    let home = Home::with_castellan("preload", ENFORCE, RULES)?;
    let (source, library) = (home.workspace().join("trap.c"), home.workspace().join("trap.so"));
    home.write(&source, "#include <unistd.h>\n__attribute__((constructor)) void trap(void) { _exit(0); }\n")?;
    let mut cc = home.command(Path::new("cc"));
    let built = Running::start(cc.args(["-shared", "-fPIC", "-o"]).args([&library, &source]))?
        .finish(hook::HOOK_LIMIT)?;
    assert_eq!(built.code, Some(0), "{built:?}");
    let run = |program: &Path, arguments: &[&str]| {
        let mut command = home.command(program);
        command.args(arguments).env("LD_PRELOAD", &library);
        Running::start_with_input(&mut command, bash("forbidden").to_string().as_bytes())?
            .finish(hook::HOOK_LIMIT)
    };
    // The trap works on a program that loads libraries.
    assert_eq!(run(Path::new("false"), &[])?.code, Some(0));
    std::fs::remove_file(home.bin().join("castellan-hook"))?;
    std::fs::copy(hook, home.bin().join("castellan-hook"))?;
    let castellan = home.castellan().display().to_string();
    let arguments = ["--agent", "claude", "--event", "PreToolUse", "--home", &castellan];
    let done = run(&home.bin().join("castellan-hook"), &arguments)?;
    assert_eq!(understood(&done), "deny", "{done:?}");
    assert!(done.stdout.contains("the test denies"), "{done:?}");
    Ok(())
}

#[test]
fn a_home_that_others_can_write_denies() -> anyhow::Result<()> {
    let home = Home::with_castellan("open-home", ENFORCE, RULES)?;
    home.start_daemon()?;
    let run = home.castellan().join("run");
    std::fs::set_permissions(&run, std::fs::Permissions::from_mode(0o777))?;
    assert_eq!(understood(&judge(&home, &bash("ls"))?), "deny");
    Ok(())
}
