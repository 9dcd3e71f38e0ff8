//! [`CodingAgent`]: the plugin.

use std::ffi::CStr;

use falco_plugin::anyhow::Error;
use falco_plugin::base::{Json, Plugin};
use falco_plugin::tables::TablesInput;

use crate::judged::Judged;
use crate::settings::{Channel, Settings};

/// The plugin.
#[derive(Debug)]
pub struct CodingAgent {
    pub(crate) channel: Channel,
    pub(crate) judged: Judged,
}

impl Plugin for CodingAgent {
    const NAME: &'static CStr = c"coding_agent";
    /// Rule files name the least version that they need in `required_plugin_versions`. castellan's own engine has the
    /// same version ([`castellan_rules::Options`], `plugin_version`).
    const PLUGIN_VERSION: &'static CStr = c"0.5.0";
    const DESCRIPTION: &'static CStr = c"Tool calls of AI coding agents, with their commands and effects";
    const CONTACT: &'static CStr = c"castellan";
    type ConfigType = Json<Settings>;

    fn new(_tables: Option<&TablesInput>, Json(settings): Json<Settings>) -> Result<Self, Error> {
        close_memory()?;
        Ok(CodingAgent { channel: settings.channel()?, judged: Judged::default() })
    }
}

/// Keeps other processes of this user from reading Falco's memory, which has the key, and from changing it. castellan's
/// daemon closes its own memory too. A process that attached before this call stays attached.
#[cfg(target_os = "linux")]
fn close_memory() -> Result<(), Error> {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
}

/// Falco's plugins run on Linux.
#[cfg(not(target_os = "linux"))]
fn close_memory() -> Result<(), Error> {
    Ok(())
}
