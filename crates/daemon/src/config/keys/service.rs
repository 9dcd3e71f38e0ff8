//! The keys of the table `service`.

use super::{Key, Kind, Merge, Place};

pub(super) const KEYS: &[Key] = &[Key {
    name: "service.hooks_on_stop",
    kind: Kind::Word(&["remove", "keep"]),
    merge: Merge::Strictest,
    place: Place::AboveProject,
    default: "\"keep\"",
    about: "The agents' hooks after `castellan service stop`. `keep`: they deny every call until the service starts. \
            `remove`: castellan takes them out of the users' settings, and `castellan service start` registers them again. \
            A crash removes none.",
}];
