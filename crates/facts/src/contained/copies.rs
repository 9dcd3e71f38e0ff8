//! Copies of files that contained commands wrote. The name of a copy shows nothing, so each file that a call writes is one if
//! the call also reads such a file. A call may run what it copies under any name. It must not know what runs files.

use std::collections::BTreeSet;

use castellan_event::{ContainedCopies, Effect, EffectKind, Facts};
use castellan_programs::Arg;
use castellan_shell::Run;

use crate::changed::{ChangedPath, OPEN, directories, may_be_anywhere, may_meet};
use crate::owner;
use crate::path;
use crate::scene::Scene;
use crate::scripts;

/// Actions of version control that put stored contents of the repository into an output or another directory. They name
/// no file of the repository.
const TAKES_OUT: &[&str] = &[
    "am",
    "archive",
    "blame",
    "bundle",
    "cat",
    "cat-file",
    "checkout-index",
    "clone",
    "diff",
    "export",
    "fast-export",
    "format-patch",
    "log",
    "push",
    "read-tree",
    "show",
    "stash",
    "whatchanged",
    "worktree-add",
];

/// Subcommands of git that put an object of any origin into the index or a tree, under a name of their own.
const NAMES_OBJECTS: &[&str] = &["commit-tree", "fast-import", "mktree", "update-index"];

/// Arguments and variables of git that name another repository or work tree than the one around the directory.
const ELSEWHERE: &[&str] = &["-C", "--git-dir", "--work-tree"];

/// Notices a command of version control. `own`: the effects of its arguments. `work_tree`: the one that it names.
pub(crate) fn of_command(run: &Run, own: &[Effect], work_tree: Option<Arg>, scene: &mut Scene<'_, '_, '_>) {
    if scene.session.setting.contained.is_empty() || !run.remote.is_empty() {
        return;
    }
    let verbs = || own.iter().filter(|effect| effect.system().is_some()).filter_map(Effect::verb);
    let words = || run.argv.iter().filter_map(Arg::as_str);
    let is_elsewhere = words().any(|word| ELSEWHERE.iter().any(|option| word.starts_with(option)))
        || run.env.iter().any(|(variable, _)| variable.starts_with("GIT_"));
    let takes_out = verbs().any(|verb| TAKES_OUT.contains(&verb));
    if takes_out || is_elsewhere {
        let root = run.cwd.clone().filter(|_| !is_elsewhere).map(|cwd| owner::root(cwd, scene));
        let main = root.as_deref().and_then(|root| main_tree(root, scene));
        // Any repository.
        let root = root.unwrap_or_else(|| "/".to_owned());
        scene.taken.reads.extend(main.into_iter().chain([root]));
    }
    let fills = own.iter().any(|effect| owner::changes_tree(&effect.op));
    let names_objects = words().any(|word| NAMES_OBJECTS.contains(&word));
    if (fills || names_objects)
        && let Some(cwd) = run.cwd.clone()
    {
        let root = owner::root(cwd, scene);
        // A linked work tree gets what was committed in the main one.
        let main = main_tree(&root, scene);
        if names_objects || main.is_some() {
            scene.taken.reads.extend(main.into_iter().chain(names_objects.then(|| root.clone())));
            scene.taken.filled.insert(root);
        }
    }
    if let Some(named) = work_tree.filter(|_| fills) {
        let known = named.as_str().and_then(|named| path::collapse(run.cwd.as_deref(), named));
        let anywhere = || ChangedPath::Anywhere(&scene.session.setting.workspace).stored();
        scene.taken.filled.insert(known.unwrap_or_else(anywhere));
    }
    let marks = ContainedMarks::of(&scene.session.setting.contained);
    let reads = own.iter().filter(|effect| effect.kind() == EffectKind::Read).filter_map(Effect::path);
    let reads_one = reads.into_iter().any(|path| marks.may_be(path));
    // `git add` and `git mv` read the files that they name, and change no others.
    scene.taken.is_patched |= reads_one && fills;
}

