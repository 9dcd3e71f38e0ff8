//! Tools on text whose arguments depend on each other: `sed`, `awk`, `jq`, `patch`.

use std::collections::BTreeMap;

use castellan_event::{EffectKind, Role, Why};
use castellan_programs::{Arg, Invocation, SlotRole};
use castellan_shell::Stdin;

use super::inline;
use crate::little::in_code;
use crate::next::From;
use crate::sink::Sink;
use crate::targets::is_standard_stream;

/// Files are read, or changed where `-i` is given. BSD's `-i` takes its suffix from the next argument, which GNU's
/// would take for the script: an empty one, or one with a dot, is no script.
pub(super) fn sed(read: &Invocation, argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let mut files: Vec<&Arg> = read.operands.iter().map(|operand| &operand.arg).collect();
    let in_place = read.options.iter().find(|used| used.option.flags.contains(&"-i"));
    let after = in_place.and_then(|used| argv.get(used.at + 1));
    let is_suffix = |text: &str| text.is_empty() || text.starts_with('.');
    let mut suffix = in_place.and_then(|used| used.value.clone());
    let bsd = in_place.is_some() && suffix.is_none() && files.first().copied() == after;
    if bsd && after.and_then(Arg::as_str).is_some_and(is_suffix) {
        suffix = Some(files.remove(0).clone());
        if !read.given("-e") && !read.given("-f") && !files.is_empty() {
            in_code("sed", files.remove(0), sink);
        }
    } else if read.operands.first().is_some_and(|one| one.slot.role == SlotRole::Code) {
        files.remove(0);
    }
    for script in read.values("-f") {
        if is_standard_stream(script) {
            from_input(sink);
            continue;
        }
        sink.path(EffectKind::Execute, script);
        sink.program("sed", From::File(script.clone()));
    }
    for file in files.into_iter().filter(|file| !is_standard_stream(file)) {
        sink.path(EffectKind::Read, file);
        if in_place.is_none() {
            continue;
        }
        sink.path(EffectKind::Write, file);
        let suffix = suffix.as_ref().and_then(Arg::as_str).filter(|suffix| !suffix.is_empty());
        if let (Some(suffix), Some(file)) = (suffix, file.as_str()) {
            let backup =
                if suffix.contains('*') { suffix.replace('*', file) } else { format!("{file}{suffix}") };
            sink.path(EffectKind::Write, &Arg::known(backup));
        }
    }
}

/// Adds the script that sed reads from its input.
fn from_input(sink: &mut Sink<'_, '_, '_, '_>) {
    match sink.setup.stdin.clone() {
        Stdin::Text(text) => sink.program("sed", From::Text(text)),
        Stdin::File(file) => {
            sink.path(EffectKind::Execute, &file);
            sink.program("sed", From::File(file));
        }
        Stdin::Inherited => sink.opaque(Role::Code, Why::Input, ""),
    }
}

/// `NAME=value` among the files is an assignment; `-i inplace` changes the files.
pub(super) fn awk(read: &Invocation, _: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let includes = || read.values("-i").filter_map(Arg::as_str);
    let in_place = includes().any(|name| name.starts_with("inplace"));
    for name in includes().filter(|name| !name.starts_with("inplace")) {
        let name = Arg::known(name);
        // Elsewhere it is found in the language's own directory.
        let file = inline::found(&name, &[inline::HERE], &["", ".awk"], sink).map(Arg::known);
        match file.or_else(|| name.prefix().contains('/').then(|| name.clone())) {
            Some(file) => inline::loaded("awk", &file, sink),
            None => sink.path(EffectKind::Execute, &name),
        }
    }
    if let Some(library) = read.values("-l").next() {
        sink.opaque(Role::Code, Why::File, &library.written());
    }
    for file in read.operands.iter().filter(|one| one.slot.role == SlotRole::Special).map(|one| &one.arg) {
        let head = file.prefix().split('/').next().unwrap_or_default();
        if head.contains('=') || is_standard_stream(file) {
            continue;
        }
        sink.path(EffectKind::Read, file);
        if in_place {
            sink.path(EffectKind::Write, file);
        }
    }
}

/// `--arg NAME VALUE` and the like take two arguments, of which the model takes the first; a file stands second with
/// some. The first operand that is left is the filter, or with `-f` its file.
pub(super) fn jq(read: &Invocation, argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let pairs = read.options.iter().filter(|used| used.option.flags.contains(&"--arg"));
    let pairs: BTreeMap<usize, bool> =
        pairs.map(|used| (used.at + 2, matches!(used.flag, "--slurpfile" | "--rawfile"))).collect();
    for (at, _) in pairs.iter().filter(|(_, is_file)| **is_file) {
        if let Some(file) = argv.get(*at) {
            sink.path(EffectKind::Read, file);
        }
    }
    let positional = read.options.iter().find(|used| used.flag == "--args" || used.flag == "--jsonargs");
    let (mut filter, from_file, in_place) = (true, read.given("-f"), read.given("-i"));
    for operand in &read.operands {
        if pairs.contains_key(&operand.at) {
            continue;
        }
        let is_filter = std::mem::take(&mut filter);
        let is_argument = positional.is_some_and(|used| used.at < operand.at);
        if is_filter && !from_file || is_argument && !is_filter || is_standard_stream(&operand.arg) {
            continue;
        }
        sink.path(EffectKind::Read, &operand.arg);
        if in_place {
            sink.path(EffectKind::Write, &operand.arg);
        }
    }
}

/// Values of `-u` and `-U` that name no file.
const VIM_WITHOUT: &[&str] = &["DEFAULTS", "NONE", "NORC"];

/// `vim -u FILE`; `ed`, `ex` and `vim -es` take commands from standard input.
pub(super) fn ex(read: &Invocation, _: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    for file in read.values("-u").chain(read.values("-U")) {
        if !file.as_str().is_some_and(|name| VIM_WITHOUT.contains(&name)) {
            sink.path(EffectKind::Execute, file);
            sink.program("ex", From::File(file.clone()));
        }
    }
    let name = read.program.name();
    let is_batch = matches!(name, "ed" | "ex") || ["-e", "-E", "-es"].iter().any(|flag| read.given(flag));
    if !is_batch {
        return;
    }
    match sink.setup.stdin.clone() {
        Stdin::Text(text) => sink.program("ex", From::Text(text)),
        Stdin::File(file) => {
            sink.path(EffectKind::Execute, &file);
            sink.program("ex", From::File(file));
        }
        Stdin::Inherited if sink.setup.piped => sink.opaque(Role::Code, Why::Input, ""),
        Stdin::Inherited => {}
    }
}

/// `less '+|mTEXT'`: shell text after the letter of a mark.
pub(super) fn less(read: &Invocation, _: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    for command in read.values("+*").filter_map(|value| value.strip_prefix("|")) {
        let mark = command.prefix().chars().next().map(String::from);
        match mark.and_then(|mark| command.strip_prefix(&mark)) {
            Some(text) => sink.shell(text),
            None => sink.opaque(Role::Code, command.why().unwrap_or_default(), &command.written()),
        }
    }
}
