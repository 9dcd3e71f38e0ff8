//! The workspace of a session: the repository around its first directory, else the directory itself. Never the root
//! directory, a home or a directory that contains a home, because all files in it would belong to the workspace. Does
//! not depend on the session.

use std::io;
use std::path::Path;

use castellan_event::{Answer, Query, Recorder};

use crate::memory::Workspace;
use crate::platform;
use crate::sight;
use crate::world::FileSystem;

/// The workspace of a directory outside of any session, for a person. Returns an error if it is no readable directory
/// or not given by its real path.
pub(crate) fn workspace_at(directory: &str) -> io::Result<Workspace> {
    let metadata = sight::metadata(directory)?;
    if !metadata.is_dir() || sight::canonicalize(directory)? != Path::new(directory) {
        return Err(io::Error::other("it is no directory by its real path"));
    }
    let machine = FileSystem::default();
    let found = workspace_of(directory, std::process::id(), &mut Recorder::new(&machine));
    found.ok_or_else(|| io::Error::other("it cannot be looked at"))
}

/// The real path of the workspace around a directory. The error gives the reason why there is none.
pub fn find_workspace(directory: &Path) -> io::Result<String> {
    let real = sight::canonicalize(directory)?;
    let real = real.to_str().ok_or_else(|| io::Error::other("its path is no text"))?;
    let found = workspace_at(real)?;
    if !found.is_border {
        return Err(io::Error::other(
            "it can be no workspace: it is, or holds, a home: name a repository or a directory in it",
        ));
    }
    Ok(found.path)
}

/// Finds the workspace of the agent's process `pid` whose session begins in `cwd`. `None` if `cwd` is unreadable.
pub(crate) fn workspace_of(cwd: &str, pid: u32, world: &mut Recorder<'_>) -> Option<Workspace> {
    let real = real_path(cwd, world)?;
    let homes = homes(pid, world);
    let is_border = |path: &str| !homes.iter().any(|home| Path::new(home).starts_with(path));
    let Answer::Repository(repository) = world.ask(Query::Repository { of: real.clone() })? else {
        return None;
    };
    // A home may be a repository of settings and contain work outside of that repository.
    let path = repository.filter(|repository| is_border(repository)).unwrap_or(real);
    Some(Workspace { is_border: is_border(&path), path })
}

/// The homes of the agent's user, who is the guarded user: the daemon serves no other.
fn homes(pid: u32, world: &mut Recorder<'_>) -> Vec<String> {
    let mut homes = vec!["/".to_owned()];
    if sight::is_through_reader() {
        let home = platform::account(sight::user()).and_then(|account| account.home);
        homes.extend(home.map(|home| home.to_string_lossy().into_owned()));
    }
    for pid in [std::process::id(), pid] {
        let Some(Answer::Process(Some(process))) = world.ask(Query::Process { pid }) else { continue };
        let of_process = [Some(process.home.as_str()), process.var("HOME")];
        let paths: Vec<String> = of_process.into_iter().flatten().map(str::to_owned).collect();
        homes.extend(paths.iter().filter_map(|home| real_path(home, world)));
        homes.extend(paths);
    }
    homes.retain(|home| home.starts_with('/'));
    homes
}

fn real_path(path: &str, world: &mut Recorder<'_>) -> Option<String> {
    let query = Query::RealPath { base: "/".to_owned(), path: path.to_owned() };
    let Answer::RealPath(real) = world.ask(query)? else { return None };
    Some(real)
}

#[cfg(test)]
mod tests {
    use castellan_event::{Process, World};

    use super::*;

    /// Repositories at `/h/repo` and `/dot`. `/dot` is the home in the agent's environment; the user's home is `/h`.
    struct Machine;

    const AGENT: u32 = 7;

    impl World for Machine {
        fn answer(&self, query: &Query) -> Option<Answer> {
            Some(match query {
                Query::RealPath { path, .. } if path == "/circle" => return None,
                Query::RealPath { path, .. } => Answer::RealPath(path.replace("/link", "/h")),
                Query::Repository { of } => {
                    let all = ["/h/repo", "/dot"];
                    let found = all.iter().find(|repository| Path::new(of).starts_with(repository));
                    Answer::Repository(found.map(|found| (*found).to_owned()))
                }
                Query::Process { pid } => {
                    let env =
                        if *pid == AGENT { vec![("HOME".to_owned(), "/dot".to_owned())] } else { vec![] };
                    Answer::Process(Some(Process { home: "/link".to_owned(), env, ..Process::default() }))
                }
                Query::FileKind { .. }
                | Query::Contents { .. }
                | Query::Executable { .. }
                | Query::Newest { .. }
                | Query::Inode { .. }
                | Query::Head { .. }
                | Query::OtherNames { .. } => return None,
            })
        }
    }

    /// `inside` is the directory whose contents belong to the workspace; empty if there is none.
    fn check(cwd: &str, pid: u32, path: &str, inside: &str) {
        let found = workspace_of(cwd, pid, &mut Recorder::new(&Machine)).unwrap();
        assert_eq!((found.path.as_str(), found.inside()), (path, inside), "{cwd}");
    }

    #[test]
    fn it_is_the_repository_else_the_directory_and_never_a_home() {
        check("/h/repo", AGENT, "/h/repo", "/h/repo");
        check("/h/repo/src/deep", AGENT, "/h/repo", "/h/repo");
        check("/link/repo/src", AGENT, "/h/repo", "/h/repo");
        check("/h/other", AGENT, "/h/other", "/h/other");
        check("/srv", AGENT, "/srv", "/srv");
        for none in ["/", "/h", "/link", "/dot"] {
            check(none, AGENT, &none.replace("/link", "/h"), "");
        }
        // A home that is a repository does not make all its contents one workspace.
        check("/dot/work/src", AGENT, "/dot/work/src", "/dot/work/src");
        // For a process without a home, the user's home applies.
        check("/h", 0, "/h", "");
        check("/dot", 8, "/dot", "/dot");
        assert_eq!(workspace_of("/circle", AGENT, &mut Recorder::new(&Machine)), None);
    }

    #[test]
    fn what_holds_a_home_is_none() {
        struct Deep;
        impl World for Deep {
            fn answer(&self, query: &Query) -> Option<Answer> {
                if matches!(query, Query::Process { .. }) {
                    let process = Process { home: "/home/u".to_owned(), ..Process::default() };
                    return Some(Answer::Process(Some(process)));
                }
                Machine.answer(query)
            }
        }
        let inside = |cwd: &str| {
            workspace_of(cwd, AGENT, &mut Recorder::new(&Deep)).map(|found| found.inside().to_owned())
        };
        assert_eq!(inside("/home").as_deref(), Some(""));
        assert_eq!(inside("/home/u").as_deref(), Some(""));
        assert_eq!(inside("/home/us").as_deref(), Some("/home/us"));
        assert_eq!(inside("/home/u/x").as_deref(), Some("/home/u/x"));
    }
}
