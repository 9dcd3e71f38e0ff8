//! Parts of a call that were not understood, by what they stand for. An operand of something harmless is nothing; the rest
//! is what the profile says. It must not know why something was not understood.

use castellan_event::{CallRow, Code, Effect, Finding, Role, Verdict, Why};

use crate::stages::own_parts::OwnParts;

/// Programs, targets and code that were not understood, told as one finding. `with_missing`: code in a file of the project that is not
/// there is one of them, although nothing runs as long as nobody makes that file. `own`: what is left to the project's own code.
pub(crate) fn opaque(
    rows: &[CallRow<'_>],
    verdict: Verdict,
    with_missing: bool,
    own: &OwnParts<'_>,
) -> Option<Finding> {
    let counts = |effect: &Effect| {
        counts(effect) && (with_missing || effect.why != Some(Why::Missing)) && !own.has(effect)
    };
    let parts: Vec<(usize, &Effect)> = rows
        .iter()
        .enumerate()
        .filter_map(|(position, row)| Some((position, row.effect().filter(|effect| counts(effect))?)))
        .collect();
    let (_, first) = parts.first()?;
    let (role, why) = (first.role.map_or("part", Role::as_str), first.why.unwrap_or_default());
    let written = first.target.as_deref().unwrap_or_default();
    let more = match parts.len() - 1 {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let message = format!("not understood: `{written}`: the {role} is {}{more}", why.meaning());
    let rows = parts.iter().map(|(position, _)| *position).collect();
    Some(Finding { rows, ..Finding::new(verdict, Code::Opaque, message) })
}

fn counts(effect: &Effect) -> bool {
    effect.is_opaque()
        && match effect.role {
            // What it stands for is not known either: it may be anything.
            None | Some(Role::Program | Role::Target | Role::Code) => true,
            // A tool is judged by itself.
            Some(Role::Operand | Role::Tool) => false,
        }
}
