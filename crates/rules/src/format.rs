//! Outputs: text with `%field` tokens, compiled to templates and rendered on a row. A token is the longest valid field
//! after `%`; there is no `%%`. An absent value is rendered as `<NA>`.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use castellan_event::Value;

use crate::ast::{Operand, OperandKind};
use crate::catalogue::Catalogue;
use crate::compile::Compiler;
use crate::limits::{
    LIST_TEXT_BYTES_MAX, OPERAND_BYTES_MAX, OUTPUT_WIDTH_MAX, PROBLEMS_MAX, RENDERED_BYTES_MAX,
};
use crate::options::Engine;
use crate::parse;
use crate::print;
use crate::problem::Fault;
use crate::program::{Part, Template};
use crate::rule::Message;
use crate::text::{Place, Text};

/// Separates the remedy in an output from the part before it.
pub const REMEDY_MARK: &str = " Instead: ";

/// Renders a template; bytes that are not UTF-8 become U+FFFD. A message over the limit is cut, with a mark at the cut.
pub(crate) fn render<'v>(template: &Template, value: impl Fn(usize) -> &'v Value<'v>) -> Message {
    let mut message = Message { text: String::new(), remedy_at: None, values: Vec::new() };
    for part in &template.parts {
        let start = message.text.len();
        if start > RENDERED_BYTES_MAX {
            break;
        }
        message.text.push_str(&render_parts(std::slice::from_ref(part), &value, RENDERED_BYTES_MAX - start));
        match part {
            // Only the rule's own text can start a remedy: values come from agents, repositories and servers.
            Part::Text(text) => {
                let mark = text.rfind(REMEDY_MARK).map(|at| start + at + REMEDY_MARK.len());
                message.remedy_at = mark.or(message.remedy_at);
            }
            Part::Slot { .. } => message.values.push(start..message.text.len()),
        }
    }
    if message.text.len() > RENDERED_BYTES_MAX {
        let end = message.text.floor_char_boundary(RENDERED_BYTES_MAX);
        message.text.truncate(end);
        message.text.push('…');
        message.remedy_at = message.remedy_at.filter(|at| *at <= end);
        message.values.retain_mut(|value| {
            value.end = value.end.min(end);
            value.start < value.end
        });
    }
    message
}

/// Returns the values of the fields in a template, sorted by key, each once.
pub(crate) fn fields<'v, 'r: 'v>(
    template: &Template,
    value: impl Fn(usize) -> &'v Value<'r>,
) -> Vec<(String, Value<'r>)> {
    let fields = template.named.fields.iter().map(|(key, slot)| (&**key, value(*slot).clone()));
    let text = |parts: &[Part]| Value::Text(render_parts(parts, &value, usize::MAX).into_bytes().into());
    let texts = template.named.texts.iter().map(|(key, parts)| (&**key, text(parts)));
    let all: BTreeMap<&str, Value<'r>> = fields.chain(texts).collect();
    all.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// Compiles the outputs of one source.
#[derive(Debug)]
pub(crate) struct Outputs<'c> {
    catalogue: &'c Catalogue<'c>,
    engine: Engine,
    /// The keys of fields, shared by all templates.
    keys: HashSet<Arc<str>>,
}

impl<'c> Outputs<'c> {
    pub(crate) fn new(catalogue: &'c Catalogue<'c>, engine: Engine) -> Self {
        Self { catalogue, engine, keys: HashSet::new() }
    }

    /// Compiles the output of a rule, or returns all its problems.
    pub(crate) fn output(
        &mut self,
        output: &Text,
        compiler: &mut Compiler<'_>,
        fields: &mut BTreeSet<usize>,
    ) -> Result<Template, Vec<Fault>> {
        let whole = output.as_str();
        let start = whole.len() - whole.trim_start().len();
        let text = whole.trim();
        // Falco prints an alert whose output begins with `*` even if a field is absent, and adds `*` to every output.
        let (start, text) = text.strip_prefix('*').map_or((start, text), |rest| (start + 1, rest));
        self.compile(text, compiler, fields, &|range| output.place(start + range.start..start + range.end))
    }

    /// Compiles a text of the configuration, or returns all its problems without a place.
    pub(crate) fn text(
        &mut self,
        text: &str,
        compiler: &mut Compiler<'_>,
        fields: &mut BTreeSet<usize>,
    ) -> Result<Template, Vec<Fault>> {
        self.compile(text, compiler, fields, &|_| Place::NOWHERE)
    }

