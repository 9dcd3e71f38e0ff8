//! [`PlainRow`]: an event as Falco sees it, for tests that put castellan's rule language in Falco's place.

use castellan_event::{FIELDS, FieldArg, FieldDef, FieldType, Level, Row, Value};

use crate::engine_fields::EngineField;
use crate::event::Event;
use crate::part::{Defect, Found};

/// An event as a row of the fields of [`plain_fields`]. A row of Falco has no level. The report on the row is an empty
/// text. A value that cannot be read is absent.
#[derive(Debug)]
pub struct PlainRow<'e>(pub Event<'e>);

impl Row for PlainRow<'_> {
    fn value(&self, field: usize, arg: Option<&str>) -> Value<'_> {
        let text = |text: &[u8]| Value::Text(text.strip_suffix(b"\0").unwrap_or(text).to_vec().into());
        let Some(own) = field.checked_sub(FIELDS.len()) else {
            return match self.0.value(field, arg.map(str::as_bytes)) {
                Err(_) | Ok(Found::Absent) => Value::Absent,
                Ok(Found::Text(found)) => text(found),
                Ok(Found::U64(number)) => Value::U64(number),
                Ok(Found::Bool(truth)) => Value::Bool(truth),
                Ok(Found::List(list)) => {
                    let texts: Result<Vec<_>, Defect> = list.texts().map(|one| one.map(text)).collect();
                    texts.map_or(Value::Absent, Value::List)
                }
            };
        };
        match EngineField::ALL.get(own) {
            Some(EngineField::Nonce) => text(self.0.nonce()),
            Some(EngineField::Generation) => text(self.0.generation()),
            Some(EngineField::Match) => Value::Bool(true),
            Some(EngineField::Seen) => text(b""),
            None => Value::Absent,
        }
    }
}

/// Returns the fields that Falco has of the plugin: those of the field table without their levels, then those between
/// castellan and the engine.
pub fn plain_fields() -> Vec<FieldDef<'static>> {
    let own = FIELDS.iter().map(|field| FieldDef { level: Level::Call, ..*field });
    let engine = EngineField::ALL.iter().map(|field| {
        let (ty, arg) = match field {
            EngineField::Match => (FieldType::Bool, FieldArg::Index),
            EngineField::Nonce | EngineField::Generation | EngineField::Seen => {
                (FieldType::Text, FieldArg::None)
            }
        };
        let (name, meaning) = (field.name(), field.meaning());
        FieldDef { name, ty, list: false, level: Level::Call, arg, suggested: false, words: &[], meaning }
    });
    own.chain(engine).collect()
}
