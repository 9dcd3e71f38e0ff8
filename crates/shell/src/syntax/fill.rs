//! Puts the bodies of here-documents into the tree. This module must not know how they are read.
//!
//! A body follows the line of its redirect. When the parser reads it, the redirect is somewhere in the statements of
//! that line. Each text does this once, at its end, if it has here-documents.

use super::cursor::Parser;
use crate::tree::{
    Arithmetic, AssignedValue, Assignment, Index, Node, Operand, Operation, Parameter, Part, Redirect,
    RedirectKind, Script, Statement, Word,
};

impl Parser<'_, '_> {
    pub(super) fn fill(&mut self, statements: &mut [Statement]) {
        if let Some(mut filler) = self.filler() {
            statements.iter_mut().for_each(|one| filler.statement(one));
        }
    }

    pub(super) fn fill_parts(&mut self, parts: &mut [Part]) {
        if let Some(mut filler) = self.filler() {
            parts.iter_mut().for_each(|one| filler.part(one));
        }
    }

    fn filler(&mut self) -> Option<Filler> {
        let mut bodies = std::mem::take(&mut self.heredocs.bodies);
        bodies.sort_by_key(|(redirect, _)| *redirect);
        (!bodies.is_empty()).then_some(Filler { bodies })
    }
}

/// Bodies by the offset of their redirect.
struct Filler {
    bodies: Vec<(u32, Word)>,
}

impl Filler {
    fn script(&mut self, script: &mut Script) {
        script.statements.iter_mut().for_each(|one| self.statement(one));
    }

    fn statement(&mut self, statement: &mut Statement) {
        self.node(&mut statement.node);
        statement.redirects.iter_mut().for_each(|one| self.redirect(one));
    }

    fn redirect(&mut self, redirect: &mut Redirect) {
        if redirect.kind != RedirectKind::Heredoc {
            return self.word(&mut redirect.target);
        }
        let found = self.bodies.binary_search_by_key(&redirect.span.start, |(offset, _)| *offset);
        if let Some((_, body)) = found.ok().and_then(|at| self.bodies.get_mut(at)) {
            redirect.target = std::mem::take(body);
        }
    }

    fn node(&mut self, node: &mut Node) {
        match node {
            Node::Simple { assignments, words } => {
                assignments.iter_mut().for_each(|one| self.assignment(one));
                self.words(words);
            }
            Node::Declare { assignments, operands, .. } => {
                assignments.iter_mut().for_each(|one| self.assignment(one));
                operands.iter_mut().for_each(|one| match one {
                    Operand::Word(word) => self.word(word),
                    Operand::Assignment(assignment) => self.assignment(assignment),
                });
            }
            Node::Pipe(all) | Node::Chain { all, .. } => all.iter_mut().for_each(|one| self.statement(one)),
            Node::Subshell(body) | Node::Group(body) => self.script(body),
            Node::If { branches, otherwise } => {
                for (condition, body) in branches {
                    self.script(condition);
                    self.script(body);
                }
                otherwise.iter_mut().for_each(|body| self.script(body));
            }
            Node::For { words, body, .. } => {
                words.iter_mut().for_each(|words| self.words(words));
                self.script(body);
            }
            Node::ArithmeticFor { first, condition, step, body } => {
                [first, condition, step].into_iter().for_each(|one| self.arithmetic(one));
                self.script(body);
            }
            Node::While { condition, body, .. } => {
                self.script(condition);
                self.script(body);
            }
            Node::Case { word, arms } => {
                self.word(word);
                for (patterns, body) in arms {
                    self.words(patterns);
                    self.script(body);
                }
            }
            Node::Function { body, .. } | Node::Coproc(body) => self.statement(body),
            Node::Time(body) => body.iter_mut().for_each(|body| self.statement(body)),
            Node::Test(words) => self.words(words),
            Node::Arithmetic(expression) => self.arithmetic(expression),
            Node::Hole(_) => {}
        }
    }

    fn assignment(&mut self, assignment: &mut Assignment) {
        assignment.index.iter_mut().for_each(|index| self.word(index));
        match &mut assignment.value {
            AssignedValue::Scalar(value) => self.word(value),
            AssignedValue::Array(elements) => {
                for (index, value) in elements {
                    index.iter_mut().for_each(|index| self.word(index));
                    self.word(value);
                }
            }
        }
    }

    fn words(&mut self, words: &mut [Word]) {
        words.iter_mut().for_each(|word| self.word(word));
    }

    fn word(&mut self, word: &mut Word) {
        word.parts.iter_mut().for_each(|part| self.part(part));
    }

    fn part(&mut self, part: &mut Part) {
        match part {
            Part::Text { .. } | Part::Hole(_) => {}
            Part::Parameter { parameter, .. } => self.parameter(parameter),
            Part::Command { body, .. } | Part::Process { body, .. } => self.script(body),
            Part::Arithmetic { expression, .. } => self.arithmetic(expression),
        }
    }

    fn arithmetic(&mut self, expression: &mut Arithmetic) {
        self.words(&mut expression.words);
    }

    fn parameter(&mut self, parameter: &mut Parameter) {
        if let Some(Index::At(index)) = &mut parameter.index {
            self.word(index);
        }
        if let Some(zsh) = &mut parameter.zsh {
            zsh.nested.iter_mut().chain(&mut zsh.operation).for_each(|word| self.word(word));
        }
        match &mut parameter.operation {
            Operation::Value
            | Operation::Length
            | Operation::Keys
            | Operation::Names
            | Operation::Transform(_) => {}
            Operation::Substitute { word, .. } => self.word(word),
            Operation::Remove { pattern, .. } => self.word(pattern),
            Operation::Replace { pattern, replacement, .. } => {
                self.word(pattern);
                replacement.iter_mut().for_each(|word| self.word(word));
            }
            Operation::Case { pattern, .. } => pattern.iter_mut().for_each(|word| self.word(word)),
            Operation::Slice { offset, length } => {
                self.word(offset);
                length.iter_mut().for_each(|word| self.word(word));
            }
        }
    }
}
