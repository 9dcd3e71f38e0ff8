//! Code files, with contents from the text itself or from the caller of the walk. This module must not read the disk.

use std::rc::Rc;

use castellan_event::{Role, Why};
use castellan_programs::{Arg, Piece, base_name};

use super::texts::Code;
use super::{Call, environments};
use crate::files;
use crate::found::{Item, Origin, Script};
use crate::scope::Scope;
use crate::shells::{SH, shells};
use crate::state::{Descriptor, State, Value};
use crate::syntax::Shell;
use crate::text::Text;
use crate::tree::Span;
use crate::walk::{Leave, Walker};

/// A possible content of a file, or the reason that it is unknown.
type Holds = Result<Text, Why>;

/// A program that is a shell script.
pub(super) struct OwnScript {
    name: String,
    absolute: Rc<str>,
    holds: Vec<Holds>,
}

impl Walker<'_> {
    /// Returns the contents of a file before the text appends to it.
    pub(crate) fn held_before(&mut self, state: &State, path: &str) -> Text {
        let Some(absolute) = state.absolute(path) else { return Text::unknown(Why::File, path) };
        match self.holds(state, &absolute).as_slice() {
            [Ok(text)] => text.clone(),
            // The file does not exist.
            [Err(Why::Unresolved)] => Text::default(),
            [Err(why)] => Text::unknown(*why, path),
            _ => Text::unknown(Why::File, path),
        }
    }

    /// Returns true if the file did not exist before the text.
    pub(crate) fn is_new(&mut self, state: &State, path: &str) -> bool {
        state.absolute(path).is_some_and(|absolute| self.on_disk(&absolute) == Err(Why::Unresolved))
    }

    /// Returns a text that a file may have.
    pub(crate) fn file_text(&mut self, state: &State, path: &str) -> Option<String> {
        let absolute = state.absolute(path)?;
        let holds = self.holds(state, &absolute);
        holds.iter().flatten().find_map(|text| text.as_str().map(str::to_owned))
    }

    fn holds(&mut self, state: &State, absolute: &Rc<str>) -> Vec<Holds> {
        let Some(held) = state.files.get(absolute) else { return vec![self.on_disk(absolute)] };
        let held = held.clone();
        let each = held.iter().map(|one| match one {
            Some(text) => Ok((**text).clone()),
            None => self.on_disk(absolute),
        });
        each.collect()
    }

    /// Returns the contents of a file that is run now, and reports the file.
    fn runs(&mut self, state: &State, scope: &Scope, call: &Call, absolute: &Rc<str>) -> Vec<Holds> {
        self.says_script(state, scope, call, absolute);
        self.holds(state, absolute)
    }

    fn says_script(&mut self, state: &State, scope: &Scope, call: &Call, absolute: &Rc<str>) {
        let is_made = state.files.get(absolute).is_some_and(|held| !held.contains(&None));
        let span = scope.span(call.span);
        self.item(Item::Script(Script { path: Rc::clone(absolute), is_made, span }));
    }

    fn on_disk(&mut self, absolute: &Rc<str>) -> Holds {
        self.work.spend(1);
        if &**absolute == "/dev/null" {
            return Ok(Text::default());
        }
        let text = self.files.read(absolute)?;
        self.work.grant(text.len());
        Ok(Text::known(&*text))
    }

    /// Runs a file in a new shell: `bash FILE ARGUMENTS`.
    pub(super) fn script_file(
        &mut self,
        state: &mut State,
        scope: &Scope,
        call: &Call,
        shells: &'static [Shell],
        file: &Arg,
        arguments: &[Arg],
    ) {
        let Some((path, absolute)) = place(state, scope, file) else {
            let why = file.why().unwrap_or(Why::File);
            let written = pattern(state, file).unwrap_or_else(|| file.written().into_owned());
            return self.unread(state, scope, call, &written, why);
        };
        let from_input = matches!(state.descriptor(0), Descriptor::File(open) if *open == *file);
        let holds = self.runs(state, scope, call, &absolute);
        self.each_way(state, holds, |walker, state, one| match one {
            Ok(text) => {
                let mut child = walker.child(state);
                if from_input {
                    child.set_descriptor(0, Descriptor::Unknown);
                } else {
                    named(&mut child, path);
                }
                walker.as_script(state, child, scope, (shells, &absolute, &text), arguments, call.span);
            }
            Err(why) => walker.unread(state, scope, call, path, why),
        });
    }

    /// Returns the shell script at a program's path, if it is one.
    pub(super) fn own_script(
        &mut self,
        state: &State,
        scope: &Scope,
        call: &Call,
        name: &str,
    ) -> Option<OwnScript> {
        let program = Arg::known(name);
        let (_, absolute) = place(state, scope, &program).filter(|_| name.contains('/'))?;
        let mut holds = self.holds(state, &absolute);
        holds.retain(|one| matches!(one, Ok(text) if is_for_shells(text)));
        if holds.is_empty() {
            return None;
        }
        self.says_script(state, scope, call, &absolute);
        Some(OwnScript { name: name.to_owned(), absolute, holds })
    }

    pub(super) fn run_own_script(
        &mut self,
        state: &mut State,
        scope: &Scope,
        call: &Call,
        script: OwnScript,
    ) {
        let OwnScript { name, absolute, holds } = script;
        self.each_way(state, holds, |walker, state, one| {
            if let Ok(text) = one {
                let mut child = walker.child(state);
                named(&mut child, &name);
                let shells = first_line_shells(&text);
                walker.startup_of_script(state, scope, call, shells);
                walker.as_script(
                    state,
                    child,
                    scope,
                    (shells, &absolute, &text),
                    call.arguments(),
                    call.span,
                );
            }
        });
    }

    /// `source FILE ARGUMENTS`: runs a file in the current shell.
    pub(crate) fn source_file(&mut self, state: &mut State, scope: &Scope, call: &Call, file: &Arg) {
        let Some((path, absolute)) = place(state, scope, file) else {
            state.forget_most(Why::File);
            let why = file.why().unwrap_or(Why::File);
            return self.unread(state, scope, call, &file.written(), why);
        };
        let mut holds = self.runs(state, scope, call, &absolute);
        let directory = self.environments.get(&*absolute);
        let made = directory.map(|directory| Ok(Text::known(environments::activation(directory))));
        if let Some(made) = made.filter(|_| holds == [Err(Why::Unresolved)]) {
            holds = vec![made];
        }
        self.each_way(state, holds, |walker, state, one| match one {
            Ok(text) => {
                let before = state.variables.get(SOURCE).cloned();
                state.set(SOURCE, Value::array([Text::known(path)]));
                let code = Code {
                    text: &text,
                    shells: None,
                    origin: Origin::Script,
                    span: call.span,
                    file: Some(&absolute),
                };
                walker.leaving(Leave::Function, state, |walker, state| {
                    walker.walked_text(state, scope, code, |walker, state, scope, script| {
                        walker.text_script(state, scope, script);
                    });
                });
                if let Some(before) = before {
                    state.variables.insert(SOURCE.into(), before);
                }
            }
            Err(why) => {
                walker.unread(state, scope, call, path, why);
                state.forget_most(Why::File);
            }
        });
    }

    fn as_script(
        &mut self,
        state: &mut State,
        mut child: State,
        scope: &Scope,
        (shells, file, text): (&'static [Shell], &Rc<str>, &Text),
        arguments: &[Arg],
        span: Span,
    ) {
        let certain = !arguments.iter().any(Arg::splits);
        child.positionals = certain.then(|| Rc::new(arguments.iter().map(Text::from).collect()));
        let code = Code { text, shells: Some(shells), origin: Origin::Script, span, file: Some(file) };
        self.as_shell(state, child, scope, code);
    }

    /// Reports a file with unknown code.
    fn unread(&mut self, state: &mut State, scope: &Scope, call: &Call, path: &str, why: Why) {
        // Earlier commands may create a missing file.
        let why = if why == Why::Unresolved { Why::File } else { why };
        self.gap(scope, Role::Code, why, path, call.span);
        self.unknown_output(state, scope, call, Why::Substitution);
    }

    /// Walks each alternative and joins the states.
    fn each_way<T>(
        &mut self,
        state: &mut State,
        ways: Vec<T>,
        mut walk: impl FnMut(&mut Self, &mut State, T),
    ) {
        let before = self.fork(state);
        for (number, way) in ways.into_iter().enumerate() {
            if number == 0 {
                walk(self, state, way);
                continue;
            }
            let mut inner = self.fork(&before);
            walk(self, &mut inner, way);
            self.joins(state, inner);
        }
    }
}

