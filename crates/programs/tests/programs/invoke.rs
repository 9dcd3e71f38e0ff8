//! Tests of argument parsing: `command => options, operands and inner commands`, in `invoke.cases`.
use std::fmt::Write as _;

use castellan_event::Why;
use castellan_programs::{Arg, Inner, Invocation, Piece, find, invoke};

/// Splits words at blanks; `_` is a blank inside a word, `$X` is an unknown part.
fn argv(text: &str) -> Vec<Arg> {
    text.split_whitespace().map(argument).collect()
}

fn argument(word: &str) -> Arg {
    let word = word.replace('_', " ");
    match word.split_once("$X") {
        None => Arg::known(word),
        Some((before, after)) => {
            let unknown = Piece::Unknown { why: Why::Variable, written: "$X".into() };
            Arg::from_pieces([Piece::Text(before.into()), unknown, Piece::Text(after.into())], false)
        }
    }
}

fn dump(read: &Invocation, argv: &[Arg]) -> String {
    let mut parts: Vec<String> = read.subcommand.iter().map(|name| format!("sub={name}")).collect();
    for used in &read.options {
        let value = used.value.as_ref().map(|value| format!("={}", value.written())).unwrap_or_default();
        let clause: String = used.clause.iter().map(|word| format!(" {}", word.written())).collect();
        parts.push(format!("{}{value}{clause}", used.flag));
    }
    for operand in &read.operands {
        parts.push(format!("{:?}:{}", operand.slot.role, operand.arg.written()));
    }
    let written = |at: &usize| argv.get(*at).unwrap().written();
    parts.extend(read.unknown.iter().map(|at| format!("?{}", written(at))));
    parts.extend(read.uncertain.iter().map(|at| format!("??{}", written(at))));
    parts.extend(read.inner(argv).iter().map(|inner| match inner {
        Inner::Command { argv, assignments, .. } => {
            let words: Vec<_> = argv.iter().map(|word| word.written().into_owned()).collect();
            let set: String =
                assignments.iter().map(|(name, value)| format!("{name}={} ", value.written())).collect();
            format!("run[{set}{}]", words.join(" "))
        }
        Inner::Shell { text, .. } => format!("shell[{}]", text.written()),
        Inner::Line { text } => format!("line[{}]", text.written()),
        Inner::Code { language, text } => format!("{language}[{}]", text.written()),
    }));
    parts.join("; ")
}

#[test]
fn arguments_are_read_as_the_program_would() {
    let cases = include_str!("invoke.cases");
    let cases = cases.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut wrong = String::new();
    for case in cases {
        let (command, expected) = case.split_once(" => ").unwrap_or((case, ""));
        let argv = argv(command);
        let program = find(argv[0].as_str().unwrap()).unwrap_or_else(|| panic!("no model: {command}"));
        let read = dump(&invoke(program, &argv), &argv);
        if read != expected.trim() {
            writeln!(wrong, "{command}\n    not {}\n    but {read}", expected.trim()).unwrap();
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn what_a_long_search_finds_is_not_known() {
    let terms = "-name x ".repeat(300);
    let argv = argv(&format!("find . {terms} -delete"));
    let read = invoke(find("find").unwrap(), &argv);
    let found = read.found(&argv, argv.len() - 1);
    assert_eq!(
        found.iter().map(|one| (one.arg.why(), one.is_all)).collect::<Vec<_>>(),
        [(Some(Why::Budget), true)]
    );
}

#[test]
fn what_may_be_options_does_not_hide_a_subcommand() {
    let options = Arg::unknown(Why::Variable, "$X", true);
    let argv = [Arg::known("git"), options, Arg::known("reset"), Arg::known("--hard")];
    let read = invoke(find("git").unwrap(), &argv);
    assert_eq!(dump(&read, &argv), "sub=reset; --hard; ??$X");
}
