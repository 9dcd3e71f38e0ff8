//! Expansions that only zsh has: `$=x`, `${(e)x}`, `${${x}:h}` (zshexpn). A part that changes the value in a way that
//! is not modelled makes it unknown. This module must not know commands.

use castellan_event::{Role, Why};
use castellan_programs::{Arg, Quoting};

use super::changes::{
    Flag, changed, character_of, flags, is_plain, joined, modified, pieces, unknown, unquoted, without,
};
use super::fields::{Bit, How};
use super::got::{At, Expanded, Got};
use crate::scope::Scope;
use crate::state::{State, Value};
use crate::text::Text;
use crate::tree::{Index, Operation, Parameter, Part, Substitute, Word, ZshExpansion};
use crate::walk::Walker;

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
        let assigns = matches!(parameter.operation, Operation::Substitute { kind: Substitute::Assign, .. });
        if assigns || zsh.operation.is_some() {
            self.assigns_table(state, scope, parameter);
        }
        let (name, index, got) = match &zsh.nested {
            Some(word) => {
                let bits = self.word_bits(state, scope, word, super::Tilde::Nowhere);
                let is_split = |part: &Part| matches!(part, Part::Command { quoted: false, .. });
                let got = if word.parts.iter().any(is_split) {
                    // The words of the output are an array.
                    let words = self.split(state, &bits);
                    match words.iter().any(Arg::splits) {
                        true => Got::Unknown { why: Why::Substitution, several: true },
                        false => Got::Many { values: words.iter().map(Text::from).collect(), joined: true },
                    }
                } else if bits.contains(&Bit::Break) {
                    let each = bits.split(|bit| *bit == Bit::Break);
                    Got::Many { values: each.map(|bits| self.text_of(bits)).collect(), joined: true }
                } else {
                    Got::One(self.text_of(&bits))
                };
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
        let expanded = Expanded { name: &name, index: &index, quoted: true, written: &written };
        let bits = self.operate(state, scope, parameter, expanded, got.clone());
        match (&parameter.operation, got) {
            (Operation::Value, got) => got,
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
        self.subscript(state, scope, &written.written(), word.span);
        if let Some(value) = written.to_arg().strip_prefix("::=") {
            let text = Text::from(&value);
            state.set(name, Value::Scalar(text.clone()));
            return Got::One(text);
        }
        if let (Some(pattern), Got::Many { values, joined }) =
            (written.as_str().and_then(|text| text.strip_prefix(":#")), &got)
        {
            return without(values, pattern, *joined).unwrap_or_else(|| unknown(&got));
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
                ('p', got) => got,
                ('k', _) => self.names_or_keys(
                    state,
                    &Parameter { operation: Operation::Keys, index: Some(Index::Each), ..parameter.clone() },
                ),
                ('Q', Got::One(text)) => Got::One(unquoted(&text)),
                ('Q', Got::Many { values, joined }) => {
                    Got::Many { values: values.iter().map(unquoted).collect(), joined }
                }
                ('O', Got::Many { mut values, joined }) if flags.iter().any(|(letter, _)| *letter == 'a') => {
                    values.reverse();
                    Got::Many { values, joined }
                }
                ('a', got) => got,
                ('q', Got::One(text)) if is_plain(&text) => Got::One(text),
                // zsh converts the elements before it joins them.
                ('#', Got::One(text)) if flags.iter().all(|(letter, _)| *letter != 'j') => {
                    character_of(&text)
                }
                ('L', Got::One(text)) => changed(&text, str::to_lowercase),
                ('U', Got::One(text)) => changed(&text, str::to_uppercase),
                (_, got) => unknown(&got),
            };
        }
        got
    }
}
