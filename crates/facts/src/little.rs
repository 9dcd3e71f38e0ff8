//! Effects of code in the little languages of programs: sed, awk, ex. Must not know the languages.

use castellan_event::{EffectKind, Role, Why};
use castellan_programs::{Arg, Does, code};

use crate::next::From;
use crate::sink::Sink;

/// Adds the effects of the code itself. The shell text that the code runs was found with the command.
pub(crate) fn in_code(language: &str, arg: &Arg, sink: &mut Sink<'_, '_, '_, '_>) {
    let Some(does) = code(language, arg) else {
        sink.program(language, From::Text(arg.clone()));
        return;
    };
    let is_unknown = does.iter().any(|one| matches!(one, Does::Unknown { .. }));
    does.into_iter().for_each(|one| self::does(language, one, sink));
    // The unknown part is only text here: in a pattern, a replacement, a literal.
    if let Some(why) = arg.why().filter(|_| !is_unknown) {
        sink.opaque(Role::Operand, why, &arg.written());
    }
}

/// Adds one effect of code in a little language. The shell text that the code runs was found with the command.
pub(crate) fn does(language: &str, one: Does, sink: &mut Sink<'_, '_, '_, '_>) {
    match one {
        Does::Shell(_) => {}
        Does::Read(path) => sink.path(EffectKind::Read, &named_in(language, path, sink)),
        Does::Write(path) => sink.path(EffectKind::Write, &named_in(language, path, sink)),
        Does::Execute(path) => {
            let path = named_in(language, path, sink);
            sink.path(EffectKind::Execute, &path);
            sink.program(language, From::File(path));
        }
        Does::Unknown { why, text } => sink.opaque(Role::Code, why, &text),
    }
}

/// Resolves a path by the rules of the language: ex expands `~` and variables.
fn named_in(language: &str, path: Arg, sink: &Sink<'_, '_, '_, '_>) -> Arg {
    let Some(text) = path.as_str().filter(|_| language == "ex") else { return path };
    let home = text.strip_prefix("~/").or_else(|| text.strip_prefix("$HOME/"));
    match home {
        Some(rest) => Arg::known(format!("{}/{rest}", sink.scene.session.places.home())),
        None if text.contains(['$', '`']) => Arg::unknown(Why::Expansion, text, false),
        None => path,
    }
}
