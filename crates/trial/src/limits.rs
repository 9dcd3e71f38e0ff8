//! Limits on what stands in rule files with cases and in files of cases, each with its reason.

/// Bytes of a rule's message. Agents cut long reasons; what to do instead must still be in the part that is left.
pub(crate) const MESSAGE_BYTES_MAX: usize = 400;

/// Cases that a rule must stop, and cases that only resemble it: with fewer nobody knows where its border is.
pub(crate) const CASES_PER_RULE_MIN: usize = 2;

/// Disguises and look-alikes of a rule in a case file that knows them.
pub(crate) const SHOWN_PER_RULE_MIN: usize = 3;

/// Sessions of a log whose marks and files are kept in mind while its calls are judged again: more than run in a week, and some KiB each.
pub(crate) const SESSIONS_MAX: usize = 4096;
