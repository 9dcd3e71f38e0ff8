//! Facts that the daemon keeps of a call that may run: the files that it may write, and whether it may outlast its turn. It must not
//! know the decision.

use std::collections::BTreeSet;

use castellan_event::{Call, Command, Effect, EffectKind, Facts, FileOrigin, Role, Why};
use castellan_facts::{ANYWHERE_MARK, TREE_MARK, is_version_control, keeps_code};

use crate::memory::Begun;

/// What is known of a call that may run from now on. `number`: that of its record.
pub(crate) fn begun<'c>(call: &'c Call, number: u64, facts: Facts, workspace: &str) -> Begun<'c> {
    Begun {
        call: number,
        id: &call.tool.use_id,
        paths: written(&facts, workspace),
        downloaded: downloaded(&facts),
        in_background: in_background(call, &facts),
        scripts: facts.scripts,
    }
}

/// What runs later may be what is written now.
fn written(facts: &Facts, workspace: &str) -> BTreeSet<String> {
    let writes = facts
        .effects
        .iter()
        .filter(|effect| matches!(effect.kind, EffectKind::Write | EffectKind::Link | EffectKind::Download));
    let writes =
        writes.filter(|effect| !keeps_code(effect) && !is_whole_tree(effect, &facts.commands, workspace));
    let mut paths: BTreeSet<String> = writes.filter_map(|effect| effect.path.clone()).collect();
    // Of what is written where nobody knows it may be any file. What the project's own code writes is its own doing.
    let is_own = |effect: &Effect| {
        effect.script_path.as_ref().is_some_and(|script| facts.own_scripts.contains(script))
    };
    // A file that cannot be read says which files a patch changes.
    let is_unread = |effect: &Effect| effect.role == Some(Role::Target) && effect.why == Some(Why::File);
    let is_anywhere = |effect: &Effect| {
        let is_write = matches!(effect.kind, EffectKind::Write | EffectKind::Link) && effect.path.is_none();
        (is_write || is_unread(effect)) && !keeps_code(effect) && !is_own(effect)
    };
    let anywhere = facts.effects.iter().any(is_anywhere).then_some((workspace, ANYWHERE_MARK));
    // Version control does not say which files it changes.
    let trees = facts.changed_trees.iter().map(|root| (root.as_str(), TREE_MARK));
    let marked = trees.chain(anywhere).filter(|(root, _)| !root.is_empty());
    paths.extend(marked.map(|(root, mark)| format!("{}/{mark}", root.trim_end_matches('/'))));
    paths
}

/// Whether version control changes the workspace as a whole: its mark says so, and its own settings stay as they are.
fn is_whole_tree(effect: &Effect, commands: &[Command], workspace: &str) -> bool {
    let command = effect.command.and_then(|command| commands.get(command));
    effect.path.as_deref() == Some(workspace)
        && effect.file_origin != Some(FileOrigin::Downloaded)
        && command.and_then(|command| command.name.as_deref()).is_some_and(is_version_control)
}

/// What of it came from the network.
fn downloaded(facts: &Facts) -> BTreeSet<String> {
    let fetched = facts.effects.iter().filter(|effect| {
        effect.kind == EffectKind::Write && effect.file_origin == Some(FileOrigin::Downloaded)
    });
    fetched.filter_map(|effect| effect.path.clone()).collect()
}

/// Whether the call may go on when the agent's turn is over: as the agent was asked to let it, by its own means, as `&` and
/// wrappers such as `setsid` are, or in a sub-agent, which works while the user talks to the main one.
pub(super) fn in_background(call: &Call, facts: &Facts) -> bool {
    call.in_background
        || !call.agent.subagent_id.is_empty()
        || facts.effects.iter().any(|effect| effect.kind == EffectKind::Detach)
        || facts.commands.iter().any(|command| command.background || !command.wrappers.is_empty())
}
