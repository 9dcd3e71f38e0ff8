//! [`SecretReads`]: which commands of a call read secrets, so that code which is not known can be said to come from one. It must
//! not know what commands do.

use castellan_event::{Effect, EffectKind, Scope, Why};
use castellan_programs::Arg;
use castellan_shell::tree::Span;
use castellan_shell::{Origin, Run};

use crate::limits::SECRET_READS_MAX;

/// Bytes that the walk keeps of what it writes for an unknown part, at least.
const KEPT_BYTES: usize = 190;

/// Commands that read secrets.
#[derive(Debug, Default)]
pub(crate) struct SecretReads {
    all: Vec<SecretRead>,
    /// Further ones were not kept: any file, and any output of a command, may be a secret.
    is_full: bool,
}

#[derive(Debug)]
struct SecretRead {
    /// What the walk writes for its output, and for its input.
    written: Vec<String>,
    span: Span,
    is_substituted: bool,
}

impl SecretReads {
    /// Remembers a command, if one of its effects reads a secret.
    pub(crate) fn add(&mut self, run: &Run, effects: &[Effect]) {
        let is_secret = |effect: &&Effect| {
            effect.kind == EffectKind::Read && matches!(effect.scope, Some(Scope::Secret | Scope::Castellan))
        };
        let paths = effects.iter().filter(is_secret).filter_map(|effect| effect.path_raw.clone());
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

    /// Why a part is not known. `written`: what stands for it; `span`: the command that it is given to.
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
