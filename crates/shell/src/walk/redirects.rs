//! Redirects: the targets of descriptors while a command runs. This module must not know files.

use std::rc::Rc;

use castellan_event::{Role, Why};
use castellan_programs::Arg;

use super::Walker;
use crate::found::FoundRedirect;
use crate::scope::Scope;
use crate::state::{Descriptor, State, Value};
use crate::syntax::Shell;
use crate::text::Text;
use crate::tree::{FdWord, Redirect, RedirectKind, Span};

/// Descriptors before the redirects.
pub(super) type Saved = Vec<(u32, Option<Descriptor>)>;

impl Walker<'_> {
    /// Applies redirects. Returns the expanded redirects and the previous descriptors.
    pub(super) fn redirects(
        &mut self,
        state: &mut State,
        scope: &Scope,
        list: &[Redirect],
    ) -> (Vec<Rc<FoundRedirect>>, Saved) {
        let mut found = Vec::new();
        let mut saved = Vec::new();
        for redirect in list {
            self.work.spend(1);
            self.redirect(state, scope, redirect, &mut found, &mut saved);
        }
        (found, saved)
    }

    /// Restores the previous descriptors.
    pub(super) fn restore(state: &mut State, saved: Saved) {
        for (number, descriptor) in saved.into_iter().rev() {
            match descriptor {
                Some(descriptor) => state.set_descriptor(number, descriptor),
                None => {
                    Rc::make_mut(&mut state.descriptors).remove(&number);
                }
            }
        }
    }

    fn redirect(
        &mut self,
        state: &mut State,
        scope: &Scope,
        redirect: &Redirect,
        found: &mut Vec<Rc<FoundRedirect>>,
        saved: &mut Saved,
    ) {
        let kind = redirect.kind;
        let targets: Vec<Arg> = match kind {
            RedirectKind::Heredoc => vec![self.document(state, scope, &redirect.target).to_arg()],
            RedirectKind::HereString => {
                let mut text = self.here_string(state, scope, &redirect.target);
                text.push_str("\n");
                vec![text.to_arg()]
            }
            RedirectKind::Read
            | RedirectKind::Write
            | RedirectKind::Append
            | RedirectKind::ReadWrite
            | RedirectKind::DuplicateInput
            | RedirectKind::DuplicateOutput
            | RedirectKind::WriteBoth
            | RedirectKind::AppendBoth => self.fields(state, scope, &redirect.target),
        };
        let usual = match kind {
            RedirectKind::Read
            | RedirectKind::ReadWrite
            | RedirectKind::DuplicateInput
            | RedirectKind::HereString
            | RedirectKind::Heredoc => 0,
            RedirectKind::Write
            | RedirectKind::Append
            | RedirectKind::DuplicateOutput
            | RedirectKind::WriteBoth
            | RedirectKind::AppendBoth => 1,
        };
        let number = match &redirect.fd {
            None => Some(usual),
            Some(FdWord::Number(number)) => Some(*number),
            Some(FdWord::Variable(name)) => self.named_descriptor(state, name, targets.first()),
        };
        // `>&$x` is a file or a descriptor: only the value decides.
        let open_end = kind == RedirectKind::WriteBoth
            && scope
                .source
                .written(redirect.span)
                .trim_start_matches(|one: char| one.is_ascii_digit())
                .starts_with(">&");
        for target in targets {
            let duplicates = open_end && target.as_str().is_some_and(is_descriptor);
            let kind = if duplicates { RedirectKind::DuplicateOutput } else { kind };
            if usual == 1 || kind == RedirectKind::ReadWrite {
                self.changes_itself(state, scope, &target, redirect.span);
            }
            let mut leads = self.leads(state, kind, number, &target);
            if let Some(number) = number {
                let both = matches!(kind, RedirectKind::WriteBoth | RedirectKind::AppendBoth);
                for number in std::iter::once(number).chain(both.then_some(2)) {
                    if state.options.shell == Shell::Zsh && saved.iter().any(|(one, _)| *one == number) {
                        Self::together(state, number, &mut leads);
                    }
                    saved.push((number, state.descriptors.get(&number).cloned()));
                    state.set_descriptor(number, leads.clone());
                }
            }
            let fd = redirect.fd.as_ref().and(number);
            found.push(Rc::new(FoundRedirect { fd, kind, target }));
        }
    }

    /// zsh: several redirects of a descriptor are all in force (zshmisc, "MULTIOS").
    fn together(state: &mut State, number: u32, leads: &mut Descriptor) {
        match (state.descriptor(number), &mut *leads) {
            (Descriptor::Input(first), Descriptor::Input(second)) => {
                let mut all = (*first).clone();
                all.push(second);
                *second = Rc::new(all);
            }
            (Descriptor::Written(path), Descriptor::Written(_) | Descriptor::Process(_)) => {
                state.written_to(&path, &Text::unknown(Why::Substitution, &*path));
            }
            (Descriptor::Inherited, _) => {}
            (_, Descriptor::Written(path)) => {
                let path = Rc::clone(path);
                state.written_to(&path, &Text::unknown(Why::Substitution, &*path));
            }
            _ => *leads = Descriptor::Unknown,
        }
    }

    /// `{name}>`: allocates a descriptor, or returns the descriptor to close from the variable.
    fn named_descriptor(&mut self, state: &mut State, name: &str, target: Option<&Arg>) -> Option<u32> {
        if target.and_then(Arg::as_str) == Some("-") {
            return match self.pick(state, name) {
                Value::Scalar(text) => text.as_str().and_then(|text| text.parse().ok()),
                Value::Unset | Value::Array(_) | Value::Unknown(_) => None,
            };
        }
        let number = (10..32).find(|number| !state.descriptors.contains_key(number));
        let value = match number {
            Some(number) => Value::Scalar(Text::known(number.to_string())),
            None => Value::Unknown(Why::Budget),
        };
        state.set(name, value);
        number
    }

    fn leads(
        &mut self,
        state: &mut State,
        kind: RedirectKind,
        number: Option<u32>,
        target: &Arg,
    ) -> Descriptor {
        match kind {
            RedirectKind::HereString | RedirectKind::Heredoc => {
                Descriptor::Input(Rc::new(Text::from(target)))
            }
            RedirectKind::DuplicateInput | RedirectKind::DuplicateOutput => {
                let Some(text) = target.as_str() else { return Descriptor::Unknown };
                text.trim_end_matches('-')
                    .parse()
                    .map_or(Descriptor::Unknown, |number| state.descriptor(number))
            }
            RedirectKind::Read | RedirectKind::ReadWrite => match target.as_str() {
                Some("/dev/null") => Descriptor::Input(Rc::new(Text::default())),
                Some(path) => state.opened(path).unwrap_or_else(|| Descriptor::File(Rc::new(target.clone()))),
                None => Descriptor::File(Rc::new(target.clone())),
            },
            RedirectKind::Write
            | RedirectKind::Append
            | RedirectKind::WriteBoth
            | RedirectKind::AppendBoth => {
                let file = || Descriptor::File(Rc::new(target.clone()));
                let Some(path) = target.as_str() else { return file() };
                state.opened(path).or_else(|| self.writes(state, kind, number, path)).unwrap_or_else(file)
            }
        }
    }

    /// Opens a file for writing. Error output of programs is unknown.
    fn writes(
        &mut self,
        state: &mut State,
        kind: RedirectKind,
        number: Option<u32>,
        path: &str,
    ) -> Option<Descriptor> {
        let stays = matches!(kind, RedirectKind::Append | RedirectKind::AppendBoth);
        let mut before = stays.then(|| self.held_before(state, path));
        if number == Some(2) || matches!(kind, RedirectKind::WriteBoth | RedirectKind::AppendBoth) {
            before.get_or_insert_default().push_unknown(Why::Substitution, path);
        }
        let is_new = self.is_new(state, path);
        state.writes(path, before, is_new)
    }

    /// Reports a write to the file that is being run: a shell continues to read the appended text.
    pub(crate) fn changes_itself(&mut self, state: &State, scope: &Scope, target: &Arg, span: Span) {
        let path = target.as_str().and_then(|path| state.absolute(path));
        if path.is_some() && path == scope.source.file && scope.remote.is_empty() {
            self.gap(scope, Role::Code, Why::Changing, &target.written(), span);
        }
    }

    /// Opens a file that a program writes to.
    pub(crate) fn opens_file(&mut self, state: &mut State, appends: bool, path: &str) -> Option<Descriptor> {
        let kind = if appends { RedirectKind::Append } else { RedirectKind::Write };
        self.writes(state, kind, None, path)
    }

    /// Returns the text that a program receives when it reads all standard input.
    pub(crate) fn input(&mut self, state: &State) -> Option<Text> {
        match state.descriptor(0) {
            Descriptor::Inherited => Some(Text::unknown(Why::Input, "")),
            Descriptor::Input(text) => {
                self.work.spend_bytes(text.len());
                Some((*text).clone())
            }
            Descriptor::File(path) => {
                let held = path.as_str().and_then(|path| state.certainly_held(path));
                Some(held.unwrap_or_else(|| Text::unknown(Why::File, path.written())))
            }
            Descriptor::Collected(_)
            | Descriptor::Process(_)
            | Descriptor::Written(_)
            | Descriptor::Script
            | Descriptor::Unknown => None,
        }
    }
}

/// Returns true if the word after `>&` is a descriptor, a descriptor to move (`3-`), or `-`.
fn is_descriptor(text: &str) -> bool {
    let digits = text.strip_suffix('-').unwrap_or(text);
    !text.is_empty() && digits.chars().all(|one| one.is_ascii_digit())
}
