//! Statements and compound commands. This module must not know words.

use castellan_shell::syntax::Shell;
use castellan_shell::tree::*;

use super::Printer;
use super::words::Place;

impl Printer {
    /// The command after `coproc` or `time`. In zsh, it may be absent, also after a `!`.
    fn rest(&mut self, body: &Statement) {
        self.put(" ");
        if body.node != Node::Time(None) || !self.is_shell(&[Shell::Zsh]) {
            self.statement(body, &body.redirects);
        } else if body.negated {
            self.put("!");
        }
    }

    /// A statement with the given redirects in place of its own.
    pub(super) fn statement(&mut self, one: &Statement, redirects: &[Redirect]) {
        self.put(if one.negated { "! " } else { "" });
        if let Node::Group(group) = &one.node
            && let [Statement { node: Node::Function { names, body }, .. }, call] =
                group.statements.as_slice()
            && *names == ["(anon)"]
        {
            return self.anonymous(body, call, redirects);
        }
        match &one.node {
            Node::Simple { assignments, words } => {
                return self.command(assignments, redirects, |printer| printer.words(words));
            }
            Node::Declare { assignments, builtin, operands } => {
                return self.command(assignments, redirects, |printer| {
                    printer.put(builtin);
                    operands.iter().for_each(|one| printer.operand(one));
                });
            }
            Node::Hole(_) => self.is_lost = true,
            Node::Pipe(all) => self.pipe(all),
            Node::Chain { all, connectors } => self.chain(all, connectors),
            Node::Subshell(body) => {
                self.block("(", body);
                self.put(")");
            }
            Node::Group(body) => self.group(body),
            Node::If { branches, otherwise } => self.conditional(branches, otherwise.as_ref()),
            Node::For { names, words, body } => self.for_each(names, words.as_deref(), body),
            Node::ArithmeticFor { first, condition, step, body } => {
                self.arithmetic_for(first, &condition.text, &step.text, body);
            }
            Node::While { until, condition, body } => {
                self.block(if *until { "until" } else { "while" }, condition);
                self.block("do", body);
                self.put("done");
            }
            Node::Case { word, arms } => self.case(word, arms),
            Node::Function { names, body } => return self.function(names, body, redirects),
            Node::Coproc(body) if self.is_shell(&[Shell::Ksh]) => {
                self.statement(body, &body.redirects);
                self.put(" |&");
            }
            // In zsh, a redirect before the word is of the whole, and the command may be absent.
            Node::Coproc(body) => {
                return self.command(&[], redirects, |printer| {
                    printer.put("coproc");
                    printer.rest(body);
                });
            }
            // `!` alone is a command that fails.
            Node::Time(None) if one.negated && self.is_shell(&[Shell::Bash, Shell::Ksh]) => {}
            // After a redirect, zsh still reads the word.
            Node::Time(None) => return self.command(&[], redirects, |printer| printer.put("time")),
            Node::Time(Some(body)) => {
                return self.command(&[], redirects, |printer| {
                    // zsh has no options.
                    printer.put(if printer.is_shell(&[Shell::Zsh]) { "time" } else { "time --" });
                    printer.rest(body);
                });
            }
            Node::Test(words) => self.test(words),
            Node::Arithmetic(expression) => self.put(&format!("(({}))", expression.text)),
        }
        for one in redirects {
            self.put(" ");
            self.redirect(one);
        }
    }

    /// `a && b || c`
    fn chain(&mut self, all: &[Statement], connectors: &[Connector]) {
        for (number, one) in all.iter().enumerate() {
            let before = number.checked_sub(1).and_then(|before| connectors.get(before));
            self.put(match before {
                Some(Connector::And) => " && ",
                Some(Connector::Or) => " || ",
                None => "",
            });
            self.statement(one, &one.redirects);
        }
    }

    fn conditional(&mut self, branches: &[(Script, Script)], otherwise: Option<&Script>) {
        for (number, (condition, body)) in branches.iter().enumerate() {
            self.block(if number == 0 { "if" } else { "elif" }, condition);
            self.block("then", body);
        }
        otherwise.into_iter().for_each(|body| self.block("else", body));
        self.put("fi");
    }

    fn for_each(&mut self, names: &[String], words: Option<&[Word]>, body: &Script) {
        self.put(&format!("for {}", names.join(" ")));
        if let Some(words) = words {
            self.put(" in ");
            self.words(words);
        }
        self.loop_body(body);
    }

    /// `repeat` has a count that is no expression.
    fn arithmetic_for(&mut self, first: &Arithmetic, condition: &str, step: &str, body: &Script) {
        let is_repeat = first.text.is_empty() && first.tree.is_none();
        self.put(&match is_repeat {
            true => format!("repeat {condition}"),
            false => format!("for (({};{condition};{step}))", first.text),
        });
        self.loop_body(body);
    }

