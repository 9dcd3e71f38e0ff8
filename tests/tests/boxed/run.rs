//! `castellan run --sandbox` with agents that are shell scripts: exit codes, budgets, signals, the end of every process,
//! observers and halts.

use std::fs;

use anyhow::{Context, Result, ensure};
use castellan_tests::agents::Agent;
use castellan_tests::home::Home;
use castellan_tests::process::{Running, processes_of};
use castellan_tests::wait;
use rustix::process::{Pid, Signal, kill_process};

use crate::rig::{CANARY, LIMIT, RULES, Rig, finish, response};

/// What an agent tries before it ends.
const TRIES: &str = "echo x > made; echo x > ../outside; echo x > ~/outside; echo x > .git/new; cat ~/.ssh/id_canary; \
                     cat ../castellan/state/*; echo x > ~/.claude/session; echo x > ~/.claude/settings.json";

const STREAM: &[&str] = &["-p", "--output-format", "stream-json"];

#[test]
fn an_agent_inside_has_its_workspace_its_own_files_and_its_exit_code() -> Result<()> {
    let rig = Rig::new("")?;
    let before = fs::read_to_string(Agent::Claude.settings(&rig.home))?;
    let agent = rig.agent(&format!("{TRIES}; exit 7"))?;
    let done = finish(&mut rig.agent_command(&agent, &[], &["-p"]))?;
    ensure!(done.code == Some(7) && rig.file("made").exists(), "{done:?}");
    ensure!(rig.home.user().join(".claude/session").exists(), "{done:?}");
    ensure!(fs::read_to_string(Agent::Claude.settings(&rig.home))? == before, "{done:?}");
    for file in ["../outside", ".git/new", "../user/outside"] {
        ensure!(!rig.file(file).exists(), "`{file}`: {done:?}");
    }
    ensure!(!done.stdout.contains(CANARY), "{done:?}");
    ensure!(rig.notes("sandbox")?.len() == 1);
    Ok(())
}

/// The first start of an agent, which has no files yet: the machine registers castellan.
#[test]
fn an_agent_without_files_of_its_own_can_make_them() -> Result<()> {
    let mut home = Home::with_castellan("first", "version = 1\n", RULES)?;
    if !home.make_etc_private()? {
        return Ok(());
    }
    let printed = home.run_castellan(&["install", "--managed", "claude", "--print"])?.stdout;
    home.write(&home.etc().join("claude-code/managed-settings.d/50-castellan.json"), &printed)?;
    let rig = Rig::of(home)?;
    ensure!(!rig.home.user().join(".claude").exists());
    let agent = rig.agent("echo x > ~/.claude/session && mkdir ~/.claude/projects && exit 5")?;
    let done = finish(&mut rig.agent_command(&agent, &[], &["-p"]))?;
    ensure!(done.code == Some(5), "{done:?}");
    // It cannot add settings with hooks of its own for agents outside.
    let agent = rig.agent("echo x > ~/.claude/settings.json; true")?;
    let done = finish(&mut rig.agent_command(&agent, &[], &["-p"]))?;
    ensure!(!rig.home.user().join(".claude/settings.json").is_file(), "{done:?}");
    Ok(())
}

#[test]
fn codes_of_castellan_itself() -> Result<()> {
    let rig = Rig::new("")?;
    let check = |script: &str, expected: i32| -> Result<()> {
        let agent = rig.agent(script)?;
        let done = finish(&mut rig.agent_command(&agent, &[], &["-p"]))?;
        ensure!(done.code == Some(expected), "{script}: {done:?}");
        Ok(())
    };
    check("exit 0", 0)?;
    check("kill -TERM $$", 143)?;
    check("kill -KILL $$", 137)?;
    let agent = rig.agent("")?;
    fs::write(&agent, "#!/no/such/interpreter\n")?;
    let done = finish(&mut rig.agent_command(&agent, &[], &[]))?;
    ensure!(matches!(done.code, Some(126 | 127)), "{done:?}");
    let done = finish(rig.agent_command(&agent, &[], &[]).current_dir(rig.home.user()))?;
    ensure!(done.code == Some(125), "{done:?}");
    Ok(())
}

