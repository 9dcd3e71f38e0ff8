//! The archive and its install script.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use castellan_tests::home::Home;
use castellan_tests::hook::{self, bash, understood};
use castellan_tests::process::{Finished, Running};
use castellan_tests::terminal;

use crate::rig::{LIMIT, PACKED_PLUGIN, Packages, files_below, real, run};

/// A user's folder, and unpacked archives of versions.
struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Result<Place> {
        Ok(Place { dir: tempfile::tempdir()? })
    }

    /// A prefix whose name has a space.
    fn prefix(&self) -> PathBuf {
        self.dir.path().join("a prefix")
    }

    fn unpack(&self, version: &str) -> Result<PathBuf> {
        Packages::of_scripts(version)?.unpack_archive(&self.dir.path().join(version))
    }

    fn command(&self, archive: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(archive.join("install.sh"));
        command.arg("--prefix").arg(self.prefix()).args(arguments).env("HOME", self.dir.path());
        command
    }

    fn run(&self, archive: &Path, arguments: &[&str]) -> Result<Finished> {
        run(&mut self.command(archive, arguments))
    }

    /// What the installed program says.
    fn version(&self) -> Result<String> {
        Ok(run(Command::new(self.prefix().join("bin/castellan")).arg("--version"))?.stdout.trim().to_owned())
    }
}

#[test]
fn the_same_programs_give_the_same_packages() -> Result<()> {
    let programs = tempfile::tempdir()?;
    let one = Packages::of_scripts("0.1.0")?.bytes()?;
    ensure!(one.len() == 7, "{:?}", one.keys());
    // Other folders, another user's mask, time zone and order of files.
    let copied = programs.path().join("elsewhere");
    fs::create_dir(&copied)?;
    let again = Packages::of_scripts("0.1.0")?;
    let unpacked = again.unpack_archive(&copied)?;
    let other = Packages::of(&unpacked.join("bin"), |dist| {
        dist.env("TZ", "Asia/Tokyo").env("LC_ALL", "C").env("HOME", "/nonexistent-home");
        if let Some(home) = std::env::var_os("HOME") {
            dist.env(
                "CARGO_HOME",
                std::env::var_os("CARGO_HOME").unwrap_or(Path::new(&home).join(".cargo").into()),
            );
            dist.env(
                "RUSTUP_HOME",
                std::env::var_os("RUSTUP_HOME").unwrap_or(Path::new(&home).join(".rustup").into()),
            );
        }
    })?;
    let other = other.bytes()?;
    for (name, bytes) in &one {
        ensure!(other.get(name) == Some(bytes), "{name} differs");
    }
    // The time of the files is the given one.
    let dated = Packages::of(&unpacked.join("bin"), |dist| {
        dist.env("SOURCE_DATE_EPOCH", "1000000000");
    })?;
    ensure!(dated.bytes()? != one);
    let unpacked = dated.unpack_archive(&copied.join("dated"))?;
    let modified = fs::metadata(unpacked.join("install.sh"))?.modified()?;
    ensure!(modified.duration_since(std::time::UNIX_EPOCH)?.as_secs() == 1_000_000_000);
    Ok(())
}

#[test]
fn an_archive_is_installed_and_removed() -> Result<()> {
    let place = Place::new()?;
    let archive = place.unpack("0.1.0")?;
    let done = place.run(&archive, &[])?;
    ensure!(done.code == Some(0), "{done:?}");
    ensure!(place.version()? == "castellan 0.1.0");
    ensure!(done.stdout.contains("next: ") && done.stdout.contains("is not on PATH"), "{done:?}");
    let files = files_below(&place.prefix())?;
    for file in [
        "bin/castellan-hook",
        "bin/castellan-reader",
        "bin/castellan-sandbox",
        PACKED_PLUGIN,
        "share/man/man1/castellan.1",
        "share/bash-completion/completions/castellan",
        "share/zsh/site-functions/_castellan",
        "share/fish/vendor_completions.d/castellan.fish",
        "share/doc/castellan/THIRD-PARTY.txt",
        "share/doc/castellan/sbom.cdx.json",
    ] {
        ensure!(files.contains(&file.to_owned()), "{file}: {files:?}");
    }
    let mode =
        |file: &str| Ok::<u32, std::io::Error>(fs::metadata(place.prefix().join(file))?.permissions().mode());
    ensure!(mode("bin/castellan")? & 0o777 == 0o755);
    for file in [PACKED_PLUGIN, "share/man/man1/castellan.1"] {
        ensure!(mode(file)? & 0o777 == 0o644, "{file}");
    }
    // Falco loads no library of a folder that others may write.
    ensure!(mode("lib/castellan")? & 0o022 == 0);
    // A second run changes nothing.
    let again = place.run(&archive, &[])?;
    ensure!(again.code == Some(0) && !again.stdout.contains("installed "), "{again:?}");
    // A user's own file stays.
    fs::write(place.prefix().join("share/man/man1/mine.1"), "x")?;
    let done = place.run(&archive, &["--uninstall"])?;
    ensure!(done.code == Some(0), "{done:?}");
    ensure!(files_below(&place.prefix())? == ["share/man/man1/mine.1"]);
    ensure!(!place.prefix().join("lib/castellan").exists());
    let done = place.run(&archive, &["--uninstall"])?;
    ensure!(done.code == Some(1) && done.stderr.contains("no castellan of this script"), "{done:?}");
    Ok(())
}

