//! The keys of the table `boundary`.

use castellan_policy::BoundaryMode;

use super::{Key, Kind, Merge, Place};

pub(super) const KEYS: &[Key] = &[
    Key {
        name: "boundary.mode",
        kind: Kind::Word(BoundaryMode::WORDS),
        merge: Merge::Strictest,
        place: Place::Every,
        default: "",
        about: "Reaction to links that lead out of the workspace. `ask`: asks about changes through them. `strict`: denies \
                these, and asks about reads through them and about large and binary files.",
    },
    limit(
        "boundary.read_mib",
        "MiB of a file that a tool reads (`boundary.mode = \"strict\"`); 0: no limit.",
    ),
    limit(
        "boundary.write_mib",
        "MiB of a file that a tool writes (`boundary.mode = \"strict\"`); 0: no limit.",
    ),
];

const fn limit(name: &'static str, about: &'static str) -> Key {
    Key {
        name,
        kind: Kind::Count(0),
        merge: Merge::Highest,
        place: Place::AboveProject,
        default: "10",
        about,
    }
}
