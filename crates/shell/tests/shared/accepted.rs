//! Asks an installed shell whether it accepts a text, and compares its answer with the parser's.

use std::fmt;
use std::process::{Command, Stdio};

use castellan_event::Why;
use castellan_shell::syntax::{self, Shell};
use castellan_shell::tree::{Node, Parsed};

/// A shell to ask.
pub(crate) struct Judge {
    program: String,
    pub(crate) shell: Shell,
}

/// The comparison of two answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    /// The shell accepts the text.
    pub(crate) shell: bool,
    /// The parser accepts the text.
    pub(crate) parser: bool,
    /// The known reason for a difference.
    pub(crate) reason: Option<&'static str>,
}

impl Answer {
    pub(crate) fn is_unexplained(&self) -> bool {
        self.shell != self.parser && self.reason.is_none()
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = |accepts: bool| if accepts { "accepts" } else { "rejects" };
        write!(out, "shell {}, parser {}", word(self.shell), word(self.parser))?;
        self.reason.map_or(Ok(()), |reason| write!(out, ": {reason}"))
    }
}

impl Judge {
    pub(crate) fn new(program: &str) -> Judge {
        let shell = match program {
            "zsh" => Shell::Zsh,
            "dash" => Shell::Posix,
            "ksh" => Shell::Ksh,
            _ => Shell::Bash,
        };
        Judge { program: program.to_owned(), shell }
    }

    pub(crate) fn answer(&self, text: &str) -> Answer {
        let parser = self.parses(&syntax::parse(text, self.shell, usize::MAX).0);
        let options: &[&[&str]] = match self.shell {
            Shell::Bash => &[&[], &["-O", "extglob"]],
            Shell::Zsh => &[&["-f"]],
            Shell::Posix | Shell::Ksh => &[&[]],
        };
        // With and without patterns of ksh: the parser does not know the option.
        let accepts = |text: &str| options.iter().any(|options| self.accepts(text, options));
        let mut shell = accepts(text);
        if shell && !parser {
            // Some shells are silent if the text ends too early, but do not run it.
            shell = accepts(&format!("{{\n{text}\n}}")) && accepts(&format!("(\n{text}\n)"));
        }
        Answer { shell, parser, reason: None }
    }

    /// Returns a shorter text with the same answer.
    pub(crate) fn shrunk(&self, text: &str) -> String {
        let answer = self.answer(text);
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

    /// The shell runs nothing of the text. The status is no answer for `[[` and `!`.
    fn accepts(&self, text: &str, options: &[&str]) -> bool {
        if text.contains('\0') {
            return false;
        }
        let mut asked = Command::new(&self.program);
        let asked =
            asked.args(options).args(["-n", "-c", &format!("\n{text}")]).stdin(Stdio::null()).env_clear();
        asked.output().is_ok_and(|output| {
            let said = String::from_utf8_lossy(&output.stderr);
            said.lines().all(|line| line.contains("warning"))
        })
    }

    /// A shell reads the text of backquotes when it runs them: an error there is no error of the text.
    fn parses(&self, parsed: &Parsed) -> bool {
        let is_error = |why: Why| why == Why::Syntax;
        !parsed.script.statements.iter().any(|one| matches!(one.node, Node::Hole(hole) if is_error(hole.why)))
    }
}
