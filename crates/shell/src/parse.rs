//! Shell text to a [`Script`]. The only module that names the parser crate; what that crate leaves out, gets wrong or
//! only guesses is read again here, or becomes a [`Hole`]. It must not know what a command means.

mod arithmetic;
mod bodies;
mod command;
mod compound;
mod ground;
mod literal;
mod parameter;
mod word;

use castellan_event::Why;
use shuck_ast::{Span as Place, StmtSeq};
use shuck_parser::ShellDialect;
use shuck_parser::ShellProfile;
use shuck_parser::parser::{ParseResult, ParseStatus, Parser};
use shuck_parser::work;

use self::bodies::Bodies;
use self::ground::Ground;
use crate::limits::{
    CUT_TEXT_BYTES_MAX, PARSER_DEPTH_MAX, PARSER_STEPS_MAX, PARSER_STEPS_MIN, PARSER_STEPS_PER_BYTE,
    REPARSE_BYTES_MIN, REPARSE_DEPTH_MAX, REPARSE_FACTOR_MAX, TEXT_BYTES_MAX, WINDOW_BYTES,
};
use crate::prescan;
use crate::tree::{Hole, Node, Parsed, Script, Span, Statement};

/// Parses text as bash 5.3 would. What is not understood is a hole.
pub fn parse(text: &str) -> Parsed {
    parse_within(text, usize::MAX).0
}

/// The same with at most so many steps of the parser, and as many again where text is parsed piece by piece; says how
/// many it took.
pub(crate) fn parse_within(text: &str, steps_max: usize) -> (Parsed, usize) {
    let (parsed, spent) = parse_once(text, steps_max);
    let is_wrong = |parsed: &Parsed| parsed.holes.iter().any(|hole| hole.why == Why::Syntax);
    if is_wrong(&parsed)
        && let Some(closed) = closed(text)
    {
        let (again, more) = parse_once(&closed, steps_max.saturating_sub(spent));
        let spent = spent.saturating_add(more);
        return if is_wrong(&again) { (parsed, spent) } else { (again, spent) };
    }
    (parsed, spent)
}

/// The text with its groups closed as zsh closes them: there `{ echo a }` needs no `;`. bash runs nothing of such a
/// text. Every part keeps its place.
fn closed(text: &str) -> Option<String> {
    let mut closed = text.as_bytes().to_vec();
    let (mut quote, mut groups, mut is_changed) = (None, 0_usize, false);
    let mut at = 0;
    while let Some(byte) = text.as_bytes().get(at).copied() {
        let around = |at: Option<usize>| at.and_then(|at| text.as_bytes().get(at)).copied().unwrap_or(b'\n');
        let is_word = around(at.checked_sub(1)).is_ascii_whitespace()
            && matches!(around(at.checked_add(1)), b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b')' | b'>');
        match (quote, byte) {
            (Some(b'"') | None, b'\\') => at += 1,
            (Some(open), byte) if open == byte => quote = None,
            (None, b'\'' | b'"') => quote = Some(byte),
            (None, b'{') if is_word => groups += 1,
            (None, b'}') if is_word && groups > 0 => {
                groups -= 1;
                let before = text.get(..at).unwrap_or_default().trim_end_matches([' ', '\t']);
                if !before.ends_with([';', '\n', '&', '{', '}'])
                    && let Some(blank) = at.checked_sub(1).and_then(|at| closed.get_mut(at))
                {
                    *blank = b';';
                    is_changed = true;
                }
            }
            _ => {}
        }
        at += 1;
    }
    String::from_utf8(closed).ok().filter(|_| is_changed)
}

/// Parses text as it stands.
fn parse_once(text: &str, steps_max: usize) -> (Parsed, usize) {
    let steps = text.len().saturating_mul(PARSER_STEPS_PER_BYTE);
    // Without any the parser would not even say that it had none.
    let steps = steps.clamp(PARSER_STEPS_MIN, PARSER_STEPS_MAX).min(steps_max).max(1);
    work::allow(steps);
    let spare = REPARSE_BYTES_MIN.max(text.len().saturating_mul(REPARSE_FACTOR_MAX));
    let root = Ground::root(text);
    let why = if text.len() <= TEXT_BYTES_MAX {
        let mut walk = Walk::new(spare, None);
        let script = walk.script(&root);
        if !work::exhausted() {
            return (walk.parsed(script), steps.saturating_sub(work::left()));
        }
        Why::Budget
    } else {
        if let Some(parsed) = without_bodies(&root, spare) {
            return (parsed, steps.saturating_sub(work::left()));
        }
        Why::Size
    };
    let spent = steps.saturating_sub(work::left());
    work::allow(steps);
    let mut walk = Walk::new(spare, None);
    let script = walk.beginning(&root, why);
    let spent = spent.saturating_add(steps.saturating_sub(work::left()));
    (walk.parsed(script), spent)
}

