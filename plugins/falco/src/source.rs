//! The source: events from the channel, in batches. It never waits longer than [`WAIT_MS`] for a call.

use std::ffi::{CStr, CString};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use castellan_event::field_index;
use castellan_rows::{CallRows, Event, Found, Receiver};
use falco_plugin::FailureReason;
use falco_plugin::anyhow::{Error, anyhow};
use falco_plugin::source::{EventBatch, EventInput, SourcePlugin, SourcePluginInstance};

use crate::limits::{BATCH_BYTES_MAX, BATCH_EVENTS_MAX, WAIT_MS};
use crate::plugin::CodingAgent;
use crate::row_bytes::RowEvent;

/// An open source of events.
#[derive(Debug)]
pub struct Instance {
    receiver: Receiver,
    /// The call whose rows are the next events.
    call: Option<CallRows>,
    /// The last message in Falco's log, which is not repeated.
    logged: String,
}

impl SourcePlugin for CodingAgent {
    type Instance = Instance;
    const EVENT_SOURCE: &'static CStr = c"coding_agent";
    /// The number that Falco's registry of plugins has for the source `coding_agent`.
    const PLUGIN_ID: u32 = 28;
    type Event<'a> = RowEvent<'a>;

    fn open(&mut self, _parameters: Option<&str>) -> Result<Instance, Error> {
        Ok(Instance { receiver: self.channel.receiver(), call: None, logged: String::new() })
    }

    fn event_to_string(&mut self, event: &EventInput<RowEvent<'_>>) -> Result<CString, Error> {
        let event = event.event()?;
        let event = Event::read(event.params.event_data.0)?;
        let text = |name| match field_index(name).map(|field| event.value(field, None)) {
            Some(Ok(Found::Text(text))) => String::from_utf8_lossy(text).replace('\0', ""),
            _ => String::new(),
        };
        Ok(CString::new(format!("{} of {}", text("row.level"), text("tool.name")))?)
    }
}

impl SourcePluginInstance for Instance {
    type Plugin = CodingAgent;

    fn next_batch(&mut self, plugin: &mut CodingAgent, batch: &mut EventBatch) -> Result<(), Error> {
        let filled = catch_unwind(AssertUnwindSafe(|| self.fill(batch)));
        let problem = match filled {
            Ok(Ok(0)) => return Err(anyhow!("no call").context(FailureReason::Timeout)),
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "a defect of the plugin".to_owned(),
        };
        // Rows of this call may be lost. Without its connection the daemon denies all calls that wait, then the plugin
        // connects again.
        (self.call, self.receiver) = (None, plugin.channel.receiver());
        self.log(&problem);
        Err(anyhow!(problem).context(FailureReason::Timeout))
    }
}

impl Instance {
    /// Adds events to a batch. Returns their number.
    fn fill(&mut self, batch: &mut EventBatch) -> Result<usize, Error> {
        let (mut events, mut bytes) = (0, 0);
        while events < BATCH_EVENTS_MAX && bytes < BATCH_BYTES_MAX {
            if let Some(call) = &mut self.call {
                match call.next_event()? {
                    Some(event) => {
                        batch.add(Self::plugin_event(&event))?;
                        (events, bytes) = (events + 1, bytes + event.len());
                    }
                    None => self.call = None,
                }
                continue;
            }
            let wait = if events == 0 { Duration::from_millis(WAIT_MS) } else { Duration::ZERO };
            match self.receiver.receive(wait) {
                Ok(Some(call)) => self.call = Some(call),
                Ok(None) => break,
                Err(error) => {
                    self.log(&error.to_string());
                    break;
                }
            }
        }
        if events > 0 {
            self.logged.clear();
        }
        Ok(events)
    }

    fn log(&mut self, problem: &str) {
        if self.logged != problem {
            log::warn!("{problem}");
            problem.clone_into(&mut self.logged);
        }
    }
}
