//! One contained call for its agent: exit code, output, directory, signals, processes; and a call that does not run.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;

use anyhow::{Context, Result, ensure};
use castellan_tests::process::{Running, processes_of};
use castellan_tests::wait;
use rustix::process::{Signal, kill_process};

use crate::rig::{CANARY, LIMIT, Rig};

#[test]
fn a_contained_call_has_its_own_output_and_exit_code() -> Result<()> {
    let rig = Rig::new()?;
    let done = rig.inside("echo out; echo err >&2; echo made > made; exit 7")?;
    ensure!(done.code == Some(7) && done.stdout == "out\n" && done.stderr.starts_with("err\n"), "{done:?}");
    ensure!(done.stderr.contains("castellan contained this command: it has no network"), "{done:?}");
    ensure!(done.stderr.contains("there not .git") && done.stderr.contains("not .env"), "{done:?}");
    // No text for an agent names a way around.
    ensure!(!done.stderr.contains("containment.mode"), "{done:?}");
    ensure!(rig.text("made") == "made\n");
    let done = rig.inside("echo fine")?;
    ensure!(done.code == Some(0) && done.stdout == "fine\n" && done.stderr.is_empty(), "{done:?}");
    let done = rig.inside("kill -TERM $$")?;
    ensure!(done.code == Some(128 + 15), "{done:?}");
    // Standard input is that of the call.
    let answer = rig.ask(&rig.unread("cat")?)?;
    let mut shell =
        rig.shell_command(&format!("echo typed | {{ {}; }}", answer.rewrite.context("not contained")?));
    let done = Running::start(&mut shell)?.finish(LIMIT)?;
    ensure!(done.code == Some(0) && done.stdout == "typed\n", "{done:?}");
    Ok(())
}

/// Other projects have secrets under any name. castellan's own files are beside the workspace here.
#[test]
fn a_contained_call_reads_no_other_project() -> Result<()> {
    let rig = Rig::new()?;
    let (user, workspace) = (rig.home.user(), rig.home.workspace());
    let beside = workspace.with_file_name("other");
    for place in [user.join("src/other"), beside.clone()] {
        for file in [".env", "apps/web/.env", "settings.yaml"] {
            rig.home.write(&place.join(file), CANARY)?;
        }
    }
    rig.home.write(&user.join("notes.txt"), CANARY)?;
    std::os::unix::fs::symlink(user.join("src/other"), user.join(".other"))?;
    rig.home.write(&user.join(".toolrc"), "setting")?;
    let done = rig.inside(&format!(
        "cat {0}/.toolrc; cat {1}/.env {1}/apps/web/.env {1}/settings.yaml {0}/notes.txt {0}/src/other/.env {0}/.other/.env; \
         ls {1} {0}/src; ls {2}; true",
        user.display(),
        beside.display(),
        rig.home.castellan().display(),
    ))?;
    ensure!(done.stdout == "setting" && !done.stderr.contains(CANARY), "{done:?}");
    Ok(())
}

/// The kernel counts what the command wanted to reach. The agent and the log get it.
#[test]
fn a_blocked_network_is_reported() -> Result<()> {
    let rig = Rig::new()?;
    for (script, packets) in [("exit 3", 0), ("exec 3<>/dev/tcp/192.0.2.1/80; exit 3", 1)] {
        let done = rig.inside(script)?;
        ensure!(done.stderr.contains("castellan blocked its network") == (packets > 0), "{done:?}");
        let ends = rig.notes("contained_end")?;
        let argument = ends.last().and_then(|end| end["argument"].as_str()).unwrap_or_default();
        ensure!(argument.contains("packets to hosts blocked: 1") == (packets == 1), "{ends:?}");
    }
    Ok(())
}

