//! The operator of a redirect, for printed trees and commands.

use castellan_shell::tree::RedirectKind;

pub(crate) const fn sign(kind: RedirectKind) -> &'static str {
    match kind {
        RedirectKind::Read => "<",
        RedirectKind::Write => ">",
        RedirectKind::Append => ">>",
        RedirectKind::ReadWrite => "<>",
        RedirectKind::DuplicateInput => "<&",
        RedirectKind::DuplicateOutput => ">&",
        RedirectKind::WriteBoth => "&>",
        RedirectKind::AppendBoth => "&>>",
        RedirectKind::HereString => "<<<",
        RedirectKind::Heredoc => "<<",
    }
}
