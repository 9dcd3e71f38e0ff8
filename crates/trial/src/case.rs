//! [`Case`]: a call as it is described in a file, with what is there when it is made. It must not know how it is judged, nor
//! what is expected of it.

use std::collections::BTreeMap;

use castellan_agents::AgentId;
use serde::Deserialize;
use serde_json::{Map, Value as Json};

use crate::machine::{Machine, There, WORKSPACE, lexical};

/// A described call. Paths are absolute, or relative to its directory.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// Who calls.
    pub agent: AgentId,
    /// What is called.
    pub call: Asked,
    /// The directory in which the agent works.
    pub cwd: String,
    /// What lies on the machine besides the usual.
    pub files: BTreeMap<String, Laid>,
    /// Variables in the environment of the agent's process.
    pub env: BTreeMap<String, String>,
    /// Where the first path leads that the call names, if it is a symlink.
    pub real_path: Option<String>,
    /// Calls of the same session before it, which are done.
    pub earlier: Vec<Asked>,
}

/// A tool and its input, by the agent's own names.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// The tool.
    pub tool: String,
    /// Its input.
    #[serde(default)]
    pub input: Map<String, Json>,
}

/// What lies at a path. A path that ends in `/` is a directory, whatever its text says.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Laid {
    /// A file with this text.
    Text(String),
    /// A symlink.
    Link(Link),
    /// A file whose contents nobody knows.
    Unknown(()),
}

/// A symlink: `{link: TARGET}`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Where it leads, absolute or relative to the directory that it lies in.
    pub link: String,
}

impl Case {
    /// A call of Claude Code in the workspace, with nothing but the usual there.
    pub fn new(tool: &str, input: Map<String, Json>) -> Case {
        Case {
            agent: AgentId::DEFAULT,
            call: Asked { tool: tool.to_owned(), input },
            cwd: WORKSPACE.to_owned(),
            files: BTreeMap::new(),
            env: BTreeMap::new(),
            real_path: None,
            earlier: Vec::new(),
        }
    }

    /// The machine on which the call is made.
    pub(crate) fn machine(&self) -> Machine {
        let mut machine = Machine::default();
        machine.set("PWD", &self.cwd);
        for (path, laid) in &self.files {
            let there = match laid {
                _ if path.ends_with('/') => There::Directory,
                Laid::Text(text) => There::Text(text.clone()),
                Laid::Link(link) => There::Link(link.link.clone()),
                Laid::Unknown(()) => There::Unknown,
            };
            machine.put(&lexical(&self.cwd, path), there);
        }
        for (name, value) in &self.env {
            machine.set(name, value);
        }
        machine
    }
}
