//! Arithmetic on known numbers. An unknown operand makes the whole expression unknown, and every variable that the
//! expression may change. This module must not know words.

use std::collections::BTreeSet;

use castellan_event::{Role, Why};

use crate::builtins::runs_in_index;
use crate::limits::{ARITHMETIC_BYTES_PER_WORK, ARITHMETIC_DEPTH_MAX};
use crate::scope::Scope;
use crate::state::{State, Value};
use crate::text::Text;
use crate::tree::{Arithmetic, Span};
use crate::walk::Walker;

impl Walker<'_> {
    /// Evaluates `$(( ))` or `(( ))`: walks its commands and changes its variables.
    pub(crate) fn arithmetic(
        &mut self,
        state: &mut State,
        scope: &Scope,
        expression: &Arithmetic,
    ) -> Option<i64> {
        for word in &expression.words {
            self.text(state, scope, word);
        }
        let known = if expression.text.contains(['`', '(']) && expression.text.contains("$(") {
            self.indices_reached(state, scope, &expression.text);
            None
        } else {
            let mut trial = state.clone();
            let value = self.number(&mut trial, scope, &expression.text);
            if value.is_some() {
                *state = trial;
            }
            value
        };
        if known.is_none() {
            for name in &expression.assigns {
                state.set(name, Value::Unknown(Why::Arithmetic));
            }
        }
        known
    }

    /// Checks text that the shell may evaluate as arithmetic regardless of quotes: `[[ $x -eq 1 ]]`, `declare -i`.
    pub(crate) fn evaluated(&mut self, state: &State, scope: &Scope, text: &Text, span: Span) {
        let Some(known) = text.as_str() else { return };
        if runs_in_index(known) {
            self.gap(scope, Role::Code, Why::Arithmetic, known, span);
        } else if known.starts_with(|one: char| one.is_ascii_alphabetic() || "_(!~+-".contains(one)) {
            let mut trial = state.clone();
            self.number(&mut trial, scope, known);
        }
    }

    /// Returns the value of arithmetic text.
    pub(crate) fn number(&mut self, state: &mut State, scope: &Scope, text: &str) -> Option<i64> {
        if let Ok(number) = text.trim().parse::<i64>()
            && !text.trim().starts_with('0')
        {
            return Some(number);
        }
        let value = self.expression(state, scope, text, 0);
        if value.is_none() {
            self.indices_reached(state, scope, text);
        }
        value
    }

    /// Reports commands that unknown arithmetic may run. The shell evaluates the value of each variable as an
    /// expression again, recursively, and expands the array indices in those values.
    fn indices_reached(&mut self, state: &State, scope: &Scope, text: &str) {
        let mut seen = BTreeSet::new();
        let mut texts = vec![Text::known(text)];
        while let Some(text) = texts.pop() {
            self.work.spend_bytes(text.len());
            if self.work.is_over() {
                return;
            }
            // The commands of the outermost expression are already walked.
            if !seen.is_empty() && text.as_str().is_some_and(runs_in_index) {
                let place = scope.source.place.unwrap_or_default();
                self.gap(scope, Role::Code, Why::Arithmetic, &text.written(), place);
            }
            for name in named(text.as_str().unwrap_or_default()) {
                if seen.insert(name.to_owned()) {
                    texts.extend(values(state, name));
                }
            }
        }
    }

    fn expression(&mut self, state: &mut State, scope: &Scope, text: &str, depth: usize) -> Option<i64> {
        self.work.spend(1 + (text.len() / ARITHMETIC_BYTES_PER_WORK) as u64);
        if depth > ARITHMETIC_DEPTH_MAX || self.work.is_over() {
            return None;
        }
        if text.trim().is_empty() {
            return Some(0);
        }
        let mut reader = Reader { walker: self, state, scope, rest: text, depth };
        let value = reader.comma()?;
        reader.rest.trim_start().is_empty().then_some(value)
    }
}

struct Reader<'r, 'f, 's> {
    walker: &'r mut Walker<'f>,
    state: &'r mut State,
    scope: &'r Scope,
    rest: &'s str,
    depth: usize,
}

