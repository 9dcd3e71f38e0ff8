//! `osascript`: its lines are one program, in the language that `-l` says.

use castellan_event::{Role, Why};
use castellan_programs::{Arg, Invocation};

use crate::next::From;
use crate::sink::Sink;

/// `osascript [-l LANGUAGE] -e LINE ... | FILE`
pub(super) fn osascript(read: &Invocation, _argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let named = read.values("-l").last();
    let language = match named.map(Arg::as_str) {
        None => "applescript",
        Some(Some(name)) if name.eq_ignore_ascii_case("applescript") => "applescript",
        Some(Some(name)) if name.eq_ignore_ascii_case("javascript") => "javascript",
        Some(_) => return sink.opaque(Role::Code, Why::Language, "osascript"),
    };
    let lines: Vec<&Arg> = read.values("-e").collect();
    let end = Arg::known("\n");
    let text = Arg::from_pieces(
        lines.iter().flat_map(|line| [*line, &end]).flat_map(|one| one.pieces().to_vec()),
        false,
    );
    // There `$` and `ObjC` lead to all of the system's libraries, which no table has.
    let bridges = |text: &str| text.contains("ObjC") || text.replace("${", "").contains('$');
    if language == "javascript" && (lines.is_empty() || text.as_str().is_some_and(bridges)) {
        sink.opaque(Role::Code, Why::Unsupported, "ObjC");
    }
    if !lines.is_empty() {
        return sink.program(language, From::Text(text));
    }
    if let Some(file) = read.operands.first() {
        sink.program(language, From::File(file.arg.clone()));
    }
}
