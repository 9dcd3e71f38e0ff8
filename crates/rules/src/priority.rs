//! Priorities of rules, most severe first.

use std::str::FromStr;

/// The severity of a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Priority {
    /// 0.
    Emergency,
    /// 1.
    Alert,
    /// 2.
    Critical,
    /// 3.
    Error,
    /// 4.
    Warning,
    /// 5.
    Notice,
    /// 6.
    Informational,
    /// 7.
    Debug,
}

const NAMES: [(&str, Priority); 9] = [
    ("Emergency", Priority::Emergency),
    ("Alert", Priority::Alert),
    ("Critical", Priority::Critical),
    ("Error", Priority::Error),
    ("Warning", Priority::Warning),
    ("Notice", Priority::Notice),
    ("Informational", Priority::Informational),
    ("Info", Priority::Informational),
    ("Debug", Priority::Debug),
];

impl Priority {
    /// Returns Falco's name of the priority.
    pub fn as_str(self) -> &'static str {
        NAMES.iter().find(|(_, priority)| *priority == self).map_or("", |(name, _)| name)
    }
}

/// A word that is not a priority.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownPriority(pub String);

impl std::fmt::Display for UnknownPriority {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "`{}` is not a priority; use one of: {}", self.0, NAMES.map(|(name, _)| name).join(" "))
    }
}

impl std::error::Error for UnknownPriority {}

impl FromStr for Priority {
    type Err = UnknownPriority;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = NAMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
        found.map(|(_, priority)| *priority).ok_or_else(|| UnknownPriority(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::Priority;

    #[test]
    fn names_are_case_insensitive() {
        for (text, expected) in [
            ("CRITICAL", Ok(Priority::Critical)),
            ("aLeRt", Ok(Priority::Alert)),
            ("info", Ok(Priority::Informational)),
            ("INFORMATIONAL", Ok(Priority::Informational)),
            ("err", Err(())),
            ("", Err(())),
        ] {
            assert_eq!(text.parse::<Priority>().map_err(|_| ()), expected, "{text}");
        }
        assert_eq!(Priority::Informational.as_str(), "Informational");
        assert!(Priority::Emergency < Priority::Debug);
    }
}
