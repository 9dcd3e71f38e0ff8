//! Prints a tree as shell text, in one canonical form: one statement a line, quotes and braces everywhere. The tree keeps
//! less than the text (no operators of `[[ ]]`, no name of `coproc`), so other text may have the same tree.
//!
//! The law is `parse(print(parse(text))) == parse(text)` but for spans: [`compared`]. Tests and fuzz targets include this
//! file by its path.

#[path = "print/commands.rs"]
mod commands;
#[path = "print/simple.rs"]
mod simple;
#[path = "print/words.rs"]
mod words;

use castellan_event::Why;
use castellan_shell::syntax::{self, Shell};
use castellan_shell::tree::*;

/// Parses, prints and parses a text. Returns the number of statements that were compared: those without holes.
///
/// # Errors
///
/// Returns a description if a tree is another one.
pub(crate) fn compared(text: &str, shell: Shell) -> Result<usize, String> {
    let parsed = syntax::parse(text, shell, usize::MAX).0;
    let printed: Vec<(String, &Statement)> =
        parsed.script.statements.iter().filter_map(|one| Some((line(one, shell)?, one))).collect();
    let whole: String = printed.iter().map(|(text, _)| text.as_str()).collect();
    let again = syntax::parse(&whole, shell, usize::MAX).0;
    // The canonical form is longer and deeper.
    if again.holes.iter().any(|hole| hole.why != Why::Syntax && hole.why != Why::Unsupported) {
        return Ok(0);
    }
    let first: Vec<String> = printed.iter().map(|(_, one)| without_spans(one)).collect();
    let second: Vec<String> = again.script.statements.iter().map(without_spans).collect();
    if first == second {
        return Ok(first.len());
    }
    let (first, second) = (first.join("\n"), second.join("\n"));
    let same = first.chars().zip(second.chars()).take_while(|(one, other)| one == other).count();
    let shown = |all: &str| all.chars().skip(same.saturating_sub(60)).take(240).collect::<String>();
    Err(format!(
        "{shell:?}: {text:?}\nprinted {whole:?}\nfirst   ...{}\nsecond  ...{}",
        shown(&first),
        shown(&second)
    ))
}

fn without_spans(statement: &Statement) -> String {
    let printed = format!("{statement:?}");
    let mut pieces = printed.split("Span {");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |text, piece| text + piece.split_once('}').map_or(piece, |(_, after)| after))
}

/// Prints a statement with its newline and here-documents; nothing if it has a hole, or another part without a text of
/// its own.
fn line(statement: &Statement, shell: Shell) -> Option<String> {
    let mut printer = Printer::new(shell);
    printer.listed(statement);
    (!printer.is_lost).then_some(printer.text)
}

/// Text that is being printed.
struct Printer {
    shell: Shell,
    text: String,
    /// Bodies of here-documents for the next newline, with their delimiters.
    bodies: Vec<String>,
    /// A part has no text.
    is_lost: bool,
}

impl Printer {
    fn new(shell: Shell) -> Printer {
        Printer { shell, text: String::new(), bodies: Vec::new(), is_lost: false }
    }

    fn is_shell(&self, shells: &[Shell]) -> bool {
        shells.contains(&self.shell)
    }

    fn put(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn newline(&mut self) {
        self.put("\n");
        let bodies: String = std::mem::take(&mut self.bodies).concat();
        self.put(&bodies);
    }

    fn script(&mut self, script: &Script) {
        script.statements.iter().for_each(|one| self.listed(one));
    }

    /// A word before a list, and the list.
    fn block(&mut self, word: &str, script: &Script) {
        self.put(word);
        // ksh takes an empty command for a list, but no newline.
        self.put(if script.statements.is_empty() && self.is_shell(&[Shell::Ksh]) { ";" } else { "" });
        self.newline();
        self.script(script);
    }

    fn listed(&mut self, one: &Statement) {
        self.statement(one, &one.redirects);
        let is_marked = self.is_shell(&[Shell::Ksh]) && matches!(one.node, Node::Coproc(_));
        if one.background && !is_marked {
            self.put(" &");
        }
        self.newline();
    }
}
