//! Predicts the commands of a text, runs it, and compares. This module must not know the source of the texts.

use std::ops::AddAssign;
use std::rc::Rc;

use castellan_event::Why;
use castellan_shell::{Files, Found, Start, Work, commands_within};
use serde::{Deserialize, Serialize};

use super::cover::{self, Cover, cover};
use super::shells::{Place, Runner, Tried, VARIABLES};

/// The counts of texts that ran.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Count {
    pub(crate) texts: usize,
    /// Texts with a part that was not understood.
    pub(crate) with_gaps: usize,
    /// Executed commands.
    pub(crate) executed: usize,
    /// Commands found with all arguments known.
    pub(crate) known: usize,
    /// Commands found with unknown arguments.
    pub(crate) partly: usize,
    /// Commands found in a folder that is not there.
    pub(crate) astray: usize,
    /// Commands covered only by a part that was not understood.
    pub(crate) in_gaps: usize,
    /// Commands that were not found.
    pub(crate) unpredicted: usize,
    /// Known calls of a marker that were found, and did not happen.
    pub(crate) not_made: usize,
    /// Texts that did not finish in time.
    pub(crate) late: usize,
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Count) {
        self.texts += other.texts;
        self.with_gaps += other.with_gaps;
        self.executed += other.executed;
        self.known += other.known;
        self.partly += other.partly;
        self.astray += other.astray;
        self.in_gaps += other.in_gaps;
        self.unpredicted += other.unpredicted;
        self.not_made += other.not_made;
        self.late += other.late;
    }
}

/// The comparison for one text.
#[derive(Debug, Default)]
pub(crate) struct Judged {
    pub(crate) count: Count,
    /// The unpredicted commands.
    pub(crate) missing: Vec<String>,
    /// The commands that only a hole covers.
    pub(crate) hidden: Vec<String>,
    /// All that was found.
    pub(crate) found: String,
}

/// Returns the difference between the found commands and those that the shell ran.
pub(crate) fn judge(runner: &Runner, tried: &Tried, text: &str) -> Judged {
    let place = runner.place();
    let found = predict(&place, tried, text);
    let Some(ran) = runner.run(&place, tried, text) else { return Judged::default() };
    let mut count = Count {
        texts: 1,
        with_gaps: usize::from(cover::has_gap(&found)),
        executed: ran.calls.len(),
        not_made: cover::not_made(&found, &ran.calls),
        late: usize::from(ran.late),
        ..Count::default()
    };
    let (mut missing, mut hidden) = (Vec::new(), Vec::new());
    for call in &ran.calls {
        let shown = || match &call.directory {
            Some(path) => format!("{:?} in .{}", call.argv, path.strip_prefix(&place.work).unwrap_or(path)),
            None => format!("{:?}", call.argv),
        };
        match cover(&found, call) {
            Cover::Known => count.known += 1,
            Cover::Partly => count.partly += 1,
            Cover::Astray => count.astray += 1,
            Cover::Gap => hidden.push(shown()),
            Cover::No => missing.push(shown()),
        }
    }
    (count.in_gaps, count.unpredicted) = (hidden.len(), missing.len());
    Judged { count, missing, hidden, found: cover::lines(&found, &place.work) }
}

fn predict(place: &Place, tried: &Tried, text: &str) -> Found {
    let mut env: Vec<(String, String)> =
        VARIABLES.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    env.push(("PATH".to_owned(), place.bin.clone()));
    let start = Start {
        cwd: Some(place.work.clone()),
        home: Some(place.home.clone()),
        env,
        complete_env: true,
        aliases: Vec::new(),
        functions: Vec::new(),
        input: None,
        shells: vec![tried.shell],
    };
    let mut read = |path: &str| match std::fs::read_to_string(path) {
        Ok(text) => Ok(Rc::from(text)),
        Err(_) => Err(Why::File),
    };
    commands_within(text, &start, &mut Work::of_text(text.len()), Files::new(&mut read))
}
