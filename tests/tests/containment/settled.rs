//! The end of marks: a person keeps or undoes a contained call. A loss of the journal ends none.

use std::fs;

use anyhow::{Context, Result, ensure};
use castellan_tests::process::Running;
use castellan_tests::{terminal, wait};

use crate::rig::{LIMIT, Rig};

/// A project with two judged scripts, the first of which a contained call changed, and the id of this call.
fn changed() -> Result<(Rig, String)> {
    let rig = Rig::new()?;
    for script in ["run.sh", "other.sh"] {
        rig.write(script, "echo judged\n")?;
    }
    is_free(&rig, &["run.sh", "other.sh"], true).context("before")?;
    let done = rig.elsewhere("echo id > run.sh", "true")?.finish(LIMIT)?;
    ensure!(done.code == Some(0), "{done:?}");
    let call = rig.undoable()?.into_iter().next().context("no call")?;
    is_free(&rig, &["run.sh"], false)?;
    is_free(&rig, &["other.sh"], true)?;
    Ok((rig, call))
}

/// Checks that a later session runs the scripts freely, or does not.
fn is_free(rig: &Rig, scripts: &[&str], expected: bool) -> Result<()> {
    for script in scripts {
        let answer = rig.ask_later(&format!("bash {script}"))?;
        ensure!(answer.is_free() == expected, "{script}: {answer:?}, expected free: {expected}");
    }
    Ok(())
}

/// Settles a call, as a person at a terminal.
fn settle(rig: &Rig, action: &str, call: &str) -> Result<()> {
    let done = terminal::run_castellan(&rig.home, &[action, call, "--yes"])?;
    ensure!(done.code == Some(0), "{action}: {done:?}");
    Ok(())
}

#[test]
fn a_person_keeps_or_undoes_what_a_contained_call_wrote() -> Result<()> {
    for (action, text) in [("keep", "id\n"), ("undo", "echo judged\n")] {
        let (rig, call) = changed()?;
        settle(&rig, action, &call)?;
        ensure!(rig.text("run.sh") == text, "{action}: {}", rig.text("run.sh"));
        is_free(&rig, &["run.sh", "other.sh"], true).context(action)?;
    }
    Ok(())
}

/// `castellan keep` shows no packages, no long files and no programs. Nobody has read these.
#[test]
fn a_keep_settles_only_what_it_shows() -> Result<()> {
    let rig = Rig::new()?;
    rig.write("package.json", "{}\n")?;
    let script = "mkdir -p node_modules/a; echo id > node_modules/a/run.sh; echo id > run.sh; \
                  { echo id; yes '#' | head -n 40000; } > long.sh; printf '#\\377\\nid\\n' > no-text.sh";
    let done = rig.elsewhere(script, "true")?.finish(LIMIT)?;
    ensure!(done.code == Some(0), "{done:?}");
    let call = rig.undoable()?.into_iter().next().context("no call")?;
    let unread = ["node_modules/a/run.sh", "long.sh", "no-text.sh"];
    is_free(&rig, &["run.sh"], false)?;
    let shown = rig.home.run_castellan(&["diff", &call])?.stdout;
    ensure!(shown.contains("not shown") && shown.contains("/node_modules/a (1)"), "{shown}");
    let done = terminal::run_castellan(&rig.home, &["keep", &call, "--yes"])?;
    ensure!(
        done.code == Some(0) && done.stdout.contains("3 files of a contained command stay unread"),
        "{done:?}"
    );
    is_free(&rig, &["run.sh"], true)?;
    is_free(&rig, &unread, false)?;
    // The log does not show a settled call.
    let journal = rig.home.castellan().join("state/journal");
    rig.restart_after(|| Ok(fs::remove_file(&journal)?))?;
    is_free(&rig, &unread, false).context("without the journal")
}

