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
    let lower = name.to_lowercase();
    let measured = near.map(|candidate| (strsim::levenshtein(&lower, &candidate.to_lowercase()), candidate));
    let (_, best) =
        measured.filter(|(distance, _)| *distance <= allowed).min_by_key(|(distance, _)| *distance)?;
    Some(format!("did you mean `{best}`?"))
}

#[cfg(test)]
mod tests {
    use super::did_you_mean;

    #[test]
    fn only_near_names_are_suggested() {
        let names = ["tool.name", "tool.input", "agent.cwd"];
        assert_eq!(did_you_mean("tool.nam", names).as_deref(), Some("did you mean `tool.name`?"));
        assert_eq!(did_you_mean("Agent.CDW", names).as_deref(), Some("did you mean `agent.cwd`?"));
        assert_eq!(did_you_mean("proc.cmdline", names), None);
    }
}
