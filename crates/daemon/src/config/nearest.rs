//! [`nearest`]: the known word that is most similar to a misspelt one. It must not know the meaning of the words.

use crate::limits::MISSPELT_CHARS_MAX;

/// Returns the known word with the fewest added, omitted, changed or swapped letters, if these are at most a third of
/// the letters. A word without a dot may lack the table of a known word.
pub(crate) fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let lower: String = word.chars().flat_map(char::to_lowercase).take(MISSPELT_CHARS_MAX + 1).collect();
    let letters = lower.chars().count();
    if letters == 0 || letters > MISSPELT_CHARS_MAX {
        return None;
    }
    let least = |known: &str| {
        let whole = strsim::osa_distance(&lower, known);
        let last = known.rsplit('.').next().filter(|_| !word.contains('.'));
        last.map_or(whole, |last| whole.min(strsim::osa_distance(&lower, last)))
    };
    let nearest = known.into_iter().map(|known| (least(known), known)).min_by_key(|(wrong, _)| *wrong);
    nearest.filter(|(wrong, _)| *wrong <= (letters / 3).max(1)).map(|(_, known)| known)
}

/// Returns `: did you mean ...?`, or an empty text.
pub(crate) fn meant<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    nearest(word, known).map_or_else(String::new, |known| format!(": did you mean `{known}`?"))
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
        // A swap counts once: two edits would be too many for four letters.
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
}
