//! The names of the simple commands in a tree, as written, to compare with a second parser. Must not depend on that
//! parser.

use castellan_shell::tree::{
    Arithmetic, AssignedValue, Assignment, Index, Node, Operand, Operation, Parameter, Part, Redirect,
    Script, Statement, Word,
};
use castellan_shell::{Parsed, Shell, parse};

/// Returns the names in the text, with repetitions, and the Opaque parts.
pub(crate) fn names(text: &str) -> (Vec<&str>, Vec<&str>) {
    let Parsed { script, holes, .. } = parse(text, Shell::Bash);
    let mut names = Names { text, names: Vec::new() };
    names.script(&script);
    let holes = holes.iter().filter_map(|hole| slice(text, hole.span.start, hole.span.end)).collect();
    (names.names, holes)
}

fn slice(text: &str, start: u32, end: u32) -> Option<&str> {
    text.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
}

#[derive(Debug)]
struct Names<'t> {
    text: &'t str,
    names: Vec<&'t str>,
}

impl<'t> Names<'t> {
    fn script(&mut self, script: &Script) {
        self.statements(&script.statements);
    }

    fn statements(&mut self, statements: &[Statement]) {
        statements.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &Statement) {
        statement.redirects.iter().for_each(|redirect: &Redirect| self.word(&redirect.target));
        match &statement.node {
            Node::Simple { assignments, words } => {
                self.assignments(assignments);
                self.names
                    .extend(words.first().and_then(|word| slice(self.text, word.span.start, word.span.end)));
                self.words(words);
            }
            Node::Declare { assignments, builtin, operands } => {
                self.assignments(assignments);
                self.declare(statement, builtin);
                for operand in operands {
                    match operand {
                        Operand::Word(word) => self.word(word),
                        Operand::Assignment(assignment) => self.assignment(assignment),
                    }
                }
            }
            Node::Pipe(statements) | Node::Chain { all: statements, .. } => self.statements(statements),
            Node::Subshell(body) | Node::Group(body) => self.script(body),
            Node::If { branches, otherwise } => {
                for (condition, body) in branches {
                    self.script(condition);
                    self.script(body);
                }
                otherwise.iter().for_each(|body| self.script(body));
            }
            Node::For { words, body, .. } => {
                self.words(words.iter().flatten());
                self.script(body);
            }
            Node::ArithmeticFor { first, condition, step, body } => {
                [first, condition, step].into_iter().for_each(|part| self.arithmetic(part));
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
            Node::Time(body) => body.iter().for_each(|body| self.statement(body)),
            Node::Test(words) => self.words(words),
            Node::Arithmetic(arithmetic) => self.arithmetic(arithmetic),
            Node::Hole(_) => {}
        }
    }

    /// The tree has no place for the name of a declaration, so the name is searched for in the statement.
    fn declare(&mut self, statement: &Statement, builtin: &str) {
        let whole = slice(self.text, statement.span.start, statement.span.end).unwrap_or_default();
        self.names.extend(whole.find(builtin).and_then(|at| whole.get(at..at + builtin.len())));
    }

    fn words<'w>(&mut self, words: impl IntoIterator<Item = &'w Word>) {
        words.into_iter().for_each(|word| self.word(word));
    }

    fn word(&mut self, word: &Word) {
        for part in &word.parts {
            match part {
                Part::Text { .. } | Part::Hole(_) => {}
                Part::Parameter { parameter, .. } => self.parameter(parameter),
                Part::Command { body, .. } | Part::Process { body, .. } => self.script(body),
                Part::Arithmetic { expression, .. } => self.arithmetic(expression),
            }
        }
    }

    fn parameter(&mut self, parameter: &Parameter) {
        if let Some(Index::At(word)) = &parameter.index {
            self.word(word);
        }
        match &parameter.operation {
            Operation::Value
            | Operation::Length
            | Operation::Keys
            | Operation::Names
            | Operation::Transform(_) => {}
            Operation::Substitute { word, .. } | Operation::Remove { pattern: word, .. } => self.word(word),
            Operation::Replace { pattern, replacement, .. } => {
                self.words(std::iter::once(pattern).chain(replacement));
            }
            Operation::Case { pattern, .. } => self.words(pattern),
            Operation::Slice { offset, length } => self.words(std::iter::once(offset).chain(length)),
        }
    }

    fn arithmetic(&mut self, arithmetic: &Arithmetic) {
        self.words(&arithmetic.words);
    }

    fn assignments(&mut self, assignments: &[Assignment]) {
        assignments.iter().for_each(|assignment| self.assignment(assignment));
    }

    fn assignment(&mut self, assignment: &Assignment) {
        self.words(&assignment.index);
        match &assignment.value {
            AssignedValue::Scalar(word) => self.word(word),
            AssignedValue::Array(elements) => {
                for (index, word) in elements {
                    self.words(index);
                    self.word(word);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let (mut found, holes) = names(text);
        found.sort_unstable();
        assert_eq!((found.as_slice(), holes.len()), (expected, 0), "{text}");
    }

    #[test]
    fn names_are_as_written_wherever_they_stand() {
        check("a=1 \"b\" c; $d", &["\"b\"", "$d"]);
        check("export x=$(a) y", &["a", "export"]);
        check("if a; then b | c && d; else e; fi", &["a", "b", "c", "d", "e"]);
        check("for x in $(a); do b; done; f() { c; }; while d; do e; done", &["a", "b", "c", "d", "e"]);
        check("case $(a) in b) c;; esac; [[ $(d) ]]; ((x[$(e)]))", &["a", "c", "d", "e"]);
        check("a ${x:-$(b)} ${x/$(c)/$(d)} $((1 + $(e))) <(f) > $(g)", &["a", "b", "c", "d", "e", "f", "g"]);
        check("a <<E\n$(b)\nE\nc <<'E'\n$(d)\nE\ne `f`", &["a", "b", "c", "e", "f"]);
        check("x=(`a` [$(b)]=c); coproc d; time e", &["a", "b", "d", "e"]);
        check("a <<-E\n\tx\n\t\t$(b) `c \\`d\\``\n\tE", &["a", "b", "c", "d"]);
        check("((a) && (b)); (( (1) ))", &["a", "b"]);
    }

    #[test]
    fn what_is_not_understood_is_told() {
        let (found, holes) = names("a; b 'c");
        assert!(
            !found.contains(&"b") && holes.iter().any(|hole| hole.contains("b 'c")),
            "{found:?} {holes:?}"
        );
    }
}