/// The variable with the path of the current text.
const SOURCE: &str = "BASH_SOURCE";

/// Sets the name of a shell that runs a file to the file's path.
fn named(child: &mut State, path: &str) {
    child.name = Rc::new(Text::known(path));
    child.set(SOURCE, Value::array([Text::known(path)]));
}

/// Returns the path as written and the absolute path. Returns `None` for an unknown path or another machine.
fn place<'a>(state: &State, scope: &Scope, file: &'a Arg) -> Option<(&'a str, Rc<str>)> {
    let path = file.as_str().filter(|_| scope.remote.is_empty())?;
    Some((path, state.absolute(path)?))
}

/// Returns true if a shell runs the file.
fn is_for_shells(text: &Text) -> bool {
    files::is_for_shells(beginning(text))
}

/// Returns the shells that may run a file that is started like a program.
fn first_line_shells(text: &Text) -> &'static [Shell] {
    let program = files::interpreter(beginning(text)).and_then(|words| words.first().copied());
    match shells(program.map_or("sh", base_name)) {
        // The first line names no shell that is known.
        [] => SH,
        known => known,
    }
}

fn beginning(text: &Text) -> &str {
    match text.pieces().first() {
        Some(Piece::Text(text)) => text.as_str(),
        Some(Piece::Unknown { .. }) | None => "",
    }
}

/// Returns the absolute pattern of an argument that is a file pattern below a known directory.
fn pattern(state: &State, file: &Arg) -> Option<String> {
    let is_glob = |piece: &Piece| matches!(piece, Piece::Text(_) | Piece::Unknown { why: Why::Glob, .. });
    let written = file.written();
    let begins = file.prefix().trim_start_matches("./");
    let is_named = file.why() == Some(Why::Glob)
        && file.pieces().iter().all(is_glob)
        && begins.starts_with(|first: char| first.is_ascii_alphanumeric())
        && !written.split('/').any(|part| part == "..");
    let [Some(directory)] = state.directories.as_slice() else { return None };
    is_named.then(|| format!("{directory}/{}", written.trim_start_matches("./")))
}
