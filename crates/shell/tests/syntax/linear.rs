//! Work grows with the text, and no nesting overflows the stack.

use castellan_shell::syntax::{self, Shell};

/// Text before, in the middle and after, of which the first and last are repeated.
const NESTS: &[(&str, &str, &str)] = &[
    ("$(", "a", ")"),
    ("( ", "a", " )"),
    ("(", "a", ")"),
    ("{ ", "a", "; }"),
    ("${a:-", "b", "}"),
    ("\"${a:-", "b", "}\""),
    ("\"${a:-'", "b", "'}\""),
    ("`", "a", "`"),
    ("\"$(", "a", ")\""),
    ("$((", "1", "))"),
    ("((", "1", "))"),
    ("$(( (", "1", ") ))"),
    ("((a) ", "", ")"),
    ("if a; then ", "b", "; fi"),
    ("while a; do ", "b", "; done"),
    ("for i in a; do ", "b", "; done"),
    ("for ((;;)) do ", "b", "; done"),
    ("case a in b) ", "c", ";; esac"),
    ("f() { ", "a", "; }"),
    ("f() ", "{ a; }", ""),
    ("<( ", "a", ")"),
    ("[[ ( ", "a", " ) ]]"),
    ("[[ ! ", "a", " ]]"),
    ("{a,", "b", "}"),
    ("a[", "b", "] "),
    ("${a[", "b", "]}"),
    ("${a/", "b", "/c}"),
    ("${a#", "b", "}"),
    ("${a:", "b", "}"),
    ("a=(", "b", ")"),
    ("$[", "1", "]"),
    ("@(", "a", ")"),
    ("time ", "a", ""),
    ("coproc ", "a", ""),
    ("! ", "a", ""),
    ("a | ", "b", ""),
    ("a && ", "b", ""),
    ("${ ", "a", "; }"),
    ("cat <<E\n$(", "a", "\n)\nE\n"),
    ("<<E ", "", "\n"),
    ("<<'E' ", "", "\n"),
    ("$(<<E", "\n", ")"),
    ("((\"", "", ""),
    ("((a'", "", ""),
    ("$((${", "", ""),
    ("a\\\n", "", ""),
    ("\\", "", ""),
    ("'a' ", "", ""),
    ("# ((\n", "", ""),
    ("a <<E\n\\\nE\n", "", ""),
    ("`\\`", "", ""),
    ("é ", "", ""),
];

fn nested(nest: (&str, &str, &str), times: usize) -> String {
    format!("{}{}{}", nest.0.repeat(times), nest.1, nest.2.repeat(times))
}

#[test]
fn twice_the_text_is_at_most_about_twice_the_work() {
    for shell in [Shell::Bash, Shell::Zsh, Shell::Posix, Shell::Ksh] {
        for nest in NESTS {
            for times in [10, 100, 1_000, 3_000] {
                let work = |times| syntax::parse(&nested(*nest, times), shell, usize::MAX).1;
                let (one, two) = (work(times), work(2 * times));
                assert!(two * 10 <= one * 22 + 4_000, "{shell:?} {nest:?} {times}: {one}, then {two}");
            }
        }
    }
}

/// Deep text is a hole or is read, on the stack of a test.
#[test]
fn every_nesting_has_an_end() {
    for nest in NESTS {
        for times in [10, 30, 100, 1_000, 10_000, 100_000] {
            drop(syntax::parse(&nested(*nest, times), Shell::Bash, usize::MAX));
        }
        for shell in [Shell::Zsh, Shell::Posix, Shell::Ksh] {
            [30, 100, 10_000].iter().for_each(|times| {
                drop(syntax::parse(&nested(*nest, *times), shell, usize::MAX));
            });
        }
        for other in NESTS {
            let open = format!("{}{}", nest.0, other.0).repeat(30);
            let close = format!("{}{}", other.2, nest.2).repeat(30);
            drop(syntax::parse(&format!("{open}a{close}"), Shell::Bash, usize::MAX));
        }
    }
}

/// What castellan does not read within its limits is a hole up to the end, after the statements before it.
#[test]
fn a_limit_is_a_hole() {
    use castellan_event::Why;
    let deep = format!("a; b\nc; d {}e{}", "${x:-".repeat(500), "}".repeat(500));
    let long = format!("a; b\nc; {}", "d; ".repeat(30_000));
    for (text, work_max, why) in [
        (deep.as_str(), usize::MAX, Why::Nesting),
        (&long, usize::MAX, Why::Size),
        ("a; b\nc; dddddd", 10, Why::Budget),
    ] {
        let (parsed, work) = syntax::parse(text, Shell::Bash, work_max);
        assert!(work <= work_max.saturating_add(64));
        let holes: Vec<_> = parsed.holes.iter().map(|hole| (hole.why, hole.span.end as usize)).collect();
        assert_eq!(holes, [(why, text.len())]);
        assert!(parsed.script.statements.len() >= 3, "{why}");
    }
}

/// Text in fifty parentheses is a hole up to its `)`, if every reading of it has the same parentheses; otherwise up to the
/// end.
#[test]
fn deep_parentheses_with_a_certain_end_are_a_hole_of_their_own() {
    let nests = [("$(", ")"), ("( ", " )"), ("\"$(", ")\""), ("a <(", ")"), ("(a; ( ", "))")];
    for (inner, is_certain) in [
        ("a", true),
        ("a; 'b)' \"c) $(d)\" \\) ${e#)} $# f#", true),
        ("a\nb", true),
        ("\"${a:-b}\" {a,b} $((1 + 2))", true),
        ("a `b`", false),
        ("a # b", false),
        ("a;# )\n", false),
        ("case a in b) c;; esac", false),
        ("a <<E\n)\nE\n", false),
        ("a \"${b:-'c}\" d'", false),
        ("a $((1 + 'b'))", false),
        ("[[ a =~ b ]]", false),
        ("a \\\n b", false),
        ("'a", false),
    ] {
        for (open, close) in nests {
            let text = format!("{}{inner}{}\nz", open.repeat(50), close.repeat(50));
            let (parsed, work) = syntax::parse(&text, Shell::Bash, usize::MAX);
            let last = parsed.script.statements.last().map(|last| last.span.start as usize);
            let is_read = last == Some(text.len() - 1) && !parsed.holes.is_empty();
            assert_eq!(is_read, is_certain, "{open} {inner}: {:?}", parsed.holes);
            assert!(work < 3 * text.len(), "{work}");
        }
    }
}

/// Searches for the end of `((` have a limit: beyond it, an expression is read as commands, which is a hole or finds more.
#[test]
fn a_search_without_an_end_has_a_limit() {
    let text = format!("{}\nls", "((\" ".repeat(2_000));
    let (parsed, work) = syntax::parse(&text, Shell::Bash, usize::MAX);
    assert!(work < 8 * text.len(), "{work}");
    assert!(!parsed.holes.is_empty());
}
