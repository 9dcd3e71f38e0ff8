//! Rights of Landlock, by its versions (`linux/landlock.h`). Pure.

/// The newest version whose rights are known here.
pub(crate) const NEWEST: u32 = 7;

const EXECUTE: u64 = 1;
const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
const READ_DIR: u64 = 1 << 3;
const REFER: u64 = 1 << 13;
const TRUNCATE: u64 = 1 << 14;
const IOCTL_DEV: u64 = 1 << 15;

/// Rights of version 1: execute to make symlink.
const FIRST: u64 = (1 << 13) - 1;

/// Rights that a rule for a file can have; the others are for directories.
pub const FILE_RIGHTS: u64 = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV;

/// To read and execute.
pub(crate) const READ: u64 = EXECUTE | READ_FILE | READ_DIR;

/// To make device files, which no command of a sandbox needs.
const MAKE_DEVICES: u64 = 1 << 6 | 1 << 11;

/// Rights for devices and terminals: to read and write, without making anything.
pub(crate) fn device(version: u32) -> u64 {
    (READ_FILE | WRITE_FILE | READ_DIR | TRUNCATE | IOCTL_DEV) & handled(version)
}

/// Rights on the files of the standard streams.
pub(crate) fn stream(version: u32) -> u64 {
    (READ_FILE | WRITE_FILE | TRUNCATE | IOCTL_DEV) & handled(version)
}

/// To read, write, make and remove.
pub(crate) fn write(version: u32) -> u64 {
    handled(version) & !MAKE_DEVICES & !IOCTL_DEV
}

/// Rights on files that a version checks.
pub(crate) fn handled(version: u32) -> u64 {
    let mut rights = FIRST;
    for (since, right) in [(2, REFER), (3, TRUNCATE), (5, IOCTL_DEV)] {
        if version >= since {
            rights |= right;
        }
    }
    rights
}

/// Rights on TCP (bind, connect) that a version checks.
pub(crate) fn network(version: u32) -> u64 {
    if version >= 4 { 0b11 } else { 0 }
}

/// Scopes (abstract Unix sockets, signals) that a version checks.
pub(crate) fn scopes(version: u32) -> u64 {
    if version >= 6 { 0b11 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_checks_only_its_own_rights() {
        assert_eq!(handled(1), 0x1fff);
        assert_eq!(handled(2), 0x3fff);
        assert_eq!(handled(3), 0x7fff);
        assert_eq!(handled(4), 0x7fff);
        assert_eq!(handled(5), 0xffff);
        for version in 1..=NEWEST {
            assert_eq!(write(version) & !handled(version), 0);
            assert_eq!(device(version) & !handled(version), 0);
        }
        assert_eq!(write(NEWEST) & MAKE_DEVICES, 0);
        assert_eq!((network(3), network(4), scopes(5), scopes(6)), (0, 3, 0, 3));
    }
}
