//! Clients of clouds and of hosting services: what a command does by its words. Source: the naming rules of AWS, gcloud
//! and az, which nearly all others follow.

use castellan_event::{EffectKind, Operation, Remote, Role, Why};
use castellan_programs::lexicons::told::{SENDS, STORES_SECRETS};
use castellan_programs::lexicons::{cloud, kind_of};
use castellan_programs::{Arg, Invocation, base_name};

use crate::limits::{CLOUD_TARGETS_MAX, CLOUD_WORDS_MAX};
use crate::sink::Sink;
use crate::{targets, told};

use EffectKind::{Destroy, Mutate, Publish, Query};

/// Adds what the command does.
pub(super) fn cloud(read: &Invocation, argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    local_files(argv, sink);
    let called = argv.first().and_then(Arg::as_str).map(base_name).unwrap_or_default();
    let program = if read.program.names.contains(&called) { called } else { read.program.name() };
    let system = cloud::SYSTEMS.iter().find(|(_, names)| names.contains(&program));
    let system = system.map_or(program, |(system, _)| *system);
    let args: Vec<&Arg> = read.operands.iter().map(|operand| &operand.arg).collect();
    let words: Vec<&str> = args
        .iter()
        .take(CLOUD_WORDS_MAX)
        .map_while(|arg| arg.as_str())
        .take_while(|word| !word.contains('/'))
        .collect();
    if words.contains(&"help") || words.first() == Some(&"version") {
        return;
    }
    secret_texts(&format!("{program} {}", words.join(" ")), argv, sink);
    if transfer(read, system, &args, &words, sink) || session(system, &args, &words, sink) {
        return;
    }
    if words.first() == Some(&"configure") {
        return configure(&words, sink);
    }
    let is_pair = matches!(system, "aws");
    let verbs =
        words.iter().enumerate().skip(usize::from(is_pair)).take(if is_pair { 1 } else { CLOUD_WORDS_MAX });
    let mut found = verbs.filter_map(|(at, word)| Some((at, kind_of_word(word)?)));
    let found = match found.next() {
        // `logging logs delete`: a thing where a verb follows.
        Some((at, _)) if words.get(at) == Some(&"logs") => found.next().or(Some((at, Query))),
        first => first,
    };
    let Some(last) = words.len().checked_sub(1) else {
        args.first().into_iter().for_each(|arg| {
            sink.opaque(Role::Target, arg.why().unwrap_or_default(), &arg.written());
        });
        return;
    };
    // Of a command that is not known at all the words are its name, as far as they look like it.
    let (at, kind) = found.unwrap_or((if is_pair { last.min(1) } else { last }, Mutate));
    if is_pair && args.len() > 1 && words.len() < 2 {
        sink.opaque(Role::Target, Why::Dynamic, &args.get(1).map(|arg| arg.written()).unwrap_or_default());
    }
    let named = words.get(usize::from(is_pair)..=at).unwrap_or_default();
    let verb = if named.is_empty() { words.join(" ") } else { named.join(" ") };
    told::concerns(system, &words.get(..=at).unwrap_or_default().join(" "), kind, argv, sink);
    let targets = args.get(at + 1..).unwrap_or_default();
    if matches!(verb.as_str(), "get-object" | "invoke") {
        targets.last().into_iter().for_each(|file| sink.path(EffectKind::Write, file));
    }
    if targets.is_empty() {
        let named = ["--name", "--key", "--ids", "--bucket"].iter().find_map(|flag| read.values(flag).last());
        return sink.on(kind, system, &verb, named);
    }
    for target in named_targets(targets, sink) {
        sink.on(kind, system, &verb, Some(target));
    }
}

/// Those of the targets that effects name. More are a part that is not known: each may be another file of this machine.
fn named_targets<'t, 'a>(targets: &'t [&'a Arg], sink: &mut Sink<'_, '_, '_, '_>) -> &'t [&'a Arg] {
    let (named, rest) = targets.split_at_checked(CLOUD_TARGETS_MAX).unwrap_or((targets, &[]));
    if let Some(first) = rest.first() {
        sink.opaque(Role::Target, Why::Budget, &first.written());
    }
    named
}

/// Adds what a hosting service's client does: as [`cloud`], and a deployment without a word for it.
pub(super) fn hosting(read: &Invocation, argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let called = argv.first().and_then(Arg::as_str).map(base_name).unwrap_or_default();
    let first = read.operands.first().map(|operand| operand.arg.written().into_owned());
    let is_directory = first.as_deref().is_none_or(|first| first.starts_with(['.', '/']));
    if cloud::DEPLOYS.contains(&called) && is_directory {
        return sink.on(Publish, called, "deploy", read.operands.first().map(|operand| &operand.arg));
    }
    cloud(read, argv, sink);
}

