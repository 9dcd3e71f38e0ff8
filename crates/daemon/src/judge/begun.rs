//! Facts about a call that may run: its writes, and whether it may outlast its turn. It must not know the decision.

use std::collections::BTreeSet;

use castellan_event::{Call, Command, Effect, EffectKind, Facts, FileOrigin, Role, Why};
use castellan_facts::{ChangedPath, REDIRECT, is_version_control, keeps_code};

use crate::memory::{Begun, Origins};

/// Returns the facts about a call that may run from now on. `number` is the number of its record.
pub(crate) fn begun<'c>(call: &'c Call, number: u64, facts: Facts, workspace: &str) -> Begun<'c> {
    Begun {
        call: number,
        id: &call.tool.use_id,
        paths: written(&facts, workspace),
        origins: Origins {
            downloaded: downloaded(&facts).into(),
            unread_output: unread_output(&facts).into(),
            secret_copies: facts.secret_copies.clone().into(),
        },
        opens_tunnel: facts.opens_tunnel,
        in_background: in_background(call, &facts),
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

/// Returns the files into which redirects and pipes put output, if the call runs code that castellan did not read.
fn unread_output(facts: &Facts) -> BTreeSet<String> {
    let is_unread = |effect: &Effect| {
        effect.is_opaque() && matches!(effect.role(), Some(Role::Code | Role::Program | Role::Tool))
    };
    let unread: Vec<&Effect> = facts.effects.iter().filter(|effect| is_unread(effect)).collect();
    if unread.is_empty() {
        return BTreeSet::new();
    }
    let command = |effect: &Effect| facts.commands.get(effect.command?);
    let file_name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let names = unread.iter().flat_map(|effect| {
        [command(effect).and_then(|command| command.name.clone()), effect.script_path().map(file_name)]
    });
    let names: BTreeSet<String> = names.flatten().collect();
    let is_fed = |effect: &Effect| {
        let is_redirect = effect.verb() == Some(REDIRECT);
        // A redirect around several commands has no command.
        let Some(command) = command(effect) else { return is_redirect };
        let own = command.name.as_ref().filter(|_| is_redirect);
        own.into_iter().chain(&command.pipe_from).any(|source| names.contains(source))
    };
    let written = facts.effects.iter().filter(|effect| effect.kind() == EffectKind::Write && is_fed(effect));
    written.filter_map(|effect| effect.path().map(str::to_owned)).collect()
}

/// Reports whether the call may continue after the agent's turn. Reasons: the agent's own option, `&`, a wrapper such
/// as `setsid`, or a sub-agent, which works while the user talks to the main agent.
pub(super) fn in_background(call: &Call, facts: &Facts) -> bool {
    call.in_background
        || !call.agent.subagent_id.is_empty()
        || facts.effects.iter().any(|effect| effect.kind() == EffectKind::Detach)
        || facts.commands.iter().any(|command| command.background || !command.wrappers.is_empty())
}

#[cfg(test)]
mod tests {
    use castellan_event::LocatedFile;

    use super::*;

    /// A write to `/w/out` by `second`; the command `gen` runs code.
    fn facts(second: &str, verb: Option<&str>, pipe_from: Option<&str>, ran: Effect) -> Facts {
        let file = LocatedFile { path: Some("/w/out".to_owned()), ..LocatedFile::default() };
        let mut write = Effect { command: Some(1), ..Effect::on_file(EffectKind::Write, file) };
        write.op.verb = verb.map(str::to_owned);
        let first = Command { name: Some("gen".to_owned()), ..Command::default() };
        let name = Some(second.to_owned());
        let second = Command { name, pipe_from: pipe_from.map(str::to_owned), ..Command::default() };
        let ran = Effect { command: Some(0), ..ran };
        Facts { commands: vec![first, second], effects: vec![ran, write], ..Facts::default() }
    }

    #[test]
    fn the_output_of_unread_code_is_known_by_redirects_and_pipes() {
        let unread = |role| Effect::opaque(role, Why::Unsupported, None);
        let execute = || Effect::of(EffectKind::Execute);
        for (second, verb, pipe_from, ran, expected) in [
            ("gen", Some(REDIRECT), None, unread(Role::Code), true),
            ("gen", Some(REDIRECT), None, unread(Role::Program), true),
            ("cat", Some(REDIRECT), None, unread(Role::Code), false),
            ("tee", None, Some("gen"), unread(Role::Code), true),
            ("tee", None, Some("echo"), unread(Role::Code), false),
            ("gen", None, None, unread(Role::Code), false),
            ("gen", Some(REDIRECT), None, unread(Role::Operand), false),
            ("gen", Some(REDIRECT), None, execute(), false),
        ] {
            let facts = facts(second, verb, pipe_from, ran);
            assert_eq!(unread_output(&facts).contains("/w/out"), expected, "{facts:?}");
        }
    }
}
