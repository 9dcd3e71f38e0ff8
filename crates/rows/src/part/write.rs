//! Writes a part of a row.

use castellan_event::{FIELDS, Row, Value};

use super::{Form, PLACE, form, table_bytes};

/// The bytes of U+FFFD, which takes the place of a NUL.
const REPLACEMENT: &[u8] = "\u{fffd}".as_bytes();

/// A key that no mark has: its value is that of all keys without a mark. A rule file cannot hold a NUL.
const OTHER_KEY: &str = "\0";

/// The reason why a part has no bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WriteError {
    /// The values do not fit into 32 bits of length.
    TooLong,
    /// The value of the field of this number has a form that the format does not know.
    Form(usize),
}

/// Appends a part with the fields that `takes` selects by their number. `keys`: the keys that may have a value of
/// their own.
pub(crate) fn write(
    into: &mut Vec<u8>,
    row: &dyn Row,
    keys: &[&str],
    takes: &dyn Fn(usize) -> bool,
) -> Result<(), WriteError> {
    let start = into.len();
    into.resize(start + table_bytes(), 0);
    let mut part = Writer { bytes: into, start };
    for (number, field) in FIELDS.iter().enumerate().filter(|(number, _)| takes(*number)) {
        let form = form(field).ok_or(WriteError::Form(number))?;
        let place = match form {
            Form::Keyed => Some(part.keyed(number, row, keys)?),
            Form::Text | Form::Number | Form::Truth | Form::Texts => part
                .value(form, &row.value(number, None))
                .map_err(|error| error.unwrap_or(WriteError::Form(number)))?,
        };
        if let Some(place) = place {
            part.set(number, place);
        }
    }
    Ok(())
}

/// Where a value is: its offset in the part, and its size.
type Place = (u32, u32);

struct Writer<'b> {
    bytes: &'b mut Vec<u8>,
    start: usize,
}

impl Writer<'_> {
    /// Writes a value. Returns `None` for an absent value. The error is `None` for a value of another form.
    fn value(&mut self, form: Form, value: &Value<'_>) -> Result<Option<Place>, Option<WriteError>> {
        let place = match (form, value) {
            (_, Value::Absent) => return Ok(None),
            (Form::Text, Value::Text(text)) => self.text(text)?,
            (Form::Number, Value::U64(number)) => self.plain(&number.to_le_bytes())?,
            (Form::Truth, Value::Bool(truth)) => self.plain(&[u8::from(*truth)])?,
            (Form::Texts, Value::List(texts)) => self.texts(texts)?,
            (
                Form::Text | Form::Number | Form::Truth | Form::Texts | Form::Keyed,
                Value::Text(_)
                | Value::U64(_)
                | Value::Bool(_)
                | Value::Ip(_)
                | Value::Net(_)
                | Value::List(_),
            ) => return Err(None),
        };
        Ok(Some(place))
    }

    fn text(&mut self, text: &[u8]) -> Result<Place, WriteError> {
        let at = self.here()?;
        let from = self.bytes.len();
        for (number, piece) in text.split(|byte| *byte == 0).enumerate() {
            if number > 0 {
                self.bytes.extend_from_slice(REPLACEMENT);
            }
            self.bytes.extend_from_slice(piece);
        }
        let size = length(self.bytes.len() - from)?;
        self.bytes.push(0);
        Ok((at, size))
    }

    fn plain(&mut self, bytes: &[u8]) -> Result<Place, WriteError> {
        let at = self.here()?;
        self.bytes.extend_from_slice(bytes);
        Ok((at, length(bytes.len())?))
    }

    fn texts(&mut self, texts: &[Value<'_>]) -> Result<Place, Option<WriteError>> {
        let (at, count) = (self.here()?, length(texts.len())?);
        let table = self.bytes.len();
        self.bytes.resize(table + texts.len() * PLACE, 0);
        for (number, text) in texts.iter().enumerate() {
            let Value::Text(text) = text else { return Err(None) };
            let place = self.text(text)?;
            self.put(table + number * PLACE, place);
        }
        Ok((at, count))
    }

    fn keyed(&mut self, field: usize, row: &dyn Row, keys: &[&str]) -> Result<Place, WriteError> {
        let mut numbers = Vec::with_capacity(keys.len() + 1);
        for key in std::iter::once(&OTHER_KEY).chain(keys) {
            numbers.push(match row.value(field, Some(key)) {
                Value::Absent => None,
                Value::U64(number) => Some(number),
                Value::Text(_) | Value::Bool(_) | Value::Ip(_) | Value::Net(_) | Value::List(_) => {
                    return Err(WriteError::Form(field));
                }
            });
        }
        let names: Result<Vec<Place>, WriteError> =
            keys.iter().map(|key| self.text(key.as_bytes())).collect();
        let (at, count) = (self.here()?, length(keys.len())?);
        let places = std::iter::once(None).chain(names?.into_iter().map(Some));
        for (number, place) in numbers.into_iter().zip(places) {
            if let Some((at, size)) = place {
                self.bytes.extend([at.to_le_bytes(), size.to_le_bytes()].concat());
            }
            self.bytes.push(u8::from(number.is_some()));
            self.bytes.extend(number.unwrap_or_default().to_le_bytes());
        }
        Ok((at, count))
    }

    /// The offset of the next byte from the start of the part.
    fn here(&self) -> Result<u32, WriteError> {
        length(self.bytes.len() - self.start)
    }

    fn set(&mut self, field: usize, place: Place) {
        self.put(self.start + field * PLACE, place);
    }

    fn put(&mut self, offset: usize, (at, size): Place) {
        let place = [at.to_le_bytes(), size.to_le_bytes()].concat();
        if let Some(free) = self.bytes.get_mut(offset..offset + PLACE) {
            free.copy_from_slice(&place);
        }
    }
}

fn length(bytes: usize) -> Result<u32, WriteError> {
    u32::try_from(bytes).map_err(|_| WriteError::TooLong)
}
