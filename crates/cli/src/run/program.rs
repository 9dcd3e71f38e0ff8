//! [`Program`]: the agent that a command line names, and its executable.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use castellan_agents::AgentId;

use crate::agent_files::is_executable;
use crate::exit::Exit;

/// An agent's executable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) agent: AgentId,
    /// The name as it was given, which the agent sees as its own.
    pub(crate) name: OsString,
    pub(crate) path: PathBuf,
}

/// The reason why no agent starts.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoProgram {
    #[error(transparent)]
    Unknown(#[from] castellan_agents::UnknownAgent),
    #[error("`{0}` is not installed, or not in `PATH`: install it first")]
    NotFound(String),
    #[error("`{0}` is not executable")]
    NotExecutable(String),
}

impl NoProgram {
    pub(crate) fn exit(&self) -> Exit {
        match self {
            NoProgram::Unknown(_) => Exit::Usage,
            NoProgram::NotFound(_) => Exit::NotFound,
            NoProgram::NotExecutable(_) => Exit::NotExecutable,
        }
    }
}

impl Program {
    /// Returns the command line as agents' tables read it, with the program first.
    pub(crate) fn words(&self, arguments: &[OsString]) -> Vec<Vec<u8>> {
        let all = std::iter::once(&self.name).chain(arguments);
        all.map(|word| word.as_encoded_bytes().to_vec()).collect()
    }

    /// Finds the program by a path, or by a name in `path`, the value of `PATH`.
    pub(crate) fn find(name: &OsStr, path: Option<&OsStr>) -> Result<Program, NoProgram> {
        let shown = || name.to_string_lossy().into_owned();
        let word = Path::new(name).file_name().map(|word| word.to_string_lossy().into_owned());
        let agent: AgentId = word.unwrap_or_else(shown).parse()?;
        let found = |path: PathBuf| Program { agent, name: name.to_owned(), path };
        if name.as_encoded_bytes().contains(&b'/') {
            let path = std::path::absolute(name).map_err(|_| NoProgram::NotFound(shown()))?;
            return match (is_executable(&path), path.exists()) {
                (true, _) => Ok(found(path)),
                (false, true) => Err(NoProgram::NotExecutable(shown())),
                (false, false) => Err(NoProgram::NotFound(shown())),
            };
        }
        let files: Vec<PathBuf> =
            path.iter().flat_map(std::env::split_paths).map(|dir| dir.join(name)).collect();
        match files.iter().find(|file| is_executable(file)) {
            Some(file) => Ok(found(std::path::absolute(file).unwrap_or_else(|_| file.clone()))),
            None if files.iter().any(|file| file.is_file()) => Err(NoProgram::NotExecutable(shown())),
            None => Err(NoProgram::NotFound(shown())),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_program_is_an_executable_agent() {
        let dir = tempfile::tempdir().unwrap();
        let (empty, full) = (dir.path().join("empty"), dir.path().join("full"));
        for (folder, name, mode) in [(&full, "claude", 0o755), (&full, "codex", 0o644), (&full, "sh", 0o755)]
        {
            std::fs::create_dir_all(folder).unwrap();
            std::fs::write(folder.join(name), "").unwrap();
            std::fs::set_permissions(folder.join(name), std::fs::Permissions::from_mode(mode)).unwrap();
        }
        let path = std::env::join_paths([&empty, &full]).unwrap();
        let check = |name: &Path, expected: Result<AgentId, Exit>| {
            let got = Program::find(name.as_os_str(), Some(&path));
            let got = got.map(|program| {
                assert_eq!(program.path, full.join(program.agent.word()));
                program.agent
            });
            assert_eq!(got.map_err(|problem| problem.exit()), expected, "{name:?}");
        };
        check(Path::new("claude"), Ok(AgentId::CLAUDE));
        check(&full.join("claude"), Ok(AgentId::CLAUDE));
        check(Path::new("codex"), Err(Exit::NotExecutable));
        check(&full.join("codex"), Err(Exit::NotExecutable));
        check(Path::new("gemini"), Err(Exit::NotFound));
        check(&full.join("gemini"), Err(Exit::NotFound));
        check(Path::new("sh"), Err(Exit::Usage));
        check(&full.join("sh"), Err(Exit::Usage));
        check(Path::new(""), Err(Exit::Usage));
        assert_eq!(Program::find(OsStr::new("claude"), None).map_err(|why| why.exit()), Err(Exit::NotFound));
    }
}
