//! [`SecretReads`]: the commands of a call that read secrets. Unknown code that comes from such a command gets
//! [`Why::Secret`]. This module must not know commands.

use castellan_event::{Effect, EffectKind, Scope, Why};
use castellan_programs::{Arg, Trait, base_name};
use castellan_shell::tree::Span;
use castellan_shell::{Origin, Run};

use crate::limits::SECRET_READS_MAX;

/// The walk may cut the text of an unknown part, but keeps at least this many bytes.
const KEPT_BYTES: usize = 190;

#[derive(Debug, Default)]
pub(crate) struct SecretReads {
    all: Vec<SecretRead>,
    /// There were more commands than are stored: any file and any output of a command may then be a secret.
    is_full: bool,
}

#[derive(Debug)]
struct SecretRead {
    /// The texts that the walk writes for the command's output and its input.
    written: Vec<String>,
    span: Span,
    is_substituted: bool,
    /// The command outputs what it reads.
    is_shown: bool,
}

impl SecretReads {
    /// Stores a command if one of its effects reads a secret.
    pub(crate) fn add(&mut self, run: &Run, effects: &[Effect]) {
        let is_secret = |effect: &&Effect| {
            effect.kind() == EffectKind::Read
                && matches!(effect.scope(), Some(Scope::Secret | Scope::Castellan))
        };
        let paths =
            effects.iter().filter(is_secret).filter_map(|effect| effect.path_raw().map(str::to_owned));
        let mut written: Vec<String> = paths.collect();
        if written.is_empty() {
            return;
        }
        if self.all.len() >= SECRET_READS_MAX {
            self.is_full = true;
            return;
        }
        let words: Vec<_> = run.argv.iter().map(Arg::written).collect();
        written.push(words.join(" "));
        let is_substituted = run.origin == Origin::Substitution;
        let is_shown = !keeps_to_itself(run);
        self.all.push(SecretRead { written, span: run.span, is_substituted, is_shown });
    }

    /// Returns why a part is unknown. `written`: the text for the part; `span`: the command that receives it.
    pub(crate) fn source(&self, why: Why, written: &str, span: Span) -> Why {
        if self.is_from(why, written, span, |_| true) { Why::Secret } else { why }
    }

    /// Returns true if a part is what a command outputs of a secret.
    pub(crate) fn is_shown(&self, why: Why, written: &str, span: Span) -> bool {
        why == Why::Secret || self.is_from(why, written, span, |read| read.is_shown)
    }

    fn is_from(&self, why: Why, written: &str, span: Span, counts: impl Fn(&SecretRead) -> bool) -> bool {
        let is_meant =
            |one: &String| one == written || written.len() > KEPT_BYTES && one.starts_with(written);
        let is_within = |read: &SecretRead| {
            read.is_substituted && span.start <= read.span.start && read.span.end <= span.end
        };
        let mut all = self.all.iter().filter(|read| counts(read));
        matches!(why, Why::File | Why::Substitution)
            && (self.is_full || all.any(|read| read.written.iter().any(is_meant) || is_within(read)))
    }
}

/// Reports whether a command uses the secrets that it reads and passes none of their contents on.
pub(crate) fn keeps_to_itself(run: &Run) -> bool {
    let name = run.argv.first().and_then(Arg::as_str).map(base_name);
    let is_given = |sign: &&str| run.argv.iter().skip(1).any(|arg| arg.as_str() == Some(*sign));
    name.and_then(|name| Trait::KeepsSecrets.signs(name))
        .is_some_and(|signs| signs.is_empty() || signs.iter().any(is_given))
}
