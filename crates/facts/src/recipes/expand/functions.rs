//! Text functions of make, by the GNU make 4.3 manual. If a word represents files or unknown text, the result of a
//! function represents no fewer. Must not know the content of a makefile.

use super::super::unquote::{self, has_pattern, is_files};
use super::{Expansion, UNKNOWN};
use crate::limits::MAKE_LOOP_MAX;

/// Computes a function from its expanded arguments.
type Function = fn(&[String]) -> String;

/// Text functions with their number of arguments; further commas belong to the last argument.
const FUNCTIONS: &[(&str, usize, Function)] = &[
    ("addprefix", 2, |args| each(arg(args, 1), |word| put_before(arg(args, 0), word))),
    ("addsuffix", 2, |args| each(arg(args, 1), |word| put_behind(word, arg(args, 0)))),
    ("basename", 1, |args| each(arg(args, 0), basename)),
    ("dir", 1, |args| each(arg(args, 0), dir)),
    ("filter", 2, |args| filter(args, true)),
    ("filter-out", 2, |args| filter(args, false)),
    ("findstring", 2, findstring),
    ("firstword", 1, |args| one_of(arg(args, 0), |words| words.first().copied())),
    ("lastword", 1, |args| one_of(arg(args, 0), |words| words.last().copied())),
    ("notdir", 1, |args| each(arg(args, 0), notdir)),
    ("patsubst", 3, patsubst),
    ("sort", 1, sort),
    ("strip", 1, |args| each(arg(args, 0), |word| Some(word.to_owned()))),
    ("subst", 3, subst),
    ("suffix", 1, |args| each(arg(args, 0), suffix)),
    ("wildcard", 1, wildcard),
    ("word", 2, |args| one_of(arg(args, 1), |words| nth(arg(args, 0), words))),
    ("words", 1, |args| counted(arg(args, 0))),
];

impl Expansion<'_> {
    /// Adds the result of a function; returns true if it is computed.
    pub(super) fn function(&mut self, function: &str, arguments: &str) -> bool {
        if let Some((_, number, make)) = FUNCTIONS.iter().find(|(name, ..)| *name == function) {
            let args: Vec<String> = self.arguments(arguments, *number);
            let made = make(&args);
            self.text.push_str(&made);
            return true;
        }
        match function {
            "abspath" | "realpath" => {
                let words = self.aside(arguments, self.in_function);
                let directory = self.given.directory;
                self.text.push_str(&each(&words, |word| absolute(directory, word)));
            }
            "if" => self.either(arguments),
            "or" | "and" => self.chain(arguments, function == "or"),
            "foreach" => return self.each(arguments),
            "call" => return self.call(arguments),
            _ => return false,
        }
        true
    }

    fn arguments(&mut self, text: &str, number: usize) -> Vec<String> {
        split(text, number).into_iter().map(|one| self.aside(one, self.in_function)).collect()
    }

    /// `$(if condition,then,else)`.
    fn either(&mut self, arguments: &str) {
        let parts = split(arguments, 3);
        let condition = self.aside(parts.first().copied().unwrap_or_default().trim(), self.in_function);
        let holds = is_there(&condition).or_else(|| Some(self.pick(arguments, 2)? == 0));
        let branch = |at: usize| parts.get(at).copied().unwrap_or_default();
        match holds {
            Some(holds) => self.add(branch(if holds { 1 } else { 2 })),
            None => {
                self.aside(branch(1), true);
                self.aside(branch(2), true);
                self.unknown();
            }
        }
    }

    /// `$(or a,b)`: the first text that is not empty; `$(and a,b)`: the last text, if none is empty.
    fn chain(&mut self, arguments: &str, is_or: bool) {
        let parts = split(arguments, usize::MAX);
        let mut last = String::new();
        for (at, part) in parts.into_iter().enumerate() {
            let made = self.aside(part.trim(), self.in_function);
            let holds = is_there(&made).or_else(|| Some(self.pick(&format!("{at} {arguments}"), 2)? == 0));
            let Some(holds) = holds else { return self.unknown() };
            last = if holds { made } else { String::new() };
            if holds == is_or {
                break;
            }
        }
        self.text.push_str(&last);
    }

    /// `$(foreach name,words,text)`.
    fn each(&mut self, arguments: &str) -> bool {
        let [name, words, text] = split(arguments, 3)[..] else { return false };
        let name = self.aside(name.trim(), self.in_function);
        let words = self.aside(words, self.in_function);
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        if words.len() > MAKE_LOOP_MAX {
            return false;
        }
        for (at, word) in words.into_iter().enumerate() {
            if at > 0 {
                self.text.push(' ');
            }
            self.bound.push((name.clone(), word));
            self.add(text);
            self.bound.pop();
        }
        true
    }

    /// `$(call name,one,two)`: the value of a variable, in which `$(1)` is the first argument.
    fn call(&mut self, arguments: &str) -> bool {
        let mut parts = split(arguments, usize::MAX).into_iter();
        let name = self.aside(parts.next().unwrap_or_default().trim(), self.in_function);
        let Some(body) = (self.given.value)(&name) else { return false };
        let value = match body.is_unsure {
            false => Some(body.value),
            true => self.pick(&name, body.choices.len()).and_then(|at| body.choices.get(at).cloned()),
        };
        let Some(value) = value else { return false };
        let given: Vec<String> = parts.map(|one| self.aside(one, self.in_function)).collect();
        let before = self.bound.len();
        // Missing arguments are empty, even if an outer call has them.
        let numbers =
            (1..10).map(|at: usize| (at.to_string(), given.get(at - 1).cloned().unwrap_or_default()));
        self.bound.extend(numbers);
        self.bound.push(("0".to_owned(), name));
        self.add(&value);
        self.bound.truncate(before);
        true
    }
}

