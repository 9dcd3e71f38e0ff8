//! The fields that Falco has for events of any source, as far as a single event determines them (Falco 0.43).

use castellan_event::{FieldArg, FieldType, Level};

use crate::table::Field;

/// The content of such a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Generic {
    /// The event's number, from 1.
    Number,
    /// Time of day.
    Time,
    /// Date and time.
    Iso8601,
    /// Nanoseconds since 1970.
    RawTime,
    /// The name of the source, which is also the plugin's name.
    Source,
    /// The event as text.
    Info,
    Hostname,
}

const GENERIC: [(&str, FieldType, Generic); 8] = [
    ("evt.num", FieldType::U64, Generic::Number),
    ("evt.time", FieldType::Text, Generic::Time),
    ("evt.time.iso8601", FieldType::Text, Generic::Iso8601),
    ("evt.rawtime", FieldType::U64, Generic::RawTime),
    ("evt.source", FieldType::Text, Generic::Source),
    ("evt.pluginname", FieldType::Text, Generic::Source),
    ("evt.plugininfo", FieldType::Text, Generic::Info),
    ("evt.hostname", FieldType::Text, Generic::Hostname),
];

/// Adds the generic fields that a table lacks, and marks those that it has.
pub(super) fn add(fields: &mut Vec<Field>) {
    for (name, ty, generic) in GENERIC {
        match fields.iter_mut().find(|field| field.name == name) {
            Some(field) if field.ty == ty && !field.list => field.generic = Some(generic),
            Some(_) => {}
            None => fields.push(Field {
                name: name.to_owned(),
                ty,
                list: false,
                level: Level::Call,
                arg: FieldArg::None,
                suggested: false,
                meaning: String::new(),
                of: None,
                generic: Some(generic),
            }),
        }
    }
}
