//! A call on the channel: the parts that its rows share, once each, and the rows. [`encode`] writes it. [`CallRows`] makes
//! its events, one after the other: a large call is never in memory once for each row.
//!
//! ```text
//! version u32 | generation | parts u32 | rows u32 | (size u32, part) ... | (nonce, part number u32, size u32, part) ...
//! ```

use std::collections::HashMap;
use std::ops::Range;

use castellan_event::{FIELDS, Level, Row};

use crate::event;
use crate::limits::{CALL_BYTES_MAX, ROWS_MAX};
use crate::nonce::{Generation, Nonce};
use crate::part::{Defect, PartView, WriteError, write};

const VERSION: u32 = 1;

/// The reason why rows cannot go to an engine. The call must then be denied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// The call has more rows than an engine gets.
    #[error("the call has {0} rows; an engine in another process judges at most {ROWS_MAX}")]
    Rows(usize),
    /// The call is longer than the channel takes.
    #[error("the rows of the call are longer than {CALL_BYTES_MAX} bytes")]
    Bytes,
    /// A value has another form than its field.
    #[error("the field `{0}` has a value of a form that the channel does not know")]
    Form(&'static str),
    /// A row has no nonce.
    #[error("there are fewer nonces than rows")]
    Nonces,
}

/// Returns the bytes of a call. `keys`: the keys of fields with keys that may have values, such as the labels of the
/// session's marks. `nonces`: one for each row.
pub fn encode<R: Row>(
    rows: &[R],
    keys: &[&str],
    generation: Generation,
    nonces: &[Nonce],
) -> Result<Vec<u8>, EncodeError> {
    if rows.len() > ROWS_MAX {
        return Err(EncodeError::Rows(rows.len()));
    }
    let (shared, number_of) = share(rows);
    let mut bytes = Vec::new();
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend(generation.0);
    bytes.extend(length(shared.len())?);
    bytes.extend(length(rows.len())?);
    for row in shared {
        part(&mut bytes, row, keys, &event::is_shared)?;
    }
    let mut nonces = nonces.iter();
    for (row, number) in rows.iter().zip(number_of) {
        bytes.extend(nonces.next().ok_or(EncodeError::Nonces)?.0);
        bytes.extend(length(number)?);
        part(&mut bytes, row, keys, &|field| !event::is_shared(field))?;
    }
    Ok(bytes)
}

/// Returns a row for each different part of the call, and the number of its part for each row.
fn share<R: Row>(rows: &[R]) -> (Vec<&R>, Vec<usize>) {
    let (mut shared, mut known) = (Vec::new(), HashMap::new());
    let number = |row| {
        shared.push(row);
        shared.len() - 1
    };
    let mut number = number;
    let number_of = rows
        .iter()
        .map(|row| match row.part(Level::Call) {
            Some(part) => *known.entry(part).or_insert_with(|| number(row)),
            None => number(row),
        })
        .collect();
    (shared, number_of)
}

fn part(
    bytes: &mut Vec<u8>,
    row: &dyn Row,
    keys: &[&str],
    takes: &dyn Fn(usize) -> bool,
) -> Result<(), EncodeError> {
    let size_at = bytes.len();
    bytes.extend(0u32.to_le_bytes());
    write(bytes, row, keys, takes).map_err(|error| match error {
        WriteError::TooLong => EncodeError::Bytes,
        WriteError::Form(field) => EncodeError::Form(FIELDS.get(field).map_or("", |field| field.name)),
    })?;
    let size = length(bytes.len() - size_at - 4)?;
    if let Some(free) = bytes.get_mut(size_at..size_at + 4) {
        free.copy_from_slice(&size);
    }
    if bytes.len() > CALL_BYTES_MAX { Err(EncodeError::Bytes) } else { Ok(()) }
}

fn length(number: usize) -> Result<[u8; 4], EncodeError> {
    u32::try_from(number).map(u32::to_le_bytes).map_err(|_| EncodeError::Bytes)
}

/// The rows of one call that have not become events yet.
#[derive(Debug)]
pub struct CallRows {
    bytes: Vec<u8>,
    generation: Generation,
    parts: Vec<Range<usize>>,
    /// The offset of the next row.
    at: usize,
    left: usize,
}

impl CallRows {
    /// Reads the head of a call, and checks the parts that its rows share.
    pub fn read(bytes: Vec<u8>) -> Result<CallRows, Defect> {
        let mut reader = Reader { bytes: &bytes, at: 0 };
        if reader.number()? != VERSION as usize {
            return Err(Defect("no call of this version"));
        }
        let generation = Generation(reader.array()?);
        let (parts, left) = (reader.number()?, reader.number()?);
        if left > ROWS_MAX || parts > left {
            return Err(Defect("too many rows"));
        }
        let parts = (0..parts).map(|_| reader.part()).collect::<Result<Vec<_>, _>>()?;
        let at = reader.at;
        Ok(CallRows { generation, parts, at, left, bytes })
    }

    /// Returns the number of rows that are left.
    pub fn left(&self) -> usize {
        self.left
    }

    /// Returns the bytes of the next event, with the same values as the row. `None` after the last row.
    pub fn next_event(&mut self) -> Result<Option<Vec<u8>>, Defect> {
        if self.left == 0 {
            return if self.at == self.bytes.len() {
                Ok(None)
            } else {
                Err(Defect("bytes after the last row"))
            };
        }
        let mut reader = Reader { bytes: &self.bytes, at: self.at };
        let nonce = Nonce(reader.array()?);
        let number = reader.number()?;
        let own = reader.part()?;
        let at = reader.at;
        let call = self.parts.get(number).ok_or(Defect("a row without its call"))?;
        let bytes = |range: &Range<usize>| self.bytes.get(range.clone()).unwrap_or_default();
        let mut event = Vec::new();
        event::write(&mut event, nonce, self.generation, bytes(call), bytes(&own));
        self.at = at;
        self.left -= 1;
        Ok(Some(event))
    }
}

struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl Reader<'_> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Defect> {
        let found =
            self.bytes.get(self.at..self.at.saturating_add(N)).and_then(|bytes| bytes.try_into().ok());
        self.at += N;
        found.ok_or(Defect("a short call"))
    }

    fn number(&mut self) -> Result<usize, Defect> {
        usize::try_from(u32::from_le_bytes(self.array()?)).map_err(|_| Defect("a large number"))
    }

    /// Returns the range of a part, after a check of its values.
    fn part(&mut self) -> Result<Range<usize>, Defect> {
        let size = self.number()?;
        let range = self.at..self.at.saturating_add(size);
        PartView(self.bytes.get(range.clone()).ok_or(Defect("a short part"))?).check()?;
        self.at = range.end;
        Ok(range)
    }
}

#[cfg(test)]
mod tests;
