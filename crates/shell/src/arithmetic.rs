//! Expressions that the shell evaluates: `$((...))`, `((...))`, `let`, indices, operands of `-eq`. This module must not
//! know words.
//!
//! A shell evaluates the value of each variable as an expression again. It expands substitutions in the indices of such
//! text, regardless of quotes: `x='a[$(rm f)]'; ((x))` runs `rm f`. So the walk goes through all of these texts.

mod value;

use std::collections::BTreeSet;
use std::rc::Rc;

use castellan_event::{Role, Why};

use crate::limits::{ARITHMETIC_BYTES_PER_WORK, TEXT_DEPTH_MAX};
use crate::scope::{Scope, Source};
use crate::state::{State, Value};
use crate::syntax;
use crate::text::Text;
use crate::tree::{Arithmetic, Expression, Span, Variable};
use crate::walk::Walker;

use value::Evaluation;

/// Variables whose values the shells evaluate as integers.
const INTEGERS: &[&str] = &[
    "COLUMNS",
    "EGID",
    "ERRNO",
    "EUID",
    "FUNCNEST",
    "GID",
    "HISTCMD",
    "HISTSIZE",
    "KEYTIMEOUT",
    "LINENO",
    "LINES",
    "LISTMAX",
    "LOGCHECK",
    "MAILCHECK",
    "OPTIND",
    "RANDOM",
    "SAVEHIST",
    "SECONDS",
    "SHLVL",
    "SRANDOM",
    "TMOUT",
    "UID",
];

impl Walker<'_> {
    /// Evaluates `$(( ))` or `(( ))`: walks its commands and changes its variables. Returns `None` for an unknown
    /// value.
    pub(crate) fn arithmetic(
        &mut self,
        state: &mut State,
        scope: &Scope,
        expression: &Arithmetic,
    ) -> Option<i64> {
        let operands: Vec<Text> = expression.words.iter().map(|word| self.text(state, scope, word)).collect();
        let mut trial = state.clone();
        let tree = expression.tree.as_deref();
        let value = tree.and_then(|tree| {
            Evaluation { walker: self, state: &mut trial, scope, operands, depth: 0 }.value(tree)
        });
        if value.is_some() {
            *state = trial;
            return value;
        }
        let named = names(&expression.text).flat_map(|name| values(state, name)).collect();
        self.reached(state, scope, named, Span::default());
        for name in &expression.assigns {
            state.set(name, Value::Unknown(Why::Arithmetic));
        }
        None
    }

    /// Walks the commands of text that the shell may evaluate: `[[ $x -eq 1 ]]`, `declare -i`. Most text is none.
    pub(crate) fn evaluated(&mut self, state: &State, scope: &Scope, text: &Text, span: Span) {
        let Some(known) = text.as_str() else { return };
        if runs_in_index(known)
            || known.starts_with(|one: char| one.is_ascii_alphabetic() || "_(!~+-".contains(one))
        {
            self.reached(state, scope, vec![text.clone()], span);
        }
    }

    /// Walks the commands in the text of an index or an offset: the shell evaluates it even if it was quoted.
    pub(crate) fn subscript(&mut self, state: &State, scope: &Scope, text: &str, span: Span) {
        let index = format!("a[{text}]");
        if runs_in_index(&index) {
            self.reached(state, scope, vec![Text::known(index)], span);
        }
    }

    /// Walks the commands of values that an integer variable is about to get: each is an expression.
    pub(crate) fn evaluated_for(
        &mut self,
        state: &State,
        scope: &Scope,
        name: &str,
        value: &Value,
        span: Span,
    ) {
        let meant = state.meant(name).and_then(|name| state.variable(&name));
        // The value of a reference without a target becomes its target, and the index in it is evaluated.
        let is_reference = state.variable(name).is_some_and(|variable| variable.attributes.reference);
        let is_integer = is_reference || meant.is_some_and(|variable| variable.attributes.integer);
        if !is_integer && !INTEGERS.contains(&name) {
            return;
        }
        match value {
            Value::Scalar(text) => self.evaluated(state, scope, text, span),
            Value::Array(elements) => {
                for text in elements.values() {
                    self.evaluated(state, scope, text, span);
                }
            }
            Value::Unset | Value::Unknown(_) => {}
        }
    }

    /// Returns the value of text that the shell evaluates, and walks its commands.
    pub(crate) fn number(&mut self, state: &mut State, scope: &Scope, text: &str) -> Option<i64> {
        if let Some(number) = plain(text) {
            return Some(number);
        }
        let value = self.evaluation(state, scope, text, 0);
        if value.is_none() {
            self.reached(state, scope, vec![Text::known(text)], Span::default());
        }
        value
    }

    /// Evaluates text as an expression. `depth`: the number of open expressions around it.
    fn evaluation(&mut self, state: &mut State, scope: &Scope, text: &str, depth: usize) -> Option<i64> {
        self.work.spend(1 + (text.len() / ARITHMETIC_BYTES_PER_WORK) as u64);
        if self.work.is_over() {
            return None;
        }
        let expression = syntax::expression(text, state.options.shell)?;
        let inner = evaluated_text(scope, text, Span::default());
        let mut operands = vec![Text::unknown(Why::Arithmetic, ""); expression.words.len()];
        for at in indexed(expression.tree.as_deref()?) {
            if let (Some(operand), Some(word)) = (operands.get_mut(at), expression.words.get(at)) {
                *operand = self.text(state, &inner, word);
            }
        }
        let tree = expression.tree.as_deref()?;
        Evaluation { walker: self, state, scope: &inner, operands, depth }.value(tree)
    }

    /// Walks the commands in the indices of texts, and of the values of the variables that they name.
    pub(crate) fn reached(&mut self, state: &State, scope: &Scope, mut texts: Vec<Text>, span: Span) {
        let mut seen = BTreeSet::new();
        while let Some(text) = texts.pop() {
            self.work.spend_bytes(text.len());
            if self.work.is_over() {
                return;
            }
            let written = text.written();
            if runs_in_index(&written) {
                self.index_commands(state, scope, &text, &written, span);
            }
            for name in names(&written) {
                if seen.insert(name.to_owned()) {
                    texts.extend(values(state, name));
                }
            }
        }
    }

    /// Walks the commands in the indices of one text. Without its structure, adds a `Gap`.
    fn index_commands(&mut self, state: &State, scope: &Scope, text: &Text, written: &str, span: Span) {
        self.work.spend((text.len() / ARITHMETIC_BYTES_PER_WORK) as u64);
        let expression = text.as_str().and_then(|text| syntax::expression(text, state.options.shell));
        let known = expression.as_ref().and_then(|one| Some((one, one.tree.as_deref()?)));
        let Some((expression, tree)) = known.filter(|_| scope.texts < TEXT_DEPTH_MAX && self.enter()) else {
            let place = if span == Span::default() { scope.source.place.unwrap_or_default() } else { span };
            self.gap(scope, Role::Code, Why::Arithmetic, written, place);
            return;
        };
        let inner = evaluated_text(scope, written, span);
        let mut state = self.fork(state);
        for word in indexed(tree).into_iter().filter_map(|at| expression.words.get(at)) {
            self.text(&mut state, &inner, word);
        }
        self.leave();
    }
}

