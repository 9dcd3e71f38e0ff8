//! Permission rules of Claude Code (`permissions`), Codex (`.rules` files) and Gemini (policies). Texts → one
//! [`Permission`] for each rule, or one [`Unread`] for a rule that is not understood. This module must not know their
//! use.

mod claude;
mod codex;
mod gemini;

/// The format of an agent's rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PermissionFormat {
    /// `permissions` of a `settings.json`.
    Claude,
    /// `prefix_rule(...)` of a `.rules` file.
    Codex,
    /// `[[rule]]` of a policy in TOML.
    Gemini,
}

impl PermissionFormat {
    /// Every format, by the agent's word.
    pub const ALL: &[(&str, PermissionFormat)] = &[
        ("claude", PermissionFormat::Claude),
        ("codex", PermissionFormat::Codex),
        ("gemini", PermissionFormat::Gemini),
    ];
}

/// The verdict of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PermissionVerdict {
    /// The call does not run.
    Deny,
    /// A person is asked.
    Ask,
    /// The call runs.
    Allow,
}

/// The calls that a rule matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PermissionSubject {
    /// A rule in Claude Code's short form, such as `Bash(git push:*)`.
    Short(String),
    /// Commands that begin with these words: the alternatives for each position.
    Prefix(Vec<Vec<String>>),
    /// Commands whose text begins with this regular expression.
    Text(String),
}

/// A rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permission {
    /// The verdict.
    pub verdict: PermissionVerdict,
    /// The matched calls.
    pub subject: PermissionSubject,
    /// The rule's text, on one line.
    pub original: String,
    /// The author's reason; may be empty.
    pub reason: String,
    /// The line, from 1.
    pub line: usize,
}

/// A rule, or a part of a text, that castellan does not understand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// The line, from 1.
    pub line: usize,
    /// The reason.
    pub why: String,
}

/// The rules of a text, in their order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Permissions {
    /// The rules.
    pub rules: Vec<Permission>,
    /// The parts that are not understood.
    pub unread: Vec<Unread>,
}

impl PermissionFormat {
    /// Returns the format for a file's name, if the name determines it.
    pub fn of_file_name(name: &str) -> Option<PermissionFormat> {
        match name.rsplit_once('.')?.1 {
            "json" => Some(PermissionFormat::Claude),
            "rules" => Some(PermissionFormat::Codex),
            "toml" => Some(PermissionFormat::Gemini),
            _ => None,
        }
    }

    /// The agent's name for people.
    pub fn agent(self) -> &'static str {
        match self {
            PermissionFormat::Claude => "Claude Code",
            PermissionFormat::Codex => "Codex",
            PermissionFormat::Gemini => "Gemini",
        }
    }

    /// Reads the rules of a text.
    pub fn read(self, text: &str) -> Permissions {
        match self {
            PermissionFormat::Claude => claude::read(text),
            PermissionFormat::Codex => codex::read(text),
            PermissionFormat::Gemini => gemini::read(text),
        }
    }
}

impl Permissions {
    fn refuse(&mut self, line: usize, why: impl Into<String>) {
        self.unread.push(Unread { line, why: why.into() });
    }
}

/// The line number of a position, from 1.
fn line_at(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

/// Joins a piece of a text into one line.
fn one_line(piece: &str) -> String {
    piece.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_the_format() {
        let check =
            |name: &str, expected| assert_eq!(PermissionFormat::of_file_name(name), expected, "{name}");
        check("settings.local.json", Some(PermissionFormat::Claude));
        check("default.rules", Some(PermissionFormat::Codex));
        check("policy.toml", Some(PermissionFormat::Gemini));
        check("toml", None);
        check("a.yaml", None);
    }
}
