//! Policies that cannot be planned.

use std::path::PathBuf;

/// The reason why a policy has no plan. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// A path that is not absolute.
    #[error("the path '{}' of the sandbox policy ({field}) is not absolute: write it from /", .path.display())]
    Relative {
        /// The list of the policy.
        field: &'static str,
        /// The path.
        path: PathBuf,
    },
    /// A path, variable or argument with a NUL, which the kernel cannot take.
    #[error("a text of the sandbox policy ({field}) holds a NUL byte: remove it")]
    Nul {
        /// The list of the policy.
        field: &'static str,
    },
    /// A path that must exist.
    #[error("'{}' ({field}) does not exist: create it, or remove it from the sandbox policy", .path.display())]
    Missing {
        /// The list of the policy.
        field: &'static str,
        /// The path.
        path: PathBuf,
    },
    /// A path that cannot be looked at.
    #[error("'{}' ({field}) cannot be examined: {reason}", .path.display())]
    Unreadable {
        /// The list of the policy.
        field: &'static str,
        /// The path.
        path: PathBuf,
        /// The system's words.
        reason: String,
    },
    /// `/` as a writable or secret path.
    #[error(
        "'/' ({field}) leaves nothing for the sandbox to enforce: name the directories that the command needs"
    )]
    Root {
        /// The list of the policy.
        field: &'static str,
    },
    /// Two rules that exclude each other.
    #[error("the sandbox policy contradicts itself: '{}' is {one}, and '{}' is {other}", .path.display(), .second.display())]
    Conflict {
        /// The path of the first rule.
        path: PathBuf,
        /// Its rule.
        one: &'static str,
        /// The path of the second rule.
        second: PathBuf,
        /// Its rule.
        other: &'static str,
    },
    /// The policy hides the program or the directory of the command itself.
    #[error("the sandbox policy hides '{}', which the command needs to start: {advice}", .path.display())]
    LocksOut {
        /// What is hidden.
        path: PathBuf,
        /// What to change.
        advice: &'static str,
    },
    /// No command.
    #[error("no command is given to the sandbox: name a program")]
    NoCommand,
    /// More than a limit of [`crate::limits`].
    #[error("the sandbox policy has {found} {what}; at most {most} are possible")]
    TooMany {
        /// The counted thing.
        what: &'static str,
        /// The number of the policy.
        found: usize,
        /// The limit.
        most: usize,
    },
    /// A directory with more entries than Landlock rules can list.
    #[error("'{}' does not accept a private directory: {reason}", .path.display())]
    Scratch {
        /// The directory.
        path: PathBuf,
        /// The system's words.
        reason: String,
    },
}
