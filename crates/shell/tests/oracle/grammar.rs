//! The grammar of random texts: reads `grammar.txt` and makes texts of its rules. This module must not know shells, except by
//! their letters.

use std::collections::{BTreeMap, BTreeSet};

use super::draws::Draws;

/// Levels of rules. Below them, and without fuel, the first alternative is taken.
const DEPTH_MAX: usize = 16;
/// Rules of one text.
const FUEL: usize = 90;

/// Random texts of each shell: together they have every alternative.
pub(crate) const TEXTS: usize = 1_000;

const SOURCE: &str = include_str!("grammar.txt");

/// An alternative of a rule: the rule's name and its number in the rule.
pub(crate) type Production = (&'static str, usize);

/// The number of steps from a rule to an unused alternative.
type Steps = BTreeMap<&'static str, usize>;

/// The rules that one shell has.
#[derive(Debug)]
pub(crate) struct Grammar {
    rules: BTreeMap<&'static str, Vec<Line>>,
}

/// A line of a rule: alternatives that are equally likely.
#[derive(Debug)]
struct Line {
    weight: usize,
    alternatives: Vec<Alternative>,
}

#[derive(Debug)]
struct Alternative {
    /// The position in the rule, over all shells.
    number: usize,
    pieces: Vec<Piece>,
}

#[derive(Debug)]
enum Piece {
    Text(String),
    /// `‹#›`
    Label,
    Rule {
        name: &'static str,
        times: Times,
    },
}

#[derive(Debug)]
enum Times {
    Once,
    Words(usize),
    Lines(usize),
    InSingleQuotes,
    InDoubleQuotes,
}

impl Grammar {
    /// Returns the rules of the shell with this letter.
    pub(crate) fn of(letter: char) -> Grammar {
        let mut rules: BTreeMap<&'static str, Vec<Line>> = BTreeMap::new();
        let (mut rule, mut number) = ("", 0);
        for line in SOURCE.lines() {
            if let Some(name) = line.strip_prefix("## ") {
                (rule, number) = (name, 0);
            } else if let Some((head, texts)) = line.split_once(": ").filter(|_| !line.starts_with("# ")) {
                let (shells, weight) = head.split_once(' ').unwrap_or((head, "1"));
                let texts = texts.split(" ¦ ").map(pieces).enumerate();
                let alternatives: Vec<Alternative> =
                    texts.map(|(at, pieces)| Alternative { number: number + at, pieces }).collect();
                number += alternatives.len();
                if shells == "*" || shells.contains(letter) {
                    let weight = weight.parse().unwrap_or(1);
                    rules.entry(rule).or_default().push(Line { weight, alternatives });
                }
            }
        }
        Grammar { rules }
    }

    /// Returns the choices of the first texts of a seed. Half of them prefer alternatives that no text before has used.
    pub(crate) fn texts(&self, seed: u32, count: usize) -> Vec<Vec<u32>> {
        let mut used = BTreeSet::new();
        let all = self.productions().len();
        let mut texts = Vec::new();
        for number in 0..count {
            let is_bent = number % 2 == 0 && used.len() < all;
            let steps = if is_bent { self.steps_to_unused(&used) } else { Steps::new() };
            let mut draws = Draws::random(u64::from(seed) << 32 | number as u64);
            self.make(&mut draws, &mut used, &steps);
            texts.push(draws.taken());
        }
        texts
    }

    /// Returns the text of these choices.
    pub(crate) fn text(&self, draws: &[u32]) -> String {
        self.make(&mut Draws::given(draws), &mut BTreeSet::new(), &Steps::new())
    }

    fn make(&self, draws: &mut Draws, used: &mut BTreeSet<Production>, steps: &Steps) -> String {
        Making { grammar: self, draws, used, steps, depth: 0, fuel: FUEL, labels: 0 }.rule("text")
    }

    /// Returns the rules that lead to an unused alternative, with the number of steps to it.
    fn steps_to_unused(&self, used: &BTreeSet<Production>) -> Steps {
        let mut steps = Steps::new();
        loop {
            let before = steps.clone();
            for (name, lines) in &self.rules {
                let all = lines.iter().flat_map(|line| &line.alternatives);
                if let Some(least) = all.filter_map(|one| one.steps(name, used, &steps)).min() {
                    steps.insert(*name, least);
                }
            }
            if steps == before {
                return steps;
            }
        }
    }

    fn productions(&self) -> BTreeSet<Production> {
        let lines = self.rules.iter().flat_map(|(name, lines)| lines.iter().map(move |line| (*name, line)));
        lines.flat_map(|(name, line)| line.alternatives.iter().map(move |one| (name, one.number))).collect()
    }
}

impl Alternative {
    /// Returns the number of steps to an unused alternative.
    fn steps(&self, rule: &'static str, used: &BTreeSet<Production>, steps: &Steps) -> Option<usize> {
        if !used.contains(&(rule, self.number)) {
            return Some(0);
        }
        let of_piece = |piece: &Piece| match piece {
            Piece::Rule { name, .. } => steps.get(name).map(|steps| steps + 1),
            Piece::Text(_) | Piece::Label => None,
        };
        self.pieces.iter().filter_map(of_piece).min()
    }
}

fn pieces(text: &'static str) -> Vec<Piece> {
    let plain = |text: &str| Piece::Text(text.replace('⏎', "\n").replace('⇥', "\t").replace('␣', " "));
    let mut pieces = Vec::new();
    for (at, part) in text.split('‹').enumerate() {
        let Some((called, rest)) = part.split_once('›').filter(|_| at > 0) else {
            pieces.push(plain(part));
            continue;
        };
        pieces.push(if called == "#" { Piece::Label } else { rule_piece(called) });
        pieces.push(plain(rest));
    }
    pieces
}

fn rule_piece(called: &'static str) -> Piece {
    let most = |text: &str| text.parse().unwrap_or(1);
    let within = |quote: char| called.strip_prefix(quote).and_then(|inner| inner.strip_suffix(quote));
    let (name, times) = match (within('\''), within('"')) {
        (Some(name), _) => (name, Times::InSingleQuotes),
        (_, Some(name)) => (name, Times::InDoubleQuotes),
        (None, None) => match (called.split_once('*'), called.split_once('+')) {
            (Some((name, times)), _) => (name, Times::Words(most(times))),
            (_, Some((name, times))) => (name, Times::Lines(most(times))),
            (None, None) => (called, Times::Once),
        },
    };
    Piece::Rule { name, times }
}

struct Making<'g> {
    grammar: &'g Grammar,
    draws: &'g mut Draws,
    used: &'g mut BTreeSet<Production>,
    /// Rules that lead to an unused alternative; none for a text without preference.
    steps: &'g Steps,
    depth: usize,
    fuel: usize,
    labels: usize,
}

