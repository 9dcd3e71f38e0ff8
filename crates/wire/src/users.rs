//! The home of a user, by the id that the kernel reports: no environment, and so no agent, can change it. The files are
//! read because `std` cannot look up a user, and a statically linked C library does not reach LDAP or the like.

use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::home::Home;

/// Files of users, in the form of passwd(5). Root writes the users of a directory service into the second file.
pub const USER_FILES: [&str; 2] = ["/etc/passwd", "/etc/castellan/passwd"];

/// A home below its user's home directory. `XDG_DATA_HOME`, which may move the home of an install, is ignored here.
const BELOW_USER: &str = ".local/share/castellan";

/// Bytes of a file of users: enough for some hundred thousand users.
const USER_FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;

impl Home {
    /// Returns the home of a user of this machine; `None` if no file names the user and a home directory.
    pub fn of_user(user: u32) -> Option<Home> {
        USER_FILES.iter().find_map(|file| Home::named_in(user, &read(Path::new(file))))
    }

    /// Returns the home of the first user with this id. Lines have the form `name:password:uid:gid:comment:home:shell`.
    fn named_in(user: u32, users: &[u8]) -> Option<Home> {
        users.split(|byte| *byte == b'\n').find_map(|line| {
            let field = |number| line.split(|byte| *byte == b':').nth(number);
            let id: u32 = str::from_utf8(field(2)?).ok()?.parse().ok()?;
            let dir = Path::new(std::ffi::OsStr::from_bytes(field(5)?));
            // The directory of a service is `/` or does not exist: the service has no home of its own.
            let is_own = id == user && dir.parent().is_some();
            is_own.then(|| Home::new(dir.join(BELOW_USER))).flatten()
        })
    }
}

/// Returns the contents of a file; empty if it is missing, cannot be read or is too long.
fn read(file: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    let read = File::open(file).and_then(|file| file.take(USER_FILE_BYTES_MAX + 1).read_to_end(&mut bytes));
    let is_whole = read.is_ok() && bytes.len() as u64 <= USER_FILE_BYTES_MAX;
    if is_whole { bytes } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_users_home_is_found_by_their_id() {
        let users = b"root:x:0:0:r\xf6\xf6t:/root:/bin/bash\n# broken\n+::::::\nu:x:1000:1000::/home/u:/bin/sh\n\
                      v:x:1000:1000::/home/v:/bin/sh\nd:x:2:2::/:/bin/sh\nr:x:3:3::home:/bin/sh\nw:x:4:4:::/bin/sh\n\
                      m:x:-5:5::/home/m:/bin/sh\ny:x:06:6::/home/y y\n:x:7:7::/home/n:";
        let check = |user, expected: Option<&str>| {
            let home = Home::named_in(user, users);
            let dir = home.as_ref().map(|home| home.dir().to_str().unwrap());
            assert_eq!(dir, expected, "{user}");
        };
        check(0, Some("/root/.local/share/castellan"));
        check(1000, Some("/home/u/.local/share/castellan"));
        for none in [1, 2, 3, 4, 5, 999, u32::MAX] {
            check(none, None);
        }
        check(6, Some("/home/y y/.local/share/castellan"));
        check(7, Some("/home/n/.local/share/castellan"));
        assert_eq!(Home::named_in(0, b""), None);
    }
}
