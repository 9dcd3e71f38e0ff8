//! `ln`, and `cp` where it makes links instead of copies: which paths lead to which.

use castellan_event::{EffectKind, Operation, Role};
use castellan_programs::{Arg, Invocation, SlotRole};

use crate::sink::Sink;
use crate::targets::{is_directory, joined};

pub(super) fn link(read: &Invocation, _: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let operands = read.operands.iter().filter(|one| one.slot.role == SlotRole::Special);
    let operands: Vec<&Arg> = operands.map(|one| &one.arg).collect();
    let directory = read.values("-t").next();
    let relative = read.given("-s") && !read.given("-r");
    match (operands.as_slice(), directory) {
        (sources, Some(directory)) => all_into(sources, directory, relative, sink),
        (&[source], None) => all_into(&[source], &Arg::known("."), relative, sink),
        (&[ref sources @ .., last], None) => {
            // `-n` means a link in place of the directory only where the directory is a link itself; a rule sees more
            // with it.
            let as_file = read.given("-T") || read.given("-n") && read.given("-s");
            if !as_file && is_directory(last, sink) {
                all_into(sources, last, relative, sink);
            } else if let Some(source) = sources.first() {
                one(source, last, relative, sink);
            }
        }
        ([], None) => {}
    }
}

fn all_into(sources: &[&Arg], directory: &Arg, relative: bool, sink: &mut Sink<'_, '_, '_, '_>) {
    for source in sources {
        one(source, &joined(directory, source), relative, sink);
    }
}

/// What a symbolic link says is relative to the directory that it lies in, unless `ln` made it so itself.
fn one(source: &Arg, link: &Arg, relative: bool, sink: &mut Sink<'_, '_, '_, '_>) {
    let before = sink.cwd.clone();
    if relative {
        let path = sink.locate(link).path;
        let parent = path.and_then(|path| path.rsplit_once('/').map(|(parent, _)| format!("{parent}/")));
        sink.cwd = parent.or(sink.cwd.take());
    }
    let located = sink.locate(source);
    sink.cwd = before;
    let target = located.path.unwrap_or(located.raw);
    sink.path_effect(Operation { target: Some(target), ..Operation::of(EffectKind::Link) }, link);
    if let Some(why) = located.why {
        sink.opaque(Role::Target, why, &source.written());
    }
}
