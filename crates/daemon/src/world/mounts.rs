//! Mounts of other machines' file systems, from the kernel's table of mounts.

/// Types of file systems whose files lie elsewhere, or are made up by a program. A name ends with `*` for any rest.
const REMOTE: &[&str] = &[
    "9p",
    "acfs",
    "afs",
    "afpfs",
    "beegfs",
    "ceph",
    "cifs",
    "coda",
    "davfs*",
    "fuse.*",
    "gfs",
    "gfs2",
    "glusterfs",
    "gpfs",
    "lustre",
    "ncpfs",
    "nfs",
    "nfs4",
    "ocfs2",
    "orangefs",
    "panfs",
    "prl_fs",
    "pvfs2",
    "smb2",
    "smb3",
    "smbfs",
    "vboxsf",
    "virtiofs",
    "vmhgfs",
    "webdav",
];

/// Those of them that lie on this machine after all.
const LOCAL: &[&str] = &[
    "fuse.fuse-overlayfs",
    "fuse.lxcfs",
    "fuse.portal",
    "fuse.gocryptfs",
    "fuse.encfs",
    "fuse.cryfs",
    "fuse.bindfs",
    "fuse.mergerfs",
    "fuse.squashfuse",
    "fuse.squashfuse_ll",
    "fuse.snapfuse",
    "fuse.archivemount",
];

/// The places where file systems of other machines are mounted: of lines `id parent major:minor root POINT options fields - TYPE
/// source options`, as proc_pid_mountinfo(5) describes them.
pub(super) fn network(mountinfo: &str) -> Vec<String> {
    let points = mountinfo.lines().filter_map(|line| {
        let (mount, system) = line.split_once(" - ")?;
        let kind = system.split(' ').next()?;
        is_remote(kind).then(|| mount.split(' ').nth(4)).flatten()
    });
    points.map(unescaped).collect()
}

fn is_remote(kind: &str) -> bool {
    let fits = |pattern: &&str| match pattern.strip_suffix('*') {
        Some(start) => kind.starts_with(start),
        None => kind == *pattern,
    };
    REMOTE.iter().any(fits) && !LOCAL.contains(&kind)
}

/// The kernel writes blanks, line ends and backslashes as three octal digits.
fn unescaped(point: &str) -> String {
    let escapes = [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")];
    escapes.iter().fold(point.to_owned(), |point, (escape, plain)| point.replace(escape, plain))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(network(table), expected);
        assert_eq!(network(""), Vec::<String>::new());
    }
}