#[test]
fn a_contained_call_writes_its_workspace_and_reads_no_secret() -> Result<()> {
    let rig = Rig::new()?;
    for dir in [".vscode", ".idea", ".claude", ".codex", ".castellan", ".husky"] {
        fs::create_dir_all(rig.file(dir))?;
    }
    let done = rig.inside(
        "for f in ../outside ~/outside .git/config .git/hooks/pre-commit .git/new .vscode/tasks.json .idea/x .claude/settings.json \
         .codex/config.toml .castellan/x .husky/pre-commit .envrc .mcp.json .gitmodules-x; do (echo x > $f) 2>/dev/null && echo \"wrote $f\"; done; \
         cat .env ~/.ssh/id_canary; ls ../castellan/state/; echo x > /tmp/private && echo tmp; true",
    )?;
    ensure!(done.code == Some(0), "{done:?}");
    ensure!(done.stdout == "wrote .gitmodules-x\ntmp\n", "{done:?}");
    ensure!(!done.stderr.contains(CANARY), "{done:?}");
    ensure!(!std::path::Path::new("/tmp/private").exists());
    // No network: not even the loopback of the machine.
    let server = std::net::TcpListener::bind("127.0.0.1:0")?;
    let port = server.local_addr()?.port();
    let done = rig.inside(&format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo reached; exec 3<>/dev/tcp/192.0.2.1/80 && echo reached; true"))?;
    ensure!(!done.stdout.contains("reached"), "{done:?}");
    // The variables of the agent are not all there.
    let answer = rig.ask(&rig.unread("echo \"[$AWS_SECRET_ACCESS_KEY]\"")?)?;
    let mut shell = rig.shell_command(&answer.rewrite.context("not contained")?);
    let done = Running::start(shell.env("AWS_SECRET_ACCESS_KEY", CANARY))?.finish(LIMIT)?;
    ensure!(done.stdout == "[]\n", "{done:?}");
    Ok(())
}

/// An agent could name another home, whose secrets castellan would not know.
#[test]
fn the_variables_of_the_agent_do_not_move_the_secrets() -> Result<()> {
    let rig = Rig::new()?;
    let secret = rig.home.user().join(".ssh/id_canary");
    let answer = rig.ask(&rig.unread(&format!("cat {}", secret.display()))?)?;
    let mut shell = rig.shell_command(&answer.rewrite.context("not contained")?);
    let done = Running::start(shell.env("HOME", rig.home.workspace()))?.finish(LIMIT)?;
    ensure!(done.code != Some(0) && !done.stdout.contains(CANARY), "{done:?}");
    Ok(())
}

#[test]
fn a_shell_keeps_the_directory_of_a_contained_call_if_it_is_in_the_workspace() -> Result<()> {
    let rig = Rig::new()?;
    fs::create_dir_all(rig.file("sub dir/deep"))?;
    std::os::unix::fs::symlink("/etc", rig.file("out"))?;
    let check = |text: &str, code: i32, expected: &str| -> Result<()> {
        let text = format!("{}; {text}", rig.unread("true")?);
        let answer = rig.ask(&text)?;
        let rewrite = answer.rewrite.clone().with_context(|| format!("not contained: {text}: {answer:?}"))?;
        // As Claude keeps the directory.
        let done = rig.shell(&format!("{rewrite}; echo \"code $?\"; pwd -P"))?;
        let expected = format!("code {code}\n{}\n", rig.file(expected).display());
        ensure!(done.stdout.ends_with(&expected.replace("/\n", "\n")), "{text}: {done:?}");
        Ok(())
    };
    check("cd 'sub dir'", 0, "sub dir")?;
    check("cd 'sub dir/deep' && cd ..", 0, "sub dir")?;
    check("pushd 'sub dir' >/dev/null", 0, "sub dir")?;
    // A failed call keeps no directory, as for Claude itself.
    check("cd 'sub dir'; false", 1, "")?;
    check("cd 'sub dir'; exit 3", 3, "")?;
    // Out of the workspace, also by a link.
    check("cd /etc", 0, "")?;
    check("cd out", 0, "")?;
    check("cd ..", 0, "")?;
    check("cd 'sub dir' && rm -rf '../sub dir' && mkdir ../w2", 0, "")?;
    Ok(())
}

#[test]
fn nothing_of_a_contained_call_outlives_it() -> Result<()> {
    let rig = Rig::new()?;
    let done = rig.inside(
        "setsid sh -c 'trap \"\" TERM HUP; sleep 611; sleep 611' >/dev/null 2>&1 & (sleep 611 &) ; echo left",
    )?;
    ensure!(done.code == Some(0) && done.stdout == "left\n", "{done:?}");
    let left = processes_of(&rig.home.workspace());
    ensure!(left.is_empty(), "{left:?}");
    Ok(())
}

#[test]
fn signals_reach_a_contained_call_and_a_killed_one_ends_marked() -> Result<()> {
    let rig = Rig::new()?;
    for (signal, expected) in [(Signal::TERM, Some(42)), (Signal::INT, Some(42)), (Signal::KILL, None)] {
        let answer =
            rig.ask(&rig.unread("trap 'exit 42' TERM INT; touch ready; while :; do sleep 0.1; done")?)?;
        let rewrite = answer.rewrite.context("not contained")?;
        // The process itself, without a shell around it.
        let words = rewrite.trim_end_matches(" || (exit $?)");
        let running = Running::start(&mut rig.shell_command(&format!("exec {words}")))?;
        ensure!(wait::file(&rig.file("ready"), true, LIMIT)?, "it did not start");
        kill_process(running.pid(), signal)?;
        let done = running.finish(LIMIT)?;
        ensure!(done.code == expected, "{signal:?}: {done:?}");
        let none_left = || Ok(processes_of(&rig.home.workspace()).is_empty().then_some(()));
        wait::until(LIMIT, none_left)?.context("the command goes on")?;
        fs::remove_file(rig.file("ready"))?;
    }
    // The killed one is settled by the daemon itself.
    let settled = || {
        let ends = rig.notes("contained_end")?;
        Ok(ends
            .iter()
            .any(|end| end["argument"].as_str().is_some_and(|text| text.contains("killed")))
            .then_some(()))
    };
    wait::until(LIMIT, settled)?.context("the daemon did not notice the end")?;
    Ok(())
}

#[test]
fn a_ticket_is_valid_once_and_for_its_agent() -> Result<()> {
    let rig = Rig::new()?;
    let rewrite = rig.ask(&rig.unread("echo ran >> runs")?)?.rewrite.context("not contained")?;
    let refused = |command: &str, why: &str| -> Result<()> {
        let done = rig.shell(command)?;
        ensure!(done.code == Some(125) && done.stderr.contains(why), "{command}: {done:?}");
        Ok(())
    };
    // A process that is not below the agent: the test's other name is a hook of its own agent.
    let foreign = rig.ask_later(&rig.unread("echo ran >> runs")?)?.rewrite.context("not contained")?;
    refused(&foreign, "this ticket is of another agent")?;
    let castellan = rig.home.bin().join("castellan");
    let forged = format!(
        "'{}' --home '{}' contained {}",
        castellan.display(),
        rig.home.castellan().display(),
        "0".repeat(32)
    );
    refused(&forged, "no call waits for this ticket")?;
    refused(&forged.replace(&"0".repeat(32), "x"), "this is no ticket")?;
    ensure!(rig.text("runs").is_empty());
    ensure!(rig.shell(&rewrite)?.code == Some(0) && rig.text("runs") == "ran\n");
    refused(&rewrite, "no call waits for this ticket")?;
    ensure!(rig.text("runs") == "ran\n");
    let refusals = rig.notes("contained")?.iter().filter(|note| note["accepted"] == false).count();
    ensure!(refusals == 4, "{:?}", rig.notes("contained")?);
    // A restart of the daemon ends tickets.
    let rewrite = rig.ask(&rig.unread("echo ran >> runs")?)?.rewrite.context("not contained")?;
    rig.restart_daemon()?;
    refused(&rewrite, "no call waits for this ticket")?;
    ensure!(rig.text("runs") == "ran\n");
    Ok(())
}

/// The sandbox of a decided call goes away before the call runs.
#[test]
fn a_call_whose_sandbox_is_gone_does_not_run_and_the_next_is_asked_about() -> Result<()> {
    let rig = Rig::new()?;
    let rewrite = rig.ask(&rig.unread("echo ran > ran")?)?.rewrite.context("not contained")?;
    let launcher = rig.home.bin().join("castellan-sandbox");
    fs::remove_file(&launcher)?;
    fs::File::create(&launcher)?.write_all(b"#!/bin/sh\nexit 3\n")?;
    fs::set_permissions(&launcher, fs::Permissions::from_mode(0o755))?;
    let done = rig.shell(&rewrite)?;
    ensure!(done.code == Some(125) && done.stderr.contains("castellan did not run this command"), "{done:?}");
    ensure!(!rig.file("ran").exists());
    let answer = rig.ask(&rig.unread("echo ran > ran")?)?;
    ensure!(!answer.is_contained() && !answer.is_free(), "{answer:?}");
    Ok(())
}
