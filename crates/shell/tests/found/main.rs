//! Commands found in shell text: cases, and laws for every text.

mod bad;
mod dump;
mod laws;
mod oracle;

use castellan_shell::{Shell, Start};

const GROUPS: &[(&str, &str)] = &[
    ("assignments", include_str!("../data/found/assignments.txt")),
    ("code", include_str!("../data/found/code.txt")),
    ("expansions", include_str!("../data/found/expansions.txt")),
    ("flow", include_str!("../data/found/flow.txt")),
    ("ksh", include_str!("../data/found/ksh.txt")),
    ("quoting", include_str!("../data/found/quoting.txt")),
    ("scripts", include_str!("../data/found/scripts.txt")),
    ("wrappers", include_str!("../data/found/wrappers.txt")),
    ("zsh", include_str!("../data/found/zsh.txt")),
];

/// Runs every case: a text, a line of dashes, and the expected items. Lines of equal signs separate cases.
#[test]
fn each_text_gives_what_it_would_run() {
    let mut count = 0;
    let mut wrong = String::new();
    for (group, cases) in GROUPS {
        for case in cases.split("====\n").filter(|case| !case.is_empty()) {
            let (text, expected) = case.split_once("\n----\n").expect("a case has a line of dashes");
            let shell = match *group {
                "zsh" => Shell::Zsh,
                "ksh" => Shell::Ksh,
                _ => Shell::Bash,
            };
            let start = Start { shells: vec![shell], ..dump::start() };
            let found = dump::dump(&dump::commands(text, &start)).join("\n");
            count += 1;
            if found != expected.trim_end() {
                wrong.push_str(&format!(
                    "--- {group}\n{text}\n--- expected\n{expected}--- found\n{found}\n\n"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(count >= 250, "only {count} cases");
}
