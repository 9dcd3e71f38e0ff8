//! [`TagWords`]: the tags with a meaning for the consumer of rules. Another tag with the same prefix is a mistake: it
//! would have no effect. It must not know what the tags mean.

use crate::suggest::did_you_mean;

/// Tags that a consumer of rules knows. The default knows none and finds no mistake, like Falco.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TagWords {
    /// Common prefix of the tags, in lower case; empty for none.
    pub begin: String,
    /// The whole tags.
    pub words: Vec<String>,
    /// Prefixes of tags that a label follows.
    pub openings: Vec<String>,
}

impl TagWords {
    /// Returns the fault of a tag and its remedy; `None` for a valid tag.
    pub(crate) fn mistake(&self, tag: &str) -> Option<(String, String)> {
        let is_own = !self.begin.is_empty() && plain(tag).starts_with(&plain(&self.begin));
        let is_known = self.words.iter().any(|word| word == tag);
        if !is_own || is_known || self.openings.iter().any(|opening| is_labelled(tag, opening)) {
            return None;
        }
        if self.openings.iter().any(|opening| opening.trim_end_matches(':') == tag.trim_end_matches(':')) {
            return Some((
                format!("the tag `{tag}` has no label"),
                format!("write `{tag}:label`").replace("::", ":"),
            ));
        }
        let all = || self.words.iter().chain(&self.openings).map(String::as_str);
        let help = did_you_mean(tag, all());
        let help = help.unwrap_or_else(|| format!("use one of {}", all().collect::<Vec<_>>().join(", ")));
        Some((format!("there is no tag `{tag}`: it has no effect"), help))
    }
}

fn is_labelled(tag: &str, opening: &str) -> bool {
    tag.strip_prefix(opening).is_some_and(|label| !label.trim().is_empty())
}

/// Returns a normalized tag: lower case, with `_` for every sign.
fn plain(tag: &str) -> String {
    let sign = |letter: char| if letter.is_alphanumeric() { letter.to_ascii_lowercase() } else { '_' };
    tag.trim().chars().map(sign).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_that_is_none_is_told() {
        let text = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect();
        let words = TagWords {
            begin: "coding_agent_".to_owned(),
            words: text(&["coding_agent_deny", "coding_agent_ask", "coding_agent_review"]),
            openings: text(&["coding_agent_mark:"]),
        };
        let check = |tag: &str, expected: Option<&str>| {
            let help = words.mistake(tag).map(|(_, help)| help);
            match expected {
                None => assert_eq!(help, None, "{tag}"),
                Some(part) => {
                    assert!(help.as_deref().is_some_and(|help| help.contains(part)), "{tag}: {help:?}")
                }
            }
        };
        for tag in ["coding_agent_ask", "coding_agent_mark:seen", "coding_agent", "T1485", "", "my_agent_ask"]
        {
            check(tag, None);
        }
        check("coding_agent_aks", Some("`coding_agent_ask`"));
        check("coding_agent_Ask", Some("`coding_agent_ask`"));
        check("coding-agent-deny", Some("`coding_agent_deny`"));
        check("Coding_Agent_Deny", Some("`coding_agent_deny`"));
        check(" coding_agent_deny", Some("`coding_agent_deny`"));
        check("coding_agent_deny ", Some("`coding_agent_deny`"));
        check("coding_agent_denied", Some("`coding_agent_deny`"));
        check("coding_agent_ask\u{200b}", Some("`coding_agent_ask`"));
        check("coding_agent_reviw", Some("`coding_agent_review`"));
        check("coding_agent_block_everything_at_once", Some("use one of coding_agent_deny, "));
        check("coding_agent_mark:", Some("write `coding_agent_mark:label`"));
        check("coding_agent_mark", Some("write `coding_agent_mark:label`"));
        check("coding_agent_mark: ", Some("mark"));
        assert_eq!(TagWords::default().mistake("coding_agent_aks"), None);
    }
}