fn kind_of_word(word: &str) -> Option<EffectKind> {
    let before_dash = |word: &str| kind_of(cloud::KINDS_BEFORE_DASH, word);
    let alone = |word: &str| kind_of(cloud::KINDS_ALONE, word).or_else(|| before_dash(word));
    alone(word)
        .or_else(|| before_dash(word.split('-').next().unwrap_or_default()))
        .or_else(|| word.split(':').skip(1).find_map(alone))
        .or_else(|| before_dash(word.rsplit('-').next().unwrap_or_default()).filter(|kind| *kind == Destroy))
        .or_else(|| word.ends_with("-list").then_some(Query))
        .or_else(|| before_dash(&first_of_camel(word)))
        .or_else(|| word.split('-').any(|part| matches!(part, "delete" | "terminate")).then_some(Destroy))
}

/// `delete`, of `deleteSite` and `DeleteInstance`.
fn first_of_camel(word: &str) -> String {
    let end =
        word.char_indices().skip(1).find(|(_, letter)| letter.is_ascii_uppercase()).map_or(0, |(at, _)| at);
    word.get(..end).unwrap_or_default().to_ascii_lowercase()
}

/// `file://policy.json`, `fileb://code.zip`: files whose content is sent.
fn local_files(argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    for arg in argv.iter().skip(1) {
        let file = arg.strip_prefix("file://").or_else(|| arg.strip_prefix("fileb://"));
        let file = file.or_else(|| {
            let (name, _) = arg.prefix().split_once("=file")?;
            let value = arg.strip_prefix(name)?.strip_prefix("=")?;
            value.strip_prefix("file://").or_else(|| value.strip_prefix("fileb://"))
        });
        if let Some(file) = file {
            sink.path(EffectKind::Read, &file);
            sink.path(EffectKind::Upload, &file);
        }
    }
}

/// Words of options whose file is a login, or belongs to a service that keeps it: `--key-file`, `--env-vars-file`.
const LOGINS: &[&str] = &[
    "cert",
    "certificate",
    "config",
    "credential",
    "env",
    "identity",
    "key",
    "keyfile",
    "kubeconfig",
    "password",
    "setting",
    "token",
];

/// Words of commands whose operands go to a service.
const COPIES: &[&str] = &["copy", "cp", "put", "scp"];

/// Secrets in other arguments: `--custom-data .env`, `--metadata-from-file=user-data=.env`, `-b @.env`, `put x=@.env`. An
/// operand without a mark is a file only of a command that sends files.
fn secret_texts(name: &str, argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    if told::is_about(name, STORES_SECRETS) {
        return;
    }
    let is_sent = (told::is_about(name, SENDS) || name.split(' ').any(|word| COPIES.contains(&word)))
        && !argv.iter().any(is_remote);
    let mut option = None;
    for (before, arg) in argv.iter().zip(argv.iter().skip(1)) {
        let text = arg.prefix();
        let (named, value) = match text.strip_prefix("--").map(|rest| rest.split_once('=')) {
            Some(None) => {
                option = Some(text.to_owned());
                continue;
            }
            Some(Some((named, _))) => (Some(named.to_owned()), arg.clone()),
            None => (option.take(), arg.clone()),
        };
        let is_marked = value.prefix().starts_with('@') || value.prefix().contains("=@");
        let is_other = match named.as_deref() {
            Some(named) => told::is_about(named, LOGINS),
            None => !is_marked && (!is_sent || before.prefix().starts_with('-')),
        };
        // A value may be `@FILE`, or `NAME=FILE`.
        let head = value.prefix().rfind('=').map_or(0, |at| at + 1);
        let file = value.prefix().get(..head).and_then(|head| value.strip_prefix(head)).unwrap_or(value);
        let file = file.strip_prefix("@").unwrap_or(file);
        if !is_other && !file.prefix().starts_with("file") && sink.is_secret(&file) {
            sink.text_sent(Remote::default(), &file);
        }
    }
}

fn is_remote(arg: &Arg) -> bool {
    ["s3://", "gs://", "https://", "b2://", "http://"].iter().any(|scheme| arg.prefix().starts_with(scheme))
}

