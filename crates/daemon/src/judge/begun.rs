//! Facts about a call that may run: its writes, and whether it may outlast its turn. It must not know the decision.

use std::collections::BTreeSet;

use castellan_event::{Call, Command, Effect, EffectKind, Facts, FileOrigin, Role, Why};
use castellan_facts::{ChangedPath, REDIRECT, is_version_control, keeps_code, sets_remote};

use crate::limits::READS_PER_CALL_MAX;
use crate::memory::{Begun, Copying, Origins};

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
        outlasts: outlasts(call, &facts),
        start: None,
        code: code(&facts),
        copying: Copying { reads: reads(&facts), into: facts.contained_copies.into.clone() },
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
    let remotes = facts.effects.iter().filter(|effect| sets_remote(&effect.op)).filter_map(Effect::path);
    let anywhere = anywhere.filter(|_| !workspace.is_empty());
    paths.extend(trees.chain(anywhere).chain(remotes.map(ChangedPath::Remotes)).map(ChangedPath::stored));
    paths
}

/// Reports whether version control changes the whole workspace except its own settings. The tree's mark covers that.
fn is_whole_tree(effect: &Effect, commands: &[Command], workspace: &str) -> bool {
    let command = effect.command.and_then(|command| commands.get(command));
    effect.path() == Some(workspace)
        && effect.file_origin() != Some(FileOrigin::Downloaded)
        && command.and_then(|command| command.name.as_deref()).is_some_and(is_version_control)
}

/// Returns the files and directories with code of the call. castellan has read some. Others are loaded by the rules of a
/// tool: `cargo test` names `Cargo.toml`.
fn code(facts: &Facts) -> BTreeSet<String> {
    let run = facts.effects.iter().filter(|effect| effect.kind() == EffectKind::Execute);
    let scripts = facts.scripts.iter().map(|script| script.path.clone());
    run.filter_map(|effect| effect.path().map(str::to_owned)).chain(scripts).collect()
}

