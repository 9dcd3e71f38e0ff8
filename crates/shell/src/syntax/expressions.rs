//! The structure of an expression (bash 6.5, zshmisc "ARITHMETIC EVALUATION"), from the parts of its text. This module
//! must not know how the parts are read, nor values.
//!
//! An expansion is an operand. Beside a digit or a letter, its value would change the token: then nothing is read.

use crate::limits::ARITHMETIC_DEPTH_MAX;
use crate::tree::{Expression, Part, Variable};

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Number(String),
    Name(String),
    Sign(&'static str),
    /// The number of an expansion.
    Expansion(usize),
}

/// Signs, longer ones first.
const SIGNS: &[&str] = &[
    "<<=", ">>=", "**=", "&&=", "||=", "^^=", "&&", "||", "^^", "**", "<<", ">>", "<=", ">=", "==", "!=",
    "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "+", "-", "*", "/", "%", "<", ">", "=", "!",
    "~", "&", "|", "^", "?", ":", ",", "(", ")", "[", "]",
];

const ASSIGNMENTS: &[&str] =
    &["=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^=", "**=", "&&=", "||=", "^^="];

/// Operators between two operands, by precedence from low to high.
const LEVELS: &[&[&str]] = &[
    &["||", "^^"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
    &["**"],
];

/// Returns the structure of an expression.
pub(super) fn read(parts: &[Part]) -> Option<Expression> {
    let tokens = tokens(parts)?;
    let mut reader = Reader { tokens: &tokens, at: 0, depth: 0 };
    if tokens.is_empty() {
        return Some(Expression::List(Vec::new()));
    }
    let tree = reader.list()?;
    (reader.at == tokens.len()).then_some(tree)
}

fn tokens(parts: &[Part]) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut expansions = 0;
    for part in parts {
        match part {
            Part::Text { text, .. } => split(text, &mut tokens)?,
            Part::Hole(_) => return None,
            Part::Parameter { .. }
            | Part::Command { .. }
            | Part::Process { .. }
            | Part::Arithmetic { .. } => {
                tokens.push(Token::Expansion(expansions));
                expansions += 1;
            }
        }
    }
    Some(tokens)
}

/// Splits text into tokens; nothing if there is another character.
fn split(text: &str, tokens: &mut Vec<Token>) -> Option<()> {
    let mut rest = text;
    loop {
        // The shell removes double quotes.
        rest = rest.trim_start_matches([' ', '\t', '\n', '"']);
        let Some(first) = rest.chars().next() else { return Some(()) };
        let length = if first.is_ascii_digit() {
            let is_digit = |one: char| one.is_ascii_alphanumeric() || matches!(one, '_' | '@' | '#' | '.');
            let length = rest.find(|one| !is_digit(one)).unwrap_or(rest.len());
            tokens.push(Token::Number(rest.get(..length)?.to_owned()));
            length
        } else if first == '_' || first.is_ascii_alphabetic() {
            let is_letter = |one: char| one == '_' || one.is_ascii_alphanumeric();
            let length = rest.find(|one| !is_letter(one)).unwrap_or(rest.len());
            tokens.push(Token::Name(rest.get(..length)?.to_owned()));
            length
        } else {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign))?;
            tokens.push(Token::Sign(sign));
            sign.len()
        };
        rest = rest.get(length..)?;
    }
}