/// Returns the contained files that the call reads, and the files that it writes. `is_version_control`: by the name of a
/// program.
pub(crate) fn of_call(
    scene: &mut Scene<'_, '_, '_>,
    facts: &Facts,
    is_version_control: fn(&str) -> bool,
) -> ContainedCopies {
    if scene.session.setting.contained.is_empty() {
        return ContainedCopies::default();
    }
    let marks = ContainedMarks::of(&scene.session.setting.contained);
    let taken = std::mem::take(&mut scene.taken);
    let command = |effect: &Effect| facts.commands.get(effect.command?);
    let is_here = |effect: &&Effect| command(effect).is_none_or(|command| command.remote.is_none());
    let here = || facts.effects.iter().filter(is_here);
    let reads = here().filter(|effect| effect.kind() == EffectKind::Read).filter_map(Effect::path);
    let links = here().filter(|effect| effect.kind() == EffectKind::Link).filter_map(Effect::target);
    let reads: BTreeSet<&str> = reads.chain(links).chain(taken.reads.iter().map(String::as_str)).collect();
    let from: BTreeSet<String> =
        reads.into_iter().filter(|path| marks.may_be(path)).map(str::to_owned).collect();
    if from.is_empty() {
        return ContainedCopies::default();
    }
    let is_of_git = |effect: &Effect, path: &str| {
        let name = command(effect).and_then(|command| command.name.as_deref());
        path.split('/').any(|name| name == ".git") && name.is_some_and(is_version_control)
    };
    let workspace = scene.session.setting.workspace.as_str();
    let writes = here().filter(|effect| matches!(effect.kind(), EffectKind::Write | EffectKind::Link));
    let mut into: BTreeSet<String> = writes
        .filter_map(|effect| match effect.path() {
            Some("/") => Some("/".to_owned()),
            Some(path) => (!is_of_git(effect, path)).then(|| path.trim_end_matches('/').to_owned()),
            None => (!workspace.is_empty()).then(|| ChangedPath::Anywhere(workspace).stored()),
        })
        .collect();
    into.extend(taken.filled);
    into.extend(facts.changed_trees.iter().filter(|_| taken.is_patched).cloned());
    let from = if into.is_empty() { BTreeSet::new() } else { from };
    ContainedCopies { from, into }
}

/// Returns the main work tree of a linked one, or the repository around a submodule.
fn main_tree(root: &str, scene: &mut Scene<'_, '_, '_>) -> Option<String> {
    let text = scripts::data(&format!("{}/.git", root.trim_end_matches('/')), scene).ok()?;
    let directory = path::collapse(Some(root), text.strip_prefix("gitdir:")?.trim())?;
    directory.rfind("/.git/").and_then(|at| directory.get(..at)).map(str::to_owned)
}

/// Files of contained commands, for many comparisons.
#[derive(Debug)]
pub struct ContainedMarks<'m> {
    all: &'m BTreeSet<String>,
    /// The patterns among them.
    open: Vec<&'m str>,
}

impl<'m> ContainedMarks<'m> {
    /// Prepares the comparisons.
    pub fn of(all: &'m BTreeSet<String>) -> ContainedMarks<'m> {
        ContainedMarks {
            all,
            open: all.iter().map(String::as_str).filter(|mark| mark.contains(OPEN)).collect(),
        }
    }

    /// Reports whether a path is one of these files, or is below one.
    pub fn is(&self, path: &str) -> bool {
        directories(path).any(|above| self.all.contains(above))
            || may_be_anywhere(self.all, path)
            || self.open.iter().any(|mark| may_meet(mark, path))
    }

    /// Reports whether a path that a call reads is one of these files, is below one, or has one below it. The path may be a
    /// pattern.
    pub fn may_be(&self, path: &str) -> bool {
        let known = path.find(OPEN).and_then(|at| path.get(..at));
        let begin = known.map_or_else(|| format!("{}/", path.trim_end_matches('/')), str::to_owned);
        let mut below =
            self.all.range(begin.clone()..).map(String::as_str).take_while(|mark| mark.starts_with(&begin));
        self.is(path) || below.any(|mark| known.is_none() || may_meet(path, mark))
    }
}
