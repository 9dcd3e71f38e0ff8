//! Problems of rule files: fault, place and remedy. They have Falco's codes if Falco has one, else `CASTELLAN_*`. It
//! knows nothing of how a problem is found.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use castellan_event::is_invisible;

use crate::limits::{LINE_BYTES_MAX, MESSAGE_BYTES_MAX, PROBLEMS_MAX};
use crate::source_text::Source;
use crate::text::Place;

/// The effect of a problem on the rule set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The files do not load.
    Error,
    /// The files load, but probably do not mean what their author thinks.
    Warning,
}

/// One problem of a rule file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Problem {
    /// Error or warning.
    pub severity: Severity,
    /// `LOAD_ERR_*` or `LOAD_*` as in Falco 0.43, or `CASTELLAN_*`.
    pub code: &'static str,
    /// The fault, in one line.
    pub message: String,
    /// Name of the file, as given.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Bytes of the file that the problem concerns.
    pub span: Option<Range<usize>>,
    /// The item with the problem, such as "rule 'x'"; empty for the whole file.
    pub item: String,
    /// The remedy.
    pub help: Option<String>,
}

impl Problem {
    /// Renders the problem for people, without a final newline. With the file's text, shows the line and a caret.
    pub fn render(&self, source_text: Option<&str>) -> String {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let mut group = Group::with_title(level.primary_title(self.title()).id(self.code));
        let span = self.span.clone().unwrap_or_default();
        let line = source_text.and_then(|text| line_around(text, &span));
        if let Some((text, span)) = &line {
            let snippet =
                Snippet::source(text.as_str()).line_start(self.line).path(self.file.as_str()).fold(false);
            group = group.element(snippet.annotation(AnnotationKind::Primary.span(span.clone())));
        }
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        let rendered = Renderer::plain().render(&[group]);
        if line.is_some() { rendered } else { format!("{}\n{rendered}", self.position()) }
    }

    /// Renders the problem in one line: `file:line:column: code: message`.
    pub fn one_line(&self) -> String {
        let help = self.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
        format!("{}: {}: {}{help}", self.position(), self.code, self.title())
    }

    fn position(&self) -> String {
        format!("{}:{}:{}", self.file, self.line, self.column)
    }

    fn title(&self) -> String {
        if self.item.is_empty() { self.message.clone() } else { format!("{}: {}", self.item, self.message) }
    }
}

/// A problem before its position in the file is resolved.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    pub(crate) code: &'static str,
    pub(crate) message: String,
    pub(crate) place: Place,
    pub(crate) help: Option<String>,
    /// The text names a field that does not exist. `skip-if-unknown-filter` allows this fault alone.
    pub(crate) is_unknown_field: bool,
}

impl Fault {
    pub(crate) fn new(code: &'static str, place: Place, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), place, help: None, is_unknown_field: false }
    }

    pub(crate) fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    pub(crate) fn help_if(self, help: Option<String>) -> Self {
        Self { help, ..self }
    }
}

/// The problems of one load. Files load cumulatively, so a problem may be found again; it is stored once.
#[derive(Debug)]
pub(crate) struct Report<'a> {
    sources: &'a [Source],
    lines: Vec<Lines>,
    problems: Vec<Problem>,
    /// The error of each file that Falco reports: it stops there.
    first: HashMap<String, Problem>,
    known: HashSet<Problem>,
    errors: usize,
    warnings: usize,
}

impl<'a> Report<'a> {
    pub(crate) fn new(sources: &'a [Source]) -> Self {
        let lines = sources.iter().map(|source| Lines::new(&source.text)).collect();
        let (problems, first, known) = Default::default();
        Self { sources, lines, problems, first, known, errors: 0, warnings: 0 }
    }

    pub(crate) fn error(&mut self, item: &str, fault: Fault) {
        self.add(Severity::Error, item, fault);
    }

    pub(crate) fn warning(&mut self, item: &str, fault: Fault) {
        self.add(Severity::Warning, item, fault);
    }

    /// Reports an error of the configuration, which is not one of the rule files.
    pub(crate) fn configuration_error(&mut self, name: &str, fault: Fault) {
        let problem = Problem {
            severity: Severity::Error,
            code: fault.code,
            message: printable(&fault.message),
            file: name.to_owned(),
            line: 1,
            column: 1,
            span: None,
            item: String::new(),
            help: fault.help.as_deref().map(printable),
        };
        self.keep(problem);
    }

    /// Reports whether there are errors so far.
    pub(crate) fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// Reports whether a problem begins in one of these places, or may be missing there because of the limit.
    pub(crate) fn may_tell_of(&self, places: &[Place]) -> bool {
        let is_in = |problem: &Problem, place: &Place| {
            let file = self.sources.get(place.file).map(|source| source.name.as_str());
            let start = problem.span.as_ref().map(|span| span.start);
            file == Some(&problem.file)
                && start.is_some_and(|start| (place.start..=place.end).contains(&start))
        };
        !places.is_empty()
            && (self.problems.len() >= PROBLEMS_MAX
                || self.problems.iter().any(|problem| places.iter().any(|place| is_in(problem, place))))
    }

