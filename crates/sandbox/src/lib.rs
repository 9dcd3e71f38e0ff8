//! A sandbox for a command: what the kernel enforces, whatever the command tries.
//!
//! A [`Policy`] is the request. [`survey`] looks at its paths. [`probe`] looks at this machine's [`Capabilities`]. [`plan`] is pure: it
//! makes a [`Plan`] of them, and a [`Report`] of the enforced and the requested parts.
//!
//! [`start`] gives the plan to the launcher (`castellan-sandbox`). The launcher applies all of it to itself, or runs nothing.
//!
//! This crate knows no agent, no configuration file and no verdict.

mod bytes;
mod capabilities;
mod error;
mod landlock;
mod launch;
pub mod limits;
mod message;
#[cfg(target_os = "linux")]
mod placeholders;
mod plan;
mod planner;
mod policy;
mod probe;
mod report;
mod seatbelt;
mod seccomp;
mod survey;

pub use bytes::Bytes;
pub use capabilities::{Capabilities, Cgroups, Feature, Level};
pub use error::PolicyError;
pub use landlock::FILE_RIGHTS;
pub use launch::{LaunchError, Outcome, Reason, Running, Streams, run, start};
pub use message::{Failed, Message, decode, encode};
#[cfg(target_os = "linux")]
pub use placeholders::Placeholders;
pub use plan::{
    Bubblewrap, Cgroup, Instruction, Landlock, Make, MountFlags, Namespaces, Placeholder, Plan, Resource,
    Rule, Step,
};
pub use planner::plan;
pub use policy::{Files, Limits, Network, Policy, Ports, Read};
pub use probe::{Check, Probe, find_cgroups, markers, probe};
pub use report::{Aspect, Item, Report};
pub use seatbelt::seatbelt;
pub use survey::{Kind, PLACEHOLDER_MODE, Seen, Survey, survey};
