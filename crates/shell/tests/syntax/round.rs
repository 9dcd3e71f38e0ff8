//! Parse, print, parse: the tree of the printed tree is the tree.

use std::collections::BTreeMap;
use std::path::PathBuf;

use proptest::prelude::*;

use crate::collected;
use crate::generated::{Generator, TOKENS};
use crate::laws::SHELLS;
use crate::print;

/// Texts of the generator.
const GENERATED: u64 = 3_000;

/// Differences that a failure shows.
const SHOWN: usize = 20;

fn corpora() -> Vec<String> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let paths =
        ["tests/data", "tests/oracle", "../../fuzz/corpus", "../../corpus"].map(|path| root.join(path));
    let mut paths = paths.to_vec();
    // Other texts, where they are present.
    paths.extend(std::env::var_os("CASTELLAN_TEXTS").map(PathBuf::from));
    collected::texts(&paths).unwrap_or_default()
}

/// Compares texts in every shell. The shortest texts with a difference are shown.
fn check(texts: impl IntoIterator<Item = String>, statements_min: usize) {
    let (mut statements, mut wrong) = (0, BTreeMap::new());
    for text in texts {
        for shell in SHELLS {
            match print::compared(&text, shell) {
                Ok(count) => statements += count,
                Err(_) => {
                    let text = shrunk(&text, |text| print::compared(text, shell).is_err());
                    let difference = print::compared(&text, shell).err().unwrap_or_default();
                    wrong.insert((text.len(), text), difference);
                }
            }
        }
    }
    let shown: Vec<&str> = wrong.values().take(SHOWN).map(String::as_str).collect();
    assert!(wrong.is_empty(), "{} texts\n{}", wrong.len(), shown.join("\n\n"));
    println!("{statements} statements");
    assert!(statements >= statements_min, "{statements} statements");
}

/// Returns a shorter text that is wrong, too.
fn shrunk(text: &str, is_wrong: impl Fn(&str) -> bool) -> String {
    let mut rest: Vec<char> = text.chars().collect();
    let mut length = rest.len() / 2;
    while length > 0 {
        let mut at = 0;
        while at + length <= rest.len() {
            let mut shorter = rest.clone();
            shorter.drain(at..at + length);
            if is_wrong(&shorter.iter().collect::<String>()) {
                rest = shorter;
            } else {
                at += length;
            }
        }
        length /= 2;
    }
    rest.into_iter().collect()
}

#[test]
fn the_corpora_have_the_tree_of_their_print() {
    check(corpora(), 10_000);
}

#[test]
fn generated_texts_have_the_tree_of_their_print() {
    let seeds = crate::shells::fixed_seeds();
    check((0..GENERATED).map(|number| Generator::new(number, &seeds).text()), 4_000);
}

proptest! {
    #[test]
    fn any_tokens_have_the_tree_of_their_print(
        tokens in prop::collection::vec(prop::sample::select(TOKENS), 0..20)
    ) {
        check([tokens.concat()], 0);
    }
}
