//! `ssh`, `sftp`: sessions on other machines, and on this one by a detour.

use castellan_event::{EffectKind, Operation, Remote, Role, Why};
use castellan_programs::{Arg, Invocation, Quoting, SlotRole};
use castellan_shell::Stdin;

use super::netcat::sent;
use super::patch::given_text;
use crate::limits::LINES_MAX;
use crate::sink::Sink;
use crate::targets;
use crate::url::Host;

/// Settings after `-o` whose value is a file with code, or with more settings.
const CODE_SETTINGS: &[&str] = &["include", "pkcs11provider", "securitykeyprovider", "xauthlocation"];

/// What `-o NAME=VALUE` runs besides the commands that were found with the command.
fn settings(read: &Invocation, sink: &mut Sink<'_, '_, '_, '_>) {
    for value in read.values("-o") {
        let is_end = |letter: char| letter == '=' || letter.is_whitespace();
        let Some((name, _)) = value.prefix().split_once(is_end) else { continue };
        let name = name.to_ascii_lowercase();
        if CODE_SETTINGS.contains(&name.as_str()) {
            let file = value.prefix().get(name.len()..).unwrap_or_default();
            sink.path(EffectKind::Execute, &Arg::known(file.trim_start_matches(is_end)));
        } else if name == "remotecommand" {
            sink.opaque(Role::Code, Why::Unsupported, &value.written());
        }
    }
}

/// A session without a command, what is sent to one with a command, and what stays behind.
pub(super) fn ssh(read: &Invocation, _argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    settings(read, sink);
    let Some(host) = read.place() else { return };
    let name = host_of(host);
    if is_loopback(&name) || read.given("-f") {
        sink.on(EffectKind::Detach, "ssh", "", Some(host));
    }
    let has_command = read.operands.iter().any(|operand| operand.slot.role == SlotRole::Joined);
    let has_session = !["-N", "-O", "-W", "-s", "-G", "-Q"].iter().any(|flag| read.given(flag));
    if has_command {
        return sent(Some(name), sink);
    }
    if !has_session {
        return;
    }
    match sink.setup.stdin.clone() {
        Stdin::Text(text) => sink.opaque(Role::Code, Why::Unsupported, &text.written()),
        Stdin::File(file) => sink.path(EffectKind::Execute, &file),
        Stdin::Inherited if sink.setup.piped => sink.opaque(Role::Code, Why::Input, ""),
        Stdin::Inherited => sink.on(EffectKind::Interactive, "ssh", "", Some(host)),
    }
}

/// Without a file to fetch and without a batch it takes commands.
pub(super) fn sftp(read: &Invocation, _argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    settings(read, sink);
    let Some(first) = read.operands.first() else { return };
    let names_file = first.arg.written().split_once(':').is_some_and(|(_, path)| !path.is_empty());
    if names_file {
        if let Some(to) = read.operands.get(1) {
            let file =
                first.arg.strip_prefix(first.arg.prefix().split_inclusive(':').next().unwrap_or_default());
            let file = file.unwrap_or_else(|| first.arg.clone());
            let is_into = targets::is_directory(&to.arg, sink);
            let path = if is_into { targets::joined(&to.arg, &file) } else { to.arg.clone() };
            sink.path(EffectKind::Write, &path);
        }
        return targets::remote(EffectKind::Download, EffectKind::Connect, &first.arg, sink);
    }
    targets::host(EffectKind::Connect, &first.arg, sink);
    let batch = read.values("-b").next().filter(|file| !targets::is_standard_stream(file)).cloned();
    let is_text = batch.is_some() || !matches!(sink.setup.stdin, Stdin::Inherited);
    if let Some(text) = if is_text { given_text(batch.as_ref(), sink) } else { None }
        && transfers(&text, &first.arg, sink)
    {
        return;
    }
    if read.given("-b") {
        return;
    }
    match sink.setup.stdin.clone() {
        Stdin::Text(text) => sink.opaque(Role::Code, Why::Language, &text.written()),
        Stdin::File(file) => sink.path(EffectKind::Execute, &file),
        Stdin::Inherited if sink.setup.piped => sink.opaque(Role::Code, Why::Input, ""),
        Stdin::Inherited => sink.on(EffectKind::Interactive, "sftp", "", Some(&first.arg)),
    }
}

/// The commands of a batch: what they copy. False, and nothing of it is said, where one is not known.
fn transfers(text: &str, host: &Arg, sink: &mut Sink<'_, '_, '_, '_>) -> bool {
    const QUIET: &[&str] =
        &["ascii", "binary", "bye", "cd", "exit", "help", "lcd", "ls", "progress", "pwd", "quit", "version"];
    let lines: Vec<Vec<String>> =
        text.lines().take(LINES_MAX).map(words).filter(|words| !words.is_empty()).collect();
    let command =
        |words: &Vec<String>| words.first().map(|word| word.trim_start_matches(['-', '@']).to_owned());
    let is_known = |words: &Vec<String>| {
        let name = command(words).unwrap_or_default();
        QUIET.contains(&name.as_str()) && name != "lcd"
            || matches!(name.as_str(), "put" | "mput" | "get" | "mget")
    };
    if text.lines().count() > LINES_MAX || !lines.iter().all(is_known) {
        return false;
    }
    let host = Host::parse(&host_of(host));
    for words in &lines {
        let name = command(words).unwrap_or_default();
        let mut operands =
            words.iter().skip(1).filter(|word| !word.starts_with('-')).map(|word| Arg::known(word.as_str()));
        let to = Remote { host: Some(host.name.clone()), class: Some(host.class), url: None };
        match name.as_str() {
            "put" | "mput" => {
                let Some(file) = operands.next() else { continue };
                sink.path(EffectKind::Read, &file);
                sink.sent(to, &file);
            }
            "get" | "mget" => {
                let Some(file) = operands.next() else { continue };
                let target = Some(file.written().into_owned());
                sink.add_remote(Operation { target, ..Operation::of(EffectKind::Download) }, to);
                let name =
                    file.as_str().and_then(|file| file.rsplit('/').next()).unwrap_or_default().to_owned();
                sink.path(EffectKind::Write, &operands.next().unwrap_or_else(|| Arg::known(name)));
            }
            _ => {}
        }
    }
    true
}

/// The words of a line; none of a comment.
fn words(line: &str) -> Vec<String> {
    let mut words = Quoting::SFTP.words(line.trim());
    words.retain(|word| !word.is_empty());
    if words.first().is_some_and(|first| first.starts_with('#')) { Vec::new() } else { words }
}

fn host_of(host: &Arg) -> String {
    let written = host.written();
    let written = written.strip_prefix("ssh://").unwrap_or(&written);
    let name = written.rsplit('@').next().unwrap_or_default();
    name.trim_end_matches('/').to_owned()
}

fn is_loopback(host: &str) -> bool {
    let host =
        host.trim_matches(['[', ']']).split(':').next().filter(|_| !host.starts_with("::")).unwrap_or(host);
    host == "localhost"
        || host.starts_with("127.")
        || matches!(host, "::1" | "0.0.0.0" | "0" | "localhost.localdomain" | "ip6-localhost")
}
