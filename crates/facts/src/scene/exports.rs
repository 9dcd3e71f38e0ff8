//! [`Exports`]: the variables that commands of the call pass to later commands.

use std::collections::{BTreeMap, BTreeSet};

use castellan_programs::Arg;

#[derive(Default)]
pub(crate) struct Exports {
    /// Variables that earlier commands of the call have exported.
    pub(crate) names: BTreeSet<String>,
    /// Exported `CC` and `CXX` that name a known compiler; their value applies to commands at any position.
    pub(crate) compilers: BTreeMap<String, String>,
    /// Exported variables that may hold code, with their values.
    pub(crate) code: Vec<(String, Arg)>,
    /// The last exported `HOME`: an agent that starts later has its settings there.
    pub(crate) home: Option<Arg>,
    /// Text of exported variables that the next command passes to a shell.
    pub(crate) texts: Vec<Arg>,
    /// Variables whose code was already found, with their values and the place of the finding.
    pub(crate) inherited: BTreeSet<String>,
}
