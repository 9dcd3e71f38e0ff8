//! Simple commands, assignments, declarations, and the names of functions (POSIX 2.9.1, bash "Simple Commands", 3.4).

use castellan_event::Why;

use super::Shell;
use super::Shell::{Bash, Ksh, Posix, Zsh};
use super::context::Context;
use super::cursor::{Parse, Parser};
use super::word::Parts;
use crate::tree::{AssignedValue, Assignment, Node, Operand, Part, Redirect, Statement, Word};

/// Commands whose operands may be assignments, and the shells that have them as such.
const DECLARATIONS: &[(&str, &[Shell])] = &[
    ("declare", &[Bash, Zsh, Ksh]),
    ("enum", &[Ksh]),
    ("export", &[Bash, Zsh, Posix, Ksh]),
    ("float", &[Zsh, Ksh]),
    ("integer", &[Zsh, Ksh]),
    ("local", &[Bash, Zsh, Posix]),
    ("readonly", &[Bash, Zsh, Posix, Ksh]),
    ("typeset", &[Bash, Zsh, Ksh]),
];

/// Returns the name of a declaration, if the word is one.
pub(super) fn declaration(word: &str, shell: Shell) -> Option<&'static str> {
    let found = DECLARATIONS.iter().find(|(name, shells)| *name == word && shells.contains(&shell));
    found.map(|(name, _)| *name)
}

/// The beginning of a simple command that is being read.
#[derive(Debug, Default)]
pub(super) struct Command {
    assignments: Vec<Assignment>,
    words: Vec<Word>,
    operands: Vec<Operand>,
    builtin: Option<&'static str>,
    redirects: Vec<Redirect>,
}

/// An assignment, or a word that only begins like one.
enum Item {
    Assignment(Assignment),
    Word(Word),
}

impl Command {
    fn has_only_redirects(&self) -> bool {
        !self.redirects.is_empty()
            && self.assignments.is_empty()
            && self.words.is_empty()
            && self.builtin.is_none()
    }
}

impl Parser<'_, '_> {
    pub(super) fn simple(&mut self) -> Parse<Statement> {
        self.peek();
        let start = self.at;
        let mut command = Command::default();
        let mut end = start;
        loop {
            self.blanks();
            self.count()?;
            let from = self.at;
            if let Some(redirect) = self.redirect()? {
                command.redirects.push(redirect);
            } else if self.ends_command() || self.ends_before_closer(&command) {
                break;
            } else {
                if self.is_shell(&[Zsh])
                    && command.has_only_redirects()
                    && let Some(read) = self.compound_at()?
                {
                    return self.compound(read, start, command.redirects);
                }
                if let Some(mut statement) = self.function_after(&command, start)? {
                    statement.redirects.extend(command.redirects);
                    return Ok(statement);
                }
                self.item(&mut command)?;
                if self.at == from || self.is_element_descriptor(from) {
                    return Err(Why::Syntax);
                }
            }
            end = self.at;
        }
        if end == start {
            return Err(Why::Syntax);
        }
        let Command { assignments, words, operands, builtin, redirects } = command;
        let node = match builtin {
            Some(builtin) => Node::Declare { assignments, builtin: builtin.to_owned(), operands },
            None => Node::Simple { assignments, words },
        };
        let span = self.source.span(start, end);
        Ok(Statement { node, redirects, background: false, negated: false, span })
    }

    pub(super) fn ends_command(&mut self) -> bool {
        match self.peek() {
            None | Some(b'\n' | b';' | b'|' | b'&' | b')') => true,
            Some(_) => self.closes_braces(),
        }
    }

    /// zsh still knows reserved words after assignments and redirects, and ksh after a process: `do x=() done`,
    /// `do a <(b) done`.
    fn ends_before_closer(&mut self, command: &Command) -> bool {
        let knows_closers = match self.state.shell {
            Zsh => {
                command.words.is_empty()
                    && command.builtin.is_none()
                    && !(command.assignments.is_empty() && command.redirects.is_empty())
            }
            Ksh => {
                let operand = command.operands.last().and_then(|operand| match operand {
                    Operand::Word(word) => Some(word),
                    Operand::Assignment(_) => None,
                });
                let last = operand.or(command.words.last()).and_then(|word| word.parts.last());
                matches!(last, Some(Part::Process { .. }))
            }
            Bash | Posix => false,
        };
        knows_closers && !self.begins_command()
    }

