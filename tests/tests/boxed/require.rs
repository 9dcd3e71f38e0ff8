//! `sandbox.mode = "require"`: castellan denies each call of an agent outside of a sandbox.

use std::fs;

use anyhow::{Context, Result, ensure};
use castellan_tests::hook;
use serde_json::Value as Json;

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

/// An agent outside could start a sandbox that is none, such as a debugger above castellan. So its sandboxes are not believed: calls in
/// them are judged as calls outside.
#[test]
fn a_sandbox_that_an_agent_outside_starts_permits_no_call() -> Result<()> {
    let rig = Rig::new("mode = \"require\"")?;
    let castellan = rig.home.bin().join("castellan");
    let words = format!("{} --home {}", castellan.display(), rig.home.castellan().display());
    fs::write(rig.file("call"), hook::bash("ls").to_string())?;
    let inner = ASK.replace("> said", "> inside");
    // The first call shows to castellan that this script is an agent.
    let agent = rig.agent(&format!("{ASK}\n{words} sandbox run -- sh -c '{inner}'; echo $? > code"))?;
    let done = finish(&mut rig.home.command(&agent))?;
    let answer = |file: &str| fs::read_to_string(rig.file(file)).with_context(|| format!("{file}: {done:?}"));
    // castellan does not believe an agent that a sandbox is castellan's. So a hook inside is one in a container.
    let reasons = [("said", "the settings require a sandbox"), ("inside", "castellan outside of it")];
    for (file, reason) in reasons {
        ensure!(answer(file)?.contains(reason), "{file}: {} {done:?}", answer(file)?);
    }
    // The exit code of the hook, which denies: the sandbox itself has started.
    ensure!(answer("code")? == "2\n", "{} {done:?}", answer("code")?);
    // The same command of a person is believed.
    let done = rig.inside(&[], &inner)?;
    let inside = fs::read_to_string(rig.file("inside"))?;
    ensure!(done.code == Some(0) && !inside.contains("deny"), "{inside} {done:?}");
    Ok(())
}

/// Without its launcher castellan makes no sandbox. The doctor and the install warn, and fail where the settings require one.
#[test]
fn a_missing_launcher_is_found_before_it_is_needed() -> Result<()> {
    for (settings, required) in [("", false), ("mode = \"require\"", true)] {
        let rig = Rig::new(settings)?;
        let doctor = |rig: &Rig| -> Result<Json> {
            let done = finish(&mut rig.command(&["doctor", "--json"]))?;
            let all: Json = serde_json::from_str(&done.stdout).with_context(|| format!("{done:?}"))?;
            let checks = all["checks"].as_array().context("no checks")?;
            let found = checks.iter().find(|check| check["subject"] == "sandbox");
            found.cloned().with_context(|| format!("no check of it: {all}"))
        };
        ensure!(doctor(&rig)?["outcome"] == "good");
        let install = |rig: &Rig| finish(&mut rig.command(&["install", "claude"]));
        let done = install(&rig)?;
        ensure!(done.code == Some(0) && !format!("{done:?}").contains("castellan-sandbox"), "{done:?}");
        let launcher = rig.home.bin().join("castellan-sandbox");
        fs::remove_file(&launcher)?;
        let check = doctor(&rig)?;
        ensure!(check["outcome"] == if required { "bad" } else { "doubtful" }, "{check}");
        ensure!(
            check["remedy"].as_str().is_some_and(|remedy| remedy.contains("install castellan again")),
            "{check}"
        );
        let done = install(&rig)?;
        ensure!((done.code == Some(0)) != required, "{done:?}");
        ensure!(format!("{done:?}").contains("castellan-sandbox is missing"), "{done:?}");
        // Another version understands other plans.
        rig.home.write(&launcher, "#!/bin/sh\necho castellan-sandbox 0.0.0\n")?;
        fs::set_permissions(&launcher, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        let check = doctor(&rig)?;
        ensure!(check["what"].as_str().is_some_and(|what| what.contains("another version")), "{check}");
    }
    Ok(())
}
