//! Shells as programs: `bash -c`, and scripts from standard input and descriptors. This module must not know files;
//! other modules supply the contents of script files.

use std::rc::Rc;

use castellan_event::{Role, Why};
use castellan_programs::Arg;

use super::Call;
use super::startup::How;
use super::texts::Code;
use crate::builtins::DOTGLOB;
use crate::found::{Origin, Wrapped};
use crate::scope::Scope;
use crate::shells::shells;
use crate::state::{Descriptor, State};
use crate::syntax::Shell;
use crate::text::Text;
use crate::walk::Walker;

const LONG_WITH_VALUE: &[&str] = &["--rcfile", "--init-file"];

/// Option letters with the next argument as value.
const LETTERS_WITH_VALUE: &[char] = &['o', 'O'];

#[derive(Debug, Default)]
struct Arguments {
    /// The shells that the program may be.
    shells: &'static [Shell],
    code: bool,
    input: bool,
    interactive: bool,
    /// `--init-file`: an interactive shell runs it first.
    first: Option<Arg>,
    /// Position of the first operand.
    operands: usize,
    /// The position of an argument that may be an option or may expand to several arguments.
    unclear: Option<usize>,
    /// `--help`, `--version`
    inert: bool,
    /// `-n`: the shell parses the code without running it.
    reads_only: bool,
    /// `-O dotglob`, or an unknown option.
    hidden_names: bool,
    /// zsh splits values: `-y`, `-o shwordsplit`, `--emulate sh`. In other shells that changes nothing.
    splits: bool,
    /// `+B`
    literal_braces: bool,
    /// An option that may undo `-n`: `+n`, `+o noexec`.
    takes_back: bool,
    /// `-f`: zsh reads no startup files, but the machine's first one. `--norc`: bash reads no `.bashrc`.
    skips_files: bool,
    /// `--posix`
    is_posix: bool,
}

impl Arguments {
    fn start(&self) -> How {
        let Arguments { shells, interactive, is_posix, skips_files, .. } = *self;
        How { shells, interactive, is_posix, skips_files }
    }

    fn runs_nothing(&self) -> bool {
        self.reads_only && !self.interactive && !self.takes_back && self.unclear.is_none()
    }
}

fn read(argv: &[Arg]) -> Arguments {
    let mut read = Arguments { operands: argv.len(), ..Arguments::default() };
    let mut at = 1;
    while let Some(arg) = argv.get(at) {
        let Some(text) = arg.as_str() else {
            if arg.prefix().is_empty() || arg.prefix().starts_with(['-', '+']) {
                read.unclear.get_or_insert(at);
            }
            break;
        };
        if text == "--" || text == "-" {
            at += 1;
            break;
        }
        if let Some(name) = text.strip_prefix("--") {
            read.inert |= matches!(name, "help" | "version");
            read.is_posix |= name == "posix";
            read.skips_files |= matches!(name, "norc" | "no-rcs");
            read.splits |= is_split_option(name);
            if text == "--emulate" {
                at += 1;
                read.splits |= argv.get(at).is_some_and(|shell| shell.as_str() != Some("zsh"));
            } else if LONG_WITH_VALUE.contains(&text) {
                at += 1;
                read.first = argv.get(at).cloned();
            }
            at += 1;
            continue;
        }
        let Some(letters) = text.strip_prefix(['-', '+']).filter(|letters| !letters.is_empty()) else {
            break;
        };
        at += 1;
        read.takes_back |= text.starts_with('+') || letters.contains(['o', 'O']);
        for letter in letters.chars() {
            match letter {
                'c' => read.code = true,
                's' => read.input = true,
                'i' => read.interactive = true,
                'y' => read.splits = true,
                'B' if text.starts_with('+') => read.literal_braces = true,
                'n' if text.starts_with('-') => read.reads_only = true,
                'f' if text.starts_with('-') => read.skips_files = true,
                letter if LETTERS_WITH_VALUE.contains(&letter) => {
                    let name = argv.get(at).map(Arg::as_str);
                    let has_comments =
                        !matches!(name, Some(Some("interactive_comments" | "xpg_echo" | "nocasematch")));
                    read.unclear = read.unclear.or((!has_comments).then_some(at));
                    let names_it =
                        name.is_some_and(|name| name.is_none_or(|name| names_hidden(letter, name)));
                    read.hidden_names |= names_it && !text.starts_with('+');
                    read.splits |= name.is_some_and(|name| name.is_none_or(is_split_option));
                    at += 1;
                }
                _ => {}
            }
        }
    }
    read.operands = at.min(argv.len());
    read
}

/// Reports whether an option of zsh makes it split values.
fn is_split_option(name: &str) -> bool {
    name.replace(['_', '-'], "").eq_ignore_ascii_case("shwordsplit")
}

/// Returns true if an option's value makes patterns match hidden names: `-O dotglob`, and `-o globdots` in zsh.
fn names_hidden(letter: char, value: &str) -> bool {
    match letter {
        'O' => value == DOTGLOB,
        _ => matches!(value.replace('_', "").to_ascii_lowercase().as_str(), "globdots" | DOTGLOB),
    }
}

