//! `text => tree` in files; `<NL>`, `<TAB>`, `<CR>` and `<NUL>` are placeholders for characters.

use crate::dump;

fn check(file: &str, text: &str) {
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with("## ")) {
        let (input, expected) = line.split_once(" => ").unwrap_or((line, ""));
        let input =
            input.replace("<NL>", "\n").replace("<TAB>", "\t").replace("<CR>", "\r").replace("<NUL>", "\0");
        let parsed = castellan_shell::parse(&input);
        let tree = dump::script(&parsed.script);
        count += 1;
        if tree != expected {
            wrong.push(format!("{input}\n  expected {expected}\n  found    {tree}"));
        }
    }
    assert!(wrong.is_empty(), "{file}: {} of {count} wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_bash_accepts_is_understood() {
    check("parse_trees.txt", include_str!("../data/parse_trees.txt"));
}

#[test]
fn what_is_not_understood_is_a_hole() {
    check("parse_holes.txt", include_str!("../data/parse_holes.txt"));
}
