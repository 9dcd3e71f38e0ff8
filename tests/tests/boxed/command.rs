//! `castellan sandbox run`: exit codes, files, network, secrets, and machines that enforce less.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use castellan_tests::process::{Finished, Running};
use castellan_tests::wait;
use rustix::process::{Signal, kill_process, test_kill_process};
use serde_json::{Value as Json, json};

use crate::rig::{CANARY, LIMIT, Rig, finish};

#[test]
fn the_exit_code_is_the_commands_or_says_what_failed() -> Result<()> {
    let rig = Rig::new("wall_s = 5")?;
    let check = |words: &[&str], expected: i32, message: &str| -> Result<()> {
        let done = finish(&mut rig.command(&[&["sandbox", "run"], words].concat()))?;
        ensure!(done.code == Some(expected) && done.stderr.contains(message), "{words:?}: {done:?}");
        Ok(())
    };
    check(&["--", "true"], 0, "")?;
    check(&["--", "sh", "-c", "exit 7"], 7, "")?;
    check(&["--", "sh", "-c", "exit 255"], 255, "")?;
    check(&["--", "sh", "-c", "kill -TERM $$"], 128 + 15, "")?;
    check(&["--", "sh", "-c", "kill -KILL $$"], 128 + 9, "")?;
    check(&["--", "sleep", "600"], 124, "castellan ended it")?;
    check(&["--", "no-such-program"], 127, "'no-such-program'")?;
    check(&["--", "./no-such-program"], 127, "no-such-program")?;
    fs::write(rig.file("text"), "no program")?;
    check(&["--", "./text"], 126, "text")?;
    check(&["--", "."], 126, "")?;
    check(&["true"], 2, "unexpected argument")?;
    check(&[], 2, "required")?;
    check(&["--policy", "all", "--", "true"], 2, "invalid value")?;
    check(&["--network", "all", "--", "true"], 2, "invalid value")?;
    check(&["--host", "a b:c", "--", "true"], 125, "`a b:c`")?;
    Ok(())
}

/// With the default settings a sandbox could lack limits and secrets that a person has set.
#[test]
fn without_valid_settings_nothing_starts() -> Result<()> {
    let rig = Rig::new("networks = \"none\"")?;
    let agent = rig.agent("touch started")?;
    let commands =
        [rig.command(&["sandbox", "run", "--", "touch", "started"]), rig.agent_command(&agent, &[], &[])];
    for mut command in commands {
        let done = finish(&mut command)?;
        ensure!(done.code == Some(125) && !rig.file("started").exists(), "{done:?}");
        ensure!(
            done.stderr.contains("networks") && done.stderr.contains("castellan config check"),
            "{done:?}"
        );
    }
    Ok(())
}

#[test]
fn a_command_writes_its_workspace_and_nothing_else() -> Result<()> {
    let rig = Rig::new("")?;
    let done = rig.inside(
        &[],
        "echo x > made; for f in ../outside ~/outside .git/config .git/new .claude/settings.json .castellan/x; do \
         mkdir -p ${f%/*}; echo x > $f && echo \"wrote $f\"; done; ls ~/.ssh; cat ~/.ssh/id_canary; \
         cat ../castellan/state/* ; ls -A ../castellan/state; true",
    )?;
    ensure!(done.code == Some(0), "{done:?}");
    ensure!(rig.file("made").exists() && !done.stdout.contains("wrote"), "{done:?}");
    ensure!(!done.stdout.contains(CANARY) && !done.stdout.contains("id_canary"), "{done:?}");
    for file in ["../outside", ".git/new", ".claude", ".castellan"] {
        ensure!(rig.file(file).symlink_metadata().is_err(), "`{file}` is there");
    }
    ensure!(!rig.home.user().join("outside").exists());
    let done = rig.inside(&["--policy", "read-only"], "echo x > made2 || echo refused")?;
    ensure!(done.stdout.contains("refused") && !rig.file("made2").exists(), "{done:?}");
    // The same reads work outside, so the test proves something.
    ensure!(fs::read_to_string(rig.secret())? == CANARY);
    Ok(())
}

