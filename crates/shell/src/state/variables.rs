//! Variables: their possible values, and the effect of an assignment. This module must not know words.

use std::collections::BTreeMap;
use std::rc::Rc;

use castellan_event::Why;

use super::State;
use crate::limits::{NAMES_FOLLOWED_MAX, VALUES_MAX};
use crate::syntax::Shell;
use crate::text::Text;

/// The table of zsh's named directories.
pub(crate) const DIRECTORIES: &str = "nameddirs";

const ZSH_TABLES: &[&str] =
    &["aliases", "commands", "dis_aliases", "dis_functions", "functions", "galiases", "options", "saliases"];

/// Variables that the shell goes on to change, so that a value of the text does not stay.
const MOVED: &[&str] = &[
    "_",
    "BASHPID",
    "BASH_COMMAND",
    "BASH_SUBSHELL",
    "EPOCHREALTIME",
    "EPOCHSECONDS",
    "FUNCNAME",
    "HISTCMD",
    "LINENO",
    "PIPESTATUS",
    "RANDOM",
    "SECONDS",
    "SRANDOM",
];

/// The same in zsh: results of matches, and pairs of a text and an array.
const MOVED_BY_ZSH: &[&str] = &[
    "CDPATH",
    "FIGNORE",
    "MAILPATH",
    "MANPATH",
    "MATCH",
    "MBEGIN",
    "MEND",
    "PSVAR",
    "cdpath",
    "fignore",
    "mailpath",
    "manpath",
    "match",
    "mbegin",
    "mend",
    "pipestatus",
    "psvar",
    "status",
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Variable {
    /// Possible values, at least one.
    pub(crate) values: Vec<Value>,
    /// True if child programs receive the variable.
    pub(crate) exported: bool,
    /// True if child programs may receive the variable: its earlier state was unknown when it was set.
    pub(crate) perhaps_exported: bool,
    pub(crate) attributes: Attributes,
}

/// Attributes set by `declare`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Attributes {
    pub(crate) lower: bool,
    pub(crate) upper: bool,
    pub(crate) integer: bool,
    pub(crate) reference: bool,
    pub(crate) keyed: bool,
    pub(crate) readonly: bool,
    /// An attribute that is not modelled changes each value.
    pub(crate) changes: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Unset,
    /// A single text.
    Scalar(Text),
    Array(Rc<Elements>),
    /// Unset, a text or an array.
    Unknown(Why),
}

pub(crate) type Elements = BTreeMap<Key, Text>;

/// The key of an array element.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Key {
    Number(i64),
    Name(String),
}

impl Variable {
    pub(crate) fn of(value: Value) -> Variable {
        Variable {
            values: vec![value],
            exported: false,
            perhaps_exported: false,
            attributes: Attributes::default(),
        }
    }
}

impl Value {
    /// Returns an array of these elements.
    pub(crate) fn array(elements: impl IntoIterator<Item = Text>) -> Value {
        Value::Array(Rc::new((0..).map(Key::Number).zip(elements).collect()))
    }
}

impl State {
    /// Returns the variable with this name, without following name references.
    pub(crate) fn variable(&self, name: &str) -> Option<&Rc<Variable>> {
        self.variables.get(name)
    }

    /// Returns true if the text did not change the home directory.
    pub(crate) fn is_at_home(&self) -> bool {
        let is_home = |value: &Value| match value {
            Value::Scalar(text) => text.as_str() == self.home.as_deref(),
            Value::Unset | Value::Array(_) | Value::Unknown(_) => false,
        };
        self.variable("HOME").is_none_or(|variable| variable.values.iter().all(is_home))
    }

    /// Reports whether a variable is a table of the shell whose elements are definitions (zshmodules, "THE ZSH/PARAMETER
    /// MODULE"; bash, "BASH_ALIASES").
    pub(crate) fn is_table(&self, name: &str) -> bool {
        match self.options.shell {
            Shell::Zsh => ZSH_TABLES.contains(&name),
            Shell::Bash => matches!(name, "BASH_ALIASES" | "BASH_CMDS"),
            Shell::Posix | Shell::Ksh => false,
        }
    }

    /// Reports whether the shell changes a variable by itself after the text set it, or together with another one.
    fn is_moved(&self, name: &str) -> bool {
        match self.options.shell {
            Shell::Bash => MOVED.contains(&name),
            Shell::Zsh => MOVED.contains(&name) || MOVED_BY_ZSH.contains(&name),
            Shell::Posix | Shell::Ksh => name == "_",
        }
    }

