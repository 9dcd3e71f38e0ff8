//! Parse, print, parse of the texts of the oracle, in every shell: no program runs.

use castellan_shell::syntax::Shell;

use super::grammar::Grammar;
use super::print;
use super::shells::TRIED;
use super::written;

/// Random texts of each grammar.
const RANDOM: usize = 300;

#[test]
fn texts_have_the_tree_of_their_print() {
    let mut statements = 0;
    for tried in TRIED {
        let grammar = Grammar::of(tried.letter);
        let random = grammar.texts(0, RANDOM).into_iter().map(|draws| grammar.text(&draws));
        for text in written::texts(tried.name).into_iter().chain(random) {
            for shell in [Shell::Bash, Shell::Zsh, Shell::Posix, Shell::Ksh] {
                statements +=
                    print::compared(&text, shell).unwrap_or_else(|difference| panic!("{difference}"));
            }
        }
    }
    assert!(statements > 5_000, "{statements} statements");
}