/// Returns the files, directories and patterns that the call reads; `None` if they are not all known.
fn reads(facts: &Facts) -> Option<BTreeSet<String>> {
    let reads = facts.effects.iter().filter(|effect| effect.kind() == EffectKind::Read).map(Effect::path);
    let links = facts.effects.iter().filter(|effect| effect.kind() == EffectKind::Link).map(Effect::target);
    let reads: Option<BTreeSet<String>> = reads.chain(links).map(|path| path.map(str::to_owned)).collect();
    reads.filter(|reads| reads.len() <= READS_PER_CALL_MAX)
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

/// Returns the files into which the text of the call puts output, if the call runs code that castellan did not read.
fn unread_output(facts: &Facts) -> BTreeSet<String> {
    let is_unread = |effect: &Effect| {
        effect.is_opaque() && matches!(effect.role(), Some(Role::Code | Role::Program | Role::Tool))
    };
    let command = |effect: &Effect| facts.commands.get(effect.command?);
    // `exec > out` redirects every later command.
    let mut names = BTreeSet::from(["exec"]);
    let (mut is_any_output, mut is_any_write, mut is_read) = (false, false, true);
    for effect in facts.effects.iter().filter(|effect| is_unread(effect)) {
        is_read = false;
        let of = command(effect);
        names.extend(of.and_then(|command| command.name.as_deref()));
        // A shell with unknown code, or a script: `bash gen.sh > out`.
        is_any_output |= of.is_none_or(|command| command.origin != "text");
        // `cp <("$X") out`, and a pipe from a program without a name.
        is_any_write |= of.is_some_and(|command| command.origin == "substitution" || command.name.is_none());
    }
    if is_read {
        return BTreeSet::new();
    }
    let is_piped = |command: &Command, names: &BTreeSet<&str>| {
        command.pipe_from.as_deref().is_some_and(|name| names.contains(name))
    };
    // The commands of a pipeline are in its order.
    for command in &facts.commands {
        if is_piped(command, &names) {
            names.extend(command.name.as_deref());
        }
    }
    let is_fed = |effect: &Effect| {
        let is_redirect = effect.verb() == Some(REDIRECT);
        // A redirect around several commands has no command.
        let Some(command) = command(effect) else { return is_redirect };
        let is_named = command.name.as_deref().is_some_and(|name| names.contains(name));
        let is_output = is_redirect || command.pipe_from.is_some();
        let is_any = is_any_write || is_any_output && is_output;
        is_any && command.origin == "text" || is_redirect && is_named || is_piped(command, &names)
    };
    let written = facts.effects.iter().filter(|effect| effect.kind() == EffectKind::Write && is_fed(effect));
    written.filter_map(|effect| effect.path().map(str::to_owned)).collect()
}

/// Reports whether the call may continue after the agent's turn. Reasons: the agent's own option, `&`, a wrapper such
/// as `setsid`, or a sub-agent, which works while the user talks to the main agent.
pub(super) fn in_background(call: &Call, facts: &Facts) -> bool {
    outlasts(call, facts) || !call.agent.subagent_id.is_empty()
}

/// Reports whether commands of the call may run after the agent has reported its end.
fn outlasts(call: &Call, facts: &Facts) -> bool {
    call.in_background
        || facts.background
        || facts.effects.iter().any(|effect| effect.kind() == EffectKind::Detach)
        || facts.commands.iter().any(|command| command.background || !command.wrappers.is_empty())
}

#[cfg(test)]
mod tests {
    use castellan_event::LocatedFile;

    use super::*;

    fn command(name: &str, origin: &str, pipe_from: Option<&str>) -> Command {
        let name = Some(name.to_owned()).filter(|name| !name.is_empty());
        let pipe_from = pipe_from.map(str::to_owned);
        Command { name, origin: origin.to_owned(), pipe_from, ..Command::default() }
    }

    /// The last command writes to `/w/out`. The command at `at` runs code.
    fn facts(commands: Vec<Command>, is_redirect: bool, at: Option<usize>, ran: Effect) -> Facts {
        let file = LocatedFile { path: Some("/w/out".to_owned()), ..LocatedFile::default() };
        let last = commands.len().checked_sub(1);
        let mut write = Effect { command: last, ..Effect::on_file(EffectKind::Write, file) };
        write.op.verb = is_redirect.then(|| REDIRECT.to_owned());
        Facts { commands, effects: vec![Effect { command: at, ..ran }, write], ..Facts::default() }
    }

    #[test]
    fn the_output_of_unread_code_is_known_by_redirects_and_pipes() {
        let unread = |role| Effect::opaque(role, Why::Unsupported, None);
        let code = || unread(Role::Code);
        let gen_then =
            |name: &str, pipe_from| vec![command("gen", "text", None), command(name, "text", pipe_from)];
        let pipeline = |first: &str| {
            let sorted = command("sort", "text", Some(first).filter(|first| !first.is_empty()));
            vec![command(first, "text", None), sorted, command("tee", "text", Some("sort"))]
        };
        let inner = |origin: &str| vec![command("gen", origin, None), command("cp", "text", None)];
        let one = |name: &str| vec![command(name, "text", None)];
        for (commands, is_redirect, at, ran, expected) in [
            (gen_then("gen", None), true, Some(0), code(), true),
            (gen_then("gen", None), true, Some(0), unread(Role::Program), true),
            (gen_then("cat", None), true, Some(0), code(), false),
            (gen_then("tee", Some("gen")), false, Some(0), code(), true),
            (gen_then("tee", Some("echo")), false, Some(0), code(), false),
            (gen_then("gen", None), false, Some(0), code(), false),
            (gen_then("gen", None), true, Some(0), unread(Role::Operand), false),
            (gen_then("gen", None), true, Some(0), Effect::of(EffectKind::Execute), false),
            (pipeline("gen"), false, Some(0), code(), true),
            (pipeline(""), false, Some(0), unread(Role::Program), true),
            (one(""), true, Some(0), unread(Role::Program), true),
            // `bash -c "$X" > out`: the code has no command.
            (one("bash"), true, None, code(), true),
            (one("bash"), false, None, code(), false),
            (one("exec"), true, Some(0), code(), true),
            (inner("script"), true, Some(0), code(), true),
            (inner("script"), false, Some(0), code(), false),
            (inner("substitution"), false, Some(0), code(), true),
        ] {
            let facts = facts(commands, is_redirect, at, ran);
            assert_eq!(unread_output(&facts).contains("/w/out"), expected, "{facts:?}");
        }
    }
}
