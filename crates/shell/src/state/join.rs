//! Joins the states of two alternative branches. This module must not know the branches.

use std::collections::BTreeMap;
use std::rc::Rc;

use castellan_event::Why;

use super::{Descriptor, Function, Options, State, Table, Value, Variable};
use crate::limits::{COPIED_PER_WORK, ENTRIES_PER_WORK, VALUES_MAX};
use crate::text::Text;
use crate::work::Work;

/// Joins the states of two alternative branches. A branch that ended (`exit`) is ignored if the other did not end.
pub(crate) fn join(one: State, other: State, work: &mut Work) -> State {
    if one.ended && !other.ended {
        return other;
    }
    if other.ended && !one.ended {
        return one;
    }
    work.spend(4);
    let absent_one = one.absent();
    let absent_other = other.absent();
    let variables = one.variables.join(&other.variables, work, Rc::ptr_eq, |first, second| {
        join_variables(first, &absent_one, second, &absent_other)
    });
    let functions = one.functions.join(
        &other.functions,
        work,
        |one, other| same_functions(one, other),
        |first, second| {
            either(
                first,
                second,
                |one, other| same(one.as_ref(), other.as_ref()),
                Function::is_unknown,
                || Rc::new(Function::unknown(Why::Budget)),
            )
        },
    );
    let texts = |first: Option<&Meanings<Text>>, second: Option<&Meanings<Text>>| {
        let unknown = || Text::unknown(Why::Budget, "");
        either(first, second, PartialEq::eq, |text| text.as_str().is_none(), unknown)
    };
    let aliases = one.aliases.join(&other.aliases, work, PartialEq::eq, texts);
    let files = one.files.join(&other.files, work, |one, other| one == other, super::files::join);
    let hashed = one.hashed.join(&other.hashed, work, PartialEq::eq, texts);
    State {
        variables,
        // A possible assignment to an unknown name takes precedence over an unknown environment.
        absent: one.absent.filter(|why| *why != Why::Variable).or(other.absent).or(one.absent),
        home: one.home,
        functions,
        aliases,
        hashed,
        directories_before: match (&one.directories_before, &other.directories_before) {
            (None, None) => None,
            (first, second) => Some(join_directories(
                first.as_ref().unwrap_or(&one.directories),
                second.as_ref().unwrap_or(&other.directories),
            )),
        },
        directories: join_directories(&one.directories, &other.directories),
        stack: if one.stack == other.stack { one.stack } else { Rc::default() },
        positionals: if one.positionals == other.positionals { one.positionals } else { None },
        name: one.name,
        descriptors: join_descriptors(&one.descriptors, &other.descriptors, work),
        options: join_options(&one.options, &other.options),
        hidden: join_hidden(one.hidden, &other.hidden, work),
        collected: join_collected(one.collected, &other.collected, work),
        traps: join_traps(one.traps, &other.traps, work),
        passing: join_passing(one.passing, other.passing),
        past: one.past,
        files,
        status: if one.status == other.status { one.status } else { None },
        ended: one.ended && other.ended,
        spent: one.spent.saturating_add(other.spent),
    }
}

/// Joins options so that each has the value under which more can happen.
fn join_options(one: &Options, other: &Options) -> Options {
    Options {
        shell: one.shell,
        is_other: one.is_other,
        splits: one.splits || other.splits,
        starts_splitting: one.starts_splitting || other.starts_splitting,
        ksh_arrays: one.ksh_arrays || other.ksh_arrays,
        is_unmodelled: one.is_unmodelled || other.is_unmodelled,
        extended_patterns: one.extended_patterns || other.extended_patterns,
        literal_equals: one.literal_equals && other.literal_equals,
        starts_literal: one.starts_literal && other.starts_literal,
        any_case: one.any_case || other.any_case,
        magic_equals: one.magic_equals || other.magic_equals,
        last_pipe: one.last_pipe || other.last_pipe,
        is_local: one.is_local || other.is_local,
        literal_patterns: one.literal_patterns && other.literal_patterns,
        hidden_names: one.hidden_names || other.hidden_names,
        literal_braces: one.literal_braces && other.literal_braces,
        perhaps_braces: one.perhaps_braces || other.perhaps_braces,
        aliases: if one.aliases == other.aliases { one.aliases } else { None },
        export_all: one.export_all || other.export_all,
        functions_exported: one.functions_exported || other.functions_exported,
    }
}

