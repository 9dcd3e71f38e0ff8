//! Literals of text, with values in them.

use tree_sitter::Node as Parsed;

use super::super::Lower;
use crate::tree::{Kind, Node};

impl Lower<'_> {
    /// `'text'`
    pub(super) fn php_plain(&self, node: Parsed<'_>) -> Node {
        let written = self.text_of(node).trim_start_matches(['b', 'B']);
        let inside = written.get(1..written.len().saturating_sub(1)).unwrap_or_default();
        let mut text = String::with_capacity(inside.len());
        let mut letters = inside.chars().peekable();
        while let Some(letter) = letters.next() {
            match (letter, letters.peek()) {
                ('\\', Some(next @ ('\\' | '\''))) => {
                    text.push(*next);
                    letters.next();
                }
                _ => text.push(letter),
            }
        }
        Node::text(Self::at(node), &text)
    }

    /// The parts of `"text $x"`, of a heredoc's body, or of what stands in backticks.
    pub(super) fn php_parts(&mut self, node: Parsed<'_>) -> Node {
        let mut parts = Vec::new();
        for child in Self::children(node) {
            let at = Self::at(child);
            parts.push(match child.kind() {
                "string_content" | "nowdoc_string" => Node::text(at, self.text_of(child)),
                "escape_sequence" => match escaped(self.text_of(child)) {
                    Some(text) => Node::text(at, &text),
                    None => Node::new(at, Kind::Inert(vec![Self::nothing(child)])),
                },
                // `$x[key]`: the key is a text.
                "subscript_expression" if !self.in_braces(child) => self.php_simple_index(child),
                _ => self.php_expression(child),
            });
        }
        Node::new(Self::at(node), Kind::Join(parts))
    }

    fn in_braces(&self, node: Parsed<'_>) -> bool {
        let before = node.start_byte().checked_sub(1);
        before.and_then(|at| self.text.as_bytes().get(at)) == Some(&b'{')
    }

    fn php_simple_index(&mut self, node: Parsed<'_>) -> Node {
        match Self::children(node).as_slice() {
            [of, key] if key.kind() == "name" => {
                let of = self.php_expression(*of);
                let key = Node::text(Self::at(*key), self.text_of(*key));
                Node::new(Self::at(node), Kind::Index(of.into(), key.into()))
            }
            _ => self.php_expression(node),
        }
    }

    /// `<<<END`; the last end of a line is not part of it.
    pub(super) fn php_heredoc(&mut self, node: Parsed<'_>) -> Node {
        let Some(value) = node.child_by_field_name("value") else {
            return Node::text(Self::at(node), "");
        };
        let mut lowered = self.php_parts(value);
        if let Kind::Join(parts) = &mut lowered.kind
            && let Some(Node { kind: Kind::Text(text), .. }) = parts.last_mut()
            && let Some(shorter) = text.strip_suffix('\n')
        {
            *text = shorter.into();
        }
        lowered
    }
}

/// What an escape stands for; one that is not known stays as it is.
fn escaped(written: &str) -> Option<String> {
    let rest = written.strip_prefix('\\')?;
    let mut letters = rest.chars();
    let letter = letters.next()?;
    let text = match letter {
        'n' => "\n".to_owned(),
        't' => "\t".to_owned(),
        'r' => "\r".to_owned(),
        'v' => "\u{b}".to_owned(),
        'e' => "\u{1b}".to_owned(),
        'f' => "\u{c}".to_owned(),
        '\\' | '$' | '"' | '`' => letter.to_string(),
        'u' if letters.as_str().starts_with('{') => {
            character(letters.as_str().trim_matches(['{', '}']), 16)?.to_string()
        }
        'x' | 'X' if !letters.as_str().is_empty() => character(letters.as_str(), 16)?.to_string(),
        '0'..='7' => character(rest, 8)?.to_string(),
        _ => written.to_owned(),
    };
    Some(text)
}

fn character(digits: &str, radix: u32) -> Option<char> {
    char::from_u32(u32::from_str_radix(digits, radix).ok()?)
}
