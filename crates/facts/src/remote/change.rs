//! [`Change`]: the meaning of an operation on another machine, by the words of its name. One classification for fields of
//! GraphQL, paths of REST, methods of client libraries and tools of servers. It must not know where a name comes from.

use castellan_event::EffectKind;
use castellan_programs::lexicons::remote::{
    CHANGES, DESTROYS, DESTROYS_TOGETHER, DRY, KEYS, LITTLE, MAKES, NO_RIGHTS, PUBLISHES, READS, RIGHTS,
    ROTATES,
};

use crate::told::{has, words};

/// A change on another machine that a person wants to be asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Delete,
    Rotate,
    Rights,
    Publish,
}

impl Change {
    /// The verb of the effect.
    pub(super) const fn verb(self) -> &'static str {
        match self {
            Change::Delete => "delete",
            Change::Rotate => "rotate",
            Change::Rights => "change rights",
            Change::Publish => "publish",
        }
    }

    /// A deletion is final; the owner can change rights again, and replace a key.
    pub(super) const fn kind(self) -> EffectKind {
        match self {
            Change::Delete => EffectKind::Destroy,
            Change::Rotate | Change::Rights => EffectKind::Mutate,
            Change::Publish => EffectKind::Publish,
        }
    }

    /// Returns the change that a name means: `volumeDelete`, `delete_db_instance`, `rotate-key`.
    pub(super) fn of(name: &str) -> Option<Change> {
        Change::of_words(&words(name))
    }

    /// As [`Change::of`], for words with blanks around them.
    pub(super) fn of_words(words: &str) -> Option<Change> {
        let first = words.split_whitespace().next()?;
        if READS.contains(&first) || has(words, DRY) {
            return None;
        }
        let rotates = has(words, ROTATES) && has(words, KEYS) && !has(words, NO_RIGHTS);
        let destroys = has(words, DESTROYS) && !has(words, LITTLE) && !MAKES.contains(&first);
        let changes = has(words, CHANGES) && has(words, RIGHTS) && !has(words, NO_RIGHTS);
        if destroys || has(words, DESTROYS_TOGETHER) {
            Some(Change::Delete)
        } else if rotates {
            Some(Change::Rotate)
        } else if changes {
            Some(Change::Rights)
        } else if has(words, PUBLISHES) {
            Some(Change::Publish)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Change::{self, Delete, Publish, Rights, Rotate};

    #[test]
    fn names_have_a_meaning() {
        let cases = [
            ("volumeDelete", Some(Delete)),
            ("delete_db_instance", Some(Delete)),
            ("begin_delete", Some(Delete)),
            ("archiveRepository", Some(Delete)),
            ("delete_users_by_pk", Some(Delete)),
            ("DeleteBucketCommand", Some(Delete)),
            ("schedule_key_deletion", Some(Delete)),
            ("rotateApiKey", Some(Rotate)),
            ("apiTokenRegenerate", Some(Rotate)),
            ("attach_role_policy", Some(Rights)),
            ("addCollaborator", Some(Rights)),
            ("projectMemberUpdate", Some(Rights)),
            ("publishPost", Some(Publish)),
            ("listDeletedVolumes", None),
            ("deletedVolumes", None),
            ("createUser", None),
            ("createDeletePolicy", None),
            ("removeLabelsFromLabelable", None),
            ("tokenAuth", None),
            ("rotateImage", None),
            ("get_iam_policy", None),
            ("updateDeleteAfterDays", None),
            ("", None),
        ];
        for (name, expected) in cases {
            assert_eq!(Change::of(name), expected, "{name}");
        }
    }
}