struct Reader<'t> {
    tokens: &'t [Token],
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    fn sign(&self) -> Option<&'static str> {
        match self.tokens.get(self.at) {
            Some(Token::Sign(sign)) => Some(sign),
            Some(Token::Number(_) | Token::Name(_) | Token::Expansion(_)) | None => None,
        }
    }

    fn eat(&mut self, sign: &str) -> bool {
        let is_next = self.sign() == Some(sign);
        self.at += usize::from(is_next);
        is_next
    }

    fn eat_of(&mut self, signs: &[&str]) -> Option<&'static str> {
        let sign = self.sign().filter(|sign| signs.contains(sign))?;
        self.at += 1;
        Some(sign)
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.depth >= ARITHMETIC_DEPTH_MAX {
            return None;
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// `a, b`
    fn list(&mut self) -> Option<Expression> {
        let first = self.assignment()?;
        let mut all = vec![first];
        while self.eat(",") {
            all.push(self.assignment()?);
        }
        if all.len() == 1 { all.pop() } else { Some(Expression::List(all)) }
    }

    /// `a = b ? c : d`
    fn assignment(&mut self) -> Option<Expression> {
        let left = self.chain(0)?;
        if self.eat("?") {
            let yes = self.deeper(Self::list)?;
            if !self.eat(":") {
                return None;
            }
            let no = self.deeper(Self::assignment)?;
            let (condition, yes, no) = (Box::new(left), Box::new(yes), Box::new(no));
            return Some(Expression::Conditional { condition, yes, no });
        }
        let Some(operator) = self.eat_of(ASSIGNMENTS) else { return Some(left) };
        let Expression::Variable(variable) = left else { return None };
        let value = Box::new(self.deeper(Self::assignment)?);
        Some(Expression::Assign { variable, operator, value })
    }

    /// Operators of a precedence and all higher ones.
    fn chain(&mut self, level: usize) -> Option<Expression> {
        let Some(signs) = LEVELS.get(level) else { return self.operand() };
        let first = self.chain(level + 1)?;
        let mut rest = Vec::new();
        while let Some(sign) = self.eat_of(signs) {
            rest.push((sign, self.chain(level + 1)?));
        }
        if rest.is_empty() { Some(first) } else { Some(Expression::Chain { first: Box::new(first), rest }) }
    }

    fn operand(&mut self) -> Option<Expression> {
        if let Some(operator) = self.eat_of(&["++", "--"]) {
            let operand = self.deeper(Self::operand)?;
            let Expression::Variable(variable) = operand else {
                // Before anything but a variable, they are two signs.
                return self.signed(operator, operand);
            };
            return Some(Expression::Step { variable, operator, is_before: true });
        }
        if let Some(operator) = self.eat_of(&["!", "~", "-", "+"]) {
            let operand = Box::new(self.deeper(Self::operand)?);
            return Some(Expression::Unary { operator, operand });
        }
        if self.eat("(") {
            let inner = self.deeper(Self::list)?;
            return self.eat(")").then_some(inner);
        }
        let token = self.tokens.get(self.at)?.clone();
        self.at += 1;
        match token {
            Token::Number(number) => Some(Expression::Number(number)),
            Token::Expansion(number) => Some(Expression::Expansion(number)),
            Token::Name(name) => self.variable(name),
            Token::Sign(_) => None,
        }
    }

    fn signed(&self, operator: &'static str, operand: Expression) -> Option<Expression> {
        let sign = operator.get(..1)?;
        let inner = Expression::Unary { operator: sign, operand: Box::new(operand) };
        Some(Expression::Unary { operator: sign, operand: Box::new(inner) })
    }

    fn variable(&mut self, name: String) -> Option<Expression> {
        let mut index = None;
        if self.eat("[") {
            index = Some(Box::new(self.deeper(Self::list)?));
            if !self.eat("]") {
                return None;
            }
        }
        let variable = Variable { name, index };
        match self.eat_of(&["++", "--"]) {
            Some(operator) => Some(Expression::Step { variable, operator, is_before: false }),
            None => Some(Expression::Variable(variable)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(one: &Expression) -> String {
        let variable = |one: &Variable| match &one.index {
            Some(index) => format!("{}[{}]", one.name, shown(index)),
            None => one.name.clone(),
        };
        match one {
            Expression::Number(text) => text.clone(),
            Expression::Variable(one) => variable(one),
            Expression::Expansion(number) => format!("${number}"),
            Expression::Unary { operator, operand } => format!("{operator}{}", shown(operand)),
            Expression::Chain { first, rest } => {
                let rest: String = rest.iter().map(|(sign, one)| format!("{sign}{}", shown(one))).collect();
                format!("({}{rest})", shown(first))
            }
            Expression::Conditional { condition, yes, no } => {
                format!("({}?{}:{})", shown(condition), shown(yes), shown(no))
            }
            Expression::Assign { variable: one, operator, value } => {
                format!("{{{}{operator}{}}}", variable(one), shown(value))
            }
            Expression::Step { variable: one, operator, .. } => format!("{{{}{operator}}}", variable(one)),
            Expression::List(all) => format!("<{}>", all.iter().map(shown).collect::<Vec<_>>().join(",")),
        }
    }

    /// `$` is an expansion.
    #[test]
    fn expressions_have_a_structure() {
        for (text, expected) in [
            ("1 + 2 * 3 - 4", "(1+(2*3)-4)"),
            ("a = b += 2", "{a={b+=2}}"),
            ("a[b[1] + 1] = 2, c++, --d", "<{a[(b[1]+1)]=2},{c++},{d--}>"),
            ("a ? b : c ? d : e", "(a?b:(c?d:e))"),
            ("!a && (b || -c) ** 2", "(!a&&((b||-c)**2))"),
            ("x = $ + 1", "{x=($0+1)}"),
            ("$ * ($ << 2)", "($0*($1<<2))"),
            ("a[$] = 1", "{a[$0]=1}"),
            ("16#ff == 0x1f", "(16#ff==0x1f)"),
            ("--1 + - - 2", "(--1+--2)"),
            ("\"a\" + 1", "(a+1)"),
            ("", "<>"),
            ("1$", "?"),
            ("$$", "?"),
            ("a b", "?"),
            ("1 = 2", "?"),
            ("(1", "?"),
            ("a['b']", "?"),
            ("1 +", "?"),
        ] {
            let mut parts = Vec::new();
            for (number, piece) in text.split('$').enumerate() {
                if number > 0 {
                    parts.push(Part::Command { body: Default::default(), quoted: true });
                }
                parts.push(Part::Text { text: piece.to_owned(), quoted: true });
            }
            assert_eq!(read(&parts).as_ref().map_or("?".to_owned(), shown), expected, "{text}");
        }
    }

    #[test]
    fn deep_and_long_expressions_have_an_end() {
        let text = |text: String| vec![Part::Text { text, quoted: true }];
        for deep in ["(", "- ", "a[", "a=", "a?", "!"] {
            assert_eq!(read(&text(format!("{}1", deep.repeat(20_000)))), None, "{deep}");
        }
        assert!(read(&text(format!("1{}", "+1*2".repeat(20_000)))).is_some());
    }
}
