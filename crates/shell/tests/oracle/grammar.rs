//! The grammar of random texts: reads `grammar.txt` and makes texts of its rules. This module must not know shells but by
//! their letters.

use std::collections::{BTreeMap, BTreeSet};

use super::draws::Draws;

/// Levels of rules. Below them, and without fuel, the first alternative is taken.
const DEPTH_MAX: usize = 16;
/// Rules of one text.
const FUEL: usize = 90;

const SOURCE: &str = include_str!("grammar.txt");

/// An alternative of a rule: the rule's name and its number in the rule.
pub(crate) type Production = (&'static str, usize);

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

    /// Makes a text, and adds the alternatives that it uses.
    pub(crate) fn text(&self, draws: &mut Draws, used: &mut BTreeSet<Production>) -> String {
        Making { grammar: self, draws, used, depth: 0, fuel: FUEL, labels: 0 }.rule("text")
    }

    /// Returns every alternative.
    pub(crate) fn productions(&self) -> BTreeSet<Production> {
        let lines = self.rules.iter().flat_map(|(name, lines)| lines.iter().map(move |line| (*name, line)));
        lines.flat_map(|(name, line)| line.alternatives.iter().map(move |one| (name, one.number))).collect()
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
    depth: usize,
    fuel: usize,
    labels: usize,
}

impl Making<'_> {
    fn rule(&mut self, name: &'static str) -> String {
        let grammar = self.grammar;
        let Some(chosen) = grammar.rules.get(name).and_then(|lines| self.choose(lines)) else {
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
    fn choose<'g>(&mut self, lines: &'g [Line]) -> Option<&'g Alternative> {
        if self.depth >= DEPTH_MAX || self.fuel == 0 {
            return lines.first()?.alternatives.first();
        }
        let mut at = self.draws.below(lines.iter().map(|line| line.weight).sum());
        let line = lines.iter().find(|line| {
            let is_here = at < line.weight;
            at = at.saturating_sub(line.weight);
            is_here
        })?;
        line.alternatives.get(self.draws.below(line.alternatives.len()))
    }
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
