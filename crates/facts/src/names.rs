//! [`Names`]: which file a program's name leads to, by the agent's `PATH` as commands of the call have changed it.

use std::collections::HashMap;

use castellan_event::{Answer, Process, Query, Recorder, Why};
use castellan_programs::{Arg, Piece};
use castellan_shell::Work;

use crate::limits::{BYTES_PER_WORK, SEARCH_BYTES_MAX, WORK_OF_LOOK};

/// What is known of `PATH`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    path: Option<String>,
    /// Names that were looked up in it.
    found: HashMap<String, Resolved>,
}

/// Where a name leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Resolved {
    /// This file, symlinks resolved.
    File(String),
    /// To nothing: it is not there.
    Missing,
    /// It cannot be said: `PATH` is not known, or the world does not answer.
    Unknown,
}

impl Names {
    pub(crate) fn new(process: Option<&Process>) -> Names {
        let path = process.and_then(|process| process.var("PATH")).map(str::to_owned);
        Names { path, found: HashMap::new() }
    }

    /// `PATH` is set for the commands that follow.
    pub(crate) fn set_path(&mut self, value: &Arg) {
        self.path = searched(value);
        self.found.clear();
    }

    /// A directory comes before the others of `PATH`.
    pub(crate) fn put_first(&mut self, directory: &str) {
        self.path = self.path.as_ref().map(|path| format!("{directory}:{path}"));
    }

    /// Looks a name up. `env`: what the command itself is given.
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

/// Variables that name where the user has installed a toolchain. What it brings has the names that it has elsewhere.
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

/// Commands that tell where tools of a language lie, outside of every project; how they begin.
const TOLD: &[&str] = &["$(brew --prefix", "$(go env GO", "$(rustc --print sysroot", "$(xcode-select -p"];

/// The directories of a `PATH` as far as they are known; `None` where another one may be among them. That of a toolchain which nobody has
/// set in the call is the user's.
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
