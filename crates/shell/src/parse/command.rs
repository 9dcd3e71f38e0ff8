//! Statements: simple commands, declarations, assignments, redirects, pipes and chains.

use castellan_event::Why;
use shuck_ast::{ArrayElem, Assignment as ParsedAssignment, AssignmentValue, BackgroundOperator};
use shuck_ast::{BinaryCommand, BinaryOp, BuiltinCommand, Command, DeclClause, DeclOperand};
use shuck_ast::{HeredocBodyMode, Redirect as ParsedRedirect, RedirectKind as Kind, RedirectTarget};
use shuck_ast::{SimpleCommand, Stmt, StmtTerminator, VarRef, Word as ParsedWord};

use super::literal::Place;
use super::word::is_parameter;
use super::{Range, Reader, range};
use crate::tree::{AssignedValue, Assignment, FdWord, Hole, Index, Node, Operand, Part};
use crate::tree::{Redirect, RedirectKind, Span, Statement, Word};

impl Reader<'_, '_> {
    pub(super) fn statement(&mut self, parsed: &Stmt) -> Statement {
        let own = range(parsed.span);
        let mut redirects = Vec::with_capacity(parsed.redirects.len());
        for redirect in &parsed.redirects {
            let redirect = self.redirect(redirect);
            redirects.extend(redirect);
        }
        let node = self.node(&parsed.command, &parsed.redirects, own);
        let background = matches!(
            parsed.terminator,
            Some(StmtTerminator::Background(
                BackgroundOperator::Plain | BackgroundOperator::Pipe | BackgroundOperator::Bang
            ))
        );
        self.walk.background |= background;
        Statement { node, redirects, background, negated: parsed.negated, span: self.ground.span(own) }
    }

    fn node(&mut self, command: &Command, redirects: &[ParsedRedirect], own: Range) -> Node {
        match command {
            Command::Simple(simple) => self.simple(simple, redirects),
            Command::Builtin(builtin) => self.builtin(builtin),
            Command::Decl(declaration) => self.declaration(declaration),
            Command::Binary(binary) => self.binary(binary),
            Command::Compound(compound) => self.compound(compound, own),
            Command::Function(function) => self.function(function),
            Command::AnonymousFunction(_) => Node::Hole(self.hole(Why::Unsupported, own)),
        }
    }

    fn simple(&mut self, simple: &SimpleCommand, redirects: &[ParsedRedirect]) -> Node {
        let mut assignments = self.assignments(&simple.assignments);
        let mut words = Vec::with_capacity(simple.args.len() + 1);
        let name = range(simple.name.span);
        if name.0 < name.1 {
            words.push(self.word(&simple.name));
        }
        for word in &simple.args {
            words.push(self.word(word));
        }
        one_where_they_touch(&mut words);
        joined_to_assignment(&mut assignments, &mut words);
        let parsed = std::iter::once(&simple.name).chain(&simple.args).map(|word| range(word.span));
        let assigned = simple.assignments.iter().map(|assignment| range(assignment.span));
        let directed = redirects.iter().map(written_at);
        let mut seen: Vec<Range> =
            parsed.chain(assigned).chain(directed).filter(|one| one.0 < one.1).collect();
        seen.sort_unstable();
        if let Some(hole) = self.unseen(&seen) {
            words.push(Word { parts: vec![Part::Hole(hole)], span: hole.span });
        }
        Node::Simple { assignments, words }
    }

    /// Source between the parts of a command that is in none of them.
    fn unseen(&mut self, seen: &[Range]) -> Option<Hole> {
        for pair in seen.windows(2) {
            if let [before, after] = pair
                && before.1 < after.0
            {
                let gap = (before.1, after.0);
                let is_blank = |text: &str| text.bytes().all(|byte| matches!(byte, b' ' | b'\t'));
                let blank = self.ground.slice(gap).is_some_and(|gap| gap.split("\\\n").all(is_blank));
                if !blank {
                    return Some(self.hole(Why::Syntax, gap));
                }
            }
        }
        None
    }

