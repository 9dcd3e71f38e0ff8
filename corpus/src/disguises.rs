//! `disguises.txt`: texts, with conditions that must be true of their facts, and conditions that must not.
//!
//! One text a line, `⏎` for a newline in it; then ` => CONDITION` for each that must be true and ` !=> CONDITION` for each
//! that must not. `## ` opens a group, `# ` a comment.

use castellan_event::Facts;

use crate::conditions::Conditions;
use crate::place::shell_call;
use crate::text_of;

const TEXT: &str = include_str!("../disguises.txt");

/// One text and what is expected of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// The group that it stands in.
    pub group: String,
    /// Its line in the file, from 1.
    pub line: usize,
    /// The shell text.
    pub text: String,
    /// Conditions that must be true.
    pub wanted: Vec<String>,
    /// Conditions that must not.
    pub unwanted: Vec<String>,
}

/// Every case, with its conditions compiled.
#[derive(Debug)]
pub struct Disguises {
    /// In the order of the file.
    pub cases: Vec<Case>,
    conditions: Conditions,
}

impl Disguises {
    /// Reads the file; the error says which condition is wrong.
    pub fn read() -> Result<Disguises, String> {
        let cases = cases(TEXT)?;
        let all = cases.iter().flat_map(Case::conditions);
        Ok(Disguises { conditions: Conditions::new(all)?, cases })
    }

    /// How many conditions there are.
    pub fn expectations(&self) -> usize {
        self.cases.iter().map(|case| case.wanted.len() + case.unwanted.len()).sum()
    }

    /// What is not as expected, each condition in a line; `analyse` makes the facts of a call. Empty when all is well.
    pub fn wrong(&self, mut analyse: impl FnMut(&castellan_event::Call) -> Facts) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut first = 0;
        for case in &self.cases {
            let call = shell_call(&case.text);
            let found = self.conditions.true_of(&call, &analyse(&call));
            for (at, condition) in case.conditions().enumerate() {
                let is_wanted = at < case.wanted.len();
                if found.contains(&(first + at)) != is_wanted {
                    let word = if is_wanted { "not found" } else { "found all the same" };
                    wrong.push(format!("line {}: `{}`: {word}: {condition}", case.line, case.text));
                }
            }
            first += case.wanted.len() + case.unwanted.len();
        }
        wrong
    }
}

impl Case {
    fn conditions(&self) -> impl Iterator<Item = &str> {
        self.wanted.iter().chain(&self.unwanted).map(String::as_str)
    }
}

fn cases(text: &str) -> Result<Vec<Case>, String> {
    let mut group = String::new();
    let mut cases = Vec::new();
    for (line, written) in (1..).zip(text.lines()) {
        if let Some(name) = written.strip_prefix("## ") {
            name.trim().clone_into(&mut group);
        } else if let Some(whole) = text_of(written) {
            let mut parts = whole.split(" => ");
            let (mut wanted, mut unwanted) = (Vec::new(), Vec::new());
            let head = parts.next().unwrap_or_default();
            let mut head = head.split(" !=> ");
            let text = head.next().unwrap_or_default().trim_end().to_owned();
            unwanted.extend(head.map(trimmed));
            for part in parts {
                let mut part = part.split(" !=> ");
                wanted.extend(part.next().map(trimmed));
                unwanted.extend(part.map(trimmed));
            }
            if wanted.is_empty() && unwanted.is_empty() {
                return Err(format!("disguises.txt, line {line}: nothing is expected of it"));
            }
            cases.push(Case { group: group.clone(), line, text, wanted, unwanted });
        }
    }
    Ok(cases)
}

fn trimmed(text: &str) -> String {
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_text_and_what_is_expected() {
        let read = cases("## a\na ⏎ b  => x = 1 => y = 2 !=> z = 3\n\n# note\nc !=> w = 4\n").unwrap();
        let [first, second] = read.as_slice() else { panic!("{read:?}") };
        assert_eq!((first.group.as_str(), first.line, first.text.as_str()), ("a", 2, "a \n b"));
        assert_eq!(
            (&first.wanted[..], &first.unwanted[..]),
            (&["x = 1".to_owned(), "y = 2".to_owned()][..], &["z = 3".to_owned()][..])
        );
        assert_eq!((&second.wanted[..], &second.unwanted[..]), (&[][..], &["w = 4".to_owned()][..]));
        assert!(cases("a\n").is_err());
    }

    #[test]
    fn every_condition_of_the_file_compiles() {
        let all = Disguises::read().unwrap_or_else(|error| panic!("{error}"));
        let disguises = all.cases.iter().filter(|case| !case.wanted.is_empty()).count();
        let probes = all.cases.iter().filter(|case| !case.unwanted.is_empty()).count();
        assert!(disguises >= 180, "{disguises}");
        assert!(probes >= 30, "{probes}");
    }

    #[test]
    fn an_analysis_that_sees_nothing_fails_every_disguise() {
        let all = Disguises::read().unwrap_or_else(|error| panic!("{error}"));
        let wanted: usize = all.cases.iter().map(|case| case.wanted.len()).sum();
        assert_eq!(all.wrong(|_| Facts::default()).len(), wanted);
    }
}
