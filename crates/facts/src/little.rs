//! Effects of code in the little languages of programs: sed, awk, ex. Must not know the languages.

use castellan_event::{EffectKind, Role, Why};
use castellan_programs::{Arg, Does, Piece, code};

use crate::next::From;
use crate::scripts;
use crate::sink::Sink;

/// Adds the effects of the code itself. The shell text that the code runs was found with the command.
pub(crate) fn in_code(language: &str, arg: &Arg, sink: &mut Sink<'_, '_, '_, '_>) {
    let Some(does) = code(language, arg) else {
        sink.program(language, From::Text(arg.clone()));
        return;
    };
    let is_unknown = does.iter().any(|one| matches!(one, Does::Unknown { .. }));
    does.into_iter().for_each(|one| self::does(language, one, sink));
    if !is_unknown && ENDS_WITH_A_LINE.contains(&language) && arg.pieces().iter().any(is_foreign) {
        return with_foreign_text(language, arg, sink);
    }
    // The unknown part is only text here: in a pattern, a replacement, a literal.
    if let Some(why) = arg.why().filter(|_| !is_unknown) {
        sink.opaque(Role::Operand, why, &arg.written());
    }
}

/// Languages in which a delimiter or a line break in a text begins the next command.
const ENDS_WITH_A_LINE: &[&str] = &["ex", "sed"];

/// Returns true if a part is text that neither the agent nor a known command wrote.
fn is_foreign(piece: &Piece) -> bool {
    matches!(piece, Piece::Unknown { why: Why::File | Why::Input | Why::Network, .. })
}

/// Adds the effects of code with the text of files in it, such as `s/x/$(cat VERSION)/`. The code is Opaque if the text is
/// not known, or if it runs a command.
fn with_foreign_text(language: &str, arg: &Arg, sink: &mut Sink<'_, '_, '_, '_>) {
    let whole: Vec<Piece> = arg.pieces().iter().map(|piece| with_text(piece, sink)).collect();
    let whole = Arg::from_pieces(whole, false);
    let foreign = whole.pieces().iter().find(|piece| is_foreign(piece));
    if let Some(Piece::Unknown { why, written }) = foreign {
        return sink.opaque(Role::Code, *why, written);
    }
    for one in code(language, &whole).unwrap_or_default() {
        match one {
            Does::Shell(_) => sink.opaque(Role::Code, Why::File, &arg.written()),
            other @ (Does::Read(_) | Does::Write(_) | Does::Execute(_) | Does::Unknown { .. }) => {
                does(language, other, sink);
            }
        }
    }
}

/// Commands that print the first line of a file.
const FIRST_LINES: &[&str] = &["head -1 ", "head -n1 ", "head -n 1 "];

/// Returns a part with the text of the file that it prints. A shell removes the line breaks at its end.
fn with_text(piece: &Piece, sink: &mut Sink<'_, '_, '_, '_>) -> Piece {
    let Piece::Unknown { written, .. } = piece else { return piece.clone() };
    let inside =
        written.strip_prefix("$(").and_then(|rest| rest.strip_suffix(')')).unwrap_or_default().trim();
    let of_first_line = FIRST_LINES.iter().find_map(|begin| inside.strip_prefix(begin));
    let of_file = inside.strip_prefix("cat ").or_else(|| inside.strip_prefix('<'));
    let file = of_first_line.or(of_file).unwrap_or_default().trim();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-' | '/');
    if file.is_empty() || file.starts_with('-') || !file.chars().all(is_plain) {
        return piece.clone();
    }
    let path = sink.locate(&Arg::known(file)).path;
    let text = path.and_then(|path| scripts::text(&path, sink.scene).ok());
    let shown = |text: &str| match of_first_line {
        Some(_) => text.lines().next().unwrap_or_default().to_owned(),
        None => text.trim_end_matches('\n').to_owned(),
    };
    text.map_or_else(|| piece.clone(), |text| Piece::Text(shown(&text)))
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
