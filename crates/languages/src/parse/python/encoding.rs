//! The encoding that a Python program declares (PEP 263). In another encoding, Python reads a different text than
//! castellan, which reads UTF-8. Must not know what a program does.

/// Encodings in which ASCII bytes mean ASCII letters, and nothing else means one.
const LIKE_ASCII: &[&str] = &[
    "ascii",
    "cp1252",
    "iso-8859-1",
    "iso-8859-15",
    "iso8859-1",
    "iso8859-15",
    "l1",
    "latin-1",
    "latin1",
    "us-ascii",
    "windows-1252",
];

/// Returns true if a Python program, its bytes read as UTF-8, is the text that Python reads.
pub(super) fn is_as_read(text: &str) -> bool {
    let declared =
        text.lines().take(2).find_map(declared).map(|name| name.to_ascii_lowercase().replace('_', "-"));
    match declared.as_deref() {
        None | Some("utf-8" | "utf8" | "u8" | "utf-8-sig") => true,
        Some(name) => LIKE_ASCII.contains(&name) && text.is_ascii(),
    }
}

/// Returns NAME of `coding: NAME` or `coding=NAME` in a comment.
fn declared(line: &str) -> Option<&str> {
    let line = line.trim_start_matches('\u{feff}').trim_start_matches([' ', '\t', '\u{c}']);
    let comment = line.strip_prefix('#')?;
    comment.match_indices("coding").find_map(|(at, word)| {
        let after = comment.get(at + word.len()..)?;
        let after = after.strip_prefix([':', '='])?.trim_start_matches([' ', '\t']);
        let end = after.find(|one: char| !one.is_ascii_alphanumeric() && !"-_.".contains(one));
        after.get(..end.unwrap_or(after.len())).filter(|name| !name.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_reads_like_utf_8_is_as_read() {
        let check = |text: &str, expected: bool| assert_eq!(is_as_read(text), expected, "{text}");
        check("print(1)", true);
        check("# coding: utf-8\n", true);
        check("#!/usr/bin/python\n# -*- coding: UTF_8 -*-\n", true);
        check("# vim: set fileencoding=latin-1 :\nprint(1)", true);
        check("# coding: latin-1\nprint('é')", false);
        check("# coding: utf-7\n", false);
        check("# coding=rot13", false);
        check("\u{feff}\t# encoding: unicode_escape\n", false);
        check("# coding of things: utf-7\n", true);
        check("x = 1 # coding: utf-7\n", true);
        check("#\n#\n# coding: utf-7\n", true);
    }
}
