//! L2: Falco's file formats around the rule language. Inputs are field tables ([`FieldTable`]) and events
//! ([`EventSource`]). Outputs are alerts ([`alert`]), the result of loading ([`load_result`]), descriptions
//! ([`description`]), and rules and configuration for a real Falco ([`export`], [`engine_config`]).
//!
//! The crate is pure: texts and the time come in as values. It knows neither verdicts nor the paths of files.

pub mod alert;
pub mod description;
pub mod engine_config;
mod event;
pub mod export;
mod json;
mod limits;
pub mod load_result;
mod stamp;
mod table;
pub mod version;

pub use event::{Event, EventError, EventSource, Match};
pub use stamp::Stamp;
pub use table::{FieldTable, TableError, TableText};
