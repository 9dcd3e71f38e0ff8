//! Users, from lines of `/etc/passwd`: `name:password:uid:gid:comment:home:shell` (passwd(5)). Does not read the file.

/// The name of the first user with this id.
pub(crate) fn name_of(user: u32, users: &[u8]) -> Option<&str> {
    field(user, users, 0).filter(|name| !name.is_empty())
}

/// The home of the first user with this id.
pub(crate) fn home_of(user: u32, users: &[u8]) -> Option<&str> {
    field(user, users, 5)
}

fn field(user: u32, users: &[u8], wanted: usize) -> Option<&str> {
    // Works on bytes, because an invalid name must not hide the other lines.
    users.split(|byte| *byte == b'\n').find_map(|line| {
        let field = |number| line.split(|byte| *byte == b':').nth(number).map(str::from_utf8);
        let is_user = field(2)?.ok()?.parse() == Ok(user);
        field(wanted)?.ok().filter(|_| is_user)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_found_by_their_ids() {
        let users = b"root:x:0:0:r\xf6\xf6t:/root:/bin/bash\n# broken\nu:x:1000:1000::/home/u:/bin/sh\n\
                      v:x:1000:1000::/home/v:/bin/sh\n:x:8:8::/home/w:/bin/sh\n";
        let check = |user, name, home| {
            assert_eq!((name_of(user, users), home_of(user, users)), (name, home), "{user}");
        };
        check(0, Some("root"), Some("/root"));
        check(1000, Some("u"), Some("/home/u"));
        check(7, None, None);
        check(8, None, Some("/home/w"));
    }
}
