//! Paths as text, without access to the file system.

use castellan_event::{Why, lexical_path, path_components};
use castellan_programs::{Arg, Piece};

use super::Places;
use crate::scope::Part;

/// Removes `.`, doubled and trailing slashes. `..` stays: its target depends on symlinks.
pub(super) fn tidy(path: &str) -> String {
    let mut tidied = String::with_capacity(path.len());
    let is_absolute = path.starts_with('/');
    for (at, name) in path_components(path).enumerate() {
        if is_absolute || at > 0 {
            tidied.push('/');
        }
        tidied.push_str(name);
    }
    if tidied.is_empty() && is_absolute {
        tidied.push('/');
    }
    tidied
}

/// Returns the absolute path as if there were no symlinks; `None` if it is relative and `cwd` is unknown.
pub(crate) fn collapse(cwd: Option<&str>, path: &str) -> Option<String> {
    let base = if path.starts_with('/') { "" } else { cwd.filter(|cwd| cwd.starts_with('/'))? };
    Some(lexical_path(base, path))
}

/// How much of a component is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unsure {
    /// Nothing: it is plain text.
    No,
    /// It has a shell pattern: some name, without a slash.
    Name,
    /// It may be several components, or none.
    Anything,
}

/// A component of an argument.
#[derive(Debug)]
pub(super) struct Component {
    pub(super) written: String,
    pub(super) part: Part<'static>,
    pub(super) unsure: Unsure,
}

/// Returns the components of an argument, without `.` and empty ones.
pub(super) fn components(raw: &Arg, places: &Places) -> Vec<Component> {
    let mut all = vec![Draft::default()];
    for piece in raw.pieces() {
        match piece {
            Piece::Text(text) => {
                for (at, text) in text.split('/').enumerate() {
                    if at > 0 {
                        all.push(Draft::default());
                    }
                    if let Some(draft) = all.last_mut() {
                        draft.written.push_str(text);
                        draft.suffix.push_str(text);
                    }
                }
            }
            Piece::Unknown { why, written } => {
                if let Some(draft) = all.last_mut() {
                    draft.add_unknown(*why, written);
                }
            }
        }
    }
    let drafts = all.into_iter().filter(|draft| !matches!(draft.written.as_str(), "" | "."));
    drafts.map(|draft| draft.finish(places)).collect()
}

/// A component during parsing: `prefix` is the text before the first unknown part, `suffix` that after the last.
#[derive(Debug, Default)]
struct Draft {
    written: String,
    prefix: Option<String>,
    suffix: String,
    may_hide: bool,
    is_anything: bool,
}

impl Draft {
    fn add_unknown(&mut self, why: Why, written: &str) {
        let is_anything = why != Why::Glob || written.contains('/');
        self.written.push_str(written);
        let text = std::mem::take(&mut self.suffix);
        if self.prefix.is_none() {
            self.prefix = Some(text);
            self.may_hide = is_anything;
        }
        self.is_anything |= is_anything;
    }

    fn finish(self, places: &Places) -> Component {
        let comparable = |text: String| places.comparable(&text).into_owned();
        let (part, unsure) = match self.prefix {
            None => (Part::Text(comparable(self.suffix).into()), Unsure::No),
            Some(prefix) => {
                let (prefix, suffix) = (comparable(prefix).into(), comparable(self.suffix).into());
                let unsure = if self.is_anything { Unsure::Anything } else { Unsure::Name };
                (Part::Some { prefix, suffix, may_hide: self.may_hide }, unsure)
            }
        };
        Component { written: self.written, part, unsure }
    }
}

/// Returns the components at the start of a path, from the root. `None` if the path does not begin with known text, or
/// is relative to an unknown directory.
pub(super) fn from_root(
    written: &str,
    cwd: Option<&str>,
    parts: &[Part<'static>],
    places: &Places,
) -> Option<Vec<Part<'static>>> {
    if !parts.first()?.is_known() {
        return None;
    }
    let base = if written.starts_with('/') { "" } else { cwd? };
    let base = places.comparable(base);
    let above = path_components(&base).map(|name| Part::Text(name.to_owned().into()));
    Some(above.chain(parts.iter().cloned()).collect())
}
