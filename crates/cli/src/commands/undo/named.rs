//! The checkpoint that a person names: by the call's request id or record number, or by its own id.

use castellan_daemon::checkpoint_id;

use crate::global::Global;
use crate::history::RecordedCall;

/// The ids of checkpoints that an undo made begin so.
const OF_UNDO: &str = "undo-";
/// Characters of the id of a call's checkpoint. No request id and no number of a record has so many.
const ID_CHARS: usize = 17;

/// Returns the id of the checkpoint that `id` names.
pub(crate) fn checkpoint_of(global: &Global, id: &str) -> anyhow::Result<String> {
    if id.starts_with(OF_UNDO) || id.len() == ID_CHARS && id.starts_with('c') {
        return Ok(id.to_owned());
    }
    let found = RecordedCall::named(&global.layout()?.log(), id)?;
    Ok(checkpoint_id(found.call.correlation_id))
}
