//! Laws for every text.

use castellan_shell::tree::{Node, Script, Span, Statement};
use proptest::prelude::*;

fn inside(outer: Span, inner: Span, text: &str) -> bool {
    outer.start <= inner.start
        && inner.start <= inner.end
        && inner.end <= outer.end
        && text.get(inner.start as usize..inner.end as usize).is_some()
}

fn statements(script: &Script, whole: Span, text: &str) {
    for one in &script.statements {
        assert!(inside(whole, one.span, text), "{:?} of {text:?}", one.span);
        statement(one, whole, text);
    }
}

fn statement(one: &Statement, whole: Span, text: &str) {
    for redirect in &one.redirects {
        assert!(inside(whole, redirect.span, text), "{redirect:?} of {text:?}");
    }
    match &one.node {
        Node::Simple { assignments, words } => {
            for word in words {
                assert!(inside(whole, word.span, text), "{word:?} of {text:?}");
            }
            for assignment in assignments {
                assert!(inside(whole, assignment.span, text), "{assignment:?} of {text:?}");
            }
        }
        Node::Pipe(all) | Node::Chain { all, .. } => all.iter().for_each(|one| statement(one, whole, text)),
        Node::Subshell(body) | Node::Group(body) => statements(body, whole, text),
        Node::Hole(hole) => assert!(inside(whole, hole.span, text), "{hole:?} of {text:?}"),
        Node::Declare { .. }
        | Node::If { .. }
        | Node::For { .. }
        | Node::ArithmeticFor { .. }
        | Node::While { .. }
        | Node::Case { .. }
        | Node::Function { .. }
        | Node::Coproc(_)
        | Node::Time(_)
        | Node::Test(_)
        | Node::Arithmetic(_) => {}
    }
}

fn check(text: &str) {
    let parsed = castellan_shell::parse(text, castellan_shell::Shell::Bash);
    let whole = Span { start: 0, end: text.len() as u32 };
    statements(&parsed.script, whole, text);
    for hole in &parsed.holes {
        assert!(inside(whole, hole.span, text), "{hole:?} of {text:?}");
    }
    assert_eq!(parsed, castellan_shell::parse(text, castellan_shell::Shell::Bash));
}

const TOKENS: &[&str] = &[
    "a",
    " ",
    "\n",
    ";",
    "&",
    "|",
    "&&",
    "(",
    ")",
    "{ ",
    "; }",
    "$(",
    "${",
    "}",
    "`",
    "\\`",
    "\"",
    "'",
    "$'",
    "\\",
    "<<E\n",
    "E\n",
    "<<-E\n",
    "\t",
    ">",
    "<(",
    "$((",
    "))",
    "[[ ",
    " ]]",
    "if ",
    "; then ",
    "; fi",
    "case x in ",
    ") ",
    ";;",
    " esac",
    "for x in ",
    "; do ",
    "; done",
    "x=",
    "x=(",
    "x[",
    "]",
    "export ",
    "#",
    "$x",
    "${x:-",
    "${x/",
    "/",
    "!",
    "time ",
    "é",
    "\r",
    "\u{202e}",
    "\u{feff}",
    "\0",
    "*",
    "{a,b}",
    "2>&1",
];

proptest! {
    #[test]
    fn any_text_has_a_tree(text in "\\PC{0,200}") {
        check(&text);
    }

    #[test]
    fn any_tokens_have_a_tree(tokens in prop::collection::vec(prop::sample::select(TOKENS), 0..40)) {
        check(&tokens.concat());
    }
}
