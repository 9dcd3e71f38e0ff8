//! Bytes as a sequence of choices, so that a changed byte changes one thing.

/// The remaining choices. Without bytes, every choice is the first.
#[derive(Debug)]
pub(crate) struct Choices<'b>(std::slice::Iter<'b, u8>);

impl<'b> Choices<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        Self(bytes.iter())
    }

    pub(crate) fn below(&mut self, count: u8) -> u8 {
        self.0.next().copied().unwrap_or_default().checked_rem(count).unwrap_or_default()
    }

    pub(crate) fn of<'t, T>(&mut self, things: &'t [T]) -> Option<&'t T> {
        let count = u8::try_from(things.len()).unwrap_or(u8::MAX);
        things.get(usize::from(self.below(count)))
    }

    pub(crate) fn word(&mut self, words: &[&'static str]) -> &'static str {
        self.of(words).copied().unwrap_or_default()
    }

    pub(crate) fn flip(&mut self) -> bool {
        self.below(2) == 1
    }
}
