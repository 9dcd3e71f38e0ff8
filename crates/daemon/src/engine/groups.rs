//! Groups without users. Debian's `/usr/local/bin` belongs to root and the group `staff`, which may write there. Nobody is
//! in that group until an administrator says so. A group that certainly has no user changes nothing for root's files.
//!
//! The module must not know files.

use castellan_files::of_system;

use crate::limits::USER_DATABASE_BYTES_MAX;

/// The file that names the sources of users and groups.
const NAME_SERVICES: &str = "/etc/nsswitch.conf";

/// The first id of ordinary users' groups. They give such groups to each other.
const FIRST_ORDINARY: u32 = 1000;

/// The sources of users and groups on this machine alone. Others, such as a directory of a company, can add members.
const LOCAL: &[&str] = &["files", "systemd"];

/// The texts of the databases of users and groups.
#[derive(Debug, Clone, Copy)]
struct Databases<'d> {
    users: &'d str,
    groups: &'d str,
    /// `None`: the file does not exist, and the C library reads the local files only.
    services: Option<&'d str>,
}

/// Reports whether certainly no user but root is in a group. `own`: the groups of this process.
pub(super) fn has_no_users(group: u32, own: &[u32]) -> bool {
    // A text that is not UTF-8 names no group and no user by chance.
    let read = |file| Some(String::from_utf8_lossy(&of_system(file, USER_DATABASE_BYTES_MAX)?).into_owned());
    let (Some(users), Some(groups)) = (read("/etc/passwd"), read("/etc/group")) else { return false };
    let services = read(NAME_SERVICES);
    if services.is_none() && std::fs::symlink_metadata(NAME_SERVICES).is_ok() {
        return false;
    }
    let databases = Databases { users: &users, groups: &groups, services: services.as_deref() };
    !own.contains(&group) && is_empty(group, databases)
}

/// As [`has_no_users`], for these databases. A line that it cannot read may name a member.
fn is_empty(group: u32, databases: Databases<'_>) -> bool {
    let fields = |line: &str| line.split(':').map(str::to_owned).collect::<Vec<_>>();
    let is_entry = |line: &&str| !line.trim().is_empty() && !line.starts_with('#');
    let lines = |text: &str| text.lines().filter(is_entry).map(fields).collect::<Vec<_>>();
    let id = |text: &str| text.parse::<u32>().ok();
    // The name, the password, the user id, the group id, and more.
    let is_of_another = |user: &Vec<String>| match user.as_slice() {
        [_, _, user, of, ..] => id(user) == Some(0) || id(of).is_some_and(|of| of != group),
        _ => false,
    };
    let mut is_known = false;
    // The name, the password, the group id, and the members.
    let mut has_no_member = |entry: &Vec<String>| match entry.as_slice() {
        [_, _, of, members] => match id(of) {
            Some(of) if of == group => {
                is_known = true;
                members.split(',').all(|member| ["", "root"].contains(&member.trim()))
            }
            Some(_) => true,
            None => false,
        },
        _ => false,
    };
    group < FIRST_ORDINARY
        && databases.services.is_none_or(are_local)
        && lines(databases.users).iter().all(is_of_another)
        && lines(databases.groups).iter().all(&mut has_no_member)
        && is_known
}

/// Reports whether `/etc/nsswitch.conf` has users and groups from this machine alone.
fn are_local(services: &str) -> bool {
    let lines = services.lines().filter_map(|line| line.split('#').next()?.split_once(':'));
    let mut of_users = lines.filter(|(name, _)| ["passwd", "group", "initgroups"].contains(&name.trim()));
    of_users.all(|(_, sources)| sources.split_whitespace().all(|source| LOCAL.contains(&source)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAFF: u32 = 50;

    const DEBIAN: Databases<'static> = Databases {
        users: "root:x:0:0:root:/root:/bin/bash\n# eve:x:1001:50::/:\nada:x:1000:1000::/home/ada:/bin/bash\n",
        groups: "root:x:0:\nsudo:x:27:ada\nstaff:x:50:\nada:x:1000:\nempty:x:1001:\n",
        services: Some(
            "# a comment\npasswd:         files systemd\ngroup: files systemd # local\nhosts: files dns\n",
        ),
    };

    #[test]
    fn a_group_is_empty_only_if_no_source_can_name_a_member() {
        assert!(is_empty(STAFF, DEBIAN));
        assert!(is_empty(STAFF, Databases { services: None, ..DEBIAN }));
        assert!(is_empty(STAFF, Databases { groups: "staff:x:50:root\n", ..DEBIAN }));
        for group in [27, 1000, 1001, 51] {
            assert!(!is_empty(group, DEBIAN), "{group}");
        }
        for groups in [
            "staff:x:50:ada\n",
            "staff:x:50:root,ada\n",
            "staff:x:50:\nother:x:50:ada\n",
            "staff:x:50:\n+\n",
            "staff:x:50:\n+::::\n",
            "staff:x:50\n",
            "",
        ] {
            assert!(!is_empty(STAFF, Databases { groups, ..DEBIAN }), "{groups:?}");
        }
        for users in ["eve:x:1001:50::/:/bin/sh\n", "+::::::\n", "eve:x:1001\n", "eve:x:y:z::/:\n"] {
            assert!(!is_empty(STAFF, Databases { users, ..DEBIAN }), "{users:?}");
        }
        for services in ["group: files sss\n", "passwd:files ldap", "initgroups: nis", "group: compat"] {
            assert!(!is_empty(STAFF, Databases { services: Some(services), ..DEBIAN }), "{services:?}");
        }
    }

    #[test]
    fn a_group_of_this_process_has_a_user() {
        assert!(!has_no_users(STAFF, &[STAFF]));
    }
}
