//! How a command is started: where it runs, its input, and the repository that it names for git.

use castellan_programs::Arg;
use castellan_shell::Run;

use crate::scene::Scene;
use crate::sink::Setup;

pub(super) fn of(run: &Run, scene: &Scene<'_, '_, '_>) -> Setup {
    Setup {
        remote: !run.remote.is_empty(),
        stdin: run.stdin.clone(),
        piped: run.pipe_from.is_some(),
        names_repository: names_repository(run) || scene.exports.names.iter().any(|name| is_of_git(name)),
        work_tree: work_tree(run),
    }
}

/// Returns true if an option or a variable selects the repository for git.
fn names_repository(run: &Run) -> bool {
    let is_told = |arg: &Arg| GIT_OPTIONS.iter().any(|option| arg.prefix().starts_with(option));
    run.env.iter().any(|(name, _)| is_of_git(name)) || run.argv.iter().any(is_told)
}

/// Returns the work tree that an option or a variable selects for git.
pub(super) fn work_tree(run: &Run) -> Option<Arg> {
    let given = |at: usize, arg: &Arg| match arg.strip_prefix("--work-tree=") {
        None if arg.as_str() == Some("--work-tree") => run.argv.get(at + 1).cloned(),
        value => value,
    };
    let named = run.argv.iter().enumerate().find_map(|(at, arg)| given(at, arg));
    named.or_else(|| {
        let variable = run.env.iter().rev().find(|(name, _)| name.as_str() == "GIT_WORK_TREE");
        variable.map(|(_, value)| value.clone())
    })
}

fn is_of_git(variable: &str) -> bool {
    variable.starts_with("GIT_")
}

/// Options of git that select a repository or a work tree.
const GIT_OPTIONS: &[&str] = &["--git-dir", "--work-tree"];
