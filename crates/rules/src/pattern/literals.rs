//! Properties of a parsed regular expression that need no compilation: texts that every match contains, and the maximum
//! size of the compiled pattern. It knows nothing of the origin of patterns.

use regex_syntax::hir::{Class, Hir, HirKind};
use regex_syntax::utf8::Utf8Sequences;

use crate::limits::{LITERAL_CLAUSES_MAX, LITERALS_MAX};
use crate::pattern::Clause;

/// Returns the most selective clauses of a pattern: every match contains at least one text of each.
pub(super) fn clauses(hir: &Hir) -> Vec<Clause> {
    let mut all = required(hir);
    // The sort is stable, so the same pattern always gives the same clauses.
    all.sort_by_key(|clause| std::cmp::Reverse(shortest(clause)));
    all.dedup();
    all.truncate(LITERAL_CLAUSES_MAX);
    all.into_iter().map(|clause| clause.into_iter().map(Box::from).collect()).collect()
}

/// Returns the maximum number of states of the compiled pattern.
pub(super) fn states_at_most(hir: &Hir) -> usize {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 1,
        HirKind::Literal(literal) => literal.0.len(),
        HirKind::Class(Class::Bytes(class)) => class.ranges().len() + 1,
        HirKind::Class(Class::Unicode(class)) => {
            // At most four bytes for each encoding of a character in the range.
            let ways = |range: &regex_syntax::hir::ClassUnicodeRange| {
                Utf8Sequences::new(range.start(), range.end()).count()
            };
            class.iter().map(ways).sum::<usize>().saturating_mul(4).saturating_add(2)
        }
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min.saturating_add(1)).max(repetition.min);
            let one = states_at_most(&repetition.sub).saturating_add(2);
            one.saturating_mul(times.max(1) as usize)
        }
        HirKind::Capture(capture) => states_at_most(&capture.sub).saturating_add(2),
        HirKind::Concat(all) | HirKind::Alternation(all) => {
            all.iter().fold(2, |sum: usize, sub| sum.saturating_add(states_at_most(sub)).saturating_add(1))
        }
    }
}

/// A clause whose texts borrow from the pattern.
type Texts<'h> = Vec<&'h [u8]>;

fn required(hir: &Hir) -> Vec<Texts<'_>> {
    match hir.kind() {
        HirKind::Literal(literal) => clause(vec![&literal.0]).into_iter().collect(),
        HirKind::Capture(capture) => required(&capture.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => required(&repetition.sub),
        HirKind::Concat(all) => all.iter().flat_map(required).collect(),
        HirKind::Alternation(all) => {
            // One text for each branch. If a branch requires no text, the alternation requires none.
            let best = |sub| required(sub).into_iter().max_by_key(shortest);
            let branches: Option<Vec<Texts<'_>>> = all.iter().map(best).collect();
            branches.and_then(|all| clause(all.concat())).into_iter().collect()
        }
        HirKind::Empty | HirKind::Look(_) | HirKind::Class(_) | HirKind::Repetition(_) => Vec::new(),
    }
}

/// Returns a clause, unless it is weak or unreliable: the matched text has U+FFFD for the searched text's bad bytes.
fn clause(mut texts: Texts<'_>) -> Option<Texts<'_>> {
    texts.sort_unstable();
    let sound = |text: &[u8]| std::str::from_utf8(text).is_ok_and(|text| !text.contains('\u{fffd}'));
    let usable = texts.len() <= LITERALS_MAX && texts.iter().all(|text| !text.is_empty() && sound(text));
    usable.then_some(texts)
}

fn shortest(clause: &Texts<'_>) -> usize {
    clause.iter().map(|text| text.len()).min().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Regex;
    use crate::limits::REGEX_BYTES_MAX;

    fn check(pattern: &str, expected: &[&[&str]]) {
        let regex = Regex::new(pattern).unwrap();
        let text = |text: &[u8]| String::from_utf8(text.to_vec()).unwrap();
        let found: Vec<Vec<String>> =
            regex.literals().iter().map(|clause| clause.iter().map(|one| text(one)).collect()).collect();
        assert_eq!(found, expected, "{pattern}");
    }

    #[test]
    fn texts_that_every_match_contains() {
        check(".*git +push.*", &[&["push"], &["git"], &[" "]]);
        check("rm", &[&["rm"]]);
        check("(curl|wget).*sh", &[&["curl", "wget"], &["sh"]]);
        check("(curl|wg?).*", &[&["curl", "w"]]);
        check("(curl|.*)", &[]);
        check("(curl)?x*", &[]);
        check("(abc){2}", &[&["abc"]]);
        check("[a-z]+", &[]);
        check("a\u{fffd}b.*", &[]);
        check("é.*", &[&["é"]]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_waits_stays_below_the_limit(
            pattern in "([a-c.é]|\\[[^]\\[a-z]{1,3}\\]|\\([ab.]{1,3}(\\|[ab])?\\)|(a|é|\\.)[*+?]|([a.é]|\\(ab\\)|\\([.]\\{20\\}\\))\\{[0-9]{1,3}\\}){1,6}"
        ) {
            if let Ok(regex) = Regex::new(&pattern)
                && regex.waits()
            {
                prop_assert!(regex.builds_within(REGEX_BYTES_MAX), "{}", pattern);
            }
        }
    }
}
