//! Simple commands: expands aliases, words, redirects and assignments in the order of bash, then runs the command. This
//! module must not know what commands do.

use std::rc::Rc;

use castellan_event::{Role, Why};
use castellan_programs::{Arg, Piece};

use super::Walker;
use super::assigning::assigned_arg;
use super::emit::line;
use crate::builtins::Declared;
use crate::found::{Run, Stdin};
use crate::limits::MADE_FILES_MAX;
use crate::run::Call;
use crate::scope::Scope;
use crate::state::{Descriptor, State, Value};
use crate::syntax::Shell;
use crate::tree::{Assignment, Operand, Part, RedirectKind, Span, Statement, Word};

impl Walker<'_> {
    pub(super) fn simple(
        &mut self,
        state: &mut State,
        scope: &Scope,
        statement: &Statement,
        assignments: &[Assignment],
        words: &[Word],
    ) {
        if self.alias(state, scope, statement, words) {
            return;
        }
        let may_fail = std::mem::take(&mut self.may_fail);
        self.simple_words(state, scope, statement, assignments, words);
        self.may_fail = may_fail;
    }

    fn simple_words(
        &mut self,
        state: &mut State,
        scope: &Scope,
        statement: &Statement,
        assignments: &[Assignment],
        words: &[Word],
    ) {
        let first_process = self.processes.len();
        let substituted = self.substituted;
        let fields: Vec<Vec<Arg>> = words.iter().map(|word| self.fields(state, scope, word)).collect();
        let argv = fields.concat();
        let is_rejected = |piece: &Piece| matches!(piece, Piece::Unknown { why: Why::Syntax, .. });
        if state.options.is_other && argv.iter().flat_map(Arg::pieces).any(is_rejected) {
            return self.end_processes(first_process, false, state, scope);
        }
        let mut call = Call::new(argv, own_span(statement, assignments, words));
        Self::as_zsh(state, &mut call);
        let (redirects, saved) = self.redirects(state, scope, &statement.redirects);
        call.redirects = redirects;
        if call.argv.is_empty() {
            for assignment in assignments {
                self.assign(state, scope, assignment, true);
            }
            if !call.redirects.is_empty() {
                self.emit(state, scope, &call);
                self.file_as_output(state, scope, statement);
                self.null_command(state, scope, &call, statement);
            }
            if substituted == self.substituted {
                state.status = Some(true);
            }
            Self::restore(state, saved);
            self.end_processes(first_process, false, state, scope);
            return;
        }
        let past = self.past_calls(state, scope, words, &fields, &call);
        let before_call = (!past.is_empty()).then(|| self.fork(state));
        let before = self.prefixed(state, scope, assignments, &mut call);
        let before = if keeps_assignments(state.options.shell, &call) { Vec::new() } else { before };
        let stays = call.argv.len() == 1 && call.argv.first().and_then(Arg::as_str) == Some("exec");
        let not_run = std::mem::take(&mut self.may_fail).then(|| self.failed(state));
        state.status = Some(true);
        self.command(state, scope, call);
        if let Some(not_run) = not_run {
            self.joins(state, not_run);
        }
        for (mut inside, call) in before_call.into_iter().cycle().zip(past) {
            self.command(&mut inside, scope, call);
        }
        for (name, variable) in before {
            match variable {
                Some(variable) => state.variables.insert(name, variable),
                None => state.variables.remove(&name),
            }
        }
        if !stays {
            Self::restore(state, saved);
        }
        self.end_processes(first_process, stays, state, scope);
    }

    pub(super) fn declaration(
        &mut self,
        state: &mut State,
        scope: &Scope,
        statement: &Statement,
        assignments: &[Assignment],
        builtin: &str,
        operands: &[Operand],
    ) {
        let first_process = self.processes.len();
        let mut argv = vec![Arg::known(builtin)];
        let mut declared = Vec::new();
        let mut keyed = false;
        for operand in operands {
            match operand {
                Operand::Word(word) => {
                    for arg in self.fields(state, scope, word) {
                        keyed |= arg.as_str().is_some_and(|text| text.starts_with('-') && text.contains('A'));
                        declared.push(Declared::of_arg(&arg));
                        argv.push(arg);
                    }
                }
                Operand::Assignment(assignment) => {
                    if let Some(args) = self.braced_assignments(state, scope, assignment) {
                        declared.extend(args.iter().map(Declared::of_arg));
                        argv.extend(args);
                        continue;
                    }
                    // The keys are parsed with the attributes that the variable is about to get.
                    let before = state.variables.get(&assignment.name).cloned();
                    if keyed {
                        state.change(&assignment.name, |variable| variable.attributes.keyed = true);
                    }
                    let value = self.value(state, scope, assignment);
                    if assignment.is_literal() && !state.hidden.is_empty() {
                        state.remember(&assignment.name, &value);
                    }
                    let key = self.assigned_key(state, scope, assignment);
                    match before {
                        Some(before) => state.variables.insert(assignment.name.as_str().into(), before),
                        None => state.variables.remove(&assignment.name),
                    }
                    argv.push(assigned_arg(assignment, &value));
                    let (name, append) = (assignment.name.clone(), assignment.append);
                    declared.push(Declared::Assigned { name, key, append, value });
                }
            }
        }
        let mut call = Call::new(argv, statement.span);
        let (redirects, saved) = self.redirects(state, scope, &statement.redirects);
        call.redirects = redirects;
        // The shell does not declare anything if it cannot open a file.
        let not_run = (!call.redirects.is_empty()).then(|| self.failed(state));
        let before = self.prefixed(state, scope, assignments, &mut call);
        drop(before);
        // A function may have the name of the builtin.
        if state.functions.contains(builtin) {
            self.command(state, scope, call);
        } else {
            self.emit(state, scope, &call);
            self.indices(state, scope, &call, builtin);
            self.declare(state, scope, builtin, &declared, statement.span);
            if crate::builtins::lists(builtin, call.arguments()) {
                self.unknown_output(state, scope, &call, Why::Substitution);
            }
        }
        if let Some(not_run) = not_run {
            self.joins(state, not_run);
        }
        Self::restore(state, saved);
        self.end_processes(first_process, false, state, scope);
    }

    /// Returns the state after a command that did not run because an expansion failed.
    pub(super) fn failed(&mut self, state: &State) -> State {
        let mut failed = self.fork(state);
        failed.status = Some(false);
        failed
    }

    /// `$(< file)` writes the contents of the file.
    fn file_as_output(&mut self, state: &mut State, scope: &Scope, statement: &Statement) {
        let reads = matches!(statement.redirects.as_slice(), [one] if one.kind == RedirectKind::Read);
        if reads && let Some(text) = self.input(state) {
            self.deliver(state, scope, &text);
        }
    }

    /// zsh: redirects without a command are those of the command that `NULLCMD` names, or `READNULLCMD`.
    fn null_command(&mut self, state: &mut State, scope: &Scope, call: &Call, statement: &Statement) {
        let reads = matches!(statement.redirects.as_slice(), [one] if one.kind == RedirectKind::Read);
        let name = if reads { "READNULLCMD" } else { "NULLCMD" };
        if state.options.shell != Shell::Zsh {
            return;
        }
        let is_input =
            |kind| matches!(kind, RedirectKind::Read | RedirectKind::HereString | RedirectKind::Heredoc);
        if state.variable(name).is_none() {
            // The usual program is `cat`.
            let has_input = statement.redirects.iter().any(|redirect| is_input(redirect.kind));
            if !reads
                && has_input
                && let Some(text) = self.input(state)
            {
                self.deliver(state, scope, &text);
            }
            return;
        }
        if let Value::Scalar(program) = self.pick(state, name) {
            self.command(state, scope, call.with(vec![program.to_arg()]));
        }
    }

    /// Adds a command to the found items.
    pub(crate) fn emit(&mut self, state: &mut State, scope: &Scope, call: &Call) {
        let cwd = match self.choices.choose(state.directories.len()) {
            Some(at) if scope.remote.is_empty() => state.directories.get(at).cloned().flatten(),
            Some(_) | None => None,
        };
        let stdin = match state.descriptor(0) {
            Descriptor::Inherited => Stdin::Inherited,
            Descriptor::Input(text) => Stdin::Text(text.to_arg()),
            Descriptor::File(path) => Stdin::File((*path).clone()),
            Descriptor::Written(path) => Stdin::File(Arg::known(&*path)),
            Descriptor::Collected(_) | Descriptor::Process(_) | Descriptor::Script | Descriptor::Unknown => {
                Stdin::Text(Arg::unknown(Why::Input, "", false))
            }
        };
        let redirects: Vec<_> = scope.redirects.iter().chain(&call.redirects).cloned().collect();
        let pieces: usize = call.argv.iter().map(|arg| arg.pieces().len()).sum();
        let bytes: usize = call.argv.iter().map(Arg::len).sum();
        self.work.spend(2 + (pieces + call.env.len() + redirects.len() + scope.wrappers.len()) as u64);
        self.work.spend_bytes(bytes + cwd.as_ref().map_or(0, |cwd| cwd.len()));
        let (line, is_cut) = line(&call.argv);
        if is_cut {
            self.gap(scope, Role::Code, Why::Size, &line, call.span);
        }
        let made = self.made(state, scope, call, &stdin);
        let compared = self.items.command(Run {
            argv: call.argv.clone(),
            env: call.env.clone(),
            redirects,
            wrappers: Rc::clone(&scope.wrappers),
            origin: scope.origin,
            script: scope.source.file.clone(),
            span: scope.span(call.span),
            line,
            cwd: cwd.map(|cwd| cwd.to_string()),
            remote: Rc::clone(&scope.remote),
            pipe_from: scope.pipe_from,
            stdin,
            made,
            background: scope.background,
        });
        self.work.spend(compared as u64);
    }

    /// Returns the contents of files that the text wrote and the command may read. The file is an argument, the
    /// standard input, or may be named by an argument: `-lm`, `.read x.sql`. Also returns the text of descriptors.
    fn made(&mut self, state: &State, scope: &Scope, call: &Call, stdin: &Stdin) -> Vec<(Rc<str>, Arg)> {
        let mut made = Vec::new();
        if !scope.remote.is_empty() {
            return made;
        }
        for path in call.arguments().iter().filter_map(Arg::as_str) {
            if let Some(Descriptor::Input(text)) = state.opened(path) {
                self.work.spend_bytes(text.pieces().len());
                made.push((Rc::from(path), text.to_arg()));
            }
        }
        if state.files.is_empty() {
            return made;
        }
        let input = match stdin {
            Stdin::File(file) => Some(file),
            Stdin::Inherited | Stdin::Text(_) => None,
        };
        let paths = call.argv.iter().take(MADE_FILES_MAX).chain(input);
        let mut paths: Vec<Rc<str>> = paths.filter_map(|arg| state.absolute(arg.as_str()?)).collect();
        for (path, _) in state.files.iter().take(MADE_FILES_MAX) {
            self.work.spend_bytes(call.arguments().iter().map(Arg::len).sum());
            if !paths.contains(path) && call.arguments().iter().any(|arg| may_name(arg, path)) {
                paths.push(Rc::clone(path));
            }
        }
        for path in paths {
            for text in state.files.get(&path).into_iter().flatten() {
                let text = match text {
                    Some(text) => text.to_arg(),
                    None => Arg::unknown(Why::File, &*path, false),
                };
                self.work.spend_bytes(text.pieces().len());
                made.push((Rc::clone(&path), text));
            }
        }
        made
    }
}

