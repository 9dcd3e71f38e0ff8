//! Expansion of a makefile's text: `$(NAME)`, `${NAME}`, `$x`, `$$`. What is not computed becomes a variable of the shell that
//! nothing sets, whose value is not known; the code that make itself would run in it is kept.

use castellan_event::Why;

use super::UNKNOWN;
use super::makefile::Variable;
use crate::limits::{MAKE_BYTES_MAX, MAKE_DEPTH_MAX, MAKE_HOLES_MAX};

/// Bytes of a text that cost one step.
const BYTES_PER_STEP: usize = 64;

/// Steps that a command costs which make runs itself: it is compared with those found before.
const STEPS_OF_CODE: usize = 10;

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

/// Functions that do something besides making text.
const ACTS: &[&str] = &["eval", "file", "guile"];

/// Signs by which a value becomes further commands when it is put into a recipe.
const SIGNS: &[char] = &[';', '&', '|', '`', '<', '>', '\n'];

/// The text that is made, and what is found on the way.
pub(super) struct Expansion<'v> {
    value: &'v dyn Fn(&str) -> Option<Variable>,
    /// The text.
    pub(super) text: String,
    /// What `$(shell ...)` runs.
    pub(super) code: Vec<String>,
    /// What was left out, and why.
    pub(super) holes: Vec<(Why, String)>,
    /// Steps that are left.
    pub(super) steps: usize,
    depth: usize,
    /// Within a function, variables stand for what it is given.
    in_function: bool,
}

/// Expands a text, in so many steps at most.
pub(super) fn expand<'v>(
    text: &str,
    value: &'v dyn Fn(&str) -> Option<Variable>,
    steps: usize,
) -> Expansion<'v> {
    let mut expansion = Expansion {
        value,
        text: String::new(),
        code: Vec::new(),
        holes: Vec::new(),
        steps,
        depth: 0,
        in_function: false,
    };
    expansion.add(text);
    expansion
}

impl Expansion<'_> {
    fn add(&mut self, text: &str) {
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('$') {
            self.text.push_str(before);
            let (name, next) = reference(after);
            rest = next;
            if name == "$" {
                self.text.push('$');
            } else if self.depth >= MAKE_DEPTH_MAX
                || self.text.len() > MAKE_BYTES_MAX
                || !self.spend(1 + name.len() / BYTES_PER_STEP)
            {
                self.leave_out(Why::Budget, name);
                self.unknown();
            } else {
                self.depth += 1;
                self.named(name);
                self.depth -= 1;
            }
        }
        self.text.push_str(rest);
    }

    fn named(&mut self, name: &str) {
        let (function, arguments) = name.split_once([' ', '\t']).unwrap_or((name, ""));
        if function == "shell" {
            let code = self.aside(arguments, self.in_function);
            if self.spend(STEPS_OF_CODE) {
                self.code.push(code);
            } else {
                self.leave_out(Why::Budget, name);
            }
            return self.unknown();
        }
        if ACTS.contains(&function) && !arguments.is_empty() {
            self.aside(arguments, self.in_function);
            return self.leave_out(Why::Language, name);
        }
        if is_plain(name) {
            return self.variable(name);
        }
        // A function, a computed name, a substitution: what code it holds runs.
        let made = self.aside(name, true);
        if arguments.is_empty() && is_plain(&made) && !made.contains(UNKNOWN) {
            return self.variable(&made);
        }
        let called = match function {
            "call" => arguments.split(',').next(),
            _ if arguments.is_empty() => name.split(':').next(),
            _ => None,
        };
        if let Some(body) = called.and_then(|name| (self.value)(name.trim())) {
            self.aside(&body.value, true);
        }
        if called.is_some_and(|name| name.contains('$')) {
            self.leave_out(Why::Dynamic, name);
        }
        self.unknown();
    }

    fn variable(&mut self, name: &str) {
        let Some(variable) = (self.value)(name) else {
            let built_in = BUILT_IN.iter().find(|(one, _)| *one == name);
            match built_in {
                Some((_, text)) => self.text.push_str(text),
                None if self.in_function => self.unknown(),
                None => {}
            }
            return;
        };
        if !self.spend(variable.value.len() / BYTES_PER_STEP) {
            self.leave_out(Why::Budget, name);
            return self.unknown();
        }
        if variable.is_unsure {
            // It becomes part of the recipe's text: with such signs of more than the one command.
            if self.aside(&variable.value, self.in_function).contains(SIGNS) {
                self.leave_out(Why::Dynamic, name);
            }
            return self.unknown();
        }
        self.add(&variable.value);
    }

    /// Expands a text of which only the code counts, and returns it.
    fn aside(&mut self, text: &str, in_function: bool) -> String {
        let before = (std::mem::take(&mut self.text), self.in_function);
        self.in_function = in_function;
        self.add(text);
        let made = std::mem::replace(&mut self.text, before.0);
        self.in_function = before.1;
        made
    }

    fn spend(&mut self, steps: usize) -> bool {
        let left = self.steps.checked_sub(steps);
        self.steps = left.unwrap_or_default();
        left.is_some()
    }

    fn leave_out(&mut self, why: Why, what: &str) {
        let hole = (why, format!("$({what})"));
        if !self.holes.contains(&hole) && self.holes.len() < MAKE_HOLES_MAX {
            self.holes.push(hole);
        }
    }

    fn unknown(&mut self) {
        self.text.push_str("${");
        self.text.push_str(UNKNOWN);
        self.text.push('}');
    }
}

/// Whether it is a variable's name and nothing else.
fn is_plain(name: &str) -> bool {
    !name.contains([' ', '\t', '$', ':', ',', '('])
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