    /// Returns the key and slot of a single field.
    pub(crate) fn field(
        &mut self,
        text: &str,
        compiler: &mut Compiler<'_>,
        fields: &mut BTreeSet<usize>,
    ) -> Result<(Arc<str>, usize), Fault> {
        let parsed = parse::operand(&Text::derived(text, Place::NOWHERE), self.engine);
        let typed = parsed.and_then(|parsed| self.catalogue.type_of(&parsed).map(|_| parsed));
        let parsed = typed.map_err(|fault| Fault { code: CODE, ..fault })?;
        let slot = compiler.operand_slot(&parsed, fields);
        slot.filter(|_| matches!(parsed.kind, OperandKind::Field { .. }))
            .map(|slot| (self.key(text), slot))
            .ok_or_else(|| {
                let fault = Fault::new(CODE, Place::NOWHERE, format!("`{text}` is not a field"));
                fault.help(format!("give a format a name: `name: \"%{text}\"`"))
            })
    }

    /// Returns the shared copy of a key.
    pub(crate) fn key(&mut self, key: &str) -> Arc<str> {
        if let Some(known) = self.keys.get(key) {
            return Arc::clone(known);
        }
        let key: Arc<str> = key.into();
        self.keys.insert(Arc::clone(&key));
        key
    }

