//! Simple commands: expands aliases, words, redirects and assignments in the order of bash, then runs the command. This
//! module must not know what commands do.

use std::rc::Rc;

use castellan_event::{Role, Why};
use castellan_programs::{Arg, Piece};

use super::Walker;
use super::emit::line;
use crate::builtins::Declared;
use crate::found::{Item, Origin, Run, Set, Stdin};
use crate::limits::MADE_FILES_MAX;
use crate::run::Call;
use crate::scope::Scope;
use crate::state::{Descriptor, Key, State, Value, Variable};
use crate::syntax::Shell;
use crate::text::Text;
use crate::tree::{AssignedValue, Assignment, Operand, Part, RedirectKind, Span, Statement, Word};

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
        let argv: Vec<Arg> = words.iter().flat_map(|word| self.fields(state, scope, word)).collect();
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
        let before = self.prefixed(state, scope, assignments, &mut call);
        let before = if keeps_assignments(state.options.shell, &call) { Vec::new() } else { before };
        let stays = call.argv.len() == 1 && call.argv.first().and_then(Arg::as_str) == Some("exec");
        let not_run = std::mem::take(&mut self.may_fail).then(|| self.failed(state));
        state.status = Some(true);
        self.command(state, scope, call);
        if let Some(not_run) = not_run {
            self.joins(state, not_run);
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
        Self::restore(state, saved);
        self.end_processes(first_process, false, state, scope);
    }

    /// Applies the assignments before a command, which last while the command runs. Returns the previous variables.
    fn prefixed(
        &mut self,
        state: &mut State,
        scope: &Scope,
        assignments: &[Assignment],
        call: &mut Call,
    ) -> Vec<(Rc<str>, Option<Rc<Variable>>)> {
        let mut before = Vec::new();
        for assignment in assignments {
            self.work.spend(4 + std::mem::take(&mut state.spent));
            if !self.goes_on(scope, assignment.span) {
                break;
            }
            let name: Rc<str> = assignment.name.as_str().into();
            before.push((Rc::clone(&name), state.variables.get(&name).cloned()));
            self.assign(state, scope, assignment, false);
            state.change(&name, |variable| variable.exported = true);
            let value = match self.pick(state, &name) {
                Value::Scalar(text) => text.to_arg(),
                Value::Array(_) | Value::Unset => Arg::known(""),
                Value::Unknown(why) => Arg::unknown(why, format!("${name}"), false),
            };
            call.env.push((assignment.name.clone(), value));
        }
        before
    }

    /// Applies an assignment. `stays`: the assignment has no command and applies to later commands.
    fn assign(&mut self, state: &mut State, scope: &Scope, assignment: &Assignment, stays: bool) {
        let value = self.value(state, scope, assignment);
        let key = self.assigned_key(state, scope, assignment);
        let not_run = std::mem::take(&mut self.may_fail).then(|| self.failed(state));
        self.evaluated_for(state, scope, &assignment.name, &value, assignment.span);
        self.defines(state, scope, assignment, key.as_ref().and_then(Option::as_ref), &value);
        self.assign_value(state, &assignment.name, key, assignment.append, value);
        if let Some(not_run) = not_run {
            self.joins(state, not_run);
        }
        self.run_by_shell(state, scope, &assignment.name, assignment.span);
        if stays {
            self.report_set(state, scope, &assignment.name, assignment.span);
        }
    }

    /// Returns the state after a command that did not run because an expansion failed.
    fn failed(&mut self, state: &State) -> State {
        let mut failed = self.fork(state);
        failed.status = Some(false);
        failed
    }

    /// Returns `Some(None)` for an unknown key.
    #[expect(clippy::option_option, reason = "no key and one that is not known are different things")]
    fn assigned_key(
        &mut self,
        state: &mut State,
        scope: &Scope,
        assignment: &Assignment,
    ) -> Option<Option<Key>> {
        let word = assignment.index.as_ref()?;
        Some(self.key(state, scope, &assignment.name, word))
    }

    #[expect(clippy::option_option, reason = "no key and one that is not known are different things")]
    pub(crate) fn assign_value(
        &mut self,
        state: &mut State,
        name: &str,
        key: Option<Option<Key>>,
        append: bool,
        value: Value,
    ) {
        let is_argv = name == "argv" && state.options.shell == Shell::Zsh;
        match (key, value) {
            (Some(Some(Key::Number(at))), value) if is_argv => {
                state.set_parameter(&at.saturating_add(1).to_string(), value);
            }
            (Some(Some(key)), Value::Scalar(text)) => self.set_element(state, name, key, text, append),
            (Some(_), _) => state.set(name, Value::Unknown(Why::Expansion)),
            (None, value) if append => {
                let before = self.pick(state, name);
                if let Value::Array(elements) = &before {
                    self.work.spend(elements.len() as u64);
                }
                let integer = state.variable(name).is_some_and(|variable| variable.attributes.integer);
                state.set(name, appended(before, value, integer));
            }
            (None, Value::Scalar(text)) => {
                // `x=1` on an array sets its first element.
                if matches!(self.pick(state, name), Value::Array(_)) {
                    self.set_element(state, name, Key::Number(0), text, false);
                    return;
                }
                let integer = state.variable(name).is_some_and(|variable| variable.attributes.integer);
                let value = match text.as_str() {
                    Some(known) if integer => {
                        known.trim().parse::<i64>().map_or(Value::Unknown(Why::Arithmetic), |number| {
                            Value::Scalar(Text::known(number.to_string()))
                        })
                    }
                    Some(_) | None => Value::Scalar(text),
                };
                state.set(name, value);
            }
            (None, Value::Array(elements)) if is_argv => {
                state.positionals = Some(Rc::new(elements.values().cloned().collect()));
            }
            // `x=()` of ksh is a compound variable.
            (None, Value::Array(elements)) if elements.is_empty() && state.options.shell == Shell::Ksh => {
                state.set(name, Value::Unknown(Why::Expansion));
            }
            (None, value) => state.set(name, value),
        }
    }

    fn value(&mut self, state: &mut State, scope: &Scope, assignment: &Assignment) -> Value {
        match &assignment.value {
            AssignedValue::Scalar(word) => Value::Scalar(self.assigned(state, scope, word)),
            AssignedValue::Array(elements) => self.elements(state, scope, &assignment.name, elements),
        }
    }

    fn elements(
        &mut self,
        state: &mut State,
        scope: &Scope,
        name: &str,
        elements: &[(Option<Word>, Word)],
    ) -> Value {
        let mut made = std::collections::BTreeMap::new();
        let mut next = 0i64;
        let mut known = true;
        for (key, word) in elements {
            if let Some(key) = key {
                let key = self.key(state, scope, name, key);
                let text = self.assigned(state, scope, word);
                match key {
                    Some(key) => {
                        if let Key::Number(number) = key {
                            next = number.saturating_add(1);
                        }
                        made.insert(key, text);
                    }
                    None => known = false,
                }
                continue;
            }
            for arg in self.fields(state, scope, word) {
                known &= !arg.splits() || is_pattern(&arg);
                made.insert(Key::Number(next), Text::from(&arg));
                next = next.saturating_add(1);
            }
        }
        let splits = made.values().any(|text| text.why() == Some(Why::Glob));
        let is_keyed = state.variable(name).is_some_and(|variable| variable.attributes.keyed);
        if known && is_keyed && made.keys().all(|key| matches!(key, Key::Number(_))) {
            return paired(made.into_values());
        }
        if known && !splits { Value::Array(Rc::new(made)) } else { Value::Unknown(Why::Expansion) }
    }

    /// Reports an assignment to a variable that later programs receive.
    pub(crate) fn report_set(&mut self, state: &mut State, scope: &Scope, name: &str, span: Span) {
        // A name in capitals is usually an environment variable.
        let capital = name.starts_with(|one: char| one.is_ascii_uppercase());
        let given = state
            .variable(name)
            .is_some_and(|variable| variable.exported || (variable.perhaps_exported && capital));
        if !given {
            return;
        }
        let value = match self.pick(state, name) {
            Value::Scalar(text) => text.to_arg(),
            Value::Unset => return,
            Value::Array(_) => Arg::unknown(Why::Unsupported, format!("${name}"), false),
            Value::Unknown(why) => Arg::unknown(why, format!("${name}"), false),
        };
        let script = scope.source.file.clone();
        let set = Set { name: name.to_owned(), value, exported: true, script, span: scope.span(span) };
        self.item(Item::Set(set));
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

    /// Walks the expansion of an alias. Returns true if the expansion replaces the whole command.
    fn alias(&mut self, state: &mut State, scope: &Scope, statement: &Statement, words: &[Word]) -> bool {
        if state.options.aliases == Some(false) {
            return false;
        }
        let Some(name) = words.first().and_then(plain) else { return false };
        if scope.aliases.iter().any(|active| **active == *name) {
            return false;
        }
        let Some(mut text) = self.alias_body(state, name) else { return false };
        if text.as_str().is_some_and(|text| text.trim().is_empty()) && words.len() == 1 {
            return false;
        }
        // After an alias body that ends with a blank, the next word may also be an alias.
        let mut goes_on = ends_blank(&text);
        for word in words.iter().skip(1) {
            text.push_str(" ");
            let next = plain(word).filter(|_| goes_on).and_then(|name| self.alias_body(state, name));
            goes_on = next.as_ref().is_some_and(ends_blank);
            match next {
                Some(next) => text.push(&next),
                None => text.push_str(scope.source.written(word.span)),
            }
        }
        self.work.spend_bytes(text.len());
        let mut inner = scope.clone();
        let mut aliases = (*scope.aliases).clone();
        aliases.push(name.into());
        inner.aliases = Rc::new(aliases);
        let (redirects, saved) = self.redirects(state, scope, &statement.redirects);
        let inner = inner.redirected(redirects);
        let is_new = self.alias_lines.get(name).is_some_and(|line| *line == self.line);
        let certain = state.options.aliases == Some(true) && !is_new;
        if certain {
            self.run_text(state, &inner, &text, Origin::Alias, statement.span);
        } else {
            let mut other = self.fork(state);
            self.run_text(&mut other, &inner, &text, Origin::Alias, statement.span);
            self.joins(state, other);
        }
        Self::restore(state, saved);
        certain
    }

    /// Returns the alias body of a name in the current reading of the command. Returns `None` if the name has no alias.
    fn alias_body(&mut self, state: &State, name: &str) -> Option<Text> {
        let bodies = state.aliases.get(name)?;
        match self.choices.choose(bodies.len()) {
            Some(at) => bodies.get(at).cloned().flatten(),
            None => Some(Text::unknown(Why::Budget, name)),
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
            Descriptor::Collected(_) | Descriptor::Process(_) | Descriptor::Unknown => {
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

/// Returns the associative array of words that are keys and values in turn: `declare -A a=(k v)`.
fn paired(mut texts: impl Iterator<Item = Text>) -> Value {
    let mut made = std::collections::BTreeMap::new();
    while let Some(key) = texts.next() {
        let Some(known) = key.as_str() else { return Value::Unknown(Why::Expansion) };
        made.insert(Key::Name(known.to_owned()), texts.next().unwrap_or_default());
    }
    Value::Array(Rc::new(made))
}

/// Returns true if a text certainly ends with a blank.
fn ends_blank(text: &Text) -> bool {
    matches!(text.pieces().last(), Some(Piece::Text(last)) if last.ends_with([' ', '\t']))
}

/// Returns the word, if it is plain text without quotes.
fn plain(word: &Word) -> Option<&str> {
    match word.parts.as_slice() {
        [Part::Text { text, quoted: false }] => Some(text),
        _ => None,
    }
}

fn is_pattern(arg: &Arg) -> bool {
    arg.pieces().iter().all(|piece| !matches!(piece, Piece::Unknown { why, .. } if *why != Why::Glob))
}

fn assigned_arg(assignment: &Assignment, value: &Value) -> Arg {
    let operator = if assignment.append { "+=" } else { "=" };
    let mut text = Text::known(format!("{}{operator}", assignment.name));
    match value {
        Value::Scalar(value) => text.push(value),
        Value::Array(_) => text.push_str("()"),
        Value::Unset | Value::Unknown(_) => text.push_unknown(Why::Expansion, "(...)"),
    }
    text.to_arg()
}

/// `x+=value`
fn appended(before: Value, value: Value, integer: bool) -> Value {
    match (before, value) {
        (Value::Unset, value) => value,
        (Value::Scalar(first), Value::Scalar(second)) => {
            if integer {
                let numbers = (first.as_str().and_then(|text| text.parse::<i64>().ok()))
                    .zip(second.as_str().and_then(|text| text.parse::<i64>().ok()));
                return match numbers.and_then(|(one, other)| one.checked_add(other)) {
                    Some(sum) => Value::Scalar(Text::known(sum.to_string())),
                    None => Value::Unknown(Why::Arithmetic),
                };
            }
            let mut text = first;
            text.push(&second);
            Value::Scalar(text)
        }
        (Value::Scalar(first), Value::Array(more)) => {
            Value::array(std::iter::once(first).chain(more.values().cloned()))
        }
        (Value::Array(elements), Value::Array(more)) => {
            let mut all = (*elements).clone();
            let mut next = match all.keys().next_back() {
                Some(Key::Number(last)) => last.saturating_add(1),
                Some(Key::Name(_)) | None => 0,
            };
            for (key, text) in more.iter() {
                let key = match key {
                    Key::Name(_) => key.clone(),
                    Key::Number(_) => Key::Number(next),
                };
                next = next.saturating_add(1);
                all.insert(key, text.clone());
            }
            Value::Array(Rc::new(all))
        }
        (Value::Array(elements), Value::Scalar(text)) => {
            let mut all = (*elements).clone();
            all.entry(Key::Number(0)).or_default().push(&text);
            Value::Array(Rc::new(all))
        }
        (Value::Unknown(why), _) | (_, Value::Unknown(why)) => Value::Unknown(why),
        (value @ (Value::Scalar(_) | Value::Array(_)), Value::Unset) => value,
    }
}
