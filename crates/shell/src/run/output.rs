//! Outputs of programs, delivered to what reads them. This module must not know the shell's syntax.

use castellan_event::Why;
use castellan_programs::{Arg, Trait};

use super::{Call, environments};
use crate::limits::WORK_OF_SED;
use crate::outputs;
use crate::scope::Scope;
use crate::state::{Descriptor, State};
use crate::text::Text;
use crate::walk::Walker;

impl Walker<'_> {
    /// Delivers the output of a program, or an unknown text if the output cannot be computed.
    pub(crate) fn output(&mut self, state: &mut State, scope: &Scope, call: &Call, name: &str) {
        let directory = environments::made(name, call.arguments()).filter(|_| scope.remote.is_empty());
        if let Some(directory) = directory.and_then(|directory| state.absolute(directory)) {
            self.environments.insert(format!("{directory}/bin/activate"), directory);
        }
        let out = state.descriptor(1);
        let wanted =
            matches!(out, Descriptor::Collected(_) | Descriptor::Process(_) | Descriptor::Written(_));
        let tee = outputs::Tee::of(name, &call.argv).filter(|_| scope.remote.is_empty());
        if reads_some(name, call.arguments()) {
            self.reads_script(state, scope, call, Some(0));
        }
        if !wanted && tee.is_none() {
            state.status = if outputs::always_succeeds(name) { Some(true) } else { None };
            return;
        }
        // The call's own standard input is empty.
        let input = match state.descriptor(0) {
            Descriptor::Inherited => None,
            Descriptor::Input(_)
            | Descriptor::Collected(_)
            | Descriptor::Process(_)
            | Descriptor::File(_)
            | Descriptor::Written(_)
            | Descriptor::Script
            | Descriptor::Unknown => self.input(state),
        };
        if let Some(tee) = tee {
            let text = input.unwrap_or_else(|| Text::unknown(Why::Input, name));
            for path in &tee.paths {
                self.changes_itself(state, scope, &Arg::known(path.as_str()), call.span);
            }
            return self.tee(state, scope, &tee, &text);
        }
        if matches!(name, "sed" | "gsed") {
            self.work.spend(WORK_OF_SED);
        }
        let made = outputs::computed(name, call.arguments(), input.as_ref(), state);
        match made {
            outputs::Made::Text(text) => {
                self.work.spend_bytes(text.len().saturating_mul(4));
                self.deliver(state, scope, &text);
            }
            outputs::Made::Unknown(why) => self.unknown_output(state, scope, call, why),
        }
        state.status = if outputs::always_succeeds(name) { Some(true) } else { None };
    }

    pub(crate) fn unknown_output(&mut self, state: &mut State, scope: &Scope, call: &Call, why: Why) {
        let written = call.argv.iter().map(|arg| arg.written().into_owned()).collect::<Vec<_>>().join(" ");
        self.deliver(state, scope, &Text::unknown(why, written));
    }

    /// `tee FILE >(commands)`: writes the text to each operand and to standard output.
    fn tee(&mut self, state: &mut State, scope: &Scope, tee: &outputs::Tee, text: &Text) {
        self.work.spend_bytes(text.len().saturating_mul(4));
        for path in &tee.paths {
            let leads = state.opened(path).or_else(|| self.opens_file(state, tee.appends, path));
            let Some(leads) = leads else { continue };
            let before = state.descriptor(1);
            state.set_descriptor(1, leads);
            self.deliver(state, scope, text);
            state.set_descriptor(1, before);
        }
        self.deliver(state, scope, text);
        state.status = Some(true);
    }
}

impl Walker<'_> {
    /// Records the files with known contents that a program may change.
    pub(super) fn changes_files(&mut self, state: &mut State, scope: &Scope, call: &Call, base: &str) {
        let is_last = Trait::WritesLast.is_of(base);
        let args = call.arguments();
        let has = |sign: &str| args.iter().any(|arg| arg.written().contains(sign));
        let signs = || Trait::WritesNamed.signs(base);
        let writes = || signs().is_some_and(|signs| signs.is_empty() || signs.iter().any(|sign| has(sign)));
        if !scope.remote.is_empty() || !(is_last || writes()) {
            return;
        }
        let first = if is_last { args.len().saturating_sub(1) } else { 0 };
        let args = args.get(first..).unwrap_or_default();
        let names: Vec<String> = args.iter().map(|arg| arg.written().into_owned()).collect();
        self.work.spend_bytes(names.iter().map(String::len).sum());
        state.change_files(|path| {
            let name = path.rsplit('/').next().unwrap_or(path);
            names.iter().any(|written| written.contains(name))
        });
    }
}

/// Reports whether a program may read a part of its standard input and leave the rest to others.
fn reads_some(name: &str, arguments: &[Arg]) -> bool {
    match name {
        "dd" => !arguments.iter().any(|arg| arg.prefix().starts_with("if=")),
        "head" => {
            let is_file =
                |arg: &Arg| !arg.prefix().starts_with(['-', '+']) && arg.prefix().parse::<u64>().is_err();
            !arguments.iter().any(is_file)
        }
        _ => false,
    }
}
