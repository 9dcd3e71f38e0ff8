//! Long text whose length lies in heredocs with a quoted delimiter: files that are written. Nothing is expanded in
//! them, so the parser gets the first line of each only. What is taken for such a body is a guess; it counts only when
//! the parser finds a literal heredoc at the very place, see [`Bodies::is_proved`].

use super::Range;
use super::ground::Rewritten;

/// Text without most of its quoted heredocs.
#[derive(Debug, Default)]
pub(super) struct Bodies {
    /// The shorter text, and where its pieces stand in the long one.
    pub(super) rewritten: Rewritten,
    cuts: Vec<Cut>,
}

#[derive(Debug)]
struct Cut {
    /// Where the first line of the body stands in the shorter text.
    short: Range,
    /// Where the body stands in the long one.
    long: Range,
    proved: bool,
}

impl Bodies {
    /// Takes the bodies out.
    pub(super) fn cut(text: &str) -> Bodies {
        let mut bodies = Bodies::default();
        let (mut kept, mut at) = (0, 0);
        let mut lines = text.split_inclusive('\n');
        while let Some(line) = lines.next() {
            at += line.len();
            let Some(delimiter) = delimiter(line) else { continue };
            let start = at;
            let mut first = None;
            // The first line that could be the delimiter: with `<<-`, tabs before it do not count.
            let closed = lines.by_ref().find(|line| {
                let is_end = line.trim_end_matches('\n').trim_start_matches('\t') == delimiter;
                if !is_end {
                    at += line.len();
                    first.get_or_insert(line.len());
                }
                is_end
            });
            if let (Some(end), Some(first)) = (closed, first) {
                bodies.push(text, kept..start + first);
                let short = bodies.rewritten.text.len() as u32;
                let cut = Cut {
                    short: (short - first as u32, short),
                    long: (start as u32, at as u32),
                    proved: false,
                };
                bodies.cuts.push(cut);
                kept = at;
                at += end.len();
            } else if let Some(end) = closed {
                at += end.len();
            }
        }
        bodies.push(text, kept..text.len());
        bodies
    }

    fn push(&mut self, text: &str, range: std::ops::Range<usize>) {
        let start = range.start as u32;
        self.rewritten.push(text.get(range).unwrap_or_default(), start);
    }

    /// The whole body of which the parser saw the first line, and where it stands in the long text.
    pub(super) fn whole(&mut self, short: Range) -> Option<Range> {
        let at = self.cuts.binary_search_by_key(&short.0, |cut| cut.short.0).ok()?;
        let cut = self.cuts.get_mut(at).filter(|cut| cut.short == short)?;
        cut.proved = true;
        Some(cut.long)
    }

    /// The parser took everything that was cut for the body of a literal heredoc, with the delimiter that was guessed:
    /// it ended it where the cut ends, and no line before that could have.
    pub(super) fn is_proved(&self) -> bool {
        self.cuts.iter().all(|cut| cut.proved)
    }
}

/// The quoted delimiter of the only heredoc that begins on a line.
fn delimiter(line: &str) -> Option<&str> {
    let (_, after) = line.split_once("<<")?;
    let after = after.strip_prefix('-').unwrap_or(after).trim_start_matches([' ', '\t']);
    let quote = after.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
    let (word, rest) = after.strip_prefix(quote)?.split_once(quote)?;
    (!word.is_empty() && !word.contains(['\\', '\t']) && !rest.contains("<<")).then_some(word)
}
