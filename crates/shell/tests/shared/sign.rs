//! How a redirect is written, for what is shown of trees and of commands.

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