/// It left its group and session, its parent has ended, and it ignores SIGTERM.
#[test]
fn nothing_of_an_agent_outlives_its_sandbox() -> Result<()> {
    let rig = Rig::new("")?;
    let agent = rig.agent(
        "(setsid sh -c 'trap \"\" TERM HUP; touch ready; sleep 603; sleep 603' >/dev/null 2>&1 &)\n\
         while [ ! -e ready ]; do sleep 0.1; done\nwhile [ ! -e go ]; do sleep 0.1; done\nexit 3",
    )?;
    let running = Running::start(&mut rig.agent_command(&agent, &[], &["-p"]))?;
    let left = rig.sleeper("603")?;
    fs::write(rig.file("go"), "")?;
    let done = running.finish(LIMIT)?;
    ensure!(done.code == Some(3), "{done:?}");
    ensure!(wait::ended(left, std::time::Duration::ZERO)?, "the process goes on");
    Ok(())
}

#[test]
fn a_spent_budget_ends_everything_inside_mid_stream() -> Result<()> {
    let rig = Rig::new("")?;
    let agent = rig.agent(
        "trap '' TERM\n(setsid sh -c 'trap \"\" TERM; sleep 604; sleep 604' >/dev/null 2>&1 &)\n\
         while [ ! -e go ]; do sleep 0.1; done\ncat stream\nwhile :; do sleep 1; done",
    )?;
    let lines = ["a", "b", "c"].map(response).concat();
    fs::write(rig.file("stream"), &lines)?;
    let running = Running::start(&mut rig.agent_command(&agent, &["--budget-invocation", "100"], STREAM))?;
    let child = rig.sleeper("604")?;
    fs::write(rig.file("go"), "")?;
    let done = running.finish(LIMIT)?;
    ensure!(done.code == Some(124) && done.stdout == lines, "{done:?}");
    ensure!(wait::ended(child, std::time::Duration::ZERO)?, "the child goes on");
    let left = processes_of(&rig.home.workspace());
    ensure!(left.is_empty(), "{left:?}");
    ensure!(rig.notes("token_budget_exceeded")?.len() == 1);
    Ok(())
}

#[test]
fn signals_reach_the_agent_and_a_killed_run_ends_it() -> Result<()> {
    for (signal, name, expected) in [
        (Signal::TERM, "TERM", Some(42)),
        (Signal::INT, "INT", Some(42)),
        (Signal::HUP, "HUP", Some(42)),
        (Signal::KILL, "TERM", None),
    ] {
        let rig = Rig::new("")?;
        let agent = rig.agent(&format!("trap 'exit 42' {name}; sleep 605 & while :; do sleep 0.1; done"))?;
        let running = Running::start(&mut rig.agent_command(&agent, &[], &["-p"]))?;
        let inside = rig.sleeper("605")?;
        kill_process(running.pid(), signal)?;
        ensure!(wait::ended(inside, LIMIT)?, "{name}: the agent goes on");
        let done = running.finish(LIMIT)?;
        ensure!(done.code == expected, "{name}: {done:?}");
    }
    Ok(())
}

#[test]
fn an_observer_is_in_a_private_place_inside() -> Result<()> {
    let rig = Rig::new("")?;
    let tries = format!(
        "pwd; echo x > {}/made; cat ~/.ssh/id_canary; echo x > here && echo here",
        rig.home.workspace().display()
    );
    let agent = rig.agent(&format!("{tries}; echo '{}'", response("m").trim()))?;
    let done = finish(&mut rig.agent_command(&agent, &["--profile", "observer"], STREAM))?;
    ensure!(done.code == Some(0) && done.stdout.contains("state/observers/claude/work"), "{done:?}");
    ensure!(!rig.file("made").exists() && !done.stdout.contains(CANARY), "{done:?}");
    Ok(())
}

