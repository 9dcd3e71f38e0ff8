//! The arguments of a word that starts something: the tokens that belong to it, and their texts. Must not know which words
//! start something.

use std::collections::BTreeMap;

use super::HOMES;
use crate::builds::table::Dialect;
use crate::builds::tokens::Token;
use crate::builds::{HOME, unknown};
use crate::limits::{BUILD_BLOCKS_MAX, BUILD_TOKENS_MAX};

/// Returns the arguments after the word at a position.
pub(super) fn region<'t>(tokens: &'t [Token], at: usize, dialect: &Dialect) -> &'t [Token] {
    let after = after(tokens, at);
    if dialect.has_bare_texts {
        // The word is in brackets, or before them.
        let inner = after.strip_prefix(&[Token::Sign('(')]).unwrap_or(after);
        return until_close(inner);
    }
    // `name = value`, `name: value` and `{name, value}`.
    let assigned = after.iter().position(|one| !matches!(one, Token::Sign('=' | ':' | ',' | '>')));
    let is_assigned = assigned.is_some_and(|at| at > 0);
    let after = after.get(assigned.unwrap_or(0)..).unwrap_or_default();
    let is_block = matches!(after.first(), Some(Token::Sign('(' | '[' | '{' | '&')));
    if is_block {
        let open = after.iter().take_while(|one| !matches!(one, Token::Sign('(' | '[' | '{'))).count();
        return until_close(after.get(open + 1..).unwrap_or_default());
    }
    let mut end = 0;
    for (at, token) in after.iter().enumerate() {
        let continues = matches!(after.get(at.wrapping_sub(1)), Some(Token::Sign(',' | '+')));
        let is_end = match token {
            Token::Line => !continues,
            Token::Sign(')' | '}' | ']' | ';') => true,
            Token::Sign(',') => is_assigned,
            Token::Word(_) | Token::Text(_) | Token::Sign(_) => false,
        };
        if is_end {
            break;
        }
        end = at + 1;
    }
    after.get(..end).unwrap_or_default()
}

/// Returns the tokens of a call and of the methods on its value, up to the end of the statement.
pub(super) fn chain(tokens: &[Token], at: usize) -> &[Token] {
    let after = after(tokens, at);
    let end = after.iter().position(|one| *one == Token::Sign(';')).unwrap_or(after.len());
    after.get(..end).unwrap_or_default()
}

/// Returns the tokens behind a position, as many as are read.
fn after(tokens: &[Token], at: usize) -> &[Token] {
    let after = tokens.get(at + 1..).unwrap_or_default();
    after.get(..BUILD_TOKENS_MAX).unwrap_or(after)
}

/// Returns the words of the text, or of the list of texts, before a method at a position.
pub(super) fn receiver(tokens: &[Token], at: usize) -> Option<Vec<String>> {
    let before = tokens.get(at.saturating_sub(BUILD_BLOCKS_MAX)..at)?;
    match before.last()? {
        Token::Text(text) => Some(vec!["sh".to_owned(), "-c".to_owned(), text.clone()]),
        Token::Sign(']') => {
            let open = before.iter().rposition(|one| *one == Token::Sign('['))?;
            let texts = before.get(open..)?.iter().filter_map(|one| match one {
                Token::Text(text) => Some(text.clone()),
                Token::Word(_) | Token::Sign(_) | Token::Line => None,
            });
            Some(texts.collect())
        }
        Token::Word(_) | Token::Sign(_) | Token::Line => None,
    }
}

/// Returns the tokens up to the close of the bracket that is open before them.
fn until_close(tokens: &[Token]) -> &[Token] {
    let mut depth = 1;
    let end = tokens.iter().position(|token| {
        depth += depth_of(token);
        depth == 0
    });
    end.map_or(tokens, |at| tokens.get(..at).unwrap_or_default())
}

/// Returns the change of the depth of brackets by a token.
fn depth_of(token: &Token) -> i32 {
    match token {
        Token::Sign('(' | '[' | '{') => 1,
        Token::Sign(')' | ']' | '}') => -1,
        Token::Word(_) | Token::Text(_) | Token::Sign(_) | Token::Line => 0,
    }
}

/// Returns the number of tokens of a named argument: it ends at the next comma of its depth, or with its bracket.
fn named(tokens: &[Token]) -> usize {
    let mut depth = 0;
    let end = tokens.iter().position(|token| {
        depth += depth_of(token);
        depth < 0 || depth == 0 && *token == Token::Sign(',')
    });
    end.unwrap_or(tokens.len())
}

/// Returns the texts of arguments, without named ones. A name without a known text is an unknown word.
pub(super) fn words(tokens: &[Token], values: &BTreeMap<&str, &str>, dialect: &Dialect) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let (mut at, mut depth, mut is_joined) = (0, 0_usize, false);
    while let Some(token) = tokens.get(at) {
        let next = tokens.get(at + 1);
        at += 1;
        let text = match token {
            Token::Sign('(' | '[' | '{') => {
                depth += 1;
                // A call without arguments.
                let before = at.checked_sub(2).and_then(|at| tokens.get(at));
                let is_call = matches!(before, Some(Token::Word(word)) if !HOMES.contains(&word.as_str()));
                if !(is_call && matches!(next, Some(Token::Sign(')')))) {
                    continue;
                }
                unknown()
            }
            Token::Sign(')' | ']' | '}') => {
                depth = depth.saturating_sub(1);
                continue;
            }
            Token::Sign('+') => {
                is_joined = true;
                continue;
            }
            Token::Sign(_) | Token::Line => continue,
            Token::Text(text) if HOMES.contains(&text.as_str()) => HOME.to_owned(),
            Token::Text(text) => text.clone(),
            Token::Word(word) if dialect.has_bare_texts => word.clone(),
            Token::Word(_) if matches!(next, Some(Token::Sign(':' | '='))) => {
                at += named(tokens.get(at..).unwrap_or_default());
                continue;
            }
            Token::Word(word) if HOMES.contains(&word.as_str()) => HOME.to_owned(),
            Token::Word(_) if matches!(next, Some(Token::Sign('('))) => continue,
            Token::Word(word) if matches!(word.as_str(), "." | "_" | "const" | "do" | "u8") => continue,
            Token::Word(word) => values.get(word.as_str()).map_or_else(unknown, |text| (*text).to_owned()),
        };
        match found.last_mut().filter(|_| is_joined) {
            Some(last) => last.push_str(&text),
            None => found.push(text),
        }
        is_joined = false;
    }
    found
}

/// Returns the text in brackets before a method at a position: `File("x").delete`.
pub(super) fn last_text(tokens: &[Token], at: usize) -> Option<&String> {
    match tokens.get(..at)? {
        [.., Token::Sign('('), Token::Text(text), Token::Sign(')')] => Some(text),
        _ => None,
    }
}

/// Returns the first file or address that arguments name: a text, or a path without quotes.
pub(super) fn place(tokens: &[Token]) -> Option<String> {
    let named = tokens.iter().skip_while(|one| matches!(one, Token::Sign('(')));
    let mut path = String::new();
    for token in named {
        match token {
            Token::Text(text) if path.is_empty() => {
                return Some(text.clone()).filter(|text| *text != unknown());
            }
            Token::Word(word) => path.push_str(word),
            Token::Sign('/') => path.push('/'),
            Token::Text(_) | Token::Sign(_) | Token::Line => break,
        }
    }
    path.contains('/').then_some(path)
}
