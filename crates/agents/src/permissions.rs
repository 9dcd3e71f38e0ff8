//! Permission rules as agents keep them: Claude Code's `permissions`, Codex's `.rules` files, Gemini's policies. Texts → one
//! [`Permission`] for each rule, and one [`Unread`] for each that is not understood; the rest is read all the same. It must not know
//! what becomes of them.

mod claude;
mod codex;
mod gemini;

/// Whose rules they are, and so in which format.
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
    /// Every format, by the word of the agent whose it is.
    pub const ALL: &[(&str, PermissionFormat)] = &[
        ("claude", PermissionFormat::Claude),
        ("codex", PermissionFormat::Codex),
        ("gemini", PermissionFormat::Gemini),
    ];
}

/// What a rule does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PermissionVerdict {
    /// The call does not run.
    Deny,
    /// A person is asked.
    Ask,
    /// The call runs.
    Allow,
}

/// What a rule is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PermissionSubject {
    /// In Claude Code's short form, such as `Bash(git push:*)`.
    Short(String),
    /// Commands that begin with these words: for each place those that may stand there.
    Prefix(Vec<Vec<String>>),
    /// Commands whose text begins so: a regular expression.
    Text(String),
}

/// One rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permission {
    /// What it does.
    pub verdict: PermissionVerdict,
    /// What it is about.
    pub subject: PermissionSubject,
    /// The rule as it stands there, on one line.
    pub original: String,
    /// What its author says of it; empty where they say nothing.
    pub reason: String,
    /// Its line, from 1.
    pub line: usize,
}

/// A rule, or a part of a text, that is not understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// Its line, from 1.
    pub line: usize,
    /// Why.
    pub why: String,
}

/// What a text holds, in the order in which it stands there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Permissions {
    /// The rules.
    pub rules: Vec<Permission>,
    /// What is none.
    pub unread: Vec<Unread>,
}

impl PermissionFormat {
    /// The format that files of this name have; nothing where their name does not tell.
    pub fn of_file_name(name: &str) -> Option<PermissionFormat> {
        match name.rsplit_once('.')?.1 {
            "json" => Some(PermissionFormat::Claude),
            "rules" => Some(PermissionFormat::Codex),
            "toml" => Some(PermissionFormat::Gemini),
            _ => None,
        }
    }

    /// The agent, as people call it.
    pub fn agent(self) -> &'static str {
        match self {
            PermissionFormat::Claude => "Claude Code",
            PermissionFormat::Codex => "Codex",
            PermissionFormat::Gemini => "Gemini",
        }
    }

    /// Reads a text.
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

/// The line of a position, from 1.
fn line_at(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

/// A piece of a text on one line.
fn on_one_line(piece: &str) -> String {
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
