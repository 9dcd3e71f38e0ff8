//! The Debian package, by the real `dpkg` in a folder of its own.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};
use castellan_tests::agents;
use castellan_tests::process::Finished;

use crate::rig::{PACKED_PLUGIN, Packages, real, run};

/// A system of `dpkg` in an empty folder.
struct System {
    root: tempfile::TempDir,
}

impl System {
    /// Returns `None`, after a warning, where there is no `dpkg` or no root.
    fn new() -> Result<Option<System>> {
        if !Path::new("/usr/bin/dpkg").exists() || !rustix::process::geteuid().is_root() {
            agents::not_run("it needs dpkg, as root")?;
            return Ok(None);
        }
        let root = tempfile::tempdir()?;
        let database = root.path().join("var/lib/dpkg");
        for folder in ["updates", "info", "triggers"] {
            fs::create_dir_all(database.join(folder))?;
        }
        fs::write(database.join("status"), "")?;
        Ok(Some(System { root }))
    }

    /// Runs `dpkg`. Scripts run outside, with `DPKG_ROOT`; the libraries that the package names are not in this system.
    fn dpkg(&self, arguments: &[&str]) -> Result<Finished> {
        let mut dpkg = Command::new("dpkg");
        dpkg.arg(format!("--root={}", self.root.path().display()));
        dpkg.args(["--force-script-chrootless", "--force-depends"]).args(arguments);
        run(dpkg.env("LC_ALL", "C").env("HOME", self.root.path()))
    }

    fn install(&self, package: &Path) -> Result<Finished> {
        self.dpkg(&["--install", &package.display().to_string()])
    }

    /// The state and version by the database.
    fn state(&self) -> Result<String> {
        let mut query = Command::new("dpkg-query");
        query.arg(format!("--root={}", self.root.path().display()));
        query.args(["--show", "--showformat", "${db:Status-Status} ${Version}", "castellan"]);
        Ok(run(&mut query)?.stdout)
    }

    fn file(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }
}

fn deb(version: &str) -> Result<(Packages, PathBuf)> {
    let packages = Packages::of_scripts(version)?;
    let deb = packages.find("castellan_", ".deb")?;
    Ok((packages, deb))
}

#[test]
fn a_package_goes_over_an_older_one_and_not_over_a_newer_one() -> Result<()> {
    let Some(system) = System::new()? else { return Ok(()) };
    let ((_one, old), (_two, new)) = (deb("0.9.0")?, deb("0.10.0")?);
    let done = system.install(&old)?;
    ensure!(done.code == Some(0) && done.stdout.contains("castellan install"), "{done:?}");
    ensure!(system.state()? == "installed 0.9.0", "{}", system.state()?);
    let done = system.install(&new)?;
    ensure!(done.code == Some(0) && done.stdout.contains("is updated"), "{done:?}");
    ensure!(system.state()? == "installed 0.10.0", "{}", system.state()?);
    ensure!(!system.file("usr/share/man/man1/castellan-0.9.0.1.gz").exists());
    let before = fs::read(system.file("usr/bin/castellan"))?;
    let done = system.install(&old)?;
    ensure!(
        done.code != Some(0) && done.stderr.contains("castellan 0.10.0 is installed, and this is 0.9.0"),
        "{done:?}"
    );
    ensure!(system.state()? == "installed 0.10.0", "the newer one stays: {}", system.state()?);
    ensure!(fs::read(system.file("usr/bin/castellan"))? == before);
    // After a removal the older one may come.
    ensure!(system.dpkg(&["--remove", "castellan"])?.code == Some(0));
    ensure!(system.install(&old)?.code == Some(0) && system.state()? == "installed 0.9.0");
    Ok(())
}

#[test]
fn a_half_finished_package_is_completed() -> Result<()> {
    let Some(system) = System::new()? else { return Ok(()) };
    let ((_one, old), (_two, new)) = (deb("0.1.0")?, deb("0.2.0")?);
    ensure!(system.install(&old)?.code == Some(0));
    // Unpacked and not configured, as after a loss of power.
    ensure!(system.dpkg(&["--unpack", &new.display().to_string()])?.code == Some(0));
    ensure!(system.state()? == "unpacked 0.2.0", "{}", system.state()?);
    ensure!(system.install(&new)?.code == Some(0));
    ensure!(system.state()? == "installed 0.2.0", "{}", system.state()?);
    Ok(())
}

#[test]
fn a_package_whose_hooks_guard_everybody_is_not_removed() -> Result<()> {
    let Some(system) = System::new()? else { return Ok(()) };
    let (_one, package) = deb("0.1.0")?;
    ensure!(system.install(&package)?.code == Some(0));
    for file in ["etc/claude-code/managed-settings.d/50-castellan.json", "etc/codex/requirements.toml"] {
        let path = system.file(file);
        fs::create_dir_all(path.parent().unwrap_or(&path))?;
        fs::write(&path, "command: /usr/bin/castellan-hook --agent x")?;
        let done = system.dpkg(&["--remove", "castellan"])?;
        ensure!(
            done.code != Some(0) && done.stderr.contains("castellan uninstall --managed"),
            "{file}: {done:?}"
        );
        ensure!(system.state()? == "installed 0.1.0", "{}", system.state()?);
        fs::write(&path, "command: /usr/bin/another")?;
    }
    let unit = system.file("etc/systemd/system/castellan@.service");
    fs::create_dir_all(unit.parent().unwrap_or(&unit))?;
    fs::write(&unit, "ExecStart=/usr/bin/castellan daemon --home /var/lib/castellan/%i\n")?;
    let done = system.dpkg(&["--remove", "castellan"])?;
    ensure!(done.code != Some(0) && done.stderr.contains("castellan uninstall --system"), "{done:?}");
    // Another castellan, as in /usr/local, needs no file of the package.
    fs::write(&unit, "ExecStart=/usr/local/bin/castellan daemon --home /var/lib/castellan/%i\n")?;
    ensure!(system.dpkg(&["--purge", "castellan"])?.code == Some(0));
    ensure!(!system.file("usr/bin/castellan").exists() && !system.file("usr/share/doc/castellan").exists());
    Ok(())
}

#[test]
fn the_real_package_has_programs_that_run() -> Result<()> {
    let Some(system) = System::new()? else { return Ok(()) };
    let package = real()?.find("castellan_", ".deb")?;
    let done = system.install(&package)?;
    ensure!(done.code == Some(0), "{done:?}");
    let mode = fs::metadata(system.file("usr/bin/castellan-reader"))?.permissions().mode() & 0o777;
    ensure!(mode == 0o711, "a user can inspect a reader whose program is readable: {mode:o}");
    let done = run(Command::new(system.file("usr/bin/castellan")).arg("--version"))?;
    ensure!(done.stdout.starts_with("castellan "), "{done:?}");
    ensure!(system.file("usr").join(PACKED_PLUGIN).is_file());
    let page =
        run(Command::new("gzip").args(["-dc"]).arg(system.file("usr/share/man/man1/castellan-doctor.1.gz")))?;
    ensure!(page.stdout.contains(".TH castellan-doctor"), "{page:?}");
    // dpkg itself names no fault of the files in its database.
    let audit = system.dpkg(&["--audit"])?;
    ensure!(audit.code == Some(0) && audit.stdout.is_empty(), "{audit:?}");
    Ok(())
}
