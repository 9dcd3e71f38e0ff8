//! A call of an agent's shell, and a simulated machine that answers every query. Must not depend on the fuzz target.

use castellan_event::{Agent, Answer, Call, FileKind, Process, Query, Tool, ToolKind, World, lexical_path};
use serde_json::json;

/// A machine without symlinks, on which every program exists and every file has the same contents.
pub(crate) struct Same<'t> {
    /// The contents of each file; `None` if none can be read.
    pub(crate) contents: Option<&'t [u8]>,
}

impl World for Same<'_> {
    fn answer(&self, query: &Query) -> Option<Answer> {
        Some(match query {
            Query::RealPath { base, path } => Answer::RealPath(lexical_path(base, path)),
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
            Query::Inode { .. } => Answer::Inode(None),
            Query::Head { .. } => Answer::Head(None),
            Query::OtherNames { .. } => Answer::OtherNames(Vec::new()),
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

    fn program(&self, _sha256: &str, request: &[u8]) -> Option<Vec<u8>> {
        castellan_languages::answer(request)
    }
}

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
