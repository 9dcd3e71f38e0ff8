//! Words. Every byte of a word's source must lie in one of its parts, and literal text must hold nothing that the shell
//! would expand: where the parser's answer does not pass, the source is read again or becomes a hole.

use castellan_event::Why;
use shuck_ast::{CommandSubstitutionSyntax, HeredocBodyPart, HeredocBodyPartNode};
use shuck_ast::{Pattern, PatternPart, Word as ParsedWord, WordPart, WordPartNode};
use shuck_parser::double_paren::arithmetic_end;
use shuck_parser::parser::Parser;
use shuck_parser::work;

use super::ground::{Ground, Rewritten};
use super::literal::{Place, is_active, push_text, push_unescaped};
use super::{Range, Reader, range};
use crate::literals::ansi_quoted;
use crate::tree::{Node, Operation, Parameter, Part, RedirectKind, Script, Word};

impl Reader<'_, '_> {
    pub(super) fn word(&mut self, word: &ParsedWord) -> Word {
        self.word_at(word, Place::Bare)
    }

    pub(super) fn word_at(&mut self, word: &ParsedWord, place: Place) -> Word {
        let own = range(word.span);
        let span = self.ground.span(own);
        if own.0 == own.1 {
            // Nothing, or made up by the parser: then only the caller knows where it came from.
            let text = self.ground.text;
            let nothing = word.parts.iter().all(|part| {
                matches!(&part.kind, WordPart::Literal(literal) if literal.as_str(text, part.span).is_empty())
            });
            let parts = if nothing { Vec::new() } else { vec![Part::Hole(self.hole(Why::Syntax, own))] };
            return Word { parts, span };
        }
        if !tiled(&word.parts, own) {
            return Word { parts: self.reread(own, place), span };
        }
        let mut parts = Vec::with_capacity(word.parts.len());
        for part in &word.parts {
            self.part(part, place, &mut parts);
        }
        Word { parts, span }
    }

    fn part(&mut self, node: &WordPartNode, place: Place, parts: &mut Vec<Part>) {
        let own = range(node.span);
        match &node.kind {
            WordPart::Literal(_) => self.literal(own, place, parts),
            WordPart::SingleQuoted { value, dollar } => {
                let opener = if *dollar { 2 } else { 1 };
                let inner = (own.0 + opener, own.1.saturating_sub(1));
                let text = if range(value.span()) == inner {
                    Some(value.slice(self.ground.text).to_owned())
                } else if *dollar {
                    // In patterns and operands the parser knows only some of the escapes.
                    self.ground.slice(inner).and_then(ansi_quoted)
                } else {
                    None
                };
                match text {
                    Some(text) => push_text(parts, &text, true),
                    None => parts.push(Part::Hole(self.hole(Why::Syntax, own))),
                }
            }
            WordPart::DoubleQuoted { parts: inner, dollar } => {
                let opener = if *dollar { 2 } else { 1 };
                self.double_quoted(inner, (own.0 + opener, own.1.saturating_sub(1)), parts);
            }
            WordPart::Variable(name) => self.variable(name.as_str(), own, place, parts),
            WordPart::CommandSubstitution { body, syntax } => {
                let body = self.substitution(body, *syntax, own, place);
                parts.push(Part::Command { body, quoted: place.quoted() });
            }
            WordPart::ProcessSubstitution { body, is_input } => {
                let body = self.nested(body, (own.0 + 2, own.1.saturating_sub(1)));
                parts.push(Part::Process { body, written: !is_input });
            }
            WordPart::ArithmeticExpansion { expression, .. } => {
                let part = self.arithmetic_expansion(range(expression.span()), own, place.quoted());
                parts.push(part);
            }
            WordPart::Parameter(parameter) => {
                let part = self.parameter(parameter, own, place);
                parts.push(part);
            }
            // Older shapes of the same, and zsh's: the bash parser makes none.
            WordPart::ZshQualifiedGlob(_)
            | WordPart::ParameterExpansion { .. }
            | WordPart::Length(_)
            | WordPart::ArrayAccess(_)
            | WordPart::ArrayLength(_)
            | WordPart::ArrayIndices(_)
            | WordPart::Substring { .. }
            | WordPart::ArraySlice { .. }
            | WordPart::IndirectExpansion { .. }
            | WordPart::PrefixMatch { .. }
            | WordPart::Transformation { .. } => {
                let hole = self.hole(Why::Unsupported, own);
                parts.push(Part::Hole(hole));
            }
        }
    }