/// Returns the scope of text that the shell makes of a value.
fn evaluated_text(scope: &Scope, text: &str, span: Span) -> Scope {
    let mut inner = scope.clone();
    let file = scope.source.file.clone();
    inner.source = Rc::new(Source { text: text.into(), place: Some(scope.span(span)), file });
    inner.texts += 1;
    inner
}

/// Returns the number of a decimal text. A leading zero may mean octal.
fn plain(text: &str) -> Option<i64> {
    let text = text.trim();
    text.parse().ok().filter(|_| text == "0" || !text.trim_start_matches('-').starts_with('0'))
}

/// Reports whether text has an index with commands, which run when the shell evaluates the text or looks up the name.
fn runs_in_index(text: &str) -> bool {
    let index = text.split_once('[').map(|(_, index)| index);
    index.is_some_and(|index| index.contains("$(") || index.contains("${") || index.contains('`'))
}

/// Returns the numbers of the expansions that are inside of indices.
fn indexed(tree: &Expression) -> Vec<usize> {
    let mut found = Vec::new();
    let mut open = vec![(tree, false)];
    while let Some((one, is_inside)) = open.pop() {
        match one {
            Expression::Number(_) => {}
            Expression::Variable(one) | Expression::Step { variable: one, .. } => open.extend(index(one)),
            Expression::Expansion(number) if is_inside => found.push(*number),
            Expression::Expansion(_) => {}
            Expression::Unary { operand, .. } => open.push((operand, is_inside)),
            Expression::Chain { first, rest } => {
                open.push((first, is_inside));
                open.extend(rest.iter().map(|(_, one)| (one, is_inside)));
            }
            Expression::Conditional { condition, yes, no } => {
                open.extend([condition, yes, no].map(|one| (&**one, is_inside)));
            }
            Expression::Assign { variable: one, value, .. } => {
                open.extend(index(one));
                open.push((value, is_inside));
            }
            Expression::List(all) => open.extend(all.iter().map(|one| (one, is_inside))),
        }
    }
    found.sort_unstable();
    found
}

fn index(variable: &Variable) -> Option<(&Expression, bool)> {
    variable.index.as_deref().map(|index| (index, true))
}

/// Returns the variable names in text, and `1` for `$1`. Lengths (`${#x}`) are numbers.
fn names(text: &str) -> impl Iterator<Item = &str> {
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
