//! [`Project`]: an invented project with the calls of the sessions in it. It follows the texts of the files, so that an
//! edit replaces text that the file has. Must not know how calls are judged.

use std::collections::BTreeMap;

use castellan_trial::{Asked, Case, Laid, Link, Same};
use fastrand::Rng;
use serde_json::{Map, Value as Json, json};

use crate::expansion::Words;
use crate::grammar::{Act, Flow, Grammar, Line};

/// Sessions that follow each other in one project, and flows of a session between its begin and its end.
const SESSIONS: std::ops::RangeInclusive<usize> = 3..=4;
const FLOWS: std::ops::RangeInclusive<usize> = 3..=5;

/// Flows within flows. More is a flow that contains itself.
const DEPTH_MAX: usize = 4;

/// First bytes of a program in machine code.
const MACHINE_CODE: &str = "\u{7f}ELF\u{2}\u{1}\u{1}";

/// An invented project.
#[derive(Debug, Clone, PartialEq)]
pub struct Project {
    /// The ecosystem, a name of [`crate::ECOSYSTEMS`].
    pub ecosystem: &'static str,
    /// The project's directory.
    pub directory: String,
    /// The files before the first session.
    pub files: BTreeMap<String, Laid>,
    /// The sessions, in order.
    pub sessions: Vec<Session>,
}

/// A session: its steps, in order.
pub type Session = Vec<Step>;

/// A call, and the files that it makes.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The call.
    pub asked: Asked,
    /// Files that exist after the call and that its effects do not show: path and text.
    pub made: Vec<(String, String)>,
}

impl Project {
    /// Makes a project.
    pub(crate) fn new(ecosystem: &'static str, grammar: &Grammar, rng: &mut Rng) -> Project {
        let mut words = Words::of_project(grammar, rng);
        let directory = format!("/home/dev/«src ¦ work ¦ code»/«name»-{}", rng.u16(10..99));
        let directory = words.expand(&directory, rng);
        let mut files = BTreeMap::new();
        let mut texts = BTreeMap::new();
        for (path, laid) in &grammar.files {
            words.begin_flow();
            let path = words.expand(path, rng);
            let laid = match laid {
                Laid::Text(text) => Laid::Text(words.expand(text, rng)),
                Laid::Link(link) => Laid::Link(Link { link: words.expand(&link.link, rng) }),
                Laid::Same(same) => Laid::Same(Same { same_as: words.expand(&same.same_as, rng) }),
                Laid::Sized(sized) => Laid::Sized(sized.clone()),
                Laid::Unknown(()) => Laid::Unknown(()),
            };
            if let Laid::Text(text) = &laid {
                texts.insert(path.clone(), text.clone());
            }
            files.insert(path, laid);
        }
        let mut work = Work { grammar, words, directory: &directory, texts, steps: Vec::new() };
        let sessions = (0..rng.usize(SESSIONS)).map(|_| work.session(rng)).collect();
        Project { ecosystem, directory, files, sessions }
    }

    /// Returns a case with the project's files; its call is the first one.
    pub(crate) fn case(&self) -> Case {
        let mut case = Case::new("Bash", Map::new());
        case.cwd.clone_from(&self.directory);
        case.files.clone_from(&self.files);
        case.files.insert(".git/".to_owned(), Laid::Unknown(()));
        // Half of the projects are on a branch of their own.
        let branch = if self.directory.len().is_multiple_of(2) { "main" } else { "work" };
        case.files.insert(".git/HEAD".to_owned(), Laid::Text(format!("ref: refs/heads/{branch}\n")));
        case.files.insert(".git/config".to_owned(), Laid::Text(CONFIG.to_owned()));
        case
    }

    /// Returns the number of calls.
    pub fn calls(&self) -> usize {
        self.sessions.iter().map(Vec::len).sum()
    }
}

