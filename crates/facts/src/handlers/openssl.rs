//! `openssl`: where a passphrase comes from, and what `s_client` sends.

use castellan_event::EffectKind;
use castellan_programs::{Arg, Invocation};

use crate::sink::Sink;

/// `-pass file:PATH` reads the file.
pub(super) fn openssl(read: &Invocation, argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    if argv.get(1).and_then(Arg::as_str) == Some("s_client") {
        let host = argv.iter().skip_while(|arg| arg.as_str() != Some("-connect")).nth(1);
        let name = host.map(|host| host.written().split(':').next().unwrap_or_default().to_owned());
        super::netcat::sent(name, sink);
    }
    for flag in ["-pass", "-passin", "-passout", "-password"] {
        for source in read.values(flag) {
            source.strip_prefix("file:").into_iter().for_each(|file| sink.path(EffectKind::Read, &file));
        }
    }
}
