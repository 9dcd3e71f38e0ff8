//! [`CommandPattern`]: a program and its arguments, such as `cargo test *`.

use castellan_event::lexical_path;

use super::PatternError;
use super::word::{Word, words};

/// A program and its arguments. The first word is the program, each other word matches one argument. A last `*` matches
/// any number of arguments.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CommandPattern {
    head: String,
    arguments: Vec<Word>,
    /// More arguments may follow.
    goes_on: bool,
}

impl CommandPattern {
    /// Parses a pattern.
    pub fn parse(text: &str) -> Result<CommandPattern, PatternError> {
        let mut arguments = words(text)?.into_iter();
        let head = match arguments.next() {
            Some(Word::Exact(head)) => head,
            Some(Word::Star(_)) => return Err(PatternError::StarInHead),
            None => return Err(PatternError::Empty),
        };
        if head.is_empty() || head.ends_with('/') {
            return Err(PatternError::NoHead);
        }
        let mut arguments: Vec<Word> = arguments.collect();
        let goes_on = arguments.pop_if(|last| *last == Word::Star("*".to_owned())).is_some();
        Ok(CommandPattern { head, arguments, goes_on })
    }

    /// Builds the pattern of a program with any arguments.
    pub(crate) fn any_arguments(head: &str) -> CommandPattern {
        CommandPattern { head: head.to_owned(), arguments: Vec::new(), goes_on: true }
    }

    /// Builds the pattern of one command.
    pub(crate) fn exact(head: &str, args: &[String]) -> CommandPattern {
        let arguments = args.iter().cloned().map(Word::Exact).collect();
        CommandPattern { head: head.to_owned(), arguments, goes_on: false }
    }

    /// Returns the program's name, without its directory.
    pub fn name(&self) -> &str {
        self.head.rsplit('/').next().unwrap_or_default()
    }

    /// Returns the program's path, if the pattern names one. A relative one begins at the workspace.
    pub(crate) fn path(&self, workspace: &str) -> Option<String> {
        self.head.contains('/').then(|| lexical_path(workspace, &self.head))
    }

    /// Reports whether the arguments match. Does not compare the program.
    pub fn matches_arguments(&self, args: &[String]) -> bool {
        let is_long_enough = if self.goes_on {
            args.len() >= self.arguments.len()
        } else {
            args.len() == self.arguments.len()
        };
        is_long_enough && self.arguments.iter().zip(args).all(|(word, arg)| word.matches(arg))
    }

    /// Returns the number of arguments from the first on that match.
    pub(crate) fn agreement(&self, args: &[String]) -> usize {
        self.arguments.iter().zip(args).take_while(|(word, arg)| word.matches(arg)).count()
    }

    /// Reports whether the pattern matches every command that the other matches. False if that is not sure.
    pub(crate) fn includes(&self, other: &CommandPattern) -> bool {
        let is_long_enough = if self.goes_on {
            other.arguments.len() >= self.arguments.len()
        } else {
            other.arguments.len() == self.arguments.len() && !other.goes_on
        };
        self.head == other.head
            && is_long_enough
            && self.arguments.iter().zip(&other.arguments).all(|(one, other)| one.includes(other))
    }

    /// Returns the text of the pattern.
    pub fn text(&self) -> String {
        let mut text = Word::Exact(self.head.clone()).text();
        for word in &self.arguments {
            text.push(' ');
            text.push_str(&word.text());
        }
        if self.goes_on {
            text.push_str(" *");
        }
        text
    }
}
