//! Python texts that try a parser: deep, long, wrong, cut off, or not what they seem. Each test runs on a thread of 2 MiB.
use castellan_event::Why;
use castellan_languages::{Language, Reading, Start, What, read};

const RM: &str = "import os; os.system('rm -rf /')";

fn python(text: &str) -> Reading {
    let reading = read(Language::Python, text, &Start::default());
    let is_inside = reading.acts.iter().all(|act| text.get(act.span.clone()).is_some());
    assert!(is_inside, "an act outside of the text");
    reading
}

pub(crate) fn holes(reading: &Reading) -> Vec<Why> {
    let why = |what: &What| if let What::Hole { why, .. } = what { Some(*why) } else { None };
    reading.acts.iter().filter_map(|act| why(&act.what)).collect()
}

pub(crate) fn has_command(reading: &Reading) -> bool {
    reading.acts.iter().any(|act| matches!(&act.what, What::Shell { .. }))
}

/// Nothing is silent because Python reads the bytes in another way.
#[test]
fn texts_that_are_not_what_they_seem_are_reported() {
    let rows: &[(&str, bool, Option<Why>)] = &[
        (RM, true, None),
        // Python's `eval` ignores the indentation; later lines do not have it.
        (&format!("  \t{RM}"), true, None),
        (&format!(" x = 1\n {RM}"), true, Some(Why::Syntax)),
        (&format!("x = 1\r{RM}\r"), true, None),
        (&format!("# x\r{RM}"), true, None),
        (&format!("x = 1\r\n{RM}\r\n"), true, None),
        (&format!("\u{feff}{RM}"), true, Some(Why::Encoding)),
        (&format!("x = 1\n\u{feff}{RM}"), true, Some(Why::Syntax)),
        (&format!("{RM}\0"), true, Some(Why::Syntax)),
        (&format!("x = '\0'\n{RM}"), true, Some(Why::Syntax)),
        (&format!("\u{1a}\n{RM}"), true, Some(Why::Syntax)),
        (&format!("# coding: utf-8\n{RM}"), true, None),
        (&format!("# coding: latin-1\n{RM}"), true, None),
        (&format!("# coding: latin-1\nx = 'é'; {RM}"), false, Some(Why::Encoding)),
        (&format!("#\n# -*- coding: utf-7 -*-\n{RM}"), false, Some(Why::Encoding)),
        // A carriage return ends a line.
        (&format!("#\r# coding: utf-7\r{RM}"), false, Some(Why::Encoding)),
        // Python 2.
        (&format!("print 'x'\n{RM}"), true, Some(Why::Syntax)),
        ("exec 'import os' in {}", false, Some(Why::Syntax)),
        ("x = `id`", false, Some(Why::Syntax)),
        (&format!("if 1 <> 2: {RM}"), true, Some(Why::Syntax)),
        (&format!("try: pass\nexcept E, e: {RM}"), true, Some(Why::Variable)),
        // New syntax.
        (&format!("def f[T](x: T): {RM}\nf(1)"), true, None),
        (&format!("try: pass\nexcept* OSError: {RM}"), true, None),
        (&format!("x = f'{{f'{{1}}'}}'\n{RM}"), true, None),
        (&format!("x = t'{{1}}'\n{RM}"), true, None),
        ("import os; os.system(f'{\"rm -rf /\"}')", true, None),
        ("import os; os.system('\\ud800')", true, None),
    ];
    for (text, has_act, why) in rows {
        let reading = python(text);
        assert_eq!(has_command(&reading), *has_act, "{text:?}: {:?}", reading.acts);
        assert_eq!(holes(&reading).first(), why.as_ref(), "{text:?}: {:?}", reading.acts);
    }
}

/// A program that is cut off at any place is read, and keeps the command that was whole.
#[test]
fn every_prefix_is_read() {
    let program = format!(
        "{RM}\ndef f(a, *b, c=[1, {{'é': 2}}], **d) -> int:\n    '''x\n    '''\n    with open(f'{{a!r:>{{b}}}}') as g, h:\n        \
         yield (await i)[1:2, ...]\nclass C[T](A, m=B): x: 'y()' = lambda z: -z ** 2 if z else not z\n\
         match f(1):\n    case {{'k': [v, *w], **r}} if v: pass\n    case A(b=c) | D.e as k: del a[0], k\n\
         try: raise E from None\nexcept* (E, F) as e: a, *b = c = {{k: v for k, v in d if k}}\nfinally: x @= b'\\xff' t'{{a}}'\n"
    );
    let whole = python(&program);
    for (at, _) in program.char_indices() {
        let prefix = program.get(..at).unwrap();
        let reading = python(prefix);
        assert!(has_command(&reading) || at < RM.len(), "{prefix:?}: {:?}", reading.acts);
        let is_cut = at < RM.len() && prefix.contains('(');
        assert!(!is_cut || !holes(&reading).is_empty(), "{prefix:?}: {:?}", reading.acts);
    }
    assert!(has_command(&whole));
}

/// A value that the parser cannot tell is unknown, not another text.
#[test]
fn half_of_a_surrogate_pair_is_unknown() {
    let command = |text: &str| {
        let reading = python(text);
        let text_of = |what: &What| {
            if let What::Shell { text, .. } = what { Some(text.as_str().map(str::to_owned)) } else { None }
        };
        let shell = reading.acts.iter().find_map(|act| text_of(&act.what));
        shell.unwrap_or_else(|| panic!("{text:?}: {:?}", reading.acts))
    };
    assert_eq!(command("import os; os.system('a\\ud800')"), None);
    assert_eq!(command("import os; os.system('a\u{fffd}')").as_deref(), Some("a\u{fffd}"));
    assert_eq!(
        command("import os; os.system('\\N{LATIN SMALL LETTER A}\\x62\\143')").as_deref(),
        Some("abc")
    );
}
