//! All other tests, as an ordinary user: what root's capabilities and files change must not be what makes them pass.

use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use crate::world::{LAUNCHER, PLACE, launcher};

/// `nobody`, which owns nothing.
const USER: &str = "65534";

#[test]
fn every_test_passes() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("not tested: this is an ordinary user already");
        return;
    }
    // Not in `/tmp`, which a private one hides, and where nobody can read the directories of the build.
    let place = tempfile::tempdir_in("/var/tmp").unwrap();
    std::fs::set_permissions(place.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let (own, program) = (place.path().join("tests"), place.path().join("castellan-sandbox"));
    std::fs::copy(std::env::current_exe().unwrap(), &own).unwrap();
    std::fs::copy(launcher(), &program).unwrap();
    let mut command = Command::new("setpriv");
    command.args(["--reuid", USER, "--regid", USER, "--clear-groups", "--"]).arg(&own);
    command.args(["--skip", "ordinary_user::"]);
    command.env(LAUNCHER, &program).env(PLACE, place.path()).current_dir(place.path());
    match command.stdin(Stdio::null()).output() {
        Err(error) => eprintln!("not tested: setpriv cannot be started: {error}"),
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(output.status.success(), "{text} {}", String::from_utf8_lossy(&output.stderr));
        }
    }
}