#[test]
fn a_damaged_archive_installs_nothing() -> Result<()> {
    for (file, text) in [
        ("bin/castellan-hook", Some("#!/bin/sh\n")),
        ("share/man/man1/castellan.1", Some("another page")),
        ("install.sh", None),
        ("SHA256SUMS", None),
        ("bin/castellan", None),
    ] {
        let place = Place::new()?;
        let archive = place.unpack("0.1.0")?;
        let path = archive.join(file);
        let script = place.dir.path().join("install.sh");
        fs::copy(archive.join("install.sh"), &script)?;
        match (file, text) {
            ("install.sh", _) => fs::write(&path, format!("{}\n", fs::read_to_string(&path)?))?,
            (_, Some(text)) => fs::write(&path, text)?,
            (_, None) => fs::remove_file(&path)?,
        }
        let done = place.run(&archive, &[])?;
        ensure!(done.code == Some(3), "{file}: {done:?}");
        ensure!(!place.prefix().exists(), "{file}: something was installed");
    }
    Ok(())
}

/// A folder with `mv` that fails after so many calls, as at a full disk or a kill.
fn failing_mv(folder: &Path, after: usize) -> Result<()> {
    let (count, mv) = (folder.join("count"), folder.join("mv"));
    let script = format!(
        "#!/bin/sh\necho x >>'{0}'\n[ \"$(wc -l <'{0}')\" -le {after} ] || exit 1\nexec /bin/mv \"$@\"\n",
        count.display()
    );
    fs::write(&mv, script)?;
    Ok(fs::set_permissions(mv, fs::Permissions::from_mode(0o755))?)
}

#[test]
fn a_half_finished_installation_is_resumed() -> Result<()> {
    // Two renames for the lists, one for each of seven changed files, one for the mark. Programs stay whole until their turn.
    for after in [0, 1, 2, 4, 6, 7, 8, 9] {
        let place = Place::new()?;
        let (old, new) = (place.unpack("0.1.0")?, place.unpack("0.2.0")?);
        ensure!(place.run(&old, &[])?.code == Some(0));
        let broken = place.dir.path().join("broken");
        fs::create_dir(&broken)?;
        failing_mv(&broken, after)?;
        let path = format!("{}:{}", broken.display(), std::env::var("PATH")?);
        let done = run(place.command(&new, &[]).env("PATH", path))?;
        ensure!(done.code == Some(1), "{after}: {done:?}");
        let said = place.version()?;
        ensure!(["castellan 0.1.0", "castellan 0.2.0"].contains(&said.as_str()), "{after}: {said}");
        ensure!(fs::read_to_string(place.prefix().join("share/castellan/version"))? == "0.1.0\n", "{after}");
        let done = place.run(&new, &[])?;
        ensure!(done.code == Some(0), "{after}: {done:?}");
        ensure!(place.version()? == "castellan 0.2.0", "{after}");
        let files = files_below(&place.prefix())?;
        ensure!(!files.iter().any(|file| file.contains(".castellan-new")), "{after}: {files:?}");
        // A file that only the version before had is gone.
        ensure!(!files.iter().any(|file| file.contains("castellan-0.1.0.1")), "{after}: {files:?}");
        ensure!(files.contains(&"share/man/man1/castellan-0.2.0.1".to_owned()), "{after}: {files:?}");
        ensure!(place.run(&new, &["--uninstall"])?.code == Some(0), "{after}");
        ensure!(files_below(&place.prefix())?.is_empty(), "{after}");
    }
    Ok(())
}

#[test]
fn an_older_archive_does_not_replace_a_newer_castellan() -> Result<()> {
    for (old, new) in [("0.1.0", "0.2.0"), ("0.9.0", "0.10.0"), ("1.9.9", "2.0.0"), ("0.1", "0.1.1")] {
        let place = Place::new()?;
        let (older, newer) = (place.unpack(old)?, place.unpack(new)?);
        ensure!(place.run(&older, &[])?.code == Some(0));
        ensure!(place.run(&newer, &[])?.code == Some(0), "{new} over {old}");
        let before = files_below(&place.prefix())?;
        for is_marked in [true, false] {
            // Without the mark of a finished installation the program itself is asked.
            if !is_marked {
                fs::remove_file(place.prefix().join("share/castellan/version"))?;
            }
            let done = place.run(&older, &[])?;
            ensure!(done.code == Some(6), "{old} over {new}: {done:?}");
            ensure!(done.stderr.contains(old) && done.stderr.contains(new), "{done:?}");
            ensure!(place.version()? == format!("castellan {new}"));
        }
        ensure!(before.len() == files_below(&place.prefix())?.len() + 1, "only the mark is gone");
        ensure!(place.run(&newer, &["--uninstall"])?.code == Some(0));
        ensure!(place.run(&older, &[])?.code == Some(0), "after a removal it may");
    }
    Ok(())
}

