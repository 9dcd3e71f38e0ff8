//! What an effect means for the files of a project: a change without file names, or one that keeps the code of a file.

use castellan_event::{EffectKind, Operation};
use castellan_programs::System;

/// The verb of a write that only reformats a file, as formatters do: the code keeps its meaning.
pub(crate) const LAYOUT: &str = "layout";

/// The verb of a write of git's settings that changes where git fetches from or pushes to.
pub(crate) const REMOTE: &str = "remote";

/// True if a write keeps the code of a file: a reformat, or a setting of git that starts nothing.
pub fn keeps_code(op: &Operation) -> bool {
    let verb = op.verb.as_deref();
    verb == Some(LAYOUT) || matches!(verb, Some("config" | REMOTE)) && op.system.as_deref() == Some("git")
}

/// True if a write changes where git fetches from or pushes to.
pub fn sets_remote(op: &Operation) -> bool {
    op.kind == EffectKind::Write && op.verb.as_deref() == Some(REMOTE) && op.system.as_deref() == Some("git")
}

/// True if an effect changes files of a work tree without naming them. An effect without a verb may.
pub fn changes_tree(op: &Operation) -> bool {
    let verbs = || op.system.as_deref().and_then(System::find).map_or(&[][..], |system| system.changes_tree);
    matches!(op.kind, EffectKind::Mutate | EffectKind::Destroy)
        && op.verb.as_deref().map_or(!verbs().is_empty(), |verb| verbs().contains(&verb))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_a_tree_is_told_by_system_and_verb() {
        let check = |kind, system: &str, verb: Option<&str>, expected: bool| {
            let (system, verb) = (Some(system.to_owned()), verb.map(str::to_owned));
            let op = Operation { system, verb, ..Operation::of(kind) };
            assert_eq!(changes_tree(&op), expected, "{op:?}");
        };
        check(EffectKind::Mutate, "git", Some("checkout"), true);
        check(EffectKind::Destroy, "git", Some("reset"), true);
        check(EffectKind::Mutate, "git", Some("submodule-update"), true);
        check(EffectKind::Mutate, "git", None, true);
        check(EffectKind::Mutate, "git", Some("commit"), false);
        check(EffectKind::Query, "git", Some("checkout"), false);
        check(EffectKind::Mutate, "hg", Some("update"), true);
        check(EffectKind::Mutate, "hg", Some("push"), false);
        check(EffectKind::Mutate, "svn", Some("update"), true);
        check(EffectKind::Mutate, "npm", Some("update"), false);
    }
}
