//! The programs that a library call starts.

use castellan_event::Why;
use castellan_programs::Arg;

use super::Machine;
use super::bound::{Bound, is_true};
use crate::act::What;
use crate::language::Language;
use crate::limits::CHOICES_MAX;
use crate::table::Part;
use crate::tree::Node;
use crate::value::{Value, concat};

impl Machine<'_> {
    /// Runs the programs and shell texts among a call's arguments.
    pub(super) fn command(&mut self, node: &Node, bound: &Bound) {
        let is_shell = bound.part(Part::IsShell).is_some_and(is_true);
        for (parameter, value) in &bound.given {
            for part in parameter.parts {
                match part {
                    Part::Shell => self.shell_or_program(node, value, bound),
                    Part::Argv if is_shell && self.language == Language::Python => {
                        self.shell_with_arguments(node, value, bound);
                    }
                    Part::Argv if is_shell => self.shell(node, value, bound),
                    Part::Argv => {
                        let split = self.command_line(node, value);
                        for one in split.as_ref().unwrap_or(value).choices() {
                            self.starts(node, self.argv_of(node, one), bound);
                        }
                    }
                    Part::Program => self.program_with(node, value, bound, is_shell),
                    _ => {}
                }
            }
        }
    }

    /// Runs shell text. A list with more than one element is a program and its arguments, without a shell. In Perl, a
    /// list with a lone shell sign is joined and goes to a shell.
    fn shell_or_program(&mut self, node: &Node, value: &Value, bound: &Bound) {
        for one in value.choices() {
            let argv = match one {
                Value::List(_) => self.argv(node, one),
                _ => Vec::new(),
            };
            let has_sign = |argv: &[Arg]| {
                let mut words = argv.iter().filter_map(Arg::as_str);
                self.language == Language::Perl && words.any(|word| SIGNS.contains(&word))
            };
            if argv.iter().all(|argv| argv.len() < 2 || has_sign(argv)) {
                self.shell(node, one, bound);
            } else {
                self.starts(node, argv, bound);
            }
        }
    }

    /// Runs shell text, or a list of shell text and the shell's name and arguments.
    fn shell_with_arguments(&mut self, node: &Node, value: &Value, bound: &Bound) {
        for one in value.choices() {
            let argv = match one {
                Value::List(_) => self.argv(node, one),
                _ => Vec::new(),
            };
            if argv.iter().all(|argv| argv.len() < 2) {
                self.shell(node, one, bound);
                continue;
            }
            let shell = vec![Arg::known("/bin/sh"), Arg::known("-c")];
            self.starts(node, product(vec![shell], argv), bound);
        }
    }

    /// Splits a text at blanks into arguments, where a program gets all its arguments in one text.
    fn command_line(&mut self, node: &Node, value: &Value) -> Option<Value> {
        let is_line =
            self.language == Language::PowerShell && value.as_str().is_some_and(|text| text.contains(' '));
        is_line.then(|| self.words(node, value))
    }

    /// Runs text in a shell. For a list, the text is its only element, or all elements joined by blanks.
    pub(super) fn shell(&mut self, node: &Node, value: &Value, bound: &Bound) {
        for one in value.choices() {
            let texts: Vec<Arg> = match one {
                Value::List(_) => self.argv(node, one).iter().map(|argv| spaced(argv)).collect(),
                other => self.owned_args(node, other).collect(),
            };
            for text in texts {
                self.reads(node, text, bound);
            }
        }
    }

    /// Runs text in a shell, or in the program that the call sets as its shell.
    fn reads(&mut self, node: &Node, text: Arg, bound: &Bound) {
        let (cwd, env, stdin) = self.surroundings(node, bound);
        let what = match self.instead(node, bound) {
            Some(shell) => {
                let is_cmd = shell.as_str().is_some_and(|shell| CMD.contains(&base(shell)));
                let argv = vec![shell, Arg::known(if is_cmd { "/c" } else { "-c" }), text];
                What::Command { argv, cwd, env, stdin }
            }
            None => What::Shell { text, cwd, env, stdin },
        };
        self.act(node.at, what);
    }

    /// Returns the file that is started instead of the first argument.
    fn instead(&self, node: &Node, bound: &Bound) -> Option<Arg> {
        let value = bound.part(Part::Instead)?;
        match value {
            Value::Number(_) | Value::Constant => return None,
            // The value may only say if a shell is used.
            Value::Unknown(Why::Dynamic, _) if bound.part(Part::IsShell) == Some(value) => return None,
            _ if value.as_str() == Some("") => return None,
            _ => {}
        }
        match self.args(node, value).as_slice() {
            [file] => Some((**file).clone()),
            _ => Some(Arg::unknown(Why::Dynamic, &*self.written(node), false)),
        }
    }

    fn program_with(&mut self, node: &Node, program: &Value, bound: &Bound, is_shell: bool) {
        let mut rest: Vec<Vec<Arg>> = vec![Vec::new()];
        for (parameter, value) in &bound.given {
            if !parameter.parts.contains(&Part::Arguments) && !parameter.parts.contains(&Part::Named) {
                continue;
            }
            let split = self.command_line(node, value);
            let value = split.as_ref().unwrap_or(value);
            let more = match value {
                Value::Constant => vec![Vec::new()],
                other => other.choices().iter().flat_map(|one| self.argv_of(node, one)).collect(),
            };
            rest = product(rest, more);
        }
        // The first argument is `argv[0]`.
        if bound.part(Part::Named).is_some() && !program.as_str().is_some_and(goes_by_name) {
            for one in &mut rest {
                if !one.is_empty() {
                    one.remove(0);
                }
            }
        }
        let mut programs = self.words_of_args(node, program);
        if let Some(called) = bound.part(Part::Called).filter(|called| **called != Value::Constant)
            && program.as_str().is_some_and(goes_by_name)
        {
            programs = product(programs, self.words_of_args(node, called));
        }
        let argv = product(programs, rest);
        if is_shell {
            for argv in argv {
                self.reads(node, spaced(&argv), bound);
            }
        } else {
            self.starts(node, argv, bound);
        }
    }

    pub(super) fn starts(&mut self, node: &Node, choices: Vec<Vec<Arg>>, bound: &Bound) {
        let instead = self.instead(node, bound);
        for mut argv in choices {
            if let Some(file) = &instead {
                let keeps = file.as_str().is_some_and(goes_by_name);
                argv.splice(..usize::from(!keeps && !argv.is_empty()), [file.clone()]);
            }
            let (cwd, env, stdin) = self.surroundings(node, bound);
            self.act(node.at, What::Command { argv, cwd, env, stdin });
        }
    }

    /// Returns the argument lists that a value may become: a list, or one word.
    pub(super) fn argv_of(&self, node: &Node, value: &Value) -> Vec<Vec<Arg>> {
        match value {
            Value::List(_) => self.argv(node, value),
            other => self.words_of_args(node, other),
        }
    }

    /// Returns each choice of a value as a list of one word.
    pub(super) fn words_of_args(&self, node: &Node, value: &Value) -> Vec<Vec<Arg>> {
        self.owned_args(node, value).map(|arg| vec![arg]).collect()
    }

    /// Runs a list as a program with its arguments, and a text in a shell.
    pub(super) fn starts_or_shell(&mut self, node: &Node, value: &Value, bound: &Bound) {
        match value {
            Value::List(_) => self.starts(node, self.argv(node, value), bound),
            text => self.shell(node, text, bound),
        }
    }

    /// Returns the argument lists that a list may become.
    pub(super) fn argv(&self, node: &Node, list: &Value) -> Vec<Vec<Arg>> {
        let (elements, known) = self.elements(node, list);
        let mut made: Vec<Vec<Arg>> = vec![Vec::new()];
        for element in &elements {
            made = product(made, self.words_of_args(node, element));
        }
        if !known {
            let more = Arg::unknown(Why::Dynamic, &*self.written(node), true);
            for one in &mut made {
                one.push(more.clone());
            }
        }
        made
    }

    fn surroundings(&self, node: &Node, bound: &Bound) -> (Option<Arg>, Vec<(String, Arg)>, Option<Arg>) {
        let one = |value: &Value| match self.args(node, value).as_slice() {
            _ if *value == Value::Constant => None,
            [arg] => Some((**arg).clone()),
            _ => Some(Arg::unknown(Why::Dynamic, &*self.written(node), false)),
        };
        let cwd = bound.part(Part::Cwd).and_then(one);
        // The content of a descriptor or pipe is unknown.
        let held = |file: &Value| match (file, one(file)?) {
            (Value::Number(_) | Value::Unknown(..), _) => None,
            (_, file) if file.as_str() == Some("/dev/null") => Some(Arg::known("")),
            (_, file) => match file.why() {
                None => Some(Arg::unknown(Why::File, file.written(), false)),
                Some(_) => Some(file),
            },
        };
        let stdin = bound.part(Part::Stdin).and_then(one);
        let stdin = stdin.or_else(|| bound.part(Part::StdinFile).and_then(held));
        let mut env = Vec::new();
        for given in bound.part(Part::Env).into_iter().flat_map(Value::choices) {
            if let Value::Map(cell) | Value::List(cell) = given {
                for (key, value) in self.state.cell(*cell).entries {
                    env.extend(key.map(|key| key.to_string()).zip(one(&value)));
                }
            }
        }
        (cwd, env, stdin)
    }
}

