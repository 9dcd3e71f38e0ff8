//! `mongosh`: an address or script files as operands, and JavaScript of which only the calls are known that destroy.

use castellan_event::{EffectKind, Role, Why};
use castellan_programs::{Arg, Invocation};
use castellan_shell::Stdin;

use crate::next::From;
use crate::sink::Sink;
use crate::targets;

/// Calls that lose data for good, blanks taken out, and what effects call them.
const DESTROY: &[(&str, &str)] = &[
    (".dropDatabase(", "dropDatabase"),
    (".drop(", "drop"),
    (".dropCollection(", "drop"),
    (".deleteMany({})", "deleteMany"),
    (".deleteMany()", "deleteMany"),
    (".remove({})", "remove"),
    (".remove()", "remove"),
    ("dropDatabase:", "dropDatabase"),
    ("\"dropDatabase\":", "dropDatabase"),
];

/// Adds what the operands are, and what the code does as far as its calls tell.
pub(super) fn mongo(read: &Invocation, _argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let mut has_code = false;
    for operand in &read.operands {
        let written = operand.arg.written();
        let is_script = [".js", ".mongodb", ".mjs"].iter().any(|ending| written.ends_with(ending));
        if is_script {
            has_code = true;
            sink.path(EffectKind::Execute, &operand.arg);
            sink.program("javascript", From::File(operand.arg.clone()));
        } else if written.contains("://") || written.contains('/') {
            targets::url(EffectKind::Connect, &operand.arg, sink);
        } else if operand.arg.why().is_some() {
            sink.opaque(Role::Operand, operand.arg.why().unwrap_or_default(), &written);
        }
    }
    for code in read.values("--eval") {
        has_code = true;
        calls(&code.written(), sink);
    }
    if has_code && !read.given("--shell") || read.given("--file") {
        return;
    }
    match sink.setup.stdin.clone() {
        Stdin::Text(text) => {
            calls(&text.written(), sink);
            sink.opaque(Role::Code, Why::Language, "javascript");
        }
        Stdin::File(file) => {
            sink.path(EffectKind::Execute, &file);
            sink.program("javascript", From::File(file));
        }
        Stdin::Inherited if sink.setup.piped => sink.opaque(Role::Code, Why::Input, ""),
        Stdin::Inherited => sink.on(EffectKind::Interactive, "mongodb", "", None),
    }
}

fn calls(code: &str, sink: &mut Sink<'_, '_, '_, '_>) {
    let dense: String = code.chars().filter(|letter| !letter.is_whitespace()).collect();
    for (_, verb) in DESTROY.iter().filter(|(call, _)| dense.contains(call)) {
        sink.on(EffectKind::Destroy, "mongodb", verb, None);
    }
}