    fn double_quoted(&mut self, inner: &[WordPartNode], own: Range, parts: &mut Vec<Part>) {
        if own.0 == own.1 {
            push_text(parts, "", true);
        } else if tiled(inner, own) {
            // Text first, so that an expansion to nothing is still a word.
            for part in inner {
                self.part(part, Place::Quoted, parts);
            }
        } else {
            parts.extend(self.reread(own, Place::Quoted));
        }
    }

    fn literal(&mut self, own: Range, place: Place, parts: &mut Vec<Part>) {
        let Some(source) = self.ground.slice(own) else {
            let hole = self.hole(Why::Syntax, own);
            parts.push(Part::Hole(hole));
            return;
        };
        if is_active(source, place) {
            parts.extend(self.reread(own, place));
        } else {
            push_unescaped(parts, source, place);
        }
    }

    fn variable(&mut self, name: &str, own: Range, place: Place, parts: &mut Vec<Part>) {
        let source = self.ground.slice(own).unwrap_or_default();
        if let Some(part) = self.command_in_braces(own, place) {
            parts.push(part);
        } else if is_parameter(name)
            && (source.strip_prefix('$') == Some(name) || braced(source) == Some(name))
        {
            parts.push(self.plain(name, Operation::Value, own, place));
        } else if let Some(name) = braced(source).and_then(case_toggled) {
            parts.push(self.plain(name, Operation::Transform('~'), own, place));
        } else {
            // bash refuses what it does not know in `${...}` only when it runs.
            let why = if braced(source).is_some() { Why::Unsupported } else { Why::Syntax };
            let hole = self.hole(why, own);
            parts.push(Part::Hole(hole));
        }
    }

    fn plain(&self, name: &str, operation: Operation, own: Range, place: Place) -> Part {
        let span = self.ground.span(own);
        let parameter =
            Parameter { name: name.to_owned(), index: None, indirect: false, operation, zsh: None, span };
        Part::Parameter { parameter: Box::new(parameter), quoted: place.quoted() }
    }

    /// `${ command; }` and `${| command; }` of bash 5.3, which the parser takes for a variable.
    pub(super) fn command_in_braces(&mut self, own: Range, place: Place) -> Option<Part> {
        let inner = braced(self.ground.slice(own)?)?;
        let body = inner.strip_prefix([' ', '\t', '\n', '|'])?;
        let start = own.0 + 2 + (inner.len() - body.len()) as u32;
        let ended = body.trim_end_matches([' ', '\t', '\n']).ends_with([';', '&']) || body.ends_with('\n');
        if !ended {
            return None;
        }
        let ground = self.ground.inner(body, &[(0, start)]);
        Some(Part::Command { body: self.walk.again(&ground), quoted: place.quoted() })
    }

    fn substitution(
        &mut self,
        body: &shuck_ast::StmtSeq,
        syntax: CommandSubstitutionSyntax,
        own: Range,
        place: Place,
    ) -> Script {
        let opener = match syntax {
            CommandSubstitutionSyntax::Backtick => 1,
            CommandSubstitutionSyntax::DollarParen => 2,
        };
        let inner = (own.0 + opener, own.1.saturating_sub(1));
        match (syntax, self.ground.slice(inner)) {
            (CommandSubstitutionSyntax::Backtick, Some(source)) if source.contains('\\') => {
                let rewritten = backquoted(source, inner.0, place);
                let ground = self.ground.inner(&rewritten.text, &rewritten.pieces);
                self.walk.again(&ground)
            }
            (CommandSubstitutionSyntax::Backtick | CommandSubstitutionSyntax::DollarParen, _) => {
                self.nested(body, inner)
            }
        }
    }

