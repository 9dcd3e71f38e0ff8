//! [`Choices`]: which of several values is taken, while one command is read in every way that it may be meant. It must not
//! know what is chosen.

use crate::limits::CHOICES_MAX;

/// The choices made while a command is read. The command is read again until every combination was taken.
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
    /// One of so many. `None` when there would be more combinations than the limit: then nothing is known.
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

    /// Goes on to the next combination. False when there is none.
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
