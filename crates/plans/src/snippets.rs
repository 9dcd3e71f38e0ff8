//! [`snippets`]: the shell text, code spans and paths of a plan in Markdown. It analyses none of them.

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

use crate::limits::{MARKDOWN_BYTES_MAX, SNIPPETS_MAX};

/// A part of a Markdown text that may name a command or path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snippet {
    /// The kind.
    pub kind: SnippetKind,
    /// The text; of a transcript, the commands without prompts and output.
    pub text: String,
    /// The line in the Markdown text, from 1.
    pub line: usize,
}

/// The kind of a snippet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SnippetKind {
    /// A code block of shell text, or without a language.
    Block,
    /// A code span with several words.
    Inline,
    /// A code span that looks like a path.
    Path,
    /// A code span of one word: a program, or a name in other code.
    Word,
    /// The rest of a text over a limit. It was not read.
    Unread,
}

/// Languages of code blocks that are shell text.
const SHELLS: &[&str] =
    &["", "bash", "console", "ksh", "sh", "shell", "shell-session", "shellscript", "terminal", "zsh"];

/// Returns the snippets of a plan in Markdown, in their order. Code blocks in other languages are none: nobody runs them
/// as written. Over a limit, the last snippet is of kind [`SnippetKind::Unread`].
pub fn snippets(markdown: &str) -> Vec<Snippet> {
    let end = markdown.floor_char_boundary(MARKDOWN_BYTES_MAX);
    let text = markdown.get(..end).unwrap_or_default();
    let mut found = Vec::new();
    let mut lines = Lines { text, at: 0, line: 1 };
    let mut block: Option<(String, usize)> = None;
    for (event, range) in Parser::new(text).into_offset_iter() {
        let line = lines.of(range.start);
        let snippet = match event {
            Event::Start(Tag::CodeBlock(kind)) => {
                block = is_shell(&kind).then(|| (String::new(), line));
                continue;
            }
            Event::Text(part) => {
                if let Some((text, _)) = &mut block {
                    text.push_str(&part);
                }
                continue;
            }
            Event::End(TagEnd::CodeBlock) => {
                let Some((text, line)) = block.take() else { continue };
                Snippet { kind: SnippetKind::Block, text: without_prompts(&text), line }
            }
            Event::Code(span) => Snippet { kind: kind_of(&span), text: span.trim().to_owned(), line },
            Event::Start(_)
            | Event::End(_)
            | Event::InlineMath(_)
            | Event::DisplayMath(_)
            | Event::Html(_)
            | Event::InlineHtml(_)
            | Event::FootnoteReference(_)
            | Event::SoftBreak
            | Event::HardBreak
            | Event::Rule
            | Event::TaskListMarker(_) => continue,
        };
        if snippet.text.is_empty() {
            continue;
        }
        if found.len() >= SNIPPETS_MAX {
            return unread(found, snippet.line);
        }
        found.push(snippet);
    }
    if end < markdown.len() { unread(found, lines.of(end)) } else { found }
}

fn unread(mut found: Vec<Snippet>, line: usize) -> Vec<Snippet> {
    found.push(Snippet { kind: SnippetKind::Unread, text: format!("everything from line {line} on"), line });
    found
}

fn is_shell(kind: &CodeBlockKind<'_>) -> bool {
    match kind {
        CodeBlockKind::Indented => true,
        CodeBlockKind::Fenced(info) => {
            let language = info.split([' ', ',', '{']).next().unwrap_or_default();
            SHELLS.contains(&language.to_ascii_lowercase().as_str())
        }
    }
}

/// Returns the commands of a transcript: lines after a prompt `$ `, with the lines that a `\` continues. A text without
/// a prompt is returned as it is.
fn without_prompts(text: &str) -> String {
    let command = |line: &str| line.trim_start().strip_prefix("$ ").map(str::to_owned);
    if !text.lines().any(|line| command(line).is_some()) {
        return text.trim_end().to_owned();
    }
    let mut kept: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in text.lines() {
        let Some(line) = command(line).or_else(|| goes_on.then(|| line.to_owned())) else { continue };
        goes_on = line.ends_with('\\');
        kept.push(line);
    }
    kept.join("\n")
}

fn kind_of(span: &str) -> SnippetKind {
    let span = span.trim();
    let is_word = |letter: char| letter.is_alphanumeric() || "_-./~*@+[]".contains(letter);
    if span.contains(char::is_whitespace) {
        SnippetKind::Inline
    } else if !span.chars().all(is_word) {
        if span.contains(['|', ';', '&', '>', '<', '$', '`']) {
            SnippetKind::Inline
        } else {
            SnippetKind::Word
        }
    } else if span.contains('/') || has_ending(span) {
        SnippetKind::Path
    } else {
        SnippetKind::Word
    }
}

/// Reports whether a word ends like a file's name: `main.rs`, `.gitignore`.
fn has_ending(word: &str) -> bool {
    word.rsplit_once('.').is_some_and(|(before, ending)| {
        let is_letter = |letter: char| letter.is_ascii_alphanumeric();
        !before.ends_with(')')
            && !ending.is_empty()
            && (ending.len() <= 5 || before.is_empty())
            && ending.chars().all(is_letter)
            && ending.contains(|letter: char| letter.is_ascii_alphabetic())
    })
}

/// Finds lines of ascending offsets, each byte once.
struct Lines<'t> {
    text: &'t str,
    at: usize,
    line: usize,
}

impl Lines<'_> {
    fn of(&mut self, offset: usize) -> usize {
        if let Some(passed) = self.text.get(self.at..offset) {
            self.line += passed.matches('\n').count();
            self.at = offset;
        }
        self.line
    }
}
