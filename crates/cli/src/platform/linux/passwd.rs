//! Lines of `/etc/passwd`.

use crate::platform::Account;

/// Returns the first wanted account.
pub(super) fn find(users: &[u8], wanted: impl Fn(&Account) -> bool) -> Option<Account> {
    String::from_utf8_lossy(users).lines().filter_map(parse).find(|account| wanted(account))
}

/// Parses `name:password:uid:gid:comment:home:shell`, see passwd(5). An empty shell is `/bin/sh`.
fn parse(line: &str) -> Option<Account> {
    let fields: Vec<&str> = line.split(':').collect();
    let [name, _, uid, _, _, home, shell] = fields.try_into().ok()?;
    let shell = if shell.is_empty() { "/bin/sh" } else { shell };
    Some(Account { name: name.to_owned(), uid: uid.parse().ok()?, home: home.into(), shell: shell.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_lines_are_accounts() {
        let check = |line: &str, expected: Option<(&str, u32, &str, &str)>| {
            let expected = expected.map(|(name, uid, home, shell)| Account {
                name: name.into(),
                uid,
                home: home.into(),
                shell: shell.into(),
            });
            assert_eq!(parse(line), expected, "{line}");
        };
        check("ada:x:1000:1000:Ada, L:/home/ada:/bin/zsh", Some(("ada", 1000, "/home/ada", "/bin/zsh")));
        check("ada:x:1000:1000::/home/ada:", Some(("ada", 1000, "/home/ada", "/bin/sh")));
        check("ada:x:-1:1000::/home/ada:/bin/sh", None);
        check("+::::::", None);
        check("ada:x:1000", None);
    }
}
