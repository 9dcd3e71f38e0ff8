//! Bad input: a hole or a limit, and never less than the complete lines before it, which the shell runs first.

use castellan_event::Why;
use castellan_shell::syntax::parse;
use castellan_shell::{Item, Shell, Start};

use crate::dump::{self, commands, start};

const SHELLS: [Shell; 4] = [Shell::Bash, Shell::Zsh, Shell::Posix, Shell::Ksh];

/// Units of the parser's work for a byte: more would not be linear.
const WORK_PER_BYTE: usize = 8;

const LISTS: &[Shell] = &[Shell::Bash, Shell::Posix, Shell::Ksh];
const RICH: &[Shell] = &[Shell::Bash, Shell::Zsh, Shell::Ksh];

/// Text without its end, in the shells that have the syntax. zsh takes the end of the text for the end of any list.
const UNTERMINATED: &[(&str, &[Shell])] = &[
    ("rm '", &SHELLS),
    ("rm \"", &SHELLS),
    ("rm $'", RICH),
    ("rm $\"", &[Shell::Bash, Shell::Ksh]),
    ("rm `", &SHELLS),
    ("rm \"`", &SHELLS),
    ("rm $(", &SHELLS),
    ("rm \"$(rm b", &SHELLS),
    ("rm $((1 + ", &SHELLS),
    ("rm ${", &SHELLS),
    ("rm ${x", &SHELLS),
    ("rm ${x:-", &SHELLS),
    ("rm \"${x#", &SHELLS),
    ("rm ${x/a", RICH),
    ("rm ${x[", RICH),
    ("rm ${x:1", RICH),
    ("rm $[", &[Shell::Bash, Shell::Zsh]),
    ("rm <(rm b", RICH),
    ("rm >(", RICH),
    ("rm @(a", &[Shell::Bash, Shell::Ksh]),
    ("rm ${ rm b; ", RICH),
    ("(rm b", &SHELLS),
    ("((1", RICH),
    ("{ rm b", LISTS),
    ("if rm b", LISTS),
    ("if rm b; then rm c", LISTS),
    ("if rm b; then rm c; else rm d", LISTS),
    ("while rm b", LISTS),
    ("until rm b; do rm c", LISTS),
    ("for x in a", LISTS),
    ("for x in a; do rm b", LISTS),
    ("for ((x = 1; ", RICH),
    ("select x in a; do rm b", &[Shell::Bash, Shell::Ksh]),
    ("case a in", LISTS),
    ("case a in (b", &SHELLS),
    ("case a in b) rm c;;", LISTS),
    ("f() {", LISTS),
    ("function f", &[Shell::Bash, Shell::Ksh]),
    ("coproc {", &[Shell::Bash]),
    ("[[ -n a", RICH),
    ("[[ ( a ", RICH),
    ("x=(a", RICH),
    ("x[1", &[Shell::Bash, Shell::Ksh]),
    ("rm b &&", LISTS),
    ("rm b |", &SHELLS),
    ("rm b >", &SHELLS),
    ("rm <<", &SHELLS),
];

/// Reports whether the lines before a bad text are found, and returns the reasons of the holes.
fn found(text: &str, shell: Shell, first: &str) -> (bool, Vec<Why>) {
    let work = parse(text, shell, usize::MAX).1;
    assert!(
        work <= WORK_PER_BYTE * text.len() + 100,
        "{shell:?}: {work} units of {} bytes: {:.40}",
        text.len(),
        text
    );
    let found = commands(text, &Start { shells: vec![shell], ..start() });
    let is_first = |item: &Item| matches!(item, Item::Command(run) if run.line == first);
    let holes = found.items.iter().filter_map(|item| match item {
        Item::Hole(gap) => Some(gap.why),
        Item::Command(_) | Item::Set(_) | Item::Script(_) => None,
    });
    (found.items.iter().any(is_first), holes.collect())
}

