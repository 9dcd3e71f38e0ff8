//! Tests of plans: case files with facts of the real analysis, properties, limits, and the recorded cases of nous.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod calls;
mod covering;
mod limits;
mod nous;
mod page;
mod properties;
mod proposals;
mod reading;
mod support;
mod widening;
