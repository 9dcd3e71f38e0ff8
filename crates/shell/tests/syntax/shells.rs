//! The parser accepts what the installed shells accept, but for the reasons in `data/syntax_differences.txt`: a fixed sample.
//! `cargo xtask syntax --fuzz=SHELL` compares any number of texts.

use std::path::PathBuf;

use crate::accepted::Judge;
use crate::collected;
use crate::generated::Generator;

/// Texts for each shell.
const COUNT: u64 = 350;

/// Returns seeds that hardly ever change: tables would make another sample with each edit.
pub(crate) fn fixed_seeds() -> Vec<String> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let paths = ["../../fuzz/corpus/shell", "../../fuzz/corpus/shell_parse"];
    let seeds = collected::texts(&paths.map(|path| root.join(path))).unwrap_or_default();
    let seeds: Vec<String> = seeds.into_iter().filter(|text| text.len() <= 300).collect();
    assert!(seeds.len() > 50, "{} seeds", seeds.len());
    seeds
}

#[test]
fn the_shells_agree_on_a_sample() {
    let seeds = fixed_seeds();
    for name in ["bash", "zsh", "dash", "ksh"] {
        let Some(judge) = Judge::new(name).filter(Judge::is_installed) else { continue };
        let (mut accepted, mut unexplained) = (0, Vec::new());
        for number in 0..COUNT {
            let text = Generator::new(number, &seeds).text();
            let Some(answer) = judge.answer(&text) else { continue };
            accepted += usize::from(answer.shell && answer.parser);
            // The shortest text is the one to explain, but to shorten takes long.
            if answer.shell == answer.parser || judge.reason(&text, answer).is_some() {
                continue;
            }
            let text = judge.shrunk(&text, answer);
            if judge.reason(&text, answer).is_none() {
                unexplained.push((answer, text));
            }
        }
        assert!(accepted > 60, "{name} accepts {accepted}");
        assert!(unexplained.is_empty(), "{name}: {unexplained:#?}");
    }
}
