//! Simple commands: assignments and redirects. This module must not know compound commands.

use castellan_shell::syntax::Shell;
use castellan_shell::tree::*;

use super::Printer;
use super::words::Place;

impl Printer {
    /// A simple command. The word after redirects is no reserved word.
    pub(super) fn command(
        &mut self,
        assignments: &[Assignment],
        redirects: &[Redirect],
        words: impl FnOnce(&mut Printer),
    ) {
        for one in assignments {
            self.assignment(one);
            self.put(" ");
        }
        // zsh takes the brace of `{name}>` for a group there.
        let is_brace = matches!(redirects.first(), Some(Redirect { fd: Some(FdWord::Variable(_)), .. }))
            && assignments.is_empty()
            && self.is_shell(&[Shell::Zsh]);
        let (before, after) = if is_brace { (&[][..], redirects) } else { (redirects, &[][..]) };
        for one in before {
            self.redirect(one);
            self.put(" ");
        }
        words(self);
        for one in after {
            self.put(" ");
            self.redirect(one);
        }
    }

    pub(super) fn redirect(&mut self, one: &Redirect) {
        match &one.fd {
            Some(FdWord::Number(number)) => self.put(&number.to_string()),
            Some(FdWord::Variable(name)) => self.put(&format!("{{{name}}}")),
            None => {}
        }
        let has_both = one.fd.is_none() && !self.is_shell(&[Shell::Posix]);
        self.put(match one.kind {
            RedirectKind::Read => "<",
            RedirectKind::Write => ">",
            RedirectKind::Append => ">>",
            RedirectKind::ReadWrite => "<>",
            RedirectKind::DuplicateInput => "<&",
            RedirectKind::DuplicateOutput => ">&",
            RedirectKind::WriteBoth if has_both => "&>",
            RedirectKind::WriteBoth if self.is_shell(&[Shell::Zsh]) => ">&|",
            RedirectKind::WriteBoth => ">&",
            RedirectKind::AppendBoth if has_both => "&>>",
            RedirectKind::AppendBoth => ">>&",
            RedirectKind::HereString => "<<<",
            RedirectKind::Heredoc => return self.heredoc(&one.target),
        });
        // Some targets would be a part of the operator.
        self.put(" ");
        self.word(&one.target, Place::Bare);
    }

    /// A here-document with any delimiter that its body does not have.
    fn heredoc(&mut self, body: &Word) {
        let mut printer = Printer::new(self.shell);
        let is_quoted = match body.parts.as_slice() {
            [Part::Text { text, .. }] => {
                printer.put(text);
                true
            }
            _ => {
                printer.word(body, Place::Body);
                false
            }
        };
        let text = printer.text;
        // Only the end of the text ends a body without a last newline.
        self.is_lost |= printer.is_lost || !(text.is_empty() || text.ends_with('\n'));
        let number = (0..).find(|number| !text.contains(&format!("E{number}"))).unwrap_or(0);
        self.put(&if is_quoted { format!("<<'E{number}'") } else { format!("<<E{number}") });
        self.bodies.push(format!("{text}E{number}\n"));
    }

    pub(super) fn operand(&mut self, one: &Operand) {
        self.put(" ");
        match one {
            Operand::Word(word) => self.word(word, Place::Bare),
            Operand::Assignment(assignment) => self.assignment(assignment),
        }
    }

    fn assignment(&mut self, one: &Assignment) {
        self.put(&one.name);
        if let Some(index) = &one.index {
            self.put("[");
            self.word(index, Place::Bare);
            self.put("]");
        }
        self.put(if one.append { "+=" } else { "=" });
        match &one.value {
            AssignedValue::Scalar(value) => self.word(value, Place::Bare),
            AssignedValue::Array(elements) => {
                self.put("(");
                for (key, value) in elements {
                    self.put(" ");
                    if let Some(key) = key {
                        self.put("[");
                        self.word(key, Place::Bare);
                        self.put("]=");
                    }
                    self.word(value, Place::Bare);
                }
                self.put(")");
            }
        }
    }
}
