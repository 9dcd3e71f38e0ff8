//! Results of a search (`find`, `fd`): its start paths, or patterns below them if its tests restrict the files. A
//! pattern is used only if every way to the action tests it; otherwise everything below the start is found.

use castellan_event::Why;

use super::{Invocation, Used};
use crate::arg::{Arg, Piece};
use crate::limits::{SEARCH_STARTS_MAX, SEARCH_TERMS_MAX};
use crate::program::{SlotRole, Style, Takes};

/// The files that a search finds below one start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundPath {
    /// The start itself, or a pattern below the start.
    pub arg: Arg,
    /// `arg` is the start: everything below the start is found.
    pub is_all: bool,
}

impl FoundPath {
    /// Returns the arguments of a command that runs on this path. If everything is found: the start, and with
    /// `with_below` a pattern below it.
    fn args(&self, with_below: bool) -> Vec<Arg> {
        let below = || {
            let all = Piece::Unknown { why: Why::Glob, written: "**".to_owned() };
            let pieces = self.arg.pieces().iter().cloned().chain([slash_after(&self.arg), all]);
            Arg::from_pieces(pieces, false)
        };
        std::iter::once(self.arg.clone()).chain((with_below && self.is_all).then(below)).collect()
    }
}

/// An alternative of an expression, with its tests for names.
#[derive(Default)]
struct Alternative {
    /// The names and paths that must match before the action.
    tests: Vec<Test>,
    /// The alternative contains the action.
    acts: bool,
}

#[derive(Clone)]
enum Test {
    /// The spellings of a name.
    Name(Vec<String>),
    Path(Vec<String>),
    Empty,
}

impl Invocation {
    /// Returns the paths that are found when the action at this position runs. `argv`: the parsed arguments.
    pub fn found(&self, argv: &[Arg], action: usize) -> Vec<FoundPath> {
        if self.options.len() > SEARCH_TERMS_MAX {
            return vec![FoundPath { arg: Arg::unknown(Why::Budget, "{}", false), is_all: true }];
        }
        let tests = if self.command.style == Style::Find {
            self.tests_before(argv, Some(action))
        } else {
            self.asked().map(|test| vec![test])
        };
        let mut found = Vec::new();
        for start in self.starts() {
            match &tests {
                None => found.push(FoundPath { arg: start, is_all: true }),
                Some(tests) => found.extend(tests.iter().flat_map(|test| self.below(&start, test))),
            }
        }
        found
    }

    /// Returns the paths that `find` prints, one to a line; `None` if `find` does more. `argv`: the parsed arguments.
    pub fn printed(&self, argv: &[Arg]) -> Option<Vec<FoundPath>> {
        if self.options.len() > SEARCH_TERMS_MAX || self.options.iter().any(|used| ACTS.contains(&used.flag))
        {
            return None;
        }
        let mut prints = self.options.iter().filter(|used| used.flag == "-print").map(|used| used.at);
        // Without an action, `find` prints every match.
        let action = prints.next();
        if prints.next().is_some() {
            return None;
        }
        let tests = self.tests_before(argv, action);
        let starts = self.starts();
        let found = |start: Arg| match &tests {
            None => vec![FoundPath { arg: start, is_all: true }],
            Some(tests) => tests.iter().flat_map(|test| self.below(&start, test)).collect(),
        };
        (starts.len() <= SEARCH_STARTS_MAX).then(|| starts.into_iter().flat_map(found).collect())
    }

    fn starts(&self) -> Vec<Arg> {
        let is_find = self.command.style == Style::Find;
        let operands = self.operands.iter().filter(|one| is_find || one.slot.role == SlotRole::Read);
        let named = self.options.iter().filter(|used| matches!(used.flag, "-f" | "--search-path"));
        let named = named.filter_map(|used| used.value.clone());
        let mut starts: Vec<Arg> = operands.map(|one| one.arg.clone()).chain(named).collect();
        if starts.len() > SEARCH_STARTS_MAX {
            starts.truncate(SEARCH_STARTS_MAX);
            starts.push(Arg::unknown(Why::Budget, "{}", false));
        }
        if starts.is_empty() {
            starts.push(Arg::known("."));
        }
        starts
    }

