//! Exceptions of a rule. They are checked, completed with default operators, and written as ` and not ...` after the
//! rule's condition, exactly as in Falco. So lists and quoting affect them alike.

use crate::ast::{MODIFIERS, OPERATORS, Takes};
use crate::catalogue::Catalogue;
use crate::item::{Exception, Values};
use crate::limits::{CONDITION_BYTES_MAX, EXCEPTIONS_MAX};
use crate::options::Engine;
use crate::parse;
use crate::problem::Fault;
use crate::text::{Place, Text};

/// Checks the fields and operators of exceptions, and adds missing operators.
pub(crate) fn complete_all(
    all: &mut [Exception],
    catalogue: Option<&Catalogue<'_>>,
    engine: Engine,
) -> Result<(), Fault> {
    if let Some(first) = all.get(EXCEPTIONS_MAX) {
        return Err(too_many(first));
    }
    let Some(catalogue) = catalogue else { return Ok(()) };
    all.iter_mut().try_for_each(|exception| complete(exception, catalogue, engine))
}

fn complete(exception: &mut Exception, catalogue: &Catalogue<'_>, engine: Engine) -> Result<(), Fault> {
    let place = exception.place;
    match (&exception.fields, &exception.comps) {
        (None, _) => return Err(needs_fields(place)),
        (Some(Values::One(_)), None) => exception.comps = Some(Values::One(Text::derived("in", place))),
        (Some(Values::Many(fields)), None) => {
            let equals = fields.iter().map(|_| Values::One(Text::derived("=", place)));
            exception.comps = Some(Values::Many(equals.collect()));
        }
        (Some(_), Some(_)) => {}
    }
    match (&exception.fields, &exception.comps) {
        (Some(Values::One(field)), Some(Values::One(comp))) => {
            check_operator(comp, true, engine)?;
            check_field(field, catalogue, engine)
        }
        (Some(Values::Many(fields)), Some(Values::Many(comps))) => {
            if fields.len() != comps.len() {
                return Err(Fault::new(
                    "LOAD_ERR_VALIDATE",
                    place,
                    "`fields` and `comps` must have the same length",
                ));
            }
            for comp in comps {
                check_operator(one(comp, place)?, false, engine)?;
            }
            fields.iter().try_for_each(|field| check_field(one(field, place)?, catalogue, engine))
        }
        _ => {
            let message = "`fields` and `comps` must be both a text or both a list";
            Err(Fault::new("LOAD_ERR_VALIDATE", place, message))
        }
    }
}

/// Appends an exception to a rule: its values to the exception of the same name, or a new exception.
pub(crate) fn append(
    all: &mut Vec<Exception>,
    mut new: Exception,
    catalogue: Option<&Catalogue<'_>>,
    engine: Engine,
) -> Result<(), Fault> {
    if let Some(old) = all.iter_mut().find(|old| old.name == new.name) {
        if new.fields.is_some() || new.comps.is_some() {
            let message = format!("the exception `{}` exists: only `values` can be appended to it", new.name);
            return Err(Fault::new("LOAD_ERR_VALIDATE", new.place, message));
        }
        old.values.append(&mut new.values);
        return Ok(());
    }
    if new.fields.is_none() {
        return Err(needs_fields(new.place));
    }
    if let Some(catalogue) = catalogue {
        complete(&mut new, catalogue, engine)?;
    }
    if all.len() >= EXCEPTIONS_MAX {
        return Err(too_many(&new));
    }
    all.push(new);
    Ok(())
}

/// Returns the condition of a rule with its exceptions after it.
pub(crate) fn write(condition: &Text, exceptions: &[Exception]) -> Result<Text, Fault> {
    if exceptions.is_empty() {
        return Ok(condition.clone());
    }
    let start = condition.place(0..1);
    let mut text = Text::derived("(", start);
    text.push(condition);
    text.push_derived(")", start);
    for exception in exceptions {
        match (&exception.fields, &exception.comps) {
            (Some(Values::One(field)), Some(Values::One(comp))) => {
                write_one(&mut text, field, comp, exception)?
            }
            (Some(Values::Many(fields)), Some(Values::Many(comps))) => {
                write_many(&mut text, fields, comps, exception)?;
            }
            _ => return Err(needs_fields(exception.place)),
        }
    }
    check_length(&text, start)?;
    Ok(text)
}

/// Writes ` and not (field op (v1, v2))`.
fn write_one(text: &mut Text, field: &Text, comp: &Text, exception: &Exception) -> Result<(), Fault> {
    let place = exception.place;
    for (index, value) in exception.values.iter().enumerate() {
        if index == 0 {
            text.push_derived(" and not (", place);
            text.push(field);
            text.push_derived(" ", place);
            text.push(comp);
            text.push_derived(" (", place);
        } else {
            text.push_derived(", ", place);
        }
        push_quoted(text, one(value, place)?);
        check_length(text, place)?;
    }
    if !exception.values.is_empty() {
        text.push_derived("))", place);
    }
    Ok(())
}

