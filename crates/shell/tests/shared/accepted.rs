//! Asks an installed shell whether it accepts a text, and compares its answer with the parser's.

use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use castellan_event::Why;
use castellan_shell::syntax::{self, Shell};
use castellan_shell::tree::{Node, Parsed};
use regex::Regex;

/// The time for an answer: `ksh -n` reads some texts for ever.
const ANSWER_SECONDS: u64 = 2;

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

    /// Returns nothing if the shell gives no answer in time.
    pub(crate) fn answer(&self, text: &str) -> Option<Answer> {
        let parser = self.parses(&syntax::parse(text, self.shell, usize::MAX).0);
        let shell = self.accepts(text)?;
        if !shell || parser {
            return Some(Answer { shell, parser });
        }
        // Some shells are silent if the text ends too early, but do not run it.
        let shell = self.accepts(&format!("{{\n{text}\n}}"))? && self.accepts(&format!("(\n{text}\n)"))?;
        Some(Answer { shell, parser })
    }

    /// Returns the known reason for different answers.
    pub(crate) fn reason(&self, text: &str, answer: Answer) -> Option<&'static str> {
        let mut reasons = self.reasons.iter();
        let found = reasons.find(|(accepts, pattern, _)| *accepts == answer.shell && pattern.is_match(text));
        found.map(|(.., reason)| *reason)
    }

    /// Returns a shorter text with the same answer: no piece of it and no pair of brackets can be taken away.
    pub(crate) fn shrunk(&self, text: &str, answer: Answer) -> String {
        let mut text = text.to_owned();
        loop {
            let before = text.len();
            let mut length = (before / 2).max(1);
            while length > 0 {
                let mut at = 0;
                while at + length <= text.len() {
                    let shorter = without(&text, at, length).filter(|shorter| self.says(shorter, answer));
                    match shorter {
                        Some(shorter) => text = shorter,
                        None => at += length,
                    }
                }
                length /= 2;
            }
            for at in (0..text.len()).rev() {
                if let Some(shorter) = without_pair(&text, at).filter(|shorter| self.says(shorter, answer)) {
                    text = shorter;
                }
            }
            if text.len() == before {
                return text;
            }
        }
    }

    fn says(&self, text: &str, answer: Answer) -> bool {
        self.answer(text) == Some(answer)
    }

    /// Nothing of the text runs. The status is no answer for `[[` and `!`.
    fn accepts(&self, text: &str) -> Option<bool> {
        let options: &[&[&str]] = match self.shell {
            // The parser does not know this option.
            Shell::Bash => &[&[], &["-O", "extglob"]],
            Shell::Zsh => &[&["-f"]],
            Shell::Posix | Shell::Ksh => &[&[]],
        };
        for options in options {
            let mut said = self.said(options, text)?;
            // zsh expands words that it does not run. It only reads those of a function.
            if self.shell == Shell::Zsh && !said.is_empty() && !is_error_of_text(&said) {
                said = self.said(options, &format!("f() {{\n{text}\n}}"))?;
            }
            if said.lines().all(|line| line.contains("warning")) {
                return Some(true);
            }
        }
        Some(false)
    }

    /// Returns the messages of the shell.
    fn said(&self, options: &[&str], text: &str) -> Option<String> {
        let mut asked = Command::new(self.program);
        asked.args(options).args(["-n", "-c", &format!("\n{text}")]).env_remove("ENV").env_remove("BASH_ENV");
        // A shell that is killed leaves the file of its here-document in its folder.
        asked.current_dir(std::env::temp_dir());
        let asked = asked.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = asked.spawn().ok()?;
        let mut messages = child.stderr.take()?;
        let mut said = Vec::new();
        std::thread::scope(|scope| {
            let (done, ends) = mpsc::channel::<()>();
            let watch = scope.spawn(move || {
                let end = ends.recv_timeout(Duration::from_secs(ANSWER_SECONDS));
                let is_late = end == Err(mpsc::RecvTimeoutError::Timeout);
                if is_late {
                    drop(child.kill());
                }
                child.wait().ok().filter(|_| !is_late)
            });
            drop(messages.read_to_end(&mut said));
            drop(done);
            watch.join().ok().flatten()
        })?;
        Some(String::from_utf8_lossy(&said).into_owned())
    }

    /// A shell reads the text of backquotes when it runs them: an error there is no error of the text.
    fn parses(&self, parsed: &Parsed) -> bool {
        let is_error = |why: Why| why == Why::Syntax;
        !parsed.script.statements.iter().any(|one| matches!(one.node, Node::Hole(hole) if is_error(hole.why)))
    }
}

/// Reports whether zsh said that it cannot read the text; it also reports what it cannot expand.
fn is_error_of_text(said: &str) -> bool {
    !said.contains("in command substitution") && (said.contains("parse error") || said.contains("unmatched"))
}

fn without(text: &str, at: usize, length: usize) -> Option<String> {
    Some(format!("{}{}", text.get(..at)?, text.get(at + length..)?))
}

/// Returns the text without the bracket at an offset and the one that closes it.
fn without_pair(text: &str, at: usize) -> Option<String> {
    let open = *text.as_bytes().get(at)?;
    let close = match open {
        b'(' => b')',
        b'{' => b'}',
        b'[' => b']',
        b'"' | b'\'' | b'`' => open,
        _ => return None,
    };
    let mut depth = 0_usize;
    for (end, byte) in text.bytes().enumerate().skip(at + 1) {
        if byte == close && depth == 0 {
            return Some(format!("{}{}{}", text.get(..at)?, text.get(at + 1..end)?, text.get(end + 1..)?));
        }
        depth += usize::from(byte == open);
        depth -= usize::from(byte == close);
    }
    None
}