/// Copies between this machine and a store: `s3 cp`, `storage rsync`, `gsutil mv`. False when it is none.
fn transfer(
    read: &Invocation,
    system: &str,
    args: &[&Arg],
    words: &[&str],
    sink: &mut Sink<'_, '_, '_, '_>,
) -> bool {
    let skip = usize::from(matches!(words.first(), Some(&"s3" | &"storage")));
    let Some(verb @ ("cp" | "copy" | "mv" | "sync" | "rsync" | "put" | "mirror")) = words.get(skip).copied()
    else {
        return false;
    };
    let Some((last, sources)) = args.get(skip + 1..).and_then(|rest| rest.split_last()) else { return false };
    if sources.is_empty() || !is_remote(last) && !sources.iter().any(|source| is_remote(source)) {
        return false;
    }
    let removes = [
        "--delete",
        "-d",
        "--delete-unmatched-destination-objects",
        "--delete-removed",
        "--delete-destination",
    ];
    let is_whole = matches!(verb, "sync" | "rsync" | "mirror");
    let removes = is_whole
        && removes.iter().any(|flag| read.given(flag))
        && !read.values("--delete-destination").any(|value| value.as_str() == Some("false"));
    for source in named_targets(sources, sink) {
        match (is_remote(source), is_remote(last)) {
            (false, true) if source.as_str() != Some("-") => {
                sink.path(EffectKind::Read, source);
                let url = Some(last.written().into_owned());
                sink.sent(Remote { url, ..Remote::default() }, source);
            }
            (false, _) => targets::url(EffectKind::Upload, last, sink),
            (true, false) => targets::url(EffectKind::Download, source, sink),
            (true, true) => sink.on(Mutate, system, verb, Some(last)),
        }
        if verb == "mv" && is_remote(source) {
            sink.on(Destroy, system, verb, Some(source));
        } else if verb == "mv" {
            sink.path(EffectKind::Delete, source);
        }
    }
    if !is_remote(last) && last.as_str() != Some("-") {
        arrives(sources, last, is_whole || sink.mode.recursive == Some(true), sink);
        if removes {
            sink.path(EffectKind::Delete, last);
        }
    } else if removes {
        sink.on(Destroy, system, verb, Some(last));
    }
    true
}

/// Records the writes of a download from a cloud's store. A download into a directory keeps the name of each source.
fn arrives(sources: &[&Arg], to: &Arg, is_whole: bool, sink: &mut Sink<'_, '_, '_, '_>) {
    if is_whole || !targets::is_directory(to, sink) {
        let recursive = is_whole.then_some(true);
        return sink.path_effect(Operation { recursive, ..Operation::of(EffectKind::Write) }, to);
    }
    for source in sources {
        sink.path(EffectKind::Write, &targets::joined(to, source));
    }
}

/// Shells and commands on the cloud's machines. False when it is none.
fn session(system: &str, args: &[&Arg], words: &[&str], sink: &mut Sink<'_, '_, '_, '_>) -> bool {
    match words {
        ["ssm", "send-command", ..] => {
            sink.on(Mutate, system, "send-command", None);
            sink.opaque(Role::Code, Why::Unsupported, "");
        }
        ["ssm", "start-session", ..] | ["cloud-shell", "ssh", ..] => {
            sink.on(EffectKind::Interactive, system, "session", args.get(2).copied());
        }
        ["vm", "run-command", "invoke", ..] => {
            sink.on(Mutate, system, "vm run-command invoke", None);
            sink.opaque(Role::Code, Why::Unsupported, "");
        }
        ["vm", "extension", "set", ..] => {
            sink.on(Mutate, system, "vm extension set", None);
            sink.opaque(Role::Code, Why::Unsupported, "");
        }
        ["compute", "ssh", ..] | ["ssh", ..] | ["compute", "connect-to-serial-port", ..] => {
            let at = if words.first() == Some(&"compute") { 2 } else { 1 };
            let host = args.get(at).copied();
            host.into_iter().for_each(|host| targets::host(EffectKind::Connect, host, sink));
            // A command for it.
            let command = args.get(at + 1);
            command.into_iter().for_each(|one| sink.opaque(Role::Code, Why::Unsupported, &one.written()));
        }
        ["run", ..] if system == "heroku" && args.len() > 1 => {
            sink.on(Mutate, system, "run", None);
            sink.opaque(Role::Code, Why::Unsupported, "");
        }
        ["compute", "scp", ..] => {
            let Some((last, sources)) = args.get(2..).and_then(|rest| rest.split_last()) else {
                return false;
            };
            sources.iter().for_each(|one| targets::remote(EffectKind::Download, EffectKind::Read, one, sink));
            targets::remote(EffectKind::Upload, EffectKind::Write, last, sink);
        }
        _ => return false,
    }
    true
}

/// `aws configure`
fn configure(words: &[&str], sink: &mut Sink<'_, '_, '_, '_>) {
    let file = Arg::known(format!("{}/.aws/credentials", sink.scene.session.places.home()));
    let asks = matches!(words.get(1), Some(&"get" | &"list" | &"list-profiles" | &"export-credentials"));
    sink.path(if asks { EffectKind::Read } else { EffectKind::Write }, &file);
}