    fn builtin(&mut self, builtin: &BuiltinCommand) -> Node {
        let (name, first, rest, assignments, span) = match builtin {
            BuiltinCommand::Break(one) => ("break", &one.depth, &one.extra_args, &one.assignments, one.span),
            BuiltinCommand::Continue(one) => {
                ("continue", &one.depth, &one.extra_args, &one.assignments, one.span)
            }
            BuiltinCommand::Return(one) => ("return", &one.code, &one.extra_args, &one.assignments, one.span),
            BuiltinCommand::Exit(one) => ("exit", &one.code, &one.extra_args, &one.assignments, one.span),
        };
        let own = range(span);
        let from = assignments.last().map_or(own.0, |last| range(last.span).1);
        let source = self.ground.slice((from, own.1)).unwrap_or_default();
        let place = source.find(name).map_or(own, |at| {
            let start = from + at as u32;
            (start, start + name.len() as u32)
        });
        let assignments = self.assignments(assignments);
        let mut words = vec![Word {
            parts: vec![Part::Text { text: name.to_owned(), quoted: false }],
            span: self.ground.span(place),
        }];
        for word in first.iter().chain(rest) {
            words.push(self.word(word));
        }
        Node::Simple { assignments, words }
    }

    fn declaration(&mut self, declaration: &DeclClause) -> Node {
        let assignments = self.assignments(&declaration.assignments);
        let mut operands = Vec::with_capacity(declaration.operands.len());
        for operand in &declaration.operands {
            let operand = match operand {
                DeclOperand::Flag(word) | DeclOperand::Dynamic(word) => Operand::Word(self.word(word)),
                DeclOperand::Name(reference) => Operand::Word(self.name(reference)),
                DeclOperand::Assignment(assignment) => Operand::Assignment(self.assignment(assignment)),
            };
            match (operands.last_mut(), operand) {
                (Some(Operand::Assignment(before)), Operand::Word(word))
                    if word.span.start == before.span.end =>
                {
                    join_to(before, word);
                }
                (_, operand) => operands.push(operand),
            }
        }
        Node::Declare { assignments, builtin: declaration.variant.as_str().to_owned(), operands }
    }

    /// A variable that is only named: `name`, `name[index]`.
    pub(super) fn name(&mut self, reference: &VarRef) -> Word {
        let own = range(reference.span);
        Word { parts: self.reread_or_text(own), span: self.ground.span(own) }
    }

    fn reread_or_text(&mut self, own: Range) -> Vec<Part> {
        match self.ground.slice(own) {
            Some(source) if is_parameter(source) => {
                vec![Part::Text { text: source.to_owned(), quoted: false }]
            }
            _ => self.reread(own, Place::Bare),
        }
    }

    fn assignments(&mut self, parsed: &[ParsedAssignment]) -> Vec<Assignment> {
        parsed.iter().map(|assignment| self.assignment(assignment)).collect()
    }

    fn assignment(&mut self, parsed: &ParsedAssignment) -> Assignment {
        let span = self.ground.span(range(parsed.span));
        let index = match self.index(&parsed.target, Place::Bare) {
            Some(Index::At(word)) => Some(word),
            Some(Index::Each | Index::Joined) => {
                let hole = self.hole(Why::Syntax, range(parsed.target.span));
                Some(Word { parts: vec![Part::Hole(hole)], span: hole.span })
            }
            None => None,
        };
        let value = match &parsed.value {
            AssignmentValue::Scalar(word) => AssignedValue::Scalar(self.word(word)),
            AssignmentValue::Compound(array) => {
                AssignedValue::Array(array.elements.iter().map(|element| self.element(element)).collect())
            }
        };
        Assignment { name: parsed.target.name.as_str().to_owned(), index, append: parsed.append, value, span }
    }

    fn element(&mut self, element: &ArrayElem) -> (Option<Word>, Word) {
        match element {
            ArrayElem::Sequential(value) => (None, self.word(&value.word)),
            ArrayElem::Keyed { key, value } | ArrayElem::KeyedAppend { key, value } => {
                (Some(self.subscript(key, Place::Bare)), self.word(&value.word))
            }
        }
    }

