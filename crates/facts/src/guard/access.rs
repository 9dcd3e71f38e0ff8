//! [`may_lock`]: reports if a change of permissions may lock the owner out. Must not know the directory's content.

use castellan_event::Operation;

/// Letters that select the owner in a clause of `chmod`; a clause without letters selects everybody.
const OWNERS: &[char] = &['u', 'a'];

/// Reports whether the owner of a directory may no longer enter it. An unknown mode may be any.
pub(super) fn may_lock(op: &Operation) -> bool {
    let mode = op.target.as_deref();
    match op.verb.as_deref() {
        Some("chmod") => mode.is_none_or(mode_locks),
        Some("setfacl") => mode.is_none_or(list_locks),
        // Effects of code do not store a numeric mode.
        None => true,
        Some(_) => false,
    }
}

/// Parses `0`, `u-x`, `go=r,a-rwx`. Entering a directory needs the right to execute it.
fn mode_locks(mode: &str) -> bool {
    if !mode.is_empty() && mode.bytes().all(|byte| byte.is_ascii_digit()) {
        let owner = mode.bytes().rev().nth(2).unwrap_or(b'0');
        return owner & 1 == 0;
    }
    mode.split(',').any(|clause| {
        let Some(at) = clause.find(['+', '-', '=']) else { return true };
        let (who, what) = clause.split_at(at);
        let is_owner = who.is_empty() || who.contains(OWNERS);
        let enters = what.contains(['x', 'X', '$', '`']);
        is_owner
            && match what.as_bytes().first() {
                Some(b'-') => enters,
                Some(b'=') => !enters,
                _ => false,
            }
    })
}

/// Parses `u::---`, `user:dev:r--`, `d:u::rwx`. An entry for the group or for others locks nobody out.
fn list_locks(list: &str) -> bool {
    list.split(',').any(|entry| {
        let (who, what) = entry.rsplit_once(':').unwrap_or((entry, ""));
        let is_owner = who.starts_with("u:") || who.starts_with("user:") || who == "u" || who == "user";
        is_owner && !what.contains(['x', 'X', '7', '5', '3', '1'])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_that_keeps_the_owner_out_is_told_from_others() {
        let check = |verb: &str, mode: &str, expected: bool| {
            let text = |text: &str| Some(text.to_owned());
            let op = Operation { verb: text(verb), target: text(mode), ..Operation::default() };
            assert_eq!(may_lock(&op), expected, "{verb} {mode}");
        };
        for mode in [
            "000", "0", "077", "600", "0600", "u-x", "-x", "a-rwx", "u=", "=", "u=rw,g=x", "-rwx", "$M",
            "u-$M",
        ] {
            check("chmod", mode, true);
        }
        for mode in [
            "700",
            "755",
            "0700",
            "1777",
            "u+rwx",
            "+x",
            "go-rwx",
            "o-x,g-w",
            "u=rwx,go=",
            "a+rX",
            "g=",
            "u-w",
        ] {
            check("chmod", mode, false);
        }
        for (list, expected) in [
            ("u::---", true),
            ("user:dev:r--", true),
            ("u::rwx", false),
            ("g::---", false),
            ("u:dev:7", false),
            ("m::---", false),
        ] {
            check("setfacl", list, expected);
        }
        check("chown", "root", false);
    }
}
