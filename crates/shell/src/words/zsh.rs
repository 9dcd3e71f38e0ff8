//! Expansions that only zsh has: `$=x`, `${(e)x}`, `${${x}:h}` (zshexpn). A part that changes the value in a way that is
//! not modelled makes it unknown. This module must not know commands.

use castellan_event::{Role, Why};
use castellan_programs::Quoting;

use super::fields::{Bit, How};
use super::parameters::{At, Got};
use crate::scope::Scope;
use crate::state::{State, Value};
use crate::text::Text;
use crate::tree::{Parameter, Part, Word, ZshExpansion};
use crate::walk::Walker;

/// A flag of `${(flags)x}` with its argument: `s:,:`.
type Flag<'f> = (char, &'f str);

/// Flags with an argument between delimiters.
const WITH_ARGUMENT: &[char] = &['g', 'I', 'j', 'l', 'r', 's', 'Z', '_'];

impl Walker<'_> {
    /// Expands a parameter with its parts that only zsh has.
    pub(super) fn zsh_parameter(
        &mut self,
        state: &mut State,
        scope: &Scope,
        parameter: &Parameter,
        zsh: &ZshExpansion,
        quoted: bool,
    ) -> Vec<Bit> {
        let written = Self::written(scope, parameter.span, &parameter.name);
        let flags = flags(&zsh.flags);
        let got = self.zsh_value(state, scope, parameter, zsh);
        let got = self.zsh_operation(state, scope, (&parameter.name, zsh.operation.as_ref()), got);
        let got = match &flags {
            Some(flags) => self.flagged(state, scope, parameter, flags, got),
            None => unknown(&got),
        };
        let is_set = match &got {
            Got::Unset => Some("0"),
            Got::One(_) | Got::Many { .. } => Some("1"),
            Got::Unknown { .. } => None,
        };
        if let Some(number) = is_set.filter(|_| zsh.signs == "+") {
            return self.bits_of(state, Got::One(Text::known(number)), quoted, &written);
        }
        if zsh.signs.contains(['^', '+']) {
            let got = unknown(&got);
            return self.bits_of(state, got, quoted, &written);
        }
        let bits = self.bits_of(state, got, quoted, &written);
        let splits = !quoted && zsh.signs.contains('=');
        let is_pattern = !quoted && zsh.signs.contains('~');
        let changed_how = |how| match how {
            How::Expanded if splits => How::Split,
            How::Expanded if is_pattern => How::Written,
            How::Quoted | How::Written | How::Expanded | How::Split => how,
        };
        let changed = bits.into_iter().map(|bit| match bit {
            Bit::Text { text, how: before } => Bit::Text { text, how: changed_how(before) },
            Bit::Unknown { .. } | Bit::Break | Bit::Empty | Bit::Nothing => bit,
        });
        changed.collect()
    }

    /// Returns the value with the operation that other shells have, too.
    fn zsh_value(
        &mut self,
        state: &mut State,
        scope: &Scope,
        parameter: &Parameter,
        zsh: &ZshExpansion,
    ) -> Got {
        let written = Self::written(scope, parameter.span, &parameter.name);
        let (name, index, got) = match &zsh.nested {
            Some(word) => {
                let bits = self.word_bits(state, scope, word, super::Tilde::Nowhere);
                let is_several = bits.contains(&Bit::Break);
                let text = self.text_of(&bits);
                let why = Why::Expansion;
                let got = if is_several { Got::Unknown { why, several: true } } else { Got::One(text) };
                let got = if parameter.index.is_some() { unknown(&got) } else { got };
                (String::new(), At::Whole, got)
            }
            None if parameter.name.is_empty() => (String::new(), At::Whole, Got::Unset),
            None => match self.named(state, scope, parameter) {
                Some((name, index)) => {
                    let got = self.look_up(state, &name, &index);
                    (name, index, got)
                }
                None => return Got::Unknown { why: Why::Variable, several: true },
            },
        };
        // Its bits would be split here: an operation has one value, but for lists.
        let bits = self.operate(state, scope, parameter, (&name, &index), got.clone(), true, &written);
        match (&parameter.operation, got) {
            (crate::tree::Operation::Value, got) => got,
            (_, got @ Got::Many { .. }) => unknown(&got),
            _ => Got::One(self.text_of(&bits)),
        }
    }

    /// `:h`, `:t`, `:r`, `:e`, `:l`, `:u`: the value of modifiers in a row. Others, and further indices, are unknown.
    fn zsh_operation(
        &mut self,
        state: &mut State,
        scope: &Scope,
        (name, operation): (&str, Option<&Word>),
        got: Got,
    ) -> Got {
        let Some(word) = operation else { return got };
        let written = self.text(state, scope, word);
        if let Some(value) = written.to_arg().strip_prefix("::=") {
            let text = Text::from(&value);
            state.set(name, Value::Scalar(text.clone()));
            return Got::One(text);
        }
        let is_static = word.parts.iter().all(|part| matches!(part, Part::Text { .. }));
        let (Some(modifiers), Got::One(text), true) = (written.as_str(), &got, is_static) else {
            return unknown(&got);
        };
        let Some(known) = text.as_str() else { return unknown(&got) };
        match modified(known, modifiers) {
            Some(text) => Got::One(Text::known(text)),
            None => unknown(&got),
        }
    }

    /// Applies the flags. `e` and `%` run the substitutions in the value.
    fn flagged(
        &mut self,
        state: &mut State,
        scope: &Scope,
        parameter: &Parameter,
        flags: &[Flag<'_>],
        mut got: Got,
    ) -> Got {
        if flags.iter().any(|(letter, _)| *letter == 'P') {
            got = match &got {
                Got::One(text) => match text.as_str() {
                    Some(name) => match self.place(state, scope, name, parameter.span) {
                        Some((name, index)) => self.look_up(state, &name, &index),
                        None => unknown(&got),
                    },
                    None => unknown(&got),
                },
                Got::Unset | Got::Many { .. } | Got::Unknown { .. } => unknown(&got),
            };
        }
        for (letter, argument) in flags {
            got = match (*letter, got) {
                ('@', Got::Many { values, .. }) => Got::Many { values, joined: false },
                ('P' | '@', got) => got,
                ('A', got) => {
                    // The assigned value is an array.
                    state.set(&parameter.name, Value::Unknown(Why::Expansion));
                    unknown(&got)
                }
                ('e' | '%', got) => {
                    if let Got::Unknown { why, .. } = &got {
                        let written = Self::written(scope, parameter.span, &parameter.name);
                        self.gap(scope, Role::Code, *why, &written, parameter.span);
                    }
                    for text in got.texts() {
                        self.prompt(state, scope, &text, parameter.span);
                    }
                    unknown(&got)
                }
                ('f', Got::One(text)) => pieces(&text, "\n"),
                ('0', Got::One(text)) => pieces(&text, "\0"),
                ('s', Got::One(text)) => pieces(&text, argument),
                ('z' | 'Z', Got::One(text)) => match text.as_str() {
                    Some(known) => {
                        let values = Quoting::XARGS.words(known).into_iter().map(Text::known).collect();
                        Got::Many { values, joined: false }
                    }
                    None => Got::Unknown { why: Why::Expansion, several: true },
                },
                ('j', Got::Many { values, .. }) => joined(&values, argument),
                ('L', Got::One(text)) => changed(&text, str::to_lowercase),
                ('U', Got::One(text)) => changed(&text, str::to_uppercase),
                (_, got) => unknown(&got),
            };
        }
        got
    }
}

