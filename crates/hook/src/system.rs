//! Connects to a daemon of the system, which has a user of its own. The hook never starts it: without it, the call is
//! denied. The hook accepts no answer from another user, so a program of the agent cannot listen in its place.

use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use castellan_wire::{Home, connect};

use crate::failure::Failure;
use crate::limits::SYSTEM;
use crate::sys;

/// Connects to the daemon that guards this hook's user.
pub(crate) fn connect_to(home: &Home) -> Result<UnixStream, Failure> {
    let until = Instant::now() + SYSTEM;
    let mut pause = Duration::from_millis(1);
    loop {
        // Checked each time: the folder may be made meanwhile, and no other one may take its place.
        match daemon_of(&home.run(), sys::user_id()) {
            Ok(daemon) => {
                if let Ok(stream) = connect(&home.hook_socket()) {
                    return if sys::peer_user(&stream) == Some(daemon) {
                        Ok(stream)
                    } else {
                        Err(Failure::Foreign)
                    };
                }
            }
            Err(Failure::SystemDown) => {}
            Err(failure) => return Err(failure),
        }
        if Instant::now() >= until {
            return Err(Failure::SystemDown);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

/// Returns the daemon's user: the owner of the folder of its sockets, in which nobody else may write. The folder above
/// is root's, so no program of this user can have made it.
fn daemon_of(run: &Path, own: u32) -> Result<u32, Failure> {
    let above = run.parent().and_then(|above| std::fs::symlink_metadata(above).ok());
    let above = above.ok_or(Failure::SystemDown)?;
    let folder = std::fs::symlink_metadata(run).map_err(|_| Failure::SystemDown)?;
    let is_sound = above.is_dir()
        && above.uid() == 0
        && above.mode() & OTHERS_WRITE == 0
        && folder.is_dir()
        && folder.uid() != own
        && folder.mode() & OTHERS_WRITE == 0;
    if is_sound { Ok(folder.uid()) } else { Err(Failure::Foreign) }
}

/// Group and others may write.
const OTHERS_WRITE: u32 = 0o022;

#[cfg(test)]
mod tests {
    use std::fs::{DirBuilder, set_permissions};
    use std::os::unix::fs::{DirBuilderExt, PermissionsExt};

    use super::*;

    /// The test cannot make folders of other users, so it changes who asks.
    #[test]
    fn a_folder_that_others_can_have_made_is_not_the_daemons() {
        let dir = std::env::temp_dir().join(format!("castellan-hook-system-{}", std::process::id()));
        let run = dir.join("1000");
        let _ = std::fs::remove_dir_all(&dir);
        assert_eq!(daemon_of(&run, 1), Err(Failure::SystemDown), "nothing is there");
        DirBuilder::new().mode(0o755).create(&dir).unwrap();
        assert_eq!(daemon_of(&run, 1), Err(Failure::SystemDown));
        DirBuilder::new().mode(0o711).create(&run).unwrap();
        let owner = sys::user_id();
        // Only root's folder is trusted above the daemon's.
        let trusted = if owner == 0 { Ok(owner) } else { Err(Failure::Foreign) };
        assert_eq!(daemon_of(&run, owner + 1), trusted);
        assert_eq!(daemon_of(&run, owner), Err(Failure::Foreign), "the agent's own folder");
        for (path, mode) in [(&run, 0o733), (&dir, 0o777)] {
            let before = std::fs::metadata(path).unwrap().permissions();
            set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
            assert_eq!(daemon_of(&run, owner + 1), Err(Failure::Foreign), "{}", path.display());
            set_permissions(path, before).unwrap();
        }
        std::fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn the_user_at_the_other_end_is_known() {
        let (one, _other) = UnixStream::pair().unwrap();
        assert_eq!(sys::peer_user(&one), Some(sys::user_id()));
    }
}