    fn item(&mut self, command: &mut Command) -> Parse<()> {
        if command.builtin.is_some() {
            let operand = match self.assignment_or_word(false)? {
                Item::Assignment(assignment) => Operand::Assignment(assignment),
                Item::Word(word) => Operand::Word(word),
            };
            command.operands.push(operand);
            return Ok(());
        }
        if !command.words.is_empty() {
            let word = self.word(self.argument())?;
            command.words.push(word);
            return Ok(());
        }
        match self.assignment_or_word(true)? {
            Item::Assignment(assignment) => command.assignments.push(assignment),
            Item::Word(word) => {
                let word = self.with_pattern(word)?;
                command.builtin = self.declaration(&word);
                if command.builtin.is_none() {
                    command.words.push(word);
                }
            }
        }
        Ok(())
    }

    /// In zsh, parentheses may follow the first word: `(` without `)` begins a pattern there.
    fn with_pattern(&mut self, word: Word) -> Parse<Word> {
        let is_pattern = self.is_shell(&[Zsh])
            && self.byte(self.at) == Some(b'(')
            && self.second() != Some(b')')
            && !word.parts.is_empty();
        if !is_pattern {
            return Ok(word);
        }
        let start = self.at;
        let mut parts = Parts { parts: word.parts, ..Parts::default() };
        self.parts(Context::Glob, &mut parts)?;
        self.leave_brace(start, &mut parts);
        let mut span = self.span_from(start);
        span.start = word.span.start;
        Ok(Word { parts: parts.parts, span })
    }

    /// Only a plain word is a declaration: `\export` takes no assignments (bash 3.7.1).
    fn declaration(&self, word: &Word) -> Option<&'static str> {
        let [Part::Text { text, quoted: false }] = word.parts.as_slice() else { return None };
        declaration(text, self.state.shell)
    }

    /// Reads `NAME=value` or a word.
    fn assignment_or_word(&mut self, is_first: bool) -> Parse<Item> {
        let context = if is_first { Context::Command } else { self.argument() };
        self.peek();
        let start = self.at;
        if is_first && self.begins_positional_value() {
            return Err(Why::Unsupported);
        }
        let Some(name_end) = self.variable_end(start) else { return self.word(context).map(Item::Word) };
        let is_posix = self.is_shell(&[Posix]);
        let mut parts = Parts::default();
        let (mut index, mut is_field) = (None, false);
        self.at = name_end;
        if self.peek() == Some(b'[') && !is_posix {
            self.at += 1;
            let from = self.at;
            // bash and ksh read the index of the first word up to its `]`, with blanks.
            let blanks = is_first && !self.is_shell(&[Zsh]);
            self.parts(Context::Index { blanks }, &mut parts)?;
            let is_closed = self.peek() == Some(b']');
            if blanks && !is_closed {
                return Err(Why::Syntax);
            }
            let word = Word { parts: std::mem::take(&mut parts.parts), span: self.span_from(from) };
            self.at += usize::from(is_closed);
            is_field = is_closed && self.eats_field();
            if !(is_closed && self.begins_value()) {
                // A word after all: what was read belongs to it.
                parts.push_text(&self.joined_text(start, name_end), false);
                parts.push_text("[", false);
                word.parts.into_iter().for_each(|part| parts.append(part));
                if is_closed {
                    parts.push_text("]", false);
                }
                self.parts(context, &mut parts)?;
                self.leave_brace(start, &mut parts);
                return Ok(Item::Word(Word { parts: parts.parts, span: self.span_from(start) }));
            }
            index = Some(word);
        } else if !self.begins_value() {
            self.at = start;
            return self.word(context).map(Item::Word);
        }
        let name = self.joined_text(start, name_end);
        let append = self.eat("+");
        self.expect("=")?;
        let from = self.at;
        let mut value = self.value(context)?;
        if is_field {
            value = AssignedValue::Scalar(self.unknown(value, from));
        }
        Ok(Item::Assignment(Assignment { name, index, append, value, span: self.span_from(start) }))
    }

    /// Reads the function whose `()` are at the position. Its name is the only word; zsh also takes several or none,
    /// and redirects before.
    fn function_after(&mut self, command: &Command, start: usize) -> Parse<Option<Statement>> {
        let is_zsh = self.is_shell(&[Zsh]);
        let has_names = is_zsh || (command.words.len() == 1 && command.redirects.is_empty());
        let begins = command.assignments.is_empty() && has_names && self.peek() == Some(b'(');
        if !begins || !self.begins_parameters() {
            return Ok(None);
        }
        if command.words.is_empty() {
            let call = self.anonymous(start)?;
            return Ok(Some(self.statement(call, start, false)));
        }
        let names = command.words.iter().filter_map(plain_text).collect();
        self.function_body(names, start).map(Some)
    }
}

/// Returns the text of a word without quotes and expansions.
pub(super) fn plain_text(word: &Word) -> Option<String> {
    match word.parts.as_slice() {
        [Part::Text { text, quoted: false }] => Some(text.clone()),
        _ => None,
    }
}