    /// Returns the value of a variable that is missing from the table.
    pub(crate) fn absent(&self) -> Value {
        self.absent.map_or(Value::Unset, Value::Unknown)
    }

    /// Returns the name after following references (`declare -n`). Returns `None` for an unknown reference.
    pub(crate) fn meant(&self, name: &str) -> Option<Rc<str>> {
        let mut name: Rc<str> = name.into();
        for _ in 0..NAMES_FOLLOWED_MAX {
            let Some(variable) = self.variables.get(&name) else { return Some(name) };
            if !variable.attributes.reference {
                return Some(name);
            }
            match variable.values.as_slice() {
                [Value::Scalar(text)] => match text.as_str() {
                    Some("") | None => return None,
                    // An element of an array.
                    Some(other) if other.contains('[') => return None,
                    Some(other) => name = other.into(),
                },
                // An assignment to a reference without a target sets its target.
                [Value::Unset] => return Some(name),
                _ => return None,
            }
        }
        None
    }

    /// Returns the element of an array that a reference names.
    pub(crate) fn element_meant(&self, name: &str) -> Option<String> {
        let variable = self.variables.get(name).filter(|variable| variable.attributes.reference)?;
        match variable.values.as_slice() {
            [Value::Scalar(text)] => text.as_str().filter(|text| text.contains('[')).map(str::to_owned),
            _ => None,
        }
    }

    /// Sets a variable. Attributes and export state remain.
    pub(crate) fn set(&mut self, name: &str, value: Value) {
        self.set_values(name, vec![value]);
    }

    /// Sets a variable, or a positional parameter: `for 1 in a b` of zsh.
    pub(crate) fn set_parameter(&mut self, name: &str, value: Value) {
        if self.variable(name).is_some_and(|variable| variable.attributes.reference) {
            // A loop sets the reference itself, not its target.
            return self.change(name, |variable| variable.values = vec![value]);
        }
        let Ok(number) = name.parse::<usize>() else { return self.set(name, value) };
        let Value::Scalar(text) = value else {
            self.positionals = None;
            return;
        };
        let Some(values) = &mut self.positionals else { return };
        let values = Rc::make_mut(values);
        match number.checked_sub(1) {
            Some(at) if at == values.len() => values.push(text),
            at => match at.and_then(|at| values.get_mut(at)) {
                Some(one) => *one = text,
                None => self.positionals = None,
            },
        }
    }

    /// Sets the possible values of a variable.
    pub(crate) fn set_values(&mut self, name: &str, values: Vec<Value>) {
        let Some(name) = self.meant(name) else {
            self.forget_all(Why::Dynamic);
            return;
        };
        let before = self.variables.get(&name);
        let attributes = before.map(|variable| variable.attributes).unwrap_or_default();
        let exported = before.is_some_and(|variable| variable.exported) || self.options.export_all;
        let perhaps_exported = before.map_or(self.absent.is_some(), |variable| variable.perhaps_exported);
        let mut values: Vec<Value> = values.into_iter().map(|value| attributes.applied(value)).collect();
        if self.is_moved(&name) {
            values = vec![Value::Unknown(Why::Dynamic)];
        }
        if attributes.readonly {
            // The assignment that made the variable read-only may not have run in every branch: keep the old values.
            values.extend(before.into_iter().flat_map(|variable| variable.values.iter().cloned()));
            values.dedup();
        }
        self.spent += self.variables.cost(&name);
        if self.hidden.is_empty() {
            values.iter().for_each(|value| self.remember(&name, value));
        }
        if let Some(passing) = &mut self.passing {
            let earlier = before.map_or([].as_slice(), |variable| variable.values.as_slice());
            for value in earlier.iter().chain(&values) {
                add_passing(Rc::make_mut(passing), &name, value);
            }
        }
        self.variables.insert(name, Rc::new(Variable { values, exported, perhaps_exported, attributes }));
    }