/// Writes ` and not ((f1 op1 v1 and f2 op2 v2) or (...))`.
fn write_many(
    text: &mut Text,
    fields: &[Values],
    comps: &[Values],
    exception: &Exception,
) -> Result<(), Fault> {
    let place = exception.place;
    for (index, tuple) in exception.values.iter().enumerate() {
        let values = match tuple {
            Values::Many(values) if values.len() == fields.len() => values,
            Values::Many(_) | Values::One(_) => {
                let message = format!("each of `values` must be a list of {}, like `fields`", fields.len());
                return Err(Fault::new("LOAD_ERR_VALIDATE", place, message));
            }
        };
        text.push_derived(if index == 0 { " and not ((" } else { " or (" }, place);
        for (column, ((field, comp), value)) in fields.iter().zip(comps).zip(values).enumerate() {
            let comp = one(comp, place)?;
            text.push_derived(if column == 0 { " " } else { " and  " }, place);
            text.push(one(field, place)?);
            text.push_derived(" ", place);
            text.push(comp);
            text.push_derived(" ", place);
            match value {
                Values::Many(values) => push_list(text, values, place)?,
                Values::One(value) if takes_list(comp.as_str()) => push_parenthesised(text, value, place),
                Values::One(value) => push_quoted(text, value),
            }
            check_length(text, place)?;
        }
        text.push_derived(")", place);
    }
    if !exception.values.is_empty() {
        text.push_derived(")", place);
    }
    Ok(())
}

fn push_list(text: &mut Text, values: &[Values], place: Place) -> Result<(), Fault> {
    text.push_derived("(", place);
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            text.push_derived(", ", place);
        }
        push_quoted(text, one(value, place)?);
    }
    text.push_derived(")", place);
    Ok(())
}

fn push_parenthesised(text: &mut Text, value: &Text, place: Place) {
    if value.as_str().starts_with('(') {
        text.push(value);
        return;
    }
    text.push_derived("(", place);
    text.push(value);
    text.push_derived(")", place);
}

/// Appends a value, in quotes if it has a blank and no quotes. Nothing in the value is escaped.
pub(crate) fn push_quoted(text: &mut Text, value: &Text) {
    let quotes = value.as_str().contains(' ') && !value.as_str().starts_with(['"', '\'']);
    let place = value.place(0..value.as_str().len());
    if quotes {
        text.push_derived("\"", place);
    }
    text.push(value);
    if quotes {
        text.push_derived("\"", place);
    }
}

fn check_length(text: &Text, place: Place) -> Result<(), Fault> {
    if text.as_str().len() <= CONDITION_BYTES_MAX {
        return Ok(());
    }
    let message = format!("more than {CONDITION_BYTES_MAX} bytes after the exceptions are inserted");
    Err(Fault::new("CASTELLAN_LIMIT", place, message).help("use fewer or shorter values"))
}

fn one(values: &Values, place: Place) -> Result<&Text, Fault> {
    match values {
        Values::One(text) => Ok(text),
        Values::Many(_) => Err(Fault::new("LOAD_ERR_VALIDATE", place, "expected one text here, not a list")),
    }
}

fn too_many(exception: &Exception) -> Fault {
    let message = format!("a rule can have at most {EXCEPTIONS_MAX} exceptions");
    Fault::new("CASTELLAN_LIMIT", exception.place, message).help("give one exception more values")
}

fn needs_fields(place: Place) -> Fault {
    Fault::new("LOAD_ERR_VALIDATE", place, "the exception must have `fields`")
}

/// Reports whether an operator takes a list.
fn takes_list(comp: &str) -> bool {
    let takes =
        |name: &str| OPERATORS.iter().find(|(known, _, _)| *known == name).map(|(_, _, takes)| *takes);
    match modified(comp) {
        Some((name, _)) => matches!(takes(name), Some(Takes::String | Takes::SpacedString)),
        None => takes(comp.trim()) == Some(Takes::List),
    }
}

/// Splits an operator and its modifier, such as `contains anyof`.
fn modified(comp: &str) -> Option<(&str, &str)> {
    let (name, modifier) = comp.trim().rsplit_once(|char: char| char.is_ascii_whitespace())?;
    MODIFIERS.iter().any(|(known, _)| *known == modifier).then(|| (name.trim_end(), modifier))
}

fn check_operator(comp: &Text, list: bool, engine: Engine) -> Result<(), Fault> {
    let name = comp.as_str().trim();
    let place = comp.place(0..comp.as_str().len());
    let fault = |message: String| Fault::new("LOAD_ERR_VALIDATE", place, message);
    if let Some((_, modifier)) = modified(name).filter(|_| engine < Engine::V0_44) {
        let message = format!("engine 0.43 does not know `{modifier}`");
        return Err(fault(message).help("use engine 0.44"));
    }
    let is_operator = OPERATORS.iter().any(|(known, _, _)| *known == name) || takes_list(name);
    if list && !takes_list(name) {
        let message = format!("`{name}` cannot be used with one field: use `in`, `intersects` or `pmatch`");
        return Err(fault(message));
    }
    if !is_operator {
        return Err(fault(format!("`{name}` is not an operator")));
    }
    Ok(())
}

fn check_field(field: &Text, catalogue: &Catalogue<'_>, engine: Engine) -> Result<(), Fault> {
    let checked = parse::operand(field, engine).and_then(|operand| catalogue.type_of(&operand));
    checked.map(|_| ()).map_err(|fault| Fault { code: "LOAD_ERR_VALIDATE", ..fault })
}