/// Reads flags; nothing if an argument has no end.
fn flags(text: &str) -> Option<Vec<Flag<'_>>> {
    let mut made = Vec::new();
    let mut rest = text.chars();
    while let Some(letter) = rest.next() {
        let mut argument = "";
        if WITH_ARGUMENT.contains(&letter) {
            let close = match rest.next()? {
                '(' => ')',
                '[' => ']',
                '{' => '}',
                '<' => '>',
                other => other,
            };
            let (inner, after) = rest.as_str().split_once(close)?;
            argument = inner;
            rest = after.chars();
        }
        made.push((letter, argument));
    }
    Some(made)
}

fn modified(text: &str, modifiers: &str) -> Option<String> {
    let mut made = text.to_owned();
    for modifier in modifiers.strip_prefix(':')?.split(':') {
        let (directory, name) = match made.trim_end_matches('/').rsplit_once('/') {
            Some(("", name)) => ("/", name),
            Some((directory, name)) => (directory, name),
            None => (".", made.as_str()),
        };
        let (root, extension) = match name.rsplit_once('.') {
            Some((_, extension)) => (made.get(..made.len().checked_sub(extension.len() + 1)?)?, extension),
            None => (made.as_str(), ""),
        };
        made = match modifier {
            "h" => directory.to_owned(),
            "t" => name.to_owned(),
            "r" => root.to_owned(),
            "e" => extension.to_owned(),
            "l" => made.to_lowercase(),
            "u" => made.to_uppercase(),
            _ => return None,
        };
    }
    Some(made)
}

fn unknown(got: &Got) -> Got {
    let why = match got {
        Got::Unknown { why, .. } => *why,
        Got::Unset | Got::One(_) | Got::Many { .. } => Why::Expansion,
    };
    Got::Unknown { why, several: true }
}

fn pieces(text: &Text, separator: &str) -> Got {
    match text.as_str() {
        Some(known) if !separator.is_empty() => {
            let pieces = known.split(separator).filter(|piece| !piece.is_empty());
            Got::Many { values: pieces.map(Text::known).collect(), joined: false }
        }
        Some(_) | None => Got::Unknown { why: Why::Expansion, several: true },
    }
}

fn joined(values: &[Text], separator: &str) -> Got {
    let mut all = Text::default();
    for (at, text) in values.iter().enumerate() {
        if at > 0 {
            all.push_str(separator);
        }
        all.push(text);
    }
    Got::One(all)
}

fn changed(text: &Text, change: fn(&str) -> String) -> Got {
    match text.as_str() {
        Some(known) => Got::One(Text::known(change(known))),
        None => Got::Unknown { why: Why::Expansion, several: false },
    }
}
