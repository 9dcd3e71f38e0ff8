//! Tests of hostile and broken files: each gives an error with its place, in time proportional to its size.

use castellan_rules::{Options, Severity, Source, load};

use crate::catalogue::FIELDS;

fn rule(condition: &str) -> String {
    format!(
        "- rule: r\n  desc: d\n  condition: {condition}\n  output: o\n  priority: INFO\n  source: coding_agent\n"
    )
}

/// Loads a file and compares its first error, as `line:column: code` and a part of its message.
fn check(name: &str, text: &str, place: &str, message: &str) {
    let loaded = load(&[Source { name: "r".to_owned(), text: text.to_owned() }], FIELDS, &Options::default());
    let error = loaded.problems.iter().find(|problem| problem.severity == Severity::Error);
    assert!(error.is_some(), "{name}: {:?}", loaded.problems);
    let error = error.unwrap();
    assert_eq!(format!("{}:{}: {}", error.line, error.column, error.code), place, "{name}: {error:?}");
    assert!(error.message.contains(message), "{name}: {error:?}");
    assert!(error.render(Some(text)).len() < 20_000, "{name}");
}

#[test]
fn nesting() {
    let n = 100_000;
    for (name, text, place, message) in [
        (
            "parentheses",
            rule(&format!("{}tool.name = a{}", "(".repeat(n), ")".repeat(n))),
            "3:270: LOAD_ERR_COMPILE_CONDITION",
            "levels of nesting",
        ),
        ("open parentheses", rule(&"(".repeat(n)), "3:270: LOAD_ERR_COMPILE_CONDITION", "levels of nesting"),
        (
            "not",
            rule(&format!("{}tool.name = a{}", "not(".repeat(n), ")".repeat(n))),
            "3:1038: LOAD_ERR_COMPILE_CONDITION",
            "levels of nesting",
        ),
        (
            "transformers",
            rule(&format!("{}tool.name{} = a", "tolower(".repeat(n), ")".repeat(n))),
            "3:822: LOAD_ERR_COMPILE_CONDITION",
            "levels of nesting",
        ),
        ("YAML lists", "[".repeat(n), "1:256: LOAD_ERR_YAML_PARSE", "recursion"),
        ("YAML maps", format!("- {}", "{a: ".repeat(40)), "1:127: CASTELLAN_LIMIT", "levels of nesting"),
    ] {
        check(name, &text, place, message);
    }
}

/// The deepest conditions load on the stack of a thread of the daemon, and each walk over them ends.
#[test]
fn the_deepest_nesting_loads() {
    let levels = 255;
    for open in ["(", "not (", "tool.name = b or tool.name = c and not ("] {
        let text = rule(&format!("{}tool.name = a{}", open.repeat(levels), ")".repeat(levels)));
        let load = move || {
            let options = Options { lints: true, describe: true, ..Options::default() };
            let loaded = load(&[Source { name: "r".to_owned(), text }], FIELDS, &options);
            assert!(!loaded.has_errors(), "{:?}", loaded.problems);
        };
        std::thread::Builder::new().stack_size(2 << 20).spawn(load).unwrap().join().unwrap();
    }
}

#[test]
fn size() {
    let word = |count: usize, word: &str| word.repeat(count);
    let names = |count: usize| (0..count).map(|i| format!("l{i}, ")).collect::<String>();
    let lists: String =
        (0..2_000).map(|i| format!("- list: l{i}\n  items: [{}]\n", word(2, "abcdefgh"))).collect();
    for (name, text, place, message) in [
        (
            "10 MB",
            format!("# {}\n{}", word(10 << 20, "x"), rule("tool.name = a")),
            "1:1: CASTELLAN_LIMIT",
            "bytes, more than 8388608",
        ),
        (
            "a list longer than a condition",
            format!("- list: l\n  items: [{}]\n{}", word(200_000, "abcdefghij, "), rule("tool.name in (l)")),
            "5:28: CASTELLAN_LIMIT",
            "the list `l`",
        ),
        (
            "many lists in one condition",
            format!("{lists}{}", rule(&format!("tool.name in ({}x)", names(2_000)))),
            "4003:14: CASTELLAN_LIMIT",
            "too many lists",
        ),
        (
            "a long constant",
            rule(&format!("tool.name = {}", word(256, "x"))),
            "3:26: LOAD_ERR_COMPILE_CONDITION",
            "more than 255",
        ),
        (
            "exceptions",
            format!(
                "{}  exceptions: [{}]\n",
                rule("tool.name = a"),
                word(1_001, "{name: e, fields: tool.name},")
            ),
            "7:29023: CASTELLAN_LIMIT",
            "at most 1000 exceptions",
        ),
        (
            "an alias bomb",
            format!(
                "- &a0 [x]\n{}",
                (1..40).map(|level| format!("- &a{level} [*a{0}, *a{0}]\n", level - 1)).collect::<String>()
            ),
            "23:3: CASTELLAN_LIMIT",
            "each use of an alias",
        ),
        ("an alias in its own anchor", "- &a [*a]\n".to_owned(), "1:7: LOAD_ERR_YAML_PARSE", "alias"),
    ] {
        check(name, &text, place, message);
    }
}

