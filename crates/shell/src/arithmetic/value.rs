//! [`Evaluation`]: the value of the tree of an expression. An unknown operand makes the whole value unknown. This
//! module must not know text, but for the values of variables.

use super::plain;
use crate::limits::ARITHMETIC_DEPTH_MAX;
use crate::scope::Scope;
use crate::state::{Key, State, Value};
use crate::syntax::Shell;
use crate::text::Text;
use crate::tree::{Expression, Variable};
use crate::walk::Walker;

/// Variables whose number changes by itself.
const CHANGING: &[&str] = &["BASHPID", "EPOCHSECONDS", "LINENO", "PPID", "RANDOM", "SECONDS", "SRANDOM"];

pub(super) struct Evaluation<'e, 'f> {
    pub(super) walker: &'e mut Walker<'f>,
    pub(super) state: &'e mut State,
    pub(super) scope: &'e Scope,
    /// The values of the expansions.
    pub(super) operands: Vec<Text>,
    /// The number of open expressions around it: the value of a variable is one more.
    pub(super) depth: usize,
}

impl Evaluation<'_, '_> {
    pub(super) fn value(&mut self, tree: &Expression) -> Option<i64> {
        if self.depth >= ARITHMETIC_DEPTH_MAX {
            return None;
        }
        self.depth += 1;
        let value = self.inner(tree);
        self.depth -= 1;
        value
    }

    fn inner(&mut self, tree: &Expression) -> Option<i64> {
        match tree {
            Expression::Number(text) => literal(text, self.state.options.shell),
            Expression::Variable(variable) => self.variable(variable),
            Expression::Expansion(number) => {
                // Its value is a part of the text: `$x * 2` with `1+1` is no product of it.
                let text = self.operands.get(*number)?.as_str()?.trim().to_owned();
                let is_name = crate::literals::is_name(&text);
                plain(&text).or_else(|| is_name.then(|| self.evaluated(&text)).flatten())
            }
            Expression::Unary { operator, operand } => {
                let value = self.value(operand)?;
                match *operator {
                    "!" => Some(i64::from(value == 0)),
                    "~" => Some(!value),
                    "-" => value.checked_neg(),
                    _ => Some(value),
                }
            }
            Expression::Chain { first, rest } => self.chain(first, rest),
            Expression::Conditional { condition, yes, no } => {
                let taken = if self.value(condition)? == 0 { no } else { yes };
                self.value(taken)
            }
            Expression::Assign { variable, operator, value } => {
                let right = self.value(value)?;
                let value = match operator.strip_suffix('=') {
                    None | Some("") => right,
                    Some(operator) => applied(operator, self.variable(variable)?, right)?,
                };
                self.store(variable, value)?;
                Some(value)
            }
            Expression::Step { variable, operator, is_before } => {
                let before = self.variable(variable)?;
                let after = before.checked_add(if *operator == "++" { 1 } else { -1 })?;
                self.store(variable, after)?;
                Some(if *is_before { after } else { before })
            }
            Expression::List(all) => {
                let mut last = 0;
                for one in all {
                    last = self.value(one)?;
                }
                Some(last)
            }
        }
    }

    /// Operators from left to right, but `**`. The second operand of `&&` and `||` may change variables: then the value
    /// is known only if the shell reaches it for certain.
    fn chain(&mut self, first: &Expression, rest: &[(&'static str, Expression)]) -> Option<i64> {
        if rest.iter().all(|(operator, _)| *operator == "**") {
            let values: Vec<i64> = std::iter::once(first)
                .chain(rest.iter().map(|(_, one)| one))
                .map(|one| self.value(one))
                .collect::<Option<_>>()?;
            let mut values = values.into_iter().rev();
            let last = values.next()?;
            return values.try_fold(last, |power, base| base.checked_pow(u32::try_from(power).ok()?));
        }
        let mut left = self.value(first)?;
        for (operator, right) in rest {
            let is_decided = (*operator == "&&" && left == 0) || (*operator == "||" && left != 0);
            left =
                if is_decided { i64::from(left != 0) } else { applied(operator, left, self.value(right)?)? };
        }
        Some(left)
    }

    fn variable(&mut self, variable: &Variable) -> Option<i64> {
        if CHANGING.contains(&variable.name.as_str()) {
            return None;
        }
        let key = self.key(variable)?;
        let text = match (self.walker.pick(self.state, &variable.name), key) {
            (Value::Scalar(text), None | Some(Key::Number(0))) => text,
            (Value::Unset, _) | (Value::Scalar(_), Some(_)) => return Some(0),
            (Value::Array(elements), key) => match elements.get(&key.unwrap_or(Key::Number(0))) {
                Some(text) => text.clone(),
                None => return Some(0),
            },
            (Value::Unknown(_), _) => return None,
        };
        let known = text.as_str()?.to_owned();
        self.evaluated(&known)
    }

    /// Returns the value of text, which is an expression again.
    fn evaluated(&mut self, text: &str) -> Option<i64> {
        match plain(text) {
            Some(number) => Some(number),
            None => self.walker.evaluation(self.state, self.scope, text, self.depth),
        }
    }

    /// Returns the key of the element; `Some(None)` without an index, `None` for an unknown one.
    #[expect(clippy::option_option, reason = "no key and one that is not known are different things")]
    fn key(&mut self, variable: &Variable) -> Option<Option<Key>> {
        let Some(index) = &variable.index else { return Some(None) };
        let meant = self.state.meant(&variable.name)?;
        // The tree has the key of an associative array as an expression.
        if self.state.variable(&meant).is_some_and(|variable| variable.attributes.keyed) {
            return None;
        }
        let number = self.value(index)?;
        self.walker.element(self.state, &variable.name, number).map(Some)
    }

    fn store(&mut self, variable: &Variable, value: i64) -> Option<()> {
        let text = Text::known(value.to_string());
        match self.key(variable)? {
            Some(key) => self.walker.set_element(self.state, &variable.name, key, text, false),
            None => self.state.set(&variable.name, Value::Scalar(text)),
        }
        Some(())
    }
}

/// A leading zero makes a number octal, but not in zsh and ksh.
fn literal(token: &str, shell: Shell) -> Option<i64> {
    if let Some((base, digits)) = token.split_once('#') {
        let base: u32 = base.parse().ok().filter(|base| (2..=36).contains(base))?;
        return i64::from_str_radix(digits, base).ok();
    }
    match token.strip_prefix("0x").or_else(|| token.strip_prefix("0X")) {
        Some(hex) => i64::from_str_radix(hex, 16).ok(),
        None if token.len() > 1 && token.starts_with('0') && !matches!(shell, Shell::Zsh | Shell::Ksh) => {
            i64::from_str_radix(token, 8).ok()
        }
        None => token.parse().ok(),
    }
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
