//! [`scope_of`]: the effect scope of a proposed plan, from the facts of its snippets. The caller analyses them.

use std::collections::BTreeSet;

use castellan_event::{Command, Effect, EffectKind, Facts, lexical_path};

use crate::call::CallView;
use crate::check::{Branches, CheckedOut, is_steering};
use crate::covers::covers;
use crate::departure::Departure;
use crate::limits::{SCOPE_BYTES_MAX, TEXT_BYTES_MAX};
use crate::pattern::{BranchPattern, CommandPattern, HostPattern, PathPattern, below, matched_below};
use crate::plan::{Allowed, Plan, PlanParts};
use crate::snippets::{Snippet, SnippetKind};

/// A snippet with its facts; `None` if the caller did not analyse it.
#[derive(Debug, Clone, Copy)]
pub struct Analysed<'a> {
    /// The snippet.
    pub snippet: &'a Snippet,
    /// Commands and effects of its text in the workspace.
    pub facts: Option<&'a Facts>,
}

/// A proposed plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// The plan with the scope of all snippets. It has every list, so it permits nothing else.
    pub plan: Plan,
    /// Snippets that the plan does not cover, each with the reasons.
    pub not_covered: Vec<NotCovered>,
}

/// A snippet that a plan does not cover.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotCovered {
    /// The snippet.
    pub snippet: Snippet,
    /// The reasons; empty for a snippet that was not analysed.
    pub outside: Vec<Departure>,
}

/// Builds a plan that permits the commands, written paths, hosts and branches of snippets. A path in the workspace that
/// the text names may be written. `root` is the workspace, `branch` the branch that is checked out there. A word that
/// was not analysed is ignored: it is rarely a command.
pub fn scope_of(analysed: &[Analysed<'_>], root: &str, branch: Option<&str>) -> Proposal {
    let mut scope = Scopes::default();
    for Analysed { snippet, facts } in analysed {
        match facts {
            Some(facts) => scope.add(&view(facts, root, branch)),
            None if snippet.kind == SnippetKind::Path => scope.add_path(&snippet.text, root),
            None => {}
        }
    }
    let plan = Plan::from(PlanParts { own: scope.allowed(), ..PlanParts::default() });
    let outside = |one: &Analysed<'_>| match one.facts {
        Some(facts) => {
            Some(covers(&plan, &view(facts, root, branch)).outside).filter(|outside| !outside.is_empty())
        }
        None => match one.snippet.kind {
            SnippetKind::Block | SnippetKind::Inline | SnippetKind::Unread => Some(Vec::new()),
            SnippetKind::Path => relative(&one.snippet.text, root).is_none().then(Vec::new),
            SnippetKind::Word => None,
        },
    };
    let not_covered = analysed
        .iter()
        .filter_map(|one| outside(one).map(|outside| NotCovered { snippet: one.snippet.clone(), outside }));
    Proposal { not_covered: not_covered.collect(), plan }
}

/// The call of a snippet, without a plan.
fn view<'a>(facts: &'a Facts, root: &'a str, branch: Option<&'a str>) -> CallView<'a> {
    CallView { facts, root, branch, calls_so_far: 0, started_s: 0, now_s: 0 }
}

/// The texts of patterns, each once.
#[derive(Default)]
struct Scopes {
    commands: BTreeSet<String>,
    writes: BTreeSet<String>,
    hosts: BTreeSet<String>,
    branches: BTreeSet<String>,
}

impl Scopes {
    fn add(&mut self, view: &CallView<'_>) {
        let (facts, root) = (view.facts, view.root);
        let checked_out = CheckedOut::of(view);
        self.commands.extend(facts.commands.iter().filter_map(|command| command_text(command, root)));
        for effect in &facts.effects {
            let is_change = matches!(
                effect.kind(),
                EffectKind::Write | EffectKind::Delete | EffectKind::Link | EffectKind::Permission
            );
            self.writes
                .extend(effect.path().filter(|_| is_change).and_then(|path| path_text(effect, path, root)));
            self.hosts.extend(effect.host().map(str::to_owned));
            if matches!(effect.kind(), EffectKind::Mutate | EffectKind::Destroy)
                && let Branches::Some(names) = Branches::of(effect, facts, &checked_out)
            {
                self.branches.extend(names.into_iter().flatten());
            }
        }
    }

    fn add_path(&mut self, path: &str, root: &str) {
        self.writes.extend(relative(path, root));
    }

    fn allowed(&self) -> Allowed {
        let mut left = SCOPE_BYTES_MAX;
        Allowed {
            commands: Some(parsed(&self.commands, &mut left, |text| CommandPattern::parse(text).ok())),
            writes: Some(parsed(&self.writes, &mut left, |text| PathPattern::parse(text).ok())),
            hosts: Some(parsed(&self.hosts, &mut left, |text| HostPattern::parse(text).ok())),
            branches: Some(parsed(&self.branches, &mut left, |text| BranchPattern::parse(text).ok())),
        }
    }
}

/// Parses texts while bytes are left. A text that is no pattern, or is too long, is left out; its snippet is then not
/// covered.
fn parsed<T>(texts: &BTreeSet<String>, left: &mut usize, parse: fn(&str) -> Option<T>) -> Vec<T> {
    let mut list = Vec::new();
    for text in texts.iter().filter(|text| text.len() <= TEXT_BYTES_MAX) {
        // An entry costs a line, too.
        let Some(rest) = left.checked_sub(text.len() + ENTRY_BYTES) else { break };
        *left = rest;
        list.extend(parse(text));
    }
    list
}

/// Bytes of an entry beside its text. They also bound the number of entries.
const ENTRY_BYTES: usize = 32;

/// Returns the pattern of a command. A program of the workspace has its path, so that it is not one of the machine.
fn command_text(command: &Command, root: &str) -> Option<String> {
    let name = command.name.as_deref().filter(|_| !is_steering(command))?;
    let local = command.path.as_deref().and_then(|path| below(root, path));
    let head = local.map_or_else(|| name.to_owned(), |path| format!(".{path}"));
    Some(CommandPattern::exact(&head, &command.args).text())
}

/// Returns the pattern of a written path. A shell's pattern other than `*` is one of the directory above.
fn path_text(effect: &Effect, path: &str, root: &str) -> Option<String> {
    let path = if effect.command.is_some() { matched_below(path) } else { path };
    match below(root, path) {
        Some("") => Some(".".to_owned()),
        Some(rest) => Some(format!(".{rest}")),
        None => Some(format!("/{path}")),
    }
}

/// Returns a path of the workspace, relative to it. `None` for any other, and for the workspace itself.
fn relative(path: &str, root: &str) -> Option<String> {
    if path.starts_with('~') {
        return None;
    }
    let whole = lexical_path(root, path);
    below(root, &whole).filter(|rest| !rest.is_empty()).map(|rest| format!(".{rest}"))
}
