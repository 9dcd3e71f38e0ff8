//! [`Event`]: one row as the bytes of one event of an engine. It is complete by itself, so an engine may also store and
//! read it again.
//!
//! ```text
//! 0      4         8       41           106        110       114
//! | CSTR | version | nonce | generation | call u32 | own u32 | call's part | own part
//! ```
//! Nonce and generation are texts with a final NUL. The call's part has the fields of the call, the own part the others.

use castellan_event::{FIELDS, Level};

use crate::nonce::{GENERATION_CHARS, Generation, NONCE_CHARS, Nonce};
use crate::part::{Defect, Found, PartView};

const MAGIC: &[u8; 4] = b"CSTR";
const VERSION: u32 = 1;
const NONCE_AT: usize = 8;
const GENERATION_AT: usize = NONCE_AT + NONCE_CHARS + 1;
const SIZES_AT: usize = GENERATION_AT + GENERATION_CHARS + 1;
const PARTS_AT: usize = SIZES_AT + 8;

/// A row, read in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event<'e> {
    nonce: &'e [u8],
    generation: &'e [u8],
    call: PartView<'e>,
    own: PartView<'e>,
}

impl<'e> Event<'e> {
    /// Reads the head of an event. Does not read its values.
    pub fn read(bytes: &'e [u8]) -> Result<Event<'e>, Defect> {
        let short = Defect("a short event");
        let number = |at: usize| {
            let bytes = bytes.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
            bytes.map(u32::from_le_bytes).ok_or(short)
        };
        if !bytes.starts_with(MAGIC) || number(4)? != VERSION {
            return Err(Defect("no event of this version"));
        }
        let parts = bytes.get(PARTS_AT..).ok_or(short)?;
        let (call, own) = (number(SIZES_AT)? as usize, number(SIZES_AT + 4)? as usize);
        let (call, rest) = parts.split_at_checked(call).ok_or(short)?;
        if rest.len() != own {
            return Err(Defect("an event of another length"));
        }
        let text = |at: usize, chars: usize| {
            let text = bytes.get(at..=at + chars).filter(|text| text.last() == Some(&0));
            text.ok_or(Defect("a text without its end"))
        };
        Ok(Event {
            nonce: text(NONCE_AT, NONCE_CHARS)?,
            generation: text(GENERATION_AT, GENERATION_CHARS)?,
            call: PartView(call),
            own: PartView(rest),
        })
    }

    /// Returns the text of the nonce with its final NUL.
    pub fn nonce(&self) -> &'e [u8] {
        self.nonce
    }

    /// Returns the text of the generation with its final NUL.
    pub fn generation(&self) -> &'e [u8] {
        self.generation
    }

    /// Reads the value of field number `field` of the field table. `key`: the key of a field that has keys.
    pub fn value(&self, field: usize, key: Option<&[u8]>) -> Result<Found<'e>, Defect> {
        let found = self.own.value(field, key)?;
        if found == Found::Absent { self.call.value(field, key) } else { Ok(found) }
    }
}

/// Reports whether a field of the table is in the part that the rows of a call share. The level of the row is not,
/// though it is a field of level call.
pub(crate) fn is_shared(field: usize) -> bool {
    FIELDS.get(field).is_some_and(|field| field.level == Level::Call && field.name != "row.level")
}

/// Appends the bytes of an event.
pub(crate) fn write(into: &mut Vec<u8>, nonce: Nonce, generation: Generation, call: &[u8], own: &[u8]) {
    into.reserve(PARTS_AT + call.len() + own.len());
    into.extend_from_slice(MAGIC);
    into.extend(VERSION.to_le_bytes());
    into.extend_from_slice(nonce.to_string().as_bytes());
    into.push(0);
    into.extend_from_slice(generation.to_string().as_bytes());
    into.push(0);
    // A message is shorter than 32 bits can say, and its parts are shorter than it.
    for part in [call, own] {
        into.extend(u32::try_from(part.len()).unwrap_or(u32::MAX).to_le_bytes());
    }
    into.extend_from_slice(call);
    into.extend_from_slice(own);
}
