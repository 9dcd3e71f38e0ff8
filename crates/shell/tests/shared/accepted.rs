//! Asks an installed shell whether it accepts a text, and compares its answer with the parser's.

use std::process::{Command, Stdio};

use castellan_event::Why;
use castellan_shell::syntax::{self, Shell};
use castellan_shell::tree::{Node, Parsed};
use regex::Regex;

/// Known differences: the shells, whether they accept the text, what the shortest such text contains, and the reason. A
/// text that only the parser accepts runs nothing. A text that only the shell accepts has a hole from its line on.
const REASONS: &str = include_str!("../data/syntax_differences.txt");

/// A shell to ask.
pub(crate) struct Judge {
    program: &'static str,
    pub(crate) shell: Shell,
    /// `(accepts, pattern, reason)`
    reasons: Vec<(bool, Regex, &'static str)>,
}

/// The answers of the shell and of the parser: true if it accepts the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Answer {
    pub(crate) shell: bool,
    pub(crate) parser: bool,
}

impl Judge {
    pub(crate) fn new(name: &str) -> Option<Judge> {
        let all = [("bash", Shell::Bash), ("zsh", Shell::Zsh), ("dash", Shell::Posix), ("ksh", Shell::Ksh)];
        let (program, shell) = all.into_iter().find(|(program, _)| *program == name)?;
        let rows = REASONS.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let reasons = rows.filter_map(|row| {
            let [shells, answer, pattern, reason] =
                row.splitn(4, "  ").collect::<Vec<_>>().try_into().ok()?;
            let is_asked = shells.split(' ').any(|shell| shell == name);
            is_asked.then(|| Some((answer == "accepts", Regex::new(pattern).ok()?, reason)))?
        });
        Some(Judge { program, shell, reasons: reasons.collect() })
    }

    /// Reports whether the shell is there, and answers.
    pub(crate) fn is_installed(&self) -> bool {
        self.accepts("a") == Some(true) && self.accepts(")") == Some(false)
    }

    pub(crate) fn answer(&self, text: &str) -> Answer {
        let parser = self.parses(&syntax::parse(text, self.shell, usize::MAX).0);
        let shell = self.accepts(text).unwrap_or(parser);
        if !shell || parser {
            return Answer { shell, parser };
        }
        // Some shells are silent if the text ends too early, but do not run it.
        let is_whole = |text: String| self.accepts(&text).unwrap_or(false);
        let shell = is_whole(format!("{{\n{text}\n}}")) && is_whole(format!("(\n{text}\n)"));
        Answer { shell, parser }
    }

    /// Returns the known reason for different answers.
    pub(crate) fn reason(&self, text: &str, answer: Answer) -> Option<&'static str> {
        let mut reasons = self.reasons.iter();
        let found = reasons.find(|(accepts, pattern, _)| *accepts == answer.shell && pattern.is_match(text));
        found.map(|(.., reason)| *reason)
    }

    /// Returns a shorter text with the same answer.
    pub(crate) fn shrunk(&self, text: &str, answer: Answer) -> String {
        let mut text = text.to_owned();
        let mut length = text.len() / 2;
        while length > 0 {
            let mut at = 0;
            while at + length <= text.len() {
                let mut shorter = text.clone();
                let can_cut = text.is_char_boundary(at) && text.is_char_boundary(at + length);
                if can_cut {
                    shorter.replace_range(at..at + length, "");
                }
                if can_cut && self.answer(&shorter) == answer {
                    text = shorter;
                } else {
                    at += length;
                }
            }
            length /= 2;
        }
        text
    }

    /// Nothing of the text runs. The status is no answer for `[[` and `!`. Without an answer in time, there is none.
    fn accepts(&self, text: &str) -> Option<bool> {
        let options: &[&[&str]] = match self.shell {
            // The parser does not know this option.
            Shell::Bash => &[&[], &["-O", "extglob"]],
            Shell::Zsh => &[&["-f"]],
            Shell::Posix | Shell::Ksh => &[&[]],
        };
        for options in options {
            let mut asked = Command::new("timeout");
            asked.args(["2", self.program]).args(*options).args(["-n", "-c", &format!("\n{text}")]);
            let output = asked.stdin(Stdio::null()).env_remove("ENV").env_remove("BASH_ENV").output().ok()?;
            if matches!(output.status.code(), None | Some(124)) {
                return None;
            }
            let said = String::from_utf8_lossy(&output.stderr);
            if said.lines().all(|line| line.contains("warning")) {
                return Some(true);
            }
        }
        Some(false)
    }

    /// A shell reads the text of backquotes when it runs them: an error there is no error of the text.
    fn parses(&self, parsed: &Parsed) -> bool {
        let is_error = |why: Why| why == Why::Syntax;
        !parsed.script.statements.iter().any(|one| matches!(one.node, Node::Hole(hole) if is_error(hole.why)))
    }
}
