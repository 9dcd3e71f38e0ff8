//! Tests of the readers of sed and awk: the scripts that they accept, compared with the installed programs, and bad
//! input.
use std::process::{Command, Stdio};

use castellan_programs::{awk, sed};
use proptest::prelude::*;

fn accepts(language: &str, text: &str) -> bool {
    match language {
        "sed" => sed::Script::read(text).is_whole,
        _ => awk::Program::read(text).is_some_and(|program| program.is_whole),
    }
}

/// Runs a program on no input. `None` if it is not installed.
fn real(program: &str, args: &[&str]) -> Option<(bool, String)> {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).env("LC_ALL", "C.UTF-8").current_dir("/");
    let done = command.output().ok()?;
    Some((done.status.success(), String::from_utf8_lossy(&done.stdout).into_owned()))
}

/// Returns the verdicts of the installed programs. sed gets no input; the others only parse.
fn verdicts(language: &str, text: &str) -> Vec<(&'static str, bool)> {
    let is_known =
        language == "sed" && real("sed", &["--version"]).is_some_and(|(_, text)| text.contains(") 4.9"));
    let sed = if is_known { real("sed", &["-n", "-e", text, "/dev/null"]) } else { None };
    let (gawk, mawk) = match language {
        "awk" => (real("gawk", &["-o/dev/null", text]), real("mawk", &["-W", "dump", text])),
        _ => (None, None),
    };
    let all = [("sed", sed), ("gawk", gawk), ("mawk", mawk)];
    all.into_iter().filter_map(|(name, done)| Some((name, done?.0))).collect()
}

#[test]
fn scripts_are_accepted_as_by_the_programs() {
    let cases = include_str!("readers.cases").lines().filter(|line| !line.starts_with('#'));
    let mut wrong = String::new();
    for case in cases {
        let mut words = case.splitn(3, ' ');
        let [language, verdict, text] = [(); 3].map(|()| words.next().unwrap_or_default());
        let text = text.replace('⏎', "\n");
        let mut verdicts = verdicts(language, &text);
        // Some scripts are only for gawk.
        verdicts.retain(|(name, _)| *name != "mawk" || verdict == "no");
        if accepts(language, &text) != (verdict != "no")
            || verdicts.iter().any(|(_, one)| *one != (verdict == "ok"))
        {
            wrong.push_str(&format!("{case}: {verdicts:?}\n"));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Texts of the longest length that is read, whose end is far from their start.
#[test]
fn hostile_texts_are_read_in_one_pass() {
    let repeated = [
        "{", "}", "s/", "s/a/b/;", "s/[", "/[[:", "[[.", "\\", "a\\\n", "e\\\n", "1,", "!", "b", "y/", "\0",
        "\n", " ", "#", "(", "[", "if(", "\"", "\"\\", "/[[:", "/\\\n", "1e", "0x", ".", "print ",
        "getline<", "|\"", "$", "é", "\u{e000}",
    ];
    for part in repeated {
        for start in ["", "s/[[:", "/[", "\"", "{print \""] {
            let text = format!("{start}{}", part.repeat((1 << 16) / part.len() - start.len()));
            for language in ["awk", "sed"] {
                castellan_programs::code(language, &castellan_programs::Arg::known(text.as_str())).unwrap();
            }
        }
    }
    for language in ["awk", "sed"] {
        assert!(accepts(language, &"\n".repeat(1 << 16)));
        assert!(!accepts(language, &"\n".repeat(1 << 20)), "1 MiB");
    }
}

fn text() -> impl Strategy<Value = String> {
    let parts = [
        "s/", "/", ",", "e", "w", "r f", " ", "\n", "\\", "{", "}", "\"", "|", "getline", "system(", ")",
        "print", ">", "é", "$", "!", "1", "'", "\u{e000}", "a", "[", "]", "[:", ":]", ";", "#", "y,a,b,",
        ":", "x", "if (", "0x", ".", "\0", "i\\",
    ];
    proptest::collection::vec(proptest::sample::select(parts.to_vec()), 0..24)
        .prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// A command depends only on the text up to its end: the reader does not return to it, and the work is linear.
    #[test]
    fn a_script_is_its_lines(first in text(), second in text()) {
        let [one, two] = [&first, &second].map(|text| sed::Script::read(text));
        let both = format!("{first}\n{second}");
        let both = sed::Script::read(&both);
        // A backslash at the end joins the texts.
        if !first.ends_with('\\') {
            prop_assert!(both.commands.starts_with(&one.commands));
        }
        if one.is_whole && !first.ends_with('\\') {
            prop_assert_eq!(both.is_whole, two.is_whole);
            prop_assert_eq!(both.commands, [one.commands, two.commands].concat());
        }
    }

    #[test]
    fn a_program_is_its_lines(first in text(), second in text()) {
        let [one, two] = [&first, &second].map(|text| awk::Program::read(text));
        let both = awk::Program::read(&format!("{first}\n{second}"));
        let (Some(mut one), Some(two)) = (one, two) else { return Ok(()) };
        if one.is_whole && !first.ends_with('\\') {
            let mut both = both.unwrap().tokens;
            // The line may end a statement.
            if both.get(one.tokens.len()) == Some(&awk::Token::End) {
                one.tokens.push(awk::Token::End);
            }
            prop_assert_eq!(both.split_off(one.tokens.len()), two.tokens);
            prop_assert_eq!(both, one.tokens);
        }
    }

    /// No part of the text is in two commands.
    #[test]
    fn a_text_makes_no_more_than_itself(text in text()) {
        let script = sed::Script::read(&text);
        let lengths = script.commands.iter().map(|command| command.address.len() + 1 + match &command.function {
            sed::Function::Substitute(one) => one.pattern.len() + one.replacement.len() + one.flags.len(),
            sed::Function::Read(path) | sed::Function::Write(path) => path.len(),
            sed::Function::Execute(text) => text.as_deref().unwrap_or_default().len(),
            sed::Function::Other(_) => 0,
        });
        prop_assert!(lengths.sum::<usize>() <= text.len());
        prop_assert!(awk::Program::read(&text).is_none_or(|program| program.tokens.len() <= text.len()));
    }
}