/// A link in the workspace leads to the file outside, which stays as it is.
#[test]
fn a_planted_link_leads_nowhere() -> Result<()> {
    let rig = Rig::new("")?;
    let outside = rig.home.user().join("kept");
    fs::write(&outside, "kept")?;
    std::os::unix::fs::symlink(&outside, rig.file("link"))?;
    std::os::unix::fs::symlink(rig.secret(), rig.file("read"))?;
    let done = rig.inside(&[], "echo x > link; cat read; true")?;
    ensure!(fs::read_to_string(&outside)? == "kept" && !done.stdout.contains(CANARY), "{done:?}");
    Ok(())
}

#[test]
fn commits_need_a_setting_and_hooks_stay_as_they_are() -> Result<()> {
    let commit = "git add -A && git -c user.name=a -c user.email=a@example.com commit -qm one";
    let rig = Rig::new("")?;
    fs::write(rig.file("a"), "")?;
    let done = rig.inside(&[], commit)?;
    ensure!(done.code != Some(0) && !rig.file(".git/refs/heads/master").exists(), "{done:?}");
    let rig = Rig::new("commits = true")?;
    fs::write(rig.file("a"), "")?;
    let done = rig.inside(
        &[],
        &format!("{commit} && git log --oneline && mkdir -p .git/hooks; echo x > .git/hooks/pre-commit; git config core.pager x; true"),
    )?;
    ensure!(done.code == Some(0) && done.stdout.contains("one"), "{done:?}");
    ensure!(!rig.file(".git/hooks/pre-commit").exists(), "{done:?}");
    ensure!(!fs::read_to_string(rig.file(".git/config"))?.contains("pager"), "{done:?}");
    Ok(())
}

#[test]
fn processes_outside_are_not_there_and_those_inside_end() -> Result<()> {
    let rig = Rig::new("")?;
    let done = rig.inside(
        &[],
        "setsid sh -c 'sleep 601 & wait' left >/dev/null 2>&1 & grep -l castellan /proc/[0-9]*/cmdline; \
         ls /proc | grep -c '^[0-9]'; kill -0 -1 && echo reached; sleep 1; exit 3",
    )?;
    ensure!(done.code == Some(3), "{done:?}");
    let seen: usize = done.stdout.lines().filter_map(|line| line.parse().ok()).next().context("no count")?;
    ensure!(seen < 12, "{done:?}");
    let left = castellan_tests::process::processes_of(&rig.home.workspace());
    ensure!(left.is_empty(), "{left:?} are left");
    Ok(())
}

#[test]
fn the_end_of_castellan_is_the_end_of_the_command() -> Result<()> {
    for (signal, expected) in [(Signal::TERM, Some(143)), (Signal::INT, Some(130)), (Signal::KILL, None)] {
        let rig = Rig::new("")?;
        let running = Running::start(&mut rig.command(&["sandbox", "run", "--", "sleep", "602"]))?;
        let inside = rig.sleeper("602")?;
        kill_process(running.pid(), signal)?;
        ensure!(wait::ended(inside, LIMIT)?, "{signal:?}: the command goes on");
        let done = running.finish(LIMIT)?;
        ensure!(done.code == expected, "{signal:?}: {done:?}");
        ensure!(test_kill_process(inside).is_err());
    }
    Ok(())
}

#[test]
fn only_listed_hosts_are_reached_and_a_refusal_is_told() -> Result<()> {
    let rig = Rig::new("hosts = [\"allowed.example\"]")?;
    let ask = "import os, urllib.request\ntry: urllib.request.urlopen('http://refused.example/', timeout=10)\nexcept Exception as e: print(e)";
    let done = finish(&mut rig.command(&["sandbox", "run", "--", "python3", "-c", ask]))?;
    ensure!(done.stdout.contains("403"), "{done:?}");
    ensure!(done.stderr.contains("the sandbox refused refused.example:80"), "{done:?}");
    ensure!(rig.notes("sandbox_network")? == ["refused refused.example:80: host"]);
    // A program that asks for many hosts fills neither the log nor the terminal.
    let flood = "import urllib.request\nfor n in range(300):\n  try: urllib.request.urlopen(f'http://h{n // 2}.example/', timeout=10)\n  except Exception: pass";
    let done = finish(&mut rig.command(&["sandbox", "run", "--", "python3", "-c", flood]))?;
    let notes = rig.notes("sandbox_network")?;
    ensure!(done.code == Some(0) && notes.len() == 1 + 65, "{} notes", notes.len());
    ensure!(notes.iter().filter(|note| note.contains("further hosts")).count() == 1, "{notes:?}");
    ensure!(done.stderr.matches("the sandbox refused").count() == 64, "{done:?}");
    // Past the proxy there is no network at all.
    let direct = "import socket\nfor to in ('192.0.2.1', '127.0.0.1'):\n  try: socket.create_connection((to, 9), 5); print('reached')\n  except OSError as e: print(e)";
    let done = finish(&mut rig.command(&["sandbox", "run", "--", "python3", "-c", direct]))?;
    ensure!(done.code == Some(0) && !done.stdout.contains("reached"), "{done:?}");
    let done = rig.inside(&["--network", "none"], "env | grep -i proxy || echo no-proxy")?;
    ensure!(done.stdout.contains("no-proxy"), "{done:?}");
    Ok(())
}

