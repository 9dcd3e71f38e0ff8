//! The keys of the table `engine`.

use castellan_policy::EngineKind;

use super::{Key, Kind, Merge, Place};

pub(super) const KEYS: &[Key] = &[
    Key {
        name: "engine.kind",
        kind: Kind::Word(EngineKind::WORDS),
        merge: Merge::Highest,
        place: Place::AboveProject,
        default: "\"native\"",
        about: "Program that tests the rules of the organisation and the user. `native`: castellan. `falco`: a Falco that \
                castellan starts; without it, castellan denies every call. Change it by `castellan engine`, which tests Falco \
                first.",
    },
    path(
        "engine.falco",
        "\"/usr/bin/falco\"",
        "Absolute path of the program `falco`, for the engine `falco`. No other user may be able to write it.",
    ),
    path(
        "engine.plugin",
        "\"/usr/share/falco/plugins/libcoding_agent.so\"",
        "Absolute path of castellan's plugin, for the engine `falco`. No other user may be able to write it.",
    ),
    Key {
        name: "engine.events",
        kind: Kind::Flag,
        merge: Merge::Highest,
        place: Place::AboveProject,
        default: "false",
        about: "Copies each judged call for a Falco of yours that loads castellan's plugin as one more source. It decides nothing.",
    },
];

/// A file that decides about calls.
const fn path(name: &'static str, default: &'static str, about: &'static str) -> Key {
    Key { name, kind: Kind::Text, merge: Merge::Highest, place: Place::AboveProject, default, about }
}
