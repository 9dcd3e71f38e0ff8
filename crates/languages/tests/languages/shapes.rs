//! The hostile programs of the corpus: each is read, or reports that it was not, and ends within its work. Each test runs
//! on a thread of 2 MiB.
use castellan_event::EffectKind;
use castellan_languages::{Answered, Language, Reading, Start, What, Work, answer, read_once, read_within};

/// The maximum cost of all programs of a call (`WORK_MAX`), and the amount by which one look of a hand-written reader may
/// exceed it.
const WORK_MAX: u64 = 100_000 + (64 << 10) / 16 + 8 * 120;

/// Text before a program, and a command after it.
pub(crate) fn around(language: Language) -> (&'static str, &'static str) {
    match language {
        Language::Python => ("", "\nimport os; os.system('rm -rf /')\n"),
        Language::JavaScript => ("", ";\nrequire('child_process').execSync('rm -rf /');\n"),
        Language::Perl => ("", ";\nsystem('rm -rf /');\n"),
        Language::Ruby => ("", "\nsystem('rm -rf /')\n"),
        Language::Php => ("<?php ", ";\nsystem('rm -rf /');\n"),
        Language::Lua => ("", "\nos.execute('rm -rf /')\n"),
        Language::PowerShell => ("", "\nRemove-Item -Recurse /\n"),
        Language::Batch => ("", "\r\ndel /s /q C:\\x\r\n"),
        Language::AppleScript => ("", "\ndo shell script \"rm -rf /\"\n"),
    }
}

pub(crate) fn start(language: Language) -> Start {
    let file = (language == Language::Php).then(|| "/w/x.php".to_owned());
    Start { file, ..Start::default() }
}

/// The command is found, or a part is reported as not understood.
pub(crate) fn is_reported(reading: &Reading) -> bool {
    reading.acts.iter().any(|act| {
        let deletes = matches!(&act.what, What::Effect { kind: EffectKind::Delete, .. });
        deletes || matches!(&act.what, What::Shell { .. } | What::Hole { .. })
    })
}

/// Sizes in bytes: for the daemon itself, for the helper, and for no parser at all.
fn sizes(language: Language) -> &'static [usize] {
    match language {
        // tree-sitter takes seconds for a longer text; only the end of the helper bounds that (daemon/hostile).
        Language::Perl | Language::Lua => &[100, 2 << 10, 1 << 20],
        // oxc takes seconds, too.
        Language::JavaScript => &[100, 2 << 10, 8 << 10, 1 << 20],
        Language::Python
        | Language::Ruby
        | Language::Php
        | Language::PowerShell
        | Language::Batch
        | Language::AppleScript => &[100, 2 << 10, 4 << 10, 60 << 10, 1 << 20],
    }
}

#[test]
fn each_is_read_or_reported_here_and_by_a_helper() {
    for language in Language::ALL {
        let (before, after) = around(*language);
        for shape in castellan_corpus::hostile_programs(language.as_str()).unwrap() {
            for bytes in sizes(*language) {
                let text = format!("{before}{}{after}", shape.text(*bytes));
                let name = format!("{language} {shape:?} {bytes}");
                let mut work = Work::default();
                let reading = read_within(*language, &text, &start(*language), &mut work);
                assert!(is_reported(&reading), "{name}: {reading:?}");
                assert!(work.spent() <= WORK_MAX, "{name}: {} units", work.spent());
                let is_inside = reading.acts.iter().all(|act| text.get(act.span.clone()).is_some());
                assert!(is_inside, "an act outside of {name}");
                let mut ask = |_: &str, request: &[u8]| answer(request).as_deref().and_then(Answered::decode);
                let mut work = Work::default();
                let apart = read_once(*language, &text, &start(*language), &mut work, &mut ask);
                assert_eq!(apart, reading, "{name}");
            }
        }
    }
}
