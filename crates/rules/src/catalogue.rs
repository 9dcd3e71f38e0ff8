//! The fields that conditions and outputs of one source may name. It knows their types, not their values.

use std::collections::HashMap;

use castellan_event::{FieldArg, FieldDef, FieldType, Level};
use rustc_hash::FxBuildHasher;

use crate::ast::{Argument, Check, Function, Operand, OperandKind, Transformer};
use crate::problem::Fault;
use crate::suggest::did_you_mean;

/// The field with the level of the row.
pub(crate) const ROW_LEVEL: &str = "row.level";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ValueType {
    pub(crate) of: FieldType,
    /// The value is a list of this type.
    pub(crate) list: bool,
}

impl ValueType {
    pub(crate) fn one(of: FieldType) -> Self {
        Self { of, list: false }
    }
}

#[derive(Debug)]
pub(crate) struct Catalogue<'t> {
    fields: &'t [FieldDef<'t>],
    by_name: HashMap<&'t str, usize, FxBuildHasher>,
    /// Help for a field that is not in the catalogue.
    help: Option<&'static str>,
}

impl<'t> Catalogue<'t> {
    pub(crate) fn new(fields: &'t [FieldDef<'t>]) -> Self {
        let by_name = fields.iter().enumerate().map(|(index, field)| (field.name, index)).collect();
        Self { fields, by_name, help: None }
    }

    /// Returns the catalogue of Falco's source `syscall`, which is empty here.
    pub(crate) fn syscall() -> Self {
        let help = "the rule is of source `syscall`, which has no fields here; add `source: coding_agent`";
        Self { help: Some(help), ..Self::new(&[]) }
    }

    pub(crate) fn get(&self, index: usize) -> Option<&'t FieldDef<'t>> {
        self.fields.get(index)
    }

    pub(crate) fn index(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    pub(crate) fn level(&self, name: &str) -> Level {
        self.index(name).and_then(|index| self.get(index)).map_or(Level::Call, |field| field.level)
    }

    /// Returns the finest level of all fields.
    pub(crate) fn finest(&self) -> Level {
        self.fields.iter().map(|field| field.level).max().unwrap_or_default()
    }

    /// Returns the finest level of the fields in a comparison.
    pub(crate) fn level_of(&self, check: &Check) -> Level {
        let mut level = Level::Call;
        check.fields(&mut |field| {
            if let OperandKind::Field { name, .. } = &field.kind {
                level = level.max(self.level(name));
            }
        });
        level
    }

    /// Returns the names of the fields that are suggested for outputs.
    pub(crate) fn suggested(&self) -> impl Iterator<Item = &'t str> {
        let alone = |arg: FieldArg| matches!(arg, FieldArg::None | FieldArg::Optional);
        self.fields.iter().filter(move |field| field.suggested && alone(field.arg)).map(|field| field.name)
    }

    /// Looks up a field, and checks its argument.
    pub(crate) fn field(
        &self,
        name: &str,
        arg: Option<&str>,
    ) -> Result<(usize, ValueType), (String, Option<String>)> {
        let Some(index) = self.index(name) else {
            let names = self.fields.iter().map(|field| field.name);
            let help = self.help.map(str::to_owned).or_else(|| did_you_mean(name, names));
            return Err((format!("there is no field `{name}`"), help));
        };
        let Some(field) = self.get(index) else { return Err((format!("there is no field `{name}`"), None)) };
        let found = ValueType { of: field.ty, list: field.list };
        match (field.arg, arg) {
            (FieldArg::None | FieldArg::Optional, None) => Ok((index, found)),
            (FieldArg::None, Some(_)) => Err((format!("`{name}` takes no argument"), None)),
            (FieldArg::Key | FieldArg::Optional, Some(key)) if is_key(key) => Ok((index, found)),
            (FieldArg::Key | FieldArg::Optional, Some(_)) => {
                Err(("an argument must not have blanks or brackets".to_owned(), None))
            }
            (FieldArg::Index, Some(digits)) if is_index(digits) => Ok((index, found)),
            (FieldArg::Index, Some(_)) => {
                Err((format!("the argument of `{name}` must be a number without leading zeros"), None))
            }
            (FieldArg::Key | FieldArg::Index, None) => {
                Err((format!("`{name}` needs an argument: `{name}[...]`"), None))
            }
        }
    }

    /// Returns the type of an operand, or its fault.
    pub(crate) fn type_of(&self, operand: &Operand) -> Result<ValueType, Fault> {
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
            OperandKind::Function { by, args, option } => {
                let types =
                    args.iter().map(|arg| self.type_of_argument(arg)).collect::<Result<Vec<_>, _>>()?;
                function(*by, &types, option.as_deref()).map_err(|usage| {
                    let message = format!("`{}` cannot be used like this", by.as_str());
                    Fault::new("LOAD_ERR_COMPILE_CONDITION", operand.place, message).help(usage)
                })
            }
        }
    }

    fn type_of_argument(&self, arg: &Argument) -> Result<ValueType, Fault> {
        match arg {
            Argument::Operand(operand) => self.type_of(operand),
            Argument::Constant(_) => Ok(TEXT),
            Argument::List(_) => Ok(TEXTS),
        }
    }
}