#[test]
fn a_port_of_the_loopback_is_reached_if_it_is_listed() -> Result<()> {
    let server = std::net::TcpListener::bind("127.0.0.1:0")?;
    let port = server.local_addr()?.port();
    let rig = Rig::new("")?;
    let ask = format!(
        "import socket\ntry: print(socket.create_connection(('127.0.0.1', {port}), 5).recv(9).decode())\nexcept OSError as e: print('refused', e)"
    );
    let run = |options: &[&str]| -> Result<Finished> {
        finish(&mut rig.command(&[&["sandbox", "run"], options, &["--", "python3", "-c", &ask]].concat()))
    };
    let done = run(&[])?;
    ensure!(done.stdout.contains("refused"), "{done:?}");
    let answer = std::thread::spawn(move || -> std::io::Result<()> {
        std::io::Write::write_all(&mut server.accept()?.0, b"from-out")
    });
    let done = run(&["--host", &format!("127.0.0.1:{port}")])?;
    ensure!(done.stdout.contains("from-out"), "{done:?}");
    ensure!(answer.join().is_ok_and(|served| served.is_ok()));
    Ok(())
}

#[test]
fn a_secret_stays_outside_and_its_place_is_held() -> Result<()> {
    let rig = Rig::new("secrets = [\"MY_TOKEN: api.example\"]\nenvironment = [\"KEPT\"]")?;
    let run = |token: Option<&str>| -> Result<Finished> {
        let script = "echo \"token $MY_TOKEN\"; echo \"kept $KEPT other $OTHER_TOKEN\"; cat /proc/[0-9]*/environ | tr '\\0' '\\n'";
        let mut command = rig.command(&["sandbox", "run", "--", "sh", "-c", script]);
        command.env("KEPT", "visible").env("OTHER_TOKEN", CANARY);
        if let Some(token) = token {
            command.env("MY_TOKEN", token);
        }
        finish(&mut command)
    };
    let done = run(Some(CANARY))?;
    ensure!(
        done.stdout.contains("token castellan-") && done.stdout.contains("kept visible other \n"),
        "{done:?}"
    );
    ensure!(!done.stdout.contains(CANARY) && !done.stderr.contains(CANARY), "{done:?}");
    let done = run(None)?;
    ensure!(done.code == Some(0) && done.stdout.contains("token \n"), "{done:?}");
    // Neither a wrong value nor a wrong line shows the value.
    let done = run(Some("two\nlines of a-secret-that"))?;
    ensure!(done.code == Some(125) && !done.stderr.contains("a-secret-that"), "{done:?}");
    Ok(())
}

#[test]
fn directories_without_a_name_or_with_an_odd_one() -> Result<()> {
    let rig = Rig::new("")?;
    let mut at_home = rig.command(&["sandbox", "run", "--", "touch", "made"]);
    let done = finish(at_home.current_dir(rig.home.user()))?;
    ensure!(done.code == Some(125) && !rig.home.user().join("made").exists(), "{done:?}");
    // The directory vanishes before castellan starts.
    let gone = rig.home.bin().join("gone");
    fs::create_dir(&gone)?;
    let words =
        format!("{} --home {}", rig.home.bin().join("castellan").display(), rig.home.castellan().display());
    let mut shell = rig.home.command(Path::new("sh"));
    shell.current_dir(&gone).args(["-c", &format!("rmdir ../gone; exec {words} sandbox run -- true")]);
    let done = finish(&mut shell)?;
    ensure!(done.code == Some(125) && done.stderr.contains("vanished"), "{done:?}");
    for name in [&b"new\nline"[..], b"not-\xff-text", b"a 'quote\" $(x)"] {
        let folder = rig.home.bin().join(OsStr::from_bytes(name));
        fs::create_dir(&folder)?;
        let mut git = rig.home.command(Path::new("git"));
        finish(git.current_dir(&folder).args(["init", "--quiet"]))?;
        let mut inside =
            rig.command(&["sandbox", "run", "--", "sh", "-c", "echo x > made; echo x > ../beside"]);
        let done = finish(inside.current_dir(&folder))?;
        ensure!(!rig.home.bin().join("beside").exists(), "{done:?}");
        let is_refused = done.code == Some(125) && done.stderr.contains("its path is no text");
        ensure!(folder.join("made").exists() || is_refused, "{name:?}: {done:?}");
    }
    Ok(())
}