/// Splits arguments, into at most so many; further commas belong to the last.
fn split(text: &str, number: usize) -> Vec<&str> {
    let (mut depth, mut from) = (0usize, 0usize);
    let mut parts = Vec::new();
    for (at, one) in text.char_indices() {
        match one {
            '(' | '{' => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 && parts.len() + 1 < number => {
                parts.push(text.get(from..at).unwrap_or_default());
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text.get(from..).unwrap_or_default());
    parts
}

fn arg(args: &[String], at: usize) -> &str {
    args.get(at).map_or("", String::as_str)
}

fn is_open(text: &str) -> bool {
    text.contains(UNKNOWN)
}

/// Returns true if a text may represent anything but itself.
fn is_vague(text: &str) -> bool {
    is_open(text) || is_files(text)
}

/// Returns true if a text is not empty; `None` if that is unknown.
fn is_there(text: &str) -> Option<bool> {
    let mut words = text.split_whitespace().peekable();
    if words.peek().is_none() {
        return Some(false);
    }
    words.any(|word| !is_files(word) && !is_only_open(word)).then_some(true)
}

/// Returns true if a word is only an unknown value, which may be empty.
fn is_only_open(word: &str) -> bool {
    word.starts_with("${") && is_open(word) && word.ends_with('}')
}

/// Changes each word. `change` returns `None` if the result is unknown.
fn each(words: &str, change: impl Fn(&str) -> Option<String>) -> String {
    let one = |word: &str| change(word).unwrap_or_else(unquote::unknown);
    words.split_whitespace().map(one).collect::<Vec<_>>().join(" ")
}

// An unknown value may be several words.
fn put_before(prefix: &str, word: &str) -> Option<String> {
    (!is_open(word)).then(|| format!("{prefix}{word}"))
}

fn put_behind(word: &str, suffix: &str) -> Option<String> {
    (!is_open(word)).then(|| format!("{word}{suffix}"))
}

fn dir(word: &str) -> Option<String> {
    let directory = match word.rsplit_once('/') {
        Some((directory, _)) => format!("{directory}/"),
        None => "./".to_owned(),
    };
    (!is_open(word)).then_some(directory)
}

fn notdir(word: &str) -> Option<String> {
    (!is_open(word)).then(|| word.rsplit('/').next().unwrap_or_default().to_owned())
}

/// Returns the position of the dot before the ending of the last component.
fn ending(word: &str) -> Option<usize> {
    let name = word.rfind('/').map_or(0, |at| at + 1);
    word.get(name..)?.rfind('.').map(|at| name + at)
}

fn basename(word: &str) -> Option<String> {
    (!is_open(word)).then(|| ending(word).and_then(|at| word.get(..at)).unwrap_or(word).to_owned())
}

fn suffix(word: &str) -> Option<String> {
    let end = ending(word).and_then(|at| word.get(at..)).unwrap_or_default();
    let is_known = !is_open(word) && (!is_files(word) || !end.is_empty() && !has_pattern(end));
    is_known.then(|| end.to_owned())
}

fn absolute(directory: &str, word: &str) -> Option<String> {
    let from = (!directory.is_empty() || word.starts_with('/')).then_some(directory);
    from.filter(|_| !is_open(word)).and_then(|from| crate::path::collapse(Some(from), word))
}

fn wildcard(args: &[String]) -> String {
    let patterns = arg(args, 0);
    // Found names have no shell metacharacters, unless a file has such a name.
    if is_vague(patterns) || patterns.contains(super::SIGNS) {
        unquote::unknown()
    } else {
        unquote::files(patterns)
    }
}

/// Returns the part of a word that matches `%`, if the word fits; `None` if that is unknown. Only the first `%` is a
/// wildcard, and it also matches nothing.
fn fits<'w>(pattern: &str, word: &'w str) -> Option<Option<&'w str>> {
    let stem = match pattern.split_once('%') {
        Some((before, after)) => word
            .strip_prefix(before)
            .and_then(|rest| rest.strip_suffix(after).or_else(|| without_mark(rest)?.strip_suffix(after))),
        None => (word == pattern).then_some(word),
    };
    // Some of several files may fit, even if their pattern does not.
    (stem.is_some() || !is_vague(word)).then_some(stem)
}

