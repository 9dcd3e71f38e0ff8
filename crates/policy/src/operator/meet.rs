//! Tests whether two path patterns may match the same path. Does not depend on the use of either.

use crate::limits::GLOB_BYTES_MAX;

/// Part of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Letter {
    Is(u8),
    One,
    /// Any text within a name.
    Within,
    /// Any text, including slashes.
    Any,
}

/// Reports whether a shell glob may match a path of `glob` or a path below one. `is_tree`: the shell glob also includes
/// everything below its matches. Returns true when it is not sure.
pub(super) fn may_meet(glob: &str, shell: &str, is_tree: bool) -> bool {
    if shell.len() > GLOB_BYTES_MAX {
        return true;
    }
    let mut shell = of_shell(shell.trim_end_matches('/'));
    let mut path = of_operator(glob);
    shell.reverse();
    path.reverse();
    if meet(&path, &shell) {
        return true;
    }
    let below = [Letter::Any, Letter::Is(b'/')];
    if is_tree {
        shell.splice(0..0, below);
    } else {
        path.splice(0..0, below);
    }
    meet(&path, &shell)
}

/// Reports whether two patterns, last letter first, can match the same text. Computes one row for each letter of `one`,
/// from the end of the text on. An entry says whether the rest of `one` and a rest of `other` can match; the shortest
/// rest is first.
fn meet(one: &[Letter], other: &[Letter]) -> bool {
    let mut row = vec![true];
    for letter in other {
        let may_be_nothing = matches!(letter, Letter::Any | Letter::Within);
        row.push(may_be_nothing && row.last() == Some(&true));
    }
    for letter in one {
        let mut next = vec![*letter == Letter::Any && row.first() == Some(&true)];
        let mut shorter = next.first() == Some(&true);
        for (theirs, pair) in other.iter().zip(row.windows(2)) {
            let &[both_shorter, ours_shorter] = pair else { continue };
            shorter = match (letter, theirs) {
                (Letter::Any, _) | (_, Letter::Any) => ours_shorter || shorter,
                (ours, Letter::Within) => shorter || (ours_shorter && *ours != Letter::Is(b'/')),
                (Letter::Within, theirs) => ours_shorter || (shorter && *theirs != Letter::Is(b'/')),
                (Letter::Is(ours), Letter::Is(theirs)) => ours == theirs && both_shorter,
                (Letter::One, _) | (_, Letter::One) => both_shorter,
            };
            next.push(shorter);
        }
        row = next;
    }
    row.last() == Some(&true)
}

/// Parses a shell glob. Any text replaces a group, because a group has alternatives, and an unclosed one.
fn of_shell(pattern: &str) -> Vec<Letter> {
    let mut letters = Vec::new();
    let mut rest = pattern.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let (letter, after) = match (first, after.first()) {
            (b'@' | b'+' | b'!' | b'?' | b'*', Some(b'(')) => (Letter::Any, behind(after, b'(', b')')),
            (b'(', _) => (Letter::Any, behind(rest, b'(', b')')),
            (b'{', _) => (Letter::Any, behind(rest, b'{', b'}')),
            (b'[', _) => (Letter::Any, behind_bracket(after)),
            (b'*', Some(b'*')) => (Letter::Any, after.get(1..).unwrap_or_default()),
            (b'*', _) => (Letter::Within, after),
            (b'?', _) => (Letter::One, after),
            (b'\\', _) => (Letter::Any, after),
            (other, _) => (Letter::Is(*other), after),
        };
        letters.push(letter);
        rest = after;
    }
    letters
}

/// Returns the text after the group that begins here; empty if the group has no end.
fn behind(text: &[u8], open: u8, close: u8) -> &[u8] {
    let mut depth = 0_usize;
    for (at, byte) in text.iter().enumerate() {
        if *byte == open {
            depth += 1;
        } else if *byte == close {
            depth = depth.saturating_sub(1);
        }
        if depth == 0 {
            return text.get(at + 1..).unwrap_or_default();
        }
    }
    &[]
}

/// Returns the text after an open bracket. Uses the last `]` within the name, because a bracket may contain a `]`.
fn behind_bracket(text: &[u8]) -> &[u8] {
    let name = text.split(|byte| *byte == b'/').next().unwrap_or_default();
    let end = name.iter().rposition(|byte| *byte == b']').map_or(0, |at| at + 1);
    text.get(end..).unwrap_or_default()
}

/// `a/**/b` also matches `a/b`.
fn of_operator(glob: &str) -> Vec<Letter> {
    let shorter = glob.replace("**/", "*");
    shorter.bytes().map(|byte| if byte == b'*' { Letter::Any } else { Letter::Is(byte) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(glob: &str, shell: &str, expected: bool) {
        assert_eq!(may_meet(glob, shell, false), expected, "{glob} and {shell}");
    }

    fn check_tree(glob: &str, shell: &str, expected: bool) {
        assert_eq!(may_meet(glob, shell, true), expected, "{glob} and all below {shell}");
    }

    #[test]
    fn patterns_that_may_stand_for_one_path_meet() {
        check("/etc/passwd", "/etc/pass*", true);
        check("/etc/passwd", "/etc/passw?", true);
        check("/etc/passwd", "/etc/pass??", true);
        check("/etc/passwd", "/etc/pass?", false);
        check("/etc/passwd", "/etc/host*", false);
        check("/etc/**", "/etc/*", true);
        check("/etc/ssh", "/etc/*/key", true);
        check("/etc/ssh", "/etc/ssh/*", true);
        check("/etc/ssh", "/var/*", false);
        check(".env", ".e*", true);
        check(".env", "*", true);
        check(".env", "[.]env", true);
        check("*.pem", "k*", true);
        check("*.pem", "k*.pub", false);
        check("/etc/a/b", "/etc/*", false);
        check("/etc/a/b", "/etc/{a,x}/b", true);
        check("a*c", "ab?d*", true);
        check("/etc/passwd", "/etc/pass[vw]d", true);
        check("/etc/passwd", "/etc/[]p]asswd", true);
        check("/etc/passwd", "/etc/@(shadow|passwd)", true);
        check("/etc/passwd", "/etc/(shadow|passwd)", true);
        check("/etc/passwd", "/etc/!(hosts)", true);
        check("/etc/passwd", "/etc/+(pass)wd", true);
        check("/etc/passwd", "/var/@(shadow|passwd", false);
        check("/etc/passwd", "/**/passwd", true);
        check("/a/**/b", "/a/b*", true);
        check("**/b", "b*", true);
        check("/etc/ssh", "/etc", false);
        check_tree("/etc/ssh", "/etc", true);
        check_tree("/etc/ssh", "/etc/", true);
        check_tree("/etc/ssh", "/", true);
        check_tree("/etc/ssh", "/etc/ssh", true);
        check_tree("/etc/ssh", "/e*", true);
        check_tree("/etc/ssh", "/et[bc]", true);
        check_tree("/etc/ssh", "/{etc,var}", true);
        check_tree("/etc/ssh", "/etc2", false);
        check_tree("/etc/ssh", "/var", false);
        check("x", &"y".repeat(GLOB_BYTES_MAX + 1), true);
    }
}
