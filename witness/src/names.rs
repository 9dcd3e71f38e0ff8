//! The names of a tree's simple commands, as written, also in substitutions. Must not depend on a name's meaning.

use brush_parser::ParserOptions;
use brush_parser::ast::{
    Assignment, AssignmentName, AssignmentValue, Command, CommandPrefixOrSuffixItem, CompoundCommand,
    CompoundList, ExtendedTestExpr, IoFileRedirectTarget, IoRedirect, Pipeline, SimpleCommand,
    UnexpandedArithmeticExpr, Word,
};

pub(crate) struct Names {
    /// Names as written, in no particular order, with repetitions.
    pub(crate) names: Vec<String>,
    /// Number of words, and texts in words, that the parser could not read.
    pub(crate) unread: usize,
    pub(crate) options: ParserOptions,
}

impl Names {
    pub(crate) fn new(options: ParserOptions) -> Names {
        Names { names: Vec::new(), unread: 0, options }
    }

    pub(crate) fn list(&mut self, list: &CompoundList) {
        for item in &list.0 {
            for (_, pipeline) in &item.0 {
                self.pipeline(pipeline);
            }
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        pipeline.seq.iter().for_each(|command| self.command(command));
    }

    fn command(&mut self, command: &Command) {
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Compound(compound, redirects) => {
                self.compound(compound);
                redirects.iter().flat_map(|list| &list.0).for_each(|redirect| self.redirect(redirect));
            }
            Command::Function(function) => {
                self.compound(&function.body.0);
                let redirects = function.body.1.iter().flat_map(|list| &list.0);
                redirects.for_each(|redirect| self.redirect(redirect));
            }
            Command::ExtendedTest(test, redirects) => {
                self.test(&test.expr);
                redirects.iter().flat_map(|list| &list.0).for_each(|redirect| self.redirect(redirect));
            }
        }
    }

    fn simple(&mut self, simple: &SimpleCommand) {
        if let Some(name) = &simple.word_or_name {
            self.names.push(name.value.clone());
            self.word(&name.value);
        }
        let before = simple.prefix.iter().flat_map(|prefix| &prefix.0);
        before.chain(simple.suffix.iter().flat_map(|suffix| &suffix.0)).for_each(|item| match item {
            CommandPrefixOrSuffixItem::IoRedirect(redirect) => self.redirect(redirect),
            CommandPrefixOrSuffixItem::Word(word) => self.word(&word.value),
            CommandPrefixOrSuffixItem::AssignmentWord(assignment, _) => self.assignment(assignment),
            CommandPrefixOrSuffixItem::ProcessSubstitution(_, body) => self.list(&body.list),
        });
    }

    fn compound(&mut self, compound: &CompoundCommand) {
        match compound {
            CompoundCommand::Arithmetic(arithmetic) => self.arithmetic(&arithmetic.expr),
            CompoundCommand::ArithmeticForClause(clause) => {
                let parts = [&clause.initializer, &clause.condition, &clause.updater];
                parts.into_iter().flatten().for_each(|part| self.arithmetic(part));
                self.list(&clause.body.list);
            }
            CompoundCommand::BraceGroup(group) => self.list(&group.list),
            CompoundCommand::Subshell(subshell) => self.list(&subshell.list),
            CompoundCommand::ForClause(clause) => {
                clause.values.iter().flatten().for_each(|word| self.word(&word.value));
                self.list(&clause.body.list);
            }
            CompoundCommand::CaseClause(clause) => {
                self.word(&clause.value.value);
                for case in &clause.cases {
                    case.patterns.iter().for_each(|pattern| self.word(&pattern.value));
                    case.cmd.iter().for_each(|body| self.list(body));
                }
            }
            CompoundCommand::IfClause(clause) => {
                self.list(&clause.condition);
                self.list(&clause.then);
                for other in clause.elses.iter().flatten() {
                    other.condition.iter().for_each(|condition| self.list(condition));
                    self.list(&other.body);
                }
            }
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.list(&clause.0);
                self.list(&clause.1.list);
            }
            CompoundCommand::Coprocess(coprocess) => self.command(&coprocess.body),
        }
    }

    fn test(&mut self, test: &ExtendedTestExpr) {
        match test {
            ExtendedTestExpr::And(left, right) | ExtendedTestExpr::Or(left, right) => {
                self.test(left);
                self.test(right);
            }
            ExtendedTestExpr::Not(inner) | ExtendedTestExpr::Parenthesized(inner) => self.test(inner),
            ExtendedTestExpr::UnaryTest(_, word) => self.word(&word.value),
            ExtendedTestExpr::BinaryTest(_, left, right) => {
                self.word(&left.value);
                self.word(&right.value);
            }
        }
    }

    fn assignment(&mut self, assignment: &Assignment) {
        if let AssignmentName::ArrayElementName(_, index) = &assignment.name {
            self.word(index);
        }
        match &assignment.value {
            AssignmentValue::Scalar(word) => self.word(&word.value),
            AssignmentValue::Array(elements) => {
                let words = elements.iter().flat_map(|(index, word)| index.iter().chain([word]));
                words.for_each(|word: &Word| self.word(&word.value));
            }
        }
    }

    fn redirect(&mut self, redirect: &IoRedirect) {
        match redirect {
            IoRedirect::File(_, _, target) => match target {
                IoFileRedirectTarget::Filename(word) | IoFileRedirectTarget::Duplicate(word) => {
                    self.word(&word.value)
                }
                IoFileRedirectTarget::Fd(_) => {}
                IoFileRedirectTarget::ProcessSubstitution(_, body) => self.list(&body.list),
            },
            IoRedirect::HereDocument(_, document) => {
                if document.requires_expansion {
                    self.heredoc(&document.doc.value);
                }
            }
            IoRedirect::HereString(_, word) | IoRedirect::OutputAndError(word, _) => self.word(&word.value),
        }
    }

    pub(crate) fn arithmetic(&mut self, expression: &UnexpandedArithmeticExpr) {
        self.word(&expression.value);
    }
}
