//! Reaches each limit of this crate with a hostile text: the walk finds the command after it or reports a `Hole`.

mod rows;

use std::collections::BTreeSet;
use std::rc::Rc;

use castellan_event::{Role, Why};
use castellan_programs::Arg;
use castellan_shell::{Files, Found, Item, Run, Start, Work, commands_within};

use rows::{EXEMPT, rows};

/// A text that grows with a number, and the expected result. Every text runs `rm -rf /`.
struct Row {
    /// The limits that the text reaches.
    limits: &'static [&'static str],
    /// A number for which `rm -rf /` is found; 0 if there is none.
    below: usize,
    /// A number over the limit.
    beyond: usize,
    text: fn(usize) -> String,
    ends: Ends,
}

/// The result for `rm -rf /` when a limit is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    Found,
    /// A `Hole`.
    Hole(Role, Why),
    /// The command, with an unknown operand.
    Operand(Why),
    /// The command, in an unknown directory.
    Nowhere,
    /// A file that the text writes, with unknown contents.
    Written(Why),
}

/// A script over the work limit of any text.
const HEAVY: &str =
    "for a in {1..60}; do for b in {1..60}; do for c in {1..60}; do ls $a$b$c; done; done; done\n";

fn found(text: &str) -> Found {
    let start = Start {
        cwd: Some("/w".into()),
        home: Some("/home/u".into()),
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        ..Start::default()
    };
    let mut read = |path: &str| match path.starts_with("/w/heavy") {
        true => Ok(Rc::from(HEAVY)),
        false => Err(Why::Unresolved),
    };
    commands_within(text, &start, &mut Work::of_text(text.len()), Files::new(&mut read))
}

fn ends(found: &Found, ends: Ends) -> bool {
    let removes = || {
        let runs = found.items.iter().filter_map(|item| match item {
            Item::Command(run) => Some(run),
            Item::Set(_) | Item::Script(_) | Item::Hole(_) => None,
        });
        runs.filter(|run| matches!(name(run), Some("rm" | "/bin/rm")))
    };
    match ends {
        Ends::Found => removes().any(|run| run.argv.iter().any(|arg| arg.as_str() == Some("/"))),
        Ends::Hole(role, why) => found.items.iter().any(|item| match item {
            Item::Hole(gap) => gap.role == role && gap.why == why,
            Item::Command(_) | Item::Set(_) | Item::Script(_) => false,
        }),
        Ends::Operand(why) => removes().any(|run| run.argv.iter().any(|arg| arg.why() == Some(why))),
        Ends::Nowhere => removes().any(|run| run.cwd.is_none()),
        Ends::Written(why) => found.written.iter().any(|(_, text)| text.why() == Some(why)),
    }
}

fn name(run: &Run) -> Option<&str> {
    run.argv.first().and_then(Arg::as_str)
}

fn shown(found: &Found) -> String {
    let line = |item: &Item| match item {
        Item::Command(run) => run.line.chars().take(80).collect(),
        Item::Hole(gap) => {
            format!("hole {} {} {:?}", gap.role, gap.why, gap.written.chars().take(40).collect::<String>())
        }
        Item::Set(_) | Item::Script(_) => String::new(),
    };
    let lines: Vec<String> = found.items.iter().rev().take(8).map(line).collect();
    lines.join("\n    ")
}

#[test]
fn a_limit_that_is_reached_is_not_silent() {
    let mut wrong = String::new();
    for (number, row) in rows().enumerate() {
        let at = |count: usize| found(&(row.text)(count));
        if row.below > 0 && !ends(&at(row.below), Ends::Found) {
            wrong.push_str(&format!(
                "{number} {:?}: not found below it\n    {}\n",
                row.limits,
                shown(&at(row.below))
            ));
        }
        let beyond = at(row.beyond);
        if !ends(&beyond, row.ends) {
            wrong.push_str(&format!(
                "{number} {:?}: not {:?}\n    {}\n",
                row.limits,
                row.ends,
                shown(&beyond)
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Without the `Hole` below a limit, the row proves that the limit causes it.
#[test]
fn below_a_limit_is_no_hole() {
    for row in rows().filter(|row| row.below > 0 && row.ends != Ends::Found) {
        assert!(!ends(&found(&(row.text)(row.below)), row.ends), "{:?}", row.limits);
    }
}

#[test]
fn every_limit_has_a_row() {
    let all: BTreeSet<&str> = include_str!("../../src/limits.rs").lines().filter_map(limit).collect();
    let exempt = EXEMPT.iter().map(|(limit, _)| *limit);
    let told: BTreeSet<&str> = rows().flat_map(|row| row.limits).copied().chain(exempt).collect();
    assert!(all.len() > 40, "only {all:?}");
    let without: Vec<_> = all.difference(&told).collect();
    assert!(without.is_empty(), "limits that no row reaches: {without:?}");
    let unknown: Vec<_> = told.difference(&all).collect();
    assert!(unknown.is_empty(), "rows of limits that do not exist: {unknown:?}");
}

/// Paths beside the limits that ended a walk silently. Each text runs `rm -rf /`: found, or a `Hole` for code.
#[test]
fn kin_of_the_limits_is_not_silent() {
    let many = |one: &str| one.repeat(40);
    let arithmetic = [
        "(( RANDOM + x ))",
        "(( b[x] ))",
        "[[ b[x] -eq 1 ]]",
        "let 'y=RANDOM+x'",
        "echo ${y:RANDOM+x}",
        "b[RANDOM+x]=1",
        "declare -i y=RANDOM+x",
        "(( $(true) + x ))",
        "y=(1 \"$x\"); (( RANDOM + y[1] ))",
        "set -- \"$x\"; (( RANDOM + $1 ))",
    ];
    let arithmetic = arithmetic.map(|text| format!("x='a[$(rm -rf /)]'\n{text}\n"));
    let others = [
        "shopt -s expand_aliases\nalias a='eval \"alias a=\\\"rm -rf /\\\"\neval a\"'\na\n".to_owned(),
        "shopt -s expand_aliases\nalias a=ls\n[ -f x ] || alias a='rm -rf /'\na\n".to_owned(),
        "hash -p /bin/ls foo\n[ -f x ] || hash -p /bin/rm foo\nfoo -rf /\n".to_owned(),
        format!("bash <(echo rm -rf /) {}\n", many("<(echo ls) ")),
        format!("{}z=10\nexec {{z}}< <(echo rm -rf /)\nbash <&$z\n", many("exec {a}< <(echo ls)\n")),
        format!("frobnicate {} rm -rf /\n", many("1 ")),
        format!("find . -name x {} -exec rm -rf / \\;\n", many("-o -name y ")),
    ];
    for text in arithmetic.iter().chain(&others) {
        let found = found(text);
        let holes = || {
            let is_code = |item: &Item| matches!(item, Item::Hole(gap) if gap.role == Role::Code);
            found.items.iter().any(is_code)
        };
        assert!(ends(&found, Ends::Found) || holes(), "{text}    {}", shown(&found));
    }
}

/// A limit in another file would have no row.
#[test]
fn limits_stand_in_one_file() {
    let mut folders = vec![std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if !path.ends_with("limits.rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                let own = text.lines().filter_map(limit).find(|name| name.ends_with("_MAX"));
                assert_eq!(own, None, "{}", path.display());
            }
        }
    }
}

/// Returns the name of the constant defined in a line.
fn limit(line: &str) -> Option<&str> {
    let rest = line.trim_start().trim_start_matches("pub(crate) ").strip_prefix("const ")?;
    rest.split_once(':').map(|(name, _)| name)
}
