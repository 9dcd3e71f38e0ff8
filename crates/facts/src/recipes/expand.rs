//! Expansion of a makefile's text: `$(NAME)`, `${NAME}`, `$x`, `$$`. What is not computed becomes a variable of the shell that
//! nothing sets, whose value is not known.

use super::UNKNOWN;
use super::makefile::Variable;

/// Levels of variables in variables; deeper ones go round in circles.
const DEPTH_MAX: usize = 8;

/// Bytes of one expanded text.
const BYTES_MAX: usize = 64 * 1024;

/// Variables that make sets itself.
const BUILT_IN: &[(&str, &str)] = &[
    ("AR", "ar"),
    ("AS", "as"),
    ("CC", "cc"),
    ("CPP", "cc -E"),
    ("CXX", "g++"),
    ("LD", "ld"),
    ("MAKE", "make"),
    ("MAKEFILE_LIST", "Makefile"),
    ("RM", "rm -f"),
    ("SHELL", "/bin/sh"),
];

/// Expands a text. `code` gets what `$(shell ...)` runs.
pub(super) fn expand(text: &str, value: &dyn Fn(&str) -> Option<Variable>, code: &mut Vec<String>) -> String {
    let mut expanded = String::new();
    into(text, value, code, 0, &mut expanded);
    expanded
}

fn into(
    text: &str,
    value: &dyn Fn(&str) -> Option<Variable>,
    code: &mut Vec<String>,
    depth: usize,
    expanded: &mut String,
) {
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        expanded.push_str(before);
        let (name, next) = reference(after);
        rest = next;
        match name {
            "$" => expanded.push('$'),
            _ if expanded.len() > BYTES_MAX || depth >= DEPTH_MAX => unknown(expanded),
            name => named(name, value, code, depth, expanded),
        }
    }
    expanded.push_str(rest);
}

fn named(
    name: &str,
    value: &dyn Fn(&str) -> Option<Variable>,
    code: &mut Vec<String>,
    depth: usize,
    expanded: &mut String,
) {
    if let Some(text) = name.strip_prefix("shell ") {
        let mut inner = String::new();
        into(text, value, code, depth + 1, &mut inner);
        code.push(inner);
        return unknown(expanded);
    }
    let is_plain = !name.contains([' ', '\t', '$', ':', ',', '(']);
    match value(name) {
        Some(variable) if is_plain => {
            if variable.is_unsure {
                unknown(expanded);
            } else {
                into(&variable.value, value, code, depth + 1, expanded);
            }
        }
        _ if is_plain => {
            let built_in = BUILT_IN.iter().find(|(one, _)| *one == name);
            expanded.push_str(built_in.map_or("", |(_, text)| text));
        }
        // A function, a computed name, a substitution: what code it holds runs.
        _ => {
            let mut inner = String::new();
            into(name, value, code, depth + 1, &mut inner);
            unknown(expanded);
        }
    }
}

/// The name after a `$`, and what stands after it.
fn reference(after: &str) -> (&str, &str) {
    let close = match after.chars().next() {
        Some('(') => ')',
        Some('{') => '}',
        Some(one) => return after.split_at(one.len_utf8()),
        None => return ("", ""),
    };
    let open = if close == ')' { '(' } else { '{' };
    let mut level = 0usize;
    for (at, one) in after.char_indices() {
        if one == open {
            level += 1;
        } else if one == close {
            level -= 1;
        }
        if level == 0 {
            return (after.get(1..at).unwrap_or_default(), after.get(at + 1..).unwrap_or_default());
        }
    }
    (after.get(1..).unwrap_or_default(), "")
}

fn unknown(expanded: &mut String) {
    expanded.push_str("${");
    expanded.push_str(UNKNOWN);
    expanded.push('}');
}
