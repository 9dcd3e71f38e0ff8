//! [`Part`]: a component of a path as far as it is known, and [`Name`]: a component of a pattern. Whether one may be the
//! other. They must not know what a scope is.

use std::borrow::Cow;

/// A component of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part<'a> {
    /// Known.
    Text(Cow<'a, str>),
    /// Known at its ends at most: a shell pattern, or text with an unknown part.
    Some {
        /// What it begins with.
        prefix: Cow<'a, str>,
        /// What it ends with.
        suffix: Cow<'a, str>,
        /// It may begin with a dot that is not written: no shell pattern does.
        may_hide: bool,
    },
}

/// How a component of a path and one of a pattern fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fit {
    /// Not at all.
    No,
    /// Nothing speaks against it, and nothing for it: one of them is a mere `*`.
    Any,
    /// Some text of both is the same.
    Vague,
    /// Enough text of both is the same to take one for the other wherever it stands.
    Clear,
}

/// A component of a pattern, in which one `*` stands for any text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Name {
    /// This text.
    Text(Cow<'static, str>),
    /// Text that begins and ends so.
    Star {
        /// What it begins with.
        prefix: Cow<'static, str>,
        /// What it ends with.
        suffix: Cow<'static, str>,
    },
}

/// Bytes at the start of a shell pattern that make a name clear: `cre*` may well mean `credentials.json`.
const TELLING_BYTES: usize = 3;

impl Part<'_> {
    /// A component that is known.
    pub(crate) fn known(text: &str) -> Part<'_> {
        Part::Text(Cow::Borrowed(text))
    }

    /// Whether all of it is known.
    pub(crate) fn is_known(&self) -> bool {
        matches!(self, Part::Text(_))
    }

    /// Whether nothing of it is known.
    pub(crate) fn is_blank(&self) -> bool {
        matches!(self, Part::Some { prefix, suffix, .. } if prefix.is_empty() && suffix.is_empty())
    }

    /// Whether it may be this name.
    pub(crate) fn may_be(&self, name: &str) -> bool {
        match self {
            Part::Text(text) => text == name,
            Part::Some { .. } => self.fit_ends(name, "", true) != Fit::No,
        }
    }

    /// How it fits a name of a pattern.
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

    /// Whether it fits a name with a star, whatever stands between its ends.
    pub(super) fn is_certainly(&self, name: &Name) -> bool {
        match (self, name) {
            (Part::Some { prefix: begin, suffix: end, .. }, Name::Star { prefix, suffix }) => {
                begin.starts_with(&**prefix) && end.ends_with(&**suffix)
            }
            (Part::Some { .. }, Name::Text(_)) | (Part::Text(_), _) => false,
        }
    }

    /// How a component of which the ends are known fits a name of which the ends are known, or which is `whole`.
    fn fit_ends(&self, name: &str, name_suffix: &str, whole: bool) -> Fit {
        let Part::Some { prefix, suffix, may_hide } = self else { return Fit::No };
        if name.starts_with('.') && prefix.is_empty() && !may_hide {
            return Fit::No;
        }
        let name_end = if whole { name } else { name_suffix };
        // Most texts differ at the first byte that is looked at.
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
        // What is written of each end of the name.
        let told = |written: &str, end: &str| end.is_empty() || !written.is_empty();
        let known = prefix.len() + suffix.len();
        let is_clear = match whole {
            true => prefix.starts_with('.') || prefix.len() >= TELLING_BYTES || known * 2 >= name.len(),
            false => told(prefix, name) && told(suffix, name_suffix),
        };
        if is_clear { Fit::Clear } else { Fit::Vague }
    }
}

/// The components before the first one that is not known.
pub(super) fn known_start<'p, 'a>(parts: &'p [Part<'a>]) -> &'p [Part<'a>] {
    let known = parts.iter().take_while(|part| part.is_known()).count();
    parts.get(..known).unwrap_or_default()
}

impl Name {
    /// Reads a component of a pattern.
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

    /// A component as a shell pattern is written, and a pattern's.
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
