//! The canonical print of a condition, as `falco -L` shows it under `condition_compiled`: lists and macros put in, one
//! pair of parentheses for each chain, quotes only where needed. (Falco prints an empty string as nothing; so does this.)

use std::fmt::Write as _;

use crate::ast::{Check, Expr, Operand, OperandKind, Right, Word};
use crate::lex::is_bare_string;

/// Prints a condition.
pub(crate) fn condition(expr: &Expr) -> String {
    let mut out = String::new();
    print(expr, &mut out);
    out
}

/// Prints one comparison.
pub(crate) fn check(check: &Check) -> String {
    let mut out = String::new();
    print_check(check, &mut out);
    out
}

/// Prints a field or transformed field.
pub(crate) fn operand(operand: &Operand) -> String {
    let mut out = String::new();
    print_operand(operand, &mut out);
    out
}

fn print(expr: &Expr, out: &mut String) {
    match expr {
        Expr::And(all) => print_chain(all, " and ", out),
        Expr::Or(all) => print_chain(all, " or ", out),
        Expr::Not(inner) => {
            out.push_str("not ");
            print(inner, out);
        }
        Expr::Macro(name) => out.push_str(&name.text),
        Expr::Check(check) => print_check(check, out),
    }
}

fn print_chain(all: &[std::rc::Rc<Expr>], word: &str, out: &mut String) {
    out.push('(');
    for (index, expr) in all.iter().enumerate() {
        if index > 0 {
            out.push_str(word);
        }
        print(expr, out);
    }
    out.push(')');
}

fn print_check(check: &Check, out: &mut String) {
    print_operand(&check.left, out);
    out.push(' ');
    out.push_str(check.op.as_str());
    match &check.right {
        Right::Nothing => {}
        Right::Value(word) => {
            out.push(' ');
            print_word(word, out);
        }
        Right::List(words) => {
            out.push_str(" (");
            for (index, word) in words.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                print_word(word, out);
            }
            out.push(')');
        }
        Right::Val(field) => {
            out.push_str(" val(");
            print_operand(field, out);
            out.push(')');
        }
        Right::Transformed(operand) => {
            out.push(' ');
            print_operand(operand, out);
        }
    }
}

fn print_operand(operand: &Operand, out: &mut String) {
    match &operand.kind {
        OperandKind::Field { name, arg } => {
            out.push_str(name);
            if let Some(arg) = arg {
                // Writing to a string cannot fail.
                let _ = write!(out, "[{arg}]");
            }
        }
        OperandKind::Transformed { by, inner } => {
            out.push_str(by.as_str());
            out.push('(');
            print_operand(inner, out);
            out.push(')');
        }
    }
}

fn print_word(word: &Word, out: &mut String) {
    if word.text.is_empty() || is_bare_string(&word.text) {
        out.push_str(&word.text);
        return;
    }
    out.push('"');
    for char in word.text.chars() {
        match char {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            char => out.push(char),
        }
    }
    out.push('"');
}
