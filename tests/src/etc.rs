//! A private `/etc` for tests of machine-wide settings. Commands run in their own mount namespace, in which some folders
//! below `/etc` are the test's and everything else is the machine's. `/run` and `/var/lib` are the test's if it has them. Each command gets a new namespace over the same folders, so a command reads the files that
//! earlier commands wrote.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

/// The folders below `/etc` in which castellan writes.
const MANAGED: [&str; 5] = ["castellan", "claude-code", "codex", "systemd", "tmpfiles.d"];

/// Moves the machine's `/etc` aside, mounts the test's in its place, and runs the command in the same folder.
const ENTER: &str = r#"set -e
mount --rbind /etc "$1/machine-etc"
mount --bind "$1/etc" /etc
if [ -d "$1/run" ]; then mount --bind "$1/run" /run; fi
if [ -d "$1/var-lib" ]; then mount --bind "$1/var-lib" /var/lib; fi
shift
exec "$@""#;

/// Creates the folders below `root` that [`command`] mounts. Never writes to the machine's `/etc`.
pub(crate) fn lay_out(root: &Path) -> Result<()> {
    let (etc, machine) = (root.join("etc"), root.join("machine-etc"));
    std::fs::create_dir_all(&machine)?;
    for name in MANAGED {
        std::fs::create_dir_all(etc.join(name))?;
    }
    for entry in std::fs::read_dir("/etc")?.flatten() {
        let name = entry.file_name();
        if !MANAGED.iter().any(|managed| *managed == name) {
            symlink(machine.join(&name), etc.join(&name))?;
        }
    }
    Ok(())
}

/// Returns a command that runs `program` with the `/etc` below `root`.
pub(crate) fn command(root: &Path, program: &Path) -> Command {
    let mut command = Command::new("unshare");
    // Without root, a user namespace gives the right to mount.
    let flags: &[&str] = if rustix::process::geteuid().is_root() { &["-m"] } else { &["-r", "-m"] };
    command.args(flags).args(["sh", "-c", ENTER, "sh"]).arg(root).arg(program);
    command
}