impl Walker<'_> {
    pub(super) fn shell_program(&mut self, state: &mut State, scope: &Scope, call: &Call, base: &str) {
        self.emit(state, scope, call);
        let arguments = Arguments { shells: shells(base), ..read(&call.argv) };
        if arguments.inert || arguments.runs_nothing() {
            self.unknown_output(state, scope, call, Why::Substitution);
            return;
        }
        let own = call.argv.get(..arguments.operands).unwrap_or_default().to_vec();
        let wrapper = Wrapped { name: base.to_owned(), argv: own, neutral: false };
        let Some(inner) = self.around(scope, wrapper, call) else { return };
        let inner = inner.redirected(call.redirects.clone());
        if let Some(first) = &arguments.first {
            self.script_operand(state, &inner, call, arguments.shells, first, &[]);
        }
        self.startup(state, &inner, call, base, arguments.start());
        if let Some(at) = arguments.unclear {
            let arg = call.argv.get(at).cloned().unwrap_or_else(|| Arg::known(""));
            self.gap(scope, Role::Code, arg.why().unwrap_or_default(), &arg.written(), call.span);
            self.unknown_output(state, scope, call, Why::Substitution);
            return;
        }
        let name = call.argv.first().map(Text::from).unwrap_or_default();
        let outer_name = std::mem::replace(&mut state.name, Rc::new(name));
        let outer = state.options;
        state.options.hidden_names |= arguments.hidden_names;
        state.options.starts_splitting |= arguments.splits;
        state.options.starts_literal = arguments.literal_braces;
        self.shell_operands(state, (scope, &inner), call, &arguments);
        state.options.hidden_names = outer.hidden_names;
        state.options.starts_splitting = outer.starts_splitting;
        state.options.starts_literal = outer.starts_literal;
        state.name = outer_name;
    }

    /// Runs the code argument, a file or standard input.
    fn shell_operands(
        &mut self,
        state: &mut State,
        (scope, inner): (&Scope, &Scope),
        call: &Call,
        arguments: &Arguments,
    ) {
        let operands = call.argv.get(arguments.operands..).unwrap_or_default();
        match operands.split_first() {
            Some((code, rest)) if arguments.code => {
                if code.splits() {
                    self.gap(scope, Role::Code, code.why().unwrap_or_default(), &code.written(), call.span);
                    self.unknown_output(state, scope, call, Why::Substitution);
                } else {
                    self.shell_text(state, inner, arguments.shells, &Text::from(code), rest, call.span);
                }
            }
            Some((script, rest)) if !arguments.input => {
                self.script_operand(state, inner, call, arguments.shells, script, rest);
            }
            Some(_) | None if arguments.code => {}
            Some(_) | None => {
                let from = state.descriptor(0);
                self.script_from(state, inner, call, arguments.shells, &from, operands);
            }
        }
    }

    /// Runs a script operand: follows an open descriptor or reads a file.
    pub(super) fn script_operand(
        &mut self,
        state: &mut State,
        scope: &Scope,
        call: &Call,
        shells: &'static [Shell],
        script: &Arg,
        rest: &[Arg],
    ) {
        match script.as_str().and_then(|path| state.opened(path)) {
            Some(from) => self.script_from(state, scope, call, shells, &from, rest),
            None => self.script_file(state, scope, call, shells, script, rest),
        }
    }

    /// Runs a script from a descriptor.
    fn script_from(
        &mut self,
        state: &mut State,
        scope: &Scope,
        call: &Call,
        shells: &'static [Shell],
        from: &Descriptor,
        arguments: &[Arg],
    ) {
        match from {
            Descriptor::Input(code) => {
                let mut child = self.child(state);
                let certain = !arguments.iter().any(Arg::splits);
                child.positionals = certain.then(|| Rc::new(arguments.iter().map(Text::from).collect()));
                child.set_descriptor(0, Descriptor::Script);
                if code.as_str().is_none() {
                    self.unknown_output(state, scope, call, Why::Substitution);
                }
                let code = Rc::clone(code);
                let shells = Some(shells);
                let code = Code { text: &code, shells, origin: Origin::Stdin, span: call.span, file: None };
                self.as_shell(state, child, scope, code);
            }
            Descriptor::File(path) if path.as_str().is_some() => {
                self.script_file(state, scope, call, shells, path, arguments);
            }
            Descriptor::File(path) => {
                self.gap(scope, Role::Code, Why::File, &path.written(), call.span);
                self.unknown_output(state, scope, call, Why::Substitution);
            }
            Descriptor::Collected(_)
            | Descriptor::Process(_)
            | Descriptor::Written(_)
            | Descriptor::Script
            | Descriptor::Unknown => {
                self.gap(scope, Role::Code, Why::Input, "", call.span);
                self.unknown_output(state, scope, call, Why::Substitution);
            }
            // The inherited standard input is empty.
            Descriptor::Inherited => self.unknown_output(state, scope, call, Why::Substitution),
        }
    }
}