/// A daemon that starts again does not know the command, which goes on and writes.
#[test]
fn nobody_settles_a_command_that_runs() -> Result<()> {
    let rig = Rig::new()?;
    let script = "touch ready; while [ ! -e go ]; do sleep 0.05; done; echo id > run.sh";
    let agent = rig.elsewhere(script, "true")?;
    ensure!(wait::file(&rig.file("ready"), true, LIMIT)?, "it did not start");
    let call = rig.undoable()?.into_iter().next().context("no call")?;
    let keep = || terminal::run_castellan(&rig.home, &["keep", &call, "--yes"]);
    let is_refused = |done: &castellan_tests::process::Finished| {
        done.code == Some(7) && done.stderr.contains("still runs in its sandbox")
    };
    let done = keep()?;
    ensure!(is_refused(&done), "{done:?}");
    rig.restart_after(|| Ok(()))?;
    let done = keep()?;
    ensure!(is_refused(&done), "after a restart: {done:?}");
    rig.write("go", "")?;
    ensure!(agent.finish(LIMIT)?.code == Some(0));
    is_free(&rig, &["run.sh"], false)?;
    settle(&rig, "keep", &call)?;
    is_free(&rig, &["run.sh"], true)
}

/// A person names what no difference shows.
#[test]
fn a_person_keeps_named_files() -> Result<()> {
    let rig = Rig::new()?;
    rig.write("package.json", "{}\n")?;
    rig.write("out/package.json", "{}\n")?;
    let script = "mkdir -p node_modules/a out/node_modules; echo id > node_modules/a/run.sh; \
                  echo id > out/node_modules/run.sh";
    let done = rig.elsewhere(script, "true")?.finish(LIMIT)?;
    ensure!(done.code == Some(0), "{done:?}");
    let (one, other) = ("node_modules/a/run.sh", "out/node_modules/run.sh");
    is_free(&rig, &[one, other], false)?;
    let keep = |name: &str| {
        let path = rig.file(name).display().to_string();
        terminal::run_castellan(&rig.home, &["keep", "--file", &path, "--yes"])
    };
    let agents = rig.home.run_castellan(&["keep", "--file", &rig.file("node_modules").display().to_string()]);
    ensure!(agents.is_err(), "no person: {agents:?}");
    let done = keep("node_modules")?;
    ensure!(done.code == Some(0) && done.stdout.contains("node_modules/a/run.sh"), "{done:?}");
    is_free(&rig, &[one], true)?;
    is_free(&rig, &[other], false)?;
    // Without the journal, each file of the workspace may be one.
    let journal = rig.home.castellan().join("state/journal");
    rig.restart_after(|| Ok(fs::remove_file(&journal)?))?;
    is_free(&rig, &[one, other], false)?;
    let done = keep(one)?;
    ensure!(done.code == Some(7) && done.stderr.contains("is marked with everything in"), "{done:?}");
    let done = keep("")?;
    ensure!(done.code == Some(0), "{done:?}");
    is_free(&rig, &[one, other], true)?;
    rig.restart_after(|| Ok(fs::remove_file(&journal)?))?;
    is_free(&rig, &[one, other], true).context("the log knows that a person settled all")
}

/// Between the differences and the answer, another process writes a file that was shown.
#[test]
fn a_keep_settles_nothing_that_changed_since_it_was_shown() -> Result<()> {
    let rig = Rig::new()?;
    let done = rig.elsewhere("echo id > run.sh; echo id > other.sh", "true")?.finish(LIMIT)?;
    ensure!(done.code == Some(0), "{done:?}");
    let call = rig.undoable()?.into_iter().next().context("no call")?;
    let mut keep = terminal::start_castellan(&rig.home, &["keep", &call])?;
    keep.expect("Keep these changes?")?;
    rig.write("run.sh", "ls\n")?;
    keep.type_keys("y\n")?;
    let done = keep.finish()?;
    ensure!(done.code == Some(6) && done.stdout.contains("1 file changed after you saw"), "{done:?}");
    is_free(&rig, &["other.sh"], true)?;
    is_free(&rig, &["run.sh"], false)?;
    // The checkpoint is still there.
    settle(&rig, "keep", &call)?;
    is_free(&rig, &["run.sh"], true)
}