    fn redirect(&mut self, parsed: &ParsedRedirect) -> Option<Redirect> {
        let own = range(parsed.span);
        let source = self.ground.slice(own).unwrap_or_default();
        if parsed.kind == Kind::DupOutput && source == "&>>" {
            // The parser writes `&>>file` as `>>file 2>&1`; the first of the two stands for both.
            return None;
        }
        let fd = match (&parsed.fd_var, parsed.fd) {
            (Some(name), _) => Some(FdWord::Variable(name.as_str().to_owned())),
            // The parser fills in the usual one.
            (None, Some(number)) if source.starts_with(|first: char| first.is_ascii_digit()) => {
                u32::try_from(number).ok().map(FdWord::Number)
            }
            (None, _) => None,
        };
        let (kind, target) = match &parsed.target {
            RedirectTarget::Word(word) => {
                let place = target_at(word, own, source);
                let target = self.ground.slice(place).unwrap_or_default();
                let kind = kind(parsed.kind, source, fd.is_some(), target);
                let word = if place == range(word.span) {
                    self.word(word)
                } else {
                    Word { parts: self.descriptor(place), span: self.ground.span(place) }
                };
                (kind, word)
            }
            RedirectTarget::Heredoc(heredoc) => {
                let body = range(heredoc.body.span);
                if heredoc.body.mode == HeredocBodyMode::Literal
                    && let Some(long) = self.cut_body(body)
                {
                    let parts = vec![verbatim(self.ground.in_root(long), heredoc.delimiter.strip_tabs)];
                    let span = Span { start: long.0, end: long.1 };
                    let target = Word { parts, span };
                    let span = self.ground.span(written_at(parsed));
                    return Some(Redirect { fd, kind: RedirectKind::Heredoc, target, span });
                }
                let parts = match (heredoc.body.mode, heredoc.delimiter.strip_tabs) {
                    (HeredocBodyMode::Literal, tabs) => vec![self.verbatim(body, tabs)],
                    (HeredocBodyMode::Expanding, true) => self.untabbed(body),
                    (HeredocBodyMode::Expanding, false) => self.body(&heredoc.body.parts, body),
                };
                (RedirectKind::Heredoc, Word { parts, span: self.ground.span(body) })
            }
        };
        Some(Redirect { fd, kind, target, span: self.ground.span(written_at(parsed)) })
    }

    /// The descriptor of `>&1`, which the parser gives no place.
    fn descriptor(&mut self, own: Range) -> Vec<Part> {
        match self.ground.slice(own) {
            Some(text) if is_descriptor(text) => vec![Part::Text { text: text.to_owned(), quoted: false }],
            _ => vec![Part::Hole(self.hole(Why::Syntax, own))],
        }
    }

    fn verbatim(&mut self, own: Range, tabs: bool) -> Part {
        match self.ground.slice(own) {
            Some(source) => verbatim(source, tabs),
            None => Part::Hole(self.hole(Why::Syntax, own)),
        }
    }

    /// Where the body stands of which only the first line was parsed: in the outermost text alone.
    fn cut_body(&mut self, own: Range) -> Option<Range> {
        let bodies = self.walk.bodies.as_mut().filter(|_| self.walk.depth == 0)?;
        bodies.whole(own)
    }

    /// Pipes and chains come as pairs that lean to the left: as long as the text makes them.
    fn binary(&mut self, binary: &BinaryCommand) -> Node {
        let pipe = is_pipe(binary.op);
        let mut pairs = vec![binary];
        while let Some(last) = pairs.last()
            && let Command::Binary(left) = &last.left.command
            && last.left.redirects.is_empty()
            && is_pipe(left.op) == pipe
        {
            pairs.push(left);
        }
        let mut statements = Vec::with_capacity(pairs.len() + 1);
        if let Some(first) = pairs.last() {
            statements.push(self.statement(&first.left));
        }
        for pair in pairs.iter().rev() {
            if let (BinaryOp::PipeAll, Some(before)) = (pair.op, statements.last_mut()) {
                before.redirects.push(self.errors_too(range(pair.op_span)));
            }
            statements.push(self.statement(&pair.right));
        }
        if pipe { Node::Pipe(statements) } else { Node::Chain(statements) }
    }

    /// `|&` is `2>&1 |`.
    fn errors_too(&mut self, own: Range) -> Redirect {
        let span = self.ground.span(own);
        Redirect {
            fd: Some(FdWord::Number(2)),
            kind: RedirectKind::DuplicateOutput,
            target: Word { parts: vec![Part::Text { text: "1".to_owned(), quoted: false }], span },
            span,
        }
    }
}

