//! What redirects do, whatever program they belong to.

use castellan_event::{Effect, EffectKind};
use castellan_shell::FoundRedirect;
use castellan_shell::tree::RedirectKind;

use crate::sink::Sink;

/// Adds the effects of a command's redirects. `/dev/tcp/HOST/PORT` is a connection, which the shell makes itself.
pub(crate) fn effects(redirects: &[FoundRedirect], sink: &mut Sink<'_, '_, '_, '_>) {
    for redirect in redirects {
        let kinds: &[EffectKind] = match redirect.kind {
            RedirectKind::Read => &[EffectKind::Read],
            RedirectKind::Write
            | RedirectKind::Append
            | RedirectKind::WriteBoth
            | RedirectKind::AppendBoth => &[EffectKind::Write],
            RedirectKind::ReadWrite => &[EffectKind::Read, EffectKind::Write],
            RedirectKind::DuplicateInput
            | RedirectKind::DuplicateOutput
            | RedirectKind::HereString
            | RedirectKind::Heredoc => &[],
        };
        for kind in kinds {
            match connection(redirect.target.prefix()) {
                Some(host) => {
                    let target = Some(redirect.target.written().into_owned());
                    sink.add(Effect { kind: away(*kind), host: Some(host), target, ..Effect::default() });
                }
                None => sink.path(*kind, &redirect.target),
            }
        }
    }
}

/// The host of `/dev/tcp/HOST/PORT` and `/dev/udp/HOST/PORT`.
fn connection(path: &str) -> Option<String> {
    let rest = path.strip_prefix("/dev/tcp/").or_else(|| path.strip_prefix("/dev/udp/"))?;
    rest.split('/').next().map(str::to_owned)
}

fn away(kind: EffectKind) -> EffectKind {
    if kind == EffectKind::Write { EffectKind::Upload } else { EffectKind::Connect }
}
