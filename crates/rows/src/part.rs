//! A part of a row as bytes: the values of some fields of the field table, behind a table with a place for each field,
//! so that reading one field costs the same for each field and row.
//!
//! ```text
//! place of field 0 | place of field 1 | ... | values
//! place := at u32, size u32       at: from the start of the part; 0: the part has no value of the field
//! text:   size bytes without NUL, then a NUL
//! number: 8 bytes                 truth: 1 byte, 0 or 1
//! list:   size places, each of a text
//! keyed:  optional number of all other keys, then size entries: place of the key, optional number
//! optional number := present u8 (0 or 1), 8 bytes
//! ```
//! Integers are little-endian. A NUL in a text becomes U+FFFD, because a text of Falco ends at its first NUL.

mod read;
mod write;

use castellan_event::{FIELDS, FieldArg, FieldDef, FieldType};

pub(crate) use read::PartView;
pub use read::{Defect, Found, List};
pub(crate) use write::{WriteError, write};

/// Bytes of a place: offset and size.
const PLACE: usize = 8;

/// Bytes of an optional number.
const OPTIONAL: usize = 9;

/// The form of a field's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Text,
    Number,
    Truth,
    Texts,
    Keyed,
}

/// Returns the form of a field. `None`: the format has none. A test finds such a field in the table.
fn form(field: &FieldDef<'_>) -> Option<Form> {
    match (field.ty, field.list, field.arg) {
        (FieldType::Text, false, FieldArg::None) => Some(Form::Text),
        (FieldType::Text, true, FieldArg::None) => Some(Form::Texts),
        (FieldType::U64, false, FieldArg::None) => Some(Form::Number),
        (FieldType::U64, false, FieldArg::Key) => Some(Form::Keyed),
        (FieldType::Bool, false, FieldArg::None) => Some(Form::Truth),
        (
            FieldType::Text
            | FieldType::U64
            | FieldType::Bool
            | FieldType::Bytes
            | FieldType::Ip
            | FieldType::Net,
            _,
            _,
        ) => None,
    }
}

/// Returns the bytes of the table with the places.
fn table_bytes() -> usize {
    FIELDS.len() * PLACE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_has_a_form_for_each_field() {
        let without: Vec<_> = FIELDS.iter().filter(|field| form(field).is_none()).collect();
        assert!(without.is_empty(), "{without:?}");
    }
}
