//! Installation for the system: shown, interrupted, repeated, in the way of other programs, and taken back.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use castellan_tests::machine::{ONE, TWO};
use castellan_tests::terminal;

use super::rig::{DAEMON, Rig};

const BOTH: [&str; 7] = ["install", "--system", "--user", "u61001", "--user", "u61002", "claude"];

impl Rig {
    fn etc(&self, path: &str) -> PathBuf {
        self.machine.home.etc().join(path)
    }

    /// Returns the words of `systemctl` since the last time.
    fn words(&self) -> Result<Vec<String>> {
        let file = self.programs()?.join("words");
        let text = fs::read_to_string(&file).unwrap_or_default();
        let _none = fs::remove_file(file);
        Ok(text.lines().map(str::to_owned).collect())
    }

    /// Uninstalls as the administrator at a terminal.
    fn uninstall(&self, words: &[&str]) -> Result<()> {
        let path =
            format!("PATH={}:{}", self.programs()?.display(), std::env::var("PATH").unwrap_or_default());
        let own = self.machine.home.bin().join("castellan");
        let line = [&path, own.to_str().context("a path")?, "uninstall", "--system"];
        let done = terminal::run(&self.machine.home, "env".as_ref(), &[&line[..], words].concat())?;
        ensure!(done.code == Some(0), "{words:?}: {done:?}");
        Ok(())
    }

    fn is_untouched(&self) -> Result<()> {
        let units =
            fs::read_dir(self.etc("systemd"))?.count() + fs::read_dir(self.etc("tmpfiles.d"))?.count();
        let made = self.home_of(ONE)?.exists() || self.run_of(ONE)?.exists();
        ensure!(units == 0 && !made && self.machine.hook().is_err(), "something was written");
        Ok(())
    }
}

#[test]
fn each_file_and_step_is_shown_before() -> Result<()> {
    let Some(rig) = Rig::bare()? else { return Ok(()) };
    for shown in [
        rig.administer(&[&BOTH[..], &["--print"]].concat())?,
        rig.administer(&[&BOTH[..], &["--dry-run"]].concat())?,
    ] {
        ensure!(shown.code == Some(0), "{shown:?}");
        for part in [
            "==> /etc/systemd/system/castellan@.service",
            "User=castellan",
            "==> /etc/tmpfiles.d/castellan.conf",
            "d /run/castellan/61002 0711 castellan castellan -",
            "chmod 711 ",
            "install -d -m 700 -o castellan -g castellan /var/lib/castellan/61001",
            "systemctl enable --now castellan-reader@61001.socket castellan-reader@61001.service castellan@61001.service",
            "hooks of Claude Code: /etc/claude-code/",
        ] {
            ensure!(shown.stdout.contains(part), "{part}: {}", shown.stdout);
        }
        rig.is_untouched()?;
    }
    // A package gets the files alone.
    let root = rig.machine.root()?.join("package");
    let done = rig.administer(&[&BOTH[..], &["--root", &root.display().to_string()]].concat())?;
    ensure!(done.code == Some(0), "{done:?}");
    ensure!(root.join("etc/systemd/system/castellan-reader@.socket").exists() && !root.join("var").exists());
    ensure!(rig.words()?.is_empty());
    rig.is_untouched()
}

#[test]
fn what_cannot_be_guarded_is_refused_before_any_change() -> Result<()> {
    let Some(rig) = Rig::bare()? else { return Ok(()) };
    for (user, why) in [
        ("root", "cannot be guarded by a daemon of another user"),
        ("castellan", "cannot be guarded by a daemon of another user"),
        ("nobody-here", "is no user in `/etc/passwd`"),
    ] {
        let done = rig.administer(&["install", "--system", "--user", user])?;
        ensure!(done.code == Some(7) && done.stderr.contains(why), "{user}: {done:?}");
        rig.is_untouched()?;
    }
    let done = rig.castellan(ONE, &["install", "--system", "--user", "u61001"])?;
    ensure!(done.code == Some(7) && done.stderr.contains("needs root"), "{done:?}");
    // A unit of the administrator.
    let unit = rig.etc("systemd/system/castellan@.service");
    fs::create_dir_all(unit.parent().context("a folder")?)?;
    fs::write(&unit, "[Service]\n")?;
    let done = rig.administer(&BOTH)?;
    ensure!(done.code == Some(7) && done.stderr.contains("castellan did not write it"), "{done:?}");
    assert_eq!(fs::read_to_string(&unit)?, "[Service]\n");
    ensure!(!rig.home_of(ONE)?.exists() && rig.machine.hook().is_err() && rig.words()?.is_empty());
    fs::remove_file(&unit)?;
    // A folder of another user in the place of a home.
    fs::create_dir_all(rig.home_of(ONE)?)?;
    chown(rig.home_of(ONE)?, Some(TWO), Some(TWO))?;
    let done = rig.administer(&BOTH)?;
    ensure!(done.code == Some(7) && done.stderr.contains("it belongs to the user u61002"), "{done:?}");
    ensure!(rig.machine.hook().is_err());
    assert_eq!(fs::metadata(rig.home_of(ONE)?)?.uid(), TWO);
    Ok(())
}

