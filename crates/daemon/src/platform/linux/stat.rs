//! Readers of `/proc/PID/stat` and `/proc/PID/status`.

use crate::platform::{Process, State};

/// Parses `pid (name) state ppid pgrp session tty_nr ... starttime`. The name may contain any character, also `)`.
pub(super) fn process(pid: u32, stat: &str) -> Option<Process> {
    let (head, tail) = stat.rsplit_once(')')?;
    let name = head.split_once('(')?.1.to_owned();
    let fields: Vec<&str> = tail.split_ascii_whitespace().collect();
    let field = |number: usize| fields.get(number - 3).copied();
    Some(Process {
        pid,
        parent: field(4)?.parse().ok()?,
        session: field(6)?.parse().ok()?,
        terminal: field(7)?.parse().ok()?,
        started: field(22)?.parse().ok()?,
        name,
    })
}

/// Reads the kernel's letter for the state.
pub(super) fn state(stat: &str) -> Option<State> {
    match stat.rsplit_once(')')?.1.trim_start().chars().next()? {
        'Z' | 'X' => Some(State::Ended),
        'T' | 't' => Some(State::Stopped),
        _ => Some(State::Alive),
    }
}

/// Reads a number of `Uid: real effective saved filesystem`.
pub(super) fn user(status: &[u8], number: usize) -> Option<u32> {
    let line = status.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"Uid:"))?;
    str::from_utf8(line).ok()?.split_ascii_whitespace().nth(number)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_does_not_shift_the_fields() {
        let tail = "S 7 7 7 34816 9 0 0 0 0 0 0 0 0 0 20 0 1 0 4242 0";
        let found = process(9, &format!("9 (a) b (c)) {tail}")).unwrap();
        let Process { parent, terminal, started, name, .. } = found;
        assert_eq!((parent, terminal, started, name.as_str()), (7, 34816, 4242, "a) b (c)"));
        assert_eq!(process(9, "9 (cut"), None);
        assert_eq!(process(9, "9 (a) S 7"), None);
    }

    #[test]
    fn the_state_is_the_letter_behind_the_name() {
        let check = |stat: &str, expected| assert_eq!(state(stat), expected, "{stat}");
        check("9 (a) Z 1", Some(State::Ended));
        check("9 (a) X 1", Some(State::Ended));
        check("9 (Z) Z) T 1", Some(State::Stopped));
        check("9 (a) t 1", Some(State::Stopped));
        check("9 (T) S 1", Some(State::Alive));
        check("9 (a)", None);
        check("9", None);
    }

    #[test]
    fn users_are_found_by_their_place() {
        let status = b"Name:\tsh\nUmask:\t0022\nUid:\t1000\t0\t1000\t1000\nGid:\t5\t5\t5\t5\n";
        assert_eq!((user(status, 0), user(status, 1)), (Some(1000), Some(0)));
        assert_eq!(user(b"Name:\tsh\n", 1), None);
    }
}