/// A call that castellan understands copies the file: the name of the copy shows nothing.
#[test]
fn a_copy_of_a_marked_file_is_marked() -> Result<()> {
    let rig = Rig::new()?;
    let copies = ["b.sh", "c.sh", "d.sh", "tree/gen/run.sh", "e.sh"];
    let done = rig.elsewhere("mkdir gen; echo id > gen/run.sh", "true")?.finish(LIMIT)?;
    ensure!(done.code == Some(0), "{done:?}");
    let contained = rig.undoable()?.into_iter().next().context("no call")?;
    for call in [
        "cp gen/run.sh b.sh",
        "cat b.sh > c.sh",
        "ln gen/run.sh d.sh",
        "mkdir tree && tar cf - gen | tar xf - -C tree",
        "cp c.sh e.sh",
    ] {
        let answer = rig.ask_in("copies", call)?;
        ensure!(answer.is_free(), "{call}: {answer:?}");
        let done = rig.shell(call)?;
        ensure!(done.code == Some(0), "{done:?}");
    }
    rig.write("own.sh", "ls\n")?;
    is_free(&rig, &copies, false)?;
    is_free(&rig, &["own.sh"], true)?;
    rig.restart_after(|| Ok(()))?;
    is_free(&rig, &copies, false).context("after a restart")?;
    settle(&rig, "keep", &contained)?;
    is_free(&rig, &copies, true).context("kept")
}

/// The copy does not exist when the person keeps the file. The agent reports the call at once.
#[test]
fn a_copy_that_a_background_command_makes_later_stays_marked() -> Result<()> {
    let rig = Rig::new()?;
    let done = rig.elsewhere("echo id > run.sh", "true")?.finish(LIMIT)?;
    ensure!(done.code == Some(0), "{done:?}");
    let call = rig.undoable()?.into_iter().next().context("no call")?;
    let agent = in_background(&rig, "cp run.sh b.sh")?;
    let done = terminal::run_castellan(&rig.home, &["keep", &call, "--yes"])?;
    ensure!(done.code == Some(0) && done.stdout.contains("1 file of a contained command stay"), "{done:?}");
    is_free(&rig, &["run.sh"], true)?;
    let keep = || {
        let path = rig.file("b.sh").display().to_string();
        terminal::run_castellan(&rig.home, &["keep", "--file", &path, "--yes"])
    };
    let done = keep()?;
    ensure!(
        done.code == Some(7) && done.stderr.contains("a command in the background may still"),
        "{done:?}"
    );
    rig.write("now", "")?;
    ensure!(wait::file(&rig.file("b.sh"), true, LIMIT)?, "it copied nothing");
    is_free(&rig, &["b.sh"], false)?;
    let kept = || Ok((keep()?.code == Some(0)).then_some(()));
    wait::until(LIMIT, kept)?.context("the command has ended, and its agent waits")?;
    is_free(&rig, &["b.sh"], true)?;
    rig.write("go", "")?;
    agent.finish(LIMIT)?;
    Ok(())
}

/// castellan judges the copying calls before the contained one begins, when nothing is marked.
#[test]
fn a_call_that_began_before_copies_no_unread_file_away() -> Result<()> {
    let rig = Rig::new()?;
    for script in ["run.sh", "other.sh", "b.sh", "c.sh", "d.sh"] {
        rig.write(script, "ls\n")?;
    }
    let agent = in_background(&rig, "cp run.sh b.sh; cp b.sh c.sh")?;
    let answer = rig.ask_in("copies", "cp other.sh d.sh")?;
    ensure!(answer.is_free(), "{answer:?}");
    let done = rig.inside("echo id > run.sh")?;
    ensure!(done.code == Some(0), "{done:?}");
    is_free(&rig, &["run.sh", "b.sh", "c.sh"], false)?;
    is_free(&rig, &["other.sh", "d.sh"], true)?;
    rig.write("now", "")?;
    rig.write("go", "")?;
    agent.finish(LIMIT)?;
    Ok(())
}

/// What the contained call writes, `make` would load outside.
#[test]
fn no_call_is_contained_beside_code_in_the_background() -> Result<()> {
    let rig = Rig::new()?;
    rig.write("Makefile", "all:\n\ttrue\n")?;
    let asked = rig.unread("true")?;
    let agent = in_background(&rig, "make")?;
    ensure!(!rig.ask(&asked)?.is_contained(), "beside `make`");
    rig.write("now", "")?;
    let contained = || Ok(rig.ask(&asked)?.is_contained().then_some(()));
    wait::until(LIMIT, contained)?.context("`make` has ended, and its agent waits")?;
    rig.write("go", "")?;
    agent.finish(LIMIT)?;
    Ok(())
}

