//! [`BegunEntry`]: a call that may run, as a line of the journal. It must not know what follows from a call.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::jobs::Start;
use crate::memory::{Begun, Copying, Origins};
use crate::session_key::SessionKey;

/// A call without the hashes of its scripts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::memory) struct BegunEntry {
    root: SessionKey,
    call: u64,
    use_id: String,
    paths: Vec<String>,
    downloaded: Vec<String>,
    /// An older journal has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    secret_copies: Vec<String>,
    /// An older journal has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    unread_output: Vec<String>,
    /// An older journal has none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    opens_tunnel: bool,
    /// Files and directories whose code the call may run. An older journal has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    code: Vec<String>,
    /// `None` in an older journal, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reads: Option<Vec<String>>,
    /// Copies of files of contained calls. An older journal has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    copies: Vec<String>,
    in_background: bool,
    /// An older journal has none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    outlasts: bool,
    /// An older journal has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    start: Option<Start>,
}

impl BegunEntry {
    pub(in crate::memory) fn of(root: SessionKey, begun: &Begun<'_>) -> BegunEntry {
        let Origins { downloaded, secret_copies, unread_output } = &begun.origins;
        BegunEntry {
            root,
            call: begun.call,
            use_id: begun.id.to_owned(),
            paths: list(&begun.paths),
            downloaded: list(downloaded),
            secret_copies: list(secret_copies),
            unread_output: list(unread_output),
            opens_tunnel: begun.opens_tunnel,
            code: list(&begun.code),
            reads: begun.copying.reads.as_ref().map(list),
            copies: list(&begun.copying.into),
            in_background: begun.in_background,
            outlasts: begun.outlasts,
            start: begun.start.clone(),
        }
    }

    /// The root of the call's session, and the call.
    pub(in crate::memory) fn begun(&self) -> (SessionKey, Begun<'_>) {
        let begun = Begun {
            call: self.call,
            id: &self.use_id,
            paths: set(&self.paths),
            origins: Origins {
                downloaded: Arc::new(set(&self.downloaded)),
                secret_copies: Arc::new(set(&self.secret_copies)),
                unread_output: Arc::new(set(&self.unread_output)),
            },
            opens_tunnel: self.opens_tunnel,
            scripts: Vec::new(),
            code: set(&self.code),
            copying: Copying { reads: self.reads.as_deref().map(set), into: set(&self.copies) },
            in_background: self.in_background,
            outlasts: self.outlasts,
            start: self.start.clone(),
        };
        (self.root, begun)
    }
}

fn list(paths: &BTreeSet<String>) -> Vec<String> {
    paths.iter().cloned().collect()
}

fn set(paths: &[String]) -> BTreeSet<String> {
    paths.iter().cloned().collect()
}