/// Parses text without its long quoted heredocs, if it is short enough then, and if that is what they are.
fn without_bodies(root: &Ground<'_>, spare: usize) -> Option<Parsed> {
    if root.text.len() > CUT_TEXT_BYTES_MAX {
        return None;
    }
    let mut bodies = Bodies::cut(root.text);
    let rewritten = std::mem::take(&mut bodies.rewritten);
    if rewritten.text.len() > TEXT_BYTES_MAX {
        return None;
    }
    let mut walk = Walk::new(spare, Some(bodies));
    let script = walk.script(&root.inner(&rewritten.text, &rewritten.pieces));
    let proved = !work::exhausted() && walk.bodies.as_ref().is_some_and(Bodies::is_proved);
    proved.then(|| walk.parsed(script))
}

/// The lines from a place on, at most so many bytes. `None`: there is none that short, or nothing is left.
fn window(text: &str, at: usize, bytes: usize) -> Option<&str> {
    let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
    if rest.len() <= bytes {
        return Some(rest);
    }
    let window = rest.get(..rest.floor_char_boundary(bytes))?;
    window.get(..=window.rfind('\n')?)
}

/// How many statements are certain to be complete where text was cut: all before the last one that begins on a line of
/// its own. What does not end by then, a heredoc too, has no statement on a line after it.
fn complete(text: &str, statements: &[Statement]) -> usize {
    let begins_line = |next: &Statement| {
        let before = text.get(..next.span.start as usize).unwrap_or_default().trim_end_matches([' ', '\t']);
        // A line that goes on after a `\` is no new one.
        !matches!(next.node, Node::Hole(_)) && before.ends_with('\n') && !before.ends_with("\\\n")
    };
    let after_first = statements.get(1..).unwrap_or_default();
    after_first.iter().rposition(begins_line).map_or(0, |at| at + 1)
}

/// A range of bytes in the text that the parser was given.
type Range = (u32, u32);

fn range(place: Place) -> Range {
    (place.start.offset() as u32, place.end.offset() as u32)
}

/// What all texts of one call share: what was spent, and what was not understood.
#[derive(Debug)]
struct Walk {
    /// Texts in texts.
    depth: u32,
    /// Bytes that may still be parsed again.
    spare: usize,
    holes: Vec<Hole>,
    background: bool,
    /// What was cut out of the outermost text.
    bodies: Option<Bodies>,
}

impl Walk {
    fn new(spare: usize, bodies: Option<Bodies>) -> Walk {
        Walk { depth: 0, spare, holes: Vec::new(), background: false, bodies }
    }

    fn parsed(self, script: Script) -> Parsed {
        Parsed { script, holes: self.holes, background: self.background }
    }

    /// Parses text that stands for commands.
    fn script(&mut self, ground: &Ground<'_>) -> Script {
        let whole = (0, ground.text.len().try_into().unwrap_or(u32::MAX));
        if let Err(why) = prescan::bounded(ground.text) {
            return self.unread(ground, whole, why);
        }
        let result = run(ground.text);
        if work::exhausted() {
            return self.unread(ground, whole, Why::Budget);
        }
        let mut reader = Reader { ground, walk: self };
        let mut script = reader.sequence(&result.file.body);
        script.span = ground.span(whole);
        if result.status == ParseStatus::Clean && result.terminal_error.is_none() {
            return script;
        }
        // The statements that end before the first problem are what the shell runs before it meets it. The hole reaches
        // from there to the end: what follows was read with the problem in it.
        let problem = first_problem(&result).map_or(0, |offset| ground.span((offset, offset)).start);
        script.statements.retain(|statement| statement.span.end <= problem);
        let start = script.statements.last().map_or(script.span.start, |last| last.span.end);
        let rest = Span { start, end: script.span.end };
        script.statements.push(self.hole_statement(Hole { why: why(&result), span: rest }));
        script
    }

