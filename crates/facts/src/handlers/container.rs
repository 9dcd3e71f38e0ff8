//! `docker run` and `docker build`: what of this machine a container gets. Sources: the manuals of Docker 28 and Podman
//! 5.

use castellan_event::{EffectKind, Operation, Role};
use castellan_programs::{Arg, Invocation};

use super::web;
use crate::guard::BOUND;
use crate::sink::Sink;
use crate::targets;

/// Options with a value that takes down a wall of the container.
const BREAKS: &[(&str, &[&str])] = &[
    ("--pid", &["host"]),
    ("--network", &["host"]),
    ("--net", &["host"]),
    ("--ipc", &["host"]),
    ("--uts", &["host"]),
    ("--userns", &["host"]),
    ("--cgroupns", &["host"]),
    (
        "--security-opt",
        &[
            "apparmor=unconfined",
            "apparmor:unconfined",
            "label=disable",
            "label:disable",
            "seccomp=unconfined",
            "seccomp:unconfined",
            "systempaths=unconfined",
        ],
    ),
];

/// Files by which a container runs the engine that runs it.
const SOCKETS: &[&str] = &["docker.sock", "podman.sock", "containerd.sock", "crio.sock"];

/// What `run` and `create` hand into the container.
pub(super) fn run(read: &Invocation, _argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    for flag in ["--privileged", "--use-api-socket"] {
        let given = read.options.iter().rfind(|used| used.option.flags.contains(&flag));
        let is_off = given
            .is_some_and(|used| used.value.as_ref().is_some_and(|value| value.as_str() == Some("false")));
        if given.is_some() && !is_off {
            sink.on(EffectKind::Elevate, "docker", flag.trim_start_matches('-'), None);
        }
    }
    for (flag, values) in BREAKS {
        for value in read.values(flag) {
            let is_known = value.as_str().is_some_and(|text| !values.contains(&text));
            if !is_known {
                sink.on(EffectKind::Elevate, "docker", flag.trim_start_matches('-'), Some(value));
            }
        }
    }
    for flag in ["--cap-add", "--device"] {
        for value in read.values(flag) {
            sink.on(EffectKind::Elevate, "docker", flag.trim_start_matches('-'), Some(value));
        }
    }
    for device in read.values("--device") {
        let device = device.prefix().split(':').next().unwrap_or_default();
        if device.starts_with('/') {
            sink.path(EffectKind::Write, &Arg::known(device));
        }
    }
    read.values("--volume").for_each(|value| volume(value, sink));
    read.values("--mount").for_each(|value| mount(value, sink));
    for device in read.values("--opt").filter_map(|value| value.strip_prefix("device=")) {
        bound(&device, false, sink);
    }
}

/// `source:destination[:ro]`; a source that is no path is the name of a volume.
fn volume(value: &Arg, sink: &mut Sink<'_, '_, '_, '_>) {
    let Some(text) = value.as_str() else {
        let known = value.prefix();
        let source = known.split_once(':').map(|(source, _)| source);
        match source {
            Some(source) => bind_path(source, false, sink),
            None => bound(value, false, sink),
        }
        return;
    };
    let has_drive = text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.get(1..3).is_some_and(|colon| colon == ":\\" || colon == ":/");
    let drive = if has_drive { 2 } else { 0 };
    let Some(at) = text.get(drive..).and_then(|rest| rest.find(':')) else { return };
    let (source, rest) = text.split_at_checked(at + drive).unwrap_or((text, ""));
    let is_read_only = rest.split(':').skip(2).any(|part| part.split(',').any(|one| one == "ro"));
    bind_path(source, is_read_only, sink);
}

fn bind_path(source: &str, is_read_only: bool, sink: &mut Sink<'_, '_, '_, '_>) {
    if source.starts_with(['/', '.', '~']) || source.contains(['/', '\\']) {
        bound(&Arg::known(source), is_read_only, sink);
    }
}

/// `type=bind,source=PATH,target=PATH,readonly`
fn mount(value: &Arg, sink: &mut Sink<'_, '_, '_, '_>) {
    let written = value.written();
    let fields: Vec<(&str, &str)> =
        written.split(',').map(|field| field.split_once('=').unwrap_or((field, ""))).collect();
    let field =
        |names: &[&str]| fields.iter().find(|(name, _)| names.contains(name)).map(|(_, value)| *value);
    let is_bind = field(&["type"]) == Some("bind");
    let Some(source) = field(&["source", "src"]).filter(|_| is_bind) else { return };
    let is_read_only = field(&["readonly", "ro"]).is_some_and(|value| matches!(value, "" | "1" | "true"));
    match value.why() {
        Some(why) if source.contains('$') => sink.opaque(Role::Target, why, source),
        _ => bound(&Arg::known(source), is_read_only, sink),
    }
}

/// A path of this machine that is seen inside, with everything below it.
fn bound(path: &Arg, is_read_only: bool, sink: &mut Sink<'_, '_, '_, '_>) {
    let written = path.written();
    if SOCKETS.iter().any(|socket| written.ends_with(socket)) {
        sink.on(EffectKind::Elevate, "docker", "socket", Some(path));
    }
    let before = sink.mode.recursive.replace(true);
    sink.path(EffectKind::Read, path);
    if !is_read_only {
        let verb = Some(BOUND.to_owned());
        sink.path_effect(Operation { verb, ..Operation::of(EffectKind::Write) }, path);
    }
    sink.mode.recursive = before;
}

/// What `build` sends to the engine, and what it writes; `import`.
pub(super) fn build(read: &Invocation, _argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    for context in read.operands.iter().map(|operand| &operand.arg).take(1).filter_map(directory) {
        if context.prefix().contains("://") || context.prefix().starts_with("git@") {
            targets::url(EffectKind::Download, &context, sink);
        } else {
            let before = sink.mode.recursive.replace(true);
            sink.path(EffectKind::Read, &context);
            sink.mode.recursive = before;
        }
    }
    read.values("--file").filter_map(web::named).for_each(|file| sink.path(EffectKind::Read, &file));
    for secret in read.values("--secret") {
        let written = secret.written();
        let source =
            written.split(',').find_map(|field| field.strip_prefix("src=").or(field.strip_prefix("source=")));
        source.into_iter().for_each(|file| sink.path(EffectKind::Read, &Arg::known(file)));
    }
    for key in read.values("--ssh") {
        let files = key.prefix().split_once('=').map(|(_, files)| files).unwrap_or_default();
        let files = files.split(',').filter(|file| !file.is_empty());
        files.for_each(|file| sink.path(EffectKind::Read, &Arg::known(file)));
    }
    for output in read.values("--output") {
        let written = output.written();
        let file = written.split(',').find_map(|field| field.strip_prefix("dest="));
        let is_file =
            written.split(',').any(|field| matches!(field, "type=tar" | "type=oci" | "type=docker"));
        let recursive = (!is_file).then_some(true);
        let written_to = Operation { recursive, ..Operation::of(EffectKind::Write) };
        match file {
            Some(file) if file != "-" => sink.path_effect(written_to, &Arg::known(file)),
            None if !written.contains('=') && written != "-" => sink.path_effect(written_to, output),
            _ => {}
        }
    }
    read.values("--volume").for_each(|value| volume(value, sink));
}

/// `-` is standard input.
fn directory(arg: &Arg) -> Option<Arg> {
    (arg.as_str() != Some("-")).then(|| arg.clone())
}
