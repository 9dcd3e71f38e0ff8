//! The reader of `/proc/PID/stat`.

use crate::platform::Listed;

/// Reads `PID (NAME) STATE PARENT ...`. The name may contain anything.
pub(super) fn parse(pid: i32, text: &str) -> Option<Listed> {
    let (_, after) = text.rsplit_once(')')?;
    let mut fields = after.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let started = fields.nth(17)?.parse().ok()?;
    Some(Listed { pid, started, parent, is_ended: matches!(state, "Z" | "X" | "x") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stat_is_read_past_any_name() {
        let rest = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 4242 0";
        let check = |text: String, expected: Option<(i32, bool, u64)>| {
            let got = parse(7, &text).map(|stat| (stat.parent, stat.is_ended, stat.started));
            assert_eq!(got, expected, "{text}");
        };
        check(format!("7 (sh) S 3 {rest}"), Some((3, false, 4242)));
        check(format!("7 (a) Z 9) R 3 {rest}"), Some((3, false, 4242)));
        check(format!("7 (sh) Z 3 {rest}"), Some((3, true, 4242)));
        check("7 (sh) S 3".to_owned(), None);
        check("7 sh S".to_owned(), None);
    }
}
