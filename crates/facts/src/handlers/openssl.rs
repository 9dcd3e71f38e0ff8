//! `openssl`: where a passphrase comes from.

use castellan_event::EffectKind;
use castellan_programs::{Arg, Invocation};

use crate::sink::Sink;

/// `-pass file:PATH` reads the file.
pub(super) fn openssl(read: &Invocation, _argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    for flag in ["-pass", "-passin", "-passout", "-password"] {
        for source in read.values(flag) {
            source.strip_prefix("file:").into_iter().for_each(|file| sink.path(EffectKind::Read, &file));
        }
    }
}
