//! The subject of a recorded call in one line.

use castellan_audit::CallRecord;

use crate::output::one_line;

/// Returns the action of a call in one line of any length.
pub(crate) fn subject(call: &CallRecord) -> String {
    one_line(&what(call))
}

/// Returns the command, the paths or the whole input.
fn what(call: &CallRecord) -> String {
    if let Some(command) = call.input.get("command").and_then(|command| command.as_str())
        && call.files.is_empty()
    {
        return command.to_owned();
    }
    if call.files.is_empty() {
        return call.input.to_string();
    }
    let paths = call.files.iter().map(|file| format!("{} {}", file.op, file.path).trim_start().to_owned());
    paths.collect::<Vec<_>>().join(", ")
}
