//! [`Judged`]: the state of the event that Falco judges now.

use castellan_rows::{NUMBER_MAX, Nonce, Seen};

/// The event that Falco judges now: the rules that matched it, and whether a field could not be read. Falco takes a
/// failed extraction for an absent value, so a deny rule would be silently false. Therefore no event with a failure is
/// ever seen, and the daemon denies the call in time.
///
/// The rule that reports the event tests its generation, after all other rules. A report for which nobody has tested it
/// since the plugin turned to the event would lack matches: Falco asked for it after another event.
#[derive(Debug, Default)]
pub(crate) struct Judged {
    nonce: Option<Nonce>,
    rules: Vec<u64>,
    has_failed: bool,
    /// The generation was read.
    is_tested: bool,
}

impl Judged {
    /// Turns to the event with this nonce.
    pub(crate) fn turn_to(&mut self, nonce: Nonce) {
        if self.nonce != Some(nonce) {
            self.nonce = Some(nonce);
            self.rules.clear();
            self.has_failed = false;
            self.is_tested = false;
        }
    }

    /// The last rule tests the event.
    pub(crate) fn test(&mut self) {
        self.is_tested = true;
    }

    /// A rule matched the event.
    pub(crate) fn add(&mut self, rule: u64) {
        if rule > NUMBER_MAX {
            self.has_failed = true;
        } else if let Err(at) = self.rules.binary_search(&rule) {
            self.rules.insert(at, rule);
        }
    }

    /// A field of the event could not be read.
    pub(crate) fn fail(&mut self) {
        self.has_failed = true;
    }

    /// Returns the report on the event, if all rules tested it and nothing failed.
    pub(crate) fn seen(&self) -> Option<Seen> {
        let nonce = self.nonce.filter(|_| self.is_tested && !self.has_failed)?;
        Some(Seen { nonce, rules: self.rules.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_hides_the_event_until_the_next_one() {
        let mut judged = Judged::default();
        assert_eq!(judged.seen(), None);
        let (one, other) = (Nonce([1; 16]), Nonce([2; 16]));
        judged.turn_to(one);
        for rule in [9, 2, 9] {
            judged.add(rule);
        }
        judged.turn_to(one);
        assert_eq!(judged.seen(), None, "not before the last rule");
        judged.test();
        assert_eq!(judged.seen(), Some(Seen { nonce: one, rules: vec![2, 9] }));
        judged.fail();
        judged.turn_to(one);
        assert_eq!(judged.seen(), None);
        judged.turn_to(other);
        judged.test();
        assert_eq!(judged.seen(), Some(Seen { nonce: other, rules: vec![] }));
        judged.turn_to(one);
        assert_eq!(judged.seen(), None, "its matches are forgotten");
        judged.test();
        judged.add(NUMBER_MAX + 1);
        assert_eq!(judged.seen(), None);
    }
}
