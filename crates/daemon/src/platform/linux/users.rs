//! Users, from lines of `/etc/passwd`: `name:password:uid:gid:comment:home:shell` (passwd(5)). Does not read the file.

use crate::platform::Account;

/// The first user with this id. A field that is no text, or an empty name, is unknown.
pub(super) fn account(user: u32, users: &[u8]) -> Option<Account> {
    let name = field(user, users, 0).filter(|name| !name.is_empty()).map(str::to_owned);
    let home = field(user, users, 5).map(Into::into);
    (name.is_some() || home.is_some()).then_some(Account { name, home })
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
        let check = |user, name: Option<&str>, home: Option<&str>| {
            let found = account(user, users);
            let found = found.as_ref().map(|one| (one.name.as_deref(), one.home.as_deref()));
            let expected = home.map(|home| (name, Some(home.as_ref())));
            assert_eq!(found, expected, "{user}");
        };
        check(0, Some("root"), Some("/root"));
        check(1000, Some("u"), Some("/home/u"));
        check(7, None, None);
        check(8, None, Some("/home/w"));
    }
}