/// `]a`: the parser makes two words of some that are one.
fn one_where_they_touch(words: &mut Vec<Word>) {
    let parsed = std::mem::take(words);
    for word in parsed {
        match words.last_mut() {
            Some(before) if before.span.end == word.span.start && before.span.start < before.span.end => {
                before.parts.extend(word.parts);
                before.span.end = word.span.end;
            }
            _ => words.push(word),
        }
    }
}

/// `x=<(a)`: the parser takes what follows the sign for a word of its own.
fn joined_to_assignment(assignments: &mut Vec<Assignment>, words: &mut Vec<Word>) {
    let Some(last) = assignments.last_mut() else { return };
    if words.first().is_none_or(|word| word.span.start != last.span.end) {
        return;
    }
    join_to(last, words.remove(0));
    while let Some(further) = words.first().and_then(assignment_of) {
        assignments.push(further);
        words.remove(0);
    }
}

fn join_to(assignment: &mut Assignment, word: Word) {
    assignment.span.end = word.span.end;
    match &mut assignment.value {
        AssignedValue::Scalar(value) => {
            value.parts.extend(word.parts);
            value.span.end = word.span.end;
        }
        // bash takes no text after the parenthesis; what it would run is found.
        AssignedValue::Array(elements) => elements.push((None, word)),
    }
}

/// `x=<(a) y=b c`: once there was a word, the parser takes what follows for words.
fn assignment_of(word: &Word) -> Option<Assignment> {
    let Some(Part::Text { text, quoted: false }) = word.parts.first() else { return None };
    let (left, value) = text.split_once('=')?;
    let name = left.strip_suffix('+').unwrap_or(left);
    let is_name = is_parameter(name) && name.starts_with(|one: char| one == '_' || one.is_ascii_alphabetic());
    let first = Part::Text { text: value.to_owned(), quoted: false };
    let parts = std::iter::once(first).filter(|_| !value.is_empty());
    let parts = parts.chain(word.parts.iter().skip(1).cloned()).collect();
    is_name.then(|| Assignment {
        name: name.to_owned(),
        index: None,
        append: left.ends_with('+'),
        value: AssignedValue::Scalar(Word { parts, span: word.span }),
        span: word.span,
    })
}

fn verbatim(source: &str, tabs: bool) -> Part {
    let text = if tabs {
        source.split_inclusive('\n').map(|line| line.trim_start_matches('\t')).collect()
    } else {
        source.to_owned()
    };
    Part::Text { text, quoted: true }
}

const fn is_pipe(operator: BinaryOp) -> bool {
    match operator {
        BinaryOp::Pipe | BinaryOp::PipeAll => true,
        BinaryOp::And | BinaryOp::Or => false,
    }
}

/// Where a redirect stands, with the `{name}` before it.
fn written_at(redirect: &ParsedRedirect) -> Range {
    let own = range(redirect.span);
    (redirect.fd_var_span.map_or(own.0, |name| range(name).0.saturating_sub(1)), own.1)
}

fn target_at(word: &ParsedWord, own: Range, source: &str) -> Range {
    let place = range(word.span);
    match source.find('&') {
        Some(at) if place.0 == place.1 => (own.0 + at as u32 + 1, own.1),
        _ => place,
    }
}

/// A descriptor, `-`, or a descriptor that is moved.
fn is_descriptor(target: &str) -> bool {
    let digits = target.strip_suffix('-').unwrap_or(target);
    target == "-" || (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

fn kind(parsed: Kind, source: &str, has_fd: bool, target: &str) -> RedirectKind {
    match parsed {
        Kind::Output | Kind::Clobber => RedirectKind::Write,
        Kind::Append if source.starts_with("&>>") => RedirectKind::AppendBoth,
        Kind::Append => RedirectKind::Append,
        Kind::Input => RedirectKind::Read,
        Kind::ReadWrite => RedirectKind::ReadWrite,
        Kind::HereDoc | Kind::HereDocStrip => RedirectKind::Heredoc,
        Kind::HereString => RedirectKind::HereString,
        Kind::DupOutput if has_fd || is_descriptor(target) => RedirectKind::DuplicateOutput,
        Kind::DupOutput => RedirectKind::WriteBoth,
        Kind::DupInput => RedirectKind::DuplicateInput,
        Kind::OutputBoth if source.starts_with("&>>") => RedirectKind::AppendBoth,
        Kind::OutputBoth => RedirectKind::WriteBoth,
    }
}
