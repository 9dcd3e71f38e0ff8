//! Exchanges with the project's own services that the autonomous profile permits: a request to a server of this machine,
//! a look at the project at its code host, a fetch, and the push of a branch of its own. Does not depend on rules.

use std::collections::BTreeSet;

use castellan_event::{CallRow, Command, Effect, EffectKind, HostClass};
use castellan_programs::System;

/// Verbs of effects, as the facts name them.
const PUSH: &str = "push";
const API: &str = "api-get";

/// The path of the repository around the working directory, in requests to a code host.
const OWN_REPOSITORY: &str = "repos/{owner}/{repo}/";

/// Flags with which a command of version control still transfers what it says, from and to where the settings say.
const TRANSFER_FLAGS: &[&str] = &[
    "--all",
    "--no-tags",
    "--progress",
    "--prune",
    "--quiet",
    "--set-upstream",
    "--tags",
    "--verbose",
    "-p",
    "-q",
    "-u",
    "-v",
];

/// Flags with which a look at a code host goes elsewhere, or shows the answer elsewhere.
const OTHER_PLACES: &[&str] = &["--hostname", "--repo", "--web", "-R", "-w"];

/// Ports on which servers of projects listen while people work on them. Servers of databases, secrets, container engines and
/// debuggers have others.
const OWN_PORTS: &[u16] = &[
    80, 443, 1234, 1313, 3000, 3001, 3002, 3003, 3030, 4000, 4200, 4321, 5000, 5001, 5173, 5174, 6006, 8000,
    8080, 8081, 8088, 8443, 8787, 9000, 9292,
];

/// Words in a path behind which servers show secrets, or control themselves.
const CONTROL_WORDS: &[&str] = &[
    "actuator",
    "admin",
    "config",
    "console",
    "credential",
    "debug",
    "dump",
    "env",
    "internal",
    "key",
    "password",
    "pprof",
    "secret",
    "session",
    "shutdown",
    "token",
];

/// The commands of a call that push only branches of their own.
#[derive(Debug, Default)]
pub(super) struct Pushes(BTreeSet<usize>);

impl Pushes {
    /// Finds them in the rows of a call. Pushes of tags, of shared branches and of unknown branches are excluded.
    pub(super) fn of(rows: &[CallRow<'_>]) -> Pushes {
        let effects = || rows.iter().filter_map(CallRow::effect);
        let is_push = |effect: &&Effect| effect.kind() == EffectKind::Upload && effect.system().is_some();
        let is_own = |command: &usize| {
            // An Opaque operand is judged by itself.
            let is_other = |effect: &&Effect| !is_push(effect) && !effect.is_opaque();
            let others = effects().filter(|effect| effect.command == Some(*command)).filter(is_other);
            let branches: Vec<bool> = others.map(is_own_branch).collect();
            !branches.is_empty() && branches.into_iter().all(|is_own| is_own)
        };
        Pushes(effects().filter(is_push).filter_map(|effect| effect.command).filter(is_own).collect())
    }
}

/// Reports whether an effect pushes one branch by its name, without force, and others do not build on it.
fn is_own_branch(effect: &Effect) -> bool {
    let shared = effect.system().and_then(System::find).map_or(&[][..], |system| system.shared_branches);
    let is_branch = |name: &str| {
        let is_plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_./".contains(&b));
        // A name like `v1.4` is a tag; `release/1` is a branch that others build on.
        let is_version = name.trim_start_matches('v').starts_with(|c: char| c.is_ascii_digit());
        let mut parts = name.split('/');
        let first = parts.next().unwrap_or_default();
        is_plain && !is_version && name != "HEAD" && !shared.contains(&first) && first != "refs"
    };
    !shared.is_empty()
        && effect.kind() == EffectKind::Mutate
        && effect.verb() == Some(PUSH)
        && effect.target().is_some_and(is_branch)
}

/// Reports whether an effect of a command is such an exchange.
pub(super) fn is_own_exchange(effect: &Effect, command: &Command, pushes: &Pushes) -> bool {
    let is_here = command.remote.is_none() && command.wrappers_are_neutral && command.env.is_empty();
    is_here
        && (is_of_own_server(effect)
            || is_transfer(effect, command, pushes)
            || is_of_code_host(effect, command))
}

/// Reports whether a request reads from a server of a project on this machine.
fn is_of_own_server(effect: &Effect) -> bool {
    let Some(url) = effect.remote().and_then(|remote| remote.url.as_deref()) else { return false };
    let (scheme, rest) = url.split_once("://").unwrap_or_default();
    let (place, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let port = match (place.rsplit_once(':'), scheme) {
        (Some((_, port)), "http" | "https") => port.parse().ok(),
        (None, "http") => Some(80),
        (None, "https") => Some(443),
        _ => None,
    };
    let path = path.to_ascii_lowercase();
    let is_request = matches!(effect.kind(), EffectKind::Connect | EffectKind::Download);
    is_request
        && effect.system().is_none()
        && effect.host_class() == Some(HostClass::Loopback)
        && port.is_some_and(|port| OWN_PORTS.contains(&port))
        // A part of a path may be written in another way.
        && !path.contains('%')
        && !CONTROL_WORDS.iter().any(|word| path.contains(word))
}

/// Reports whether an effect is of a fetch or a push, with a remote that the session has not set. A new remote has a verb.
fn is_transfer(effect: &Effect, command: &Command, pushes: &Pushes) -> bool {
    let is_push = || effect.command.is_some_and(|command| pushes.0.contains(&command));
    // The other effects of such a push are changes of its branches.
    if effect.kind() == EffectKind::Mutate {
        return is_push();
    }
    let is_transfer =
        effect.kind() == EffectKind::Download || effect.kind() == EffectKind::Upload && is_push();
    let is_of_versions =
        effect.system().and_then(System::find).is_some_and(|system| !system.shared_branches.is_empty());
    let is_name = |name: &str| name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
    is_transfer
        && is_of_versions
        && effect.verb().is_none()
        && effect.target().is_none_or(is_name)
        && command.flags.iter().all(|flag| TRANSFER_FLAGS.contains(&flag.as_str()))
}

/// Reports whether a query is about the project at its own code host.
fn is_of_code_host(effect: &Effect, command: &Command) -> bool {
    let Some(system) = effect.system().and_then(System::find) else { return false };
    let is_known = match effect.verb() {
        Some(API) => {
            effect.target().is_some_and(|path| path.starts_with(OWN_REPOSITORY) && !path.contains(".."))
        }
        verb => verb.is_some_and(|verb| system.host_queries.contains(&verb)),
    };
    effect.kind() == EffectKind::Query
        && !system.host_queries.is_empty()
        && is_known
        && !command.flag_spellings.iter().any(|flag| OTHER_PLACES.contains(&flag.as_str()))
}
