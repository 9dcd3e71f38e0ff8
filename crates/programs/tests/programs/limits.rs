//! A hostile text reaches each limit of this crate: the danger beyond the limit is found, or reported as unknown.
use std::collections::BTreeSet;

use castellan_event::Why;
use castellan_programs::{Arg, Does, Inner, Invocation, code, find, invoke};

/// A limit, a number below and beyond it, and the result for a number: the dangerous part is found, or is unknown.
struct Row {
    limit: &'static str,
    below: usize,
    beyond: usize,
    found: fn(usize) -> Ends,
}

#[derive(Debug, PartialEq, Eq)]
enum Ends {
    /// The dangerous part is found.
    Found,
    /// A part is reported as unknown.
    Unknown(Why),
    /// Neither is reported.
    Silent,
}

fn argv(text: &str) -> Vec<Arg> {
    text.split(' ').filter(|word| !word.is_empty()).map(|word| Arg::known(word.replace('_', " "))).collect()
}

fn read(argv: &[Arg]) -> Invocation {
    invoke(find(argv[0].as_str().unwrap()).unwrap(), argv)
}

/// Returns whether a known text is among the arguments, else the reason why an argument is unknown.
fn among<'a>(args: impl IntoIterator<Item = &'a Arg>, text: &str) -> Ends {
    let args: Vec<&Arg> = args.into_iter().collect();
    let why = args.iter().find_map(|arg| arg.why());
    match args.iter().any(|arg| arg.as_str().is_some_and(|known| known.contains(text))) {
        true => Ends::Found,
        false => why.map_or(Ends::Silent, Ends::Unknown),
    }
}

fn shell_texts(read: &Invocation, argv: &[Arg]) -> Vec<Arg> {
    let inner = read.inner(argv).into_iter();
    inner.filter_map(|one| if let Inner::Shell { text, .. } = one { Some(text) } else { None }).collect()
}

fn does(language: &str, text: &str) -> Ends {
    let does = code(language, &Arg::known(text)).unwrap();
    let shell = does.iter().any(|one| matches!(one, Does::Shell(text) if text.as_str() == Some("rm -rf /")));
    let unknown =
        does.iter().find_map(|one| if let Does::Unknown { why, .. } = one { Some(*why) } else { None });
    if shell { Ends::Found } else { unknown.map_or(Ends::Silent, Ends::Unknown) }
}

/// Returns the files that a search deletes.
fn deletes(text: &str) -> Ends {
    let argv = argv(text);
    let found = read(&argv).found(&argv, argv.len() - 1);
    among(found.iter().map(|one| &one.arg), "/etc")
}

const ROWS: &[Row] = &[
    Row {
        limit: "CLUSTER_LETTERS_MAX",
        below: 3,
        beyond: 100,
        // A new letter is used beyond the limit, too.
        found: |count| {
            let argv = argv(&format!("rm -{}r /", "f".repeat(count)));
            let read = read(&argv);
            if read.options.iter().any(|used| used.flag == "-r") { Ends::Found } else { Ends::Silent }
        },
    },
    Row {
        limit: "CLUSTER_LETTERS_MAX",
        below: 3,
        beyond: 100,
        found: |count| {
            let argv = argv(&format!("tar c{}f /etc/passwd x", "v".repeat(count)));
            let read = read(&argv);
            among(read.options.iter().filter_map(|used| used.value.as_ref()), "/etc/passwd")
        },
    },
    Row {
        limit: "DETAIL_CHARS_MAX",
        below: 3,
        beyond: 300,
        found: |count| {
            let argv = argv(&format!("git -c alias.{}=!rm_-rf_/ x", "a".repeat(count)));
            among(&shell_texts(&read(&argv), &argv), "rm -rf /")
        },
    },
    Row {
        limit: "DETAIL_CHARS_MAX",
        below: 3,
        beyond: 300,
        found: |count| {
            let argv = argv(&format!("git -c pager.{}=rm_-rf_/ x", "A".repeat(count)));
            among(&shell_texts(&read(&argv), &argv), "rm -rf /")
        },
    },
    Row {
        limit: "INPUT_PLACES_MAX",
        below: 2,
        beyond: 20,
        found: |count| {
            let argv = argv(&format!("parallel rm {} ::: /etc", "{}/..".repeat(count)));
            among(&shell_texts(&read(&argv), &argv), "/etc")
        },
    },
    Row {
        limit: "SEARCH_STARTS_MAX",
        below: 3,
        beyond: 64,
        found: |count| {
            let starts: String = (0..count).map(|at| format!("x{at} ")).collect();
            deletes(&format!("find {starts} /etc -delete"))
        },
    },
    Row {
        limit: "SEARCH_TERMS_MAX",
        below: 3,
        beyond: 300,
        found: |count| deletes(&format!("find /etc {} -delete", "-type f ".repeat(count))),
    },
    Row {
        limit: "CODE_BYTES_MAX",
        below: 3,
        beyond: 20_000,
        found: |count| does("awk", &format!("{} BEGIN {{ system(\"rm -rf /\") }}", "{x=1} ".repeat(count))),
    },
    Row {
        limit: "COMMANDS_MAX",
        below: 3,
        beyond: 300,
        found: |count| does("ex", &format!("{}!rm -rf /", "p|".repeat(count))),
    },
];

#[test]
fn a_limit_that_is_reached_is_not_silent() {
    for row in ROWS {
        assert_eq!((row.found)(row.below), Ends::Found, "{} below", row.limit);
        assert_ne!((row.found)(row.beyond), Ends::Silent, "{} beyond", row.limit);
    }
}

/// The prefix of a setting shows that it names no command, however long the setting is.
#[test]
fn a_long_setting_of_another_name_is_known() {
    let argv = argv(&format!("git -c http.extraHeader={}= push", "a".repeat(500)));
    assert_eq!(shell_texts(&read(&argv), &argv), []);
}

#[test]
fn every_limit_has_a_row() {
    let limit = |line: &'static str| Some(line.strip_prefix("pub(crate) const ")?.split_once(':')?.0);
    let all: BTreeSet<&str> = include_str!("../../src/limits.rs").lines().filter_map(limit).collect();
    assert_eq!(all, ROWS.iter().map(|row| row.limit).collect());
}
