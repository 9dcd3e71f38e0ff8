//! Outputs: text with `%field` tokens, compiled to templates and rendered on a row. A token is the longest valid field after
//! `%`; there is no `%%`. An absent value is rendered `<NA>`.

use std::collections::BTreeSet;

use castellan_event::Value;

use crate::ast::Operand;
use crate::catalogue::Catalogue;
use crate::compile::Compiler;
use crate::limits::{OPERAND_BYTES_MAX, OUTPUT_WIDTH_MAX, PROBLEMS_MAX};
use crate::parse;
use crate::problem::Fault;
use crate::program::{Part, Template};
use crate::text::{Place, Text};

/// Compiles an output; all its problems.
pub(crate) fn compile(
    output: &Text,
    catalogue: &Catalogue,
    compiler: &mut Compiler<'_>,
    fields: &mut BTreeSet<usize>,
) -> Result<Template, Vec<Fault>> {
    let whole = output.as_str();
    let start = whole.len() - whole.trim_start().len();
    let text = whole.trim();
    // Falco prints an alert whose output begins with `*` even if a field is absent, and puts it before every output.
    let (start, text) = text.strip_prefix('*').map_or((start, text), |rest| (start + 1, rest));
    let mut parts = Vec::new();
    let mut faults = Vec::new();
    let mut at = 0;
    while let Some(percent) = text.get(at..).and_then(|rest| rest.find('%')).map(|found| at + found) {
        push_text(&mut parts, text.get(at..percent).unwrap_or_default());
        let place = |len: usize| output.place(start + percent..start + percent + len);
        match token(text, percent, catalogue, &place) {
            Ok((operand, width, end)) => {
                if let Some(slot) = compiler.operand_slot(&operand, fields) {
                    parts.push(Part::Slot { slot, width });
                }
                at = end;
            }
            Err(fault) => {
                faults.push(fault);
                at = percent + 1;
            }
        }
        if faults.len() >= PROBLEMS_MAX {
            break;
        }
    }
    push_text(&mut parts, text.get(at..).unwrap_or_default());
    if faults.is_empty() { Ok(Template { parts }) } else { Err(faults) }
}

/// Renders a template; bytes that are not UTF-8 become U+FFFD.
pub(crate) fn render<'v>(template: &Template, value: impl Fn(usize) -> &'v Value<'v>) -> String {
    let mut message = String::new();
    for part in &template.parts {
        match part {
            Part::Text(text) => message.push_str(text),
            Part::Slot { slot, width: None } => push_value(&mut message, value(*slot)),
            Part::Slot { slot, width: Some(width) } => {
                let mut text = String::new();
                push_value(&mut text, value(*slot));
                let used = text.chars().take(*width).map(|char| message.push(char)).count();
                message.extend(std::iter::repeat_n(' ', width.saturating_sub(used)));
            }
        }
    }
    message
}

fn push_text(parts: &mut Vec<Part>, text: &str) {
    if !text.is_empty() {
        parts.push(Part::Text(text.to_owned()));
    }
}

/// The token after a `%`: what it names, its width and where it ends.
fn token(
    text: &str,
    percent: usize,
    catalogue: &Catalogue,
    place: &impl Fn(usize) -> Place,
) -> Result<(Operand, Option<usize>, usize), Fault> {
    let rest = text.get(percent + 1..).unwrap_or_default();
    if rest.is_empty() {
        let fault = Fault::new("LOAD_ERR_COMPILE_OUTPUT", place(1), "an output cannot end in `%`");
        return Err(fault.help("there is no way to write a percent sign: say `percent`"));
    }
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let width = rest.get(..digits).filter(|digits| !digits.is_empty());
    let name = rest.get(digits..).unwrap_or_default();
    let (operand, len) = longest(name, catalogue).ok_or_else(|| unknown(name, digits, catalogue, place))?;
    let width = match width.map(str::parse) {
        None => None,
        Some(Ok(width)) if width <= OUTPUT_WIDTH_MAX => Some(width),
        Some(_) => {
            let message = format!("a field may be at most {OUTPUT_WIDTH_MAX} characters wide");
            return Err(Fault::new("LOAD_ERR_COMPILE_OUTPUT", place(digits + 1), message));
        }
    };
    Ok((operand, width, percent + 1 + digits + len))
}

/// The longest beginning of `text` that is a valid operand.
fn longest(text: &str, catalogue: &Catalogue) -> Option<(Operand, usize)> {
    let text = text.get(..text.floor_char_boundary(OPERAND_BYTES_MAX)).unwrap_or_default();
    let name = text.find(|char: char| !is_field_char(char)).unwrap_or(text.len());
    let mut len = parse::operand_prefix(text).map_or(name, |(_, used)| used);
    while len > 0 {
        let found = text.get(..len).and_then(parse::operand_prefix).filter(|(_, used)| *used == len);
        if let Some((operand, _)) = found.filter(|(operand, _)| catalogue.type_of(operand).is_ok()) {
            return Some((operand, len));
        }
        len -= 1;
    }
    None
}

fn is_field_char(char: char) -> bool {
    char.is_ascii_alphanumeric() || matches!(char, '_' | '.')
}

fn unknown(name: &str, digits: usize, catalogue: &Catalogue, place: &impl Fn(usize) -> Place) -> Fault {
    let name = name.get(..name.floor_char_boundary(OPERAND_BYTES_MAX)).unwrap_or_default();
    let (shown, len, help) = match parse::operand_prefix(name) {
        Some((operand, len)) => {
            let help = catalogue.type_of(&operand).err().and_then(|fault| fault.help);
            (name.get(..len).unwrap_or_default(), len, help)
        }
        None => {
            let shown = name.split_ascii_whitespace().next().unwrap_or_default();
            (shown, shown.len(), Some("`%` must be followed by a field; there is no `%%`".to_owned()))
        }
    };
    let message = format!("`%{shown}` is not a field");
    Fault::new("LOAD_ERR_COMPILE_OUTPUT", place(1 + digits + len), message).help_if(help)
}

fn push_value(out: &mut String, value: &Value<'_>) {
    match value {
        Value::Absent => out.push_str("<NA>"),
        Value::Text(bytes) => out.push_str(&String::from_utf8_lossy(bytes)),
        Value::U64(number) => out.push_str(&number.to_string()),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::TextList(all) => {
            push_list(out, all.iter().map(|bytes| String::from_utf8_lossy(bytes).into_owned()))
        }
        Value::U64List(all) => push_list(out, all.iter().map(u64::to_string)),
    }
}

fn push_list(out: &mut String, all: impl Iterator<Item = String>) {
    out.push('(');
    for (index, text) in all.enumerate() {
        if index > 0 {
            out.push(',');
        }
        out.push_str(&text);
    }
    out.push(')');
}
