//! Limits on the sizes that tables, events and rule files control, each with its reason.

/// Fields of a table. Falco's largest source has about 230.
pub(crate) const FIELDS_MAX: usize = 10_000;

/// Bytes of a field's name: an output token with its argument may have 256.
pub(crate) const NAME_BYTES_MAX: usize = 256;

/// Rows of one event. A long script has some hundred commands, each with some effects.
pub(crate) const ROWS_MAX: usize = 10_000;

/// Characters of a value that an error shows: enough to find the value.
pub(crate) const SHOWN_CHARS_MAX: usize = 80;

/// Characters of a line that a snippet shows: the width of a wide terminal.
pub(crate) const SNIPPET_CHARS_MAX: usize = 160;

/// Characters of a snippet before its column: half of the snippet.
pub(crate) const SNIPPET_BEFORE_MAX: usize = 80;
