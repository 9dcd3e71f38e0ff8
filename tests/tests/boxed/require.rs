//! `sandbox.mode = "require"`: castellan denies each call of an agent outside of a sandbox.

use std::fs;

use anyhow::{Result, ensure};
use castellan_tests::hook;

use crate::rig::{Rig, finish};

/// Asks the hook about a call, and stores its answer.
const ASK: &str =
    "../bin/castellan-hook --agent claude --event PreToolUse --home \"$PWD/../castellan\" < call > said 2>&1";

#[test]
fn calls_outside_are_denied_and_calls_inside_are_judged() -> Result<()> {
    let rig = Rig::new("mode = \"require\"")?;
    let agent = rig.agent(ASK)?;
    let call = |command: &str| rig.home.write(&rig.file("call"), &hook::bash(command).to_string());
    let is_denied = || -> Result<bool> { Ok(fs::read_to_string(rig.file("said"))?.contains("deny")) };
    let outside = hook::judge(&rig.home, &hook::bash("ls"))?;
    ensure!(hook::understood(&outside) == "deny", "{outside:?}");
    ensure!(format!("{outside:?}").contains("the settings require a sandbox"), "{outside:?}");
    // The option changes nothing: the settings start each agent inside.
    for command in [&["run", "--"][..], &["run", "--sandbox", "--"]] {
        call("ls")?;
        let done = finish(rig.command(command).arg(&agent))?;
        ensure!(done.code == Some(0) && !is_denied()?, "{command:?}: {done:?}");
        call("echo forbidden-word")?;
        let done = finish(rig.command(command).arg(&agent))?;
        ensure!(done.code == Some(0) && is_denied()?, "{command:?}: {done:?}");
    }
    // A command of a person is a sandbox, too.
    call("ls")?;
    let done = rig.inside(&[], ASK)?;
    ensure!(done.code == Some(0) && !is_denied()?, "{done:?}");
    // The sandboxes have ended: nothing of them permits a later call.
    let outside = hook::judge(&rig.home, &hook::bash("ls"))?;
    ensure!(hook::understood(&outside) == "deny", "{outside:?}");
    Ok(())
}

/// An agent outside could start a sandbox that is none, such as a debugger above castellan. So it gets none.
#[test]
fn an_agent_outside_starts_no_sandbox_for_agents() -> Result<()> {
    let rig = Rig::new("")?;
    let castellan = rig.home.bin().join("castellan");
    let words = format!("{} --home {}", castellan.display(), rig.home.castellan().display());
    let inner = rig.home.bin().join("agents/codex");
    rig.home.write(&inner, "#!/bin/sh\ntouch started\n")?;
    fs::set_permissions(&inner, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    fs::write(rig.file("call"), hook::bash("ls").to_string())?;
    let starts = format!(
        "{ASK}\n{words} run --sandbox -- {}; echo $? > first\n{words} sandbox run -- touch started; echo $? > second",
        inner.display()
    );
    let agent = rig.agent(&starts)?;
    let done = finish(rig.command(&["run", "--"]).arg(&agent))?;
    ensure!(done.code == Some(0) && done.stderr.contains("in no sandbox"), "{done:?}");
    for file in ["first", "second"] {
        let code = fs::read_to_string(rig.file(file))?;
        ensure!(code == "125\n", "{file}: {code} {done:?}");
    }
    ensure!(!rig.file("started").exists(), "{done:?}");
    ensure!(
        rig.home.records()?.iter().any(|record| record["control"]["accepted"] == false),
        "no refusal is recorded"
    );
    Ok(())
}
