//! Mounts of other machines' file systems, from the kernel's mount table.

use std::fs::{File, read_link};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::limits::MOUNTS_BYTES_MAX;
use crate::platform::file_systems::is_remote;
use castellan_files::{Links, at_most, of_system, open_to_read};

/// Returns the mount points of remote file systems for a process. `None` if the table cannot be read.
pub(crate) fn network_mounts(pid: u32) -> Option<Vec<String>> {
    let of = |process: &str, what: &str| read_link(format!("/proc/{process}/{what}")).ok();
    let process = pid.to_string();
    let space = of(&process, "ns/mnt")?;
    let sees_ours = of(&process, "root")? == Path::new("/") && of("self", "ns/mnt")? == space;
    if !sees_ours {
        return Some(network(&of_system(&format!("/proc/{pid}/mountinfo"), MOUNTS_BYTES_MAX)?));
    }
    let mut own = OWN.lock().unwrap_or_else(PoisonError::into_inner);
    if !own.as_ref().is_some_and(|own| own.is_current()) {
        *own = Own::read("/proc/self/mountinfo");
    }
    own.as_ref().map(|own| own.network.clone())
}

/// This process's mounts, shared by processes with the same view. The table is the slowest part of reading a process.
static OWN: Mutex<Option<Own>> = Mutex::new(None);

struct Own {
    /// Opened before reading, and never read again.
    table: File,
    network: Vec<String>,
}

impl Own {
    fn read(table: &str) -> Option<Own> {
        let table = open_to_read(Path::new(table), Links::Followed).ok()?;
        let bytes = at_most(&table, MOUNTS_BYTES_MAX).ok()??;
        Some(Own { network: network(&bytes), table })
    }

    /// Reports whether the mounts are unchanged. The kernel counts changes of a namespace. An open table reports the
    /// changes since its opening or the last check (proc_pid_mounts(5)). Each change leads to a new `Own`, so every
    /// caller learns of it. An error means a change.
    fn is_current(&self) -> bool {
        let mut table = [PollFd::new(&self.table, PollFlags::PRI)];
        poll(&mut table, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) == Ok(0)
    }
}

/// Returns the mount points of remote file systems from lines
/// `id parent major:minor root POINT options fields - TYPE source options` (proc_pid_mountinfo(5)).
fn network(mountinfo: &[u8]) -> Vec<String> {
    let mountinfo = String::from_utf8_lossy(mountinfo);
    let points = mountinfo.lines().filter_map(|line| {
        let (mount, system) = line.split_once(" - ")?;
        let kind = system.split(' ').next()?;
        is_remote(kind).then(|| mount.split(' ').nth(4)).flatten()
    });
    points.map(unescaped).collect()
}

/// Decodes the kernel's octal escapes for blanks, line ends and backslashes.
fn unescaped(point: &str) -> String {
    let escapes = [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")];
    escapes.iter().fold(point.to_owned(), |point, (escape, plain)| point.replace(escape, plain))
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_table_that_was_read_knows_when_something_is_mounted() {
        let script = "echo; read x; mount -t tmpfs none /mnt && umount /mnt; echo; read x";
        let mut child = Command::new("unshare");
        child.args(["--user", "--map-root-user", "--mount", "sh", "-c", script]);
        child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let Ok(mut child) = child.spawn() else { return eprintln!("not tested: no `unshare`") };
        let table = format!("/proc/{}/mountinfo", child.id());
        let mut next = |answer: &[u8]| {
            child.stdin.as_mut().unwrap().write_all(answer).unwrap();
            child.stdout.as_mut().unwrap().read_exact(&mut [0])
        };
        let Ok(()) = next(b"") else { return eprintln!("not tested: no namespace may be made here") };
        let own = Own::read(&table).unwrap();
        assert!(own.is_current() && own.is_current());
        next(b"\n").unwrap();
        assert!(!own.is_current());
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn this_process_sees_what_its_table_says() {
        let table = std::fs::read("/proc/self/mountinfo").unwrap();
        for _ in 0..2 {
            assert_eq!(network_mounts(std::process::id()), Some(network(&table)));
        }
        assert_eq!(network_mounts(u32::MAX), None);
    }

    #[test]
    fn mounts_of_other_machines_are_told_from_those_of_this_one() {
        let table = "\
22 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw
24 22 0:22 / /proc rw,nosuid - proc proc rw
90 22 0:50 / /home/u rw,relatime shared:40 - nfs4 server:/home/u rw,vers=4.2
91 22 0:51 / /mnt/my\\040share rw - cifs //server/share rw
92 22 0:52 /sub /mnt/ssh rw,nosuid shared:7 master:2 - fuse.sshfs u@server:/ rw,user_id=0
93 22 0:53 / /var/lib/lxcfs rw - fuse.lxcfs lxcfs rw
94 22 0:54 / /c rw - 9p drvfs rw
95 22 0:55 / /odd\\134040 rw - smb3 //s/t rw
96 22 0:56 / /sys/fs/fuse/connections rw - fusectl fusectl rw
97 22 0:57 / /mnt/dav rw - davfs2 dav rw
a line that is none
";
        let expected = ["/home/u", "/mnt/my share", "/mnt/ssh", "/c", "/odd\\040", "/mnt/dav"];
        assert_eq!(network(table.as_bytes()), expected);
        assert_eq!(network(b""), Vec::<String>::new());
    }
}
