//! Falco's plugin `coding_agent`: a source of events and the extraction of their fields. The daemon sends each call's
//! rows ([`castellan_rows`]); each row is one event. Falco's rules judge it, and its output channel answers.
//!
//! Reading order: `plugin` is the plugin, `settings` its configuration, `source` makes events, `extract` reads their
//! fields, `judged` remembers which rules matched the event at hand. `fields` describes the fields for Falco.
//!
//! It must not know rules or verdicts. No failure here may look like a value that is absent while the row is still
//! answered as seen: see [`judged::Judged`].

mod export;
mod extract;
mod fields;
mod judged;
mod limits;
mod plugin;
mod pointers;
mod row_bytes;
mod settings;
mod source;

pub use plugin::CodingAgent;
