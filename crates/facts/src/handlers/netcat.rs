//! `nc` and `socat`: what goes over a connection, and programs that the other side talks to. Sources: the manuals of
//! ncat 7.9, OpenBSD netcat and socat 1.8.

use castellan_event::{EffectKind, Operation, Remote, Role, Why};
use castellan_programs::{Arg, Invocation};
use castellan_shell::Stdin;

use crate::remote;
use crate::sink::Sink;
use crate::targets;
use crate::url::Host;

/// What `nc` sends, and that its program obeys the other side.
pub(super) fn netcat(read: &Invocation, _argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    if ["--exec", "--sh-exec", "--lua-exec"].iter().any(|flag| read.given(flag)) {
        sink.opaque(Role::Code, Why::Network, "");
    }
    if read.given("-U") && !read.given("-l") {
        read.operands.iter().take(1).for_each(|one| to_socket(&one.arg, sink));
    } else if !read.given("-z") {
        let host = read.operands.first().filter(|_| !read.given("-l"));
        sent(host.map(|host| host.arg.written().into_owned()), sink);
    }
}

/// What `telnet` sends.
pub(super) fn telnet(read: &Invocation, _argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    if let Some(host) = read.operands.first() {
        sent(Some(host.arg.written().into_owned()), sink);
    }
}

/// A connection to a socket that is a file.
pub(super) fn to_socket(file: &Arg, sink: &mut Sink<'_, '_, '_, '_>) {
    let (system, target) = (Some("unix".to_owned()), Some(file.written().into_owned()));
    sink.path_effect(Operation { system, target, ..Operation::of(EffectKind::Connect) }, file);
}

/// Standard input goes to the other side.
pub(super) fn sent(host: Option<String>, sink: &mut Sink<'_, '_, '_, '_>) {
    let class = host.as_deref().map(|host| Host::parse(host).class);
    let to = Remote { host, class, url: None };
    match sink.setup.stdin.clone() {
        Stdin::File(file) => sink.sent(to, &file),
        Stdin::Inherited if !sink.setup.piped => {}
        Stdin::Text(text) => {
            remote::raw(&remote::text_of(&text), to.host.as_deref(), sink);
            sink.add_remote(Operation::of(EffectKind::Upload), to);
        }
        Stdin::Inherited => sink.add_remote(Operation::of(EffectKind::Upload), to),
    }
}

/// What an address of `socat` is.
#[derive(Clone, Copy)]
enum Kind {
    Connect,
    Listen,
    Run,
    Write,
    Read,
    Unix,
}

/// Address types by what they begin with, longer ones first.
const ADDRESSES: &[(&str, Kind)] = &[
    ("abstract-listen:", Kind::Listen),
    ("create:", Kind::Write),
    ("creat:", Kind::Write),
    ("exec:", Kind::Run),
    ("file:", Kind::Write),
    ("gopen:", Kind::Write),
    ("open:", Kind::Write),
    ("openssl-listen:", Kind::Listen),
    ("ssl-l:", Kind::Listen),
    ("shell:", Kind::Run),
    ("system:", Kind::Run),
    ("tcp-l:", Kind::Listen),
    ("tcp-listen:", Kind::Listen),
    ("tcp4-listen:", Kind::Listen),
    ("tcp6-listen:", Kind::Listen),
    ("udp-l:", Kind::Listen),
    ("udp-listen:", Kind::Listen),
    ("udp-recv:", Kind::Listen),
    ("udp-recvfrom:", Kind::Listen),
    ("udp4-listen:", Kind::Listen),
    ("udp6-listen:", Kind::Listen),
    ("unix-listen:", Kind::Listen),
    ("vsock-listen:", Kind::Listen),
    ("abstract-connect:", Kind::Unix),
    ("unix-client:", Kind::Unix),
    ("unix-connect:", Kind::Unix),
    ("unix:", Kind::Unix),
    ("openssl-connect:", Kind::Connect),
    ("openssl:", Kind::Connect),
    ("proxy:", Kind::Connect),
    ("socks4:", Kind::Connect),
    ("socks4a:", Kind::Connect),
    ("socks5:", Kind::Connect),
    ("ssl:", Kind::Connect),
    ("tcp-connect:", Kind::Connect),
    ("tcp:", Kind::Connect),
    ("tcp4:", Kind::Connect),
    ("tcp6:", Kind::Connect),
    ("udp-connect:", Kind::Connect),
    ("udp-sendto:", Kind::Connect),
    ("udp:", Kind::Connect),
    ("udp4:", Kind::Connect),
    ("udp6:", Kind::Connect),
    ("vsock-connect:", Kind::Connect),
    ("pipe:", Kind::Read),
];

/// Other address types that run nothing and go nowhere.
const HARMLESS: &[&str] = &["-", "fd", "pty", "readline", "stdio", "stdin", "stdout", "stderr", "tun"];

/// What each address of `socat` is: connections, files, programs.
pub(super) fn socat(read: &Invocation, _argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let (mut runs, mut is_remote, mut host) = (false, false, None);
    for half in read.operands.iter().flat_map(|operand| halves(&operand.arg)) {
        let lower = half.prefix().to_ascii_lowercase();
        let Some((name, kind)) = ADDRESSES.iter().find(|(name, _)| lower.starts_with(name)) else {
            let keyword = lower.split([':', ',']).next().unwrap_or_default();
            if !HARMLESS.contains(&keyword) && lower.contains(':') {
                sink.opaque(Role::Code, Why::Unsupported, &half.written());
            }
            continue;
        };
        let start = half.prefix().get(..name.len()).unwrap_or_default();
        let Some(rest) = half.strip_prefix(start) else { continue };
        let first = rest.as_str().and_then(|text| text.split(',').next()).map_or(rest.clone(), Arg::known);
        match kind {
            Kind::Run => {
                runs = true;
                // Where the command ends and socat's own options begin is socat's to say.
                if rest.prefix().contains(',') {
                    sink.opaque(Role::Code, Why::Unsupported, &half.written());
                }
            }
            Kind::Listen => {
                is_remote = true;
                sink.on(EffectKind::Listen, "", "", Some(&first));
            }
            Kind::Connect => {
                is_remote = true;
                host = Some(first.written().into_owned());
                targets::host(EffectKind::Connect, &first, sink);
            }
            Kind::Unix => to_socket(&first, sink),
            Kind::Write => {
                sink.path(EffectKind::Read, &first);
                sink.path(EffectKind::Write, &first);
            }
            Kind::Read => sink.path(EffectKind::Read, &first),
        }
    }
    if runs && is_remote {
        sink.opaque(Role::Code, Why::Network, "");
    }
    if host.is_some() {
        sent(host, sink);
    }
}

/// `a!!b`: what is read from and what is written to.
fn halves(arg: &Arg) -> Vec<Arg> {
    match arg.as_str() {
        Some(text) => text.splitn(2, "!!").map(Arg::known).collect(),
        None => vec![arg.clone()],
    }
}
