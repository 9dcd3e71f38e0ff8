//! Programs that write files under names that an argument is only a part of: `split`, `csplit`, `ssh-keygen`.

use castellan_event::{EffectKind, Why};
use castellan_programs::{Arg, Invocation, Piece};

use crate::sink::Sink;

/// `split FILE PREFIX` writes `PREFIXaa`, `PREFIXab`, ...; with `--filter` a command gets the parts.
pub(super) fn split(read: &Invocation, _: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    if !read.given("--filter") {
        let prefix = read.operands.get(1).map_or_else(|| Arg::known("x"), |operand| operand.arg.clone());
        sink.path(EffectKind::Write, &beginning_with(&prefix));
    }
}

/// `csplit -f PREFIX FILE PATTERN...` writes `PREFIX00`, `PREFIX01`, ...
pub(super) fn csplit(read: &Invocation, _: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let prefix = read.values("-f").last().cloned().unwrap_or_else(|| Arg::known("xx"));
    sink.path(EffectKind::Write, &beginning_with(&prefix));
}

/// What only reads or changes keys.
const NO_NEW_KEY: &[&str] =
    &["-y", "-l", "-L", "-e", "-i", "-B", "-F", "-Y", "-Q", "-R", "-H", "-p", "-c", "-k", "-M", "-r"];

/// A new key `KEY` comes with its public half, `KEY.pub`.
pub(super) fn ssh_keygen(read: &Invocation, _: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    if NO_NEW_KEY.iter().any(|flag| read.given(flag)) {
        return;
    }
    for key in read.values("-f") {
        let end = Piece::Text(".pub".to_owned());
        let public = Arg::from_pieces(key.pieces().iter().cloned().chain([end]), key.splits());
        sink.path(EffectKind::Write, &public);
    }
}

/// Every file whose name begins so.
fn beginning_with(prefix: &Arg) -> Arg {
    let any = Piece::Unknown { why: Why::Glob, written: "*".to_owned() };
    Arg::from_pieces(prefix.pieces().iter().cloned().chain([any]), prefix.splits())
}
