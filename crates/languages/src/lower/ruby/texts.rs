//! Texts: literals, symbols, here-documents.

use tree_sitter::Node as Parsed;

use super::super::Lower;
use super::super::escapes::unescaped;
use crate::tree::{Kind, Node};

impl Lower<'_> {
    /// The parts of a text in a node. `is_raw`: escapes stand for themselves.
    pub(super) fn rb_text_in(&mut self, node: Parsed<'_>, is_raw: bool, indent: usize) -> Node {
        let mut parts = Vec::new();
        for child in Self::children(node) {
            let at = Self::at(child);
            match child.kind() {
                "interpolation" => {
                    let inner = Self::children(child);
                    let values: Vec<Node> = inner.into_iter().map(|one| self.rb(one)).collect();
                    parts.push(Node::new(at, Kind::Sequence(values)));
                }
                "string_content" | "heredoc_content" | "escape_sequence" => {
                    let raw = without_indent(self.text_of(child), indent);
                    let text = if is_raw {
                        Some(raw.replace("\\'", "'").replace("\\\\", "\\"))
                    } else {
                        escaped(&raw)
                    };
                    parts.push(match text {
                        Some(text) => Node::text(at, &text),
                        None => Self::rb_unknown(at),
                    });
                }
                "heredoc_end" => {}
                _ => parts.push(self.rb(child)),
            }
        }
        Node::new(Self::at(node), Kind::Join(parts))
    }

    pub(super) fn rb_text(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        match node.kind() {
            "string" | "bare_string" | "delimited_symbol" | "bare_symbol" => {
                let written = self.text_of(node);
                let is_raw =
                    written.starts_with(['\'']) || written.starts_with("%q") || written.starts_with(":'");
                self.rb_text_in(node, is_raw, 0)
            }
            "character" => Node::text(at, self.text_of(node).trim_start_matches('?')),
            "simple_symbol" => Node::text(at, self.text_of(node).trim_start_matches(':')),
            "hash_key_symbol" => Node::text(at, self.text_of(node)),
            "chained_string" => {
                let parts = Self::children(node).into_iter().map(|one| self.rb(one)).collect();
                Node::new(at, Kind::Join(parts))
            }
            "string_array" | "symbol_array" => {
                let parts = Self::children(node).into_iter().map(|one| self.rb(one)).collect();
                Node::new(at, Kind::List(parts))
            }
            "heredoc_beginning" => self.rb_heredoc(node),
            "regex" => {
                let inside = self.rb_text_in(node, false, 0);
                Node::new(at, Kind::Inert(vec![inside]))
            }
            _ => {
                let text = self.rb_text_in(node, false, 0);
                self.rb_function_call(at, "`", vec![text])
            }
        }
    }

    fn rb_heredoc(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let mut root = node;
        while let Some(parent) = root.parent() {
            root = parent;
        }
        let body = self.ruby.bodies.get(&node.start_byte()).copied();
        let body = body.and_then(|(start, end)| root.descendant_for_byte_range(start, end));
        let Some(body) = body.filter(|one| one.kind() == "heredoc_body") else {
            return self.hole(node, castellan_event::Why::Unsupported);
        };
        let mark = self.text_of(node);
        let indent = if mark.starts_with("<<~") { indent_of(self.text_of(body)) } else { 0 };
        let text = self.deeper(body, |lower| lower.rb_text_in(body, mark.contains('\''), indent));
        // The line that the mark stands in ends before it.
        let text = match text.kind {
            Kind::Join(mut parts) => {
                if let Some(Node { kind: Kind::Text(first), .. }) = parts.first_mut() {
                    *first = first.strip_prefix('\n').unwrap_or(first).into();
                }
                Node::new(at, Kind::Join(parts))
            }
            kind => Node::new(at, kind),
        };
        if mark.contains('`') { self.rb_function_call(at, "`", vec![text]) } else { text }
    }
}

/// The blanks that all lines but the last, which is the mark, begin with.
fn indent_of(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().skip(1).filter(|line| !line.trim().is_empty()).collect();
    let lines = lines.split_last().map(|(_, lines)| lines).unwrap_or_default();
    lines.iter().map(|line| line.len() - line.trim_start_matches([' ', '\t']).len()).min().unwrap_or(0)
}

fn without_indent(text: &str, indent: usize) -> String {
    let mut made = String::with_capacity(text.len());
    for (at, line) in text.split_inclusive('\n').enumerate() {
        let blanks = line.len() - line.trim_start_matches([' ', '\t']).len();
        let cut = if at > 0 { blanks.min(indent) } else { 0 };
        made.push_str(line.get(cut..).unwrap_or_default());
    }
    made
}

/// What escapes stand for; `None` for one that is not known.
fn escaped(raw: &str) -> Option<String> {
    match raw {
        "\\e" => Some("\u{1b}".to_owned()),
        "\\s" => Some(" ".to_owned()),
        "\\a" => Some("\u{7}".to_owned()),
        _ if raw.starts_with("\\c") || raw.starts_with("\\C") || raw.starts_with("\\M") => None,
        _ => unescaped(raw),
    }
}
