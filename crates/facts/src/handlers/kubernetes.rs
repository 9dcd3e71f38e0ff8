//! `kubectl` and `helm`: what is done to which resource. Sources: the reference of kubectl 1.32 and of Helm 3.16.

use castellan_event::{Effect, EffectKind};
use castellan_programs::{Arg, Attribute, Invocation, SlotRole};

use super::web;
use crate::sink::Sink;
use crate::slots;
use crate::url::Host;

use EffectKind::{Destroy, Mutate, Query};

/// Subcommands, some with their first operand, and what they do; the longer ones first.
const VERBS: &[(&str, Option<&str>, EffectKind)] = &[
    ("adm", Some("top"), Query),
    ("api-resources", None, Query),
    ("api-versions", None, Query),
    ("auth", Some("reconcile"), Mutate),
    ("auth", None, Query),
    ("certificate", None, Mutate),
    ("cluster-info", None, Query),
    ("delete", None, Destroy),
    ("describe", None, Query),
    ("diff", None, Query),
    ("events", None, Query),
    ("explain", None, Query),
    ("get", None, Query),
    ("idle", None, Mutate),
    ("logs", None, Query),
    ("rollout", Some("history"), Query),
    ("rollout", Some("status"), Query),
    ("top", None, Query),
    ("wait", None, Query),
    ("whoami", None, Query),
];

/// Subcommands that change nothing in the cluster, or whose effects the model has.
const NOTHING: &[&str] = &[
    "alpha",
    "attach",
    "completion",
    "config",
    "cp",
    "exec",
    "kustomize",
    "login",
    "logout",
    "options",
    "plugin",
    "port-forward",
    "proxy",
    "version",
];

/// Adds what the subcommand does, and the files that say what to.
pub(super) fn kubectl(read: &Invocation, _argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    for flag in ["--as", "--as-group", "--as-uid"] {
        read.values(flag)
            .for_each(|user| sink.on(EffectKind::Elevate, "kubernetes", "impersonate", Some(user)));
    }
    let files = read.values("--filename").chain(read.values("--kustomize")).chain(read.values("--from-file"));
    for file in files.filter(|file| file.as_str() != Some("-")) {
        let path = file.prefix().split_once('=').map_or(file.clone(), |(_, path)| Arg::known(path));
        if path.prefix().contains("://") {
            slots::url(EffectKind::Download, &path, sink);
        } else {
            sink.path(EffectKind::Read, &path);
        }
    }
    let Some(name) = read.subcommand.first().copied() else { return };
    let operands: Vec<&Arg> = read
        .operands
        .iter()
        .filter(|one| !matches!(one.slot.role, SlotRole::Command | SlotRole::Listen))
        .map(|one| &one.arg)
        .collect();
    if name == "config" {
        configuration(&operands, read, sink);
    }
    if name == "attach" || name == "rsh" {
        sink.on(EffectKind::Interactive, "kubernetes", name, operands.first().copied());
    }
    if name == "cp" {
        copied(&operands, sink);
    }
    if NOTHING.contains(&name) {
        return;
    }
    let first = operands.first().and_then(|arg| arg.as_str());
    let row = VERBS.iter().find(|(sub, second, _)| *sub == name && (second.is_none() || *second == first));
    let replaces = name == "replace" && read.is(Attribute::Force) || name == "apply" && read.given("--prune");
    let kind = if replaces { Destroy } else { row.map_or(Mutate, |(_, _, kind)| *kind) };
    let target = joined(&operands, matches!(name, "run" | "logs" | "drain" | "cordon" | "uncordon"));
    sink.on(kind, "kubernetes", name, target.as_ref());
}

/// `kubectl cp [NAMESPACE/]POD:PATH PATH`, or the other way round: `tar` reads the one in the container, and writes the other, with all
/// that lies below.
fn copied(operands: &[&Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    if let [from, to] = operands {
        copy(EffectKind::Download, EffectKind::Read, from, sink);
        copy(EffectKind::Upload, EffectKind::Write, to, sink);
    }
}

/// One side of it. `away`: what is done over the network where it is in a pod. `there`: what is done to the path.
fn copy(away: EffectKind, there: EffectKind, arg: &Arg, sink: &mut Sink<'_, '_, '_, '_>) {
    let Some((pod, _)) = arg.prefix().split_once(':').filter(|(pod, _)| !pod.is_empty()) else {
        return sink.path(there, arg);
    };
    let host = Host::parse(pod.rsplit('/').next().unwrap_or_default());
    let (target, host_class) = (Some(arg.written().into_owned()), Some(host.class));
    sink.add(Effect { kind: away, host: Some(host.name), host_class, target, ..Effect::default() });
    if let Some(path) = arg.strip_prefix(&format!("{pod}:")) {
        let before = std::mem::replace(&mut sink.remote, true);
        sink.path(there, &path);
        sink.remote = before;
    }
}

/// `pod web` as `pod/web`.
fn joined(operands: &[&Arg], is_plain: bool) -> Option<Arg> {
    const NAMES_MAX: usize = 20;
    let first = operands.first()?;
    if operands.len() == 1 || is_plain {
        return Some((*first).clone());
    }
    let written: Vec<_> = operands.iter().take(NAMES_MAX).map(|arg| arg.written()).collect();
    let is_unknown = operands.iter().find(|arg| arg.why().is_some());
    match is_unknown {
        Some(unknown) => Some((*unknown).clone()),
        None if first.written().contains('/') => Some(Arg::known(written.join(" "))),
        None => Some(Arg::known(written.join("/"))),
    }
}

/// `kubectl config`: the file that is read or changed.
fn configuration(operands: &[&Arg], read: &Invocation, sink: &mut Sink<'_, '_, '_, '_>) {
    let named = read.values("--kubeconfig").last().cloned();
    let file = named.unwrap_or_else(|| Arg::known(format!("{}/.kube/config", sink.scene.places.home())));
    let first = operands.first().and_then(|arg| arg.as_str()).unwrap_or_default();
    let asks = first.starts_with("get-") || matches!(first, "view" | "current-context" | "");
    sink.path(if asks { EffectKind::Read } else { EffectKind::Write }, &file);
}

/// `helm install` and its like: the release, and the chart where it comes from.
pub(super) fn helm(read: &Invocation, _argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let verb = read.subcommand.first().copied().unwrap_or_default();
    let mut operands = read.operands.iter().map(|operand| &operand.arg);
    let is_unnamed = read.given("--generate-name");
    let release = if is_unnamed { None } else { operands.next() };
    sink.on(Mutate, "helm", verb, release);
    if !matches!(verb, "install" | "upgrade") {
        return;
    }
    let Some(chart) = operands.next() else { return };
    let start = chart.prefix();
    if start.contains("://") {
        slots::url(EffectKind::Download, chart, sink);
    } else if start.starts_with(['.', '/']) {
        web::named(chart).into_iter().for_each(|path| sink.path(EffectKind::Read, &path));
    }
}
