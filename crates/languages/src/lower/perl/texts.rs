//! Texts: literals, here-documents, patterns, and what stands for a command.

use tree_sitter::Node as Parsed;

use super::super::Lower;
use crate::tree::{Kind, Node};

/// Parts of a text that are text themselves.
const PLAIN: &[&str] = &["escape_sequence", "escaped_delimiter", "heredoc_end"];

impl<'t> Lower<'t> {
    /// The bytes between delimiters: the parser takes blanks at either end for blanks between tokens.
    fn pl_between(&self, content: Parsed<'_>) -> (usize, usize) {
        let is_blank = |from: usize, to: usize| {
            self.text.get(from..to).is_some_and(|gap| gap.chars().all(char::is_whitespace))
        };
        let (start, end) = (content.start_byte(), content.end_byte());
        let before = content.prev_sibling().map(|one| one.end_byte()).filter(|at| is_blank(*at, start));
        let after = content.next_sibling().map(|one| one.start_byte()).filter(|at| is_blank(end, *at));
        (before.unwrap_or(start), after.unwrap_or(end))
    }

    /// A text of blanks alone has no content.
    fn pl_blanks(&self, node: Parsed<'_>) -> &'t str {
        let last = node.child_count().saturating_sub(1);
        let (open, close) = (last.checked_sub(1).and_then(|at| node.child(at)), node.child(last));
        let range = open.zip(close).map(|(open, close)| open.end_byte()..close.start_byte());
        let inside = range.and_then(|range| self.text.get(range)).unwrap_or_default();
        if inside.chars().all(char::is_whitespace) { inside } else { "" }
    }

    fn pl_content(&self, content: Parsed<'_>) -> &'t str {
        let (start, end) = self.pl_between(content);
        self.text.get(start..end).unwrap_or_default()
    }

    pub(super) fn pl_text(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let content = node.child_by_field_name("content");
        match node.kind() {
            "string_literal" => {
                let inside = content.map_or_else(|| self.pl_blanks(node), |one| self.pl_content(one));
                Node::text(at, &single_quoted(inside))
            }
            "interpolated_string_literal" => match content {
                Some(content) => self.pl_interpolated(content, self.pl_between(content), 0),
                None => Node::text(at, self.pl_blanks(node)),
            },
            "command_string" => {
                let is_plain = self.text_of(node).starts_with("qx'");
                let text = match content {
                    Some(content) if is_plain => Node::text(at, self.pl_content(content)),
                    Some(content) => self.pl_interpolated(content, self.pl_between(content), 0),
                    None => Node::text(at, ""),
                };
                Node::library(at, "qx", vec![text])
            }
            "heredoc_token" => self.pl_heredoc(node),
            "command_heredoc_token" => {
                let text = self.pl_heredoc(node);
                Node::library(at, "qx", vec![text])
            }
            "quoted_word_list" => {
                let words = self.pl_words(node);
                Node::list(at, words.iter().map(|word| Node::text(at, word)).collect())
            }
            "fileglob_expression" => {
                let pattern = match content {
                    Some(content) => self.pl_interpolated(content, self.pl_between(content), 0),
                    None => Node::text(at, ""),
                };
                Node::library(at, "glob", vec![pattern])
            }
            _ => {
                let mut parts = self.pl_pattern(node);
                parts.push(Self::nothing(node));
                Node::inert(at, parts)
            }
        }
    }

    pub(super) fn pl_words(&self, node: Parsed<'_>) -> Vec<String> {
        let content = node.child_by_field_name("content").map(|one| self.pl_content(one));
        content.unwrap_or_default().split_whitespace().map(single_quoted).collect()
    }

    /// Text with values in it. `indent`: blanks that are taken off each line.
    fn pl_interpolated(&mut self, node: Parsed<'_>, (start, end): (usize, usize), indent: usize) -> Node {
        let at = Self::at(node);
        let mut parts = Vec::new();
        let mut from = start;
        for child in Self::children(node).into_iter().filter(|child| !PLAIN.contains(&child.kind())) {
            parts.extend(self.pl_raw((from, child.start_byte()), from == start, indent));
            from = child.end_byte();
            let value = self.pl(child);
            parts.push(match child.kind() {
                "array" | "array_deref_expression" | "slice_expression" => {
                    let blank = Node::text(at, " ");
                    let spread = Node::spread(at, value);
                    Node::library(at, "join", vec![blank, spread])
                }
                _ => value,
            });
        }
        parts.extend(self.pl_raw((from, end), from == start, indent));
        Node::new(at, Kind::Join(parts))
    }

    fn pl_raw(&self, (from, to): (usize, usize), is_first: bool, indent: usize) -> Option<Node> {
        let raw = self.text.get(from..to).filter(|raw| !raw.is_empty())?;
        let raw = if indent > 0 { without_indent(raw, is_first, indent) } else { raw.to_owned() };
        let at = (u32::try_from(from).unwrap_or(u32::MAX), u32::try_from(to).unwrap_or(u32::MAX));
        Some(match unescaped(&raw) {
            Some(text) => Node::text(at, &text),
            None => Node::unknown(at),
        })
    }

    fn pl_heredoc(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let Some((start, end)) = self.perl.bodies.get(&node.start_byte()).copied() else {
            return self.pl_strange(node);
        };
        let root = {
            let mut root = node;
            while let Some(parent) = root.parent() {
                root = parent;
            }
            root
        };
        let Some(body) =
            root.descendant_for_byte_range(start, end).filter(|one| one.kind() == "heredoc_content")
        else {
            return self.pl_strange(node);
        };
        let last = Self::children(body).into_iter().find(|one| one.kind() == "heredoc_end");
        let end = last.map_or(end, |last| last.start_byte());
        let inside = self.text.get(start..end).unwrap_or_default();
        let start = if inside.starts_with('\n') { start + 1 } else { start };
        let inside = self.text.get(start..end).unwrap_or_default();
        let mark = self.text_of(node);
        let indent = if mark.starts_with("<<~") { indent_of(inside) } else { 0 };
        if mark.contains('\'') {
            return Node::text(at, &without_indent(inside, true, indent));
        }
        self.deeper(body, |lower| lower.pl_interpolated(body, (start, end), indent))
    }

    /// A pattern that stands for its own text.
    pub(super) fn pl_plain_pattern(&self, node: Parsed<'_>) -> Option<String> {
        let inside = node.child_by_field_name("content").map(|one| self.pl_content(one)).unwrap_or_default();
        match node.kind() {
            "string_literal" | "interpolated_string_literal" | "match_regexp" | "quoted_regexp" => {}
            _ => return None,
        }
        if matches!(inside, "\\s+" | "\\s*") {
            return (inside == "\\s+").then(|| " ".to_owned());
        }
        let is_plain = node.child_by_field_name("modifiers").is_none()
            && !inside.contains(['.', '*', '+', '?', '[', '(', '{', '|', '^', '$', '@', '\\']);
        // A single blank in quotes stands for any white space.
        is_plain.then(|| inside.to_owned())
    }

    /// What is in a pattern. Code in it is not followed.
    fn pl_pattern(&mut self, node: Parsed<'_>) -> Vec<Node> {
        let mut parts = Vec::new();
        let Some(content) = node.child_by_field_name("content") else { return parts };
        let inside = self.pl_content(content);
        if inside.contains("(?{") || inside.contains("(??{") || inside.contains("(*{") {
            parts.push(self.pl_strange(content));
        }
        for child in Self::children(content) {
            if !PLAIN.contains(&child.kind()) {
                let value = self.pl(child);
                let is_code = self.perl.runs_patterns && child.kind() != "escape_sequence";
                parts.push(if is_code { Node::library(value.at, "//{}", vec![value]) } else { value });
            }
        }
        parts
    }

    /// `s/a/b/`, `tr/a/b/`: gives `value`, changed, to the target.
    pub(super) fn pl_replaced(&mut self, node: Parsed<'_>, value: Node, target: Option<Node>) -> Node {
        let at = Self::at(node);
        let modifiers =
            node.child_by_field_name("modifiers").map(|one| self.text_of(one)).unwrap_or_default();
        let replacement = Self::children(node).into_iter().find(|one| one.kind() == "replacement");
        let changed = if node.kind() == "transliteration_expression" {
            let from =
                node.child_by_field_name("content").map(|one| self.pl_content(one)).unwrap_or_default();
            let to = replacement.map(|one| self.text_of(one)).unwrap_or_default();
            // A sign of a range that is escaped is a letter.
            let is_plain =
                !format!("{from}{to}").contains("\\-") && modifiers.trim_end_matches('r').is_empty();
            match (unescaped(from), unescaped(to)) {
                (Some(from), Some(to)) if is_plain => {
                    Node::library(at, "tr", vec![value, Node::text(at, &from), Node::text(at, &to)])
                }
                _ => Node::inert(at, vec![value]),
            }
        } else {
            let plain = self.pl_plain_replacement(node, replacement, modifiers);
            let mut parts = self.pl_pattern(node);
            match replacement {
                Some(one) if modifiers.contains('e') => {
                    let mut code = Node::text(Self::at(one), self.text_of(one));
                    for _ in 0..modifiers.matches('e').count().min(3) {
                        code = Node::library(at, "eval", vec![code]);
                    }
                    // Whether it is run depends on the text.
                    parts.push(Node::either(at, vec![Self::nothing(node), code]));
                }
                Some(one) => {
                    let inside = self.pl_interpolated(one, (one.start_byte(), one.end_byte()), 0);
                    parts.push(inside);
                }
                None => {}
            }
            match plain {
                Some((from, to)) => {
                    let method = if modifiers.contains('g') { "replaceAll" } else { "replace" };
                    Node::method(at, value, method, vec![Node::text(at, &from), Node::text(at, &to)])
                }
                None => {
                    parts.push(value);
                    Node::inert(at, parts)
                }
            }
        };
        match target {
            Some(target) if !modifiers.contains('r') => {
                if let Kind::Name(name) = &target.kind {
                    self.perl.changed.push(name.clone());
                }
                let value = Node::assign(at, target, changed);
                Node::inert(at, vec![value])
            }
            _ => changed,
        }
    }

    /// A replacement of text by text.
    fn pl_plain_replacement(
        &self,
        node: Parsed<'_>,
        replacement: Option<Parsed<'_>>,
        modifiers: &str,
    ) -> Option<(String, String)> {
        let from = node.child_by_field_name("content").map(|one| self.pl_content(one)).unwrap_or_default();
        let to = replacement.map(|one| self.text_of(one)).unwrap_or_default();
        let is_plain = !from.is_empty()
            && modifiers.bytes().all(|one| matches!(one, b'g' | b'r'))
            && !from.contains(['.', '*', '+', '?', '[', '(', '{', '|', '^', '$', '@', '\\'])
            && !to.contains(['$', '@', '\\']);
        is_plain.then(|| (from.to_owned(), to.to_owned()))
    }

    /// `format NAME = ...`: the lines below its pictures are code, which `write` runs.
    pub(super) fn pl_format(&self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let content = Self::children(node).into_iter().find(|one| one.kind() == "format_content");
        let mut parts = Vec::new();
        let mut is_picture = false;
        for line in content.map(|one| self.text_of(one)).unwrap_or_default().lines() {
            let line = line.trim();
            if is_picture {
                let values = line.trim_start_matches('{').trim_end_matches('}');
                let code = Node::library(at, "eval", vec![Node::text(at, values)]);
                parts.push(Node::either(at, vec![Self::nothing(node), code]));
            }
            is_picture = !is_picture && !line.starts_with('#') && line.contains(['@', '^']);
        }
        Node::sequence(at, parts)
    }

    /// `<STDIN>`, `<$x>`, `<>`
    pub(super) fn pl_readline(&mut self, node: Parsed<'_>) -> Node {
        let at = Self::at(node);
        let name = match self.text_of(node) {
            "<>" | "<ARGV>" => "<>",
            "<<>>" => "<<>>",
            "<STDIN>" => "<STDIN>",
            _ => "readline",
        };
        Node::library(at, name, Vec::new())
    }
}

/// The text of a literal without values.
fn single_quoted(inside: &str) -> String {
    let mut text = String::with_capacity(inside.len());
    let mut letters = inside.chars().peekable();
    while let Some(letter) = letters.next() {
        // Before the delimiter, whichever it is, and before itself.
        let escapes = letters.peek().is_some_and(|next| !next.is_alphanumeric() && !next.is_whitespace());
        if letter == '\\' && escapes {
            text.extend(letters.next());
        } else {
            text.push(letter);
        }
    }
    text
}

/// Resolves the escapes in a text; `None` for an unknown escape.
fn unescaped(raw: &str) -> Option<String> {
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((before, after)) = rest.split_once('\\') {
        text.push_str(before);
        let mut letters = after.chars();
        let Some(letter) = letters.next() else { break };
        rest = letters.as_str();
        match letter {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'r' => text.push('\r'),
            'a' => text.push('\u{7}'),
            'b' => text.push('\u{8}'),
            'e' => text.push('\u{1b}'),
            'f' => text.push('\u{c}'),
            'x' => match rest.strip_prefix('{').and_then(|inside| inside.split_once('}')) {
                Some((digits, after)) => {
                    text.push(coded(digits, 16)?);
                    rest = after;
                }
                None => text.push(digits(&mut rest, 16, 2)?),
            },
            'o' => {
                let (digits, after) = rest.strip_prefix('{')?.split_once('}')?;
                text.push(coded(digits, 8)?);
                rest = after;
            }
            '0'..='7' => {
                rest = after;
                text.push(digits(&mut rest, 8, 3)?);
            }
            // Case, quoting, control characters, names of characters.
            'L' | 'U' | 'Q' | 'E' | 'F' | 'l' | 'u' | 'c' | 'N' => return None,
            other => text.push(other),
        }
    }
    text.push_str(rest);
    Some(text)
}

fn coded(digits: &str, radix: u32) -> Option<char> {
    char::from_u32(u32::from_str_radix(digits.trim(), radix).ok()?)
}

/// The character of up to so many digits, which it takes off the text.
fn digits(rest: &mut &str, radix: u32, most: usize) -> Option<char> {
    let count = rest.chars().take(most).take_while(|digit| digit.is_digit(radix)).count();
    let (digits, after) = rest.split_at_checked(count)?;
    *rest = after;
    if digits.is_empty() { Some('\0') } else { coded(digits, radix) }
}

/// The blanks that all lines begin with.
fn indent_of(text: &str) -> usize {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| line.len() - line.trim_start_matches([' ', '\t']).len()).min().unwrap_or(0)
}

fn without_indent(text: &str, is_first: bool, indent: usize) -> String {
    let mut made = String::with_capacity(text.len());
    for (at, line) in text.split_inclusive('\n').enumerate() {
        let blanks = line.len() - line.trim_start_matches([' ', '\t']).len();
        let cut = if at > 0 || is_first { blanks.min(indent) } else { 0 };
        made.push_str(line.get(cut..).unwrap_or_default());
    }
    made
}
