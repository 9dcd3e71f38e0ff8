//! L2: an engine in another process. [`RemoteEngine`] sends the rows of a call to a Falco and waits until it has
//! reported each row as judged. It returns the numbers of the rules that matched, or an error: a report that is lost,
//! late, contradictory or of a stranger never becomes an answer.
//!
//! Reading order: `remote` is the engine, `waiting` the rows without a report, `roll_call` the proof that Falco tests all
//! rules, `alerts` hears Falco's alerts over HTTP, `request` reads them, `secret` is what makes them Falco's.
//!
//! It must not know verdicts, the texts of rules, or how Falco is started.

mod alerts;
mod error;
mod limits;
mod remote;
mod request;
mod roll_call;
mod secret;
mod waiting;

pub use error::EngineError;
pub use remote::{RemoteEngine, Setup};
pub use secret::Secret;