    /// Returns the file and line of a place.
    pub(crate) fn position(&self, place: Place) -> (String, usize) {
        let found = self.sources.get(place.file).zip(self.lines.get(place.file));
        found.map_or_else(Default::default, |(source, lines)| (source.name.clone(), lines.line(place.start)))
    }

    /// Returns the problems in the order of the files. In a file, the error that Falco reports is first; the others are in the
    /// order of their lines.
    pub(crate) fn finish(mut self) -> Vec<Problem> {
        let order = |problem: &Problem| self.sources.iter().position(|source| source.name == problem.file);
        let is_first = |problem: &Problem| self.first.get(&problem.file) == Some(problem);
        self.problems
            .sort_by_key(|problem| (order(problem), !is_first(problem), problem.line, problem.column));
        self.problems
    }

    fn add(&mut self, severity: Severity, item: &str, fault: Fault) {
        if !self.is_full(severity) && self.sources.get(fault.place.file).is_some() {
            let problem = self.problem(severity, item, fault);
            self.keep(problem);
        }
    }

    /// Returns a fault as a problem with its position, or without one outside the files.
    pub(crate) fn problem(&self, severity: Severity, item: &str, fault: Fault) -> Problem {
        let place = fault.place;
        let found = self.sources.get(place.file).zip(self.lines.get(place.file));
        let (file, (line, column), span) = match found {
            Some((source, lines)) => {
                // A place may end within a character, because the condition's grammar works on bytes.
                let start = source.text.floor_char_boundary(place.start);
                let end = source.text.ceil_char_boundary(place.end);
                (source.name.clone(), lines.position(&source.text, place.start), Some(start..end))
            }
            None => (String::new(), (1, 1), None),
        };
        Problem {
            severity,
            code: fault.code,
            message: printable(&fault.message),
            file,
            line,
            column,
            span,
            item: printable(item),
            help: fault.help.as_deref().map(printable),
        }
    }

    fn keep(&mut self, problem: Problem) {
        let count = match problem.severity {
            Severity::Error => &mut self.errors,
            Severity::Warning => &mut self.warnings,
        };
        if *count < PROBLEMS_MAX && self.known.insert(problem.clone()) {
            *count += 1;
            if problem.severity == Severity::Error {
                self.first.entry(problem.file.clone()).or_insert_with(|| problem.clone());
            }
            self.problems.push(problem);
        }
    }

    /// Reports whether a severity is at its limit. The counts are separate: warnings must not crowd out an error.
    fn is_full(&self, severity: Severity) -> bool {
        let count = match severity {
            Severity::Error => self.errors,
            Severity::Warning => self.warnings,
        };
        count >= PROBLEMS_MAX
    }
}

/// Starts of the lines of a text.
#[derive(Debug)]
struct Lines(Vec<usize>);

impl Lines {
    fn new(text: &str) -> Self {
        Self(std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect())
    }

    /// Returns the line of a byte, from 1.
    fn line(&self, at: usize) -> usize {
        self.0.partition_point(|start| *start <= at).max(1)
    }

    /// Returns line and column of a byte, both from 1.
    fn position(&self, text: &str, at: usize) -> (usize, usize) {
        let line = self.line(at);
        let start = self.0.get(line - 1).copied().unwrap_or_default();
        let before = text.as_bytes().get(start..at).unwrap_or_default();
        // Beyond the limit, bytes are counted instead of characters, so that a file of one long line stays cheap.
        let (near, far) = before.split_at_checked(LINE_BYTES_MAX).unwrap_or((before, &[]));
        (line, String::from_utf8_lossy(near).chars().count() + far.len() + 1)
    }
}

/// Returns one line that is safe for a terminal: names and words in it come from the file.
fn printable(text: &str) -> String {
    let cut = text.floor_char_boundary(MESSAGE_BYTES_MAX);
    let shown = text.get(..cut).unwrap_or_default();
    let shown = shown.chars().map(|char| if is_invisible(char) { char::REPLACEMENT_CHARACTER } else { char });
    shown.chain(if cut < text.len() { "..." } else { "" }.chars()).collect()
}

/// Returns the line on which a span starts, safe to show, and the span within it; `None` for a line too long to show.
fn line_around(text: &str, span: &Range<usize>) -> Option<(String, Range<usize>)> {
    let start = text.get(..span.start)?.rfind('\n').map_or(0, |at| at + 1);
    let line = text.get(start..)?.split('\n').next().filter(|line| line.len() <= LINE_BYTES_MAX)?;
    let from = span.start - start;
    let to = line.ceil_char_boundary(span.end.saturating_sub(start)).max(from);
    let [before, within, after] = [line.get(..from)?, line.get(from..to)?, line.get(to..)?].map(visible);
    let (from, to) = (before.len(), before.len() + within.len());
    Some((before + &within + &after, from..to))
}

/// Replaces invisible characters. The renderer itself replaces control characters.
fn visible(text: &str) -> String {
    let is_hidden = |char: char| is_invisible(char) && !char.is_control();
    text.chars().map(|char| if is_hidden(char) { char::REPLACEMENT_CHARACTER } else { char }).collect()
}
