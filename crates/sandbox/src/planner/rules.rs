//! Landlock rules of a plan. Beside namespaces they are a second lock; without them they are the only one.

use std::path::Path;

use crate::bytes::Bytes;
use crate::landlock;
use crate::plan::{Landlock, Plan, Rule};
use crate::policy::Network;
use crate::survey::Kind;

use super::mounts::DEVICES;
use super::network::proxy;
use super::{Ground, starts_with_any};

pub(super) fn plan(ground: &Ground<'_>, plan: &Plan) -> Landlock {
    let version = ground.can.landlock;
    let mut rules = if plan.namespaces.is_some() { beside(ground) } else { alone(ground) };
    let write = landlock::write(version);
    rules.extend(ground.paths.writable.iter().map(|root| rule(root, write, false)));
    let own_network = plan.namespaces.is_some_and(|namespaces| namespaces.network);
    let restrict = !own_network && ground.policy.network != Network::Full;
    let ports = proxy(ground, plan).filter(|_| restrict);
    Landlock {
        files: landlock::handled(version),
        network: if restrict { landlock::network(version) } else { 0 },
        scopes: landlock::scopes(version),
        rules,
        ports: ports.map(|ports| vec![ports.http, ports.socks]).unwrap_or_default(),
        streams: landlock::stream(version),
    }
}

/// The directory of devices. Without namespaces it is closed but for the harmless ones.
pub(super) const ALL_DEVICES: &str = "/dev";

/// Rules in the view of the namespaces, which already holds only what can be read.
fn beside(ground: &Ground<'_>) -> Vec<Rule> {
    let version = ground.can.landlock;
    let mut rules = vec![rule(Path::new("/"), landlock::READ, false)];
    for place in &ground.paths.private {
        let mut rights = landlock::write(version);
        if place.ends_with("dev") {
            rights |= landlock::device(version);
        }
        rules.push(rule(place, rights, false));
    }
    rules
}

/// Rules without namespaces.
fn alone(ground: &Ground<'_>) -> Vec<Rule> {
    let version = ground.can.landlock;
    let paths = &ground.paths;
    let mut rules = Vec::new();
    if paths.everything {
        let mut secrets: Vec<&Path> = paths
            .hidden
            .iter()
            .filter(|hidden| hidden.seen.kind != Kind::Missing && !hidden.socket)
            .map(|hidden| hidden.seen.real.as_path())
            .filter(|real| !starts_with_any(real, &paths.writable))
            .collect();
        // Root could open disks and memory devices.
        secrets.push(Path::new(ALL_DEVICES));
        readable(ground, Path::new("/"), &secrets, &mut rules);
    } else {
        rules.extend(paths.readable.iter().map(|(_, seen)| rule(&seen.real, landlock::READ, false)));
        rules.push(rule(Path::new("/proc"), landlock::READ, true));
    }
    let device = landlock::device(version);
    rules.extend(DEVICES.iter().map(|path| rule(Path::new(path), device, true)));
    rules.extend(["/dev/ptmx", "/dev/pts"].map(|path| rule(Path::new(path), device, true)));
    if ground.policy.files.private_tmp {
        rules.push(rule(&ground.survey.scratch, landlock::write(version), false));
    }
    rules
}

/// Reports whether rules without namespaces permit more of `/dev` than the harmless devices.
pub(super) fn shows_devices(ground: &Ground<'_>) -> bool {
    let (paths, devices) = (&ground.paths, Path::new(ALL_DEVICES));
    let mut shown = paths.writable.iter().chain(paths.readable.iter().map(|(_, seen)| &seen.real));
    let listed = ground.survey.siblings.get(Path::new("/")).is_some_and(Option::is_some);
    (paths.everything && !listed) || shown.any(|path| path.starts_with(devices) || devices.starts_with(path))
}

/// Permits a directory, or the entries beside its secrets.
fn readable(ground: &Ground<'_>, directory: &Path, secrets: &[&Path], rules: &mut Vec<Rule>) {
    if secrets.contains(&directory) {
        return;
    }
    if !secrets.iter().any(|secret| secret.starts_with(directory)) {
        rules.push(rule(directory, landlock::READ, true));
        return;
    }
    // The report says that a secret is not enforced where its directory cannot be listed.
    let Some(Some(entries)) = ground.survey.siblings.get(directory) else {
        rules.push(rule(directory, landlock::READ, true));
        return;
    };
    for (name, kind) in entries {
        match kind {
            Kind::Directory | Kind::File => readable(ground, &directory.join(name), secrets, rules),
            Kind::Link | Kind::Missing => {}
        }
    }
}

fn rule(path: &Path, rights: u64, optional: bool) -> Rule {
    Rule { path: Bytes::from(path), rights, optional }
}
