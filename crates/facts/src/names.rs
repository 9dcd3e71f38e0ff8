//! [`Names`]: finds the file of a program's name by the agent's `PATH`, including changes by commands of the call.

use std::collections::HashMap;

use castellan_event::{Answer, Process, Query, Recorder, Why};
use castellan_programs::{Arg, Piece};
use castellan_shell::Work;

use crate::limits::{BYTES_PER_WORK, SEARCH_BYTES_MAX, WORK_OF_LOOK};

/// The known `PATH`, with a cache of lookups.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    path: Option<String>,
    /// Names already looked up in `path`.
    found: HashMap<String, Resolved>,
}

/// Result of a lookup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Resolved {
    /// This file, symlinks resolved.
    File(String),
    /// No such file exists.
    Missing,
    /// Not known: `PATH` is unknown, or the world does not answer.
    Unknown,
}

impl Names {
    pub(crate) fn new(process: Option<&Process>) -> Names {
        let path = process.and_then(|process| process.var("PATH")).map(str::to_owned);
        Names { path, found: HashMap::new() }
    }

    /// Sets `PATH` for the commands that follow.
    pub(crate) fn set_path(&mut self, value: &Arg) {
        self.path = searched(value);
        self.found.clear();
    }

    /// Puts a directory before the others in `PATH`.
    pub(crate) fn put_first(&mut self, directory: &str) {
        self.path = self.path.as_ref().map(|path| format!("{directory}:{path}"));
    }

    /// Looks up a name. `env`: the environment of the command itself; a `PATH` in it overrides the current one.
    pub(crate) fn resolve(
        &mut self,
        name: &str,
        env: &[(String, Arg)],
        world: &mut Recorder<'_>,
        work: &mut Work,
    ) -> Resolved {
        let own = env.iter().rev().find(|(name, _)| name == "PATH");
        if let Some((_, value)) = own {
            return searched(value).map_or(Resolved::Unknown, |path| look_up(name, &path, world, work));
        }
        if let Some(found) = self.found.get(name) {
            return found.clone();
        }
        let Some(path) = &self.path else { return Resolved::Unknown };
        let found = look_up(name, path, world, work);
        self.found.insert(name.to_owned(), found.clone());
        found
    }
}

/// Variables that name the directory of a toolchain of the user. Its programs have the same names as elsewhere.
const TOOLCHAINS: &[&str] = &[
    "ANDROID_HOME",
    "ANDROID_SDK_ROOT",
    "CARGO_HOME",
    "GOPATH",
    "GOROOT",
    "GRADLE_HOME",
    "JAVA_HOME",
    "M2_HOME",
    "MAVEN_HOME",
    "PNPM_HOME",
];

/// Prefixes of commands that print the directory of a language's tools, outside of every project.
const TOLD: &[&str] = &["$(brew --prefix", "$(go env GO", "$(rustc --print sysroot", "$(xcode-select -p"];

/// Returns the known directories of a `PATH`; `None` if another directory may be among them. A toolchain variable that
/// the call does not set holds the user's directory, so the result leaves it out.
fn searched(value: &Arg) -> Option<String> {
    let is_toolchain = |written: &str| {
        let name = written.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
        name.or_else(|| written.strip_prefix('$')).is_some_and(|name| TOOLCHAINS.contains(&name))
    };
    let mut path = String::new();
    for piece in value.pieces() {
        match piece {
            Piece::Text(text) => path.push_str(text),
            Piece::Unknown { why: Why::Variable, written } if is_toolchain(written) => path.push('\0'),
            Piece::Unknown { why: Why::Unresolved, written }
                if TOLD.iter().any(|begin| written.starts_with(begin)) =>
            {
                path.push('\0');
            }
            Piece::Unknown { .. } => return None,
        }
    }
    let known: Vec<&str> = path.split(':').filter(|directory| !directory.contains('\0')).collect();
    Some(known.join(":"))
}

fn look_up(name: &str, path: &str, world: &mut Recorder<'_>, work: &mut Work) -> Resolved {
    let directories = path.split(':').count();
    let units = directories as u64 * WORK_OF_LOOK + (path.len() / BYTES_PER_WORK) as u64;
    if path.len() > SEARCH_BYTES_MAX || !work.spend(units) {
        return Resolved::Unknown;
    }
    match world.ask(Query::Executable { name: name.to_owned(), path: path.to_owned() }) {
        Some(Answer::Executable(Some(file))) => Resolved::File(file),
        Some(Answer::Executable(None)) => Resolved::Missing,
        _ => Resolved::Unknown,
    }
}
