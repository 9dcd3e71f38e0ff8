//! [`Places`]: working directory and root of a process, `struct proc_vnodepathinfo` of `sys/proc_info.h`.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use crate::bytes::text_at;

/// Bytes of an answer.
pub(crate) const PLACES_BYTES: usize = 2352;

/// Offsets, asserted in `layout.c`.
const DIRECTORY: usize = 152;
const ROOT: usize = 1328;

/// Bytes of each path with its NUL (`MAXPATHLEN`).
const PATH_BYTES: usize = 1024;

/// The directories of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The working directory. `None` when the kernel has no path for it, for example after its removal.
    pub directory: Option<PathBuf>,
    /// True when the process sees the machine's own root.
    pub has_machines_root: bool,
}

/// Reads an answer; `None` if the bytes are none.
pub fn places(bytes: &[u8]) -> Option<Places> {
    if bytes.len() != PLACES_BYTES {
        return None;
    }
    let directory = text_at(bytes, DIRECTORY, PATH_BYTES)?;
    let root = text_at(bytes, ROOT, PATH_BYTES)?;
    let directory = directory.starts_with(b"/").then(|| OsString::from_vec(directory.to_vec()).into());
    // The kernel writes a path only for a process with a root of its own.
    Some(Places { directory, has_machines_root: root.is_empty() || root == b"/" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(directory: &[u8], root: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; 2352];
        bytes[..16].fill(0xAA);
        bytes[152..152 + directory.len()].copy_from_slice(directory);
        bytes[1328..1328 + root.len()].copy_from_slice(root);
        bytes
    }

    #[test]
    fn the_directories_are_read() {
        let check = |directory: &str, root: &str, expected: (Option<&str>, bool)| {
            let found = places(&raw(directory.as_bytes(), root.as_bytes())).unwrap();
            let shown = found.directory.as_ref().map(|path| path.to_str().unwrap());
            assert_eq!((shown, found.has_machines_root), expected, "{directory} {root}");
        };
        check("/Users/ada/a b", "", (Some("/Users/ada/a b"), true));
        check("/", "/", (Some("/"), true));
        check("/srv", "/private/jail", (Some("/srv"), false));
        check("", "", (None, true));
        check("relative", "", (None, true));
        assert_eq!(places(&raw(&[b'/'; 1024], b"")), None);
        assert_eq!(places(&[0; 2351]), None);
        assert_eq!(places(b""), None);
    }
}
