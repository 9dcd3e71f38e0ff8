//! Limits of rule files with cases and of case files, each with its reason.

/// Bytes of a rule's message. Agents cut long reasons; the recommended alternative must be in the remaining part.
pub(crate) const MESSAGE_BYTES_MAX: usize = 400;

/// Cases that a rule must stop, and cases that only resemble its subject. Fewer cases do not show the rule's boundary.
pub(crate) const CASES_PER_RULE_MIN: usize = 2;

/// Disguises, and look-alikes, of a rule in a case file of version 2.
pub(crate) const SHOWN_PER_RULE_MIN: usize = 3;

/// Sessions of a log whose marks and files are stored during a replay. More than a week's sessions, at some KiB each.
pub(crate) const SESSIONS_MAX: usize = 4096;
