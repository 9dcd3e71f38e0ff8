//! Texts that overflow parser stacks or take exponential time. The process must survive on a normal debug thread stack.

/// Opening and closing tokens.
const NESTS: [(&str, &str); 45] = [
    ("$(", ")"),
    ("( ", " )"),
    ("{ ", "; }"),
    ("${a:-", "}"),
    ("\"${a:-", "}\""),
    ("`", "`"),
    ("\"$(", ")\""),
    ("$((", "))"),
    ("(( (", ") ))"),
    ("if a; then ", "; fi"),
    ("while a; do ", "; done"),
    ("for i in a; do ", "; done"),
    ("case a in b) ", ";; esac"),
    ("f() { ", "; }"),
    ("<( ", ")"),
    ("[[ ( ", " ) ]]"),
    ("{a,", "}"),
    ("a[", "] "),
    ("${a[", "]}"),
    ("${a/", "/b}"),
    ("${a#", "}"),
    ("a=(", ")"),
    ("$[", "]"),
    ("@(", ")"),
    ("if ", "; then a; fi"),
    ("time ", ""),
    ("time -p ! ", ""),
    ("coproc ", ""),
    ("! ", ""),
    ("a && { ", "; }"),
    ("$(( $(", " ) ))"),
    ("${ ", "; }"),
    ("cat <<E\n$(", "\n)\nE\n"),
    ("x=${=", ""),
    ("${^^", ""),
    ("${a/>(", ""),
    ("${a#\"$(", ""),
    ("case x in ?(", ""),
    ("a=(${", ""),
    ("declare a=(\"${a:-", ""),
    ("<<E\n\"${a:-", ""),
    ("((!{a,", ""),
    ("a[;", ""),
    ("<<E ", ""),
    ("a=($((a?", ""),
];

#[test]
fn the_process_survives_every_nesting() {
    for (open, close) in NESTS {
        for depth in [10, 30, 100, 1_000, 4_000] {
            if (open.len() + close.len()) * depth <= 64 << 10 {
                let text = format!("{}a{}", open.repeat(depth), close.repeat(depth));
                drop(castellan_shell::parse(&text, castellan_shell::Shell::Bash));
            }
        }
    }
}

#[test]
fn the_process_survives_nestings_in_each_other() {
    for (open, close) in NESTS {
        for (other, closed) in NESTS {
            let text =
                format!("{}a{}", format!("{open}{other}").repeat(30), format!("{closed}{close}").repeat(30));
            drop(castellan_shell::parse(&text, castellan_shell::Shell::Bash));
        }
    }
}

/// Deep nesting is a hole, not a tree without its deep parts.
#[test]
fn what_is_too_deep_is_a_hole() {
    for (open, close) in
        [("$(", ")"), ("( ", " )"), ("\"$(", ")\""), ("time ", ""), ("coproc ", ""), ("<(", ")")]
    {
        let text = format!("echo {}", open.repeat(500) + "rm" + &close.repeat(500));
        assert!(
            !castellan_shell::parse(&text, castellan_shell::Shell::Bash).holes.is_empty()
                || open.ends_with(' '),
            "{open}"
        );
        let text = open.repeat(500) + "rm" + &close.repeat(500);
        assert!(!castellan_shell::parse(&text, castellan_shell::Shell::Bash).holes.is_empty(), "{open}");
    }
}

#[test]
fn long_text_is_a_hole_of_its_size() {
    let parsed = castellan_shell::parse(&"echo a\n".repeat(20_000), castellan_shell::Shell::Bash);
    assert_eq!(parsed.holes.first().map(|hole| hole.why), Some(castellan_event::Why::Size));
}

/// The start of an overlong text is parsed, up to the last statement that is certainly complete.
#[test]
fn the_beginning_of_long_text_is_understood() {
    let lines = "rm a\n".repeat(1_000);
    let rest = "rm b\n".repeat(40_000);
    for (last, opener) in [
        ("rm a", "rm"),
        ("if x; then\n", "if"),
        ("cat <<E\n", "cat"),
        ("cat <<E; rm c\n", "cat"),
        ("{ cat <<'E'; rm c; } && rm d\n", "{"),
        ("echo '\n", "echo"),
        ("echo \"$(\n", "echo"),
        ("f() {\n", "f()"),
        ("x=(\n", "x="),
        ("case a in b)\n", "case"),
    ] {
        let text = format!("{lines}{last}\n{rest}");
        let parsed = castellan_shell::parse(&text, castellan_shell::Shell::Bash);
        let holes: Vec<_> = parsed.holes.iter().map(|hole| (hole.why, hole.span.end)).collect();
        assert_eq!(holes, [(castellan_event::Why::Size, text.len() as u32)], "{last}");
        let start = parsed.holes[0].span.start as usize;
        assert!(parsed.script.statements.len() > 900, "{last}");
        let hole = text.get(start..).unwrap_or_default();
        assert!(hole.starts_with(opener) || hole.starts_with("rm a"), "{last}");
        assert!(opener == "rm" || start <= lines.len(), "{last}");
    }
}

