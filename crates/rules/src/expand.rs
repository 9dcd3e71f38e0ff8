//! Puts lists and macros into conditions: lists as text, before parsing; macros as syntax trees, after it. Both as Falco
//! 0.43 does, sharp edges included. Looks up no fields.

mod lists;
mod macros;

pub(crate) use lists::{Lists, items};
pub(crate) use macros::Macros;