    fn compile(
        &mut self,
        text: &str,
        compiler: &mut Compiler<'_>,
        fields: &mut BTreeSet<usize>,
        place: &dyn Fn(std::ops::Range<usize>) -> Place,
    ) -> Result<Template, Vec<Fault>> {
        let mut template = Template::default();
        let mut faults = Vec::new();
        let mut at = 0;
        while let Some(percent) = text.get(at..).and_then(|rest| rest.find('%')).map(|found| at + found) {
            push_text(&mut template.parts, text.get(at..percent).unwrap_or_default());
            match self.token(text, percent, &|len| place(percent..percent + len)) {
                Ok((operand, width, end)) => {
                    // More slots would need gigabytes of rules.
                    let slot =
                        compiler.operand_slot(&operand, fields).and_then(|slot| u32::try_from(slot).ok());
                    template.parts.extend(slot.map(|slot| Part::Slot { slot, width }));
                    operand.fields(&mut |field| {
                        let slot = compiler.operand_slot(field, fields);
                        Arc::make_mut(&mut template.named)
                            .fields
                            .extend(slot.map(|slot| (self.key(&print::field(field)), slot)));
                    });
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
        push_text(&mut template.parts, text.get(at..).unwrap_or_default());
        let named = &mut Arc::make_mut(&mut template.named).fields;
        named.sort();
        named.dedup();
        if faults.is_empty() { Ok(template) } else { Err(faults) }
    }

    /// Parses the token after a `%`: operand, width and end.
    fn token(
        &self,
        text: &str,
        percent: usize,
        place: &dyn Fn(usize) -> Place,
    ) -> Result<(Operand, Option<u16>, usize), Fault> {
        let rest = text.get(percent + 1..).unwrap_or_default();
        if rest.is_empty() {
            let fault = Fault::new(CODE, place(1), "an output cannot end in `%`");
            return Err(fault.help("an output cannot have a percent sign: write `percent`"));
        }
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let width = rest.get(..digits).filter(|digits| !digits.is_empty());
        let name = rest.get(digits..).unwrap_or_default();
        let (operand, len) = self.longest(name).ok_or_else(|| self.unknown(name, digits, place))?;
        if name.get(len..).is_some_and(|rest| rest.starts_with('[')) {
            let shown = name.get(..len).unwrap_or_default();
            let fault = Fault::new(
                CODE,
                place(1 + digits + len),
                format!("`%{shown}` takes no argument in brackets"),
            );
            return Err(fault.help("write a blank before the `[`"));
        }
        let width = match width.map(str::parse) {
            None => None,
            Some(Ok(width)) if width <= OUTPUT_WIDTH_MAX => Some(width),
            Some(_) => {
                let message = format!("a field may be at most {OUTPUT_WIDTH_MAX} characters wide");
                return Err(Fault::new(CODE, place(digits + 1), message));
            }
        };
        Ok((operand, width, percent + 1 + digits + len))
    }

    /// Returns the longest prefix of `text` that is a valid operand.
    fn longest(&self, text: &str) -> Option<(Operand, usize)> {
        let text = text.get(..text.floor_char_boundary(OPERAND_BYTES_MAX)).unwrap_or_default();
        let name = text.find(|char: char| !is_field_char(char)).unwrap_or(text.len());
        let mut len = self.prefix(text).map_or(name, |(_, used)| used);
        while len > 0 {
            let found = text.get(..len).and_then(|text| self.prefix(text)).filter(|(_, used)| *used == len);
            if let Some((operand, _)) = found.filter(|(operand, _)| self.catalogue.type_of(operand).is_ok()) {
                return Some((operand, len));
            }
            len -= 1;
        }
        None
    }

    fn unknown(&self, name: &str, digits: usize, place: &dyn Fn(usize) -> Place) -> Fault {
        let name = name.get(..name.floor_char_boundary(OPERAND_BYTES_MAX)).unwrap_or_default();
        let (shown, len, help) = match self.prefix(name) {
            Some((operand, len)) => {
                let help = self.catalogue.type_of(&operand).err().and_then(|fault| fault.help);
                (name.get(..len).unwrap_or_default(), len, help)
            }
            None => {
                let shown = name.split_ascii_whitespace().next().unwrap_or_default();
                (shown, shown.len(), Some("`%` must be followed by a field; there is no `%%`".to_owned()))
            }
        };
        let message = format!("`%{shown}` is not a field");
        let fault = Fault::new(CODE, place(1 + digits + len), message).help_if(help);
        Fault { is_unknown_field: true, ..fault }
    }

    fn prefix(&self, text: &str) -> Option<(Operand, usize)> {
        parse::operand_prefix(text, self.engine)
    }
}

const CODE: &str = "LOAD_ERR_COMPILE_OUTPUT";

fn is_field_char(char: char) -> bool {
    char.is_ascii_alphanumeric() || matches!(char, '_' | '.')
}

fn push_text(parts: &mut Vec<Part>, text: &str) {
    if !text.is_empty() {
        parts.push(Part::Text(text.into()));
    }
}

/// Renders parts until there are more than `max` bytes. The excess does not depend on the values.
fn render_parts<'v, 'r: 'v>(parts: &[Part], value: &impl Fn(usize) -> &'v Value<'r>, max: usize) -> String {
    let mut message = String::new();
    for part in parts {
        if message.len() > max {
            break;
        }
        match part {
            Part::Text(text) => message.push_str(text),
            Part::Slot { slot, width: None } => push_value(&mut message, value(*slot as usize), max),
            Part::Slot { slot, width: Some(width) } => {
                let mut text = String::new();
                let width = usize::from(*width);
                push_value(&mut text, value(*slot as usize), max);
                let used = text.chars().take(width).map(|char| message.push(char)).count();
                message.extend(std::iter::repeat_n(' ', width.saturating_sub(used)));
            }
        }
    }
    message
}

/// Appends a value; at most one byte of a text more than `max`.
fn push_value(out: &mut String, value: &Value<'_>, max: usize) {
    let mut bytes = Vec::new();
    match value {
        Value::Text(text) => bytes.extend(text.iter().take(max.saturating_add(1))),
        Value::Absent | Value::U64(_) | Value::Bool(_) | Value::Ip(_) | Value::Net(_) | Value::List(_) => {
            append_value(&mut bytes, value);
        }
    }
    out.push_str(&String::from_utf8_lossy(&bytes));
}

fn append_value(out: &mut Vec<u8>, value: &Value<'_>) {
    match value {
        Value::Absent => out.extend(b"<NA>"),
        Value::Text(bytes) => out.extend_from_slice(bytes),
        Value::U64(number) => out.extend(number.to_string().bytes()),
        Value::Bool(value) => out.extend(if *value { b"true".as_slice() } else { b"false" }),
        Value::Ip(address) => out.extend(address.to_string().bytes()),
        Value::Net(net) => out.extend(net.to_string().bytes()),
        Value::List(all) => {
            let start = out.len();
            out.push(b'(');
            for (index, one) in all.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                append_value(out, one);
            }
            out.push(b')');
            out.truncate(start + LIST_TEXT_BYTES_MAX);
        }
    }
}