/// Returns a name without the mark at its end.
fn without_mark(word: &str) -> Option<&str> {
    let (at, one) = word.char_indices().next_back()?;
    is_files(one.encode_utf8(&mut [0; 4])).then(|| word.get(..at))?
}

pub(super) fn patsubst(args: &[String]) -> String {
    let (pattern, to) = (arg(args, 0).trim(), arg(args, 1).trim());
    each(arg(args, 2), |word| {
        if is_vague(pattern) || is_open(word) {
            return None;
        }
        let Some(stem) = fits(pattern, word)? else { return Some(word.to_owned()) };
        Some(if pattern.contains('%') { to.replacen('%', stem, 1) } else { to.to_owned() })
    })
}

fn filter(args: &[String], keeps: bool) -> String {
    let patterns: Vec<&str> = arg(args, 0).split_whitespace().collect();
    let vague = patterns.iter().any(|pattern| is_vague(pattern));
    let words = arg(args, 1).split_whitespace().filter_map(|word| {
        if vague {
            return Some(unquote::unknown());
        }
        let fit: Vec<Option<bool>> =
            patterns.iter().map(|pattern| Some(fits(pattern, word)?.is_some())).collect();
        let is_fit =
            if fit.contains(&Some(true)) { Some(true) } else { (!fit.contains(&None)).then_some(false) };
        // An unknown match keeps the word, so that none is lost.
        (is_vague(word) || is_fit == Some(keeps)).then(|| word.to_owned())
    });
    words.collect::<Vec<_>>().join(" ")
}

fn findstring(args: &[String]) -> String {
    let (find, text) = (arg(args, 0), arg(args, 1));
    match is_vague(find) || is_vague(text) && !text.contains(find) {
        true => unquote::unknown(),
        false if text.contains(find) => find.to_owned(),
        false => String::new(),
    }
}

fn subst(args: &[String]) -> String {
    let (from, to, text) = (arg(args, 0), arg(args, 1), arg(args, 2));
    // A directory or an ending of files. The positions of other parts in their names are unknown.
    let is_of_files = !is_open(text) && from.contains(['/', '.']) && !to.contains("..");
    match is_vague(from) || is_vague(to) || from.is_empty() || is_vague(text) && !is_of_files {
        true => each(text, |_| None),
        false => text.replace(from, to),
    }
}

fn sort(args: &[String]) -> String {
    let mut words: Vec<&str> = arg(args, 0).split_whitespace().collect();
    words.sort_unstable();
    words.dedup();
    words.join(" ")
}

/// Returns one of the words. The choice is known if each word represents only itself, or if there is only one.
fn one_of<'w>(words: &'w str, choose: impl Fn(&[&'w str]) -> Option<&'w str>) -> String {
    let words: Vec<&str> = words.split_whitespace().collect();
    let is_known = words.len() < 2 || !words.iter().any(|word| is_vague(word));
    if is_known { choose(&words).unwrap_or_default().to_owned() } else { unquote::unknown() }
}

fn nth<'w>(number: &str, words: &[&'w str]) -> Option<&'w str> {
    number.trim().parse::<usize>().ok()?.checked_sub(1).and_then(|at| words.get(at).copied())
}

fn counted(words: &str) -> String {
    if is_vague(words) { unquote::unknown() } else { words.split_whitespace().count().to_string() }
}
