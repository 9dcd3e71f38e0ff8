//! Numbers as Lua and Perl write them.

/// A whole number, in any notation that both languages have.
pub(super) fn number(written: &str) -> Option<i64> {
    let digits: String = written.chars().filter(|c| *c != '_').collect();
    let digits = digits.trim_end_matches('n').to_ascii_lowercase();
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] {
        if let Some(digits) = digits.strip_prefix(prefix) {
            return i64::from_str_radix(digits, radix).ok();
        }
    }
    digits.parse().ok()
}
