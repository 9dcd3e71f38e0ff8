//! L3: what a call would do. Commands and tool inputs become effects: on paths, hosts, packages, databases, processes. It
//! reads the world only through the [`castellan_event::Recorder`] that it is given, and knows no rule and no verdict.

mod limits;
pub mod path;
pub mod scope;
pub mod url;
