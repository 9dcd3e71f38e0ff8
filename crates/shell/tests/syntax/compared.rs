//! The trees of both parsers over the texts of the repository: equal, but for the reasons in `data/syntax_reasons.md`.

use std::path::PathBuf;

use castellan_shell::syntax::{self, Shell};

use crate::collected;

/// Differences that are known, in texts that the old parser reads whole.
const KNOWN: usize = 12;

#[test]
fn both_parsers_build_the_same_trees() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let paths = ["corpus", "fuzz/corpus/shell", "fuzz/corpus/shell_parse", "crates/shell/tests/data"];
    let texts = collected::texts(&paths.map(|path| root.join(path))).unwrap_or_default();
    assert!(texts.len() > 1_000, "{} texts", texts.len());
    let mut different = Vec::new();
    for text in &texts {
        let old = castellan_shell::parse(text);
        let new = syntax::parse(text, Shell::Bash, usize::MAX).0;
        let is_equal = collected::without_quoted(&old) == collected::without_quoted(&new);
        if old.holes.is_empty() && new.holes.is_empty() && !is_equal {
            different.push(text);
        }
    }
    assert!(different.len() <= KNOWN, "{} texts: {different:#?}", different.len());
}