#[test]
fn a_castellan_that_guards_is_not_removed() -> Result<()> {
    let place = Place::new()?;
    let archive = place.unpack("0.1.0")?;
    ensure!(place.run(&archive, &[])?.code == Some(0));
    fs::write(place.dir.path().join("guarded"), "")?;
    let done = place.run(&archive, &["--uninstall"])?;
    ensure!(done.code == Some(4) && done.stderr.contains("still guards agents"), "{done:?}");
    ensure!(place.version()? == "castellan 0.1.0");
    fs::remove_file(place.dir.path().join("guarded"))?;
    ensure!(place.run(&archive, &["--uninstall"])?.code == Some(0));
    Ok(())
}

#[test]
fn a_link_in_the_prefix_is_replaced_and_never_followed() -> Result<()> {
    let place = Place::new()?;
    let archive = place.unpack("0.1.0")?;
    let (bin, victim) = (place.prefix().join("bin"), place.dir.path().join("victim"));
    fs::create_dir_all(&bin)?;
    fs::write(&victim, "precious")?;
    symlink(&victim, bin.join("castellan"))?;
    symlink(&victim, bin.join("castellan-hook.castellan-new"))?;
    let done = place.run(&archive, &[])?;
    ensure!(done.code == Some(0), "{done:?}");
    ensure!(fs::read_to_string(&victim)? == "precious");
    ensure!(!bin.join("castellan").is_symlink());
    // A folder in the place of a program is another matter.
    fs::remove_file(bin.join("castellan"))?;
    fs::create_dir(bin.join("castellan"))?;
    let done = place.run(&archive, &[])?;
    ensure!(done.code == Some(1) && done.stderr.contains("is a folder"), "{done:?}");
    Ok(())
}

#[test]
fn a_wrong_command_line_changes_nothing() -> Result<()> {
    let place = Place::new()?;
    let archive = place.unpack("0.1.0")?;
    for arguments in [&["--nonsense"][..], &["--prefix"], &["uninstall"]] {
        let done = place.run(&archive, arguments)?;
        ensure!(done.code == Some(2), "{arguments:?}: {done:?}");
    }
    let mut command = Command::new(archive.join("install.sh"));
    let done = run(command.env_remove("HOME"))?;
    ensure!(done.code == Some(2) && done.stderr.contains("HOME is not set"), "{done:?}");
    ensure!(!place.prefix().exists());
    Ok(())
}

/// Installs the real programs, guards an agent with them, and removes all of it again.
#[test]
fn the_real_archive_is_installed_used_and_removed() -> Result<()> {
    let mut home = Home::new("package")?;
    if !home.make_etc_private()? {
        return Ok(());
    }
    let archive = real()?.unpack_archive(&home.user().join("unpacked"))?;
    let prefix = home.user().join(".local");
    let done = Running::start(&mut home.command(&archive.join("install.sh")))?.finish(LIMIT)?;
    ensure!(done.code == Some(0), "{done:?}");
    let castellan = prefix.join("bin/castellan");
    home.write(&home.castellan().join("config/rules/user/test.yaml"), hook::RULES)?;
    let at = home.castellan().display().to_string();
    let done = terminal::run(&home, &castellan, &["--home", &at, "install", "claude"])?;
    ensure!(done.code == Some(0), "{done:?}");
    let settings = fs::read_to_string(home.user().join(".claude/settings.json"))?;
    ensure!(settings.contains(&prefix.join("bin/castellan-hook").display().to_string()), "{settings}");
    // castellan takes `timeout` for the agent.
    let mut asked = home.command(Path::new("timeout"));
    asked.arg("60").arg(prefix.join("bin/castellan-hook")).args([
        "--agent",
        "claude",
        "--event",
        "PreToolUse",
        "--home",
        &at,
    ]);
    let payload = bash("echo forbidden").to_string();
    let done = Running::start_with_input(&mut asked, payload.as_bytes())?.finish(LIMIT)?;
    ensure!(understood(&done) == "deny", "{done:?}");
    // While it guards, the script does not remove it. The home is the default one for the script.
    let data = home.castellan().parent().context("no folder")?.to_owned();
    let uninstall = |home: &Home| {
        let mut command = home.command(&archive.join("install.sh"));
        Running::start(command.arg("--uninstall").env("XDG_DATA_HOME", &data))?.finish(LIMIT)
    };
    let done = uninstall(&home)?;
    ensure!(done.code == Some(4), "{done:?}");
    let done = terminal::run(&home, &castellan, &["--home", &at, "uninstall", "--purge"])?;
    ensure!(done.code == Some(0), "{done:?}");
    let done = uninstall(&home)?;
    ensure!(done.code == Some(0), "{done:?}");
    ensure!(files_below(&prefix)?.is_empty(), "{:?}", files_below(&prefix)?);
    ensure!(!home.castellan().exists(), "{:?}", files_below(&home.castellan()));
    Ok(())
}
