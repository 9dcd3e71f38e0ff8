//! `ln`, and `cp` where it makes links instead of copies: which paths lead to which.

use castellan_event::Role;
use castellan_programs::{Arg, Invocation, SlotRole};

use crate::sink::Sink;
use crate::targets::{is_directory, joined};

/// The meaning of a link's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Another name of the file itself.
    Hard,
    /// A path from the directory of the link.
    Relative,
    /// A path from the present directory, which `ln` itself makes relative.
    Symbolic,
}

pub(super) fn link(read: &Invocation, _: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let operands = read.operands.iter().filter(|one| one.slot.role == SlotRole::Special);
    let operands: Vec<&Arg> = operands.map(|one| &one.arg).collect();
    let directory = read.values("-t").next();
    let kind = match (read.given("-s"), read.given("-r")) {
        (false, _) => Kind::Hard,
        (true, true) => Kind::Symbolic,
        (true, false) => Kind::Relative,
    };
    match (operands.as_slice(), directory) {
        (sources, Some(directory)) => all_into(sources, directory, kind, sink),
        (&[source], None) => all_into(&[source], &Arg::known("."), kind, sink),
        (&[ref sources @ .., last], None) => {
            // `-n` means a link in place of the directory only where the directory is a link itself; a rule sees more
            // with it.
            let as_file = read.given("-T") || read.given("-n") && read.given("-s");
            if !as_file && is_directory(last, sink) {
                all_into(sources, last, kind, sink);
            } else if let Some(source) = sources.first() {
                one(source, last, kind, sink);
            }
        }
        ([], None) => {}
    }
}

fn all_into(sources: &[&Arg], directory: &Arg, kind: Kind, sink: &mut Sink<'_, '_, '_, '_>) {
    for source in sources {
        one(source, &joined(directory, source), kind, sink);
    }
}

/// What a symbolic link says is relative to the directory that it lies in, unless `ln` made it so itself.
fn one(source: &Arg, link: &Arg, kind: Kind, sink: &mut Sink<'_, '_, '_, '_>) {
    let before = sink.cwd.clone();
    if kind == Kind::Relative {
        let path = sink.locate(link).path;
        let parent = path.and_then(|path| path.rsplit_once('/').map(|(parent, _)| format!("{parent}/")));
        sink.cwd = parent.or(sink.cwd.take());
    }
    let located = sink.locate(source);
    sink.cwd = before;
    let target = located.path.unwrap_or(located.raw);
    sink.link(target, kind == Kind::Hard, link);
    if let Some(why) = located.why {
        sink.opaque(Role::Target, why, &source.written());
    }
}
