//! A call of an agent's shell, and a machine for it that is made up: whatever is asked has an answer. It must not know what
//! is fuzzed.

use castellan_event::{Agent, Answer, Call, FileKind, Process, Query, Tool, ToolKind, World};
use serde_json::json;

/// A machine on which every path is where it says, `..` taken out, every program is found, and every file holds the same.
pub(crate) struct Same<'t> {
    /// What each file holds; `None`: none can be read.
    pub(crate) contents: Option<&'t [u8]>,
}

impl World for Same<'_> {
    fn answer(&self, query: &Query) -> Option<Answer> {
        Some(match query {
            Query::RealPath { base, path } => Answer::RealPath(lexical(base, path)),
            Query::FileKind { .. } => {
                let kind = self.contents.map_or(FileKind::Missing, |_| FileKind::File);
                Answer::FileKind(kind)
            }
            Query::Contents { .. } => Answer::Contents(self.contents.map(<[u8]>::to_vec)),
            Query::Executable { name, .. } => Answer::Executable(Some(format!("/usr/bin/{name}"))),
            Query::Repository { .. } => Answer::Repository(Some("/home/u/app".to_owned())),
            Query::Newest { directory, prefix, suffix } => {
                Answer::Newest(self.contents.map(|_| format!("{directory}/{prefix}1{suffix}")))
            }
            Query::Process { .. } => {
                let env = [("PATH", "/usr/bin:/bin"), ("HOME", "/home/u")];
                Answer::Process(Some(Process {
                    env: env.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
                    home: "/home/u".to_owned(),
                    ..Process::default()
                }))
            }
        })
    }
}

fn lexical(base: &str, path: &str) -> String {
    let whole = if path.starts_with('/') { path.to_owned() } else { format!("{base}/{path}") };
    let mut names: Vec<&str> = Vec::new();
    for name in whole.split('/') {
        match name {
            "" | "." => {}
            ".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    format!("/{}", names.join("/"))
}

/// A call of the agent's shell.
pub(crate) fn shell_call(command: &str) -> Call {
    let tool = Tool {
        name: "Bash".to_owned(),
        name_raw: "Bash".to_owned(),
        use_id: String::new(),
        kind: ToolKind::Shell,
        mcp: None,
    };
    Call {
        correlation_id: 1,
        agent: Agent {
            name: "claude_code".to_owned(),
            pid: 7,
            cwd: "/home/u/app".to_owned(),
            ..Agent::default()
        },
        tool,
        input: json!({ "command": command }),
        input_text: String::new(),
        command: Some(command.to_owned()),
        files: Vec::new(),
        in_background: false,
        problems: Vec::new(),
    }
}
