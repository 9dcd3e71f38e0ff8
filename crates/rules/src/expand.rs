//! Expands lists and macros in conditions: lists as text, before parsing; macros as syntax trees, after it. Both work
//! as in Falco 0.43, sharp edges included. It looks up no fields.

mod lists;
mod macros;

pub(crate) use lists::{Lists, items};
pub(crate) use macros::Macros;