/// The settings of each repository.
const CONFIG: &str = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://github.com/acme/app.git\n\
                      \tfetch = +refs/heads/*:refs/remotes/origin/*\n";

/// The work in a project so far.
struct Work<'g> {
    grammar: &'g Grammar,
    words: Words<'g>,
    directory: &'g str,
    /// The present texts of the files.
    texts: BTreeMap<String, String>,
    steps: Vec<Step>,
}

impl Work<'_> {
    fn session(&mut self, rng: &mut Rng) -> Session {
        let grammar = self.grammar;
        let chosen: Vec<&Flow> = grammar
            .flows
            .values()
            .flat_map(|flow| std::iter::repeat_n(flow, flow.weight.try_into().unwrap_or_default()))
            .collect();
        self.named("begin", rng);
        for _ in 0..rng.usize(FLOWS) {
            if let Some(flow) = chosen.get(rng.usize(0..chosen.len().max(1))) {
                self.words.begin_flow();
                self.flow(flow, rng, 0);
            }
        }
        self.named("end", rng);
        std::mem::take(&mut self.steps)
    }

    fn named(&mut self, name: &str, rng: &mut Rng) {
        if let Some(flow) = self.grammar.flows.get(name) {
            self.words.begin_flow();
            self.flow(flow, rng, 0);
        }
    }

    fn flow(&mut self, flow: &Flow, rng: &mut Rng, depth: usize) {
        for line in flow.steps.iter().filter(|_| depth <= DEPTH_MAX) {
            if line.is_optional && rng.bool() {
                continue;
            }
            match line.act {
                Act::Do => {
                    let name = self.words.expand(&line.what, rng);
                    if let Some(flow) = self.grammar.flows.get(&name) {
                        self.flow(flow, rng, depth + 1);
                    }
                }
                Act::Made | Act::Built => self.make(line, rng),
                Act::Run | Act::Background | Act::Read | Act::Write | Act::Edit | Act::Into | Act::Tool => {
                    let asked = self.call(line, rng);
                    self.steps.extend(asked.map(|asked| Step { asked, made: Vec::new() }));
                }
            }
        }
    }

    fn make(&mut self, line: &Line, rng: &mut Rng) {
        let path = self.words.expand(&line.what, rng);
        let text =
            if line.act == Act::Built { MACHINE_CODE.to_owned() } else { self.words.expand(&line.new, rng) };
        self.texts.insert(path.clone(), text.clone());
        if let Some(step) = self.steps.last_mut() {
            step.made.push((path, text));
        }
    }

    /// Returns the call of a line; `None` if the file has no text to replace.
    fn call(&mut self, line: &Line, rng: &mut Rng) -> Option<Asked> {
        let what = self.words.expand(&line.what, rng);
        let path = format!("{}/{what}", self.directory);
        let [old, new] = [&line.old, &line.new].map(|text| self.words.expand(text, rng));
        Some(match line.act {
            Act::Run => asked("Bash", json!({ "command": what })),
            Act::Background => asked("Bash", json!({ "command": what, "run_in_background": true })),
            Act::Read => asked("Read", json!({ "file_path": path })),
            Act::Write => {
                self.texts.insert(what, new.clone());
                asked("Write", json!({ "file_path": path, "content": new }))
            }
            Act::Edit | Act::Into => {
                let before = self.texts.get(&what)?;
                let (old, new) = if line.act == Act::Into {
                    inserted(before, &new)
                } else if old.is_empty() {
                    added(before, &new)
                } else {
                    (old, new)
                };
                if !before.contains(&old) {
                    return None;
                }
                let after = before.replacen(&old, &new, 1);
                self.texts.insert(what, after);
                asked("Edit", json!({ "file_path": path, "old_string": old, "new_string": new }))
            }
            Act::Tool => {
                let (tool, input) = what.split_once(' ')?;
                asked(tool, serde_json::from_str(input).ok()?)
            }
            Act::Made | Act::Built | Act::Do => return None,
        })
    }
}

fn asked(tool: &str, input: Json) -> Asked {
    let input = if let Json::Object(input) = input { input } else { Map::new() };
    Asked { tool: tool.to_owned(), input }
}

/// Returns the end of a text that occurs once, and the same with an addition.
fn added(before: &str, addition: &str) -> (String, String) {
    let end = unique_end(before);
    (end.to_owned(), format!("{end}\n{addition}"))
}

/// Returns the end of a text that occurs once, and the same with an addition before its last line.
fn inserted(before: &str, addition: &str) -> (String, String) {
    let end = unique_end(before);
    let last = end.trim_end().rfind('\n').map_or(0, |at| at + 1);
    let (head, tail) = end.split_at_checked(last).unwrap_or((end, ""));
    (end.to_owned(), format!("{head}{addition}{tail}"))
}

/// Returns the shortest whole lines at the end of a text that occur once, at least two if there are two.
fn unique_end(text: &str) -> &str {
    let starts = text.trim_end().rmatch_indices('\n').map(|(at, _)| at + 1).skip(1);
    let mut ends = starts.filter_map(|start| Some((start, text.get(start..)?)));
    ends.find(|(start, end)| text.find(end) == Some(*start)).map_or(text, |(_, end)| end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_replaces_text_that_occurs_once() {
        for (text, of_added, of_inserted) in [
            ("a\nb\n", ("a\nb\n", "a\nb\n\nx\n"), ("a\nb\n", "a\nx\nb\n")),
            ("}\n}\n}\n", ("}\n}\n}\n", "}\n}\n}\n\nx\n"), ("}\n}\n}\n", "}\n}\nx\n}\n")),
            ("a\nb\nc\n", ("b\nc\n", "b\nc\n\nx\n"), ("b\nc\n", "b\nx\nc\n")),
        ] {
            let owned = |(old, new): (&str, &str)| (old.to_owned(), new.to_owned());
            assert_eq!(added(text, "x\n"), owned(of_added), "{text}");
            assert_eq!(inserted(text, "x\n"), owned(of_inserted), "{text}");
        }
    }
}
