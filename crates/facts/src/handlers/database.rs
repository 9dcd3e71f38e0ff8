//! Clients of databases: where their statements come from when no option gives them, and what they connect to.

use castellan_event::{EffectKind, Role, Why};
use castellan_programs::{Arg, Invocation, SlotRole};
use castellan_shell::Stdin;

use crate::sink::Sink;
use crate::{sql, targets};

/// A client that runs the statements it is given, or those on its standard input.
pub(super) fn client(read: &Invocation, _argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    address(read, _argv, sink);
    let mut has_statements = read.options.iter().any(|used| used.option.slot.role == SlotRole::Sql)
        || read.operands.iter().any(|operand| operand.slot.role == SlotRole::Sql)
        || read.given("-l");
    for used in read.options.iter().filter(|used| is_script(used.option.flags)) {
        let Some(file) = &used.value else { continue };
        if file.as_str() == Some("-") {
            continue;
        }
        has_statements = true;
        if used.option.slot.role == SlotRole::Special {
            sql::file(system(read), file, sink);
        }
    }
    if !has_statements {
        standard_input(system(read), sink);
    }
}

/// What a client reads that was given no statements.
pub(super) fn standard_input(system: &str, sink: &mut Sink<'_, '_, '_, '_>) {
    match sink.setup.stdin.clone() {
        Stdin::Text(text) => sql::effects(system, &text, sink),
        Stdin::File(file) => sql::file(system, &file, sink),
        Stdin::Inherited if sink.setup.piped => sink.opaque(Role::Code, Why::Input, ""),
        Stdin::Inherited => sink.on(EffectKind::Interactive, system, "", None),
    }
}

fn is_script(flags: &[&str]) -> bool {
    flags.iter().any(|flag| matches!(*flag, "--file" | "--queries-file" | "-i" | "-f" | "-init"))
        && !flags.contains(&"--format")
}

fn system(read: &Invocation) -> &'static str {
    let mut slots = read.program.options.iter().map(|option| option.slot);
    slots.find(|slot| slot.role == SlotRole::Sql).map_or("sql", |slot| slot.detail)
}

/// Addresses of databases among operands and options: `postgres://host/db`, `host=h dbname=d`. Output that goes to a
/// command.
pub(super) fn address(read: &Invocation, _argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let operands = read.operands.iter().filter(|one| one.slot.role == SlotRole::Special).map(|one| &one.arg);
    for arg in operands.chain(read.values("--dbname")) {
        let written = arg.written();
        if written.contains("://") {
            targets::url(EffectKind::Connect, arg, sink);
        } else if let Some(host) = written.split_whitespace().find_map(|word| word.strip_prefix("host=")) {
            targets::host(EffectKind::Connect, &Arg::known(host), sink);
        }
    }
    for used in &read.options {
        let is_output = used.flag == "-o" || used.flag == "--output";
        let Some(value) =
            used.value.as_ref().filter(|_| is_output && used.option.slot.role == SlotRole::Special)
        else {
            continue;
        };
        match value.strip_prefix("|") {
            Some(command) => sink.shell(command),
            None => sink.path(EffectKind::Write, value),
        }
    }
}

/// A database in a file, with statements after its name or on standard input.
pub(super) fn file(read: &Invocation, _argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let has_statements = read.operands.len() > 1 || ["-c", "-f"].iter().any(|flag| read.given(flag));
    if !has_statements {
        standard_input(system(read), sink);
    }
    let Some(database) = read.operands.first().map(|one| &one.arg) else { return };
    let written = database.written();
    if matches!(&*written, ":memory:" | "") {
        return;
    }
    sink.path(EffectKind::Read, database);
    if sink.has_changed_a_system() && !read.given("-readonly") {
        sink.path(EffectKind::Write, database);
    }
}
