//! [`RowBytes`]: the data of an event, as the SDK hands it over.

use std::io::{self, Write};

use falco_plugin::event::fields::{FromBytes, FromBytesError, ToBytes};
use falco_plugin::event::{EventSource, PluginEvent, events};

/// The bytes of [`castellan_rows::Event`].
#[derive(Debug, Clone, Copy)]
pub struct RowBytes<'e>(pub(crate) &'e [u8]);

/// An event of this plugin.
pub(crate) type RowEvent<'e> = events::Event<PluginEvent<RowBytes<'e>>>;

impl EventSource for RowBytes<'_> {
    const SOURCE: Option<&'static str> = Some("coding_agent");
}

impl<'e> FromBytes<'e> for RowBytes<'e> {
    fn from_bytes(bytes: &mut &'e [u8]) -> Result<Self, FromBytesError> {
        Ok(RowBytes(std::mem::take(bytes)))
    }
}

impl ToBytes for RowBytes<'_> {
    fn binary_size(&self) -> usize {
        self.0.len()
    }

    fn write<W: Write>(&self, mut writer: W) -> io::Result<()> {
        writer.write_all(self.0)
    }

    fn default_repr() -> impl ToBytes {
        RowBytes(&[])
    }
}
