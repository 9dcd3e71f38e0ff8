//! The fields that conditions and outputs of one source may name, by name. Knows their types, not their values.

use std::collections::HashMap;

use castellan_event::{FieldArg, FieldDef, FieldType};

use crate::ast::{Operand, OperandKind, Transformer};
use crate::problem::Fault;
use crate::suggest::did_you_mean;

/// The fields of a source.
#[derive(Debug)]
pub(crate) struct Catalogue {
    fields: &'static [FieldDef],
    by_name: HashMap<&'static str, usize>,
    /// What to say when a field is not here.
    help: Option<&'static str>,
}

impl Catalogue {
    pub(crate) fn new(fields: &'static [FieldDef]) -> Self {
        let by_name = fields.iter().enumerate().map(|(index, field)| (field.name, index)).collect();
        Self { fields, by_name, help: None }
    }

    /// The catalogue of Falco's source `syscall`, of which nothing exists here.
    pub(crate) fn syscall() -> Self {
        let help = "the rule is of source `syscall`, which has no fields here; add `source: coding_agent`";
        Self { help: Some(help), ..Self::new(&[]) }
    }

    pub(crate) fn get(&self, index: usize) -> Option<&'static FieldDef> {
        self.fields.get(index)
    }

    pub(crate) fn index(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// Looks up a field with its argument, and checks the argument.
    pub(crate) fn field(
        &self,
        name: &str,
        arg: Option<&str>,
    ) -> Result<(usize, FieldType), (String, Option<String>)> {
        let Some(index) = self.index(name) else {
            let names = self.fields.iter().map(|field| field.name);
            let help = self.help.map(str::to_owned).or_else(|| did_you_mean(name, names));
            return Err((format!("there is no field `{name}`"), help));
        };
        let Some(field) = self.get(index) else { return Err((format!("there is no field `{name}`"), None)) };
        match (field.arg, arg) {
            (FieldArg::None, None) => Ok((index, field.ty)),
            (FieldArg::None, Some(_)) => Err((format!("`{name}` takes no argument"), None)),
            (FieldArg::Key, Some(key)) if is_key(key) => Ok((index, field.ty)),
            (FieldArg::Key, Some(_)) => {
                Err(("an argument may have neither blanks nor brackets".to_owned(), None))
            }
            (FieldArg::Index, Some(digits)) if is_index(digits) => Ok((index, field.ty)),
            (FieldArg::Index, Some(_)) => {
                Err((format!("the argument of `{name}` must be a number without leading zeros"), None))
            }
            (FieldArg::Key | FieldArg::Index, None) => {
                Err((format!("`{name}` needs an argument: `{name}[...]`"), None))
            }
        }
    }

    /// The type of an operand, or what is wrong with it.
    pub(crate) fn type_of(&self, operand: &Operand) -> Result<FieldType, Fault> {
        match &operand.kind {
            OperandKind::Field { name, arg } => {
                let found = self.field(name, arg.as_deref());
                let fault = |message| Fault::new("LOAD_ERR_COMPILE_CONDITION", operand.place, message);
                found.map(|(_, ty)| ty).map_err(|(message, help)| fault(message).help_if(help))
            }
            OperandKind::Transformed { by, inner } => {
                let ty = self.type_of(inner)?;
                transformed(*by, ty).ok_or_else(|| {
                    let message =
                        format!("`{}` cannot be applied to a field of type {}", by.as_str(), type_name(ty));
                    Fault::new("LOAD_ERR_COMPILE_CONDITION", operand.place, message)
                })
            }
        }
    }
}

/// The type that a transformer makes of another.
fn transformed(by: Transformer, ty: FieldType) -> Option<FieldType> {
    match (by, ty) {
        (Transformer::Len, FieldType::Text | FieldType::TextList | FieldType::U64List) => {
            Some(FieldType::U64)
        }
        (Transformer::Len, FieldType::U64 | FieldType::Bool) => None,
        (_, FieldType::Text | FieldType::TextList) => Some(ty),
        (_, FieldType::U64 | FieldType::Bool | FieldType::U64List) => None,
    }
}

/// A type's name for people.
pub(crate) fn type_name(ty: FieldType) -> &'static str {
    match ty {
        FieldType::Text => "string",
        FieldType::U64 => "number",
        FieldType::Bool => "boolean",
        FieldType::TextList => "list of strings",
        FieldType::U64List => "list of numbers",
    }
}

fn is_key(key: &str) -> bool {
    !key.contains(|char: char| char.is_ascii_whitespace() || matches!(char, '[' | ']'))
}

fn is_index(digits: &str) -> bool {
    let canonical = digits == "0" || !digits.starts_with('0');
    canonical && digits.bytes().all(|byte| byte.is_ascii_digit()) && digits.parse::<u64>().is_ok()
}
