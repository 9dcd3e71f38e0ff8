//! The C functions that Falco calls. The SDK's macros write them.

use falco_plugin::{extract_plugin, plugin, source_plugin};

use crate::plugin::CodingAgent;

plugin!(CodingAgent);
source_plugin!(CodingAgent);
extract_plugin!(CodingAgent);
