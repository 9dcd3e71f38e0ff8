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
        Ok(CodingAgent { channel: settings.channel()?, judged: Judged::default() })
    }
}
