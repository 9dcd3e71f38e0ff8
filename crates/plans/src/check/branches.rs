//! Branches that an effect changes or pushes. Only git has its verbs here; a change of another version control is one
//! of an unknown branch.

use castellan_event::{Command, Effect, EffectKind, Facts, Scope};

use crate::call::CallView;
use crate::limits::CHECKED_OUT_MAX;

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

/// The branches that may be checked out in the workspace while a call runs; one that is not known is `None`.
#[derive(Debug)]
pub(crate) struct CheckedOut(Vec<Option<String>>);

impl CheckedOut {
    /// Returns the branch before the call, and each that the call switches to. A switch may fail, so the one before
    /// stays. After `cd` the repository may be another.
    pub(crate) fn of(view: &CallView<'_>) -> CheckedOut {
        let facts = view.facts;
        let leaves = |command: &Command| {
            let is_cd = matches!(command.name.as_deref(), Some("cd" | "pushd" | "popd"));
            is_cd && command.args.first().map(String::as_str) != Some(view.root)
        };
        let before = view.branch.filter(|_| !facts.commands.iter().any(leaves));
        let mut branches = vec![before.map(str::to_owned)];
        for effect in facts.effects.iter().filter(|effect| effect.system() == Some("git")) {
            let Some(branch) = switched_to(effect, facts) else { continue };
            if branches.len() >= CHECKED_OUT_MAX {
                branches.push(None);
                break;
            }
            if !branches.contains(&branch) {
                branches.push(branch);
            }
        }
        CheckedOut(branches)
    }
}

impl Branches {
    /// Returns the branches of an effect that changes something.
    pub(crate) fn of(effect: &Effect, facts: &Facts, checked_out: &CheckedOut) -> Branches {
        let verb = effect.verb().unwrap_or_default();
        match effect.system() {
            Some("git") => of_git(effect, facts, checked_out),
            Some("github" | "gitlab") if !MERGES.contains(&verb) => Branches::None,
            Some(system) if OTHERS.contains(&system) => Branches::Some(vec![None]),
            Some(_) | None => Branches::None,
        }
    }
}

fn of_git(effect: &Effect, facts: &Facts, checked_out: &CheckedOut) -> Branches {
    let verb = effect.verb().unwrap_or_default();
    if matches!(verb, "checkout" | "switch") {
        let moved = command_of(effect, facts).filter(|command| has(command, MOVE));
        return moved.map_or(Branches::None, |command| {
            Branches::Some(vec![value(command, MOVE).or(effect.target()).and_then(name_of)])
        });
    }
    let listed = GIT.binary_search_by(|(word, _)| (*word).cmp(verb)).ok().and_then(|at| GIT.get(at));
    match listed.map(|(_, changes)| *changes) {
        Some(Changes::Nothing) => Branches::None,
        Some(Changes::Target) if effect.target() != Some("HEAD") => {
            Branches::Some(vec![effect.target().and_then(name_of)])
        }
        Some(Changes::Target | Changes::Current) if is_elsewhere(effect, facts) => Branches::Some(vec![None]),
        Some(Changes::Target | Changes::Current) => Branches::Some(checked_out.0.clone()),
        None => Branches::Some(vec![None]),
    }
}

/// Reports whether an effect may be in another repository, which has branches of its own: `git -C DIR`.
fn is_elsewhere(effect: &Effect, facts: &Facts) -> bool {
    let has_own_options = |command: &Command| {
        command.subcommand.is_none() || command.args.first() != command.subcommand.as_ref()
    };
    effect.place() != Some(Scope::Workspace) || command_of(effect, facts).is_none_or(has_own_options)
}

/// Returns the branch of a target, `None` for one that is not known: a variable, a commit, a relative name.
fn name_of(target: &str) -> Option<String> {
    let name = target.strip_prefix('+').unwrap_or(target);
    let name = name.strip_prefix("refs/heads/").unwrap_or(name);
    let is_odd = |letter: char| letter.is_whitespace() || "$`~^:@{*?[\\".contains(letter);
    let is_known = !name.is_empty() && !name.contains(is_odd) && name != "HEAD" && name != "-";
    (is_known && !name.starts_with("refs/")).then(|| name.to_owned())
}

/// Returns the branch that an effect checks out, `Some(None)` if it is not known. A checkout of paths checks out none.
fn switched_to(effect: &Effect, facts: &Facts) -> Option<Option<String>> {
    let command = command_of(effect, facts);
    let moves = command.is_none_or(|command| has(command, MOVE));
    let is_of_paths = effect.kind() == EffectKind::Destroy && effect.op.force != Some(true) && !moves;
    let switches = match effect.verb() {
        Some("checkout") => !is_of_paths,
        Some("switch" | "stash-branch") => true,
        Some(_) | None => false,
    };
    switches.then(|| command.and_then(|command| value(command, NEW)).or(effect.target()).and_then(name_of))
}

fn command_of<'f>(effect: &Effect, facts: &'f Facts) -> Option<&'f Command> {
    facts.commands.get(effect.command?)
}

/// Options of `checkout` and `switch` that create a branch, and those that may move one.
const NEW: &[&str] = &["-b", "-B", "-c", "-C", "--create", "--force-create", "--orphan"];
const MOVE: &[&str] = &["-B", "-C", "--force-create"];

/// Reports whether a command has one of the options, in any spelling.
fn has(command: &Command, options: &[&str]) -> bool {
    command.flags.iter().chain(&command.flag_spellings).any(|flag| options.contains(&flag.as_str()))
}

/// Returns the value of one of the options, in an argument of its own.
fn value<'c>(command: &'c Command, options: &[&str]) -> Option<&'c str> {
    // Options before the subcommand are git's own: `git -C DIR`.
    let subcommand = command.subcommand.as_deref()?;
    let mut args = command.args.iter().skip_while(|arg| *arg != subcommand).skip(1);
    args.find(|arg| options.contains(&arg.as_str()))?;
    args.next().map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_order() {
        assert!(GIT.is_sorted_by(|(one, _), (next, _)| one < next));
    }
}