    fn below(&self, start: &Arg, test: &Test) -> Vec<FoundPath> {
        let is_one = |depth: &Arg| depth.as_str() == Some("1");
        let shallow = self.values("-maxdepth").chain(self.values("--max-depth")).any(is_one);
        let patterns: Vec<String> = match test {
            Test::Name(names) if shallow => {
                names.iter().cloned().chain(names.iter().filter_map(|name| hidden(name))).collect()
            }
            Test::Name(names) => names.iter().map(|name| format!("**/{name}")).collect(),
            Test::Empty => vec!["**".to_owned()],
            Test::Path(paths) => {
                let below = |path: &String| {
                    let below = start.as_str().and_then(|start| path.strip_prefix(start));
                    below.map_or_else(|| format!("**/{path}"), |rest| rest.trim_start_matches('/').to_owned())
                };
                let deep = paths.iter().filter_map(|path| deep(path));
                paths.iter().cloned().chain(deep).map(|path| below(&path)).collect()
            }
        };
        let found = |pattern: &String| {
            let pieces = start.pieces().iter().cloned().chain([slash_after(start)]).chain(pieces(pattern));
            FoundPath { arg: Arg::from_pieces(pieces, false), is_all: false }
        };
        patterns.iter().map(found).collect()
    }

    /// Returns the extension or glob that every file must match, for `fd`.
    fn asked(&self) -> Option<Test> {
        if let Some(extension) = self.values("-e").next().and_then(Arg::as_str) {
            return Some(Test::Name(vec![format!("*.{}", extension.trim_start_matches('.'))]));
        }
        let pattern = self.operands.first().filter(|one| one.slot.role == SlotRole::Text)?.arg.as_str()?;
        let is_plain =
            pattern.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'));
        let name = match self.given("-g") {
            true => pattern.to_owned(),
            // The pattern is a regular expression, in which a dot matches any character.
            false if is_plain => format!("*{}*", pattern.replace('.', "?")),
            false => return None,
        };
        is_telling(&name).then_some(Test::Name(vec![name]))
    }

    /// Returns the tests on every way to the action of `find`, or to the end without an action. `None` if a way has no
    /// test.
    ///
    /// The expression is split at each `-o`. Without parentheses, only the alternative with the action matters. With
    /// parentheses, each alternative must have a test, before the action if it contains the action. A negated group or
    /// a comma gives `None`.
    fn tests_before(&self, argv: &[Arg], action: Option<usize>) -> Option<Vec<Test>> {
        let mut alternatives = vec![Alternative::default()];
        let (mut negated, mut grouped) = (false, action.is_none());
        let mut at = 1;
        while let Some(arg) = argv.get(at) {
            // Options are sorted by position.
            let used = self.options.get(self.options.partition_point(|used| used.at < at));
            let used = used.filter(|used| used.at == at);
            match (arg.as_str(), used) {
                (Some(","), None) => return None,
                (Some("("), None) if negated => return None,
                (Some("(" | ")"), None) => grouped = true,
                (Some("!"), None) => negated = true,
                (_, Some(used)) if used.flag == "-not" => negated = true,
                (_, Some(used)) if matches!(used.flag, "-o" | "-or") => {
                    alternatives.push(Alternative::default())
                }
                (_, Some(used)) => {
                    let alternative = alternatives.last_mut()?;
                    if Some(at) == action {
                        alternative.acts = true;
                    } else if !alternative.acts && !negated {
                        alternative.tests.extend(test(used));
                    }
                    negated = false;
                }
                _ => {}
            }
            at += 1 + used.map_or(0, taken);
        }
        let counting = alternatives.into_iter().filter(|alternative| grouped || alternative.acts);
        counting.map(|alternative| alternative.tests.into_iter().next()).collect()
    }
}

/// Options of `find` that act, print something else than lines, or follow links.
const ACTS: &[&str] = &[
    "-delete",
    "-exec",
    "-execdir",
    "-files0-from",
    "-fls",
    "-follow",
    "-fprint",
    "-fprint0",
    "-fprintf",
    "-f",
    "-L",
    "-ls",
    "-ok",
    "-okdir",
    "-print0",
    "-printf",
    "-printx",
    "-rm",
];

/// Returns the separator between a directory and a name in it.
fn slash_after(directory: &Arg) -> Piece {
    Piece::Text(if directory.prefix().ends_with('/') { "" } else { "/" }.to_owned())
}

/// Returns the pattern of a path in which a `*` matches several directories, if the path has a `*` after its first
/// letter: `a*b` matches `ax/y/b`.
fn deep(path: &str) -> Option<String> {
    let (first, rest) = path.split_at_checked(1)?;
    let inner = rest.trim_end_matches('*');
    let end = if inner.len() < rest.len() { "*/**" } else { "" };
    let is_deep = inner.contains('*') || !end.is_empty();
    is_deep.then(|| format!("{first}{}{end}", inner.replace('*', "*/**/*")))
}