    /// `$(( ))`; or `$( )` that begins with a subshell, which the parser does not tell apart.
    fn arithmetic_expansion(&mut self, expression: Range, own: Range, quoted: bool) -> Part {
        let source = self.ground.slice(own).unwrap_or_default();
        let Some(inner) = source.strip_prefix("$((").filter(|inner| !is_expression(inner)) else {
            return Part::Arithmetic { expression: self.arithmetic(expression), quoted };
        };
        let inner = (own.1 - inner.len() as u32 - 1, own.1.saturating_sub(1));
        let body = self.commands(inner);
        Part::Command { body, quoted }
    }

    /// Commands in a word. Where the parser fails on them it gives none, and does not say so.
    fn nested(&mut self, body: &shuck_ast::StmtSeq, inner: Range) -> Script {
        let source = self.ground.slice(inner);
        if !body.stmts.is_empty() || source.is_some_and(|source| source.trim().is_empty()) {
            return self.sequence(body);
        }
        self.commands(inner)
    }

    /// Source that is read as commands.
    fn commands(&mut self, inner: Range) -> Script {
        let Some(source) = self.ground.slice(inner) else {
            return self.walk.unread(self.ground, inner, Why::Syntax);
        };
        let ground = self.ground.inner(source, &[(0, inner.0)]);
        self.walk.again(&ground)
    }

    /// Reads source again that the parser gave up on.
    pub(super) fn reread(&mut self, own: Range, place: Place) -> Vec<Part> {
        let Some(source) = self.ground.slice(own) else {
            return vec![Part::Hole(self.hole(Why::Syntax, own))];
        };
        if let Err(why) = self.walk.enter(source.len()) {
            return vec![Part::Hole(self.hole(why, own))];
        }
        // Without its own quotes, so that those that are left are escaped ones.
        let within = source.strip_prefix('"').and_then(|inner| inner.strip_suffix('"'));
        let ground = match within.filter(|_| place == Place::Quoted) {
            Some(within) => self.ground.inner(within, &[(0, own.0 + 1)]),
            None => self.ground.inner(source, &[(0, own.0)]),
        };
        let mut parts = Vec::new();
        if !place.quoted() {
            let word = Parser::parse_word_string(source);
            let whole = (0, source.len() as u32);
            if work::exhausted() {
                self.walk.leave();
                return vec![Part::Hole(self.hole(Why::Budget, own))];
            }
            let unchanged =
                matches!(word.parts.as_slice(), [part] if matches!(part.kind, WordPart::Literal(_)));
            let mut reader = Reader { ground: &ground, walk: self.walk };
            if !is_active(source, place) {
                push_unescaped(&mut parts, source, place);
            } else if unchanged || !tiled(&word.parts, whole) {
                parts.push(Part::Hole(reader.hole(Why::Syntax, whole)));
            } else {
                for part in &word.parts {
                    reader.part(part, place, &mut parts);
                }
            }
        } else {
            parts = self.body_parts(&ground, place);
        }
        self.walk.leave();
        parts
    }

    /// Reads text in which only `$`, backquotes and `\` mean something: as the body of a heredoc.
    fn body_parts(&mut self, inner: &Ground<'_>, place: Place) -> Vec<Part> {
        let mut delimiter = "E".to_owned();
        while inner.text.contains(&delimiter) {
            delimiter.push('E');
        }
        let head = format!(": <<{delimiter}\n");
        let text = format!("{head}{}\n{delimiter}\n", inner.text);
        let ground = inner.inner(&text, &[(0, 0), (head.len() as u32, 0)]);
        let script = self.walk.script(&ground);
        let whole = inner.text.len() as u32;
        let Ok([statement]) = <[_; 1]>::try_from(script.statements) else {
            return vec![Part::Hole(Reader { ground: inner, walk: self.walk }.hole(Why::Syntax, (0, whole)))];
        };
        let heredoc = statement.redirects.into_iter().find(|redirect| redirect.kind == RedirectKind::Heredoc);
        let (Node::Simple { .. }, Some(heredoc)) = (statement.node, heredoc) else {
            return vec![Part::Hole(Reader { ground: inner, walk: self.walk }.hole(Why::Syntax, (0, whole)))];
        };
        let mut parts = heredoc.target.parts;
        // The newline that was added.
        if let Some(Part::Text { text, .. }) = parts.last_mut()
            && text.pop().is_some()
            && text.is_empty()
        {
            parts.pop();
        }
        if place == Place::Quoted {
            for part in &mut parts {
                if let Part::Text { text, .. } = part {
                    *text = unquoted(text);
                }
            }
        }
        parts
    }

