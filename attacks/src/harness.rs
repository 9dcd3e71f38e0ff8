//! The harness: it prepares what an attack aims at, runs the attack in a sandbox, and looks at what the attack got.
//!
//! Must not know the attacks beside their evidence.

mod compare;
mod develop;
mod expected;
mod local;
mod outside;
mod sandbox;
mod scene;
mod server;
mod snapshot;
mod table;
mod trial;
mod victim;

pub use compare::compare;
pub use develop::{Job, develop};
pub use expected::{Expected, Outcome};
pub use sandbox::{Level, RuntimeFiles, Sandbox};
pub use scene::{Place, User};
pub use server::Internet;
pub use table::table;
pub use trial::{Verdict, run};
