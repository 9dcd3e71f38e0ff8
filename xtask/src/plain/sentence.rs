//! Sentences, and what makes one hard to read.

use std::sync::LazyLock;

use regex::Regex;

/// More words than this are a reason by themselves.
const WORDS_MAX: usize = 28;

/// A sentence of more words is hard in any case.
const WORDS_HARD: usize = 40;

/// A shorter piece is no sentence.
const WORDS_MIN: usize = 4;

/// A sentence with its length and the reasons against it.
#[derive(Debug)]
pub(super) struct Sentence {
    pub(super) text: String,
    pub(super) words: usize,
    pub(super) reasons: Vec<String>,
}

impl Sentence {
    /// One reason alone does not make a sentence hard.
    pub(super) fn is_hard(&self) -> bool {
        self.reasons.len() >= 2 || self.words > WORDS_HARD
    }
}

/// The sentences of a block.
pub(super) fn sentences(block: &str) -> Vec<Sentence> {
    let mut starts = vec![0];
    starts.extend(ENDS.find_iter(block).map(|end| end.end() - 1));
    let ends = starts.iter().skip(1).copied().chain([block.len()]);
    let texts = starts.iter().zip(ends).filter_map(|(start, end)| block.get(*start..end));
    texts.map(|text| read(text.trim())).filter(|sentence| sentence.words >= WORDS_MIN).collect()
}

fn read(text: &str) -> Sentence {
    // A code span counts as a word.
    let plain = CODE.replace_all(text, "X").into_owned();
    let words = WORD.find_iter(&plain).count();
    let mut reasons = Vec::new();
    if words > WORDS_MAX {
        reasons.push(format!("{words} words"));
    }
    if RELATIVE.find_iter(&plain).count() >= 3 {
        reasons.push("three or more of that/which/what/whose/where".to_owned());
    }
    for (reason, pattern) in PATTERNS.iter() {
        let is_question = *reason == RELATIVE_START && plain.ends_with('?');
        if !is_question && pattern.is_match(&plain) {
            reasons.push((*reason).to_owned());
        }
    }
    Sentence { text: text.to_owned(), words, reasons }
}

#[expect(clippy::unwrap_used, reason = "a wrong pattern fails the first test")]
fn pattern(text: &str) -> Regex {
    Regex::new(text).unwrap()
}

/// The end of a sentence, and the first character of the next one.
static ENDS: LazyLock<Regex> = LazyLock::new(|| pattern(r"[.!?:]\s+[A-Z`(]"));
static CODE: LazyLock<Regex> = LazyLock::new(|| pattern(r"`[^`]*`"));
static WORD: LazyLock<Regex> = LazyLock::new(|| pattern(r"[A-Za-z][A-Za-z'-]*"));
static RELATIVE: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)\b(that|which|what|whose|where|whom)\b"));

const RELATIVE_START: &str = "starts with a relative clause";

static PATTERNS: LazyLock<[(&str, Regex); 4]> = LazyLock::new(|| {
    [
        (
            RELATIVE_START,
            pattern(r"(?i)^(what|whatever|whoever|who|where|of what|for what|that which|how far)\b"),
        ),
        (
            "passive without an actor",
            pattern(
                r"(?i)\b(is|are|was|were|be) (asked about|told|known|counted|looked (for|at)|said|taken for|let (be|through|pass)|kept|noted|minded|left)\b",
            ),
        ),
        (
            "inverted or chained clause",
            pattern(r"(?i)(\b(nor|so|neither) (is|are|does|do|was|has|have|can)\b|, as (is|are|was|does) )"),
        ),
        (
            "vague verb",
            pattern(
                r"(?i)\b(stands? (in|for|there|beside)|tells? of|counts? as|leads? nowhere|comes? together|goes by|stand in for)\b",
            ),
        ),
    ]
});

#[cfg(test)]
mod tests {
    use super::*;

    fn check(block: &str, expected: &[(usize, usize)]) {
        let found: Vec<(usize, usize)> =
            sentences(block).iter().map(|one| (one.words, one.reasons.len())).collect();
        assert_eq!(found, expected, "{block}");
    }

    #[test]
    fn reasons_are_counted() {
        check("The daemon closes the connection. It writes `a record` then.", &[(5, 0), (4, 0)]);
        check("What is known of it counts as nothing that leads nowhere.", &[(11, 3)]);
        check("What is this here for?", &[(5, 0)]);
        check("Too short.", &[]);
        let long = format!("The daemon {}closes.", "really ".repeat(30));
        check(&long, &[(33, 1)]);
    }

    #[test]
    fn two_reasons_or_forty_words_are_hard() {
        let is_hard = |text: &str| sentences(text).iter().any(Sentence::is_hard);
        assert!(!is_hard("The daemon closes what was opened."));
        assert!(is_hard("What is known of it counts as nothing."));
        assert!(is_hard(&format!("The daemon {}closes.", "really ".repeat(39))));
    }
}
