//! Branches that an effect changes or pushes. Only git has its verbs here; a change of another version control is one
//! of an unknown branch.

use castellan_event::{Command, Effect, Facts, Scope};

/// The branches that an effect changes or pushes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Branches {
    /// The effect changes no branch.
    None,
    /// These; one that is not known is `None`.
    Some(Vec<Option<String>>),
}

/// The branch that a verb changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Changes {
    /// The effect's target.
    Target,
    /// The branch that is checked out.
    Current,
    /// No branch.
    Nothing,
}

/// Verbs of git. A verb that is not here may change any branch. A new branch begins where another is, so `checkout` and
/// `switch` change none, unless they move one: they are not here.
const GIT: &[(&str, Changes)] = &[
    ("add", Changes::Nothing),
    ("am", Changes::Current),
    ("am-abort", Changes::Current),
    ("amend", Changes::Current),
    ("apply", Changes::Nothing),
    ("bisect", Changes::Nothing),
    ("branch", Changes::Target),
    ("branch-copy", Changes::Target),
    ("branch-delete", Changes::Target),
    ("branch-rename", Changes::Target),
    ("branch-upstream", Changes::Nothing),
    ("checkout-index", Changes::Nothing),
    ("cherry-pick", Changes::Current),
    ("cherry-pick-abort", Changes::Current),
    ("clean", Changes::Nothing),
    ("commit", Changes::Current),
    ("config", Changes::Nothing),
    ("config-command", Changes::Nothing),
    ("fetch", Changes::Target),
    ("init", Changes::Nothing),
    ("merge", Changes::Current),
    ("merge-abort", Changes::Current),
    ("mv", Changes::Nothing),
    ("notes-add", Changes::Nothing),
    ("notes-append", Changes::Nothing),
    ("pull", Changes::Current),
    ("push", Changes::Target),
    ("push-delete", Changes::Target),
    ("rebase", Changes::Current),
    ("rebase-abort", Changes::Current),
    ("remote", Changes::Nothing),
    ("remote-add", Changes::Nothing),
    ("remote-remove", Changes::Nothing),
    ("remote-set-url", Changes::Nothing),
    ("reset", Changes::Current),
    ("restore", Changes::Nothing),
    ("revert", Changes::Current),
    ("revert-abort", Changes::Current),
    ("rm", Changes::Nothing),
    ("sparse-checkout", Changes::Nothing),
    ("stash", Changes::Nothing),
    ("stash-apply", Changes::Nothing),
    ("stash-branch", Changes::Target),
    ("stash-clear", Changes::Nothing),
    ("stash-create", Changes::Nothing),
    ("stash-drop", Changes::Nothing),
    ("stash-pop", Changes::Nothing),
    ("submodule-add", Changes::Nothing),
    ("submodule-update", Changes::Nothing),
    ("tag", Changes::Nothing),
    ("tag-delete", Changes::Nothing),
    ("update-index", Changes::Nothing),
    ("update-ref", Changes::Target),
    ("worktree-add", Changes::Nothing),
    ("worktree-remove", Changes::Nothing),
];

/// Other version control, and the web services of repositories.
const OTHERS: &[&str] = &["bzr", "fossil", "github", "gitlab", "hg", "jj", "p4", "sl", "svn"];

/// Verbs of the services of repositories that change a branch there. Their other verbs change none.
const MERGES: &[&str] = &["mr-merge", "pr-merge", "repo-sync"];

/// Branches that others build on, as in the shipped rules for git.
const PROTECTED: &[&str] =
    &["develop", "main", "master", "prod", "production", "release", "stable", "staging", "trunk"];

/// Reports whether others build on a branch.
pub(crate) fn is_protected(branch: &str) -> bool {
    PROTECTED.contains(&branch)
}

