//! Programs that are made of several arguments: pieces of text, modules, and the loop over lines that an option puts around them.

use castellan_programs::{Arg, Invocation, Piece};

use crate::code::From;
use crate::sink::Sink;

/// `perl -MFoo=a,b -ne TEXT -e TEXT`
pub(super) fn perl(read: &Invocation, _: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let mut texts = read.values("-e").chain(read.values("-E")).peekable();
    if texts.peek().is_none() && !["-M", "-m"].iter().any(|flag| read.given(flag)) {
        return;
    }
    let mut program = Program::default();
    for library in read.values("-I") {
        program.arg("use lib q\u{1}", library, "\u{1};");
    }
    for module in read.values("-M").chain(read.values("-m")) {
        match module.as_str() {
            Some(module) => program.text(&used(module)),
            None => program.arg("use ", module, ";"),
        }
    }
    let loops = ["-n", "-p", "-a", "-F"].iter().any(|flag| read.given(flag)) && texts.peek().is_some();
    if loops {
        program.text("while (<>) {");
    }
    for (at, text) in texts.enumerate() {
        program.arg(if at > 0 { "\n" } else { "" }, text, "");
    }
    if loops {
        program.text("\n}");
    }
    sink.program("perl", From::Text(Arg::from_pieces(program.pieces, false)));
}

/// What `-M` stands for: `Foo`, `-Foo`, `Foo=a,b`, `Foo qw(a b)`.
fn used(module: &str) -> String {
    let (word, module) = module.strip_prefix('-').map_or(("use", module), |module| ("no", module));
    match module.split_once('=') {
        Some((module, names)) => format!("{word} {module} qw\u{1}{}\u{1};", names.replace(',', " ")),
        None => format!("{word} {module};"),
    }
}

#[derive(Default)]
struct Program {
    pieces: Vec<Piece>,
}

impl Program {
    fn text(&mut self, text: &str) {
        self.pieces.push(Piece::Text(text.to_owned()));
    }

    fn arg(&mut self, before: &str, arg: &Arg, after: &str) {
        self.text(before);
        self.pieces.extend(arg.pieces().iter().cloned());
        self.text(after);
    }
}
