//! Texts of m4, by the manual of GNU m4 1.4: `syscmd` and `esyscmd` run their argument. Other macros are not evaluated.

use castellan_event::Why;

use super::Found;

pub(super) fn scan(text: &str) -> Vec<Found> {
    let calls = text.match_indices("syscmd(").filter_map(|(at, name)| text.get(at + name.len()..));
    let commands = calls.map(|rest| match argument(rest.trim_start()) {
        Some(command) => Found::Shell(command),
        None => Found::Unknown(Why::Syntax, "syscmd".to_owned()),
    });
    commands.chain([Found::Unknown(Why::Language, "m4".to_owned())]).collect()
}

/// Returns a macro's first argument without its quotes: from a backtick to its apostrophe, or to the argument's end.
fn argument(text: &str) -> Option<String> {
    let mut depth = 0_usize;
    let mut made = String::new();
    for letter in text.chars() {
        match letter {
            '`' => {
                depth += 1;
                made.extend((depth > 1).then_some(letter));
            }
            '\'' if depth > 0 => {
                depth -= 1;
                made.extend((depth > 0).then_some(letter));
            }
            ',' | ')' if depth == 0 => return Some(made),
            _ => made.push(letter),
        }
    }
    None
}