    /// Gives each variable all values that it has had since a trap was set that runs between commands.
    pub(crate) fn set_passing(&mut self) {
        let Some(passing) = self.passing.take() else { return };
        self.positionals = None;
        for value in passing.get("PWD").into_iter().flatten() {
            let directory = match value {
                Value::Scalar(text) => text.as_str().map(Rc::from),
                Value::Array(_) | Value::Unset | Value::Unknown(_) => None,
            };
            if !self.directories.contains(&directory) {
                self.directories.push(directory);
            }
        }
        for (name, values) in passing.iter() {
            self.change(name, |variable| variable.values.clone_from(values));
        }
    }

    /// Changes a variable in place; creates a missing variable first.
    pub(crate) fn change(&mut self, name: &str, change: impl FnOnce(&mut Variable)) {
        let absent = self.absent();
        let perhaps_exported = self.absent.is_some();
        self.spent += self.variables.cost(name);
        self.variables.change(
            name,
            || Rc::new(Variable { perhaps_exported, ..Variable::of(absent) }),
            |variable| change(Rc::make_mut(variable)),
        );
    }

    pub(crate) fn unset(&mut self, name: &str) {
        self.spent += self.variables.cost(name);
        self.variables.insert(name.into(), Rc::new(Variable::of(Value::Unset)));
    }

    /// Marks every variable as unknown.
    pub(crate) fn forget_all(&mut self, why: Why) {
        self.absent = Some(why);
        self.spent += self.variables.len() as u64;
        self.variables = self.variables.map(|variable| {
            let mut forgotten = Variable::of(Value::Unknown(why));
            forgotten.exported = variable.exported;
            forgotten.perhaps_exported = variable.perhaps_exported;
            Rc::new(forgotten)
        });
    }

    /// Applies the effect of unknown code: any variable may have any value, and `set --` may have run. Keeps the few
    /// variables that code hardly ever changes; otherwise nothing would be known after `source .env`.
    pub(crate) fn forget_most(&mut self, why: Why) {
        let kept: Vec<(&str, Rc<Variable>)> = ["HOME", "IFS", "PWD", "OLDPWD"]
            .into_iter()
            .filter_map(|name| self.variables.get(name).map(|variable| (name, Rc::clone(variable))))
            .collect();
        let absent = self.absent.unwrap_or(Why::Variable);
        self.forget_all(why);
        // The unknown code has its own report, so the earlier reason for absent variables remains.
        self.absent = Some(absent);
        self.positionals = None;
        for (name, variable) in kept {
            self.variables.insert(name.into(), variable);
        }
    }

    /// `local`: saves the variable so that its old value returns when the function ends.
    pub(crate) fn hide(&mut self, name: &str) {
        let before = self.variables.get(name).cloned();
        let Some(innermost) = Rc::make_mut(&mut self.hidden).last_mut() else { return };
        if !innermost.contains(name) {
            innermost.insert(name.into(), before);
        }
        let inherited = self.variables.get(name).is_some_and(|variable| variable.exported);
        let mut fresh = Variable::of(Value::Unset);
        fresh.exported = inherited;
        self.variables.insert(name.into(), Rc::new(fresh));
    }
}

/// Adds a value to those of a variable. Over the limit, it is unknown.
pub(super) fn add_passing(passing: &mut BTreeMap<Rc<str>, Vec<Value>>, name: &Rc<str>, value: &Value) {
    let values = passing.entry(Rc::clone(name)).or_default();
    if values.len() >= VALUES_MAX {
        *values = vec![Value::Unknown(Why::Budget)];
    } else if !values.contains(value) && !values.contains(&Value::Unknown(Why::Budget)) {
        values.push(value.clone());
    }
}

impl Attributes {
    /// Returns the value after applying the attributes.
    fn applied(self, value: Value) -> Value {
        if self.changes && matches!(value, Value::Scalar(_) | Value::Array(_)) {
            return Value::Unknown(Why::Expansion);
        }
        if !self.lower && !self.upper {
            return value;
        }
        match value {
            Value::Scalar(text) => Value::Scalar(self.cased(&text)),
            Value::Array(elements) => Value::Array(Rc::new(
                elements.iter().map(|(key, text)| (key.clone(), self.cased(text))).collect(),
            )),
            Value::Unset | Value::Unknown(_) => value,
        }
    }

    fn cased(self, text: &Text) -> Text {
        match text.as_str() {
            Some(known) if self.lower => Text::known(known.to_lowercase()),
            Some(known) => Text::known(known.to_uppercase()),
            None => text.clone(),
        }
    }
}
