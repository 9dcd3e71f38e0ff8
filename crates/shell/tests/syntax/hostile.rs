//! Text that is long, never ends, or repeats what costs most: a hole or a limit, within a linear budget.

use castellan_event::Why;
use castellan_shell::syntax::{self, Shell};
use castellan_shell::tree::{Node, Part, Statement};

use crate::laws::SHELLS;

/// Units of work for a byte.
const WORK_PER_BYTE: usize = 4;

const MIB: usize = 1 << 20;

/// `(text, reasons of the holes in bash, statements at least)`
fn cases() -> Vec<(String, Vec<Why>, usize)> {
    let body = "$(a) `b` ' \" \\ \u{20ac}\n".repeat(20_000);
    let size = || vec![Why::Size];
    vec![
        ("a".repeat(MIB), size(), 1),
        ("a".repeat(MIB + 1), size(), 1),
        ("a ".repeat(MIB / 2), size(), 1),
        ("a; ".repeat(MIB / 3), size(), 1_000),
        ("rm a\n".repeat(20_000), size(), 10_000),
        (format!("{}\0", "rm a\n".repeat(20_000)), vec![Why::Encoding], 1),
        (format!("a\necho '{}'\nb", "a\n".repeat(40_000)), size(), 2),
        (format!("a\nb '{}", "c".repeat(MIB / 2)), vec![Why::Syntax], 2),
        (format!("a\n# {}\nb", "c".repeat(MIB / 2)), vec![], 2),
        (format!("a\ncat <<E\n{body}"), size(), 2),
        (format!("a\ncat <<'E'\n{body}"), vec![], 2),
        (format!("a\ncat <<'E'\n{body}E\nb\n(c <<'E')\n{body}E\nd"), vec![], 5),
        (format!("a\ncat <<-\"E\"\n{body}E\nb"), vec![], 3),
        (format!(": # <<'E'\n{body}E\n"), size(), 1),
        (format!("a \" <<'E'\n{}E\n\"", "b\n".repeat(40_000)), size(), 1),
        (format!("a <<E\n <<'E'\nE\n{}E\n", "b\n".repeat(40_000)), size(), 1),
        (format!("{}=b; ${}; a", "n".repeat(60_000), "n".repeat(5_000)), vec![], 3),
        (format!("a {}", "{a,".repeat(20_000)), vec![], 1),
        (format!("a {}{}", "{a,b}".repeat(6_000), "{1..9}".repeat(5_000)), vec![], 1),
        (format!("a $((1{}))", "+1*2".repeat(15_000)), vec![], 1),
        (format!("a $(({}1{}))", "(".repeat(15_000), ")".repeat(15_000)), vec![], 1),
        (format!("(({}))", "a=".repeat(30_000)), vec![], 1),
        ("<<E ".repeat(15_000), vec![], 1),
        (format!("{}\n", "<<'E' ".repeat(10_000)), vec![], 1),
        ("case a in case a in (( (".repeat(2_500), vec![Why::Syntax], 1),
        ("a[|".repeat(20_000), vec![Why::Syntax], 1),
        (format!("a=({}", "{a,".repeat(20_000)), vec![Why::Syntax], 1),
        ("1$(a)".repeat(12_000), vec![], 1),
        ("<( a)".repeat(12_000), vec![], 1),
        ("\"${x:-'".repeat(9_000), vec![Why::Nesting], 1),
        ("a\r\n".repeat(20_000), vec![], 20_000),
    ]
}

#[test]
fn every_text_is_read_within_its_budget() {
    for (text, expected, statements) in cases() {
        let start: String = text.chars().take(30).collect();
        for shell in SHELLS {
            let (parsed, work) = syntax::parse(&text, shell, usize::MAX);
            assert!(work <= WORK_PER_BYTE * text.len() + 100, "{shell:?} {start}: {work}");
            if shell == Shell::Bash {
                let holes: Vec<Why> = parsed.holes.iter().map(|hole| hole.why).collect();
                assert_eq!(holes, expected, "{start}");
                let count = parsed.script.statements.len();
                assert!(count >= statements, "{count} statements: {start}");
            }
        }
    }
}

/// The lines of a text that is too long are read, up to the last one that is certainly complete.
#[test]
fn the_beginning_of_long_text_is_read() {
    let lines = "rm a\n".repeat(1_000);
    let rest = "rm b\n".repeat(40_000);
    for (last, opener) in [
        ("rm a", "rm"),
        ("if x; then\n", "if"),
        ("cat <<E\n", "cat"),
        ("{ cat <<E; rm c; } && rm d\n", "{"),
        ("bash <<E; rm c\n", "bash"),
        ("echo '\n", "echo"),
        ("echo \"$(\n", "echo"),
        ("f() {\n", "f()"),
        ("x=(\n", "x="),
        ("case a in b)\n", "case"),
    ] {
        let text = format!("{lines}{last}\n{rest}");
        let parsed = syntax::parse(&text, Shell::Bash, usize::MAX).0;
        let holes: Vec<_> = parsed.holes.iter().map(|hole| (hole.why, hole.span.end)).collect();
        // The end of quotes is looked for before their bytes are counted.
        let why = if last == "echo '\n" { Why::Syntax } else { Why::Size };
        assert_eq!(holes, [(why, text.len() as u32)], "{last}");
        let start = parsed.holes[0].span.start as usize;
        assert!(parsed.script.statements.len() > 900, "{last}");
        let hole = text.get(start..).unwrap_or_default();
        assert!(hole.starts_with(opener), "{last}");
        assert!(opener == "rm" || start <= lines.len(), "{last}");
    }
}

/// A quoted body of any length is text.
#[test]
fn a_long_quoted_body_is_text() {
    let lines = 10_000;
    for delimiter in ["<<'E'", "<<\"E\"", "<<-'E'", "<< \\E"] {
        let text = format!("a\ncat {delimiter}\n{}E\nb", "$(rm) `rm` ' \" \\\n".repeat(lines));
        let statements = syntax::parse(&text, Shell::Bash, usize::MAX).0.script.statements;
        let [_, Statement { redirects, .. }, Statement { node: Node::Simple { .. }, .. }] =
            statements.as_slice()
        else {
            panic!("{delimiter}: {} statements", statements.len())
        };
        let [Part::Text { text, quoted: true }] = redirects[0].target.parts.as_slice() else {
            panic!("{delimiter}: {:?}", redirects[0].target.parts)
        };
        assert_eq!(text.lines().count(), lines, "{delimiter}");
    }
}
