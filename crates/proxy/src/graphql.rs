//! GraphQL requests: bodies that only read. Everything that a server may read in another way is an error.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::limits::DOCUMENT_DEPTH_MAX;

/// The reason why a body is no GraphQL request that only reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadDocument {
    /// The body is longer than the proxy reads.
    #[error("its body is longer than 1 MiB")]
    Long,
    /// The content type or encoding is another one.
    #[error("its body is not plain `application/json`")]
    Type,
    /// The body is no JSON object with a document, or has fields twice or fields besides the usual ones.
    #[error(
        "its body must be a JSON object with `query`, and at most `variables` and `operationName`, each once"
    )]
    Json,
    /// An operation that is no query.
    #[error("its document has a mutation or subscription")]
    NotAQuery,
    /// The document has a part that this reader does not know.
    #[error("its document has a part that castellan cannot read")]
    Unknown,
}

/// Checks that a body is a GraphQL request, or a list of such, whose documents have only queries and fragments.
///
/// # Errors
///
/// Any other body.
pub fn only_reads(body: &[u8]) -> Result<(), BadDocument> {
    let Ok(Requests(documents)) = serde_json::from_slice(body) else { return Err(BadDocument::Json) };
    documents.iter().try_for_each(|document| only_queries(document))
}

/// The documents of a body.
struct Requests(Vec<String>);

impl<'de> Deserialize<'de> for Requests {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Requests, D::Error> {
        deserializer.deserialize_any(RequestsVisitor).map(Requests)
    }
}

/// Reads one request or a list. It sees each field of the text, so none can be there twice.
struct RequestsVisitor;

impl<'de> Visitor<'de> for RequestsVisitor {
    type Value = Vec<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a GraphQL request")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<String>, A::Error> {
        let mut seen = Vec::new();
        let mut document = None;
        while let Some(field) = map.next_key::<String>()? {
            if seen.contains(&field) {
                return Err(serde::de::Error::custom("a field is there twice"));
            }
            match field.as_str() {
                "query" => document = Some(map.next_value::<String>()?),
                "variables" | "operationName" => drop(map.next_value::<IgnoredAny>()?),
                // Servers may compare names without case, or take a stored document by its hash.
                _ => return Err(serde::de::Error::custom("another field")),
            }
            seen.push(field);
        }
        document.map(|document| vec![document]).ok_or_else(|| serde::de::Error::custom("no document"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<String>, A::Error> {
        let mut documents = Vec::new();
        while let Some(One(document)) = list.next_element()? {
            documents.push(document);
        }
        Ok(documents)
    }
}

/// A request in a list, which is no list itself.
struct One(String);

impl<'de> Deserialize<'de> for One {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<One, D::Error> {
        let documents = deserializer.deserialize_map(RequestsVisitor)?;
        documents.into_iter().next().map(One).ok_or_else(|| serde::de::Error::custom("no document"))
    }
}

/// Checks that each definition of a document is a query or a fragment.
fn only_queries(document: &str) -> Result<(), BadDocument> {
    let mut tokens = Tokens { rest: document };
    let mut queries = 0;
    while let Some(token) = tokens.next()? {
        let is_open = match token {
            Token::Punctuator('{') => true,
            Token::Name("query" | "fragment") => false,
            Token::Name("mutation" | "subscription") => return Err(BadDocument::NotAQuery),
            Token::Name(_) | Token::Punctuator(_) | Token::Value => return Err(BadDocument::Unknown),
        };
        queries += usize::from(!matches!(token, Token::Name("fragment")));
        definition(&mut tokens, is_open)?;
    }
    if queries == 0 { Err(BadDocument::Unknown) } else { Ok(()) }
}

/// Reads to the end of a definition: the brace that closes its selection. `is_open`: the brace that opens it was read.
fn definition(tokens: &mut Tokens<'_>, is_open: bool) -> Result<(), BadDocument> {
    let mut open: Vec<char> = if is_open { vec!['}'] } else { Vec::new() };
    loop {
        let Some(token) = tokens.next()? else { return Err(BadDocument::Unknown) };
        let Token::Punctuator(sign) = token else { continue };
        match sign {
            '{' => open.push('}'),
            '(' => open.push(')'),
            '[' => open.push(']'),
            '}' | ')' | ']' if open.pop() != Some(sign) => return Err(BadDocument::Unknown),
            '}' if open.is_empty() => return Ok(()),
            _ => {}
        }
        if open.len() > DOCUMENT_DEPTH_MAX {
            return Err(BadDocument::Unknown);
        }
    }
}

/// A token of a document, as far as the reader needs it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Token<'t> {
    Name(&'t str),
    Punctuator(char),
    /// A number or a string.
    Value,
}

struct Tokens<'t> {
    rest: &'t str,
}

impl<'t> Tokens<'t> {
    /// Returns the next token, `None` at the end.
    fn next(&mut self) -> Result<Option<Token<'t>>, BadDocument> {
        loop {
            self.rest = self.rest.trim_start_matches([' ', '\t', '\r', '\n', ',', '\u{feff}']);
            if !self.rest.starts_with('#') {
                break;
            }
            self.rest = self.rest.trim_start_matches(|letter| letter != '\n' && letter != '\r');
        }
        let Some(first) = self.rest.chars().next() else { return Ok(None) };
        let token = match first {
            '"' => self.string()?,
            'a'..='z' | 'A'..='Z' | '_' => {
                Token::Name(self.take(|letter| letter.is_ascii_alphanumeric() || letter == '_'))
            }
            '0'..='9' | '-' => {
                self.take(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '+' | '.'));
                Token::Value
            }
            '!' | '$' | '&' | '(' | ')' | '.' | ':' | '=' | '@' | '[' | ']' | '{' | '|' | '}' => {
                self.rest = self.rest.get(1..).unwrap_or_default();
                Token::Punctuator(first)
            }
            _ => return Err(BadDocument::Unknown),
        };
        Ok(Some(token))
    }

    fn take(&mut self, is_part: impl Fn(char) -> bool) -> &'t str {
        let end = self.rest.find(|letter| !is_part(letter)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at_checked(end).unwrap_or_default();
        self.rest = rest;
        taken
    }

    /// Reads a string, or a block string: three quotes, in which a backslash escapes three quotes only.
    fn string(&mut self) -> Result<Token<'t>, BadDocument> {
        let (mut rest, is_block) = match self.rest.strip_prefix("\"\"\"") {
            Some(rest) => (rest, true),
            None => (self.rest.get(1..).unwrap_or_default(), false),
        };
        let (end, escape) = if is_block { ("\"\"\"", "\\\"\"\"") } else { ("\"", "\\") };
        loop {
            if let Some(after) = rest.strip_prefix(end) {
                self.rest = after;
                return Ok(Token::Value);
            }
            let mut letters = rest.chars();
            if let Some(after) = rest.strip_prefix(escape) {
                letters = after.chars();
                if is_block {
                    rest = after;
                    continue;
                }
            }
            match letters.next() {
                None => return Err(BadDocument::Unknown),
                Some('\n' | '\r') if !is_block => return Err(BadDocument::Unknown),
                Some(_) => rest = letters.as_str(),
            }
        }
    }
}
