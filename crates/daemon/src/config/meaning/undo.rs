//! The keys of the table `undo` → [`UndoSettings`].

use castellan_policy::UndoSettings;

use super::{count, flag, word};
use crate::config::merge::Settled;

pub(super) fn settings(settled: &Settled) -> UndoSettings {
    let default = UndoSettings::DEFAULT;
    UndoSettings {
        is_on: word(settled, "undo.mode") != Some("off"),
        is_required: flag(settled, "undo.required").unwrap_or(default.is_required),
        ceiling_mib: count(settled, "undo.ceiling_mib").unwrap_or(default.ceiling_mib),
        age_days: count(settled, "undo.age_days").unwrap_or(default.age_days),
    }
}

#[cfg(test)]
mod tests {
    use castellan_policy::UndoSettings;

    use crate::config::Config;

    #[test]
    fn keys_become_settings() {
        let undo = |keys: &str| {
            Config::parse(&format!("version = 1\n[undo]\n{keys}")).map(|read| read.settings.undo)
        };
        let default = UndoSettings::DEFAULT;
        assert_eq!(undo("").unwrap(), default);
        assert_eq!(undo("mode = \"off\"\n").unwrap(), UndoSettings { is_on: false, ..default });
        let others = UndoSettings { is_required: true, ceiling_mib: 9, age_days: 2, ..default };
        assert_eq!(undo("required = true\nceiling_mib = 9\nage_days = 2\n").unwrap(), others);
        for wrong in ["ceiling_mib = 0\n", "age_days = 0\n", "mode = \"maybe\"\n"] {
            assert!(undo(wrong).is_err(), "{wrong}");
        }
    }
}
