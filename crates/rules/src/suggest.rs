//! The nearest known name for a misspelt one.

use crate::limits::{CANDIDATES_MAX, NAME_BYTES_MAX};

/// Returns "did you mean `x`?" for the candidate nearest to `name`, when one is near.
pub fn did_you_mean<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    if name.len() > NAME_BYTES_MAX {
        return None;
    }
    let allowed = (name.len() / 3).max(1);
    let comparable = |candidate: &&str| candidate.len().abs_diff(name.len()) <= allowed;
    let near = candidates.into_iter().take(CANDIDATES_MAX).filter(comparable);
    let measured = near.map(|candidate| (distance(name, candidate), candidate));
    let (_, best) =
        measured.filter(|(distance, _)| *distance <= allowed).min_by_key(|(distance, _)| *distance)?;
    Some(format!("did you mean `{best}`?"))
}

/// Returns the Levenshtein distance, ignoring case.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, from) in left.to_lowercase().chars().enumerate() {
        let mut diagonal = index;
        let mut last = index + 1;
        let mut next = vec![last];
        for (to, above) in right.iter().zip(row.iter().skip(1)) {
            last = (diagonal + usize::from(from != *to)).min(above + 1).min(last + 1);
            diagonal = *above;
            next.push(last);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{did_you_mean, distance};

    #[test]
    fn distances() {
        for (left, right, expected) in [
            ("", "abc", 3),
            ("kitten", "sitting", 3),
            ("tool.nmae", "tool.name", 2),
            ("A", "a", 0),
            ("ab", "", 2),
        ] {
            assert_eq!(distance(left, right), expected, "{left} {right}");
        }
    }

    #[test]
    fn only_near_names_are_suggested() {
        let names = ["tool.name", "tool.input", "agent.cwd"];
        assert_eq!(did_you_mean("tool.nam", names).as_deref(), Some("did you mean `tool.name`?"));
        assert_eq!(did_you_mean("proc.cmdline", names), None);
    }
}
