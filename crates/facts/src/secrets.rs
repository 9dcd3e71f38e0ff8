//! [`SecretReads`]: the commands of a call that read secrets. Unknown code that comes from such a command gets
//! [`Why::Secret`]. This module must not know commands.

use castellan_event::{Effect, EffectKind, Scope, Why};
use castellan_programs::Arg;
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
        self.all.push(SecretRead { written, span: run.span, is_substituted });
    }

    /// Returns why a part is unknown. `written`: the text for the part; `span`: the command that receives it.
    pub(crate) fn source(&self, why: Why, written: &str, span: Span) -> Why {
        if !matches!(why, Why::File | Why::Substitution) {
            return why;
        }
        let is_meant =
            |one: &String| one == written || written.len() > KEPT_BYTES && one.starts_with(written);
        let is_within = |read: &SecretRead| {
            read.is_substituted && span.start <= read.span.start && read.span.end <= span.end
        };
        let is_secret = self.all.iter().any(|read| read.written.iter().any(is_meant) || is_within(read));
        if is_secret || self.is_full { Why::Secret } else { why }
    }
}
