//! Programs in languages other than shell.

use castellan_event::Why;
use castellan_languages::{Language, Reading, Start, What, Work, read_within};

/// The start of a comment that ends with its line.
const COMMENTS: [(Language, &str); 8] = [
    (Language::Python, "#"),
    (Language::JavaScript, "//"),
    (Language::Lua, "--"),
    (Language::Perl, "#"),
    (Language::Ruby, "#"),
    (Language::PowerShell, "#"),
    (Language::Batch, "rem"),
    (Language::AppleScript, "--"),
];

/// Reasons for an incomplete reading.
const CUT: &[Why] = &[Why::Syntax, Why::Budget, Why::Size, Why::Nesting];

/// Reads a program in the language of its first line, or else in a language chosen by its first byte. There must be no
/// panic. Effects are within the text, two readings are equal, and the work is counted. A blank or comment line in
/// front changes nothing.
pub fn program(bytes: &[u8]) {
    let Ok(all) = str::from_utf8(bytes) else { return };
    let (name, rest) = all.split_once('\n').unwrap_or((all, ""));
    let (language, text) = match Language::ALL.iter().find(|language| language.as_str() == name) {
        Some(language) => (*language, rest),
        None => {
            let chosen = bytes.first().map_or(0, |byte| usize::from(*byte) % Language::ALL.len());
            let Some(language) = Language::ALL.get(chosen) else { return };
            (*language, all)
        }
    };
    let first = reading(language, text);
    for act in &first.acts {
        assert!(text.get(act.span.clone()).is_some(), "{:?} stands outside of {text:?}", act.span);
    }
    assert_eq!(first, reading(language, text), "read twice, and differently: {text:?}");
    // The restart after a syntax error and the cut at a limit may depend on the position.
    if has_hole(&first, CUT) || text.starts_with(['#', '\u{feff}']) {
        return;
    }
    let comments = COMMENTS.iter().filter(|(of, _)| *of == language).map(|(_, begin)| format!("{begin} c\n"));
    for line in ["\n".to_owned()].into_iter().chain(comments) {
        let second = reading(language, &format!("{line}{text}"));
        if !has_hole(&second, CUT) {
            assert_eq!(whats(&first), whats(&second), "{language} with {line:?} before {text:?}");
        }
    }
}

fn reading(language: Language, text: &str) -> Reading {
    let mut work = Work::default();
    let before = work.left();
    let read = read_within(language, text, &Start::default(), &mut work);
    assert!(work.left() < before || text.is_empty(), "nothing is paid for {text:?}");
    read
}

fn has_hole(read: &Reading, whys: &[Why]) -> bool {
    read.acts.iter().any(|act| matches!(&act.what, What::Hole { why, .. } if whys.contains(why)))
}

fn whats(read: &Reading) -> Vec<&What> {
    read.acts.iter().map(|act| &act.what).collect()
}