/// Possible meanings of a name; a `None` entry means possibly no meaning.
type Meanings<T> = Vec<Option<T>>;

/// Joins the meanings of a name after two branches. Over the limit, one unknown meaning replaces all further ones.
fn either<T: Clone>(
    first: Option<&Meanings<T>>,
    second: Option<&Meanings<T>>,
    same: impl Fn(&Option<T>, &Option<T>) -> bool,
    is_unknown: impl Fn(&T) -> bool,
    unknown: impl Fn() -> T,
) -> Meanings<T> {
    let mut all = first.cloned().unwrap_or_else(|| vec![None]);
    for one in second.map_or(&[None][..], Vec::as_slice) {
        if all.iter().any(|known| same(known, one)) {
            continue;
        }
        if all.len() < VALUES_MAX {
            all.push(one.clone());
        } else if !all.iter().flatten().any(&is_unknown) {
            all.push(Some(unknown()));
        }
    }
    all
}

fn same<T>(one: Option<&Rc<T>>, other: Option<&Rc<T>>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => Rc::ptr_eq(one, other),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

pub(crate) fn same_functions(one: &[Option<Rc<Function>>], other: &[Option<Rc<Function>>]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one.as_ref(), other.as_ref()))
}

fn join_variables(
    first: Option<&Rc<Variable>>,
    absent_first: &Value,
    second: Option<&Rc<Variable>>,
    absent_second: &Value,
) -> Rc<Variable> {
    let first_values = first.map_or(std::slice::from_ref(absent_first), |one| one.values.as_slice());
    let second_values = second.map_or(std::slice::from_ref(absent_second), |other| other.values.as_slice());
    let mut values = first_values.to_vec();
    for value in second_values {
        if !values.contains(value) {
            values.push(value.clone());
        }
    }
    if values.len() > VALUES_MAX {
        values = vec![Value::Unknown(Why::Budget)];
    }
    let described = first.or(second);
    let mut attributes = described.map(|variable| variable.attributes).unwrap_or_default();
    let agree = first.is_none_or(|one| one.attributes == attributes)
        && second.is_none_or(|other| other.attributes == attributes);
    if !agree {
        attributes = super::Attributes::default();
        values = vec![Value::Unknown(Why::Dynamic)];
    }
    Rc::new(Variable {
        values,
        exported: first.is_some_and(|one| one.exported) && second.is_some_and(|other| other.exported),
        perhaps_exported: [first, second].into_iter().any(|one| {
            one.map_or(matches!(absent_first, Value::Unknown(_)), |one| one.exported || one.perhaps_exported)
        }),
        attributes,
    })
}

fn join_directories(one: &[Option<Rc<str>>], other: &[Option<Rc<str>>]) -> Vec<Option<Rc<str>>> {
    let mut all = one.to_vec();
    for directory in other {
        if !all.contains(directory) {
            all.push(directory.clone());
        }
    }
    if all.len() > VALUES_MAX { vec![None] } else { all }
}

fn join_descriptors(
    one: &Rc<BTreeMap<u32, Descriptor>>,
    other: &Rc<BTreeMap<u32, Descriptor>>,
    work: &mut Work,
) -> Rc<BTreeMap<u32, Descriptor>> {
    if Rc::ptr_eq(one, other) {
        return Rc::clone(one);
    }
    work.spend((one.len() + other.len()) as u64 / ENTRIES_PER_WORK);
    let numbers: std::collections::BTreeSet<u32> = one.keys().chain(other.keys()).copied().collect();
    let joined = numbers.into_iter().map(|number| {
        let descriptor = match (one.get(&number), other.get(&number)) {
            (Some(first), Some(second)) if first.same(second) => first.clone(),
            (None, Some(Descriptor::Inherited)) | (Some(Descriptor::Inherited), None) if number <= 2 => {
                Descriptor::Inherited
            }
            _ => Descriptor::Unknown,
        };
        (number, descriptor)
    });
    Rc::new(joined.collect())
}

