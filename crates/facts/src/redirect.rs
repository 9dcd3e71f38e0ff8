//! Effects of redirects, independent of the program.

use std::rc::Rc;

use castellan_event::{EffectKind, Operation, Remote};
use castellan_shell::FoundRedirect;
use castellan_shell::tree::RedirectKind;

use crate::path::dev_tcp;
use crate::sink::Sink;
use crate::url::Host;

/// The verb of what the shell itself opens: rules must not take it for an effect of the command's program.
pub const REDIRECT: &str = "redirect";

/// Adds the effects of a command's redirects. For `/dev/tcp/HOST/PORT` the shell itself opens a connection.
pub(crate) fn effects(redirects: &[Rc<FoundRedirect>], sink: &mut Sink<'_, '_, '_, '_>) {
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
            let written = redirect.target.written();
            match dev_tcp(&written) {
                Some((host, _)) => {
                    let (host, target) = (Host::parse(host), Some(written.clone().into_owned()));
                    let host_class = Some(host.class);
                    let to = Remote { host: Some(host.name), class: host_class, url: None };
                    sink.add_remote(Operation { target, ..Operation::of(away(*kind)) }, to);
                }
                None => {
                    sink.is_followed = redirect.kind != RedirectKind::ReadWrite;
                    let verb = Some(REDIRECT.to_owned());
                    sink.path_effect(Operation { verb, ..Operation::of(*kind) }, &redirect.target);
                    sink.is_followed = false;
                }
            }
        }
    }
}

fn away(kind: EffectKind) -> EffectKind {
    if kind == EffectKind::Write { EffectKind::Upload } else { EffectKind::Connect }
}
