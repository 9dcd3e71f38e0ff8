//! `text => tree` in a table, with the shells in headings; `<NL>`, `<TAB>`, `<CR>` and `<NUL>` are characters.

use castellan_shell::syntax::{self, Shell};

use crate::dump;

const TREES: &str = include_str!("../data/syntax_trees.txt");

fn rows(table: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines = table.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| line.split_once(" => ").unwrap_or((line, "")))
}

fn check(shell: Shell, (input, expected): (&str, &str), wrong: &mut Vec<String>) {
    let text =
        input.replace("<NL>", "\n").replace("<TAB>", "\t").replace("<CR>", "\r").replace("<NUL>", "\0");
    let tree = dump::script(&syntax::parse(&text, shell, usize::MAX).0.script);
    if tree != expected {
        wrong.push(format!("{shell:?}: {input}\n  expected {expected}\n  found    {tree}"));
    }
}

#[test]
fn each_shell_reads_its_own_syntax() {
    let mut wrong = Vec::new();
    for part in TREES.split("## ").skip(1) {
        let (heading, table) = part.split_once('\n').unwrap_or((part, ""));
        let shells: Vec<Shell> =
            heading.split(':').next().into_iter().flat_map(str::split_whitespace).filter_map(shell).collect();
        assert!(!shells.is_empty(), "`{heading}` names no shell");
        for row in rows(table) {
            shells.iter().for_each(|shell| check(*shell, row, &mut wrong));
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

fn shell(name: &str) -> Option<Shell> {
    match name {
        "bash" => Some(Shell::Bash),
        "zsh" => Some(Shell::Zsh),
        "posix" => Some(Shell::Posix),
        "ksh" => Some(Shell::Ksh),
        _ => None,
    }
}