/// A probe that found no namespaces and no bubblewrap, stored as castellan stores its own.
fn enforce_less(rig: &Rig) -> Result<()> {
    rig.inside(&[], "true")?;
    let file = rig.home.castellan().join("run/sandbox.json");
    let mut stored: Json = serde_json::from_str(&fs::read_to_string(&file)?)?;
    let can = stored.get_mut("can").and_then(Json::as_object_mut).context("no capabilities")?;
    for name in ["namespaces", "network_namespace", "fresh_proc"] {
        ensure!(can.insert(name.to_owned(), json!(false)).is_some(), "no `{name}`");
    }
    ensure!(can.insert("bubblewrap".to_owned(), Json::Null).is_some(), "no `bubblewrap`");
    fs::write(&file, stored.to_string())?;
    Ok(())
}

#[test]
fn a_machine_that_enforces_less_runs_nothing_unless_that_is_preferred() -> Result<()> {
    for (mode, is_started) in [("", false), ("mode = \"require\"", false), ("mode = \"prefer\"", true)] {
        let rig = Rig::new(mode)?;
        enforce_less(&rig)?;
        let done = rig.inside(&[], "echo x > made; echo x > ../outside; cat ~/.ssh/id_canary; true")?;
        ensure!(rig.file("made").exists() == is_started, "{mode}: {done:?}");
        ensure!(done.stderr.contains("not enforced") && done.stderr.contains(".git"), "{mode}: {done:?}");
        // Landlock alone still covers these.
        ensure!(!rig.file("../outside").exists() && !done.stdout.contains(CANARY), "{mode}: {done:?}");
        let notes = rig.notes("sandbox")?;
        if is_started {
            ensure!(
                notes.last().is_some_and(|note| note.contains("not enforced: limited writes")),
                "{notes:?}"
            );
        } else {
            ensure!(done.code == Some(125) && done.stderr.contains("castellan sandbox probe"), "{done:?}");
        }
    }
    Ok(())
}

#[test]
fn without_the_launcher_nothing_runs() -> Result<()> {
    for mode in ["", "mode = \"prefer\""] {
        let rig = Rig::new(mode)?;
        let launcher = rig.home.bin().join("castellan-sandbox");
        fs::remove_file(&launcher)?;
        let done = rig.inside(&[], "echo x > made")?;
        ensure!(done.code == Some(125) && done.stderr.contains("castellan-sandbox"), "{done:?}");
        // A launcher that says nothing has made no sandbox.
        rig.home.write(&launcher, "#!/bin/sh\nexit 0\n")?;
        fs::set_permissions(&launcher, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        let done = rig.inside(&[], "echo x > made")?;
        ensure!(done.code == Some(125) && !rig.file("made").exists(), "{mode}: {done:?}");
    }
    Ok(())
}

#[test]
fn the_report_is_shown_on_request_and_is_in_the_log() -> Result<()> {
    let rig = Rig::new("")?;
    let done = rig.inside(&["--report"], "true")?;
    ensure!(done.stdout.is_empty() && done.stderr.contains("enforced      network hosts"), "{done:?}");
    let done = rig.inside(&[], "true")?;
    ensure!(done.stderr.is_empty(), "{done:?}");
    let notes = rig.notes("sandbox")?;
    let [note, _] = &notes[..] else { anyhow::bail!("{notes:?}") };
    ensure!(note.starts_with("all enforced: ") && note.len() < 400, "{note}");
    ensure!(note.contains("network hosts") && !note.contains('\n'), "{note}");
    Ok(())
}
