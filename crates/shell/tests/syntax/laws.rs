//! Laws for every text: no panic, equal trees of equal text, spans inside of each other.

use std::path::PathBuf;

use castellan_shell::syntax::{self, Shell};
use castellan_shell::tree::{
    AssignedValue, Assignment, Node, Operand, Part, Redirect, RedirectKind, Script, Span, Statement, Word,
};
use proptest::prelude::*;

use crate::collected;
use crate::dump;
use crate::generated::{Generator, TOKENS};

pub(crate) const SHELLS: [Shell; 4] = [Shell::Bash, Shell::Zsh, Shell::Posix, Shell::Ksh];

struct Inside<'a>(&'a str);

impl Inside<'_> {
    fn holds(&self, outer: Span, inner: Span) {
        let is_inside = outer.start <= inner.start && inner.start <= inner.end && inner.end <= outer.end;
        assert!(is_inside, "{inner:?} is outside of {outer:?}: {:?}", self.0);
        let text = self.0.get(inner.start as usize..inner.end as usize);
        assert!(text.is_some(), "{inner:?} cuts a character: {:?}", self.0);
    }

    fn script(&self, outer: Span, script: &Script) {
        self.holds(outer, script.span);
        script.statements.iter().for_each(|one| self.statement(script.span, one));
    }

    fn statement(&self, outer: Span, one: &Statement) {
        self.holds(outer, one.span);
        one.redirects.iter().for_each(|redirect| self.redirect(outer, redirect));
        self.node(one.span, &one.node);
    }

    /// The body of a here-document follows the line.
    fn redirect(&self, outer: Span, one: &Redirect) {
        self.holds(outer, one.span);
        let whole = Span { start: 0, end: self.0.len() as u32 };
        self.word(if one.kind == RedirectKind::Heredoc { whole } else { one.span }, &one.target);
    }

    fn node(&self, outer: Span, node: &Node) {
        match node {
            Node::Simple { assignments, words } => {
                assignments.iter().for_each(|one| self.assignment(outer, one));
                words.iter().for_each(|one| self.word(outer, one));
            }
            Node::Declare { assignments, operands, .. } => {
                assignments.iter().for_each(|one| self.assignment(outer, one));
                operands.iter().for_each(|one| match one {
                    Operand::Word(word) => self.word(outer, word),
                    Operand::Assignment(assignment) => self.assignment(outer, assignment),
                });
            }
            Node::Pipe(all) | Node::Chain { all, .. } => {
                all.iter().for_each(|one| self.statement(outer, one))
            }
            Node::Subshell(body) | Node::Group(body) => self.script(outer, body),
            Node::If { branches, otherwise } => {
                let pairs = branches.iter().flat_map(|(condition, body)| [condition, body]);
                pairs.chain(otherwise).for_each(|one| self.script(outer, one));
            }
            Node::For { words, body, .. } => {
                words.iter().flatten().for_each(|one| self.word(outer, one));
                self.script(outer, body);
            }
            Node::ArithmeticFor { body, .. } => self.script(outer, body),
            Node::While { condition, body, .. } => {
                self.script(outer, condition);
                self.script(outer, body);
            }
            Node::Case { word, arms } => {
                self.word(outer, word);
                for (patterns, body) in arms {
                    patterns.iter().for_each(|one| self.word(outer, one));
                    self.script(outer, body);
                }
            }
            Node::Function { body, .. } | Node::Coproc(body) => self.statement(outer, body),
            Node::Time(body) => body.iter().for_each(|one| self.statement(outer, one)),
            Node::Test(words) => words.iter().for_each(|one| self.word(outer, one)),
            Node::Arithmetic(expression) => expression.words.iter().for_each(|one| self.word(outer, one)),
            Node::Hole(hole) => self.holds(outer, hole.span),
        }
    }

    fn assignment(&self, outer: Span, one: &Assignment) {
        self.holds(outer, one.span);
        match &one.value {
            AssignedValue::Scalar(value) => self.word(one.span, value),
            AssignedValue::Array(elements) => {
                elements.iter().for_each(|(_, value)| self.word(one.span, value))
            }
        }
    }

    fn word(&self, outer: Span, word: &Word) {
        self.holds(outer, word.span);
        for part in &word.parts {
            match part {
                Part::Text { .. } => {}
                Part::Parameter { parameter, .. } => self.holds(word.span, parameter.span),
                Part::Command { body, .. } | Part::Process { body, .. } => self.script(word.span, body),
                Part::Arithmetic { expression, .. } => {
                    expression.words.iter().for_each(|one| self.word(word.span, one));
                }
                Part::Hole(hole) => self.holds(word.span, hole.span),
            }
        }
    }
}