/// Special builtins of POSIX (2.14).
const SPECIAL: &[&str] = &[
    ".", ":", "break", "continue", "eval", "exec", "exit", "export", "readonly", "return", "set", "shift",
    "trap", "unset",
];

/// Reports whether the assignments before the command last: `x=1 :`.
fn keeps_assignments(shell: Shell, call: &Call) -> bool {
    let name = call.argv.first().and_then(Arg::as_str);
    matches!(shell, Shell::Posix | Shell::Ksh) && name.is_some_and(|name| SPECIAL.contains(&name))
}

/// Returns true if an argument contains the file's name without its extension.
fn may_name(arg: &Arg, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    !stem.is_empty() && arg.written().contains(stem)
}

/// Returns the span of a command without the operator after it.
fn own_span(statement: &Statement, assignments: &[Assignment], words: &[Word]) -> Span {
    let spans = words.iter().map(|word| word.span);
    let spans = spans.chain(assignments.iter().map(|assignment| assignment.span));
    let spans = spans.chain(statement.redirects.iter().map(|redirect| redirect.span));
    let joined =
        spans.reduce(|one, other| Span { start: one.start.min(other.start), end: one.end.max(other.end) });
    joined.unwrap_or(statement.span)
}

/// Returns the word, if it is plain text without quotes.
pub(super) fn plain(word: &Word) -> Option<&str> {
    match word.parts.as_slice() {
        [Part::Text { text, quoted: false }] => Some(text),
        _ => None,
    }
}
