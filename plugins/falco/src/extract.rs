//! The extraction of fields. Values stay where they are in the event: Falco gets pointers to them, so a long value costs
//! no more than a short one.

use std::ffi::CStr;
use std::panic::{AssertUnwindSafe, catch_unwind};

use bumpalo::Bump;
use castellan_rows::{EngineField, Event, Found, Nonce};
use falco_plugin::anyhow::{Context as _, Error, anyhow, bail};
use falco_plugin::api::{ss_plugin_extract_field, ss_plugin_extract_value_offsets};
use falco_plugin::extract::{EventInput, ExtractFieldInfo, ExtractPlugin};
use falco_plugin::tables::LazyTableReader;

use crate::fields::{self, Field};
use crate::plugin::CodingAgent;
use crate::pointers::{self, Argument};
use crate::row_bytes::RowEvent;

impl ExtractPlugin for CodingAgent {
    type Event<'a> = RowEvent<'a>;
    type ExtractContext = ();
    /// The table of the SDK, one function for each field, is not used: [`fields::list`] and
    /// [`ExtractPlugin::extract_fields`] follow castellan's own table.
    const EXTRACT_FIELDS: &'static [ExtractFieldInfo<Self>] = &[];

    fn get_fields() -> &'static CStr {
        fields::list()
    }

    fn extract_fields<'a>(
        &'a mut self,
        event: &EventInput<'a, RowEvent<'a>>,
        _tables: &LazyTableReader,
        requests: &mut [ss_plugin_extract_field],
        _offsets: Option<&mut ss_plugin_extract_value_offsets>,
        storage: &'a Bump,
    ) -> Result<(), Error> {
        let extracted = catch_unwind(AssertUnwindSafe(|| {
            let event = event.event()?;
            let event = Event::read(event.params.event_data.0)?;
            let nonce = event.nonce().strip_suffix(b"\0").and_then(|text| std::str::from_utf8(text).ok());
            self.judged.turn_to(nonce.and_then(Nonce::parse).context("an event without a nonce")?);
            requests.iter_mut().try_for_each(|request| self.extract(&event, request, storage))
        }));
        let extracted = extracted.unwrap_or_else(|_| Err(anyhow!("a defect of the plugin")));
        if extracted.is_err() {
            self.judged.fail();
        }
        extracted
    }
}

impl CodingAgent {
    fn extract(
        &mut self,
        event: &Event<'_>,
        request: &mut ss_plugin_extract_field,
        storage: &Bump,
    ) -> Result<(), Error> {
        let field = usize::try_from(request.field_id).ok().and_then(Field::at);
        let argument = pointers::argument(request);
        let found = match (field.context("no such field")?, &argument) {
            (Field::Row(field), Argument::None) => event.value(field, None)?,
            (Field::Row(field), Argument::Key(key)) => event.value(field, Some(key.to_bytes()))?,
            (Field::Engine(EngineField::Nonce), Argument::None) => Found::Text(event.nonce()),
            (Field::Engine(EngineField::Generation), Argument::None) => {
                self.judged.test();
                Found::Text(event.generation())
            }
            (Field::Engine(EngineField::Match), Argument::Index(rule)) => {
                self.judged.add(*rule);
                Found::Bool(true)
            }
            (Field::Engine(EngineField::Seen), Argument::None) => match self.judged.seen() {
                Some(seen) => Found::Text(storage.alloc_str(&format!("{seen}\0")).as_bytes()),
                None => Found::Absent,
            },
            (
                Field::Row(_)
                | Field::Engine(
                    EngineField::Nonce | EngineField::Generation | EngineField::Match | EngineField::Seen,
                ),
                Argument::None | Argument::Key(_) | Argument::Index(_),
            ) => bail!("an argument that the field does not take"),
        };
        pointers::answer(request, &found, storage)
    }
}
