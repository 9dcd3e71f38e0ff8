//! `find`: where it looks, and what it deletes itself. What it runs was found with the command. `forfiles`, its like on
//! Windows.

use castellan_event::{EffectKind, Operation, Why};
use castellan_programs::{Arg, Invocation};

use crate::next::From;
use crate::sink::Sink;
use crate::targets::beside;
use crate::walk::UNKNOWN;

pub(super) fn find(read: &Invocation, argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let depth = |depth: &Arg| matches!(depth.as_str(), Some("0" | "1"));
    let recursive = Some(!read.values("-maxdepth").any(depth));
    for start in read.operands.iter().map(|one| &one.arg).chain(read.values("-f")) {
        sink.path_effect(Operation { recursive, ..Operation::of(EffectKind::Read) }, start);
    }
    if read.operands.is_empty() && !read.given("-f") && !read.given("-files0-from") {
        let here = Arg::known(".");
        sink.path_effect(Operation { recursive, ..Operation::of(EffectKind::Read) }, &here);
    }
    // Down to 1 is what stands in the start, and the start itself if it may be a directory that is found.
    let one_deep = read.values("-maxdepth").any(|depth| depth.as_str() == Some("1"));
    let no_directories = read.values("-type").any(|kind| matches!(kind.as_str(), Some("f" | "l")));
    for used in read.options.iter().filter(|used| matches!(used.flag, "-delete" | "-rm")) {
        for found in read.found(argv, used.at) {
            let recursive = Some(found.is_all && recursive == Some(true));
            let delete = Operation { recursive, ..Operation::of(EffectKind::Delete) };
            if found.is_all && one_deep {
                let any = Arg::unknown(Why::Glob, "*", false);
                sink.path_effect(delete.clone(), &beside(&found.arg, &any));
            }
            if !(one_deep && found.is_all && no_directories) {
                sink.path_effect(delete, &found.arg);
            }
        }
    }
}

/// Variables that `forfiles` replaces by data of the file. A variable precedes those that are its prefixes.
const OF_FILE: &[&str] =
    &["@relpath", "@path", "@fname", "@file", "@fsize", "@fdate", "@ftime", "@isdir", "@ext"];

/// `forfiles /c "cmd /c del @path"`: the command is one of `cmd`, for files that are not known.
pub(super) fn forfiles(read: &Invocation, _: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    for command in read.values("-c") {
        let known = command.as_str().map(|text| {
            let unknown = format!("\"%{UNKNOWN}%\"");
            // What it starts is the same language: its own `cmd` would be given code with unknown parts.
            let text =
                ["cmd /c ", "cmd.exe /c "].iter().find_map(|begin| text.strip_prefix(begin)).unwrap_or(text);
            OF_FILE.iter().fold(text.to_owned(), |text, word| text.replace(word, &unknown))
        });
        sink.program("cmd", From::Text(known.map_or_else(|| command.clone(), Arg::known)));
    }
}