impl Making<'_> {
    fn rule(&mut self, name: &'static str) -> String {
        let grammar = self.grammar;
        let Some(chosen) = grammar.rules.get(name).and_then(|lines| self.choose(name, lines)) else {
            return String::new();
        };
        self.used.insert((name, chosen.number));
        self.depth += 1;
        self.fuel = self.fuel.saturating_sub(1);
        self.labels += 1;
        let label = self.labels.to_string();
        let mut text = String::new();
        for piece in &chosen.pieces {
            match piece {
                Piece::Text(plain) => text.push_str(plain),
                Piece::Label => text.push_str(&label),
                Piece::Rule { name, times } => text.push_str(&self.piece(name, times)),
            }
        }
        self.depth -= 1;
        text
    }

    fn piece(&mut self, name: &'static str, times: &Times) -> String {
        match times {
            Times::Once => self.rule(name),
            Times::Words(most) => {
                let count = self.draws.below(most + 1);
                (0..count).map(|_| self.rule(name)).collect::<Vec<_>>().join(" ")
            }
            Times::Lines(most) => {
                let count = 1 + self.draws.below(*most);
                (0..count).map(|_| self.rule(name)).collect::<Vec<_>>().join("\n")
            }
            Times::InSingleQuotes => format!("'{}'", self.rule(name).replace('\'', "'\\''")),
            Times::InDoubleQuotes => in_double_quotes(&self.rule(name)),
        }
    }

    /// Choice 0 is the first alternative, the simplest.
    fn choose<'g>(&mut self, rule: &'static str, lines: &'g [Line]) -> Option<&'g Alternative> {
        if self.depth >= DEPTH_MAX || self.fuel == 0 {
            return lines.first()?.alternatives.first();
        }
        let weights = lines.iter().map(|line| line.weight);
        let drawn = self.draws.below(weights.clone().sum());
        let steps = |one: &Alternative| one.steps(rule, self.used, self.steps);
        let least_of = |line: &Line| line.alternatives.iter().filter_map(steps).min();
        let least =
            if self.steps.contains_key(rule) { lines.iter().filter_map(least_of).min() } else { None };
        let start_of = |at: usize| weights.clone().take(at).sum::<usize>();
        let mut at = (0..lines.len()).rposition(|at| start_of(at) <= drawn)?;
        if let Some(other) = least.and_then(|_| next(at, lines, |line| least_of(line) == least)) {
            at = other;
            self.draws.correct(start_of(at));
        }
        let alternatives = &lines.get(at)?.alternatives;
        let mut at = self.draws.below(alternatives.len());
        if let Some(other) = least.and_then(|_| next(at, alternatives, |one| steps(one) == least)) {
            at = other;
            self.draws.correct(at);
        }
        alternatives.get(at)
    }
}

/// Returns the first position from `at` on, and then from the beginning, that is wanted.
fn next<T>(at: usize, among: &[T], wanted: impl Fn(&T) -> bool) -> Option<usize> {
    let all = (at..among.len()).chain(0..at);
    all.into_iter().find(|at| among.get(*at).is_some_and(&wanted))
}

fn in_double_quotes(text: &str) -> String {
    let mut quoted = String::from("\"");
    for one in text.chars() {
        if matches!(one, '"' | '\\' | '`' | '$') {
            quoted.push('\\');
        }
        quoted.push(one);
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::super::shells::TRIED;
    use super::*;

    #[test]
    fn the_texts_have_every_alternative_of_the_grammar() {
        for tried in TRIED {
            let grammar = Grammar::of(tried.letter);
            let mut used = BTreeSet::new();
            for draws in grammar.texts(0, TEXTS) {
                grammar.make(&mut Draws::given(&draws), &mut used, &Steps::new());
            }
            let all = grammar.productions();
            let unused: Vec<_> = all.difference(&used).collect();
            assert!(unused.is_empty(), "no text for {} has {unused:?}", tried.name);
        }
    }

    #[test]
    fn alternatives_name_rules_of_their_shells() {
        for tried in TRIED {
            let grammar = Grammar::of(tried.letter);
            let alternatives = grammar.rules.values().flatten().flat_map(|line| &line.alternatives);
            for piece in alternatives.flat_map(|one| &one.pieces) {
                if let Piece::Rule { name, .. } = piece {
                    assert!(grammar.rules.contains_key(name), "{} has no rule {name}", tried.name);
                }
            }
        }
    }
}
