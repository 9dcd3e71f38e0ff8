//! `ln`, and `cp` where it makes links instead of copies: which paths lead to which.

use castellan_event::{Effect, EffectKind, Role};
use castellan_programs::{Arg, Invocation, SlotRole};

use crate::sink::Sink;
use crate::slots::{is_directory, joined};

pub(super) fn link(read: &Invocation, _: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let operands = read.operands.iter().filter(|one| one.slot.role == SlotRole::Special);
    let operands: Vec<&Arg> = operands.map(|one| &one.arg).collect();
    let directory = read.values("-t").next();
    match (operands.as_slice(), directory) {
        (sources, Some(directory)) => all_into(sources, directory, read, sink),
        (&[source], None) => all_into(&[source], &Arg::known("."), read, sink),
        (&[ref sources @ .., last], None) => {
            // `-n` means a link in place of the directory only where the directory is a link itself; a rule sees more with it.
            let as_file = read.given("-T") || read.given("-n") && read.given("-s");
            if !as_file && is_directory(last, sink) {
                all_into(sources, last, read, sink);
            } else if let Some(source) = sources.first() {
                one(source, last, read, sink);
            }
        }
        ([], None) => {}
    }
}

fn all_into(sources: &[&Arg], directory: &Arg, read: &Invocation, sink: &mut Sink<'_, '_, '_, '_>) {
    for source in sources {
        one(source, &joined(directory, source), read, sink);
    }
}

/// What a symbolic link says is relative to the directory that it lies in.
fn one(source: &Arg, link: &Arg, read: &Invocation, sink: &mut Sink<'_, '_, '_, '_>) {
    let before = sink.cwd.clone();
    if read.given("-s") && !read.given("-r") {
        let path = sink.locate(link).path;
        let parent = path.and_then(|path| path.rsplit_once('/').map(|(parent, _)| format!("{parent}/")));
        sink.cwd = parent.or(sink.cwd.take());
    }
    let located = sink.locate(source);
    sink.cwd = before;
    let target = located.path.unwrap_or(located.raw);
    sink.path_effect(Effect { kind: EffectKind::Link, target: Some(target), ..Effect::default() }, link);
    if let Some(why) = located.why {
        sink.opaque(Role::Target, why, &source.written());
    }
}
