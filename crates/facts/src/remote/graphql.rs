//! Reads GraphQL documents as far as a decision needs them: the fields that a mutation calls. Linear in the text. This
//! module must not know the meaning of a field. Source: the GraphQL specification of October 2021.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::str::Chars;

/// Returns the fields that a document's mutations call. `None`: the text is no document.
pub(crate) fn mutated(document: &str) -> Option<Vec<String>> {
    let mut reader = Reader { tokens: Tokens { rest: document.chars().peekable() }.peekable() };
    let (mut called, mut fragments) = (Vec::new(), BTreeMap::new());
    let mut is_document = false;
    while let Some(token) = reader.tokens.next() {
        let Token::Name(kind) = token else {
            if token != Token::Sign('{') {
                return is_document.then(|| spread(called, fragments));
            }
            reader.selection();
            is_document = true;
            continue;
        };
        if !matches!(kind.as_str(), "query" | "mutation" | "subscription" | "fragment") {
            return is_document.then(|| spread(called, fragments));
        }
        let Some(name) = reader.head() else { return is_document.then(|| spread(called, fragments)) };
        is_document = true;
        let fields = reader.selection();
        match kind.as_str() {
            "mutation" => called.extend(fields),
            "fragment" => drop(fragments.insert(name, fields)),
            _ => {}
        }
    }
    is_document.then(|| spread(called, fragments))
}

/// Replaces names of fragments by the fields of these, each once.
fn spread(called: Vec<String>, mut fragments: BTreeMap<String, Vec<String>>) -> Vec<String> {
    let mut fields = Vec::new();
    let mut open = vec![called];
    while let Some(names) = open.pop() {
        for name in names {
            match name.strip_prefix("...") {
                Some(fragment) => open.extend(fragments.remove(fragment)),
                None => fields.push(name),
            }
        }
    }
    fields
}

#[derive(Debug, PartialEq, Eq)]
enum Token {
    Name(String),
    /// A string or a number.
    Value,
    Spread,
    Sign(char),
}

struct Tokens<'t> {
    rest: Peekable<Chars<'t>>,
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        loop {
            let letter = self.rest.next()?;
            match letter {
                '#' => while self.rest.next_if(|letter| *letter != '\n').is_some() {},
                '"' => {
                    self.string();
                    return Some(Token::Value);
                }
                '.' => {
                    while self.rest.next_if_eq(&'.').is_some() {}
                    return Some(Token::Spread);
                }
                _ if letter.is_whitespace() || matches!(letter, ',' | '\u{feff}') => {}
                _ if is_of_name(letter) => {
                    let mut name = String::from(letter);
                    name.extend(std::iter::from_fn(|| self.rest.next_if(|letter| is_of_name(*letter))));
                    return Some(if letter.is_ascii_digit() { Token::Value } else { Token::Name(name) });
                }
                sign => return Some(Token::Sign(sign)),
            }
        }
    }
}

impl Tokens<'_> {
    /// Skips the rest of a string: `"..."`, or `"""..."""` with bare quotes inside.
    fn string(&mut self) {
        let mut quotes = 1;
        while quotes < 3 && self.rest.next_if_eq(&'"').is_some() {
            quotes += 1;
        }
        if quotes == 2 {
            return;
        }
        let mut closing = 0;
        while closing < quotes {
            match self.rest.next() {
                Some('"') => closing += 1,
                Some('\\') => {
                    closing = 0;
                    self.rest.next();
                }
                Some(_) => closing = 0,
                None => return,
            }
        }
    }
}

fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

struct Reader<'t> {
    tokens: Peekable<Tokens<'t>>,
}

