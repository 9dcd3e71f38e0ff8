//! Splits the text of a build file into words, texts in quotes and signs. Must not know what starts a command.

use super::table::Dialect;
use super::unknown;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    Word(String),
    /// A text in quotes.
    Text(String),
    Sign(char),
    /// The end of a line.
    Line,
}

/// Directories of the file, as values inside texts name them.
const HERE: &[&str] = &["path.module", "path.root", "path.cwd", "project_root", "workspace_root", "__DIR__"];

/// Returns the tokens of a text, without comments.
pub(super) fn tokens(dialect: &Dialect, text: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if let Some((_, behind)) = dialect.comments.iter().find_map(|(open, close)| {
            let inner = rest.strip_prefix(open)?;
            Some(inner.split_once(close).unwrap_or((inner, "")))
        }) {
            found.push(Token::Line);
            rest = behind;
        } else if let Some(quote) = dialect.quotes.iter().find(|quote| rest.starts_with(**quote)) {
            let (inner, behind) = in_quotes(rest.get(quote.len()..).unwrap_or_default(), quote);
            found.push(Token::Text(filled(&inner, dialect)));
            rest = behind;
        } else if first == ':' && !rest.get(1..).is_some_and(|rest| rest.starts_with(char::is_alphabetic)) {
            found.push(Token::Sign(':'));
            rest = rest.get(1..).unwrap_or_default();
        } else if is_of_word(first, dialect) {
            let end = rest.find(|one| !is_of_word(one, dialect)).unwrap_or(rest.len());
            let (word, behind) = rest.split_at(end);
            // `name:` names an argument, `:name` is a name.
            let bare = word.trim_end_matches(':');
            let bare = if dialect.has_bare_texts || bare.is_empty() { word } else { bare };
            found.push(Token::Word(bare.to_owned()));
            found.extend((bare.len() < word.len()).then_some(Token::Sign(':')));
            rest = behind;
        } else if let Some((text, behind)) = heredoc(rest) {
            found.push(Token::Text(filled(text, dialect)));
            rest = behind;
        } else {
            match first {
                '\n' => found.push(Token::Line),
                ' ' | '\t' | '\r' => {}
                other => found.push(Token::Sign(other)),
            }
            rest = rest.get(first.len_utf8()..).unwrap_or_default();
        }
    }
    found
}

fn is_of_word(one: char, dialect: &Dialect) -> bool {
    one.is_alphanumeric()
        || "_.!?:@-".contains(one)
        || dialect.has_bare_texts && !one.is_whitespace() && !"()\";".contains(one)
}

/// Returns the text of `<<NAME ... NAME` and the rest.
fn heredoc(text: &str) -> Option<(&str, &str)> {
    let (head, body) = text.strip_prefix("<<")?.split_once('\n')?;
    let name = head.trim_start_matches('-').trim();
    let mut at = 0;
    for line in body.split_inclusive('\n') {
        if line.trim() == name && !name.is_empty() {
            return Some((body.get(..at)?, body.get(at + line.trim_end().len()..)?));
        }
        at += line.len();
    }
    // Without its end, it reaches to that of the file.
    (!name.is_empty()).then_some((body, ""))
}

/// Returns the text up to the quote, without escapes, and the rest.
fn in_quotes<'t>(text: &'t str, quote: &str) -> (String, &'t str) {
    let mut inner = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if let Some(behind) = rest.strip_prefix(quote) {
            return (inner, behind);
        }
        rest = rest.get(first.len_utf8()..).unwrap_or_default();
        let next = rest.chars().next().filter(|_| first == '\\' && quote.len() == 1);
        if let Some(next) = next {
            inner.push(match next {
                'n' => '\n',
                't' => '\t',
                other => other,
            });
            rest = rest.get(next.len_utf8()..).unwrap_or_default();
        } else {
            inner.push(first);
        }
    }
    (inner, "")
}

/// Replaces values inside a text.
fn filled(text: &str, dialect: &Dialect) -> String {
    let mut text = text.to_owned();
    for (open, close) in dialect.holes {
        let mut done = String::new();
        let mut rest = text.as_str();
        while let Some((before, after)) = rest.split_once(open) {
            let (name, behind) = after.split_once(close).unwrap_or((after, ""));
            done.push_str(before);
            done.push_str(&if HERE.contains(&name.trim()) { ".".to_owned() } else { unknown() });
            rest = behind;
        }
        text = done + rest;
    }
    if !dialect.is_expanded {
        return text;
    }
    // A file of the build, and a dollar sign for the shell.
    const FILE: &str = "bazel-out/file";
    let mut done = String::new();
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once('$') {
        done.push_str(before);
        rest = match after.chars().next() {
            Some('$') => {
                done.push('$');
                after.get(1..).unwrap_or_default()
            }
            Some('(') => {
                done.push_str(FILE);
                after.split_once(')').map_or("", |(_, behind)| behind)
            }
            Some('@' | '<' | '^') => {
                done.push_str(FILE);
                after.get(1..).unwrap_or_default()
            }
            _ => after,
        };
    }
    done + rest
}
