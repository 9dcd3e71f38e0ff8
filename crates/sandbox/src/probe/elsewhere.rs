//! Systems that have no launcher. **Unverified**: no test runs on one.

use std::path::Path;

use crate::capabilities::Capabilities;

use super::{Check, Probe};

/// Answers that nothing is enforced here.
#[must_use]
pub fn probe(_launcher: &Path) -> Probe {
    let check = Check {
        what: "Seatbelt",
        works: false,
        tested: "not at all: castellan makes a profile for it, and does not use it",
        found: "unverified".to_owned(),
        costs: "the sandbox cannot be used on this system",
    };
    Probe { can: Capabilities::none(), checks: vec![check], container: Vec::new() }
}