impl Reader<'_> {
    /// Reads an operation's name, variables and directives, up to its first brace. `None`: it is no operation.
    fn head(&mut self) -> Option<String> {
        let mut name = String::new();
        loop {
            match self.tokens.next()? {
                Token::Sign('{') => return Some(name),
                Token::Sign('(') => self.skip('(', ')'),
                // The type of a fragment (`on Mutation`), and a directive.
                Token::Name(word) if word == "on" => drop(self.tokens.next()),
                Token::Sign('@') => drop(self.tokens.next()),
                Token::Name(word) if name.is_empty() => name = word,
                Token::Name(_) | Token::Value | Token::Spread | Token::Sign(_) => return None,
            }
        }
    }

    /// Reads a selection behind its brace, and returns its fields. A spread fragment is `...Name`.
    fn selection(&mut self) -> Vec<String> {
        let mut fields = Vec::new();
        // Inline fragments have the fields of the selection around them.
        let mut open = 1;
        while open > 0
            && let Some(token) = self.tokens.next()
        {
            match token {
                Token::Sign('}') => open -= 1,
                Token::Sign('{') => self.skip('{', '}'),
                Token::Sign('(') => self.skip('(', ')'),
                Token::Sign('@') => drop(self.tokens.next()),
                Token::Spread => open += usize::from(self.spread(&mut fields)),
                Token::Name(name) => {
                    // An alias stands before its field.
                    if self.tokens.next_if_eq(&Token::Sign(':')).is_none() {
                        fields.push(name);
                    }
                }
                Token::Value | Token::Sign(_) => {}
            }
        }
        fields
    }

    /// Reads what follows three dots. Returns true if it opens an inline fragment.
    fn spread(&mut self, fields: &mut Vec<String>) -> bool {
        let name = match self.tokens.next_if(|token| matches!(token, Token::Name(_))) {
            Some(Token::Name(name)) => name,
            _ => "on".to_owned(),
        };
        if name != "on" {
            fields.push(format!("...{name}"));
            return false;
        }
        self.tokens.next_if(|token| matches!(token, Token::Name(_)));
        while self.tokens.next_if_eq(&Token::Sign('@')).is_some() {
            self.tokens.next();
            if self.tokens.next_if_eq(&Token::Sign('(')).is_some() {
                self.skip('(', ')');
            }
        }
        self.tokens.next_if_eq(&Token::Sign('{')).is_some()
    }

    /// Skips to the sign that closes the one before.
    fn skip(&mut self, opening: char, closing: char) {
        let mut open = 1;
        while open > 0
            && let Some(token) = self.tokens.next()
        {
            match token {
                Token::Sign(sign) if sign == opening => open += 1,
                Token::Sign(sign) if sign == closing => open -= 1,
                Token::Name(_) | Token::Value | Token::Spread | Token::Sign(_) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::mutated;

    #[test]
    fn fields_of_mutations_are_found() {
        let cases: &[(&str, Option<&[&str]>)] = &[
            ("mutation { volumeDelete(volumeId: \"x\") }", Some(&["volumeDelete"])),
            (
                "mutation D($id: ID! = \"{\") @live(a: 1) { a: deleteA(id: $id) { id } b }",
                Some(&["deleteA", "b"]),
            ),
            ("# mutation { a }\nquery { deleteA }", Some(&[])),
            ("{ me { id } }", Some(&[])),
            ("query Q { a } mutation M { dropIt }", Some(&["dropIt"])),
            ("mutation { ...F } fragment F on Mutation { deleteA { id } }", Some(&["deleteA"])),
            ("mutation { ... on Mutation @include(if: true) { deleteA } ...{ b } }", Some(&["deleteA", "b"])),
            ("mutation { a(text: \"\"\"} \"{\" deleteB\"\"\") c @skip(if: $x) }", Some(&["a", "c"])),
            ("mutation { deleteA(input: {id: 1, ids: [1, 2]}) { ok ", Some(&["deleteA"])),
            ("subscription { deleted }", Some(&[])),
            ("mutation { ...F } fragment F on M { ...F a }", Some(&["a"])),
            ("mutation deleteUser docs", None),
            ("how to delete a volume", None),
            ("mutation", None),
            ("", None),
        ];
        for (text, expected) in cases {
            let expected = expected.map(|fields| fields.iter().map(|field| (*field).to_owned()).collect());
            assert_eq!(mutated(text), expected, "{text}");
        }
    }
}
