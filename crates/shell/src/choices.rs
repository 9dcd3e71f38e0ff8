//! [`Choices`]: selects among values while a command is read in every possible way. The module must not know values.

use crate::limits::CHOICES_MAX;

/// The choices made during one reading of a command. The walk reads the command again until every combination was used.
#[derive(Debug, Default)]
pub(crate) struct Choices {
    made: Vec<Choice>,
    at: usize,
}

#[derive(Debug)]
struct Choice {
    taken: usize,
    among: usize,
}

impl Choices {
    /// Returns an index below `among`, or `None` when the combinations would exceed the limit: the value is unknown.
    pub(crate) fn choose(&mut self, among: usize) -> Option<usize> {
        if among <= 1 {
            return Some(0);
        }
        let at = self.at;
        if let Some(choice) = self.made.get(at) {
            self.at += 1;
            return Some(choice.taken.min(among - 1));
        }
        let ways: usize = self.made.iter().map(|choice| choice.among).product();
        if ways.saturating_mul(among) > CHOICES_MAX {
            return None;
        }
        self.made.push(Choice { taken: 0, among });
        self.at += 1;
        Some(0)
    }

    /// Advances to the next combination. Returns false when no combination is left.
    pub(crate) fn next(&mut self) -> bool {
        self.at = 0;
        while let Some(last) = self.made.last_mut() {
            if last.taken + 1 < last.among {
                last.taken += 1;
                return true;
            }
            self.made.pop();
        }
        false
    }
}
