//! Conditions as text, in two styles. Falco's style, as `falco -L` shows it under `condition_compiled`: lists and
//! macros expanded, one pair of parentheses for each chain, hardly any quotes; it cannot always be parsed again. The
//! readable style parses to the same tree. Distinct trees have distinct texts, so this text serves as a key.

use std::rc::Rc;

use crate::ast::{Argument, Check, Expr, Operand, OperandKind, Right, Word};
use crate::lex::is_bare_string;

/// Prints a condition like Falco.
pub(crate) fn condition(expr: &Expr) -> String {
    print(Style::Falco, |printer| printer.expr(expr))
}

/// Prints a condition in the readable style.
pub(crate) fn readable(expr: &Expr) -> String {
    print(Style::Readable, |printer| printer.expr(expr))
}

/// Prints one comparison in the readable style.
pub(crate) fn check(check: &Check) -> String {
    print(Style::Readable, |printer| printer.check(check))
}

/// Prints a field or transformed field in the readable style.
pub(crate) fn operand(operand: &Operand) -> String {
    print(Style::Readable, |printer| printer.operand(operand))
}

/// Prints a field as in outputs and Falco's descriptions: its argument is never quoted.
pub(crate) fn field(field: &Operand) -> String {
    print(Style::Falco, |printer| printer.operand(field))
}

fn print(style: Style, write: impl FnOnce(&mut Printer)) -> String {
    let mut printer = Printer { style, out: String::new() };
    write(&mut printer);
    printer.out
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    /// Exactly as Falco 0.43: an empty string is printed as nothing, a list's items mostly without quotes.
    Falco,
    Readable,
}

struct Printer {
    style: Style,
    out: String,
}

impl Printer {
    fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::And(all) => self.chain(all, " and "),
            Expr::Or(all) => self.chain(all, " or "),
            Expr::Not(inner) => {
                self.out.push_str("not ");
                // The parser would fold `not not`.
                let parenthesis = self.style == Style::Readable && matches!(**inner, Expr::Not(_));
                self.out.push_str(if parenthesis { "(" } else { "" });
                self.expr(inner);
                self.out.push_str(if parenthesis { ")" } else { "" });
            }
            Expr::Macro(name) => self.out.push_str(&name.text),
            Expr::Check(check) => self.check(check),
        }
    }

    fn chain(&mut self, all: &[Rc<Expr>], word: &str) {
        self.out.push('(');
        for (index, expr) in all.iter().enumerate() {
            self.out.push_str(if index > 0 { word } else { "" });
            self.expr(expr);
        }
        self.out.push(')');
    }

    fn check(&mut self, check: &Check) {
        self.operand(&check.left);
        self.out.push(' ');
        self.out.push_str(check.op.as_str());
        match &check.right {
            Right::Nothing => {}
            Right::Value(word) => {
                self.out.push(' ');
                self.value(word);
            }
            Right::List(words) => {
                self.out.push(' ');
                self.list(words);
            }
            Right::Each(modifier, words) => {
                self.out.push(' ');
                self.out.push_str(modifier.as_str());
                self.out.push(' ');
                self.list(words);
            }
            Right::Val(field) => {
                self.out.push_str(" val(");
                self.operand(field);
                self.out.push(')');
            }
            Right::Transformed(operand) => {
                self.out.push(' ');
                self.operand(operand);
            }
        }
    }

    fn operand(&mut self, operand: &Operand) {
        match &operand.kind {
            OperandKind::Field { name, arg } => {
                self.out.push_str(name);
                if let Some(arg) = arg {
                    self.argument(arg);
                }
            }
            OperandKind::Transformed { by, inner } => {
                self.out.push_str(by.as_str());
                self.out.push('(');
                self.operand(inner);
                self.out.push(')');
            }
            OperandKind::Function { by, args, option } => {
                self.out.push_str(by.as_str());
                self.out.push('(');
                for (index, arg) in args.iter().enumerate() {
                    self.out.push_str(if index > 0 { ", " } else { "" });
                    match arg {
                        Argument::Operand(operand) => self.operand(operand),
                        Argument::Constant(word) => self.text(&word.text, false),
                        Argument::List(words) => self.list(words),
                    }
                }
                self.out.push(')');
                if let Some(option) = option {
                    self.argument(option);
                }
            }
        }
    }

    /// Prints a field's argument in brackets.
    fn argument(&mut self, arg: &str) {
        let bare = self.style == Style::Falco || !(arg.is_empty() || arg.contains(['"', '\'']));
        self.out.push('[');
        self.text(arg, bare);
        self.out.push(']');
    }

    fn value(&mut self, word: &Word) {
        let empty = self.style == Style::Falco && word.text.is_empty();
        self.text(&word.text, empty || is_bare_string(&word.text));
    }

    fn list(&mut self, words: &[Word]) {
        self.out.push('(');
        for (index, word) in words.iter().enumerate() {
            self.out.push_str(if index > 0 { ", " } else { "" });
            match self.style {
                // Falco quotes only items with blanks, quotes and characters that need an escape.
                Style::Falco => self.text(&word.text, !word.text.contains(is_quoted_in_lists)),
                Style::Readable => self.value(word),
            }
        }
        self.out.push(')');
    }

    fn text(&mut self, text: &str, bare: bool) {
        if bare {
            self.out.push_str(text);
            return;
        }
        self.out.push('"');
        let mut chars = text.chars().peekable();
        while let Some(char) = chars.next() {
            match char {
                '"' => self.out.push_str("\\\""),
                // A quote after a backslash would not end the string; `\ ` is a backslash too.
                '\\' if chars.peek().is_none() && self.style == Style::Readable => self.out.push_str("\\ "),
                '\\' => self.out.push_str("\\\\"),
                '\u{8}' => self.out.push_str("\\b"),
                '\u{c}' => self.out.push_str("\\f"),
                '\n' => self.out.push_str("\\n"),
                '\r' => self.out.push_str("\\r"),
                '\t' => self.out.push_str("\\t"),
                char => self.out.push(char),
            }
        }
        self.out.push('"');
    }
}

fn is_quoted_in_lists(char: char) -> bool {
    matches!(char, ' ' | '\t' | '\n' | '\r' | '\u{8}' | '\u{c}' | '"' | '\'' | '\\')
}
