//! Paths that libraries make: joined, expanded, matched by a pattern. Must not know the file system.

use castellan_event::Why;
use castellan_programs::{Arg, Piece};

use super::Machine;
use super::bound::Bound;
use super::bound::inner;
use crate::table::Takes;
use crate::tree::Node;
use crate::value::{Ref, Value, concat};

impl Machine<'_> {
    pub(super) fn home(&self) -> Value {
        match &self.start.home {
            Some(home) => Value::text(home.clone()),
            None => Value::unknown(Why::Variable, "~"),
        }
    }

    pub(super) fn expanded(&mut self, node: &Node, path: &Value) -> Value {
        let path = inner(path);
        let home = self.home();
        self.over(node, &path, |_, one| {
            let Some(arg) = one.to_arg() else { return one.clone() };
            let rest = arg
                .strip_prefix("~")
                .filter(|rest| rest.prefix().starts_with('/') || rest.as_str() == Some(""));
            match (rest, home.to_arg()) {
                (Some(rest), Some(home)) => Value::arg(concat([&*home, &rest])),
                _ if arg.prefix().starts_with('~') => Value::unknown(Why::Variable, &arg.written()),
                _ => one.clone(),
            }
        })
    }

    pub(super) fn joined_path(&mut self, node: &Node, bound: &Bound) -> Value {
        let mut parts = Vec::new();
        for (_, value) in &bound.given {
            match inner(value) {
                Value::List(_) => parts.extend(self.elements(node, value).0),
                other => parts.push(other),
            }
        }
        let mut joined: Option<Value> = None;
        for part in parts {
            joined = Some(match joined {
                None => part,
                Some(before) => self.beside(node, &before, &part),
            });
        }
        joined.unwrap_or_else(|| Value::text("."))
    }

    /// Like `path.resolve`: an absolute part discards the parts before it.
    pub(super) fn resolved_path(&mut self, node: &Node, bound: &Bound) -> Value {
        let absolute = |value: &Value| value.to_arg().is_some_and(|arg| arg.prefix().starts_with('/'));
        let last = bound.given.iter().rposition(|(_, value)| absolute(value)).unwrap_or(0);
        let given = bound.given.iter().skip(last).cloned().collect();
        self.joined_path(node, &Bound { given, ..Bound::default() })
    }

    /// Returns `before/part`; in Python an absolute part alone.
    pub(super) fn beside(&mut self, node: &Node, before: &Value, part: &Value) -> Value {
        let (before, part) = (inner(before), inner(part));
        let slash = Arg::known("/");
        let mut values = Vec::new();
        let befores = self.args(node, &before);
        for part in self.args(node, &part) {
            for before in &befores {
                let is_path =
                    self.language == crate::language::Language::Python && part.prefix().starts_with('/');
                let ends = matches!(before.pieces().last(), Some(Piece::Text(text)) if text.ends_with('/') || text.is_empty());
                values.push(Value::arg(match (is_path, ends) {
                    (true, _) => (*part).clone(),
                    (false, true) => concat([&**before, &*part]),
                    (false, false) => concat([&**before, &slash, &*part]),
                }));
            }
        }
        self.any(node, values)
    }

    pub(super) fn path_part(&mut self, node: &Node, path: &Value, is_parent: bool) -> Value {
        let path = inner(path);
        match path.as_str().map(|path| path.trim_end_matches('/')) {
            Some(path) => {
                let (parent, tail) = path.rsplit_once('/').unwrap_or((".", path));
                Value::text(if is_parent { if parent.is_empty() { "/" } else { parent } } else { tail })
            }
            None => self.unknown(node, Why::Dynamic),
        }
    }

    pub(super) fn found(&mut self, _node: &Node, arg: Arg) -> Value {
        self.list([Value::arg(arg)])
    }

    /// Returns the paths that a pattern matches, as a pattern.
    pub(super) fn globbed(&mut self, node: &Node, bound: &Bound) -> Value {
        let pattern = bound.named("pattern").cloned().unwrap_or_else(|| bound.first());
        let base = bound.given.first().filter(|(parameter, _)| parameter.takes == Takes::Receiver);
        let kind = match base {
            Some((_, Value::Object(kind, _))) => Some(*kind),
            _ => None,
        };
        let base = base.map(|(_, value)| inner(value));
        let patterns: Vec<Arg> = self.args(node, &pattern).iter().map(|arg| pattern_of(arg)).collect();
        let mut values = Vec::new();
        for pattern in patterns {
            let pattern = Value::arg(pattern);
            let path = match &base {
                Some(base) => self.beside(node, base, &pattern),
                None => pattern,
            };
            values.push(match kind {
                Some(kind) => Value::Object(Ref(kind.0), path.into()),
                None => path,
            });
        }
        self.list(values)
    }

    /// `os.walk`: each directory with its names.
    pub(super) fn walked(&mut self, node: &Node, bound: &Bound) -> Value {
        let star = || Value::arg(Arg::unknown(Why::Glob, "*", false));
        let below = Value::arg(Arg::unknown(Why::Glob, "**", false));
        let root = self.beside(node, &bound.first(), &below);
        let root = self.any(node, [inner(&bound.first()), root]);
        let names = [self.list([star()]), self.list([star()])];
        let row = self.list([root].into_iter().chain(names));
        self.list([row])
    }

    /// Returns a directory's children: its path and any name.
    pub(super) fn children(&mut self, node: &Node, bound: &Bound, kind: Option<&str>) -> Value {
        let of = bound.first();
        let star = Value::arg(Arg::unknown(Why::Glob, "*", false));
        let path = self.beside(node, &of, &star);
        let kind = match (kind, &of) {
            (Some(kind), _) => self.table.kind(kind).map(Ref),
            (None, Value::Object(kind, _)) => Some(*kind),
            (None, _) => None,
        };
        let child = kind.map_or(path.clone(), |kind| Value::Object(kind, path.into()));
        self.list([child])
    }
}

/// Returns a path whose wildcards are unknown pieces.
pub(super) fn pattern_of(arg: &Arg) -> Arg {
    let mut pieces = Vec::new();
    for piece in arg.pieces() {
        let Piece::Text(text) = piece else {
            pieces.push(piece.clone());
            continue;
        };
        let mut rest = text.as_str();
        while let Some(at) = rest.find(['*', '?', '[']) {
            let (before, from) = rest.split_at(at);
            let end = match from.strip_prefix('[') {
                Some(inside) => inside.find(']').map_or(from.len(), |end| end + 2),
                None => from.find(|c| c != '*' && c != '?').unwrap_or(from.len()),
            };
            let (pattern, after) = from.split_at(end);
            pieces.push(Piece::Text(before.to_owned()));
            pieces.push(Piece::Unknown { why: Why::Glob, written: pattern.to_owned() });
            rest = after;
        }
        pieces.push(Piece::Text(rest.to_owned()));
    }
    Arg::from_pieces(pieces, false)
}