    /// The body of a heredoc whose delimiter is not quoted.
    pub(super) fn body(&mut self, body: &[HeredocBodyPartNode], own: Range) -> Vec<Part> {
        let spans = body.iter().map(|part| range(part.span));
        if !covers(spans, own) {
            return self.reread(own, Place::Body);
        }
        let mut parts = Vec::new();
        for node in body {
            let own = range(node.span);
            match &node.kind {
                HeredocBodyPart::Literal(_) => self.literal(own, Place::Body, &mut parts),
                HeredocBodyPart::Variable(name) => self.variable(name.as_str(), own, Place::Body, &mut parts),
                HeredocBodyPart::CommandSubstitution { body, syntax } => {
                    let body = self.substitution(body, *syntax, own, Place::Body);
                    parts.push(Part::Command { body, quoted: true });
                }
                HeredocBodyPart::ArithmeticExpansion { expression, .. } => {
                    let part = self.arithmetic_expansion(range(expression.span()), own, true);
                    parts.push(part);
                }
                HeredocBodyPart::Parameter(parameter) => {
                    let part = self.parameter(parameter, own, Place::Body);
                    parts.push(part);
                }
            }
        }
        parts
    }

    /// The body of a `<<-` heredoc: the shell takes the tabs away before it reads it.
    pub(super) fn untabbed(&mut self, own: Range) -> Vec<Part> {
        let source = self.ground.slice(own).unwrap_or_default();
        let mut rewritten = Rewritten::default();
        let mut at = own.0;
        for line in source.split_inclusive('\n') {
            let text = line.trim_start_matches('\t');
            rewritten.push(text, at + (line.len() - text.len()) as u32);
            at += line.len() as u32;
        }
        if let Err(why) = self.walk.enter(source.len()) {
            return vec![Part::Hole(self.hole(why, own))];
        }
        let ground = self.ground.inner(&rewritten.text, &rewritten.pieces);
        let parts = self.body_parts(&ground, Place::Body);
        self.walk.leave();
        parts
    }

    /// A pattern: its special characters are unquoted text.
    pub(super) fn pattern(&mut self, pattern: &Pattern, place: Place) -> Word {
        let own = range(pattern.span);
        let known = self.walk.holes.len();
        let mut parts = Vec::new();
        self.pattern_parts(pattern, own, place, &mut parts);
        let new = self.walk.holes.get(known..).unwrap_or_default();
        if new.iter().any(|hole| hole.why == Why::Syntax) {
            // The parser takes some escaped quotes for quotes here; as a word it reads them.
            self.walk.holes.truncate(known);
            parts = self.reread(own, Place::Inner);
        }
        Word { parts, span: self.ground.span(own) }
    }

    fn pattern_parts(&mut self, pattern: &Pattern, own: Range, place: Place, parts: &mut Vec<Part>) {
        let mut at = own.0;
        for node in &pattern.parts {
            let part = range(node.span);
            if part.0 < at || part.1 > own.1 {
                parts.push(Part::Hole(self.hole(Why::Syntax, own)));
                return;
            }
            self.pattern_text((at, part.0), parts);
            match &node.kind {
                PatternPart::Literal(_) | PatternPart::AnyString | PatternPart::AnyChar => {
                    self.pattern_text(part, parts);
                }
                PatternPart::CharClass(_) => self.pattern_text(part, parts),
                PatternPart::Group { patterns, .. } => self.group(patterns, part, place, parts),
                PatternPart::Word(word) => parts.extend(self.word_at(word, Place::Inner).parts),
            }
            at = part.1;
        }
        self.pattern_text((at, own.1), parts);
    }

