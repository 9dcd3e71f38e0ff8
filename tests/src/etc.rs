//! A private `/etc` for tests of machine-wide settings: commands run in a mount namespace of their own, in which
//! `/etc/claude-code` and `/etc/codex` are folders of the test and all else is as on the machine. Each command gets a
//! new namespace over the same folders, so that what one command writes the next one reads.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

/// The folders of machine-wide settings, below `/etc`.
const MANAGED: [&str; 3] = ["castellan", "claude-code", "codex"];

/// Puts the machine's `/etc` aside, the test's in its place, and runs the command in the folder it was started in.
const ENTER: &str = r#"set -e
mount --rbind /etc "$1/machine-etc"
mount --bind "$1/etc" /etc
shift
exec "$@""#;

/// Lays out the folders below `root` that [`command`] mounts. The machine's `/etc` itself is never written to.
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

/// Returns a command that runs `program` with the `/etc` that was laid out below `root`.
pub(crate) fn command(root: &Path, program: &Path) -> Command {
    let mut command = Command::new("unshare");
    // Without root, a user namespace gives the right to mount.
    let flags: &[&str] = if rustix::process::geteuid().is_root() { &["-m"] } else { &["-r", "-m"] };
    command.args(flags).args(["sh", "-c", ENTER, "sh"]).arg(root).arg(program);
    command
}
