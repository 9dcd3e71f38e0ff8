//! Reads and checks `agents/*.toml`. An error names file and line. This module must not know how the table is written.

use std::fmt;
use std::ops::Range;

use toml::Spanned;

use crate::shape::{Agent, EventKind};

/// An error in the files, and its place.
#[derive(Debug)]
pub(crate) struct Problem {
    file: String,
    line: usize,
    message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.message)
    }
}

impl std::error::Error for Problem {}

impl Problem {
    /// `at`: the offset in the text of the file.
    pub(crate) fn new(file: &str, text: &str, at: usize, message: String) -> Problem {
        let line = text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1;
        Problem { file: file.to_owned(), line, message }
    }
}

/// Reads the files, each given by its name and its text. The agents keep their order.
pub(crate) fn read(files: &[(String, String)]) -> Result<Vec<Agent>, Problem> {
    let mut agents: Vec<Agent> = Vec::new();
    for (file, text) in files {
        let problem = |span: Range<usize>, message| Problem::new(file, text, span.start, message);
        let agent: Agent = toml::from_str(text)
            .map_err(|error| problem(error.span().unwrap_or_default(), error.message().to_owned()))?;
        check(&agent)
            .and_then(|()| check_words(&agents, &agent))
            .map_err(|(span, why)| problem(span, why))?;
        agents.push(agent);
    }
    Ok(agents)
}

/// Checks that the agent's word and its name are unique.
fn check_words(others: &[Agent], agent: &Agent) -> Result<(), (Range<usize>, String)> {
    let word = agent.word.get_ref();
    if !word.starts_with(|c: char| c.is_ascii_lowercase())
        || !word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    {
        return Err((
            agent.word.span(),
            format!("`{word}` is no word of lower-case letters, digits and `-`"),
        ));
    }
    for other in others {
        if other.word.get_ref() == word {
            return Err((agent.word.span(), format!("`{word}` is the word of another agent, too")));
        }
        if other.name.get_ref() == agent.name.get_ref() {
            let name = agent.name.get_ref();
            return Err((agent.name.span(), format!("`{name}` is the name of another agent, too")));
        }
    }
    Ok(())
}

fn check(agent: &Agent) -> Result<(), (Range<usize>, String)> {
    let mut questions = 0;
    for row in agent.events.get_ref() {
        let (event, span) = (row.get_ref(), row.span());
        questions += usize::from(event.kind == EventKind::Question);
        if event.kind.is_about_call() && event.text_key.is_some() {
            return Err((span, format!("`{}` is about a call, so it has no `text_key`", event.name)));
        }
        if event.timeout_s.is_some_and(|timeout| timeout <= event.hook_deadline_s()) {
            let why = format!("`{}`: the agent must wait longer than its hook", event.name);
            return Err((span, why));
        }
        if event.timeout_s.is_none() && (event.matcher.is_some() || event.blocks_on_failure) {
            return Err((span, format!("`{}` is registered, so it needs `timeout_s`", event.name)));
        }
    }
    if questions != 1 {
        let why = format!("{questions} events of the kind `question`: there must be one");
        return Err((agent.events.span(), why));
    }
    if let Some(prompt) = &agent.asks.prompt {
        let mut events = agent.events.get_ref().iter().map(Spanned::get_ref);
        if !events.any(|event| event.name == *prompt.get_ref() && event.kind == EventKind::Permission) {
            let why = format!("`{}` is no event of the kind `permission`", prompt.get_ref());
            return Err((prompt.span(), why));
        }
    }
    if let Some(context) = &agent.judge.context {
        let mut events = agent.events.get_ref().iter().map(Spanned::get_ref);
        if !events.any(|event| event.name == context.get_ref().event && event.kind == EventKind::Done) {
            let why = format!("`{}` is no event of the kind `done`", context.get_ref().event);
            return Err((context.span(), why));
        }
    }
    if agent.settings.machine.is_some() != agent.families.machine.is_some() {
        let span = agent.settings.machine.as_ref().map(Spanned::span).unwrap_or_else(|| agent.word.span());
        return Err((span, "`settings.machine` and `families.machine` belong together".to_owned()));
    }
    let mut raws = Vec::new();
    for row in &agent.tools {
        let raw = row.get_ref().raw.as_str();
        if raws.contains(&raw) {
            return Err((row.span(), format!("the tool `{raw}` stands there twice")));
        }
        raws.push(raw);
    }
    Ok(())
}
