//! Build files in languages that castellan does not run: finds the commands that they start, as shell text. Must not
//! know who loads such a file, and what the commands do.

mod cmake;
mod ninja;
mod scan;
mod table;
mod tokens;
mod xml;

pub(crate) use cmake::loads as cmake_loads;

use castellan_event::single_quoted;

use crate::walk::UNKNOWN;

/// The commands of a build file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Commands {
    /// Shell text, one command a line.
    pub(crate) shell: String,
    pub(crate) sources: Vec<Source>,
    pub(crate) rest: Rest,
}

/// Code of other places that a build file makes its tool use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    /// A file in the same language, as written.
    File(String),
    /// Code that this tool fetches, by its address.
    Address(&'static str, String),
    /// The address of a registry.
    Registry(String),
}

/// The part of a build file beside its commands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Rest {
    /// It does only what its tool does with the files of any project.
    #[default]
    Nothing,
    /// Code that may do more.
    Code,
    /// It has more commands than are read.
    Over,
    /// A script in another language, which build files hardly ever need.
    Script,
}

/// Returns true if a language is one of build files.
pub(crate) fn is_one(language: &str) -> bool {
    matches!(language, cmake::LANGUAGE | ninja::LANGUAGE)
        || xml::is_one(language)
        || table::find(language).is_some()
}

/// Finds the commands in a text. `directory`: that of the file.
pub(crate) fn read(language: &str, text: &str, directory: Option<&str>) -> Commands {
    if language == cmake::LANGUAGE {
        return cmake::read(text, directory.unwrap_or("."));
    }
    if language == ninja::LANGUAGE {
        return ninja::read(text);
    }
    if xml::is_one(language) {
        return xml::read(language, text);
    }
    table::find(language).map(|dialect| scan::read(dialect, text)).unwrap_or_default()
}

/// Returns the texts that a program assigns to names that `is_wanted` accepts, in any of its blocks. `None`: there are
/// more than are read.
pub(crate) fn assigned(text: &str, is_wanted: impl Fn(&str) -> bool) -> Option<Vec<(String, Vec<String>)>> {
    scan::assigned(&table::SCRIPT, text, is_wanted)
}

/// The home of the user in shell text.
const HOME: &str = "${HOME}";

/// A variable in shell text that stands for a value that the file does not show.
fn unknown() -> String {
    format!("${{{UNKNOWN}}}")
}

/// Returns words as one command. A word may have unknown parts; its other text is literal.
fn command(words: &[String]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    with_program(quoted.join(" "))
}

/// Returns a command whose program may be unknown: a program of the project whose name the file does not show.
fn with_program(command: String) -> String {
    let unknown = unknown();
    match command.strip_prefix(&format!("\"{unknown}\"")) {
        // In these quotes it is no variable of the shell.
        Some(rest) => format!("'{unknown}'{rest}"),
        None => command,
    }
}

/// Returns a word in a form that a shell parses back to the word, with its unknown parts.
fn quoted(word: &str) -> String {
    let literal = |text: &str| if text.is_empty() { String::new() } else { single_quoted(text) };
    let in_quotes = |name: &str| format!("\"{name}\"");
    let known = |text: &str| text.split(HOME).map(literal).collect::<Vec<_>>().join(&in_quotes(HOME));
    let parts: Vec<String> = word.split(&unknown()).map(known).collect();
    let whole = parts.join(&in_quotes(&unknown()));
    if whole.is_empty() { "''".to_owned() } else { whole }
}
