//! [`nearest`]: the known word that is most similar to a misspelt one. It must not know the meaning of the words.

use crate::limits::MISSPELT_CHARS_MAX;

/// Returns the known word with the fewest added, omitted, changed or swapped letters, if these are at most a third of
/// the letters. A word without a dot may lack the table of a known word.
pub(crate) fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let letters: Vec<char> = word.chars().flat_map(char::to_lowercase).take(MISSPELT_CHARS_MAX + 1).collect();
    if letters.is_empty() || letters.len() > MISSPELT_CHARS_MAX {
        return None;
    }
    let least = |known: &str| {
        let whole = distance(&letters, known);
        let last = known.rsplit('.').next().filter(|_| !word.contains('.'));
        last.map_or(whole, |last| whole.min(distance(&letters, last)))
    };
    let nearest = known.into_iter().map(|known| (least(known), known)).min_by_key(|(letters, _)| *letters);
    nearest.filter(|(wrong, _)| *wrong <= (letters.len() / 3).max(1)).map(|(_, known)| known)
}

/// Returns `: did you mean ...?`, or an empty text.
pub(crate) fn meant<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    nearest(word, known).map_or_else(String::new, |known| format!(": did you mean `{known}`?"))
}

/// Returns the optimal string alignment distance: edits of a letter, and swaps of two adjacent letters.
fn distance(ours: &[char], theirs: &str) -> usize {
    let theirs: Vec<char> = theirs.chars().collect();
    let (mut last_but_one, mut last): (Vec<usize>, Vec<usize>) = (Vec::new(), (0..=theirs.len()).collect());
    let at = |row: &[usize], column: usize| row.get(column).copied().unwrap_or(usize::MAX / 2);
    let mut before: Option<char> = None;
    for (row, our) in ours.iter().enumerate() {
        let mut now = vec![row + 1];
        let mut their_before: Option<char> = None;
        for (column, their) in theirs.iter().enumerate() {
            let changed = at(&last, column) + usize::from(our != their);
            let edited = changed.min(at(&last, column + 1) + 1).min(at(&now, column) + 1);
            let is_swap = before == Some(*their) && their_before == Some(*our);
            let swapped =
                column.checked_sub(1).filter(|_| is_swap).map(|before| at(&last_but_one, before) + 1);
            now.push(swapped.map_or(edited, |swapped| swapped.min(edited)));
            their_before = Some(*their);
        }
        before = Some(*our);
        last_but_one = std::mem::replace(&mut last, now);
    }
    last.last().copied().unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(word: &str, expected: Option<&str>) {
        let known =
            ["mode", "profile", "default", "opaque", "deny", "level.session", "log.fsync", "log.notable_mib"];
        assert_eq!(nearest(word, known), expected, "{word}");
    }

    #[test]
    fn the_nearest_is_meant() {
        check("mod", Some("mode"));
        check("moed", Some("mode"));
        check("Mode", Some("mode"));
        check("profiel", Some("profile"));
        check("session", Some("level.session"));
        check("level.sesion", Some("level.session"));
        check("lvel.session", Some("level.session"));
        check("notable_mb", Some("log.notable_mib"));
        check("sandbox", None);
        check("x", None);
        check("", None);
        check(&"mode".repeat(1000), None);
    }

    #[test]
    fn swaps_count_once() {
        let of = |ours: &str, theirs: &str| distance(&ours.chars().collect::<Vec<_>>(), theirs);
        for (ours, theirs, expected) in [
            ("", "", 0),
            ("", "ab", 2),
            ("ab", "ba", 1),
            ("abc", "abc", 0),
            ("kitten", "sitting", 3),
            ("ca", "abc", 3),
        ] {
            assert_eq!(of(ours, theirs), expected, "{ours} {theirs}");
        }
    }
}