#[test]
fn an_interrupted_installation_is_completed() -> Result<()> {
    let Some(mut rig) = Rig::bare()? else { return Ok(()) };
    let fails = rig.programs()?.join("fails-enable");
    fs::write(&fails, "out of order")?;
    let done = rig.administer(&BOTH)?;
    ensure!(done.code == Some(7) && done.stderr.contains("out of order"), "{done:?}");
    ensure!(rig.machine.hook().is_err(), "hooks without a daemon");
    fs::remove_file(fails)?;
    rig.install()?;
    rig.start_reader(ONE)?;
    assert_eq!(rig.ask(ONE, "echo forbidden")?.0, "deny");
    for (path, owner, mode) in [
        (rig.home_of(ONE)?, DAEMON, 0o700),
        (rig.run_of(ONE)?, DAEMON, 0o711),
        (rig.machine.root()?.join("var-lib/castellan"), 0, 0o711),
        (rig.machine.root()?.join("run/castellan"), 0, 0o755),
        (rig.reader(), 0, 0o711),
    ] {
        let found = fs::metadata(&path)?;
        assert_eq!((found.uid(), found.permissions().mode() & 0o777), (owner, mode), "{}", path.display());
    }
    // A third time nothing is written.
    let pid = rig.daemon_pid(ONE)?;
    let done = rig.install()?;
    ensure!(!done.stdout.contains("written"), "{done:?}");
    assert_eq!(rig.daemon_pid(ONE)?, pid);
    Ok(())
}

#[test]
fn an_uninstall_takes_all_back() -> Result<()> {
    let Some(rig) = Rig::installed()? else { return Ok(()) };
    assert_eq!(rig.ask(ONE, "echo forbidden")?.0, "deny");
    let _installing = rig.words()?;
    // Code of an agent is no administrator, and the administrator must be a person.
    let done = rig.administer(&["uninstall", "--system"])?;
    ensure!(done.code == Some(4), "{done:?}");
    rig.uninstall(&["--user", "u61001"])?;
    assert_eq!(
        rig.words()?,
        [format!(
            "disable --now castellan@{ONE}.service castellan-reader@{ONE}.service castellan-reader@{ONE}.socket"
        )]
    );
    let folders = fs::read_to_string(rig.etc("tmpfiles.d/castellan.conf"))?;
    ensure!(!folders.contains("61001") && folders.contains("61002"), "{folders}");
    ensure!(!rig.home_of(ONE)?.exists() && !rig.run_of(ONE)?.exists());
    let aside = rig.home_of(ONE)?.with_file_name(format!("removed-{ONE}-1"));
    ensure!(aside.join("state/log").is_dir(), "the log is kept");
    // The user has a daemon of its own from now on, as with `castellan install --managed`.
    assert_eq!(rig.ask(ONE, "echo forbidden")?.0, "deny");
    ensure!(rig.machine.castellan(ONE)?.join("run").is_dir());
    assert_eq!(rig.ask(TWO, "echo forbidden")?.0, "deny");
    rig.uninstall(&["--purge"])?;
    ensure!(rig.machine.hook().is_err(), "hooks stay");
    ensure!(!rig.home_of(TWO)?.exists());
    for name in ["castellan@.service", "castellan-reader@.service", "castellan-reader@.socket"] {
        ensure!(!rig.etc("systemd/system").join(name).exists(), "{name}");
    }
    ensure!(!rig.etc("tmpfiles.d/castellan.conf").exists());
    assert_eq!(rig.words()?.last().map(String::as_str), Some("daemon-reload"));
    Ok(())
}
