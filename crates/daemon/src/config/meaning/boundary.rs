//! The keys of the table `boundary` → [`BoundarySettings`].

use castellan_policy::BoundarySettings;

use super::{count, parsed};
use crate::config::merge::Settled;

/// Returns the settings of the boundary.
pub(super) fn settings(settled: &Settled) -> Result<BoundarySettings, String> {
    let BoundarySettings { read_mib, write_mib, .. } = BoundarySettings::DEFAULT;
    Ok(BoundarySettings {
        mode: parsed(settled, "boundary.mode")?,
        read_mib: count(settled, "boundary.read_mib").unwrap_or(read_mib),
        write_mib: count(settled, "boundary.write_mib").unwrap_or(write_mib),
    })
}

#[cfg(test)]
mod tests {
    use castellan_policy::{BoundaryMode, BoundarySettings};

    use crate::config::Config;

    #[test]
    fn keys_become_settings_and_profiles_preset_the_mode() {
        let of = |text: &str| Config::parse(&format!("version = 1\n{text}")).unwrap().settings.boundary;
        let default = BoundarySettings { mode: BoundaryMode::Ask, read_mib: 10, write_mib: 10 };
        assert_eq!(of(""), default);
        assert_eq!(
            of("[boundary]\nread_mib = 3\nwrite_mib = 0\n"),
            BoundarySettings { read_mib: 3, write_mib: 0, ..default }
        );
        for (profile, mode) in [
            ("standard", BoundaryMode::Ask),
            ("autonomous", BoundaryMode::Ask),
            ("strict", BoundaryMode::Strict),
            ("kit", BoundaryMode::Off),
        ] {
            assert_eq!(of(&format!("profile = \"{profile}\"\n")).mode, mode, "{profile}");
            let with = of(&format!("profile = \"{profile}\"\n[boundary]\nmode = \"off\"\n"));
            assert_eq!(with.mode, BoundaryMode::Off, "{profile}");
        }
    }
}
