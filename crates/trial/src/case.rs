//! [`Case`]: a call described in a file, with the files and variables of its machine. Must not depend on how the call
//! is judged or on the expected verdict.

use castellan_event::lexical_path;
use std::collections::BTreeMap;

use castellan_agents::AgentId;
use serde::Deserialize;
use serde_json::{Map, Value as Json};

use crate::machine::{Machine, There, WORKSPACE};

/// A described call. Paths are absolute, or relative to its `cwd`.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// The calling agent.
    pub agent: AgentId,
    /// The called tool and its input.
    pub call: Asked,
    /// The agent's working directory.
    pub cwd: String,
    /// Files on the machine, in addition to the usual files.
    pub files: BTreeMap<String, Laid>,
    /// Variables in the environment of the agent's process.
    pub env: BTreeMap<String, String>,
    /// Target of the first path that the call names, if that path is a symlink.
    pub real_path: Option<String>,
    /// Earlier calls of the same session, already finished.
    pub earlier: Vec<Asked>,
}

/// A tool and its input, by the agent's own names.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// The tool's name.
    pub tool: String,
    /// The tool's input.
    #[serde(default)]
    pub input: Map<String, Json>,
}

/// The entry at a path. A path that ends in `/` is a directory; its text is ignored.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Laid {
    /// A file with this text.
    Text(String),
    /// A symlink.
    Link(Link),
    /// Another name of a file.
    Same(Same),
    /// A file with unknown contents of a given size.
    Sized(Sized),
    /// A file with unknown contents.
    Unknown(()),
}

/// A symlink: `{link: TARGET}`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// The target, absolute or relative to the directory of the symlink.
    pub link: String,
}

/// Another name of a file (a hard link): `{same_as: PATH}`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Same {
    /// The file, absolute or relative to the case's `cwd`.
    pub same_as: String,
}

/// A file with unknown contents: `{size: 20971520, binary: true}`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sized {
    /// Bytes.
    pub size: u64,
    /// The contents begin with a NUL.
    #[serde(default)]
    pub binary: bool,
}

impl Case {
    /// Returns a call of Claude Code in the workspace, on the usual machine.
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

    /// Returns the machine on which the call is made.
    pub(crate) fn machine(&self) -> Machine {
        let mut machine = Machine::default();
        machine.set("PWD", &self.cwd);
        for (path, laid) in &self.files {
            let there = match laid {
                _ if path.ends_with('/') => There::Directory,
                Laid::Text(text) => There::Text(text.clone()),
                Laid::Link(link) => There::Link(link.link.clone()),
                Laid::Same(same) => There::Same(lexical_path(&self.cwd, &same.same_as)),
                Laid::Sized(Sized { size, binary }) => There::Sized { size: *size, is_binary: *binary },
                Laid::Unknown(()) => There::Unknown,
            };
            machine.put(&lexical_path(&self.cwd, path), there);
        }
        for (name, value) in &self.env {
            machine.set(name, value);
        }
        machine
    }
}
