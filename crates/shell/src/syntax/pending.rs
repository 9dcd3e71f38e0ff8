//! [`Heredocs`]: here-documents whose operator was read, but whose body was not. This module must not know the parser.

use crate::tree::Word;

/// Here-documents of a text.
#[derive(Debug, Default)]
pub(super) struct Heredocs {
    /// Those whose bodies begin after the next newline.
    pub(super) pending: Vec<Pending>,
    /// The number of those in the line, also outside of the substitution at the position.
    pub(super) open: usize,
    /// Bodies, each with the offset of its redirect in the outermost text.
    pub(super) bodies: Vec<(u32, Word)>,
}

/// A here-document without its body.
#[derive(Debug)]
pub(super) struct Pending {
    /// The offset of the redirect in the outermost text.
    pub(super) redirect: u32,
    pub(super) delimiter: String,
    /// A quoted delimiter: the body is not expanded.
    pub(super) is_quoted: bool,
    /// `<<-`: the shell removes tabs at the beginning of lines.
    pub(super) strips_tabs: bool,
}

impl Pending {
    /// Reports whether a line ends the body, with the number of its last bytes that do not belong to the delimiter.
    /// `after` is true for the text that may be between the delimiter and the newline.
    pub(super) fn closes(&self, line: &str, after: fn(&str) -> bool) -> Option<usize> {
        let line = if self.strips_tabs { line.trim_start_matches('\t') } else { line };
        let rest = if line.contains("\\\n") && !self.is_quoted {
            // Written in several pieces, it can have nothing after it.
            let joined = line.replace("\\\n", "");
            return (joined.trim_end_matches('\n') == self.delimiter).then_some(0);
        } else {
            line.strip_prefix(self.delimiter.as_str())?
        };
        match rest {
            "" | "\n" => Some(0),
            rest if after(rest) => Some(rest.len()),
            _ => None,
        }
    }
}
