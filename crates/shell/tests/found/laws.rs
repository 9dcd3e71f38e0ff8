//! Laws for every text.

use castellan_shell::{Item, commands};
use proptest::prelude::*;

use crate::dump::{dump, start};

/// Pieces of shell text for random concatenation.
const PIECES: &[&str] = &[
    "rm -rf /",
    "x=1",
    "$x",
    "\"$x\"",
    "${x:-a}",
    "${x#*/}",
    "$(echo a)",
    "`b`",
    "'q'",
    "; ",
    " && ",
    " || ",
    " | ",
    " & ",
    "\n",
    "if a; then b; fi",
    "for i in 1 2; do c $i; done",
    "while read l; do d $l; done",
    "(e)",
    "{ g; }",
    "f() { h; }",
    "f a",
    "eval \"$x\"",
    "bash -c 'i $0' j",
    "cat <<E\nk\nE\n",
    "<<< l",
    "> m",
    "2>&1",
    "cd n",
    "sudo ",
    "xargs ",
    "a=(1 2)",
    "${a[@]}",
    "$((1+2))",
    "{o,p}",
    "~/",
    "*",
    "export Y=2",
    "trap 'q' EXIT",
    "case $x in r) s;; esac",
    "\\",
    "\"",
    "'",
    "$(",
    "${",
    ")",
    "}",
    "done",
    "<(t)",
    ">(u)",
    "exec 3<v",
    "local w=1",
    "return",
    "break",
    "alias y=z",
    "\u{0}",
    "é",
];

/// Statements that, at the end of a text, do not change the earlier items.
const STATEMENTS: &[&str] = &[
    "rm a",
    "x=2",
    "echo $x",
    "cd /b",
    "if c; then d; fi",
    "for i in 1 2; do e $i; done",
    "f=$(g)",
    "h | i",
    "(j; k)",
    "export Z=$x",
    "[ -n \"$x\" ] && l",
    "read m <<< n",
    "bash -c 'o $1' p q",
    "sudo r",
    "cat <<E\ns $x\nE",
];

fn pieces(from: &'static [&'static str], count: usize) -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(prop::sample::select(from), 0..count)
}

proptest! {
    #[test]
    fn every_text_has_an_answer_and_always_the_same(pieces in pieces(PIECES, 24)) {
        let text = pieces.concat();
        prop_assert_eq!(commands(&text, &start()), commands(&text, &start()));
    }

    #[test]
    fn a_statement_at_the_end_removes_nothing(before in pieces(STATEMENTS, 8), last in prop::sample::select(STATEMENTS)) {
        let text = before.iter().map(|one| format!("{one}\n")).collect::<String>();
        let found = dump(&commands(&text, &start()));
        let more = dump(&commands(&format!("{text}{last}\n"), &start()));
        for line in &found {
            prop_assert!(more.contains(line), "{line} is gone after {last}");
        }
    }

    #[test]
    fn quotes_around_a_known_word_change_nothing(words in prop::collection::vec("[a-z0-9/._-]{1,8}", 1..6)) {
        let plain = words.join(" ");
        let single = words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ");
        let double = words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" ");
        let argv = |text: &str| match commands(text, &start()).items.first() {
            Some(Item::Command(run)) => Some(run.argv.clone()),
            _ => None,
        };
        // A quoted keyword is an ordinary word.
        prop_assume!(!["if", "for", "do", "fi", "in", "case", "esac", "done", "then", "else", "elif", "while", "until", "time",
            "select", "function", "coproc"].contains(&words[0].as_str()));
        prop_assert_eq!(argv(&plain), argv(&single));
        prop_assert_eq!(argv(&plain), argv(&double));
    }
}

/// Nesting in each way and all ways: a test's stack (2 MiB, unoptimised) suffices; deeper parts become a `Gap`.
#[test]
fn deep_texts_have_an_answer() {
    let nest =
        |open: &str, close: &str, count: usize| format!("{}rm x{}", open.repeat(count), close.repeat(count));
    let mut texts = vec![
        nest("( ", " )", 36),
        nest("if a; then ", "; fi", 36),
        nest("echo \"$(", ")\"", 18),
        nest("f() { ", "; }; f", 30),
        "x='eval \"$x\"'; eval \"$x\"".to_owned(),
        "f() { eval f; (f); $(f); }; f".to_owned(),
        nest("sudo nice bash -c ", "", 40),
    ];
    let mut code = format!("{}rm x{}", "( ".repeat(30), " )".repeat(30));
    for _ in 0..4 {
        code = format!("{}eval '{}'{}", "( ".repeat(20), code.replace('\'', "'\\''"), " )".repeat(20));
    }
    texts.push(code);
    for text in texts {
        let found = commands(&text, &start());
        assert!(!found.items.is_empty(), "{text}");
    }
}