impl Descriptor {
    /// Returns true if two descriptors certainly have the same target.
    pub(crate) fn same(&self, other: &Descriptor) -> bool {
        match (self, other) {
            (Descriptor::Inherited, Descriptor::Inherited) => true,
            (Descriptor::Input(one), Descriptor::Input(other)) => one == other,
            (Descriptor::Collected(one), Descriptor::Collected(other)) => one == other,
            (Descriptor::Process(one), Descriptor::Process(other)) => Rc::ptr_eq(one, other),
            (Descriptor::File(one), Descriptor::File(other)) => one == other,
            (Descriptor::Written(one), Descriptor::Written(other)) => one == other,
            _ => false,
        }
    }
}

fn join_hidden(
    one: Rc<Vec<Table<Option<Rc<Variable>>>>>,
    other: &Rc<Vec<Table<Option<Rc<Variable>>>>>,
    work: &mut Work,
) -> Rc<Vec<Table<Option<Rc<Variable>>>>> {
    if Rc::ptr_eq(&one, other) {
        return one;
    }
    let frames = one.iter().zip(other.iter()).map(|(first, second)| {
        let alike = |first: &Option<_>, second: &Option<_>| same(first.as_ref(), second.as_ref());
        first.join(second, work, alike, |first, second| first.or(second).cloned().flatten())
    });
    Rc::new(frames.collect())
}

fn join_collected(
    one: Rc<Vec<Vec<Text>>>,
    other: &Rc<Vec<Vec<Text>>>,
    work: &mut Work,
) -> Rc<Vec<Vec<Text>>> {
    if Rc::ptr_eq(&one, other) {
        return one;
    }
    work.spend(
        one.iter().chain(other.iter()).flatten().map(|text| text.len() as u64 / COPIED_PER_WORK).sum(),
    );
    if *one == **other {
        return one;
    }
    let longer = if one.len() >= other.len() { &one } else { other };
    let mut joined: Vec<Vec<Text>> = Vec::with_capacity(longer.len());
    for at in 0..longer.len() {
        let mut texts = one.get(at).cloned().unwrap_or_default();
        for text in other.get(at).into_iter().flatten() {
            work.spend_bytes(text.len());
            if !texts.contains(text) {
                texts.push(text.clone());
            }
        }
        if texts.len() > VALUES_MAX {
            texts = vec![Text::unknown(Why::Budget, "")];
        }
        joined.push(texts);
    }
    Rc::new(joined)
}

type Passing = Rc<BTreeMap<Rc<str>, Vec<Value>>>;

fn join_passing(one: Option<Passing>, other: Option<Passing>) -> Option<Passing> {
    let (Some(mut one), Some(other)) = (one.clone(), other.clone()) else { return one.or(other) };
    if !Rc::ptr_eq(&one, &other) {
        for (name, values) in other.iter() {
            for value in values {
                super::variables::add_passing(Rc::make_mut(&mut one), name, value);
            }
        }
    }
    Some(one)
}

fn join_traps(
    one: Rc<Vec<super::Trap>>,
    other: &Rc<Vec<super::Trap>>,
    work: &mut Work,
) -> Rc<Vec<super::Trap>> {
    work.spend((one.len() * other.len()) as u64 / ENTRIES_PER_WORK);
    if Rc::ptr_eq(&one, other) || *one == **other {
        return one;
    }
    let mut all = (*one).clone();
    for trap in other.iter() {
        if !all.contains(trap) {
            all.push(trap.clone());
        }
    }
    Rc::new(all)
}
