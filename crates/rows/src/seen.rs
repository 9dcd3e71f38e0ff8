//! [`Seen`]: the report that an engine has judged a row, with the rules that matched it.

use std::fmt;

use crate::limits::NUMBER_MAX;
use crate::nonce::Nonce;

/// The report on one row, as in the field `row.seen`: `<nonce>:<number>,<number>,...`. Without a match nothing follows
/// the colon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The row.
    pub nonce: Nonce,
    /// The numbers of the rules that matched, ascending, each once.
    pub rules: Vec<u64>,
}

impl Seen {
    /// Reads the text. `None` for a text that [`Seen`] does not write.
    pub fn parse(text: &str) -> Option<Seen> {
        let (nonce, numbers) = text.split_once(':')?;
        let nonce = Nonce::parse(nonce)?;
        let number = |text: &str| {
            let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse().ok().filter(|number| is_plain && *number <= NUMBER_MAX)
        };
        let rules: Vec<u64> = match numbers {
            "" => Vec::new(),
            numbers => numbers.split(',').map(number).collect::<Option<_>>()?,
        };
        let is_ascending = rules.windows(2).all(|pair| matches!(pair, [one, other] if one < other));
        is_ascending.then_some(Seen { nonce, rules })
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:", self.nonce)?;
        for (at, rule) in self.rules.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            write!(out, "{comma}{rule}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_read_as_it_was_written_and_no_other_text() {
        for rules in [vec![], vec![0], vec![3, 17, NUMBER_MAX]] {
            let seen = Seen { nonce: Nonce([9; 16]), rules };
            assert_eq!(Seen::parse(&seen.to_string()), Some(seen.clone()), "{seen}");
        }
        let nonce = Nonce([9; 16]);
        for numbers in
            [",", "1,", ",1", "2,1", "1,1", "+1", "-1", "1 ", "x", "100001", "99999999999999999999"]
        {
            assert_eq!(Seen::parse(&format!("{nonce}:{numbers}")), None, "{numbers}");
        }
        for text in ["", ":", "<NA>", "0909:", &nonce.to_string()] {
            assert_eq!(Seen::parse(text), None, "{text}");
        }
    }
}
