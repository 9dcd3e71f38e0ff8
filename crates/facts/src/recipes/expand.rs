//! Expansion of a makefile's text, by the GNU make 4.3 manual: `$(NAME)`, `${NAME}`, `$x`, `$$`, and text functions. A
//! part that is not computed becomes a shell variable with an unknown value; the output of `$(shell ...)`, one that its
//! code sets ([`super::unquote`]). Must not know files: `$(wildcard ...)` expands to its pattern.

mod functions;

use std::cmp::Ordering;

use castellan_event::Why;

use super::UNKNOWN;
use super::unquote;
use super::variable::Variable;
use crate::limits::{MAKE_BYTES_MAX, MAKE_DEPTH_MAX, MAKE_HOLES_MAX};

/// Bytes of a text that cost one step.
const BYTES_PER_STEP: usize = 64;

/// Steps for a command that make runs itself: it is compared with those found before.
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

/// Functions with side effects.
const ACTS: &[&str] = &["eval", "file", "guile"];

/// Functions that only print a message, or end make.
const SAYS: &[&str] = &["error", "info", "warning"];

/// Characters with which a value becomes further commands in a recipe.
const SIGNS: &[char] = &[';', '&', '|', '`', '<', '>', '\n'];

/// Input of an expansion.
pub(super) struct Given<'v> {
    pub(super) value: &'v dyn Fn(&str) -> Option<Variable>,
    /// The directory in which make runs.
    pub(super) directory: &'v str,
    /// The index of the used value, for names with several possible values. `None`: such names are unknown.
    pub(super) picks: Option<&'v [(String, usize)]>,
}

/// The expanded text, and data found during the expansion.
pub(super) struct Expansion<'v> {
    given: Given<'v>,
    pub(super) text: String,
    /// Code that make runs, including the `$(shell ...)` of this text; the index identifies it.
    pub(super) code: Vec<String>,
    /// Parts that are not expanded, with the reason.
    pub(super) holes: Vec<(Why, String)>,
    /// Names with several possible values and without a pick, with the number of values; the first was used.
    pub(super) asked: Vec<(String, usize)>,
    /// The text names a variable that the makefile does not set; the environment may set it.
    pub(super) has_unset: bool,
    /// Remaining steps.
    pub(super) steps: usize,
    depth: usize,
    /// Inside a function that is not computed, an unset variable may be an argument.
    in_function: bool,
    /// Variables of the enclosing functions, the innermost last; their values are expanded.
    bound: Vec<(String, String)>,
}

/// Expands a text, in at most so many steps. `code`: the code that make runs, as far as it was found.
pub(super) fn expand<'v>(text: &str, given: Given<'v>, code: Vec<String>, steps: usize) -> Expansion<'v> {
    let mut expansion = Expansion {
        given,
        text: String::new(),
        code,
        holes: Vec::new(),
        asked: Vec::new(),
        has_unset: false,
        steps,
        depth: 0,
        in_function: false,
        bound: Vec::new(),
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
            return self.shell(name, arguments);
        }
        if ACTS.contains(&function) && !arguments.is_empty() {
            self.aside(arguments, self.in_function);
            return self.leave_out(Why::Language, name);
        }
        if is_plain(name) {
            return self.variable(name);
        }
        if SAYS.contains(&function) {
            self.aside(arguments, self.in_function);
            return;
        }
        if self.function(function, arguments) || self.substituted(name) {
            return;
        }
        // A function that is not computed, or a computed name: code in it runs.
        let made = self.aside(name, true);
        if arguments.is_empty() && is_plain(&made) && !made.contains(UNKNOWN) {
            return self.variable(&made);
        }
        let called = match function {
            "call" => arguments.split(',').next(),
            _ if arguments.is_empty() => name.split(':').next(),
            _ => None,
        };
        if let Some(body) = called.and_then(|name| (self.given.value)(name.trim())) {
            self.aside(&body.value, true);
        }
        if called.is_some_and(|name| name.contains('$')) {
            self.leave_out(Why::Dynamic, name);
        }
        self.unknown();
    }

    /// Expands `$(shell ...)`: the index of its code represents its output.
    fn shell(&mut self, name: &str, arguments: &str) {
        let code = self.aside(arguments, self.in_function);
        if !self.spend(STEPS_OF_CODE) {
            self.leave_out(Why::Budget, name);
            return self.unknown();
        }
        let at = self.code.iter().position(|one| *one == code).unwrap_or(self.code.len());
        if at == self.code.len() {
            self.code.push(code);
        }
        self.text.push_str(&unquote::output(at));
    }

    /// Expands `$(NAME:a=b)`.
    fn substituted(&mut self, name: &str) -> bool {
        let parts = name.split_once(':').and_then(|(name, rest)| Some((name, rest.split_once('=')?)));
        let Some((name, (from, to))) = parts.filter(|(name, _)| is_plain(name)) else { return false };
        let before = std::mem::take(&mut self.text);
        self.variable(name);
        let words = std::mem::replace(&mut self.text, before);
        let (from, to) = (self.aside(from, self.in_function), self.aside(to, self.in_function));
        let made = match from.contains('%') {
            true => functions::patsubst(&[from, to, words]),
            false => functions::patsubst(&[format!("%{from}"), format!("%{to}"), words]),
        };
        self.text.push_str(&made);
        true
    }

    fn variable(&mut self, name: &str) {
        if let Some((_, value)) = self.bound.iter().rev().find(|(one, _)| one == name) {
            let value = value.clone();
            return self.text.push_str(&value);
        }
        let Some(variable) = (self.given.value)(name) else {
            let built_in = BUILT_IN.iter().find(|(one, _)| *one == name);
            self.has_unset |= built_in.is_none();
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
        if !variable.is_unsure {
            return self.add(&variable.value);
        }
        if let Some(value) = self.pick(name, variable.choices.len()).and_then(|at| variable.choices.get(at)) {
            return self.add(value);
        }
        // The value becomes part of the recipe's text, where these characters start further commands.
        if self.aside(&variable.value, self.in_function).contains(SIGNS) {
            self.leave_out(Why::Dynamic, name);
        }
        self.unknown();
    }

    /// Returns the index of the used value among so many possible values.
    fn pick(&mut self, what: &str, number: usize) -> Option<usize> {
        let picks = self.given.picks.filter(|_| number > 0)?;
        if let Some((_, at)) = picks.iter().find(|(one, _)| one == what) {
            return Some(*at);
        }
        if !self.asked.iter().any(|(one, _)| one == what) {
            self.asked.push((what.to_owned(), number));
        }
        Some(0)
    }

    /// Expands a text separately, and returns it.
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
        if !self.holes.contains(&hole) {
            leave_out(hole, &mut self.holes, MAKE_HOLES_MAX);
        }
    }

    fn unknown(&mut self) {
        self.text.push_str(&unquote::unknown());
    }
}

/// Adds a part that is not expanded. The parts above the limit are one more part, whose reason is the limit.
pub(super) fn leave_out(hole: (Why, String), holes: &mut Vec<(Why, String)>, most: usize) {
    match holes.len().cmp(&most) {
        Ordering::Less => holes.push(hole),
        Ordering::Equal => holes.push((Why::Budget, "...".to_owned())),
        Ordering::Greater => {}
    }
}

/// Returns true if the text is a variable's name and nothing else.
fn is_plain(name: &str) -> bool {
    !name.contains([' ', '\t', '$', ':', ',', '('])
}

/// Returns the name after a `$`, and the text after it.
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
