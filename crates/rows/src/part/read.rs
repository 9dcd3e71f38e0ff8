//! Reads a part of a row. A part is checked once as a whole ([`PartView::check`]); then each field is read at its place
//! alone, so a long value costs no more than a short one.

use castellan_event::FIELDS;

use super::{Form, OPTIONAL, PLACE, form, table_bytes};

/// The reason why bytes are not what their sender should have written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Defect(pub(crate) &'static str);

/// The value of a field in an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found<'e> {
    /// The row has no such value.
    Absent,
    /// A text with its final NUL, and no other NUL.
    Text(&'e [u8]),
    /// A number.
    U64(u64),
    /// True or false.
    Bool(bool),
    /// Texts.
    List(List<'e>),
}

/// A list of texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct List<'e> {
    part: PartView<'e>,
    places: &'e [u8],
}

/// The bytes of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PartView<'e>(pub(crate) &'e [u8]);

impl<'e> List<'e> {
    /// Returns the number of texts.
    pub fn len(&self) -> usize {
        self.places.len() / PLACE
    }

    /// Reports whether the list has no text.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Returns the texts, each with its final NUL.
    pub fn texts(&self) -> impl Iterator<Item = Result<&'e [u8], Defect>> {
        let part = self.part;
        self.places.chunks_exact(PLACE).map(move |place| part.text(read_place(place)?))
    }
}

impl<'e> PartView<'e> {
    /// Reads the value of field number `field` of the table. `key`: the key of a field that has keys.
    pub(crate) fn value(self, field: usize, key: Option<&[u8]>) -> Result<Found<'e>, Defect> {
        let form = FIELDS.get(field).and_then(form).ok_or(Defect("no such field"))?;
        let offset = field * PLACE;
        let place = read_place(self.0.get(offset..offset + PLACE).ok_or(Defect("no table"))?)?;
        if place.0 == 0 {
            return Ok(Found::Absent);
        }
        if place.0 < table_bytes() {
            return Err(Defect("a value inside of the table"));
        }
        Ok(match form {
            Form::Text => Found::Text(self.text(place)?),
            Form::Number => Found::U64(self.number(place.0)?),
            Form::Truth => Found::Bool(self.truth(place.0)?),
            Form::Texts => {
                Found::List(List { part: self, places: self.bytes(place.0, place.1.saturating_mul(PLACE))? })
            }
            Form::Keyed => self.keyed(place, key.unwrap_or_default())?.map_or(Found::Absent, Found::U64),
        })
    }

    /// Checks every value of the part: places, ends, and that no text has a NUL inside.
    pub(crate) fn check(self) -> Result<(), Defect> {
        for field in 0..FIELDS.len() {
            match self.value(field, None)? {
                Found::Text(text) => whole(text)?,
                Found::List(list) => list.texts().try_for_each(|text| whole(text?))?,
                Found::Absent | Found::U64(_) | Found::Bool(_) => {}
            }
        }
        Ok(())
    }

    fn bytes(self, at: usize, size: usize) -> Result<&'e [u8], Defect> {
        let end = at.checked_add(size).ok_or(Defect("a value past the end"))?;
        self.0.get(at..end).ok_or(Defect("a value past the end"))
    }

    fn text(self, (at, size): (usize, usize)) -> Result<&'e [u8], Defect> {
        let text = self.bytes(at, size.saturating_add(1))?;
        if text.last() == Some(&0) { Ok(text) } else { Err(Defect("a text without its end")) }
    }

    fn number(self, at: usize) -> Result<u64, Defect> {
        let bytes = self.bytes(at, 8)?;
        bytes.try_into().map(u64::from_le_bytes).map_err(|_| Defect("a short number"))
    }

    fn truth(self, at: usize) -> Result<bool, Defect> {
        match self.bytes(at, 1)? {
            [0] => Ok(false),
            [1] => Ok(true),
            _ => Err(Defect("neither true nor false")),
        }
    }

    /// Reads the number of a key, or the one of all other keys.
    fn keyed(self, (at, count): (usize, usize), key: &[u8]) -> Result<Option<u64>, Defect> {
        let entry = PLACE + OPTIONAL;
        let entries = self.bytes(at.saturating_add(OPTIONAL), count.saturating_mul(entry))?;
        let others = self.optional(at)?;
        for (number, bytes) in entries.chunks_exact(entry).enumerate() {
            let name = self.text(read_place(bytes.get(..PLACE).ok_or(Defect("a short entry"))?)?)?;
            if name.strip_suffix(b"\0") == Some(key) {
                return self.optional(at + OPTIONAL + number * entry + PLACE);
            }
        }
        Ok(others)
    }

    fn optional(self, at: usize) -> Result<Option<u64>, Defect> {
        let number = self.number(at.saturating_add(1))?;
        Ok(self.truth(at)?.then_some(number))
    }
}

fn whole(text: &[u8]) -> Result<(), Defect> {
    match text.split_last() {
        Some((0, text)) if !text.contains(&0) => Ok(()),
        _ => Err(Defect("a NUL inside of a text")),
    }
}

fn read_place(bytes: &[u8]) -> Result<(usize, usize), Defect> {
    let number = |bytes: Option<&[u8]>| {
        let bytes: [u8; 4] = bytes?.try_into().ok()?;
        usize::try_from(u32::from_le_bytes(bytes)).ok()
    };
    let place = number(bytes.get(..4)).zip(number(bytes.get(4..)));
    place.ok_or(Defect("a short place"))
}
