//! Programs of dc, by the manual of GNU bc 1.07: `!` runs the rest of its line, except before a comparison.

use super::Found;

pub(super) fn scan(text: &str) -> Vec<Found> {
    let commands = text.lines().filter_map(|line| {
        let mut rest = line;
        while let Some((_, after)) = rest.split_once('!') {
            if !after.starts_with(['<', '=', '>']) {
                return Some(Found::Shell(after.trim().to_owned()));
            }
            rest = after;
        }
        None
    });
    commands.collect()
}
