//! [`Part`]: a component of a path, known in whole or in part. [`Name`]: a component of a pattern. This module must not
//! know scopes.

use std::borrow::Cow;

/// A component of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part<'a> {
    /// Wholly known.
    Text(Cow<'a, str>),
    /// Known at its ends at most: a shell pattern, or text with an unknown part.
    Some {
        /// The known beginning.
        prefix: Cow<'a, str>,
        /// The known end.
        suffix: Cow<'a, str>,
        /// The component may begin with an unwritten dot. A shell pattern never matches such a dot.
        may_hide: bool,
    },
}

/// The quality of a match between a component of a path and a component of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fit {
    /// No match.
    No,
    /// A match without evidence: one of the two is a plain `*`.
    Any,
    /// Some text is equal.
    Vague,
    /// Enough text is equal to accept the match at any position.
    Clear,
}

/// A component of a pattern, where one `*` matches any text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Name {
    /// This exact text.
    Text(Cow<'static, str>),
    /// Text with this beginning and this end.
    Star { prefix: Cow<'static, str>, suffix: Cow<'static, str> },
}

/// Bytes at the start of a shell pattern that make a match clear: `cre*` may well mean `credentials.json`.
const TELLING_BYTES: usize = 3;

impl Part<'_> {
    /// Returns a wholly known component.
    pub(crate) fn known(text: &str) -> Part<'_> {
        Part::Text(Cow::Borrowed(text))
    }

    pub(crate) fn is_known(&self) -> bool {
        matches!(self, Part::Text(_))
    }

    /// True if nothing of the component is known.
    pub(crate) fn is_blank(&self) -> bool {
        matches!(self, Part::Some { prefix, suffix, .. } if prefix.is_empty() && suffix.is_empty())
    }

    /// True if the component may be this name.
    pub(crate) fn may_be(&self, name: &str) -> bool {
        match self {
            Part::Text(text) => text == name,
            Part::Some { .. } => self.fit_ends(name, "", true) != Fit::No,
        }
    }

    /// Returns how well the component matches a name of a pattern.
    pub(super) fn fit(&self, name: &Name) -> Fit {
        match (self, name) {
            (Part::Text(text), Name::Text(name)) if text == name => Fit::Clear,
            (Part::Text(_), Name::Text(_)) => Fit::No,
            (Part::Text(text), Name::Star { prefix, suffix }) => {
                let fits = text.len() >= prefix.len() + suffix.len()
                    && text.starts_with(&**prefix)
                    && text.ends_with(&**suffix);
                match (fits, prefix.is_empty() && suffix.is_empty()) {
                    (true, false) => Fit::Clear,
                    (true, true) => Fit::Any,
                    (false, _) => Fit::No,
                }
            }
            (Part::Some { .. }, Name::Text(name)) => self.fit_ends(name, "", true),
            (Part::Some { .. }, Name::Star { prefix, suffix }) => self.fit_ends(prefix, suffix, false),
        }
    }

    /// True if the component matches a name with a star, for every value of its unknown part.
    pub(super) fn is_certainly(&self, name: &Name) -> bool {
        match (self, name) {
            (Part::Some { prefix: begin, suffix: end, .. }, Name::Star { prefix, suffix }) => {
                begin.starts_with(&**prefix) && end.ends_with(&**suffix)
            }
            (Part::Some { .. }, Name::Text(_)) | (Part::Text(_), _) => false,
        }
    }

    /// Compares a component with known ends to a name with known ends, or to a `whole` name.
    fn fit_ends(&self, name: &str, name_suffix: &str, whole: bool) -> Fit {
        let Part::Some { prefix, suffix, may_hide } = self else { return Fit::No };
        if name.starts_with('.') && prefix.is_empty() && !may_hide {
            return Fit::No;
        }
        let name_end = if whole { name } else { name_suffix };
        // Most texts already differ at the first byte.
        let common = |one: &str, other: &str| match (one.as_bytes().first(), other.as_bytes().first()) {
            (Some(a), Some(b)) => a == b && (one.starts_with(other) || other.starts_with(one)),
            (None, _) | (_, None) => true,
        };
        let common_end = |one: &str, other: &str| match (one.as_bytes().last(), other.as_bytes().last()) {
            (Some(a), Some(b)) => a == b && (one.ends_with(other) || other.ends_with(one)),
            (None, _) | (_, None) => true,
        };
        let is_too_long = whole && prefix.len() + suffix.len() > name.len();
        if is_too_long || !common(prefix, name) || !common_end(suffix, name_end) {
            return Fit::No;
        }
        if self.is_blank() || name.is_empty() && name_end.is_empty() {
            return Fit::Any;
        }
        // True if the pattern's end is empty or the component has some text at that end.
        let told = |written: &str, end: &str| end.is_empty() || !written.is_empty();
        let known = prefix.len() + suffix.len();
        let is_clear = match whole {
            true => prefix.starts_with('.') || prefix.len() >= TELLING_BYTES || known * 2 >= name.len(),
            false => told(prefix, name) && told(suffix, name_suffix),
        };
        if is_clear { Fit::Clear } else { Fit::Vague }
    }
}

/// Returns the components before the first unknown one.
pub(super) fn known_start<'p, 'a>(parts: &'p [Part<'a>]) -> &'p [Part<'a>] {
    let known = parts.iter().take_while(|part| part.is_known()).count();
    parts.get(..known).unwrap_or_default()
}

impl Name {
    /// Parses a component of a pattern.
    pub(super) fn new(text: Cow<'static, str>) -> Name {
        match text.split_once('*') {
            None => Name::Text(text),
            Some((prefix, suffix)) => {
                Name::Star { prefix: prefix.to_owned().into(), suffix: suffix.to_owned().into() }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks a component, written as a shell pattern, against a component of a pattern.
    fn check(written: &str, name: &str, expected: Fit) {
        let part = match written.split_once('*') {
            None => Part::known(written),
            Some((prefix, rest)) => {
                let suffix = rest.rsplit('*').next().unwrap_or_default();
                Part::Some { prefix: prefix.into(), suffix: suffix.into(), may_hide: false }
            }
        };
        assert_eq!(part.fit(&Name::new(name.to_owned().into())), expected, "{written} as {name}");
    }

    #[test]
    fn components_fit_names() {
        check("id_rsa", "id_rsa", Fit::Clear);
        check("id_rsa", "id_dsa", Fit::No);
        check("a.pem", "*.pem", Fit::Clear);
        check(".pem", "*.pem", Fit::Clear);
        check("pem", "*.pem", Fit::No);
        check("a", "*", Fit::Any);
        check("ab", "abc*", Fit::No);
        check("aba", "ab*ba", Fit::No);
        check("*", "credentials", Fit::Any);
        check("*", ".env", Fit::No);
        check("?*nv", ".env", Fit::No);
        check(".e*", ".env", Fit::Clear);
        check(".*", ".env", Fit::Clear);
        check("cre*", "credentials.json", Fit::Clear);
        check("c*", "credentials.json", Fit::Vague);
        check("*.json", "credentials.json", Fit::Vague);
        check("*ials.json", "credentials.json", Fit::Clear);
        check("d*", "credentials.json", Fit::No);
        check("credential*ials.json", "credentials.json", Fit::No);
        check("id*", "id_*", Fit::Clear);
        check("*pem", "*.pem", Fit::Clear);
        check("foo*", "*.pem", Fit::Vague);
        check("foo*.pem", "*.pem", Fit::Clear);
        check("foo*.txt", "*.pem", Fit::No);
        check("*a*", "*", Fit::Any);
    }
}
