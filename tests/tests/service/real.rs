//! A real systemd: the manager of an ordinary user, in a mount namespace. It runs where the test is root, systemd is installed
//! and its tree of control groups can be written.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::{Context, Result};
use castellan_tests::home::Home;
use castellan_tests::{agents, hook, terminal};

const WITH_SYSTEMD: &str = include_str!("programs/with-systemd");
const STEPS: &str = include_str!("programs/steps");

/// Paths of systemd's program.
const SYSTEMD: &[&str] = &["/usr/lib/systemd/systemd", "/lib/systemd/systemd"];

/// An ordinary user of every machine.
const USER: &str = "65534";

/// What the steps print, each line once.
const EXPECTED: &str = "\
install: 0
state: active
main: 0
rights: NoNewPrivs:\t1
answer: \"deny\"
sees: 0
again: \"deny\"
another: 0
program stops: 4
person stops: 0
state: inactive
answer: it is stopped
state: inactive
start: 0
answer: \"deny\"
uninstall: 0
known: not-found
answer: \"deny\"
stop: 0
";

#[test]
fn a_real_systemd_keeps_the_daemon_running() -> Result<()> {
    if !rustix::process::geteuid().is_root() {
        return agents::not_run("it needs root for a mount namespace with a manager of another user");
    }
    let Some(systemd) = SYSTEMD.iter().find(|path| Path::new(path).exists()) else {
        return agents::not_run("systemd is not installed");
    };
    let home = Home::with_castellan("systemd", hook::ENFORCE, hook::RULES)?;
    let folder = home.user().join("of-systemd");
    let (user, steps, call) = (folder.join("home"), folder.join("steps"), folder.join("call"));
    home.write(&user.join(".config/castellan/rules/user/test.yaml"), hook::RULES)?;
    home.write(&call, &hook::bash("forbidden").to_string())?;
    home.write(&steps, STEPS)?;
    let enter = folder.join("with-systemd");
    home.write(&enter, WITH_SYSTEMD)?;
    // The user must reach its folder.
    for dir in folder.ancestors().take(3) {
        std::fs::set_permissions(dir, Permissions::from_mode(0o755))?;
    }
    let text = |path: &Path| path.to_str().map(str::to_owned).context("a path");
    let variables = [
        format!("HOME_OF_USER={}", text(&user)?),
        format!("FOLDER={}", text(&folder)?),
        format!("BIN={}", text(&home.bin())?),
        format!("CALL={}", text(&call)?),
        format!("SYSTEMD={systemd}"),
    ];
    let mut words: Vec<&str> = variables.iter().map(String::as_str).collect();
    let (enter, folder_text, steps) = (text(&enter)?, text(&folder)?, text(&steps)?);
    words.extend([
        "timeout",
        "--foreground",
        "60",
        "unshare",
        "--mount",
        "sh",
        &enter,
        USER,
        &folder_text,
        &steps,
    ]);
    let done = terminal::run(&home, Path::new("/usr/bin/env"), &words)?;
    if done.code == Some(99) {
        return agents::not_run(&format!("no systemd for a user here: {}", done.stderr));
    }
    assert_eq!(done.stdout, EXPECTED, "{}", done.stderr);
    Ok(())
}
