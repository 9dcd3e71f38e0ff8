//! [`Grammar`]: the files, words and flows of an ecosystem, read from a text. `grammars/README.md` has the format. Must
//! not know how a project is made from it.

use std::collections::BTreeMap;

use castellan_trial::{Laid, Link};

/// The kinds of projects in an ecosystem.
#[derive(Debug, Clone, Default)]
pub(crate) struct Grammar {
    /// Words with one meaning in a project.
    pub(crate) project: Vec<(String, String)>,
    /// Words with one meaning in a flow.
    pub(crate) flow: BTreeMap<String, String>,
    /// Words with a new meaning at each use.
    pub(crate) any: BTreeMap<String, String>,
    /// Files of a new project: path and text, or target of a symlink.
    pub(crate) files: Vec<(String, Laid)>,
    /// Flows by name.
    pub(crate) flows: BTreeMap<String, Flow>,
}

/// Steps that follow each other.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flow {
    /// The share of this flow among the chosen flows. Flows of weight 0 are only parts of others.
    pub(crate) weight: u32,
    pub(crate) steps: Vec<Line>,
}

/// A step of a flow, before the expansion of its texts.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    /// The flow has this step in half of the cases.
    pub(crate) is_optional: bool,
    pub(crate) act: Act,
    /// The word after the keyword: a command, a path, or the name of a flow or tool.
    pub(crate) what: String,
    /// The text that is removed.
    pub(crate) old: String,
    /// The text that is written.
    pub(crate) new: String,
}

/// The kind of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    /// A shell command.
    Run,
    /// A shell command in the background.
    Background,
    Read,
    Write,
    /// Replaces `old`; without an old text, adds `new` at the end.
    Edit,
    /// Adds `new` before the last line.
    Into,
    /// Another tool: name and JSON.
    Tool,
    /// A file that the call before made.
    Made,
    /// A program in machine code that the call before made.
    Built,
    /// Another flow.
    Do,
}

const ACTS: &[(&str, Act)] = &[
    ("$", Act::Run),
    ("&", Act::Background),
    ("read", Act::Read),
    ("write", Act::Write),
    ("edit", Act::Edit),
    ("into", Act::Into),
    ("tool", Act::Tool),
    ("made", Act::Made),
    ("built", Act::Built),
    ("do", Act::Do),
];

/// The part of a text that a line belongs to.
#[derive(Debug, Clone)]
enum Part {
    Project,
    FlowWords,
    AnyWords,
    File(String, String),
    Flow(String),
}

impl Grammar {
    /// Reads texts as one grammar. A later text adds to an earlier one. Returns an error with the wrong line.
    pub(crate) fn read(texts: &[&str]) -> Result<Grammar, String> {
        let mut grammar = Grammar::default();
        for text in texts {
            let mut part = Part::AnyWords;
            for line in text.lines() {
                match line.strip_prefix("== ") {
                    Some(header) => {
                        let next = grammar.begin(header)?;
                        grammar.close(std::mem::replace(&mut part, next));
                    }
                    None => grammar.add(&mut part, line).map_err(|why| format!("`{line}`: {why}"))?,
                }
            }
            grammar.close(part);
        }
        Ok(grammar)
    }

    fn begin(&mut self, header: &str) -> Result<Part, String> {
        let words: Vec<&str> = header.split(' ').collect();
        Ok(match words.as_slice() {
            ["project"] => Part::Project,
            ["words"] => Part::FlowWords,
            ["any"] => Part::AnyWords,
            ["file", path] => Part::File((*path).to_owned(), String::new()),
            ["link", path, target] => {
                self.files.push(((*path).to_owned(), Laid::Link(Link { link: (*target).to_owned() })));
                Part::AnyWords
            }
            ["flow", name, weight] => {
                let weight = weight.parse().map_err(|_| format!("`{header}`: the weight is no number"))?;
                self.flows.insert((*name).to_owned(), Flow { weight, steps: Vec::new() });
                Part::Flow((*name).to_owned())
            }
            _ => return Err(format!("unknown part `{header}`")),
        })
    }

    fn close(&mut self, part: Part) {
        match part {
            Part::File(path, text) => self.files.push((path, Laid::Text(format!("{}\n", text.trim_end())))),
            Part::Project | Part::FlowWords | Part::AnyWords | Part::Flow(_) => {}
        }
    }

    fn add(&mut self, part: &mut Part, line: &str) -> Result<(), String> {
        match part {
            Part::File(_, text) => {
                text.push_str(line);
                text.push('\n');
            }
            _ if line.is_empty() || line.starts_with("# ") => {}
            Part::Project => self.project.push(word(line)?),
            Part::FlowWords => self.flow.extend([word(line)?]),
            Part::AnyWords => self.any.extend([word(line)?]),
            Part::Flow(name) => {
                let flow = self.flows.entry(name.clone()).or_default();
                step(&mut flow.steps, line)?;
            }
        }
        Ok(())
    }
}

/// Reads `NAME: ALTERNATIVES` as the name and one choice among them.
fn word(line: &str) -> Result<(String, String), String> {
    let (name, alternatives) = line.split_once(": ").ok_or("a word is written as `name: a ¦ b`")?;
    Ok((name.to_owned(), format!("«{alternatives}»")))
}

fn step(steps: &mut Vec<Line>, line: &str) -> Result<(), String> {
    let more = |steps: &mut Vec<Line>, add: &mut dyn FnMut(&mut Line)| {
        steps.last_mut().map(add).ok_or_else(|| "no step is before this text".to_owned())
    };
    if let Some(text) = line.strip_prefix('|') {
        return more(steps, &mut |step| step.new += &format!("{text}\n"));
    }
    if let Some(text) = line.strip_prefix('-') {
        return more(steps, &mut |step| step.old += &format!("{text}\n"));
    }
    if let Some(text) = line.strip_prefix("> ") {
        return more(steps, &mut |step| step.what += &format!("\n{text}"));
    }
    let optional = line.strip_prefix("? ");
    let (keyword, what) =
        optional.unwrap_or(line).split_once(' ').ok_or("a step has a keyword and a text")?;
    let (_, act) = ACTS.iter().find(|(known, _)| *known == keyword).ok_or("unknown keyword")?;
    steps.push(Line {
        is_optional: optional.is_some(),
        act: *act,
        what: what.to_owned(),
        old: String::new(),
        new: String::new(),
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_line_is_an_error() {
        for (text, expected) in [
            ("== flow a b", "`flow a b`: the weight is no number"),
            ("== part", "unknown part `part`"),
            ("== words\nx y", "`x y`: a word is written as `name: a ¦ b`"),
            ("== flow a 1\n|x", "`|x`: no step is before this text"),
            ("== flow a 1\nrun x", "`run x`: unknown keyword"),
        ] {
            assert_eq!(Grammar::read(&[text]).map(|_| ()), Err(expected.to_owned()), "{text}");
        }
    }

    #[test]
    fn steps_have_their_texts() {
        let grammar = Grammar::read(&["== flow a 2\n? edit x\n-old\n|new\n$ a \\\n>   b\n"]).unwrap();
        let flow = &grammar.flows["a"];
        let steps: Vec<_> = flow.steps.iter().map(|one| (one.is_optional, one.what.as_str())).collect();
        assert_eq!((flow.weight, steps), (2, vec![(true, "x"), (false, "a \\\n  b")]));
        assert_eq!((flow.steps[0].old.as_str(), flow.steps[0].new.as_str()), ("old\n", "new\n"));
    }
}
