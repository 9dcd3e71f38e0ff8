//! Compound commands and functions.

use castellan_event::Why;
use shuck_ast::{ArithmeticForCommand, CaseCommand, CompoundCommand, ConditionalExpr};
use shuck_ast::{ForCommand, FunctionDef, IfCommand};

use super::literal::Place;
use super::{Range, Reader, range};
use crate::tree::{Arithmetic, Node, Word};

impl Reader<'_, '_> {
    pub(super) fn compound(&mut self, compound: &CompoundCommand, own: Range) -> Node {
        match compound {
            CompoundCommand::If(command) => self.conditional(command),
            CompoundCommand::For(command) => self.for_each(command, own),
            CompoundCommand::Select(command) => Node::For {
                name: command.variable.as_str().to_owned(),
                // Without `in` it takes the positional parameters, and the parser gives no words.
                words: (!command.words.is_empty())
                    .then(|| command.words.iter().map(|word| self.word(word)).collect()),
                body: self.sequence(&command.body),
            },
            CompoundCommand::ArithmeticFor(command) => self.arithmetic_for(command),
            CompoundCommand::While(command) => Node::While {
                until: false,
                condition: self.sequence(&command.condition),
                body: self.sequence(&command.body),
            },
            CompoundCommand::Until(command) => Node::While {
                until: true,
                condition: self.sequence(&command.condition),
                body: self.sequence(&command.body),
            },
            CompoundCommand::Case(command) => self.case_of(command),
            CompoundCommand::Subshell(body) => Node::Subshell(self.sequence(body)),
            CompoundCommand::BraceGroup(body) => Node::Group(self.sequence(body)),
            CompoundCommand::Arithmetic(command) => {
                let inner = command.expr_span.map(range);
                Node::Arithmetic(inner.map_or_else(Arithmetic::default, |inner| self.arithmetic(inner)))
            }
            CompoundCommand::Time(command) => {
                Node::Time(command.command.as_deref().map(|inner| Box::new(self.statement(inner))))
            }
            CompoundCommand::Conditional(command) => Node::Test(self.test(&command.expression)),
            CompoundCommand::Coproc(command) => Node::Coproc(Box::new(self.statement(&command.body))),
            // zsh only.
            CompoundCommand::Repeat(_) | CompoundCommand::Foreach(_) | CompoundCommand::Always(_) => {
                Node::Hole(self.hole(Why::Unsupported, own))
            }
        }
    }

    fn conditional(&mut self, command: &IfCommand) -> Node {
        let mut branches = vec![(self.sequence(&command.condition), self.sequence(&command.then_branch))];
        for (condition, body) in &command.elif_branches {
            let branch = (self.sequence(condition), self.sequence(body));
            branches.push(branch);
        }
        let otherwise = command.else_branch.as_ref().map(|body| self.sequence(body));
        Node::If { branches, otherwise }
    }

    fn for_each(&mut self, command: &ForCommand, own: Range) -> Node {
        let [target] = command.targets.as_slice() else {
            return Node::Hole(self.hole(Why::Unsupported, own));
        };
        let Some(name) = target.name.as_ref() else {
            return Node::Hole(self.hole(Why::Syntax, own));
        };
        let words = command.words.as_ref().map(|words| words.iter().map(|word| self.word(word)).collect());
        Node::For { name: name.as_str().to_owned(), words, body: self.sequence(&command.body) }
    }

    fn arithmetic_for(&mut self, command: &ArithmeticForCommand) -> Node {
        let (one, other) = (range(command.first_semicolon_span), range(command.second_semicolon_span));
        Node::ArithmeticFor {
            first: self.arithmetic((range(command.left_paren_span).1, one.0)),
            condition: self.arithmetic((one.1, other.0)),
            step: self.arithmetic((other.1, range(command.right_paren_span).0)),
            body: self.sequence(&command.body),
        }
    }

    fn case_of(&mut self, command: &CaseCommand) -> Node {
        let word = self.word(&command.word);
        let mut arms = Vec::with_capacity(command.cases.len());
        for case in &command.cases {
            let patterns = case.patterns.iter().map(|pattern| self.pattern(pattern, Place::Bare)).collect();
            let body = self.sequence(&case.body);
            arms.push((patterns, body));
        }
        Node::Case { word, arms }
    }

    /// The words of a test from left to right. Its pairs lean to the left as long as the text makes them: no recursion.
    fn test(&mut self, expression: &ConditionalExpr) -> Vec<Word> {
        let mut words = Vec::new();
        let mut ahead = vec![expression];
        while let Some(next) = ahead.pop() {
            match next {
                ConditionalExpr::Binary(pair) => {
                    ahead.push(&pair.right);
                    ahead.push(&pair.left);
                }
                ConditionalExpr::Unary(one) => ahead.push(&one.expr),
                ConditionalExpr::Parenthesized(one) => ahead.push(&one.expr),
                ConditionalExpr::Word(word) => words.push(self.word(word)),
                ConditionalExpr::Regex(word) => words.push(self.word_at(word, Place::Inner)),
                ConditionalExpr::Pattern(pattern) => words.push(self.pattern(pattern, Place::Bare)),
                ConditionalExpr::VarRef(reference) => words.push(self.name(reference)),
            }
        }
        words
    }

    pub(super) fn function(&mut self, function: &FunctionDef) -> Node {
        let name = match function.header.entries.as_slice() {
            [entry] => entry.static_name.as_ref().map(|name| name.as_str().to_owned()),
            _ => None,
        };
        Node::Function { name, body: Box::new(self.statement(&function.body)) }
    }
}
