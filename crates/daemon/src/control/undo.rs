//! Checkpoints in requests and responses.

use serde::{Deserialize, Serialize};

/// The checkpoints, for the status.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UndoStatus {
    /// castellan makes checkpoints.
    pub is_on: bool,
    /// Number of checkpoints.
    pub checkpoints: usize,
    /// Bytes of all.
    pub bytes: u64,
    /// The most bytes that they may have.
    pub ceiling: u64,
    /// The time of the oldest in seconds since 1970; 0 if there is none.
    pub oldest_s: u64,
    /// Checkpoints since the start that could not be made.
    pub failures: u64,
    /// The reason of the last one; empty if there was none.
    pub last_failure: String,
}

/// A checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedCheckpoint {
    /// Its id: the number of the call's record in hexadecimal digits, or a random one of an undo.
    pub id: String,
    /// Its time in seconds since 1970.
    pub taken_s: u64,
    /// Bytes that it brought.
    pub bytes: u64,
}

/// The differences between a checkpoint and the present state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownCheckpoint {
    /// The directory.
    pub root: String,
    /// The first differences, by path.
    pub differences: Vec<ShownDifference>,
    /// Number of differences.
    pub count: usize,
    /// Hash of all differences. An undo names it, so that nothing else is put back than a person has seen.
    pub shown: String,
    /// Files of a contained call that these differences do not show. They stay written by code that nobody has read.
    #[serde(default)]
    pub unseen: UnseenFiles,
}

/// Files that contained calls wrote and that no person has seen, by folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnseenFiles {
    /// The first folders, and the number of files in each.
    pub folders: Vec<(String, usize)>,
    /// Number of files. A folder whose files are not known is one.
    pub count: usize,
}

/// Files that contained calls wrote, at or below paths that a person names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarkedFiles {
    /// The first of them. A directory of which each file counts ends with a slash.
    pub files: Vec<String>,
    /// Number of them.
    pub count: usize,
    /// Hash of their states. A keep names it.
    pub shown: String,
}

/// The result of a keep.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeepReport {
    /// Files that stay written by code that nobody has read.
    pub unseen: UnseenFiles,
    /// Number of differences that are not those that the person saw. The checkpoint stays then.
    pub changed: usize,
}

/// A path that is not as it was at a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownDifference {
    /// The path below the directory. Other bytes than UTF-8 are replaced.
    pub path: String,
    /// The state at the checkpoint; `None`: nothing was there.
    pub was: Option<ShownSide>,
    /// The present state.
    pub now: Option<ShownSide>,
    /// Hash of the difference with the present contents, which a keep names; empty if the contents are not shown.
    #[serde(default)]
    pub seen: String,
}

/// One state of a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownSide {
    /// `file`, `directory`, `link`, `pipe`, `socket`, `device` or `mount`.
    pub kind: String,
    /// Bytes of a file.
    pub size: u64,
    /// The permissions.
    pub mode: u32,
    /// The text of a short file, or the target of a link; `None` for an agent, and if it is no text.
    pub text: Option<String>,
}

/// The result of an undo.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoReport {
    /// Number of entries that were written again.
    pub written: usize,
    /// Number of entries that were removed.
    pub removed: usize,
    /// Number of entries that got their permissions or times again.
    pub adjusted: usize,
    /// Entries that could not be put back, with the reason; only the first.
    pub left: Vec<(String, String)>,
    /// Number of these.
    pub left_count: usize,
    /// Files of a contained call that were not put back. They stay written by code that nobody has read.
    #[serde(default)]
    pub unseen: UnseenFiles,
    /// Id of the checkpoint of the state before; empty if the person wanted none.
    pub before: String,
}
