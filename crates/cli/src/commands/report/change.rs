//! The end of a report: the one change that helps most, as steps, or that nothing needs changing.

use std::io::Write;

use crate::commands::suggest::{FOR_A_PERSON, Suggestions};
use crate::output::{self, FAINT, PLAIN, WARN, counted, cut, write_wrapped};

const INDENT: &str = "        ";

/// Columns of an example.
const EXAMPLE_COLUMNS: usize = 60;

/// A proposed change: the observation, and what to do, in steps.
struct Change {
    seen: String,
    steps: Vec<String>,
}

/// Writes the best proposal. An agent gets only the number of proposals.
pub(super) fn write(
    out: &mut impl Write,
    suggestions: &Suggestions,
    is_ungoverned: bool,
    is_agent: bool,
) -> anyhow::Result<()> {
    let columns = output::columns();
    let proposals = suggestions.exceptions.len() + suggestions.often.len() + suggestions.unknown_tools.len();
    let Some(change) = best(suggestions, is_ungoverned) else {
        return Ok(writeln!(out, "\n{FAINT}nothing needs changing{FAINT:#}")?);
    };
    writeln!(out, "\n{FAINT}what to change{FAINT:#}")?;
    if is_agent && proposals > 0 {
        let text = format!("{}: {FOR_A_PERSON}", counted(proposals, "proposal"));
        return Ok(write_wrapped(out, &text, WARN, INDENT, columns)?);
    }
    write_wrapped(out, &change.seen, PLAIN, INDENT, columns)?;
    for step in &change.steps {
        writeln!(out, "{INDENT}  {}", output::printable(step))?;
    }
    if proposals > 1 {
        let more = counted(proposals - 1, "more proposal");
        write_wrapped(out, &format!("{more}: `castellan suggest`"), FAINT, INDENT, columns)?;
    }
    Ok(())
}

/// Returns the proposal with the best effect for its risk. In order: an exception that frees no other calls, another
/// exception, a standing approval, a rule that stops often, an unknown tool.
fn best(suggestions: &Suggestions, is_ungoverned: bool) -> Option<Change> {
    let with_rule = || suggestions.exceptions.iter().filter(|exception| exception.allow.is_some());
    let exception = with_rule().find(|exception| exception.others == 0).or_else(|| with_rule().next());
    if let Some(exception) = exception.or(suggestions.exceptions.first()) {
        let by = exception.by.join(", ");
        let calls = counted(exception.approved, "call");
        let others = match exception.others {
            0 => String::new(),
            count => format!("; it also frees {} of the log", counted(count, "other call")),
        };
        let example = cut(&exception.example, EXAMPLE_COLUMNS);
        let seen = format!("{calls} like `{example}`, asked about by {by}, were all approved{others}");
        let steps = match &exception.allow {
            Some(allow) => {
                vec![format!("castellan allow '{allow}'")]
            }
            None => vec!["castellan approve ID --always   at its next request".to_owned()],
        };
        return Some(Change { seen, steps });
    }
    if let Some(often) = suggestions.often.first() {
        let share = often.stopped.saturating_mul(100) / suggestions.calls.max(1);
        let example = cut(&often.example, EXAMPLE_COLUMNS);
        let seen = format!("{} stops {share} % of all calls, such as `{example}`", often.rule);
        let name = often.rule.replace('\'', "'\\''");
        return Some(Change { seen, steps: vec![format!("castellan rules describe '{name}'")] });
    }
    if let Some(unknown) = suggestions.unknown_tools.first() {
        let calls = counted(unknown.calls, "call");
        let seen =
            format!("castellan does not know the tool {} of {} ({calls})", unknown.tool, unknown.agent);
        let steps = vec!["castellan rules new --from-log ID   decides about it".to_owned()];
        return Some(Change { seen, steps });
    }
    is_ungoverned.then(|| Change {
        seen: "calls ran that castellan did not decide".to_owned(),
        steps: vec!["castellan doctor".to_owned()],
    })
}
