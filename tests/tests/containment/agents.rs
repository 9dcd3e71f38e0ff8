//! Contained calls of the real Claude Code and Codex, with scripted models.

use std::fs;

use anyhow::{Result, ensure};
use castellan_tests::agents::Agent::{self, Claude, Codex};
use castellan_tests::process::processes_of;

use crate::rig::CANARY;
use crate::stage::Stage;

/// A session with contained calls: output, exit codes, directory, a second call, and no finding about the changed input.
fn works_contained(agent: Agent) -> Result<()> {
    let Some(stage) = Stage::set(agent)? else { return Ok(()) };
    let rig = &stage.rig;
    fs::create_dir_all(rig.file("sub"))?;
    let commands = [
        rig.unread("echo out; echo err >&2; exit 7")?,
        format!("{}; cd sub", rig.unread("echo first >> made")?),
        "pwd -P".to_owned(),
        rig.unread(
            "cat \"$OLDPWD/made\" made ../made 2>/dev/null; cat .env ../.env; echo x > .git/new; echo tried",
        )?
        .replace("steps/", &format!("{}/steps/", rig.home.workspace().display())),
        format!(
            "cd {}; {}",
            rig.home.workspace().display(),
            rig.unread("(setsid sleep 613 >/dev/null 2>&1 &); echo left")?
        ),
    ];
    let (heard, done) = stage.play_commands(&commands)?;
    let [failed, moved, directory, second, left] = heard.as_slice() else { anyhow::bail!("{heard:?}") };
    ensure!(failed.contains("out") && failed.contains("err") && failed.contains('7'), "{agent:?}: {failed}");
    ensure!(failed.contains("castellan contained this command"), "{agent:?}: {failed}");
    ensure!(rig.text("made") == "first\n", "{agent:?}: {moved}: {done:?}");
    // Claude keeps the directory of its shell, Codex starts each call in the same one.
    let expected = if agent == Claude { rig.file("sub") } else { rig.home.workspace() };
    ensure!(
        directory.trim_end().ends_with(&expected.display().to_string())
            || directory.contains(&format!("{}\n", expected.display())),
        "{agent:?}: {directory}"
    );
    ensure!(
        second.contains("first") && second.contains("tried") && !second.contains(CANARY),
        "{agent:?}: {second}"
    );
    ensure!(!rig.file(".git/new").exists());
    ensure!(left.contains("left") && processes_of(&rig.home.workspace()).is_empty(), "{agent:?}: {left}");
    let records = rig.home.records()?;
    let ungoverned: Vec<_> =
        records.iter().filter(|record| record.get("ungoverned").is_some_and(|one| !one.is_null())).collect();
    ensure!(ungoverned.is_empty(), "{agent:?}: {ungoverned:?}");
    ensure!(stage.contained()? == 4, "{agent:?}: {} contained", stage.contained()?);
    Ok(())
}

#[test]
fn claude_works_contained() -> Result<()> {
    works_contained(Claude)
}

#[test]
fn codex_works_contained() -> Result<()> {
    works_contained(Codex)
}

/// The code that a contained call wrote does not run freely in the same session, and the sandbox that goes away runs nothing.
fn stays_contained(agent: Agent) -> Result<()> {
    let Some(stage) = Stage::set(agent)? else { return Ok(()) };
    let rig = &stage.rig;
    rig.write("run.sh", "echo judged\n")?;
    let commands = [
        "bash run.sh".to_owned(),
        rig.unread("echo 'echo swapped' > run.sh")?,
        "bash run.sh".to_owned(),
        rig.unread("echo 'echo x > ../outside' > run.sh")?,
        "bash run.sh".to_owned(),
    ];
    let (heard, _) = stage.play_commands(&commands)?;
    ensure!(heard.first().is_some_and(|one| one.contains("judged")), "{agent:?}: {heard:?}");
    ensure!(heard.get(2).is_some_and(|one| one.contains("swapped")), "{agent:?}: {heard:?}");
    ensure!(stage.contained()? == 3, "{agent:?}: {} contained: {heard:?}", stage.contained()?);
    // A command that would write outside is asked about, and nobody is there.
    ensure!(heard.last().is_some_and(|one| one.contains("castellan blocked this")), "{agent:?}: {heard:?}");
    ensure!(!rig.file("../outside").exists(), "{agent:?}: {heard:?}");
    Ok(())
}

#[test]
fn code_that_was_written_contained_stays_contained_in_claude_and_codex() -> Result<()> {
    stays_contained(Claude)?;
    stays_contained(Codex)
}
