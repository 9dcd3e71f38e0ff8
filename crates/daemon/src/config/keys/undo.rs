//! The keys of the table `undo`.

use super::{Key, Kind, Merge, Place};

pub(super) const KEYS: &[Key] = &[
    Key {
        name: "undo.mode",
        kind: Kind::Word(&["on", "off"]),
        merge: Merge::Highest,
        place: Place::AboveProject,
        default: "\"on\"",
        about: "Checkpoints for `castellan undo`. `on`: castellan makes one before each call that may overwrite or delete \
                files of the workspace.",
    },
    Key {
        name: "undo.required",
        kind: Kind::Flag,
        merge: Merge::Highest,
        place: Place::AboveProject,
        default: "false",
        about: "castellan asks about such a call if it can make no checkpoint. Else the failure is only recorded and in \
                `castellan status`.",
    },
    Key {
        name: "undo.ceiling_mib",
        kind: Kind::Count(1),
        merge: Merge::Highest,
        place: Place::AboveProject,
        default: "1024",
        about: "MiB of all checkpoints. The oldest go first.",
    },
    Key {
        name: "undo.age_days",
        kind: Kind::Count(1),
        merge: Merge::Highest,
        place: Place::AboveProject,
        default: "7",
        about: "Days until castellan removes a checkpoint.",
    },
];
