//! Files of settings, some of which start programs. Converts their text into what they start. Must not know where a
//! program looks for such a file.

mod git;
mod others;
mod table;

use castellan_event::Why;

use crate::language::{GIT, GIT_COMMON, GIT_LINK};

pub(crate) use git::{
    includes as git_includes, starts as git_starts, starts_unasked as git_starts_unasked, starts_when_read,
    text_of as git_text,
};

/// The start of a setting: the code or files that it makes a program use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Starts {
    /// Shell text, or a program by its path.
    Shell(String),
    /// The settings of another file, as written.
    Settings(String),
    /// The hooks in a directory, as written.
    Hooks(String),
    /// A program file in this language, as written.
    Program(&'static str, String),
    /// A file that is loaded as code in this language if it is there, as written; else an installed package.
    Module(&'static str, String),
    /// A package for this package manager, by its address.
    Package(&'static str, String),
    /// A registry, by its address.
    Registry(String),
    /// A command or program that an editor starts when it opens the project.
    Later(String),
    /// Text in this language.
    Text(&'static str, String),
    /// A directory that the program writes into instead of its own, as written.
    Tree(String),
    /// Opaque code.
    Unknown(String),
}

/// Returns true if a language is one of settings.
pub(crate) fn is_one(language: &str) -> bool {
    matches!(language, GIT | GIT_LINK | GIT_COMMON) || others::is_one(language)
}

/// Languages of files that their program itself changes.
const CHANGED: &[&str] =
    &[GIT, GIT_LINK, GIT_COMMON, "hgrc", "jj-config", "mise", "npmrc", "ssh-config", "yarnrc", "yarnrc-yml"];

/// Returns true if the program of such a file itself changes it.
pub(crate) fn is_written_by_its_program(language: &str) -> bool {
    CHANGED.contains(&language)
}

/// Returns the starts of the settings in a text.
pub(crate) fn starts(language: &str, text: &str) -> Result<Vec<Starts>, Why> {
    match language {
        GIT => Ok(git::settings(text)?.iter().filter_map(git::Setting::starts).collect()),
        other => others::starts(other, text),
    }
}
