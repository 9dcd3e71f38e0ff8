//! Bars of a chart: numbers → characters of a width. This module must not know the meaning of the numbers. Each part
//! has its own character, so that a bar is readable without colours.

use crate::output::Style;

/// A part of a bar: its number, character and colour.
pub(super) type Part = (usize, char, Style);

/// Returns a bar; the sum `longest` fills the width. Every part above zero gets at least one character, so a bar may
/// exceed the width by one character per part.
pub(super) fn bar(parts: &[Part], longest: usize, width: usize) -> String {
    let mut bar = String::new();
    for (count, character, style) in parts.iter().filter(|(count, ..)| *count > 0) {
        let characters = (count.saturating_mul(width) / longest.max(1)).max(1);
        let filled: String = std::iter::repeat_n(*character, characters).collect();
        bar.push_str(&format!("{style}{filled}{style:#}"));
    }
    bar
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::PLAIN;

    #[test]
    fn parts_are_as_long_as_they_are_many_and_never_unseen() {
        for (parts, longest, expected) in [
            (&[(5, 'a', PLAIN), (5, 'b', PLAIN)][..], 10, "aaaaabbbbb"),
            (&[(5, 'a', PLAIN), (5, 'b', PLAIN)], 100, "ab"),
            (&[(1, 'a', PLAIN), (999, 'b', PLAIN)], 1000, "abbbbbbbbb"),
            (&[(0, 'a', PLAIN), (10, 'b', PLAIN)], 10, "bbbbbbbbbb"),
            (&[(0, 'a', PLAIN)], 0, ""),
            (&[], 0, ""),
        ] {
            assert_eq!(bar(parts, longest, 10), expected, "{parts:?} of {longest}");
        }
    }
}
