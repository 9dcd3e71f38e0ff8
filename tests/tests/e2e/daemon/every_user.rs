//! A registration for the whole machine, and a daemon for each user.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::Path;

use anyhow::{Context, Result};
use castellan_tests::hook::{bash, understood};
use castellan_tests::machine::{Machine, ONE, REGISTRATIONS, TWO, UNNAMED};
use serde_json::Value as Json;

#[test]
fn each_users_own_daemon_answers_theirs() -> Result<()> {
    let Some(machine) = Machine::new()? else { return Ok(()) };
    let installed = machine.administer(&["install", "--managed"])?;
    assert_eq!(installed.code, Some(0), "{installed:?}");
    for file in REGISTRATIONS {
        let text = fs::read_to_string(machine.home.etc().join(file))?;
        assert!(text.contains("castellan-hook") && !text.contains("share/castellan"), "{file}: {text}");
    }
    for user in [ONE, TWO] {
        // Nobody has installed castellan for these users; their first call creates their home.
        let own = format!("ls {user}");
        assert_eq!(machine.ask(user, &own)?, ("defer".to_owned(), String::new()));
        let (denied, _) = machine.ask(user, "rm -rf /")?;
        assert_eq!(denied, "deny", "by castellan's own rules");
        assert_eq!(machine.judged(user)?, [own.as_str(), "rm -rf /"]);
        let run = fs::metadata(machine.castellan(user)?.join("run"))?;
        assert_eq!((run.uid(), run.mode() & 0o777), (user, 0o700));
    }
    assert!(!machine.root()?.join("elsewhere").exists(), "an environment has moved something");
    // `doctor` and `status` of root report that all users are guarded; `uninstall` reverts it.
    let status = machine.administer(&["status", "--json"])?;
    let status: Json = serde_json::from_str(&status.stdout)?;
    assert!(status["agents"][0]["registered_for_machine"] == true, "{status}");
    Ok(())
}

#[test]
fn no_user_reaches_the_daemon_of_another() -> Result<()> {
    let Some(machine) = Machine::new()? else { return Ok(()) };
    assert_eq!(machine.administer(&["install", "--managed", "claude"])?.code, Some(0));
    assert_eq!(machine.ask(ONE, "ls")?.0, "defer");
    let hook = |home: &Path| {
        let mut hook = machine.hook()?;
        *hook.last_mut().context("no home")? = home.display().to_string();
        Ok::<_, anyhow::Error>(hook)
    };
    let done = machine.run_as(TWO, &hook(&machine.castellan(ONE)?)?, &bash("ls").to_string())?;
    assert_eq!((understood(&done).as_str(), done.code), ("deny", Some(2)), "{done:?}");
    // A symlink in the place of the user's own home does not help either.
    let place = machine.user(TWO)?.join(".local/share");
    fs::create_dir_all(&place)?;
    chown(machine.user(TWO)?.join(".local"), Some(TWO), Some(TWO))?;
    chown(&place, Some(TWO), Some(TWO))?;
    symlink(machine.castellan(ONE)?, place.join("castellan"))?;
    let (denied, why) = machine.ask(TWO, "ls")?;
    assert!(denied == "deny" && why.contains("this user may not"), "{denied}: {why}");
    assert_eq!(machine.judged(ONE)?, ["ls"]);
    Ok(())
}

#[test]
fn whom_no_file_names_is_denied_and_told_why_until_root_names_them() -> Result<()> {
    let Some(machine) = Machine::new()? else { return Ok(()) };
    assert_eq!(machine.administer(&["install", "--managed", "claude"])?.code, Some(0));
    let (denied, why) = machine.ask(UNNAMED, "ls")?;
    assert!(denied == "deny" && why.contains("this user has no home directory"), "{denied}: {why}");
    let dir = machine.user(UNNAMED)?;
    fs::create_dir_all(&dir)?;
    chown(&dir, Some(UNNAMED), Some(UNNAMED))?;
    let line = format!("who:x:{UNNAMED}:{UNNAMED}::{}:/bin/sh\n", dir.display());
    fs::write(machine.home.etc().join("castellan/passwd"), line)?;
    assert_eq!(machine.ask(UNNAMED, "touch x")?.0, "defer");
    assert_eq!(machine.judged(UNNAMED)?, ["touch x"]);
    Ok(())
}

/// `--home` is valid only for its installer. castellan denies other users of an older registration that names one home.
#[test]
fn a_home_that_is_named_is_its_owners_alone() -> Result<()> {
    let Some(machine) = Machine::new()? else { return Ok(()) };
    machine.home.run_castellan(&["install", "--managed", "claude"])?;
    let asked = machine.run_as(0, &machine.hook()?, &bash("doubtful").to_string())?;
    assert_eq!(understood(&asked), "ask", "by the rules of the named home: {asked:?}");
    assert_eq!(machine.ask(ONE, "doubtful")?.0, "defer", "by defaults");
    let settings = machine.home.etc().join(REGISTRATIONS[0]);
    let before = fs::read_to_string(&settings)?.replace("0:/", "/");
    fs::write(&settings, before)?;
    assert_eq!(machine.ask(ONE, "doubtful")?.0, "deny");
    let asked = machine.run_as(0, &machine.hook()?, &bash("doubtful").to_string())?;
    assert_eq!(understood(&asked), "ask", "{asked:?}");
    Ok(())
}

#[test]
fn programs_that_a_user_can_change_are_registered_for_nobody_else() -> Result<()> {
    let Some(machine) = Machine::new()? else { return Ok(()) };
    let check =
        |change: &dyn Fn() -> std::io::Result<()>, undo: &dyn Fn() -> std::io::Result<()>, named: &Path| {
            change()?;
            let refused = machine.administer(&["install", "--managed", "claude"])?;
            let told = format!("can change `{}`", named.display());
            anyhow::ensure!(refused.code == Some(7) && refused.stderr.contains(&told), "{told}: {refused:?}");
            anyhow::ensure!(!machine.home.etc().join(REGISTRATIONS[0]).exists(), "it is registered");
            Ok(undo()?)
        };
    let bin = machine.home.bin().canonicalize()?;
    let root = machine.root()?.canonicalize()?;
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode));
    // The binaries are links to the build, so only folders are changed here.
    check(&|| chown(&bin, Some(ONE), None), &|| chown(&bin, Some(0), None), &bin)?;
    check(&|| mode(&bin, 0o757), &|| mode(&bin, 0o755), &bin)?;
    check(&|| chown(&root, Some(ONE), None), &|| chown(&root, Some(0), None), &root)?;
    let done = machine.administer(&["install", "--managed", "claude"])?;
    assert!(done.code == Some(0) && !done.stdout.contains("cannot start"), "{done:?}");
    mode(&root, 0o700)?;
    let done = machine.administer(&["install", "--managed", "claude"])?;
    assert!(done.code == Some(0) && done.stdout.contains("cannot start"), "{done:?}");
    Ok(())
}