#[test]
fn unterminated_text_is_a_hole_after_the_lines_before_it() {
    for (rest, shells) in UNTERMINATED {
        for shell in *shells {
            for ending in ["", "\n", "\nrm last\n", "\n\n# comment\nrm last"] {
                let text = format!("rm first\n{rest}{ending}");
                let (is_found, holes) = found(&text, *shell, "rm first");
                assert!(is_found, "{shell:?}: {text:?}");
                // Some text goes on in the next lines.
                let is_hole = holes.contains(&Why::Syntax) || ending.contains("rm");
                assert!(is_hole, "{shell:?}: {text:?} has {holes:?}");
            }
        }
    }
}

/// Nests: the opener, the middle, the closer, and whether the depth has a limit.
const NESTS: &[(&str, &str, &str, bool)] = &[
    ("$(", "a", ")", true),
    ("( ", "a", " )", true),
    ("{ ", "a", "; }", true),
    ("rm ${a:-", "b", "}", true),
    ("rm \"${a:-", "b", "}\"", true),
    ("rm \"$(", "a", ")\"", true),
    ("if a; then ", "b", "; fi", true),
    ("while a; do ", "b", "; done", true),
    ("for i in a; do ", "b", "; done", true),
    ("case a in b) ", "c", ";; esac", true),
    ("f() { ", "a", "; }", true),
    ("rm <( ", "a", ")", true),
    ("rm ${a[", "b", "]}", true),
    ("rm ${a/", "b", "/c}", true),
    ("rm ${a#", "b", "}", true),
    ("rm ${a:", "b", "}", true),
    ("rm $[", "1", "]", true),
    ("time ", "a", "", true),
    ("coproc ", "a", "", true),
    ("rm ${ ", "a", "; }", true),
    ("cat <<E\n$(", "a", "\n)\nE\n", true),
    ("[[ ( ", "a", " ) ]]", false),
    ("! ", "a", "", false),
    ("a | ", "b", "", false),
    ("a && ", "b", "", false),
    ("rm {a,", "b", "}", false),
];

#[test]
fn deep_nests_are_a_hole_after_the_lines_before_it() {
    for (open, middle, close, is_limited) in NESTS {
        for times in [10, 100, 1_000, 10_000, 100_000] {
            let text = format!("rm first\n{}{middle}{}", open.repeat(times), close.repeat(times));
            let (is_found, holes) = found(&text, Shell::Bash, "rm first");
            let is_too_long = text.len() > 1 << 20;
            assert!(is_found || (is_too_long && holes == [Why::Size]), "{open} {times}: {holes:?}");
            let is_deep = *is_limited && times > 10;
            assert!(!is_deep || !holes.is_empty(), "{open} {times} has no hole");
        }
    }
}

/// Text that is long or makes more text: the reason of a hole, or nothing if `rm` is found after it.
fn large() -> Vec<(&'static str, String, Option<Why>)> {
    let mib = 1 << 20;
    let name = "n".repeat(64 << 10);
    let short = "n".repeat(30 << 10);
    vec![
        ("a word of 1 MiB", "a".repeat(mib - 10), Some(Why::Size)),
        ("a line of 1 MiB", "rm a ".repeat(mib / 5 - 10), Some(Why::Size)),
        ("a quoted line of 1 MiB", format!("rm '{}'", "a".repeat(mib - 100)), Some(Why::Size)),
        ("a comment of 1 MiB", format!("# {}\nrm last", "a".repeat(mib - 100)), Some(Why::Size)),
        (
            "a here-document without an end",
            format!("cat <<E\n{}", "rm $(a)\n".repeat(20_000)),
            Some(Why::Size),
        ),
        ("a quoted here-document without an end", format!("cat <<'E'\n{}", "rm a\n".repeat(20_000)), None),
        ("many here-documents without an end", "cat <<E ".repeat(1_000), None),
        ("a name of 64 KiB", format!("{name}=rm\nrm last"), Some(Why::Size)),
        ("a long name", format!("{short}=rm\nrm last"), None),
        ("a long parameter", format!("rm ${short}\nrm last"), None),
        ("a long function", format!("{short}() {{ rm b; }}\nrm last"), None),
        ("braces", format!("rm {}\nrm last", "{a,b}".repeat(5_000)), None),
        ("braces in braces", format!("rm {}{}\nrm last", "{a,".repeat(5_000), "}".repeat(5_000)), None),
        ("a range", "rm {1..999999999999}\nrm last".to_owned(), None),
        ("a long expression", format!("rm $((1{}))\nrm last", "+1*2".repeat(5_000)), None),
        ("powers", format!("rm $((9{}))\nrm last", "**9".repeat(5_000)), None),
        ("a deep expression", format!("(({}1{}))\nrm last", "(".repeat(9_000), ")".repeat(9_000)), None),
        ("variables in expressions", format!("{}rm $((x9))\nrm last", numbered("x№='x№+x№'\n", 50)), None),
        ("carriage returns", format!("{}\nrm last", "rm b\r\n".repeat(500)), None),
    ]
}