/// Returns the type of a transformer's result.
fn transformed(by: Transformer, ty: ValueType) -> Option<ValueType> {
    let is_text = ty.of == FieldType::Text;
    match by {
        Transformer::Len if is_text || ty.list || ty.of == FieldType::Bytes => {
            Some(ValueType::one(FieldType::U64))
        }
        Transformer::Len => None,
        Transformer::ToLower | Transformer::ToUpper | Transformer::B64 | Transformer::Basename => {
            is_text.then_some(ty)
        }
    }
}

const TEXT: ValueType = ValueType { of: FieldType::Text, list: false };
const TEXTS: ValueType = ValueType { of: FieldType::Text, list: true };

/// Returns the type of a function's result, or a usage text for wrong arguments.
fn function(by: Function, args: &[ValueType], option: Option<&str>) -> Result<ValueType, &'static str> {
    let (fits, usage) = match by {
        Function::Join => (
            args == [TEXT, TEXTS] && option.is_none(),
            "write `join(separator, list)`, the separator a string and the list of strings",
        ),
        Function::Concat => (
            args.len() >= 2 && args.iter().all(|arg| *arg == TEXT) && option.is_none(),
            "write `concat(a, b)` with two or more strings",
        ),
        Function::GetOpt => (
            args == [TEXTS, TEXT] && option.is_some_and(|option| option.len() == 1),
            "write `getopt(arguments, \"ab:\")[a]`: a list of strings, the options, and one of them",
        ),
    };
    if fits { Ok(TEXT) } else { Err(usage) }
}

/// Returns a type's name for people, with its article.
pub(crate) fn a_type(ty: ValueType) -> String {
    let name = type_name(ty);
    format!("{} {name}", if name.starts_with('a') { "an" } else { "a" })
}

/// Returns a type's name for people.
pub(crate) fn type_name(ty: ValueType) -> &'static str {
    match (ty.of, ty.list) {
        (FieldType::Text, false) => "string",
        (FieldType::U64, false) => "number",
        (FieldType::Bool, false) => "boolean",
        (FieldType::Bytes, false) => "byte buffer",
        (FieldType::Ip, false) => "address",
        (FieldType::Net, false) => "network",
        (FieldType::Text, true) => "list of strings",
        (FieldType::U64, true) => "list of numbers",
        (FieldType::Bool, true) => "list of booleans",
        (FieldType::Bytes, true) => "list of byte buffers",
        (FieldType::Ip, true) => "list of addresses",
        (FieldType::Net, true) => "list of networks",
    }
}

fn is_key(key: &str) -> bool {
    !key.contains(|char: char| char.is_ascii_whitespace() || matches!(char, '[' | ']'))
}

fn is_index(digits: &str) -> bool {
    let canonical = digits == "0" || !digits.starts_with('0');
    canonical && digits.bytes().all(|byte| byte.is_ascii_digit()) && digits.parse::<u64>().is_ok()
}
