//! The users of this machine by name. Only root writes the list.

use castellan_files::of_system;

use crate::limits::USERS_BYTES_MAX;

/// Returns the id of a local user; `None` if the name is none, or if the list cannot be read.
pub fn user_named(name: &str) -> Option<u32> {
    named_in(&of_system("/etc/passwd", USERS_BYTES_MAX)?, name)
}

/// Takes the first line with the name, as the C library does. A line is `name:password:id:group:...`.
fn named_in(users: &[u8], name: &str) -> Option<u32> {
    let mut lines = users.split(|byte| *byte == b'\n').map(|line| line.split(|byte| *byte == b':'));
    let mut line = lines.find_map(|mut line| (line.next()? == name.as_bytes()).then_some(line))?;
    str::from_utf8(line.nth(1)?).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_found_by_the_whole_name() {
        let users = b"root:x:0:0::/root:/bin/sh\ncastellan2:x:1:1::/:/\ncastellan:x:990:990::/:/\ncastellan:x:5:5::/:/\nodd\nbad:x:-1:0::/:/\n";
        let check = |name, expected| assert_eq!(named_in(users, name), expected, "{name}");
        check("castellan", Some(990));
        check("root", Some(0));
        for none in ["castella", "castellan:x", "odd", "bad", "", "nobody"] {
            check(none, None);
        }
    }
}
