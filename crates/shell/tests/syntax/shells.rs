//! The parser accepts what the installed shells accept, but for the reasons in `data/syntax_differences.txt`: a fixed sample.
//! `cargo xtask syntax --fuzz=SHELL` compares any number of texts.

use crate::accepted::Judge;
use crate::generated::Generator;
use crate::laws::seeds;

/// Texts for each shell.
const COUNT: u64 = 300;

#[test]
fn the_shells_agree_on_a_sample() {
    let seeds = seeds();
    for name in ["bash", "zsh", "dash", "ksh"] {
        let Some(judge) = Judge::new(name).filter(Judge::is_installed) else { continue };
        let (mut accepted, mut unexplained) = (0, Vec::new());
        for number in 0..COUNT {
            let text = Generator::new(number, &seeds).text();
            let answer = judge.answer(&text);
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
        assert!(accepted > 80, "{name} accepts {accepted}");
        assert!(unexplained.is_empty(), "{name}: {unexplained:#?}");
    }
}