#[test]
fn a_halt_with_kill_ends_an_agent_inside() -> Result<()> {
    let rig = Rig::new("")?;
    let agent = rig.agent(
        "../bin/castellan-hook --agent claude --event PreToolUse --home \"$PWD/../castellan\" < call; echo $? > code\n\
         trap '' TERM\nsleep 606; while :; do sleep 1; done",
    )?;
    fs::write(rig.file("call"), castellan_tests::hook::bash("ls").to_string())?;
    let running = Running::start(&mut rig.agent_command(&agent, &[], &["-p"]))?;
    let inside = rig.sleeper("606")?;
    ensure!(fs::read_to_string(rig.file("code"))?.trim() == "0");
    rig.home.run_castellan(&["halt", "--kill"])?;
    ensure!(wait::ended(inside, LIMIT)?, "the agent goes on");
    let done = running.finish(LIMIT)?;
    ensure!(done.code.is_some_and(|code| code > 128), "{done:?}");
    Ok(())
}

/// `sandbox.mode` in the settings starts each agent inside, without an option.
#[test]
fn the_settings_start_agents_inside() -> Result<()> {
    for (mode, is_inside) in [("off", false), ("prefer", true), ("require", true)] {
        let rig = Rig::new(&format!("mode = \"{mode}\""))?;
        let agent = rig.agent("cat ~/.ssh/id_canary; true")?;
        let mut command = rig.command(&["run", "--"]);
        let done = finish(command.arg(&agent))?;
        ensure!(done.code == Some(0) && done.stdout.contains(CANARY) != is_inside, "{mode}: {done:?}");
    }
    Ok(())
}

/// The hook inside cannot start a daemon: castellan's state is hidden from it. Without a daemon it denies.
#[test]
fn without_the_daemon_an_agent_inside_is_denied_until_a_person_starts_it() -> Result<()> {
    let rig = Rig::new("")?;
    let agent = rig.agent(
        "ask() { ../bin/castellan-hook --agent claude --event PreToolUse --home \"$PWD/../castellan\" < call; echo $? >> codes; }\n\
         ask; touch first; while [ ! -e gone ]; do sleep 0.1; done\n\
         ask; touch second; while [ ! -e back ]; do sleep 0.1; done\n\
         ask; exit 0",
    )?;
    fs::write(rig.file("call"), castellan_tests::hook::bash("ls").to_string())?;
    let status = rig.home.run_castellan(&["status", "--json"])?.stdout;
    let status: serde_json::Value = serde_json::from_str(&status)?;
    let daemon =
        status["pid"].as_i64().and_then(|pid| Pid::from_raw(pid.try_into().ok()?)).context("no pid")?;
    let running = Running::start(&mut rig.agent_command(&agent, &[], &["-p"]))?;
    ensure!(wait::file(&rig.file("first"), true, LIMIT)?);
    kill_process(daemon, Signal::KILL)?;
    ensure!(wait::ended(daemon, LIMIT)?);
    fs::write(rig.file("gone"), "")?;
    ensure!(wait::file(&rig.file("second"), true, LIMIT)?);
    let daemons = processes_of(&rig.home.castellan());
    let is_daemon = |pid: &Pid| {
        let words = fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).unwrap_or_default();
        words.split(|byte| *byte == 0).any(|word| word == b"daemon")
    };
    ensure!(!daemons.iter().any(is_daemon), "a daemon runs: {daemons:?}");
    rig.home.run_castellan(&["start"])?;
    fs::write(rig.file("back"), "")?;
    let done = running.finish(LIMIT)?;
    let codes = fs::read_to_string(rig.file("codes"))?;
    ensure!(codes == "0\n2\n0\n", "{codes}: {done:?}");

    Ok(())
}
