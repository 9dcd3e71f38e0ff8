//! [`CallClass`]: the common traits of calls that a person answers alike. Two equal approvals offer a grant for the
//! class. It must not know how approvals are counted or grants are stored.

use std::collections::BTreeSet;
use std::fmt;

use castellan_event::{
    Command, Doubt, Effect, EffectKind, Exemption, Facts, FileOrigin, Finding, Layer, Object, Role, Scope,
    Verdict, Why,
};

use castellan_programs::find;

use crate::limits::{CLASS_BYTES_MAX, CLASS_WORDS_MAX};

/// Identifies calls with equal findings, programs, kinds of effects and roots. Each list is sorted, without duplicates.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct CallClass {
    /// The rules of the findings that ask, or the codes of findings without a rule, each with its layer.
    pub findings: Vec<String>,
    /// Names of the programs, or of the tool if the call runs none.
    pub programs: Vec<String>,
    /// Kinds of the effects, with the system and the verb where the effect has them.
    pub kinds: Vec<String>,
    /// Directories, hosts, scripts and other objects of the effects.
    pub roots: Vec<String>,
}

/// The root of every path inside the workspace.
const WORKSPACE: &str = "the workspace";

/// The root of a tool of an MCP server: the class does not name what the tool gets.
const ANY_INPUT: &str = "any input";

impl CallClass {
    /// Returns the class of a call that castellan asks about. `None` if a grant must never be wider than one call:
    /// secrets, guarded files, changes on other machines, downloaded code, and objects that are not known.
    pub(crate) fn of(tool: &str, facts: &Facts, findings: &[Finding]) -> Option<CallClass> {
        let asking = findings.iter().filter(|finding| finding.counts() && finding.stops());
        let named: Option<BTreeSet<String>> = asking.map(asked_by).collect();
        let findings = named.filter(|named| !named.is_empty())?;
        // A variable in front may change the work of a program as much as an argument does.
        let is_plain = |command: &Command| {
            command.remote.is_none() && command.wrappers_are_neutral && command.env.is_empty()
        };
        if !facts.commands.iter().all(is_plain) || !facts.secret_copies.is_empty() || !facts.unread.is_empty()
        {
            return None;
        }
        let programs: Option<BTreeSet<String>> = match facts.commands.as_slice() {
            [] => Some(BTreeSet::from([tool.to_owned()])),
            commands => commands.iter().map(program).collect(),
        };
        let roots: Option<BTreeSet<String>> =
            facts.effects.iter().map(|effect| root(effect, facts)).collect();
        let scripts = facts.scripts.iter().map(|script| script.path.clone());
        let sorted = |words: BTreeSet<String>| words.into_iter().collect::<Vec<_>>();
        let class = CallClass {
            findings: sorted(findings),
            programs: sorted(programs?),
            kinds: sorted(facts.effects.iter().map(kind).collect()),
            roots: sorted(roots?.into_iter().chain(scripts).filter(|root| !root.is_empty()).collect()),
        };
        class.is_short().then_some(class)
    }

    /// Reports whether a person can read the whole class.
    fn is_short(&self) -> bool {
        let lists = [&self.findings, &self.programs, &self.kinds, &self.roots];
        let bytes = lists.iter().flat_map(|list| list.iter()).map(String::len).sum::<usize>();
        bytes <= CLASS_BYTES_MAX && lists.iter().all(|list| list.len() <= CLASS_WORDS_MAX)
    }
}

/// Prints one line for the person who may grant the class.
impl fmt::Display for CallClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CallClass { findings, programs, kinds, roots } = self;
        let of = |words: &[String]| words.join(", ");
        write!(f, "{} of {}; effects: {}; on: {}", of(findings), of(programs), of(kinds), of(roots))
    }
}

/// Returns the name of a finding that a person may lift; `None` for any other finding.
fn asked_by(finding: &Finding) -> Option<String> {
    let is_offered = finding.verdict == Verdict::Ask && finding.is_liftable_by(Exemption::Grant);
    let name = if finding.rule.is_empty() { finding.code.as_str() } else { &finding.rule };
    let layer = finding.layer.map_or(String::new(), |layer: Layer| format!(" ({})", layer.as_str()));
    is_offered.then(|| format!("{name}{layer}"))
}

/// Returns a program with its subcommand: `git push` and `git clean` are two programs here. The first word of a program
/// without a model may be one.
fn program(command: &Command) -> Option<String> {
    let name = command.name.as_deref()?;
    let first = || command.args.iter().find(|arg| !arg.starts_with('-')).map(String::as_str);
    let subcommand = command.subcommand.as_deref().or_else(|| find(name).map_or_else(first, |_| None));
    Some(subcommand.map_or(name.to_owned(), |subcommand| format!("{name} {subcommand}")))
}