    /// Parses as much of text as the budget allows, some lines at once; the rest is a hole.
    fn beginning(&mut self, root: &Ground<'_>, why: Why) -> Script {
        let text = root.text;
        let whole = (0, text.len().try_into().unwrap_or(u32::MAX));
        if text.contains('\0') {
            return self.unread(root, whole, Why::Encoding);
        }
        let mut statements = Vec::new();
        let (mut at, mut size) = (0, WINDOW_BYTES);
        while let Some(lines) = window(text, at, size) {
            let known = self.holes.len();
            let mut script = self.script(&root.inner(lines, &[(0, at as u32)]));
            let ends = at + lines.len() == text.len();
            let count = if ends { script.statements.len() } else { complete(text, &script.statements) };
            let next = script.statements.get(count).map_or(whole.1, |next| next.span.start);
            if work::exhausted() || count == 0 {
                self.holes.truncate(known);
                // One statement may be longer than the others.
                if work::exhausted() || size == TEXT_BYTES_MAX {
                    break;
                }
                size = (4 * size).min(TEXT_BYTES_MAX);
                continue;
            }
            script.statements.truncate(count);
            statements.append(&mut script.statements);
            self.holes.retain(|hole| hole.span.end <= next);
            (at, size) = (next as usize, WINDOW_BYTES);
            if ends {
                break;
            }
        }
        if at < text.len() {
            let span = root.span((at as u32, whole.1));
            statements.push(self.hole_statement(Hole { why, span }));
        }
        Script { statements, span: root.span(whole) }
    }

    /// Text that is parsed inside of other text.
    fn again(&mut self, ground: &Ground<'_>) -> Script {
        let whole = (0, ground.text.len().try_into().unwrap_or(u32::MAX));
        if let Err(why) = self.enter(ground.text.len()) {
            return self.unread(ground, whole, why);
        }
        let script = self.script(ground);
        self.leave();
        script
    }

    /// Counts text that is about to be parsed again.
    fn enter(&mut self, bytes: usize) -> Result<(), Why> {
        if self.depth >= REPARSE_DEPTH_MAX {
            return Err(Why::Nesting);
        }
        self.spare = self.spare.checked_sub(bytes).ok_or(Why::Budget)?;
        self.depth += 1;
        Ok(())
    }

    fn leave(&mut self) {
        self.depth -= 1;
    }

    fn unread(&mut self, ground: &Ground<'_>, range: Range, why: Why) -> Script {
        let span = ground.span(range);
        Script { statements: vec![self.hole_statement(Hole { why, span })], span }
    }

    fn hole_statement(&mut self, hole: Hole) -> Statement {
        self.holes.push(hole);
        Statement {
            node: Node::Hole(hole),
            redirects: Vec::new(),
            background: false,
            negated: false,
            span: hole.span,
        }
    }
}

/// One text that is being turned into a tree.
#[derive(Debug)]
struct Reader<'r, 'a> {
    ground: &'r Ground<'a>,
    walk: &'r mut Walk,
}

impl Reader<'_, '_> {
    fn hole(&mut self, why: Why, range: Range) -> Hole {
        let hole = Hole { why, span: self.ground.span(range) };
        self.walk.holes.push(hole);
        hole
    }

    fn sequence(&mut self, sequence: &StmtSeq) -> Script {
        let statements = sequence.stmts.iter().map(|statement| self.statement(statement)).collect();
        Script { statements, span: self.ground.span(range(sequence.span)) }
    }
}

fn run(text: &str) -> ParseResult {
    let profile = ShellProfile::native(ShellDialect::Bash);
    Parser::with_limits_and_profile(text, PARSER_DEPTH_MAX, usize::MAX, profile).parse()
}

fn first_problem(result: &ParseResult) -> Option<u32> {
    // A terminal error has no byte offset: nothing is kept unless a diagnostic says where it began.
    result.diagnostics.iter().map(|diagnostic| range(diagnostic.span).0).min()
}

/// The parser tells limits from bad syntax only in words.
fn why(result: &ParseResult) -> Why {
    let problems = result.diagnostics.iter().map(|diagnostic| diagnostic.message.as_str());
    let terminal = result.terminal_error.as_ref().map(ToString::to_string);
    let mut all: Vec<&str> = problems.collect();
    all.extend(terminal.as_deref());
    if all.iter().any(|message| message.contains("too deep")) {
        Why::Nesting
    } else if all.iter().any(|message| message.contains("fuel exhausted")) {
        Why::Budget
    } else {
        Why::Syntax
    }
}
