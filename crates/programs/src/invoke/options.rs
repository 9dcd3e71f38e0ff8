//! Parses options among the arguments, in the styles of real programs.

use super::joined::joined;
use std::collections::BTreeSet;

use super::{Invocation, Reading, Used};
use crate::arg::Arg;
use crate::limits::CLUSTER_LETTERS_MAX;
use crate::program::{Attribute, Opt, Program, SlotRole, Style, Takes};

/// The form of an argument, before the model is consulted.
enum Look<'a> {
    /// `--`
    End,
    /// Not an option.
    Operand,
    /// Perhaps an option.
    Uncertain,
    /// Begins with a dash, and is known completely.
    Known(&'a str),
    /// Begins with this text, which has a dash, and has an unknown rest.
    Begins(&'a str),
}

fn look(arg: &Arg) -> Look<'_> {
    match (arg.as_str(), arg.prefix()) {
        (Some("--"), _) => Look::End,
        (Some("-" | ""), _) => Look::Operand,
        (Some(text), _) if text.starts_with('-') => Look::Known(text),
        (Some(_), _) => Look::Operand,
        (None, "") => Look::Uncertain,
        (None, prefix) if prefix.starts_with('-') => Look::Begins(prefix),
        (None, _) => Look::Operand,
    }
}

impl Reading<'_> {
    /// Parses an argument that may be an option; false when it is an operand.
    pub(super) fn option(&mut self, arg: &Arg, at: usize) -> bool {
        let style = self.read.command.style;
        match style {
            Style::Keys => return self.key(arg, at),
            Style::Loose if self.loose(arg, at) => return true,
            Style::Find if self.expression(arg, at) => return true,
            Style::Bundled if at == 1 && self.bundle(arg, at) => return true,
            Style::Gnu
            | Style::Posix
            | Style::Negatable
            | Style::Modern
            | Style::Dash
            | Style::Loose
            | Style::Find
            | Style::Bundled
            | Style::Shell
            | Style::Plain => {}
        }
        if arg.as_str().is_some_and(|text| text == "-" || text.starts_with('+')) && self.undashed(arg, at) {
            return true;
        }
        if arg.prefix().starts_with('+')
            && let Some((option, flag)) = self.exact("+*")
        {
            self.push(option, flag, arg.strip_prefix("+"), at);
            return true;
        }
        match look(arg) {
            Look::Operand => self.plus(arg, at),
            Look::Uncertain => {
                self.read.uncertain.push(at);
                false
            }
            Look::End => {
                // The expression of `find` continues after `--`.
                self.ended = style != Style::Find;
                self.read.ended_at = Some(at);
                self.placed.after_dashes = 0;
                true
            }
            Look::Known(text) => self.dashed(arg, text, at, style),
            Look::Begins(prefix) => self.partly_known(arg, prefix, at),
        }
    }

    /// Parses `-` alone, or an option that begins with a plus, if the model has it.
    fn undashed(&mut self, arg: &Arg, at: usize) -> bool {
        let text = arg.as_str().unwrap_or_default();
        if let Some((option, flag)) = self.exact(text) {
            self.take(option, flag, at);
            return true;
        }
        self.number(text, at) || text.starts_with('+') && self.letters(text, at)
    }

    /// Parses `-Command`, `/c`, `-exec:bypass`.
    fn loose(&mut self, arg: &Arg, at: usize) -> bool {
        let prefix = arg.prefix();
        let Some(name) = prefix.strip_prefix(['-', '/']) else { return false };
        if self.glued(arg, at) {
            return true;
        }
        let (name, has_value) = name.split_once(':').map_or((name, false), |(name, _)| (name, true));
        if name.is_empty() || arg.as_str().is_none() && !has_value {
            return false;
        }
        let lower = format!("-{}", name.trim_start_matches('-').to_ascii_lowercase());
        let all = || self.spellings().map(|(option, flag)| (option, flag, flag.to_ascii_lowercase()));
        let found = all().find(|(_, _, flag)| *flag == lower);
        let found = found.or_else(|| all().find(|(_, _, flag)| flag.starts_with(&lower)));
        let Some((option, flag, _)) = found else { return false };
        if has_value {
            let start = prefix.find(':').map_or(0, |colon| colon + 1);
            self.push(option, flag, prefix.get(..start).and_then(|start| arg.strip_prefix(start)), at);
        } else {
            self.take(option, flag, at);
        }
        true
    }

    /// Parses `/q/d/cTEXT`, `/v:on/cTEXT`: an option that takes the rest as code needs no blank before it.
    fn glued(&mut self, arg: &Arg, at: usize) -> bool {
        let takes_all = |option: &Opt| option.slot.role == SlotRole::JoinedCode;
        if !self.exact("-c").is_some_and(|(option, _)| takes_all(option)) {
            return false;
        }
        let mut before = Vec::new();
        let mut rest = arg.prefix();
        while let Some(behind) = rest.strip_prefix('/') {
            let Some(letter) = behind.chars().next() else { break };
            let found = self.exact(&format!("-{}", letter.to_ascii_lowercase()));
            let Some((option, flag)) = found else { break };
            rest = behind.get(letter.len_utf8()..).unwrap_or_default();
            if takes_all(option) {
                let end = arg.prefix().len() - rest.len();
                let text = arg.prefix().get(..end).and_then(|before| arg.strip_prefix(before));
                let text = text.filter(|text| text.as_str() != Some(""));
                let all: Vec<Arg> = text.into_iter().chain(self.rest().iter().cloned()).collect();
                before.into_iter().for_each(|(option, flag)| self.push(option, flag, None, at));
                self.at = self.argv.len();
                let code = (!all.is_empty()).then(|| joined(&all));
                self.push(option, flag, code, at);
                return true;
            }
            before.push((option, flag));
            if rest.starts_with(':') {
                rest = rest.find('/').and_then(|next| rest.get(next..)).unwrap_or_default();
            }
        }
        false
    }

    fn dashed(&mut self, arg: &Arg, text: &str, at: usize, style: Style) -> bool {
        if let Some((option, flag)) = self.exact(text) {
            self.take(option, flag, at);
            return true;
        }
        if let Some((name, _)) = text.split_once('=')
            && let Some((option, flag)) = self.exact(name).or_else(|| self.abbreviated(name, style))
        {
            let value = arg.strip_prefix(name).and_then(|rest| rest.strip_prefix("="));
            self.with_value(option, flag, value, at);
            return true;
        }
        if let Some((option, flag)) = self.abbreviated(text, style) {
            self.take(option, flag, at);
            return true;
        }
        if style == Style::Negatable && self.taken_back(text, style) {
            return true;
        }
        let clusters = !matches!(style, Style::Dash | Style::Loose | Style::Find) && !text.starts_with("--");
        let takes_after = style == Style::Shell;
        if !(clusters && if takes_after { self.letters(text, at) } else { self.cluster(arg, text, at) }) {
            self.read.unknown.push(at);
        }
        true
    }

    /// Stores `--name=value`. An option without a value may still be switched on or off: `--dry-run=false`.
    fn with_value(&mut self, option: &'static Opt, flag: &'static str, value: Option<Arg>, at: usize) {
        let calms = [Attribute::Dry, Attribute::Inert].iter().any(|one| option.attributes.contains(one));
        match value.as_ref().map(Arg::as_str) {
            Some(Some("false" | "no" | "off" | "0")) if option.takes == Takes::Nothing => {
                self.read.options.retain(|used| !std::ptr::eq(used.option, option));
            }
            Some(text)
                if option.takes == Takes::Nothing
                    && calms
                    && !matches!(text, Some("true" | "yes" | "on" | "1")) =>
            {
                self.read.unknown.push(at);
            }
            _ => self.push(option, flag, value, at),
        }
    }

    /// Parses `--no-force`, which removes an earlier `--force`.
    fn taken_back(&mut self, text: &str, style: Style) -> bool {
        let Some(name) = text.strip_prefix("--no-") else { return false };
        let name = format!("--{name}");
        let Some((option, _)) = self.exact(&name).or_else(|| self.abbreviated(&name, style)) else {
            return false;
        };
        self.read.options.retain(|used| !std::ptr::eq(used.option, option));
        true
    }

    /// Parses an option whose end is not known: `--output=$X`, `-o$X`.
    fn partly_known(&mut self, arg: &Arg, prefix: &str, at: usize) -> bool {
        if let Some((name, _)) = prefix.split_once('=')
            && let Some((option, flag)) = self.exact(name)
        {
            let value = arg.strip_prefix(name).and_then(|rest| rest.strip_prefix("="));
            self.with_value(option, flag, value, at);
        } else if let Some((short, _)) = split_short(prefix)
            && let Some((option, flag)) = self.exact(short)
            && option.takes != Takes::Nothing
        {
            let value = arg.strip_prefix(short);
            self.push(option, flag, value, at);
        } else {
            self.read.uncertain.push(at);
            self.read.unknown.push(at);
        }
        true
    }

    /// Parses short options in one argument. If one of them is unknown, none is used.
    fn cluster(&mut self, arg: &Arg, text: &str, at: usize) -> bool {
        let mut found = Vec::new();
        let mut before = String::from("-");
        let mut short = String::from("-");
        let mut letters = text.chars().skip(1).peekable();
        let mut seen = BTreeSet::new();
        while let Some(letter) = letters.next() {
            before.push(letter);
            if found.len() >= CLUSTER_LETTERS_MAX && seen.contains(&letter) {
                continue;
            }
            short.truncate(1);
            short.push(letter);
            let Some((option, flag)) = self.exact(&short) else {
                return self.number(text, at);
            };
            if option.takes == Takes::Nothing {
                found.push((option, flag, None));
                seen.insert(letter);
                continue;
            }
            if option.slot.detail == "digits" {
                let digits: String = std::iter::from_fn(|| letters.next_if(char::is_ascii_digit)).collect();
                before.push_str(&digits);
                found.push((option, flag, (!digits.is_empty()).then(|| Arg::known(digits))));
                continue;
            }
            let rest = arg.strip_prefix(&before).filter(|rest| rest.as_str() != Some(""));
            let next = rest.is_none() && option.takes == Takes::Value;
            found.push((option, flag, rest));
            if next {
                let last = found.pop();
                self.push_all(found, at);
                if let Some((option, flag, _)) = last {
                    self.take(option, flag, at);
                }
                return true;
            }
            break;
        }
        self.push_all(found, at);
        true
    }

    fn push_all(&mut self, found: Vec<(&'static Opt, &'static str, Option<Arg>)>, at: usize) {
        for (option, flag, value) in found {
            self.push(option, flag, value, at);
        }
    }

    /// Parses `-9`, `+5`: an option that is a number.
    fn number(&mut self, text: &str, at: usize) -> bool {
        let mut letters = text.chars();
        let sign = letters.next();
        let digits = letters.as_str();
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return false;
        }
        let name = if sign == Some('+') { "+#" } else { "-#" };
        let Some((option, flag)) = self.exact(name) else { return false };
        self.push(option, flag, Some(Arg::known(digits)), at);
        true
    }

    /// Parses `cargo +nightly build`: before the subcommand, for programs that have an option `+*`.
    fn plus(&mut self, arg: &Arg, at: usize) -> bool {
        let Some(value) = arg.strip_prefix("+").filter(|_| self.read.subcommand.is_empty()) else {
            return false;
        };
        let Some((option, flag)) = self.exact("+*") else { return false };
        self.push(option, flag, Some(value), at);
        true
    }

    /// Parses `if=file`.
    fn key(&mut self, arg: &Arg, at: usize) -> bool {
        let Some((name, _)) = arg.prefix().split_once('=') else {
            if arg.prefix().is_empty() && arg.as_str().is_none() {
                self.read.uncertain.push(at);
            }
            return arg.as_str().and_then(|text| self.exact(text)).is_some_and(|(option, flag)| {
                self.push(option, flag, None, at);
                true
            });
        };
        let name = format!("{name}=");
        match self.exact(&name) {
            Some((option, flag)) => self.push(option, flag, arg.strip_prefix(&name), at),
            None => self.read.unknown.push(at),
        }
        true
    }

    /// Parses parentheses and operators of `find`'s expression, which begins at the first operator or option.
    fn expression(&mut self, arg: &Arg, at: usize) -> bool {
        let text = arg.as_str().unwrap_or_default();
        let operator = matches!(text, "(" | ")" | "!" | ",");
        // Options of one letter, and `-O2`, come before the paths.
        let begins = text.len() > 2 && text.starts_with('-') && !text.starts_with("-O");
        self.in_expression |= operator || begins;
        if self.in_expression && !operator && !text.starts_with('-') {
            // A value of a predicate that is not in the model.
            self.read.unknown.push(at);
            return true;
        }
        operator
    }

    /// Parses `tar xzf FILE`: letters of the first argument, each with its value in the following arguments.
    fn bundle(&mut self, arg: &Arg, at: usize) -> bool {
        let text = arg.as_str().filter(|text| !text.is_empty() && !text.starts_with('-'));
        text.is_some_and(|text| self.each_letter('-', text, at))
    }

    /// Parses `-euo` or `+eo`, with their values in the following arguments.
    fn letters(&mut self, text: &str, at: usize) -> bool {
        let mut letters = text.chars();
        let sign = letters.next().filter(|_| !letters.as_str().is_empty());
        sign.is_some_and(|sign| self.each_letter(sign, letters.as_str(), at))
    }

    /// Parses letters as options, with their values in the following arguments. If one is unknown, none is used.
    fn each_letter(&mut self, sign: char, text: &str, at: usize) -> bool {
        let mut seen = BTreeSet::new();
        let counting =
            |(number, letter): &(usize, char)| seen.insert(*letter) || *number < CLUSTER_LETTERS_MAX;
        let letters = text.chars().enumerate().filter(counting);
        let options: Option<Vec<_>> =
            letters.map(|(_, letter)| self.exact(&format!("{sign}{letter}"))).collect();
        let Some(options) = options else { return false };
        for (option, flag) in options {
            self.take(option, flag, at);
        }
        true
    }

    /// Stores an option. If the option needs a value, the next argument is its value.
    fn take(&mut self, option: &'static Opt, flag: &'static str, at: usize) {
        if option.takes == Takes::Value && option.slot.role == SlotRole::Clause {
            let clause: Vec<Arg> = self.rest().iter().take_while(|arg| !ends_clause(arg)).cloned().collect();
            self.at += clause.len() + 1;
            self.read.options.push(Used { option, flag, value: None, clause, at });
            return;
        }
        if option.slot.role == SlotRole::JoinedCode {
            let text = (!self.rest().is_empty()).then(|| joined(self.rest()));
            self.at = self.argv.len();
            return self.push(option, flag, text, at);
        }
        let mut value = None;
        let is_option = self.rest().first().is_some_and(|next| next.prefix().starts_with('-'));
        let is_alone = option.attributes.contains(&Attribute::Optional) && is_option;
        if option.takes == Takes::Value && !is_alone {
            value = self.argv.get(self.at).cloned();
            self.at += option.slot.detail.parse().unwrap_or(1);
        }
        self.push(option, flag, value, at);
    }

    /// Stores an option with its value. After `xterm -e COMMAND`, the rest belongs to the command.
    fn push(&mut self, option: &'static Opt, flag: &'static str, value: Option<Arg>, at: usize) {
        if option.slot.role == SlotRole::Command && option.slot.detail != "operands" {
            self.ended = true;
            self.command_at = at;
        }
        if option.attributes.contains(&Attribute::Last) && !self.ended {
            self.ended = true;
            self.at += usize::from(self.rest().first().is_some_and(|arg| arg.as_str() == Some("--")));
        }
        // A command in the argument of its option has no further words: `fd --exec=rm`, `fd -xrm`, `fd -x=rm`.
        let is_clause = option.slot.role == SlotRole::Clause;
        let word = value.as_ref().filter(|_| is_clause);
        let clause =
            word.map(|word| word.strip_prefix("=").unwrap_or_else(|| word.clone())).into_iter().collect();
        self.read.options.push(Used { option, flag, value, clause, at });
    }

    fn rest(&self) -> &[Arg] {
        self.argv.get(self.at..).unwrap_or_default()
    }

    /// Returns the option of this spelling, the subcommand's first. In a style with one dash, two dashes mean the same.
    fn exact(&self, text: &str) -> Option<(&'static Opt, &'static str)> {
        let one_dash = text.strip_prefix('-').filter(|_| self.read.command.style == Style::Dash);
        let in_program =
            |program: &&'static Program| program.option(text).or_else(|| program.option(one_dash?));
        self.read.levels.iter().rev().find_map(in_program)
    }

    /// Returns the long option for an unambiguous abbreviation.
    fn abbreviated(&self, text: &str, style: Style) -> Option<(&'static Opt, &'static str)> {
        let abbreviates = matches!(style, Style::Gnu | Style::Posix | Style::Negatable | Style::Bundled);
        if !abbreviates || !text.starts_with("--") {
            return None;
        }
        let mut fitting = self.spellings().filter(|(_, flag)| flag.starts_with(text));
        let first = fitting.next()?;
        fitting.all(|(option, _)| std::ptr::eq(option, first.0)).then_some(first)
    }

    fn spellings(&self) -> impl Iterator<Item = (&'static Opt, &'static str)> {
        let options = self.read.levels.iter().rev().flat_map(|program| program.options);
        options.flat_map(|option| option.flags.iter().map(move |flag| (option, *flag)))
    }
}