impl Branches {
    /// Returns the branches of an effect that changes something. `current`: the branch that is checked out before the call.
    pub(crate) fn of(effect: &Effect, facts: &Facts, current: Option<&str>) -> Branches {
        let verb = effect.verb().unwrap_or_default();
        match effect.system() {
            Some("git") => of_git(effect, facts, current),
            Some("github" | "gitlab") if !MERGES.contains(&verb) => Branches::None,
            Some(system) if OTHERS.contains(&system) => Branches::Some(vec![None]),
            Some(_) | None => Branches::None,
        }
    }
}

fn of_git(effect: &Effect, facts: &Facts, current: Option<&str>) -> Branches {
    let verb = effect.verb().unwrap_or_default();
    if matches!(verb, "checkout" | "switch") {
        let moved = command_of(effect, facts).and_then(|command| switched_to(command, FORCED));
        return moved.map_or(Branches::None, |branch| Branches::Some(vec![name_of(branch)]));
    }
    let listed = GIT.binary_search_by(|(word, _)| (*word).cmp(verb)).ok().and_then(|at| GIT.get(at));
    match listed.map(|(_, changes)| *changes) {
        Some(Changes::Nothing) => Branches::None,
        Some(Changes::Target) if effect.target() != Some("HEAD") => {
            Branches::Some(vec![effect.target().and_then(name_of)])
        }
        Some(Changes::Target | Changes::Current) => Branches::Some(checked_out(effect, facts, current)),
        None => Branches::Some(vec![None]),
    }
}

/// Returns the branch of a target, `None` for one that is not known: a variable, a commit, a relative name.
fn name_of(target: &str) -> Option<String> {
    let name = target.strip_prefix('+').unwrap_or(target);
    let name = name.strip_prefix("refs/heads/").unwrap_or(name);
    let is_odd = |letter: char| letter.is_whitespace() || "$`~^:@{*?[\\".contains(letter);
    let is_known = !name.is_empty() && !name.contains(is_odd) && name != "HEAD" && name != "-";
    (is_known && !name.starts_with("refs/")).then(|| name.to_owned())
}

/// The branches that may be checked out when an effect happens: the one before the call, and each that the call switches
/// to. A switch may fail, so the one before stays.
fn checked_out(effect: &Effect, facts: &Facts, current: Option<&str>) -> Vec<Option<String>> {
    // The repository of another directory has branches of its own.
    let own = current.filter(|_| effect.place() == Some(Scope::Workspace));
    let mut branches = vec![own.map(str::to_owned)];
    for other in &facts.effects {
        if other.system() != Some("git")
            || !matches!(other.verb(), Some("checkout" | "switch" | "stash-branch"))
        {
            continue;
        }
        let new = command_of(other, facts).and_then(|command| switched_to(command, NEW));
        // A checkout of paths has their names as targets; they are harmless here.
        let branch = new.or(other.target()).and_then(name_of);
        if !branches.contains(&branch) {
            branches.push(branch);
        }
    }
    branches
}

fn command_of<'f>(effect: &Effect, facts: &'f Facts) -> Option<&'f Command> {
    facts.commands.get(effect.command?)
}

/// Options of `checkout` and `switch` that create a branch, and those that may move one.
const NEW: &[&str] = &["-b", "-B", "-c", "-C", "--create", "--force-create", "--orphan"];
const FORCED: &[&str] = &["-B", "-C", "--force-create"];

/// Returns the value of one of the options, in an argument of its own or behind a `=`.
fn switched_to<'c>(command: &'c Command, options: &[&str]) -> Option<&'c str> {
    // Options before the subcommand are git's own: `git -C DIR`.
    let subcommand = command.subcommand.as_deref()?;
    let mut args = command.args.iter().skip_while(|arg| *arg != subcommand).skip(1);
    while let Some(arg) = args.next() {
        if options.contains(&arg.as_str()) {
            return Some(args.next().map(String::as_str).unwrap_or_default());
        }
        if let Some((option, value)) = arg.split_once('=').filter(|(option, _)| options.contains(option)) {
            return option.starts_with("--").then_some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_order() {
        assert!(GIT.is_sorted_by(|(one, _), (next, _)| one < next));
    }
}
