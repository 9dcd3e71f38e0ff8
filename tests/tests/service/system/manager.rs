//! The units of a system under a real systemd, the first process of a namespace. It runs where the test is root and systemd
//! is installed.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use castellan_tests::process::Running;
use castellan_tests::{agents, hook};

use super::rig::LIMIT;

const WITH_SYSTEM_MANAGER: &str = include_str!("../programs/with-system-manager");
const STEPS: &str = include_str!("../programs/system-steps");

/// Paths of systemd's program.
const SYSTEMD: &[&str] = &["/usr/lib/systemd/systemd", "/lib/systemd/systemd"];

const PROGRAMS: &[&str] = &["castellan", "castellan-hook", "castellan-sandbox", "castellan-reader"];

/// What the steps print.
const EXPECTED: &str = "\
install: 0
state: active
user: castellan
CapEff: 0000000000000000
NoNewPrivs: 1
home: empty
root: empty
var/lib/castellan/61001: config,state,
var/lib/castellan: 61001,
level: own_user
forbidden: \"deny\"
own script: passes
kill: 1
forbidden: \"deny\"
another: 0
kill reader: 0
reader again: 0
";

#[test]
fn a_real_systemd_runs_the_whole_unit_and_its_daemon_judges() -> Result<()> {
    if !rustix::process::geteuid().is_root() {
        return agents::not_run("it needs root for a service manager of the system");
    }
    let Some(systemd) = SYSTEMD.iter().find(|path| Path::new(path).exists()) else {
        return agents::not_run("systemd is not installed");
    };
    let place = tempfile::tempdir()?;
    let (folder, bin) = (place.path().join("folder"), place.path().join("folder/bin"));
    fs::create_dir_all(&bin)?;
    fs::set_permissions(&bin, Permissions::from_mode(0o755))?;
    let built = std::env::current_exe()?;
    let built = built.parent().and_then(Path::parent).context("no folder")?.to_owned();
    // Another process copies them: an executable that is being written while another thread forks cannot be started.
    let mut copy = Command::new("cp");
    copy.args(PROGRAMS.iter().map(|name| built.join(name))).arg(&bin);
    let copied = Running::start(&mut copy)?.finish(LIMIT)?;
    ensure!(copied.code == Some(0), "{copied:?}");
    let enter = folder.join("with-system-manager");
    for (file, text) in
        [("with-system-manager", WITH_SYSTEM_MANAGER), ("steps", STEPS), ("rules.yaml", hook::RULES)]
    {
        fs::write(folder.join(file), text)?;
    }
    fs::write(folder.join("call"), hook::bash("COMMAND").to_string())?;
    let mut run = Command::new("timeout");
    run.args(["--kill-after", "2", "100", "bash"]).arg(&enter).arg(&folder).arg(systemd);
    let done = Running::start(&mut run)?.finish(4 * LIMIT)?;
    if done.code == Some(99) {
        return agents::not_run(&format!("no systemd of a system here: {}", done.stderr));
    }
    let text = |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_default();
    assert_eq!(text("result"), EXPECTED, "{}{}{}", text("errors"), text("install.log"), text("log"));
    Ok(())
}
