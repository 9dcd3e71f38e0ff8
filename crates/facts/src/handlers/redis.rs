//! `redis-cli`: commands after the options, or one on each line of standard input. Source: the command reference of
//! Redis 7.4.

use castellan_event::{EffectKind, Role, Why};
use castellan_programs::lexicons::{self, kind_of};
use castellan_programs::{Arg, Invocation};
use castellan_shell::Stdin;

use crate::limits::SQL_STATEMENTS_MAX;
use crate::sink::Sink;
use crate::targets;

/// Adds what the command does, or those on standard input.
pub(super) fn redis(read: &Invocation, _argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    if read.given("--cluster") {
        sink.on(EffectKind::Mutate, "redis", "cluster", read.values("--cluster").next());
        return;
    }
    let asks = ["--scan", "--bigkeys", "--memkeys", "--hotkeys", "--stat", "--latency", "--rdb", "--replica"];
    if asks.iter().any(|flag| read.given(flag)) {
        sink.on(EffectKind::Query, "redis", "scan", None);
        return;
    }
    if read.given("--eval") {
        return;
    }
    let args: Vec<&Arg> = read.operands.iter().map(|operand| &operand.arg).collect();
    if !args.is_empty() {
        command(&args, sink);
        return;
    }
    match sink.setup.stdin.clone() {
        Stdin::Text(text) => lines(&text, sink),
        Stdin::File(file) => {
            sink.path(EffectKind::Execute, &file);
            sink.opaque(Role::Code, Why::File, &file.written());
        }
        Stdin::Inherited if sink.setup.piped => sink.opaque(Role::Code, Why::Input, ""),
        Stdin::Inherited => sink.on(EffectKind::Interactive, "redis", "", None),
    }
}

fn lines(text: &Arg, sink: &mut Sink<'_, '_, '_, '_>) {
    if let Some(why) = text.why() {
        sink.opaque(Role::Code, why, &text.written());
    }
    let written = text.written();
    for (number, line) in written.lines().filter(|line| !line.trim().is_empty()).enumerate() {
        if number >= SQL_STATEMENTS_MAX {
            sink.opaque(Role::Code, Why::Budget, "");
            return;
        }
        let words: Vec<Arg> =
            line.split_whitespace().map(|word| Arg::known(word.trim_matches(['"', '\'']))).collect();
        command(&words.iter().collect::<Vec<_>>(), sink);
    }
}

fn command(args: &[&Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let Some(first) = args.first() else { return };
    let Some(name) = first.as_str().map(str::to_ascii_uppercase) else {
        sink.opaque(Role::Code, first.why().unwrap_or_default(), &first.written());
        return;
    };
    let second = args.get(1).map(|arg| arg.written().to_ascii_uppercase()).unwrap_or_default();
    let both = format!("{name} {second}");
    let is_nothing = [&name, &both].iter().any(|words| lexicons::redis::NOTHING.contains(&words.as_str()));
    let known = [&both, &name].iter().find_map(|words| kind_of(lexicons::redis::KINDS, words));
    let detaches = matches!(name.as_str(), "REPLICAOF" | "SLAVEOF") && both.ends_with(" NO");
    let target = args.get(1).copied();
    if known.is_some() || !is_nothing {
        let kind = known.filter(|_| !detaches).unwrap_or(EffectKind::Mutate);
        sink.on(kind, "redis", &name.to_ascii_lowercase(), target);
    }
    match name.as_str() {
        "EVAL" | "EVAL_RO" => sink.opaque(Role::Code, Why::Language, "lua"),
        "FUNCTION" if second == "LOAD" => sink.opaque(Role::Code, Why::Language, "lua"),
        "MODULE" if second == "LOAD" => {
            args.get(2).into_iter().for_each(|path| sink.path(EffectKind::Execute, path));
        }
        "CONFIG" if second == "SET" => {
            let setting = args.get(2).map(|arg| arg.written().to_ascii_lowercase()).unwrap_or_default();
            if let Some(value) = args.get(3).filter(|_| setting == "dir" || setting == "dbfilename") {
                sink.path(EffectKind::Write, value);
            }
        }
        "REPLICAOF" | "SLAVEOF" | "MIGRATE" if second != "NO" => {
            target.into_iter().for_each(|host| targets::host(EffectKind::Connect, host, sink));
        }
        _ => {}
    }
}