/// Programs whose behaviour depends on `argv[0]`.
const BY_NAME: &[&str] = &["busybox", "toybox", "coreutils"];

/// `IPC::Cmd` passes a list with one of these words to a shell.
const SIGNS: &[&str] = &["<", ">", "|", "&"];

/// Shells that get a text with `/c`.
const CMD: &[&str] = &["cmd", "cmd.exe"];

fn goes_by_name(file: &str) -> bool {
    BY_NAME.contains(&base(file))
}

fn base(file: &str) -> &str {
    file.rsplit(['/', '\\']).next().unwrap_or(file)
}

fn spaced(argv: &[Arg]) -> Arg {
    let blank = Arg::known(" ");
    let parts = argv.iter().flat_map(|arg| [&blank, arg]).skip(1);
    concat(parts)
}

/// Combines every left list with every right one. If there are too many, the right one becomes unknown.
pub(super) fn product(mut left: Vec<Vec<Arg>>, mut right: Vec<Vec<Arg>>) -> Vec<Vec<Arg>> {
    if left.len() * right.len() > CHOICES_MAX {
        right = vec![vec![Arg::unknown(Why::Dynamic, "one of many", true)]];
    }
    if let [only] = right.as_mut_slice() {
        for one in &mut left {
            one.extend(only.iter().cloned());
        }
        return left;
    }
    left.iter().flat_map(|before| right.iter().map(|more| [before.as_slice(), more].concat())).collect()
}
