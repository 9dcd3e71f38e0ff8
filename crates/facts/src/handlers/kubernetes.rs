//! `kubectl` and `helm`: what is done to which resource. Sources: the reference of kubectl 1.32 and of Helm 3.16.

use castellan_event::{EffectKind, Operation, Remote};
use castellan_programs::lexicons::{kind_of, kubernetes};
use castellan_programs::{Arg, Attribute, Invocation, SlotRole};

use super::web;
use crate::sink::Sink;
use crate::targets;
use crate::url::Host;

use EffectKind::{Destroy, Mutate};

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
            targets::url(EffectKind::Download, &path, sink);
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
    if kubernetes::NOTHING.contains(&name) {
        return;
    }
    let first = operands.first().and_then(|arg| arg.as_str());
    let known = first.and_then(|first| kind_of(kubernetes::KINDS, &format!("{name} {first}")));
    let known = known.or_else(|| kind_of(kubernetes::KINDS, name));
    let replaces = name == "replace" && read.is(Attribute::Force) || name == "apply" && read.given("--prune");
    let kind = if replaces { Destroy } else { known.unwrap_or(Mutate) };
    let is_plain = matches!(name, "run" | "logs" | "drain" | "cordon" | "uncordon");
    let is_after_word = kubernetes::OF_RESOURCES_AFTER_WORD.contains(&name);
    let targets = match kubernetes::OF_RESOURCES.contains(&name) || is_after_word {
        true => resources(&operands, usize::from(is_after_word)),
        false if name == "create" => joined(&operands, false).iter().map(|made| resource(made, "")).collect(),
        false => joined(&operands, is_plain),
    };
    if targets.is_empty() {
        sink.on(kind, "kubernetes", name, None);
    }
    for target in targets {
        sink.on(kind, "kubernetes", name, Some(&target));
    }
}

/// The resources that operands name, each as `TYPE/NAME` or, where all or those of a selector are meant, `TYPE`. The
/// first `own` operands are the subcommand's, and stand before them: `rollout undo deployment/web`.
fn resources(operands: &[&Arg], own: usize) -> Vec<Arg> {
    let (own, named) = operands.split_at(own.min(operands.len()));
    let before: String = own.iter().map(|arg| format!("{}/", arg.written())).collect();
    // `label pod web tier=front old-` names one resource.
    let is_value =
        |arg: &Arg| arg.prefix().contains('=') || arg.as_str().is_some_and(|text| text.ends_with('-'));
    let named: Vec<&Arg> = named.iter().copied().filter(|arg| !is_value(arg)).collect();
    let Some((first, names)) = named.split_first() else { return joined(operands, true) };
    if let Some(unknown) = own.iter().chain(&named).find(|arg| arg.why().is_some()) {
        return vec![(*unknown).clone()];
    }
    let first = first.written();
    if first.contains('/') {
        return named.iter().map(|arg| resource(arg, &before)).collect();
    }
    let of_type = |kind: &str| match names {
        [] => vec![format!("{before}{}", singular(kind))],
        names => names.iter().map(|name| format!("{before}{}/{}", singular(kind), name.written())).collect(),
    };
    first.split(',').flat_map(of_type).map(Arg::known).collect()
}

/// A resource of the form `TYPE/NAME`, as far as it is known.
fn resource(arg: &Arg, before: &str) -> Arg {
    match arg.as_str().map(|text| text.split_once('/').unwrap_or((text, ""))) {
        None => arg.clone(),
        Some((kind, "")) => Arg::known(format!("{before}{}", singular(kind))),
        Some((kind, name)) => Arg::known(format!("{before}{}/{name}", singular(kind))),
    }
}

/// A type as it is usually called: `deployments.v1.apps` is `deployment`.
fn singular(kind: &str) -> String {
    let kind = kind.to_ascii_lowercase();
    let plain = kind.split('.').next().unwrap_or_default();
    let known = kubernetes::TYPES.iter().find(|(name, others)| *name == plain || others.contains(&plain));
    known.map_or(plain, |(name, _)| name).to_owned()
}

/// `kubectl cp [NAMESPACE/]POD:PATH PATH`, or the other way round: `tar` reads the one in the container, and writes the
/// other, with all that lies below.
fn copied(operands: &[&Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    if let [from, to] = operands {
        copy(EffectKind::Download, EffectKind::Read, from, sink);
        let before = sink.mode.recursive.replace(true);
        copy(EffectKind::Upload, EffectKind::Write, to, sink);
        sink.mode.recursive = before;
    }
}

/// One side of it. `away`: what is done over the network where it is in a pod. `there`: what is done to the path.
fn copy(away: EffectKind, there: EffectKind, arg: &Arg, sink: &mut Sink<'_, '_, '_, '_>) {
    let Some((pod, _)) = arg.prefix().split_once(':').filter(|(pod, _)| !pod.is_empty()) else {
        return sink.path(there, arg);
    };
    let host = Host::parse(pod.rsplit('/').next().unwrap_or_default());
    let (target, host_class) = (Some(arg.written().into_owned()), Some(host.class));
    let to = Remote { host: Some(host.name), class: host_class, url: None };
    sink.add_remote(Operation { target, ..Operation::of(away) }, to);
    if let Some(path) = arg.strip_prefix(&format!("{pod}:")) {
        let before = std::mem::replace(&mut sink.setup.remote, true);
        sink.path(there, &path);
        sink.setup.remote = before;
    }
}

/// Operands that name no resources: `certificate approve x` as `approve/x`.
fn joined(operands: &[&Arg], is_plain: bool) -> Vec<Arg> {
    let Some(first) = operands.first() else { return Vec::new() };
    if is_plain {
        return vec![(*first).clone()];
    }
    let unknown = operands.iter().find(|arg| arg.why().is_some());
    let all = || operands.iter().map(|arg| arg.written()).collect::<Vec<_>>().join("/");
    vec![unknown.map_or_else(|| Arg::known(all()), |arg| (*arg).clone())]
}

/// `kubectl config`: the file that is read or changed.
fn configuration(operands: &[&Arg], read: &Invocation, sink: &mut Sink<'_, '_, '_, '_>) {
    let named = read.values("--kubeconfig").last().cloned();
    let file =
        named.unwrap_or_else(|| Arg::known(format!("{}/.kube/config", sink.scene.session.places.home())));
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
        targets::url(EffectKind::Download, chart, sink);
    } else if start.starts_with(['.', '/']) {
        web::named(chart).into_iter().for_each(|path| sink.path(EffectKind::Read, &path));
    }
}
