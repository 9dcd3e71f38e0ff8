//! [`BranchPattern`]: a branch of git, such as `feature/*`.

use castellan_event::matches_star;

use super::PatternError;

/// A branch. `*` matches any text, slashes included.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BranchPattern(String);

impl BranchPattern {
    /// Parses a pattern. `refs/heads/` before the name is removed.
    pub fn parse(text: &str) -> Result<BranchPattern, PatternError> {
        let name = text.strip_prefix("refs/heads/").unwrap_or(text);
        // git accepts none of these in a branch.
        let is_odd = |letter: char| {
            letter.is_whitespace()
                || letter.is_control()
                || matches!(letter, ':' | '~' | '^' | '?' | '[' | '\\')
        };
        if name.is_empty() || name.contains(is_odd) || name.starts_with(['+', '-']) {
            return Err(PatternError::Branch);
        }
        Ok(BranchPattern(name.to_owned()))
    }

    /// Reports whether a branch matches.
    pub fn matches(&self, branch: &str) -> bool {
        matches_star(&self.0, branch)
    }

    /// Reports whether the pattern matches every branch that the other matches. False if that is not sure.
    pub(crate) fn includes(&self, other: &BranchPattern) -> bool {
        self == other || !other.0.contains('*') && self.matches(&other.0) || self.0 == "*"
    }

    /// Returns the text of the pattern.
    pub fn text(&self) -> String {
        self.0.clone()
    }
}