impl Opt {
    /// Reports whether an option of another level is the same option: both take the same kind of value, and share a
    /// long name unless one has none.
    pub(super) fn is_same(&self, other: &Opt) -> bool {
        let is_long = |flag: &&&str| flag.starts_with("--");
        let (mut own, mut its) = (self.flags.iter().filter(is_long), other.flags.iter().filter(is_long));
        let share = self.flags.iter().filter(is_long).any(|flag| other.flags.contains(flag));
        std::ptr::eq(self, other)
            || self.takes == other.takes
                && self.slot.role == other.slot.role
                && (share || own.next().is_none() || its.next().is_none())
    }
}

impl Program {
    pub(super) fn option(&'static self, text: &str) -> Option<(&'static Opt, &'static str)> {
        let spelled = |(option, flag): &(u16, u8)| {
            let option = self.options.get(usize::from(*option))?;
            Some((option, *option.flags.get(usize::from(*flag))?))
        };
        let order = |one: &(u16, u8)| spelled(one).map(|(_, flag)| flag).cmp(&Some(text));
        spelled(self.spellings.get(self.spellings.binary_search_by(order).ok()?)?)
    }
}

impl Invocation {
    /// Returns the options in full spelling, without clusters, and unknown arguments that look like options.
    pub fn flags<'i>(&'i self, argv: &'i [Arg]) -> impl Iterator<Item = String> {
        let known = self.options.iter().map(|used| (used.at, used.flag.to_owned()));
        let unknown = self.unknown.iter().filter_map(|at| Some((*at, argv.get(*at)?.written().into_owned())));
        let mut all: Vec<(usize, String)> = known.chain(unknown).collect();
        all.sort_by_key(|(at, _)| *at);
        all.into_iter().map(|(_, flag)| flag)
    }

    /// Returns all spellings of the known options.
    pub fn spellings(&self) -> impl Iterator<Item = &'static str> {
        self.options.iter().flat_map(|used| used.option.flags.iter().copied())
    }
}

fn ends_clause(arg: &Arg) -> bool {
    matches!(arg.as_str(), Some(";" | "+"))
}

/// Splits `-oREST` into `-o` and the rest.
fn split_short(text: &str) -> Option<(&str, &str)> {
    let second = text.char_indices().nth(1)?;
    text.split_at_checked(second.0 + second.1.len_utf8())
}