/// A single overlong statement is a hole, and text with a zero byte too.
#[test]
fn what_is_too_long_to_be_cut_is_a_hole() {
    for (text, why) in [
        (format!("echo '{}'", "a\n".repeat(40_000)), castellan_event::Why::Size),
        ("a".repeat(100_000), castellan_event::Why::Size),
        (format!("{}\0", "rm a\n".repeat(20_000)), castellan_event::Why::Encoding),
    ] {
        let parsed = castellan_shell::parse(&text, castellan_shell::Shell::Bash);
        let holes: Vec<_> = parsed.holes.iter().map(|hole| (hole.why, hole.span.start)).collect();
        assert_eq!(holes, [(why, 0)]);
    }
}

/// Returns text with heredocs of `lines` lines each, with the given delimiters.
fn written(delimiter: &str, lines: usize) -> String {
    let body = "$(rm) `rm` ' \" \\ \u{20ac}\n".repeat(lines);
    format!("echo a\ncat > f {delimiter}\n{body}E\necho b\n(cat {delimiter} | tr a b)\n{body}E\necho c\n")
}

/// The body of a quoted heredoc is text of any length; the code around it is parsed.
#[test]
fn long_quoted_heredocs_are_understood() {
    use castellan_shell::tree::{Node, Part};
    for (delimiter, lines) in [("<<'E'", 10_000), ("<<\"E\"", 10_000), ("<<-'E'", 10_000), ("<< 'E'", 5_000)]
    {
        let text = written(delimiter, lines);
        let parsed = castellan_shell::parse(&text, castellan_shell::Shell::Bash);
        assert_eq!(parsed.holes, [], "{delimiter}");
        let spans: Vec<&str> = (parsed.script.statements.iter())
            .filter(|statement| {
                matches!(statement.node, Node::Simple { .. }) && statement.redirects.is_empty()
            })
            .map(|statement| {
                text.get(statement.span.start as usize..statement.span.end as usize).unwrap().trim_end()
            })
            .collect();
        assert_eq!(spans, ["echo a", "echo b", "echo c"], "{delimiter}");
        let body = parsed.script.statements.iter().find_map(|statement| {
            statement.redirects.iter().find_map(|redirect| match redirect.target.parts.as_slice() {
                [Part::Text { text, quoted: true }] => Some(text.clone()),
                _ => None,
            })
        });
        assert_eq!(body.map(|body| body.lines().count()), Some(lines), "{delimiter}");
    }
}

/// Text that only resembles a quoted heredoc is not treated as one.
#[test]
fn long_text_in_what_looks_like_a_quoted_heredoc_is_a_hole() {
    let lines = "rm a\n".repeat(20_000);
    for (before, after) in [
        ("cat <<'E'\nE\n", "E\n"),
        (": # <<'E'\n", "E\n"),
        ("echo \" <<'E'\n", "E\n\""),
        ("echo ' <<\"E\"\n", "E\n'"),
        ("cat <<E\n <<'E'\nE\n", "E\n"),
        ("cat <<E \\\n <<'E'\nE\n", "E\n"),
        ("cat <<'E' \\\n <<'F'\n", "E\nF\n"),
        ("cat <<E\n", "E\n"),
        ("cat <<'E'\n", ""),
    ] {
        let parsed = castellan_shell::parse(&format!("{before}{lines}{after}"), castellan_shell::Shell::Bash);
        assert_eq!(parsed.holes.first().map(|hole| hole.why), Some(castellan_event::Why::Size), "{before}");
    }
}

/// Texts with parse time that grew quadratically or doubled with each level: now a hole within the budget. Without the
/// budget each takes seconds to years, and the suite does not finish.
#[test]
fn work_that_grows_faster_than_the_text_is_bounded() {
    for (before, repeated, after) in [
        ("case a in ", "case a in (( (", ") ))"),
        ("", "a[|", ""),
        ("a=(", "{a,", "}"),
        ("", "1$(a)", ""),
        ("", "~/$(a)", ""),
        ("", "<( a)", ""),
        (";", "<<E ", "\n"),
    ] {
        let text = format!("{before}{}{after}", repeated.repeat((60 << 10) / repeated.len()));
        drop(castellan_shell::parse(&text, castellan_shell::Shell::Bash));
    }
}