    /// `@(a|b)`: the text between its patterns as written.
    fn group(&mut self, patterns: &[Pattern], own: Range, place: Place, parts: &mut Vec<Part>) {
        let mut at = own.0;
        for pattern in patterns {
            let inner = range(pattern.span);
            if inner.0 < at || inner.1 > own.1 {
                parts.push(Part::Hole(self.hole(Why::Syntax, own)));
                return;
            }
            self.pattern_text((at, inner.0), parts);
            self.pattern_parts(pattern, inner, place, parts);
            at = inner.1;
        }
        self.pattern_text((at, own.1), parts);
    }

    fn pattern_text(&mut self, own: Range, parts: &mut Vec<Part>) {
        if own.0 < own.1 {
            self.literal(own, Place::Inner, parts);
        }
    }
}

/// Text that was in double quotes and that was read as a heredoc, where quotes mean nothing.
fn unquoted(text: &str) -> String {
    let mut made = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\\' if characters.peek() == Some(&'"') => made.extend(characters.next()),
            '"' => {}
            other => made.push(other),
        }
    }
    made
}

/// A name that a parameter can have.
pub(super) fn is_parameter(name: &str) -> bool {
    let mut characters = name.chars();
    match characters.next() {
        Some('@' | '*' | '#' | '?' | '-' | '$' | '!') => characters.next().is_none(),
        Some(first) if first.is_ascii_digit() => characters.all(|character| character.is_ascii_digit()),
        Some(first) if first == '_' || first.is_ascii_alphabetic() => {
            characters.all(|character| character == '_' || character.is_ascii_alphanumeric())
        }
        _ => false,
    }
}

/// The name in `x~` and `x~~`, with or without a pattern: upper case becomes lower and the other way round. bash does
/// not document it, and the parser does not know it.
fn case_toggled(inner: &str) -> Option<&str> {
    let (name, pattern) = inner.split_once('~')?;
    (is_parameter(name) && !pattern.contains(['$', '`', '\\', '"', '\''])).then_some(name)
}

/// Whether what follows `$((` is an expression up to its end.
fn is_expression(source: &str) -> bool {
    source.strip_suffix("))").is_some_and(|inner| arithmetic_end(source) == Some(inner.len()))
}

/// What stands between `${` and `}`.
pub(super) fn braced(source: &str) -> Option<&str> {
    source.strip_prefix("${")?.strip_suffix('}')
}

/// The text of a command in backquotes, as the shell reads it: `\` is taken off before `$`, backquote and `\`, and
/// before `"` where the backquotes stand in double quotes.
fn backquoted(source: &str, offset: u32, place: Place) -> Rewritten {
    let mut rewritten = Rewritten::default();
    let mut at = 0;
    let mut start = 0;
    let bytes = source.as_bytes();
    while let Some(&byte) = bytes.get(at) {
        if byte != b'\\' {
            at += 1;
            continue;
        }
        let taken = match bytes.get(at + 1) {
            Some(b'$' | b'`' | b'\\') => true,
            Some(b'"') => place == Place::Quoted,
            _ => false,
        };
        if taken {
            rewritten.push(source.get(start..at).unwrap_or_default(), offset + start as u32);
            start = at + 1;
        }
        at += 2;
    }
    rewritten.push(source.get(start..).unwrap_or_default(), offset + start as u32);
    rewritten
}

fn tiled(parts: &[WordPartNode], own: Range) -> bool {
    covers(parts.iter().map(|part| range(part.span)), own)
}

/// The ranges follow each other without a gap from the beginning of the whole to its end.
fn covers(ranges: impl Iterator<Item = Range>, own: Range) -> bool {
    let mut at = own.0;
    for (start, end) in ranges {
        if start != at || end < start {
            return false;
        }
        at = end;
    }
    at == own.1
}
