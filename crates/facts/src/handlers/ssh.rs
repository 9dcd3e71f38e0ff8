//! `ssh`, `sftp`: sessions on other machines, and on this one by a detour.

use castellan_event::{EffectKind, Role, Why};
use castellan_programs::{Arg, Invocation, SlotRole};
use castellan_shell::Stdin;

use super::netcat::sent;
use crate::sink::Sink;
use crate::slots;

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
    match sink.stdin.clone() {
        Stdin::Text(text) => sink.opaque(Role::Code, Why::Unsupported, &text.written()),
        Stdin::File(file) => sink.path(EffectKind::Execute, &file),
        Stdin::Inherited if sink.piped => sink.opaque(Role::Code, Why::Input, ""),
        Stdin::Inherited => sink.on(EffectKind::Interactive, "ssh", "", Some(host)),
    }
}

/// Without a file to fetch and without a batch it takes commands.
pub(super) fn sftp(read: &Invocation, _argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    settings(read, sink);
    let Some(first) = read.operands.first() else { return };
    let names_file = first.arg.written().split_once(':').is_some_and(|(_, path)| !path.is_empty());
    if names_file {
        return slots::remote(EffectKind::Download, EffectKind::Connect, &first.arg, sink);
    }
    slots::host(EffectKind::Connect, &first.arg, sink);
    if read.given("-b") {
        return;
    }
    match sink.stdin.clone() {
        Stdin::Text(text) => sink.opaque(Role::Code, Why::Language, &text.written()),
        Stdin::File(file) => sink.path(EffectKind::Execute, &file),
        Stdin::Inherited if sink.piped => sink.opaque(Role::Code, Why::Input, ""),
        Stdin::Inherited => sink.on(EffectKind::Interactive, "sftp", "", Some(&first.arg)),
    }
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
