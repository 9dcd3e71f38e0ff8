//! Facts about a call that may run: its writes, and whether it may outlast its turn. It must not know the decision.

use std::collections::BTreeSet;

use castellan_event::{Call, Command, Effect, EffectKind, Facts, FileOrigin, Role, Why};
use castellan_facts::{ChangedPath, is_version_control, keeps_code};

use crate::memory::Begun;

/// Returns the facts about a call that may run from now on. `number` is the number of its record.
pub(crate) fn begun<'c>(call: &'c Call, number: u64, facts: Facts, workspace: &str) -> Begun<'c> {
    Begun {
        call: number,
        id: &call.tool.use_id,
        paths: written(&facts, workspace),
        downloaded: downloaded(&facts),
        in_background: in_background(call, &facts),
        secret_copies: facts.secret_copies,
        scripts: facts.scripts,
    }
}

/// Returns the paths that the call may write: a later call may run these files.
fn written(facts: &Facts, workspace: &str) -> BTreeSet<String> {
    let writes = facts.effects.iter().filter(|effect| {
        matches!(effect.kind(), EffectKind::Write | EffectKind::Link | EffectKind::Download)
    });
    let writes =
        writes.filter(|effect| !keeps_code(&effect.op) && !is_whole_tree(effect, &facts.commands, workspace));
    let mut paths: BTreeSet<String> = writes.filter_map(|effect| effect.path().map(str::to_owned)).collect();
    // A write to an unknown place may change any file. Writes by the project's own code are excluded.
    let is_owned =
        |script: &str| facts.own_scripts.contains(script) || facts.session_scripts.contains(script);
    let is_own = |effect: &Effect| effect.script_path().is_some_and(is_owned);
    // A file that cannot be read contains the names of the files that a patch changes.
    let is_unread = |effect: &Effect| effect.role() == Some(Role::Target) && effect.why() == Some(Why::File);
    let is_anywhere = |effect: &Effect| {
        let is_write =
            matches!(effect.kind(), EffectKind::Write | EffectKind::Link) && effect.path().is_none();
        (is_write || is_unread(effect)) && !keeps_code(&effect.op) && !is_own(effect)
    };
    let anywhere = facts.effects.iter().any(is_anywhere).then_some(ChangedPath::Anywhere(workspace));
    // Version control does not report the files that it changes.
    let trees =
        facts.changed_trees.iter().filter(|root| !root.is_empty()).map(|root| ChangedPath::Tree(root));
    paths.extend(trees.chain(anywhere.filter(|_| !workspace.is_empty())).map(ChangedPath::stored));
    paths
}

/// Reports whether version control changes the whole workspace except its own settings. The tree's mark covers that.
fn is_whole_tree(effect: &Effect, commands: &[Command], workspace: &str) -> bool {
    let command = effect.command.and_then(|command| commands.get(command));
    effect.path() == Some(workspace)
        && effect.file_origin() != Some(FileOrigin::Downloaded)
        && command.and_then(|command| command.name.as_deref()).is_some_and(is_version_control)
}

/// Returns the written files that come from the network.
fn downloaded(facts: &Facts) -> BTreeSet<String> {
    let fetched = facts.effects.iter().filter(|effect| {
        effect.kind() == EffectKind::Write && effect.file_origin() == Some(FileOrigin::Downloaded)
    });
    let files = fetched.filter_map(|effect| effect.path().map(str::to_owned));
    // Version control that fetches names none of the files that it changes.
    let is_fetch = |effect: &Effect| effect.kind() == EffectKind::Download && effect.system().is_some();
    let roots = facts.changed_trees.iter().filter(|_| facts.effects.iter().any(is_fetch));
    files.chain(roots.map(|root| ChangedPath::Tree(root).stored())).collect()
}

/// Reports whether the call may continue after the agent's turn. Reasons: the agent's own option, `&`, a wrapper such
/// as `setsid`, or a sub-agent, which works while the user talks to the main agent.
pub(super) fn in_background(call: &Call, facts: &Facts) -> bool {
    call.in_background
        || !call.agent.subagent_id.is_empty()
        || facts.effects.iter().any(|effect| effect.kind() == EffectKind::Detach)
        || facts.commands.iter().any(|command| command.background || !command.wrappers.is_empty())
}
