//! `cd`, `pushd`, `popd`, `pwd`. Symlinks are not resolved. `CDPATH` applies only if it is known to be set.

use std::rc::Rc;

use castellan_event::{Why, lexical_path};
use castellan_programs::Arg;

use crate::limits::{DIRECTORY_BYTES_MAX, ENTRIES_PER_WORK};
use crate::run::Call;
use crate::scope::Scope;
use crate::state::{State, Value};
use crate::syntax::Shell;
use crate::text::Text;
use crate::walk::Walker;

impl Walker<'_> {
    pub(super) fn cd(&mut self, state: &mut State, scope: &Scope, call: Call) {
        self.emit(state, scope, &call);
        let operands: Vec<&Arg> = call
            .arguments()
            .iter()
            .skip_while(|arg| matches!(arg.as_str(), Some("-P" | "-L" | "-e" | "-@" | "-LP" | "-PL" | "--")))
            .collect();
        let target = match operands.as_slice() {
            [] => self.variable_text(state, "HOME"),
            [one] if one.as_str() == Some("-") => self.variable_text(state, "OLDPWD"),
            [one] if state.options.shell == Shell::Zsh && is_entry(one) => unknown_place(),
            [one] if one.splits() => Text::unknown(one.why().unwrap_or_default(), one.written()),
            [one] => Text::from(*one),
            _ => Text::unknown(Why::Unsupported, "cd"),
        };
        if self.searched(state, &target) {
            // With `CDPATH`, `cd` prints the new directory.
            self.unknown_output(state, scope, &call, Why::Variable);
        }
        self.go(state, &target);
        self.after_cd(state, scope, &call);
        state.status = None;
    }

    pub(super) fn pushd(&mut self, state: &mut State, scope: &Scope, call: Call) {
        self.emit(state, scope, &call);
        let here = self.here(state);
        let target = match call.arguments() {
            [one] if !one.splits() && !one.prefix().starts_with(['+', '-']) => Some(Text::from(one)),
            _ => None,
        };
        match target {
            Some(target) => {
                self.work.spend(state.stack.len() as u64 / ENTRIES_PER_WORK);
                Rc::make_mut(&mut state.stack).push(here);
                self.go(state, &target);
            }
            None => {
                // `pushd` swaps or rotates the stack; the new directory is known only for a stack with one entry.
                let next = (call.arguments().is_empty() && state.stack.len() == 1)
                    .then(|| state.stack.first().cloned().flatten())
                    .flatten();
                state.stack = Rc::new(vec![here]);
                self.go(state, &next.map_or_else(unknown_place, |next| Text::known(&*next)));
            }
        }
        state.status = None;
    }

    pub(super) fn popd(&mut self, state: &mut State, scope: &Scope, call: Call) {
        self.emit(state, scope, &call);
        self.work.spend(state.stack.len() as u64 / ENTRIES_PER_WORK);
        let top = Rc::make_mut(&mut state.stack).pop().flatten();
        let known = top.filter(|_| call.arguments().is_empty());
        self.go(state, &known.map_or_else(unknown_place, |top| Text::known(&*top)));
        state.status = None;
    }

    pub(super) fn pwd(&mut self, state: &mut State, scope: &Scope, call: Call) {
        self.emit(state, scope, &call);
        match self.here(state) {
            Some(here) => self.deliver(state, scope, &Text::known(format!("{here}\n"))),
            None => self.unknown_output(state, scope, &call, Why::Dynamic),
        }
        state.status = Some(true);
    }

    pub(crate) fn go(&mut self, state: &mut State, target: &Text) {
        let here = self.here(state);
        let there = match target.as_str() {
            Some("") => here.clone(),
            Some(path) if path.starts_with('/') => Some(Rc::from(lexical_path("/", path))),
            Some(_) if self.searched(state, target) => None,
            Some(path) => here.as_ref().map(|here| Rc::from(lexical_path(here, path))),
            None => None,
        };
        // The kernel rejects longer paths.
        let there = there.filter(|there: &Rc<str>| there.len() <= DIRECTORY_BYTES_MAX);
        self.work.spend_bytes(target.len() + here.as_ref().map_or(0, |here| here.len()));
        let before = state.directories.clone();
        state.directories_before.get_or_insert(before);
        let value = |directory: Option<&Rc<str>>| match directory {
            Some(directory) => Value::Scalar(Text::known(&**directory)),
            None => Value::Unknown(Why::Dynamic),
        };
        state.set("OLDPWD", value(here.as_ref()));
        state.set("PWD", value(there.as_ref()));
        state.directories = vec![there];
    }

    /// Returns the working directory; chooses one if several are possible.
    fn here(&mut self, state: &mut State) -> Option<Rc<str>> {
        let at = self.choices.choose(state.directories.len())?;
        let here = state.directories.get(at).cloned().flatten();
        state.directories = vec![here.clone()];
        here
    }

    /// Returns true if `CDPATH` may lead `cd name` to a directory outside the working directory.
    fn searched(&mut self, state: &mut State, target: &Text) -> bool {
        let certain = |path: &str| path.is_empty() || path.starts_with(['/', '.']);
        !target.as_str().is_some_and(certain)
            && state.variable("CDPATH").is_some()
            && !matches!(self.pick(state, "CDPATH"), Value::Unset)
            && !matches!(self.pick(state, "CDPATH"), Value::Scalar(text) if text.as_str() == Some(""))
    }

    fn variable_text(&mut self, state: &mut State, name: &str) -> Text {
        match self.pick(state, name) {
            Value::Scalar(text) => text,
            Value::Unset | Value::Array(_) => Text::unknown(Why::Variable, format!("${name}")),
            Value::Unknown(why) => Text::unknown(why, format!("${name}")),
        }
    }
}

/// zsh: `cd -1` goes to an entry of the directory stack.
fn is_entry(arg: &Arg) -> bool {
    let number = arg.as_str().and_then(|text| text.strip_prefix(['-', '+']));
    number.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

fn unknown_place() -> Text {
    Text::unknown(Why::Dynamic, "popd")
}
