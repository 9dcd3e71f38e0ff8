//! Random shell texts. Choice 0 is always the simplest. The texts terminate, write only in their own directory, and run
//! no program except the marker and bash.

mod builtins;
mod commands;
mod compounds;
mod words;

use crate::draws::Draws;

/// Nesting levels of constructs.
const DEPTH_MAX: usize = 4;
/// Pieces of one text.
const FUEL: usize = 40;

pub(crate) fn text(draws: &mut Draws) -> String {
    let mut texts = Texts { draws, depth: 0, fuel: FUEL, labels: 0 };
    let count = 1 + texts.draws.below(5);
    let lines: Vec<String> = (0..count).map(|_| texts.statement()).collect();
    lines.join("\n")
}

struct Texts<'d> {
    draws: &'d mut Draws,
    depth: usize,
    fuel: usize,
    labels: usize,
}

const NAMES: &[&str] = &["x", "y", "z", "arr", "i", "n", "ref", "map"];
const SCALARS: &[&str] = &["x", "y", "z", "i", "n"];
const PATTERNS: &[&str] = &[
    "a",
    "*",
    "?",
    "a*",
    "*b",
    "[a-c]",
    "[!a]",
    "",
    " ",
    "'*'",
    "\\*",
    "\"$y\"",
    "$y",
    "*[ab]",
    "[[:upper:]]",
    "o",
    "a?",
    ".",
];
const ARITHMETIC: &[&str] = &[
    "1+2", "i++", "++i", "i+=2", "x", "n*2", "i<3", "1?2:3", "2**3", "7/2", "7%3", "(1+2)*3", "i=5", "0x10",
    "010", "2#101", "!i", "~0", "-3", "1<<3", "i,n", "arr[1]", "$x", "${#x}", "i==0||n", "i&&n", "5>3",
    "i--", "--n", "-7/2", "-7%3", "1|6", "5^1", "arr[0]=4", "y", "1,2", "n=i=3", "i=n++", "10#08",
];

impl Texts<'_> {
    fn pick<'t>(&mut self, among: &[&'t str]) -> &'t str {
        self.draws.pick(among)
    }

    fn deeper(&mut self, make: impl FnOnce(&mut Self) -> String, otherwise: &str) -> String {
        if self.depth >= DEPTH_MAX || self.fuel == 0 {
            return otherwise.to_owned();
        }
        self.depth += 1;
        self.fuel -= 1;
        let made = make(self);
        self.depth -= 1;
        made
    }
}
