//! A home with a workspace, and runs in it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use castellan_sandbox::{Capabilities, Feature, LaunchError, Level, Outcome, Policy, Streams, probe, run};

/// Variables of tests that run again as another user: the launcher and a directory that this user can use.
pub(crate) const LAUNCHER: &str = "CASTELLAN_TEST_LAUNCHER";
pub(crate) const PLACE: &str = "CASTELLAN_TEST_PLACE";

pub(crate) fn launcher() -> PathBuf {
    std::env::var_os(LAUNCHER).map_or_else(|| env!("CARGO_BIN_EXE_castellan-sandbox").into(), PathBuf::from)
}

pub(crate) fn place() -> PathBuf {
    std::env::var_os(PLACE).map_or_else(|| env!("CARGO_TARGET_TMPDIR").into(), PathBuf::from)
}

/// A home with a workspace, outside `/tmp`, so that a private `/tmp` does not hide it by itself.
pub(crate) struct World {
    _root: tempfile::TempDir,
    pub(crate) work: PathBuf,
    pub(crate) home: PathBuf,
}

pub(crate) fn world() -> World {
    let root = tempfile::tempdir_in(place()).unwrap();
    let home = std::fs::canonicalize(root.path()).unwrap();
    let work = home.join("work");
    std::fs::create_dir_all(work.join(".git")).unwrap();
    std::fs::write(home.join("secret"), "secret text").unwrap();
    World { _root: root, work, home }
}

pub(crate) fn policy(world: &World) -> Policy {
    let mut policy = Policy::workspace_write(&world.work);
    policy.environment = vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())];
    policy.files.protected = vec![world.work.join(".git"), world.work.join(".castellan")];
    policy.files.secret = vec![world.home.join("secret")];
    policy
}

pub(crate) fn can() -> Capabilities {
    static CAN: OnceLock<Capabilities> = OnceLock::new();
    CAN.get_or_init(|| probe(&launcher()).can).clone()
}

pub(crate) fn null() -> std::os::fd::OwnedFd {
    std::fs::File::open("/dev/null").unwrap().into()
}

pub(crate) fn try_run(policy: &Policy, can: &Capabilities, command: &[&str]) -> Result<Outcome, LaunchError> {
    let command: Vec<OsString> = command.iter().map(OsString::from).collect();
    let streams = Streams { stdin: null(), stdout: Stdio::null(), stderr: Stdio::null(), report: None };
    run(policy, can, &command, &launcher(), streams, false).map(|(outcome, _)| outcome)
}

pub(crate) fn shell(policy: &Policy, can: &Capabilities, script: &str) -> u8 {
    try_run(policy, can, &["sh", "-c", script]).unwrap().code
}

pub(crate) fn levels() -> Vec<Capabilities> {
    let can = can();
    assert!(
        can.namespaces && can.landlock > 0 && can.seccomp,
        "{can:?}: the tests need a kernel with all of it"
    );
    let mut levels =
        [Level::Full, Level::Namespaces, Level::Landlock].map(|level| can.clone().at(level)).to_vec();
    levels.extend(bubblewrap());
    levels
}

/// Namespaces of bubblewrap, alone and with Landlock; nothing where bubblewrap is missing.
pub(crate) fn bubblewrap() -> Vec<Capabilities> {
    let can = can().without(Feature::OwnNamespaces);
    if can.bubblewrap.is_none() {
        eprintln!("not tested: bubblewrap is not installed, or does not work here");
        return Vec::new();
    }
    vec![can.clone().without(Feature::Landlock), can]
}

/// Runs one ignored test of this program again, by another program that changes what the test finds: its arguments come first.
/// It says so where that program is missing.
pub(crate) fn again(wrapper: &[&str], test: &str) {
    let own = std::env::current_exe().unwrap();
    let [program, arguments @ ..] = wrapper else { return };
    let probe = Command::new(program).arg("--version").stdout(Stdio::null()).status();
    if !probe.is_ok_and(|status| status.success()) {
        eprintln!("not tested: {program} is not installed");
        return;
    }
    let mut command = Command::new(program);
    command.args(arguments).arg(&own).args(["--exact", test, "--ignored", "--nocapture"]);
    let output = command.stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{test}: {text} {errors}");
}