    /// A redirect of both outputs into a pipe is `|&` where a shell has it: elsewhere it has no place after a function.
    fn pipe(&mut self, all: &[Statement]) {
        for (number, one) in all.iter().enumerate() {
            let has_next = number + 1 < all.len();
            match one.redirects.split_last() {
                Some((last, rest)) if has_next && self.has_errors_too(one, last) => {
                    self.statement(one, rest);
                    self.put(" |& ");
                }
                _ => {
                    self.statement(one, &one.redirects);
                    self.put(if has_next { " | " } else { "" });
                }
            }
        }
    }

    fn has_errors_too(&self, one: &Statement, last: &Redirect) -> bool {
        let is_only = matches!(&one.node, Node::Simple { assignments, words } if assignments.is_empty() && words.is_empty());
        is_errors_too(last) && !is_only && self.is_shell(&[Shell::Bash, Shell::Zsh])
    }

    /// The call of a function without a name has its redirects at the end. Those before it belong to both.
    fn anonymous(&mut self, body: &Statement, call: &Statement, redirects: &[Redirect]) {
        for one in redirects {
            self.redirect(one);
            self.put(" ");
        }
        self.put("() ");
        self.statement(body, &body.redirects);
        let Node::Simple { words, .. } = &call.node else { return };
        self.put(" ");
        self.words(words.get(1..).unwrap_or_default());
        for one in &call.redirects {
            self.put(" ");
            self.redirect(one);
        }
    }

    fn group(&mut self, body: &Script) {
        self.block("{", body);
        self.put("}");
    }

    fn loop_body(&mut self, body: &Script) {
        self.newline();
        self.block("do", body);
        self.put("done");
    }

    fn case(&mut self, word: &Word, arms: &[(Vec<Word>, Script)]) {
        self.put("case ");
        self.word(word, Place::Bare);
        self.put(" in");
        self.newline();
        for (patterns, body) in arms {
            for (number, pattern) in patterns.iter().enumerate() {
                self.put(if number == 0 { "(" } else { " | " });
                self.word(pattern, Place::Bare);
            }
            self.block(")", body);
            self.put(";;");
            self.newline();
        }
        self.put("esac");
    }

    /// Names that are not static are not in the tree. In zsh a name may be a pattern, and redirects of the definition are
    /// between its names.
    fn function(&mut self, names: &[String], body: &Statement, redirects: &[Redirect]) {
        let is_word = names.iter().all(|name| name.bytes().all(is_letter)) && redirects.is_empty();
        let names_text = names.join(" ");
        for one in redirects {
            self.redirect(one);
            self.put(" ");
        }
        match names {
            [] => self.put("'f' ()"),
            _ if self.is_shell(&[Shell::Posix, Shell::Ksh]) => self.put(&format!("{names_text} ()")),
            _ if self.is_shell(&[Shell::Zsh]) && !is_word => self.put(&format!("'f' {names_text} ()")),
            _ => self.put(&format!("function {names_text} ()")),
        }
        self.is_lost |= names_text.matches('(').count() > names_text.matches(')').count();
        // zsh has no name of a descriptor before a command.
        self.is_lost |= redirects.iter().any(|one| matches!(one.fd, Some(FdWord::Variable(_))));
        self.newline();
        self.statement(body, &body.redirects);
    }

    /// The tree has the words without the operators. Only the pattern after `=~` has parentheses of its own.
    fn test(&mut self, words: &[Word]) {
        self.put("[[ ");
        let mut rest = words.iter().peekable();
        while let Some(word) = rest.next() {
            if let Some(pattern) = rest.next_if(|next| has_parentheses(next)) {
                self.word(word, Place::Bare);
                self.put(" =~ ");
                self.word(pattern, Place::Bare);
            } else {
                self.put("-n ");
                self.word(word, Place::Bare);
            }
            self.put(if rest.peek().is_some() { " && " } else { " ]]" });
        }
        self.is_lost |= words.is_empty();
    }
}

fn is_letter(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric()
}

fn is_errors_too(one: &Redirect) -> bool {
    let is_one = matches!(one.target.parts.as_slice(), [Part::Text { text, quoted: false }] if text == "1");
    one.fd == Some(FdWord::Number(2)) && one.kind == RedirectKind::DuplicateOutput && is_one
}

fn has_parentheses(word: &Word) -> bool {
    let is_pattern =
        |part: &Part| matches!(part, Part::Text { text, quoted: false } if text.contains(['(', '|', ')']));
    word.parts.iter().any(is_pattern)
}