fn kind(effect: &Effect) -> String {
    let depth = effect.is_recursive().then_some("recursive");
    let words = [Some(effect.kind().as_str()), depth, effect.system(), effect.verb()];
    words.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// Returns the root of an effect's object; empty if the effect has no object. `None` if the class must not be granted.
fn root(effect: &Effect, facts: &Facts) -> Option<String> {
    let is_downloaded = effect.file_origin() == Some(FileOrigin::Downloaded)
        || matches!(effect.why(), Some(Why::Network | Why::Secret));
    if is_downloaded || effect.guard().is_some() || !is_offered(effect.kind()) {
        return None;
    }
    match &effect.object {
        Object::File(file) if file.sent_to.is_none() => {
            of_path(effect, file.path.as_deref()?, file.scope?, file.place?)
        }
        Object::File(_) => None,
        Object::Remote(_) | Object::Target if changes_a_system(effect.kind()) => None,
        Object::Remote(remote) => remote.host.clone(),
        Object::Repository { place, .. } => (*place == Some(Scope::Workspace)).then(|| repository(effect)),
        Object::Package { name, .. } => name.clone(),
        Object::Target if effect.kind() == EffectKind::Mcp => Some(ANY_INPUT.to_owned()),
        Object::Target => Some(effect.target().unwrap_or_default().to_owned()),
        Object::Unknown(doubt) => of_unknown(effect, *doubt, facts),
    }
}

/// Returns the root of an Opaque part: a tool or program without a model by its name, or the project's script around
/// the part. Any other Opaque part may be something else in the next call, also in a script that a session wrote.
fn of_unknown(effect: &Effect, doubt: Doubt, facts: &Facts) -> Option<String> {
    let is_named = match (doubt.role, doubt.why) {
        (Some(Role::Tool), _) => true,
        // No role: the program runs unread.
        (Some(Role::Program) | None, why) => {
            matches!(why, Why::Unresolved | Why::Unreadable | Why::Unsupported)
        }
        (Some(Role::Target | Role::Code | Role::Operand), _) => false,
    };
    if is_named {
        return effect.target().map(str::to_owned);
    }
    let script = effect.script_path()?;
    facts.own_scripts.contains(script).then(|| script.to_owned())
}

/// Returns the root of a change in the workspace's repository: with the branch or other object that it names.
fn repository(effect: &Effect) -> String {
    effect.target().map_or(WORKSPACE.to_owned(), |target| format!("{target} in {WORKSPACE}"))
}

/// Reports whether effects of a kind may be granted for more than one call.
fn is_offered(kind: EffectKind) -> bool {
    match kind {
        EffectKind::Read
        | EffectKind::Write
        | EffectKind::Delete
        | EffectKind::Link
        | EffectKind::Permission
        | EffectKind::Execute
        | EffectKind::Connect
        | EffectKind::Download
        | EffectKind::Listen
        | EffectKind::Install
        | EffectKind::Query
        | EffectKind::Mutate
        | EffectKind::Destroy
        | EffectKind::Signal
        | EffectKind::Mcp
        | EffectKind::Opaque => true,
        EffectKind::Interactive
        | EffectKind::Upload
        | EffectKind::Elevate
        | EffectKind::Publish
        | EffectKind::Service
        | EffectKind::Schedule
        | EffectKind::Detach
        | EffectKind::Inject
        | EffectKind::Spawn
        | EffectKind::Environment => false,
    }
}

/// Reports whether an effect of a kind that names no file, repository or package may change another machine.
fn changes_a_system(kind: EffectKind) -> bool {
    matches!(kind, EffectKind::Mutate | EffectKind::Destroy)
}

/// Returns the workspace, or the directory of a path. The path itself is the root of a recursive removal in the
/// workspace, and of a change directly below the home or near the root of the file system: a grant for such a directory
/// would be too wide.
fn of_path(effect: &Effect, path: &str, scope: Scope, place: Scope) -> Option<String> {
    let is_open = match scope {
        Scope::Workspace | Scope::Temporary | Scope::Home | Scope::System | Scope::Outside => true,
        Scope::Castellan
        | Scope::Secret
        | Scope::Agent
        | Scope::Startup
        | Scope::Hijack
        | Scope::Vcs
        | Scope::Root
        | Scope::Device
        | Scope::Network => false,
    };
    if !is_open {
        return None;
    }
    let removes = matches!(effect.kind(), EffectKind::Delete | EffectKind::Destroy | EffectKind::Permission);
    if place == Scope::Workspace && !removes {
        return Some(WORKSPACE.to_owned());
    }
    let directory = path.rsplit_once('/').map(|(directory, _)| directory)?;
    let is_deep = directory.split('/').filter(|name| !name.is_empty()).count() >= DEPTH_MIN;
    let is_whole =
        !is_deep && effect.kind() != EffectKind::Read || place == Scope::Workspace && effect.is_recursive();
    Some(if is_whole { path } else { directory }.to_owned())
}

/// Names of the shortest directory that is a root: `/home/ann/notes`.
const DEPTH_MIN: usize = 3;

#[cfg(test)]
mod tests;
