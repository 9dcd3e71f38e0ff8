//! `disguises.txt`: texts with conditions that must, or must not, be true of their facts. The texts show ways to
//! disguise a command; the catalogue (`docs/bypasses.md`) lists these ways.
//!
//! Each line is a text, with `⏎` for a newline, then ` => CONDITION` for each required condition and ` !=> CONDITION`
//! for each forbidden one. `## ` starts a group, `# ` a comment. `### ` names a way; the texts up to the next way
//! belong to it. A way may have lines of its own: `@test FILE [FUNCTION]`, a test elsewhere, and `@left LAYER: WHY`,
//! the layer that covers undetected texts. A text without a way only looks dangerous, and must have forbidden
//! conditions.

mod way;

use castellan_event::Facts;

use crate::call::shell_call;
use crate::conditions::Conditions;
use crate::text_of;
pub use way::{Layer, Left, Test, Way};

const TEXT: &str = include_str!("../disguises.txt");

/// A text and its expected conditions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// The position of its way; `None` for a text that only looks dangerous.
    pub way: Option<usize>,
    /// Its line in the file, from 1.
    pub line: usize,
    /// The shell text.
    pub text: String,
    /// Conditions that must be true.
    pub wanted: Vec<String>,
    /// Conditions that must not be true.
    pub unwanted: Vec<String>,
}

/// Every case, with its conditions compiled.
#[derive(Debug)]
pub struct Disguises {
    /// In the order of the file.
    pub ways: Vec<Way>,
    /// In the order of the file.
    pub cases: Vec<Case>,
    conditions: Conditions,
}

impl Disguises {
    /// Reads the file. The error names the invalid line or condition.
    pub fn read() -> Result<Disguises, String> {
        let (ways, cases) = read(TEXT)?;
        let all = cases.iter().flat_map(Case::conditions);
        Ok(Disguises { conditions: Conditions::new(all)?, ways, cases })
    }

    /// Returns the number of conditions.
    pub fn expectations(&self) -> usize {
        self.cases.iter().map(|case| case.wanted.len() + case.unwanted.len()).sum()
    }

    /// Returns the unmet expectations, one condition per line. `analyse` makes the facts of a call.
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

fn read(text: &str) -> Result<(Vec<Way>, Vec<Case>), String> {
    let mut group = "";
    let mut way = None;
    let (mut ways, mut cases) = (Vec::<Way>::new(), Vec::new());
    for (line, written) in (1..).zip(text.lines()) {
        let wrong = |what: &str| format!("disguises.txt, line {line}: {what}");
        if let Some(name) = written.strip_prefix("## ") {
            (group, way) = (name.trim(), None);
        } else if let Some(name) = written.strip_prefix("### ") {
            way = Some(ways.len());
            ways.push(Way::new(group, name.trim()));
        } else if let Some(note) = written.strip_prefix('@') {
            let last = ways.last_mut().filter(|_| way.is_some());
            last.ok_or_else(|| wrong("a note on no way"))?.note(note).map_err(|what| wrong(&what))?;
        } else if let Some(whole) = text_of(written) {
            let case = case(&whole, way, line);
            if case.wanted.is_empty() && case.unwanted.is_empty() {
                return Err(wrong("nothing is expected of it"));
            }
            if way.is_none() && case.unwanted.is_empty() {
                return Err(wrong("it stands in no way: `### ` names one"));
            }
            cases.push(case);
        }
    }
    Ok((ways, cases))
}

fn case(whole: &str, way: Option<usize>, line: usize) -> Case {
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
    Case { way, line, text, wanted, unwanted }
}

fn trimmed(text: &str) -> String {
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_line_is_a_text_and_what_is_expected() {
        let (_, read) =
            read("## a\n### b\na ⏎ b  => x = 1 => y = 2 !=> z = 3\n\n# note\n## c\nc !=> w = 4\n").unwrap();
        let [first, second] = read.as_slice() else { panic!("{read:?}") };
        assert_eq!((first.way, first.line, first.text.as_str()), (Some(0), 3, "a \n b"));
        assert_eq!(
            (&first.wanted[..], &first.unwanted[..]),
            (&["x = 1".to_owned(), "y = 2".to_owned()][..], &["z = 3".to_owned()][..])
        );
        assert_eq!(second.way, None);
        assert_eq!((&second.wanted[..], &second.unwanted[..]), (&[][..], &["w = 4".to_owned()][..]));
    }

    #[test]
    fn what_nothing_follows_from_is_refused() {
        for text in ["a\n", "a => x = 1\n", "## g\n@test f\n", "### w\n@tset f\n", "### w\n@left nobody: w\n"]
        {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_way_has_notes() {
        let (ways, _) = read("## g\n### w\n@test a/b.rs c\n@left sandbox: it is so\n@test d.txt\n").unwrap();
        let test = |file: &str, function: Option<&str>| Test {
            file: file.to_owned(),
            function: function.map(str::to_owned),
        };
        let [way] = ways.as_slice() else { panic!("{ways:?}") };
        assert_eq!((way.group.as_str(), way.name.as_str()), ("g", "w"));
        assert_eq!(way.tests, [test("a/b.rs", Some("c")), test("d.txt", None)]);
        assert_eq!(way.left, Some(Left { layer: Layer::Sandbox, why: "it is so".to_owned() }));
    }

    #[test]
    fn every_condition_of_the_file_compiles() {
        let all = Disguises::read().unwrap_or_else(|error| panic!("{error}"));
        let disguises = all.cases.iter().filter(|case| case.way.is_some()).count();
        let probes = all.cases.iter().filter(|case| !case.unwanted.is_empty()).count();
        assert!(disguises >= 500, "{disguises}");
        assert!(probes >= 30, "{probes}");
        assert!(all.ways.len() >= 200, "{}", all.ways.len());
    }

    #[test]
    fn no_text_and_no_way_stands_twice() {
        let all = Disguises::read().unwrap_or_else(|error| panic!("{error}"));
        let mut seen = HashSet::new();
        let texts = all.cases.iter().map(|case| case.text.as_str());
        let twice: Vec<&str> = texts
            .chain(all.ways.iter().map(|way| way.name.as_str()))
            .filter(|one| !seen.insert(*one))
            .collect();
        assert!(twice.is_empty(), "{twice:?}");
    }

    /// Each way has a text, a test or a covering layer, and its tests exist.
    #[test]
    fn every_way_is_tested_or_left_to_a_layer() {
        let all = Disguises::read().unwrap_or_else(|error| panic!("{error}"));
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for (at, way) in all.ways.iter().enumerate() {
            let texts = all.cases.iter().filter(|case| case.way == Some(at)).count();
            assert!(texts + way.tests.len() > 0 || way.left.is_some(), "{}", way.name);
            for test in &way.tests {
                let held = std::fs::read_to_string(root.join(&test.file));
                let held = held.unwrap_or_else(|error| panic!("{}: {error}", test.file));
                let is_there = |name: &String| held.contains(&format!("fn {name}("));
                assert!(test.function.as_ref().is_none_or(is_there), "{test:?}");
            }
        }
    }

    #[test]
    fn an_analysis_that_sees_nothing_fails_every_disguise() {
        let all = Disguises::read().unwrap_or_else(|error| panic!("{error}"));
        let wanted: usize = all.cases.iter().map(|case| case.wanted.len()).sum();
        assert_eq!(all.wrong(|_| Facts::default()).len(), wanted);
    }
}