/// Returns the pattern of hidden names that a search pattern matches, and a shell pattern does not. An ending (`*.log`)
/// has none: nobody means hidden names by it.
fn hidden(name: &str) -> Option<String> {
    match name.chars().next()? {
        '*' if !name.contains('.') => Some(format!(".{name}")),
        '?' => name.get(1..).map(|rest| format!(".{rest}")),
        '[' => name.split_once(']').map(|(_, rest)| format!(".{rest}")),
        _ => None,
    }
}

/// Splits a pattern into text and wildcards.
fn pieces(pattern: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = pattern;
    while let Some(at) = rest.find(['*', '?', '[']) {
        let (text, wild) = rest.split_at_checked(at).unwrap_or((rest, ""));
        let length = match wild.find(']').filter(|_| wild.starts_with('[')) {
            Some(end) => end + 1,
            None => wild.len() - wild.trim_start_matches('*').len().min(wild.len() - 1),
        };
        let (wild, after) = wild.split_at_checked(length).unwrap_or((wild, ""));
        pieces.push(Piece::Text(text.to_owned()));
        pieces.push(Piece::Unknown { why: Why::Glob, written: wild.to_owned() });
        rest = after;
    }
    pieces.push(Piece::Text(rest.to_owned()));
    pieces
}

/// Returns the number of arguments that an option has taken after its name.
fn taken(used: &Used) -> usize {
    match used.option.takes {
        Takes::Value if used.option.slot.role == SlotRole::Clause => used.clause.len() + 1,
        Takes::Value => 1,
        Takes::Nothing | Takes::Attached => 0,
    }
}

fn test(used: &Used) -> Option<Test> {
    let value =
        || used.value.as_ref().and_then(Arg::as_str).filter(|text| is_telling(text)).map(str::to_owned);
    // Sensitive files usually have lower-case names.
    let any_case = |text: String| {
        let small = text.to_lowercase();
        if small == text { vec![text] } else { vec![text, small] }
    };
    match used.flag {
        "-name" => value().map(|name| Test::Name(vec![name])),
        "-iname" => value().map(any_case).map(Test::Name),
        "-path" | "-wholename" => value().map(|path| Test::Path(vec![path])),
        "-ipath" | "-iwholename" => value().map(any_case).map(Test::Path),
        "-empty" => Some(Test::Empty),
        _ => None,
    }
}

/// Reports whether a pattern is specific: it has two letters or digits outside brackets, or is an ending (`*.o`). `*`,
/// `*.*` and `*e*` match nearly everything.
fn is_telling(pattern: &str) -> bool {
    let ending = pattern.strip_prefix("*.").filter(|ending| !ending.is_empty());
    if ending.is_some_and(|ending| ending.bytes().all(|byte| byte.is_ascii_alphanumeric())) {
        return true;
    }
    let mut is_open = false;
    let mut letters = 0;
    for letter in pattern.chars() {
        match letter {
            '[' => is_open = true,
            ']' => is_open = false,
            letter if letter.is_alphanumeric() && !is_open => letters += 1,
            _ => {}
        }
    }
    letters >= 2
}

/// Returns the words of a clause with the found paths in place of `{}`. If `appends`, as with `fd`, a clause without
/// `{}` gets the paths at its end.
pub(super) fn filled(clause: &[Arg], found: &[FoundPath], appends: bool) -> Vec<Arg> {
    let mut words = Vec::new();
    let mut is_used = false;
    for word in clause {
        let text = word.as_str().unwrap_or_default();
        let Some((before, after)) = PLACEHOLDERS.iter().find_map(|one| text.split_once(one)) else {
            words.push(word.clone());
            continue;
        };
        is_used = true;
        if before.is_empty() && after.is_empty() {
            words.extend(found.iter().flat_map(|one| one.args(appends)));
            continue;
        }
        let hole = Piece::Unknown { why: Why::Glob, written: "{}".to_owned() };
        let pieces = [Piece::Text(before.to_owned()), hole, Piece::Text(after.to_owned())];
        words.push(Arg::from_pieces(pieces, false));
    }
    if appends && !is_used {
        words.extend(found.iter().flat_map(|one| one.args(appends)));
    }
    words
}

/// Placeholders for a found file; only `fd` has the ones after the first.
const PLACEHOLDERS: &[&str] = &["{}", "{/}", "{//}", "{.}", "{/.}"];