/// Binary operators, lowest precedence first. Longer operators precede their prefixes.
const LEVELS: &[&[&str]] = &[
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

/// Tokens that begin like an operator of another level.
const LONGER: &[&str] = &[
    "||", "&&", "<<=", ">>=", "<<", ">>", "<=", ">=", "==", "!=", "|=", "^=", "&=", "+=", "-=", "*=", "/=",
    "%=", "**", "++", "--",
];

const ASSIGNING: &[&str] = &["<<=", ">>=", "+=", "-=", "*=", "/=", "%=", "|=", "^=", "&=", "="];

impl Reader<'_, '_, '_> {
    fn eat(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn comma(&mut self) -> Option<i64> {
        let mut value = self.ternary()?;
        while self.eat(",") {
            value = self.ternary()?;
        }
        Some(value)
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.depth >= ARITHMETIC_DEPTH_MAX {
            return None;
        }
        self.depth += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn ternary(&mut self) -> Option<i64> {
        let condition = self.binary(0)?;
        if !self.eat("?") {
            return Some(condition);
        }
        let first = self.deeper(Self::comma)?;
        if !self.eat(":") {
            return None;
        }
        let second = self.deeper(Self::ternary)?;
        Some(if condition != 0 { first } else { second })
    }

    fn binary(&mut self, level: usize) -> Option<i64> {
        let Some(operators) = LEVELS.get(level) else { return self.power() };
        let mut left = self.binary(level + 1)?;
        loop {
            self.rest = self.rest.trim_start();
            let token = LONGER
                .iter()
                .copied()
                .find(|token| self.rest.starts_with(token))
                .or_else(|| operators.iter().copied().find(|token| self.rest.starts_with(token)));
            let Some(operator) = token.filter(|token| operators.contains(token)) else { return Some(left) };
            self.eat(operator);
            let right = self.binary(level + 1)?;
            left = applied(operator, left, right)?;
        }
    }

    fn power(&mut self) -> Option<i64> {
        let base = self.unary()?;
        if !self.eat("**") {
            return Some(base);
        }
        let exponent = self.deeper(Self::power)?;
        base.checked_pow(u32::try_from(exponent).ok()?)
    }

    fn unary(&mut self) -> Option<i64> {
        for (token, step) in [("++", 1), ("--", -1)] {
            if self.eat(token) {
                let name = self.name()?;
                let value = self.variable(&name)?.checked_add(step)?;
                self.store(&name, value);
                return Some(value);
            }
        }
        if self.eat("!") {
            return self.deeper(Self::unary).map(|value| i64::from(value == 0));
        }
        if self.eat("~") {
            return self.deeper(Self::unary).map(|value| !value);
        }
        if self.eat("-") {
            return self.deeper(Self::unary)?.checked_neg();
        }
        if self.eat("+") {
            return self.deeper(Self::unary);
        }
        self.primary()
    }

    fn primary(&mut self) -> Option<i64> {
        if self.eat("(") {
            let value = self.deeper(Self::comma)?;
            return self.eat(")").then_some(value);
        }
        self.rest = self.rest.trim_start();
        if self.rest.starts_with(|one: char| one.is_ascii_digit()) {
            return self.literal();
        }
        if self.eat("$") {
            let braced = self.eat("{");
            let name = if self.eat("#") { "#".to_owned() } else { self.digits_or_name()? };
            if braced && !self.eat("}") {
                return None;
            }
            return self.variable(&name);
        }
        let name = self.name()?;
        for token in ASSIGNING {
            if *token == "=" && self.rest.trim_start().starts_with("==") {
                continue;
            }
            if self.eat(token) {
                let right = self.deeper(Self::ternary)?;
                let value = match token.strip_suffix('=') {
                    None | Some("") => right,
                    Some(operator) => applied(operator, self.variable(&name)?, right)?,
                };
                self.store(&name, value);
                return Some(value);
            }
        }
        let value = self.variable(&name)?;
        for (token, step) in [("++", 1), ("--", -1)] {
            if self.eat(token) {
                self.store(&name, value.checked_add(step)?);
                return Some(value);
            }
        }
        Some(value)
    }

    fn literal(&mut self) -> Option<i64> {
        let end = self
            .rest
            .find(|one: char| !one.is_ascii_alphanumeric() && !matches!(one, '#' | '@' | '_'))
            .unwrap_or(self.rest.len());
        let (token, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        if let Some((base, digits)) = token.split_once('#') {
            let base: u32 = base.parse().ok().filter(|base| (2..=36).contains(base))?;
            return i64::from_str_radix(digits, base).ok();
        }
        match token.strip_prefix("0x").or_else(|| token.strip_prefix("0X")) {
            Some(hex) => i64::from_str_radix(hex, 16).ok(),
            None if token.len() > 1 && token.starts_with('0') => i64::from_str_radix(token, 8).ok(),
            None => token.parse().ok(),
        }
    }

    fn name(&mut self) -> Option<String> {
        self.rest = self.rest.trim_start();
        if !self.rest.starts_with(|one: char| one.is_ascii_alphabetic() || one == '_') {
            return None;
        }
        let name = self.digits_or_name()?;
        // Indices are not supported, neither for reading nor for writing.
        if self.rest.starts_with('[') { None } else { Some(name) }
    }

    fn digits_or_name(&mut self) -> Option<String> {
        let end =
            self.rest.find(|one: char| !one.is_ascii_alphanumeric() && one != '_').unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        (!name.is_empty()).then(|| name.to_owned())
    }

    fn variable(&mut self, name: &str) -> Option<i64> {
        let text = match name {
            "#" => Text::known(self.state.positionals.as_ref()?.len().to_string()),
            name if name.starts_with(|one: char| one.is_ascii_digit()) => {
                let number: usize = name.parse().ok()?;
                let positionals = self.state.positionals.as_ref()?;
                positionals.get(number.checked_sub(1)?).cloned().unwrap_or_default()
            }
            "RANDOM" | "SECONDS" | "LINENO" | "EPOCHSECONDS" | "BASHPID" | "PPID" | "SRANDOM" => return None,
            name => match self.walker.pick(self.state, name) {
                Value::Scalar(text) => text,
                Value::Unset => return Some(0),
                Value::Array(_) | Value::Unknown(_) => return None,
            },
        };
        let known = text.as_str()?;
        if let Ok(number) = known.trim().parse::<i64>()
            && !known.trim().starts_with('0')
        {
            return Some(number);
        }
        if known.contains("$(") || known.contains('`') {
            return None;
        }
        let known = known.to_owned();
        self.walker.expression(self.state, self.scope, &known, self.depth + 1)
    }

    fn store(&mut self, name: &str, value: i64) {
        self.state.set(name, Value::Scalar(Text::known(value.to_string())));
    }
}

/// Returns the variable names in an expression, and `1` for `$1`. Ignores lengths (`${#x}`), which are numbers.
fn named(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |one: char| one.is_ascii_alphanumeric() || one == '_';
    text.split(move |one: char| !is_part(one) && one != '#')
        .filter(|word| !word.starts_with('#'))
        .flat_map(|word| word.split('#'))
        .filter(|name| !name.is_empty())
}

/// Returns the possible texts of a variable or an argument.
fn values(state: &State, name: &str) -> Vec<Text> {
    if let Ok(number) = name.parse::<usize>() {
        let argument = number.checked_sub(1).and_then(|at| state.positionals.as_ref()?.get(at));
        return argument.cloned().into_iter().collect();
    }
    let meant = state.meant(name).and_then(|name| state.variables.get(&name));
    let values = meant.into_iter().flat_map(|variable| &variable.values);
    values
        .flat_map(|value| match value {
            Value::Scalar(text) => vec![text.clone()],
            Value::Array(elements) => elements.values().cloned().collect(),
            Value::Unset | Value::Unknown(_) => Vec::new(),
        })
        .collect()
}

fn applied(operator: &str, left: i64, right: i64) -> Option<i64> {
    Some(match operator {
        "||" => i64::from(left != 0 || right != 0),
        "&&" => i64::from(left != 0 && right != 0),
        "|" => left | right,
        "^" => left ^ right,
        "&" => left & right,
        "==" => i64::from(left == right),
        "!=" => i64::from(left != right),
        "<=" => i64::from(left <= right),
        ">=" => i64::from(left >= right),
        "<" => i64::from(left < right),
        ">" => i64::from(left > right),
        "<<" => left.wrapping_shl(u32::try_from(right & 63).ok()?),
        ">>" => left.wrapping_shr(u32::try_from(right & 63).ok()?),
        "+" => left.wrapping_add(right),
        "-" => left.wrapping_sub(right),
        "*" => left.wrapping_mul(right),
        "/" => left.checked_div(right)?,
        "%" => left.checked_rem(right)?,
        _ => return None,
    })
}