/// Tests text that is within the limits once, but not in every rule of a set.
#[test]
fn what_every_rule_of_a_set_repeats() {
    let rules = |count: usize, condition: &dyn Fn(usize) -> String| -> String {
        (0..count).map(|at| rule(&condition(at)).replace("rule: r", &format!("rule: r{at}"))).collect()
    };
    let items: String = (0..20_000).map(|at| format!("/path/number/{at}, ")).collect();
    let doubled: String =
        (1..15).map(|at| format!("- macro: m{at}\n  condition: m{0} or m{0}\n", at - 1)).collect();
    let odd: String = (0..1_001).map(|at| format!("- list: an odd name {at}\n  items: [a]\n")).collect();
    for (name, text, place, message) in [
        (
            "a long list",
            format!(
                "- list: l\n  items: [{items}]\n{}",
                rules(300, &|at| format!("tool.name in (x{at}, l)"))
            ),
            "1043:14: CASTELLAN_LIMIT",
            "too many conditions",
        ),
        (
            "a large macro",
            format!(
                "- macro: m0\n  condition: tool.name = a\n{doubled}{}",
                rules(100, &|_| "m14".to_owned())
            ),
            "399:14: CASTELLAN_LIMIT",
            "in all rules",
        ),
        (
            "large patterns",
            rules(110, &|at| format!("tool.name regex '(a.{{0,300}}){{1,3}}x{at}'")),
            "609:30: CASTELLAN_LIMIT",
            "more than 100 large patterns",
        ),
        (
            "odd names of lists",
            format!("{odd}{}", rules(1, &|_| "tool.name = a".to_owned())),
            "2005:14: CASTELLAN_LIMIT",
            "parenthesis in the name",
        ),
    ] {
        check(name, &text, place, message);
    }
}

#[test]
fn warnings_never_crowd_out_an_error() {
    let unused: String =
        (0..1_500).map(|i| format!("- macro: m{i}\n  condition: tool.name = a\n  more: x\n")).collect();
    let text = format!("{unused}{}", rule("tool.nam = a"));
    check("an error behind many warnings", &text, "4503:14: LOAD_ERR_COMPILE_CONDITION", "tool.nam");
}

#[test]
fn cycles() {
    let macros = "- macro: a\n  condition: b\n- macro: b\n  condition: a\n- macro: a\n  condition: b\n";
    for (name, text, place, message) in [
        (
            "of one",
            format!(
                "- macro: a\n  condition: tool.name = x\n- macro: a\n  condition: or a\n  append: true\n{}",
                rule("a")
            ),
            "4:17: LOAD_ERR_VALIDATE",
            "uses itself",
        ),
        (
            "of two",
            format!("- macro: a\n  condition: tool.name = x\n{macros}{}", rule("a")),
            "8:14: LOAD_ERR_VALIDATE",
            "uses itself: `b`, `a`, `b`",
        ),
    ] {
        check(name, &text, place, message);
    }
}

#[test]
fn characters() {
    for (name, text, place, message) in [
        ("a NUL", rule("tool.name = a\0b"), "3:27: LOAD_ERR_YAML_PARSE", ""),
        ("a NUL in a comment", format!("# \0\n{}", rule("tool.name = a")), "1:3: LOAD_ERR_YAML_PARSE", ""),
        ("an escaped NUL", rule(r#""tool.name = a\0b""#), "3:27: LOAD_ERR_COMPILE_CONDITION", "NUL"),
        ("a tab before an item", format!("\t{}", rule("tool.name = a")), "1:2: LOAD_ERR_YAML_PARSE", "tab"),
        (
            "a tab before a key",
            rule("tool.name = a").replace("  desc", "\tdesc"),
            "1:9: LOAD_ERR_YAML_PARSE",
            "",
        ),
        (
            "the same key twice",
            rule("tool.name = a").replace("  output", "  desc: e\n  output"),
            "4:3: CASTELLAN_DUPLICATE_KEY",
            "this key twice",
        ),
        (
            "the same condition twice",
            format!("{}  condition: tool.name = b\n", rule("tool.name = a")),
            "7:3: CASTELLAN_DUPLICATE_KEY",
            "this key twice",
        ),
        (
            "the same rule twice",
            rule("tool.name = a") + &rule("tool.name = b"),
            "7:3: CASTELLAN_DUPLICATE_RULE",
            "defines this rule twice",
        ),
        ("an open quote", rule("'tool.name = a"), "3:14: LOAD_ERR_YAML_PARSE", ""),
        ("an open string", rule("tool.name = \"a"), "3:26: LOAD_ERR_COMPILE_CONDITION", "no closing quote"),
    ] {
        check(name, &text, place, message);
    }
}

#[test]
fn bytes_that_are_no_utf8_are_refused_with_their_place() {
    for (bytes, expected) in [
        (b"- rule: r".as_slice(), None),
        (
            b"- rule: \xff",
            Some("r:1:9: LOAD_ERR_FILE_READ: a byte that is not UTF-8 (save the file as UTF-8)"),
        ),
        (
            b"# \xc3\xa9\n- \xc3",
            Some("r:2:3: LOAD_ERR_FILE_READ: a byte that is not UTF-8 (save the file as UTF-8)"),
        ),
    ] {
        let source = Source::from_bytes("r".to_owned(), bytes.to_vec());
        let error = source.err().map(|problem| problem.one_line());
        assert_eq!(error.as_deref(), expected);
    }
}

/// A letter that turns the direction of writing could show another text than the one that is read.
#[test]
fn invisible_letters_of_a_file_are_not_shown() {
    let text = rule("tool.name = a\u{202e}b and proc.n\u{200b}ame = c");
    let loaded = load(&[Source { name: "r".to_owned(), text: text.clone() }], FIELDS, &Options::default());
    assert!(!loaded.problems.is_empty());
    for problem in &loaded.problems {
        let shown = format!("{}{problem:?}{}", problem.message, problem.render(Some(&text)));
        assert!(!shown.contains(['\u{202e}', '\u{200b}']), "{shown:?}");
    }
}