fn check(text: &str) {
    for shell in SHELLS {
        let (parsed, work) = syntax::parse(text, shell, usize::MAX);
        let whole = Span { start: 0, end: text.len() as u32 };
        Inside(text).script(whole, &parsed.script);
        parsed.holes.iter().for_each(|hole| Inside(text).holds(whole, hole.span));
        assert!(work <= 40 * text.len() + 1000, "{work} units: {text:?}");
        assert_eq!(parsed, syntax::parse(text, shell, usize::MAX).0);
    }
}

proptest! {
    #[test]
    fn any_text_has_a_tree(text in "\\PC{0,200}") {
        check(&text);
    }

    #[test]
    fn any_tokens_have_a_tree(tokens in prop::collection::vec(prop::sample::select(TOKENS), 0..40)) {
        check(&tokens.concat());
    }
}

/// Texts of the repository that are short enough to be cut everywhere.
pub(crate) fn seeds() -> Vec<String> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let paths = [
        "tests/data",
        "../../fuzz/corpus/shell_parse",
        "../../fuzz/corpus/shell",
        "../../corpus/disguises.txt",
    ];
    let texts = collected::texts(&paths.map(|path| root.join(path))).unwrap_or_default();
    assert!(texts.len() > 100, "{} texts", texts.len());
    texts.into_iter().filter(|text| text.len() <= 300).collect()
}

#[test]
fn every_prefix_has_a_tree() {
    for text in seeds().iter().step_by(7) {
        text.char_indices().for_each(|(at, _)| check(text.split_at(at).0));
    }
}

/// No statement depends on those beside it.
#[test]
fn a_statement_alone_has_the_same_tree() {
    let mut compared = 0;
    for number in 0..2_000 {
        let text = Generator::new(number, &[]).text();
        for shell in SHELLS {
            let whole = syntax::parse(&text, shell, usize::MAX).0.script;
            // The body of a here-document is elsewhere.
            for one in whole
                .statements
                .iter()
                .filter(|one| !matches!(one.node, Node::Hole(_)) && !text.contains("<<"))
            {
                let own = text.get(one.span.start as usize..one.span.end as usize).unwrap_or_default();
                let mut alone = syntax::parse(own, shell, usize::MAX).0.script;
                alone.statements.iter_mut().for_each(|alone| alone.background = one.background);
                let there = Script { statements: vec![one.clone()], span: one.span };
                assert_eq!(dump::script(&alone), dump::script(&there), "{shell:?}: {own:?} of {text:?}");
                compared += 1;
            }
        }
    }
    assert!(compared > 1_500, "{compared} statements");
}

/// The beginning of the line with the first here-document, which may take more of a longer text.
fn open_line(text: &str) -> usize {
    let line = |at: usize| text.split_at(at).0.rfind('\n').map_or(0, |at| at + 1);
    // An escaped newline may be between the signs.
    text.find('<').map_or(text.len(), line)
}

/// The shell runs complete lines before it reads the next one: what it has run does not change.
#[test]
fn further_lines_change_no_statement_before_them() {
    let mut compared = 0;
    for pair in seeds().chunks(2) {
        let text = pair.join("\n");
        for shell in SHELLS {
            let whole = syntax::parse(&text, shell, usize::MAX).0.script.statements;
            for (at, _) in text.match_indices('\n') {
                let prefix = text.split_at(at + 1).0;
                if prefix.ends_with("\\\n") {
                    continue;
                }
                let parsed = syntax::parse(prefix, shell, usize::MAX).0.script.statements;
                let certain = open_line(prefix);
                let is_certain =
                    |one: &&Statement| !matches!(one.node, Node::Hole(_)) && one.span.end as usize <= certain;
                let mut parsed: Vec<&Statement> = parsed.iter().take_while(is_certain).collect();
                // zsh takes the end of the text for the end of any list.
                parsed.truncate(parsed.len().saturating_sub(usize::from(shell == Shell::Zsh)));
                let same = whole.iter().take(parsed.len());
                // A line that is an error only with the next one is no complete line.
                let is_hole = |one: &Statement| matches!(one.node, Node::Hole(_));
                assert!(
                    parsed.iter().zip(same).all(|(one, other)| *one == other || is_hole(other)),
                    "{shell:?}: {prefix:?} of {text:?}"
                );
                compared += parsed.len();
            }
        }
    }
    assert!(compared > 1_000, "{compared} statements");
}

/// Replaces characters by others that mean something.
#[test]
fn changed_texts_have_a_tree() {
    let signs = ["'", "\"", "`", "$", "(", ")", "{", "}", "\\", "\n", "<<", ";", "é"];
    for (number, text) in seeds().iter().enumerate() {
        let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        for (step, sign) in signs.iter().enumerate() {
            let Some(at) = places.get((number * 31 + step * 17) % places.len().max(1)) else { continue };
            let (before, after) = text.split_at(*at);
            check(&format!("{before}{sign}{}", after.chars().skip(1).collect::<String>()));
        }
    }
}
