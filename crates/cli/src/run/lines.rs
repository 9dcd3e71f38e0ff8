//! [`Lines`]: splits the bytes of a stream into lines, in bounded memory. It must not know the content of a line.

/// A line of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// The line, without its line break.
    Whole(&'a [u8]),
    /// A line of more bytes than the limit. Its content is lost.
    TooLong,
}

/// The line that has begun.
#[derive(Debug)]
pub(crate) struct Lines {
    partial: Vec<u8>,
    max: usize,
    /// The rest of a line that is too long is skipped.
    skips: bool,
}

impl Lines {
    /// Returns a splitter for lines of at most `max` bytes.
    pub(crate) fn new(max: usize) -> Lines {
        Lines { partial: Vec::new(), max, skips: false }
    }

    /// Adds bytes, and calls `each` with every line that they end.
    pub(crate) fn feed(&mut self, mut bytes: &[u8], mut each: impl FnMut(Line<'_>)) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (line, rest) = bytes.split_at(end);
            bytes = rest.get(1..).unwrap_or_default();
            self.complete(line, &mut each);
        }
        if self.skips || bytes.is_empty() {
            return;
        }
        if self.partial.len() + bytes.len() > self.max {
            self.partial = Vec::new();
            self.skips = true;
            each(Line::TooLong);
            return;
        }
        self.partial.extend_from_slice(bytes);
    }

    /// Reports the last line, which has no line break.
    pub(crate) fn end(&mut self, mut each: impl FnMut(Line<'_>)) {
        if !self.skips && !self.partial.is_empty() {
            self.complete(&[], &mut each);
        }
    }

    fn complete(&mut self, line: &[u8], each: &mut impl FnMut(Line<'_>)) {
        if std::mem::take(&mut self.skips) {
            return;
        }
        if self.partial.len() + line.len() > self.max {
            self.partial = Vec::new();
            each(Line::TooLong);
        } else if self.partial.is_empty() {
            each(Line::Whole(line));
        } else {
            self.partial.extend_from_slice(line);
            each(Line::Whole(&self.partial));
            self.partial.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn split(chunks: &[&[u8]], max: usize) -> Vec<Option<Vec<u8>>> {
        let mut found = Vec::new();
        let mut lines = Lines::new(max);
        let mut keep = |line: Line<'_>| {
            found.push(match line {
                Line::Whole(line) => Some(line.to_vec()),
                Line::TooLong => None,
            });
        };
        for chunk in chunks {
            lines.feed(chunk, &mut keep);
            assert!(lines.partial.len() <= max);
        }
        lines.end(&mut keep);
        found
    }

    #[test]
    fn lines_end_at_line_breaks_and_at_the_limit() {
        let check = |chunks: &[&str], expected: &[Option<&str>]| {
            let chunks: Vec<&[u8]> = chunks.iter().map(|chunk| chunk.as_bytes()).collect();
            let expected: Vec<_> =
                expected.iter().map(|line| line.map(|line| line.as_bytes().to_vec())).collect();
            assert_eq!(split(&chunks, 4), expected, "{chunks:?}");
        };
        check(&["ab\ncd\n"], &[Some("ab"), Some("cd")]);
        check(&["a", "b", "\n", "c"], &[Some("ab"), Some("c")]);
        check(&["abcd\n"], &[Some("abcd")]);
        check(&["abcde\nx\n"], &[None, Some("x")]);
        check(&["abc", "de", "fg", "h\nx"], &[None, Some("x")]);
        check(&["abcdefgh"], &[None]);
        check(&["\n\n"], &[Some(""), Some("")]);
    }

    proptest! {
        #[test]
        fn chunks_do_not_matter(text in "[a\n]{0,40}", cuts in prop::collection::vec(0usize..40, 0..6)) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.sort_unstable();
            let mut chunks = Vec::new();
            let mut from = 0;
            for cut in cuts {
                chunks.push(&text.as_bytes()[from..cut]);
                from = cut;
            }
            chunks.push(&text.as_bytes()[from..]);
            prop_assert_eq!(split(&chunks, 5), split(&[text.as_bytes()], 5));
        }
    }
}