/// An agent whose call castellan lets run. It runs the command in the background once the file `now` is there, and the agent
/// reports the call at once. The agent waits for the file `go`.
fn in_background(rig: &Rig, command: &str) -> Result<Running> {
    let call = format!("(while [ ! -e now ]; do sleep 0.05; done; {command}) > /dev/null 2>&1 &");
    let run = format!("[ -z \"$run\" ] && {{ bash -c '{call}'; report > /dev/null; touch asked; }}");
    let agent = rig.agent(&call, &format!("{run}; while [ ! -e go ]; do sleep 0.05; done"))?;
    ensure!(wait::file(&rig.file("asked"), true, LIMIT)?, "{command}: it may not run");
    Ok(agent)
}

/// The journal alone has the list of written files. Without it, each file of the workspace may be one.
#[test]
fn a_lost_journal_loses_no_mark() -> Result<()> {
    let (rig, call) = changed()?;
    let journal = rig.home.castellan().join("state/journal");
    rig.restart_after(|| Ok(fs::remove_file(&journal)?))?;
    is_free(&rig, &["run.sh", "other.sh"], false)?;
    // The marks are stored again.
    rig.restart_after(|| Ok(()))?;
    is_free(&rig, &["run.sh", "other.sh"], false)?;
    settle(&rig, "keep", &call)?;
    is_free(&rig, &["run.sh", "other.sh"], true).context("kept")?;
    // The log knows that a person settled the call.
    rig.restart_after(|| Ok(fs::write(&journal, "damaged")?))?;
    is_free(&rig, &["run.sh", "other.sh"], true).context("kept before the loss")
}

/// Checkpoints are removed for their age and size. A person can settle a call without one.
#[test]
fn a_person_keeps_a_call_whose_checkpoint_is_gone() -> Result<()> {
    let (rig, call) = changed()?;
    rig.restart_after(|| Ok(fs::remove_dir_all(rig.home.castellan().join("state/checkpoints"))?))?;
    ensure!(rig.undoable()?.is_empty());
    is_free(&rig, &["run.sh"], false)?;
    settle(&rig, "keep", &call)?;
    is_free(&rig, &["run.sh"], true)
}

/// A halt ends the tickets of calls that have not started. A resume does not bring them back.
#[test]
fn a_halt_ends_tickets() -> Result<()> {
    let rig = Rig::new()?;
    let agent = rig.elsewhere("echo ran > ran", "touch asked; while [ ! -e go ]; do sleep 0.05; done")?;
    ensure!(wait::file(&rig.file("asked"), true, LIMIT)?, "it did not ask");
    rig.home.run_castellan(&["halt"])?;
    let resumed = terminal::run_castellan(&rig.home, &["resume"])?;
    ensure!(resumed.code == Some(0), "{resumed:?}");
    rig.write("go", "")?;
    let done = agent.finish(LIMIT)?;
    ensure!(done.code == Some(125) && done.stderr.contains("no call waits for this ticket"), "{done:?}");
    ensure!(!rig.file("ran").exists());
    Ok(())
}

/// An agent that does not take the rewritten command over reports its own one.
#[test]
fn an_agent_that_ignores_the_rewrite_is_ungoverned() -> Result<()> {
    let rig = Rig::new()?;
    let whys = || -> Result<Vec<String>> {
        let records = rig.home.records()?;
        let found = records.iter().filter_map(|record| record["ungoverned"]["why"].as_str());
        Ok(found.map(str::to_owned).collect())
    };
    rig.contained(&rig.unread("echo obeyed")?)?;
    ensure!(whys()?.is_empty(), "{:?}", whys()?);
    let asked = rig.unread("echo ignored")?;
    ensure!(rig.ask(&asked)?.is_contained());
    rig.done(&asked, &asked)?;
    ensure!(whys()? == ["rewrite_ignored"], "{:?}", whys()?);
    Ok(())
}