fn numbered(text: &str, count: usize) -> String {
    (0..count).map(|number| text.replace('№', &number.to_string())).collect()
}

#[test]
fn large_text_is_a_hole_after_the_lines_before_it() {
    for (name, rest, why) in large() {
        let text = format!("rm first\n{rest}");
        let (is_found, holes) = found(&text, Shell::Bash, "rm first");
        assert!(is_found, "{name}: {holes:?}");
        assert!(why.is_none_or(|why| holes.contains(&why)), "{name}: {holes:?}");
        let is_last = !rest.ends_with("rm last") || why.is_some() || found(&text, Shell::Bash, "rm last").0;
        assert!(is_last || !holes.is_empty(), "{name}: {holes:?}");
    }
}

/// An argument has no NUL: what a shell receives depends on the program that starts the shell.
#[test]
fn text_with_a_nul_is_a_hole() {
    for text in ["\0", "rm first\n\0", "rm\0 first\n", "rm first # \0\n", "cat <<'E'\n\0\nE\n"] {
        for shell in SHELLS {
            assert_eq!(found(text, shell, "rm first"), (false, vec![Why::Encoding]), "{shell:?}: {text:?}");
        }
    }
}

/// A carriage return is a character of a word.
#[test]
fn a_carriage_return_is_text() {
    for shell in SHELLS {
        assert!(found("rm a\r\nrm b\r", shell, "rm 'b\r'").0 || found("rm a\r\nrm b\r", shell, "rm b\r").0);
        let lines = dump::dump(&commands("if a; then\r\n rm b\nfi\r\n", &start()));
        assert!(lines.iter().any(|line| line.contains("gap")), "{lines:?}");
    }
}

/// Bytes of a text whose prefixes are all walked.
const PREFIXED_BYTES_MAX: usize = 120;

/// The commands of complete lines are found, whatever follows: a shell runs these lines before it reads further.
#[test]
fn every_prefix_runs_its_complete_lines() {
    let texts: Vec<&str> = crate::GROUPS.iter().flat_map(|(_, cases)| cases.split("====\n")).collect();
    let texts = texts.iter().filter_map(|case| Some(case.split_once("\n----\n")?.0));
    let texts: Vec<&str> = texts.filter(|text| text.len() <= PREFIXED_BYTES_MAX).collect();
    let mut compared = 0;
    for pair in texts.windows(2).step_by(5) {
        let text = pair.join("\n");
        for shell in SHELLS {
            let setting = Start { shells: vec![shell], ..start() };
            let mut complete: Vec<String> = Vec::new();
            for (at, _) in text.char_indices().chain([(text.len(), ' ')]) {
                let prefix = text.split_at(at).0;
                let lines = dump::dump(&commands(prefix, &setting));
                for line in &complete {
                    assert!(lines.contains(line), "{shell:?}: {line} is gone in {prefix:?}: {lines:#?}");
                    compared += 1;
                }
                if is_complete(prefix, shell) {
                    // A trap runs after the rest.
                    let is_run = |line: &String| !line.starts_with("gap ") && !line.contains("| trap");
                    complete = lines.into_iter().filter(is_run).collect();
                }
            }
        }
    }
    assert!(compared > 5_000, "{compared} commands");
}

/// Reports whether a shell runs the text before it reads a next line. An open here-document takes the next line, and in
/// zsh the end of the text ends any list.
fn is_complete(text: &str, shell: Shell) -> bool {
    let is_open = text.contains("<<") || text.ends_with("\\\n") || shell == Shell::Zsh;
    text.ends_with('\n') && !is_open && parse(text, shell, usize::MAX).0.holes.is_empty()
}
