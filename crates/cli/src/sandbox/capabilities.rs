//! What this machine enforces, as a probe found it. The result stays in the home until the daemon starts again, a sandbox
//! fails, the machine boots or the launcher changes.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use castellan_files::{Guard, of_system, read_bytes, write_private};
use castellan_sandbox::{Capabilities, Probe, probe};
use castellan_wire::Home;
use serde::{Deserialize, Serialize};

use crate::limits::PROBE_BYTES_MAX;

/// A stored result.
#[derive(Debug, Serialize, Deserialize)]
struct Stored {
    version: u32,
    of: Of,
    can: Capabilities,
}

/// What a result depends on.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Of {
    boot: String,
    user: u32,
    /// Device, inode, size and time of the launcher.
    launcher: (u64, u64, u64, i64),
    /// The time of the daemon's socket.
    daemon: i64,
}

const VERSION: u32 = 1;

/// Returns the stored result, or probes.
pub(super) fn known(launcher: &Path, home: &Home) -> Capabilities {
    let of = of(launcher, home);
    let stored = of.as_ref().and_then(|of| read(&file(home)).filter(|stored| stored.of == *of));
    if let Some(stored) = stored {
        return stored.can;
    }
    fresh(launcher, home).can
}

/// Probes, and stores the result.
pub(crate) fn fresh(launcher: &Path, home: &Home) -> Probe {
    let found = probe(launcher);
    if let Some(of) = of(launcher, home) {
        // Without a stored result the next sandbox probes again.
        let stored = Stored { version: VERSION, of, can: found.can.clone() };
        let _not_stored = serde_json::to_vec(&stored).map(|bytes| write_private(&file(home), &bytes));
    }
    found
}

/// Removes the result, after a sandbox failed.
pub(super) fn forget(home: &Home) {
    let _absent = std::fs::remove_file(file(home));
}

fn file(home: &Home) -> PathBuf {
    home.run().join("sandbox.json")
}

fn of(launcher: &Path, home: &Home) -> Option<Of> {
    let boot = of_system("/proc/sys/kernel/random/boot_id", PROBE_BYTES_MAX)?;
    let boot = String::from_utf8(boot).ok()?;
    let launcher = std::fs::metadata(launcher).ok()?;
    let launcher = (launcher.dev(), launcher.ino(), launcher.len(), launcher.mtime());
    let daemon = std::fs::symlink_metadata(home.control_socket()).ok()?.ctime();
    Some(Of { boot, user: own(), launcher, daemon })
}

fn own() -> u32 {
    rustix::process::geteuid().as_raw()
}

fn read(file: &Path) -> Option<Stored> {
    let text = read_bytes(file, PROBE_BYTES_MAX, Guard::Private(own())).ok()?;
    serde_json::from_slice(&text).ok().filter(|stored: &Stored| stored.version == VERSION)
}
