//! The keys of the table `engine` → [`EngineSettings`]. It must not look at the files.

use castellan_policy::EngineSettings;

use super::{flag, parsed, text};
use crate::config::merge::Settled;

/// Returns the settings about the engine. Returns an error if a path is relative.
pub(super) fn settings(settled: &Settled) -> Result<EngineSettings, String> {
    let settings = EngineSettings {
        kind: parsed(settled, "engine.kind")?,
        falco: text(settled, "engine.falco"),
        plugin: text(settled, "engine.plugin"),
        events: flag(settled, "engine.events").unwrap_or_default(),
    };
    for (key, path) in [("falco", &settings.falco), ("plugin", &settings.plugin)] {
        if !path.starts_with('/') || path.contains('\0') {
            return Err(format!("`engine.{key}` is `{}`: write an absolute path", path.escape_default()));
        }
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use castellan_policy::EngineKind;

    use crate::config::Config;

    #[test]
    fn keys_become_settings_and_relative_paths_are_errors() {
        let read = |keys: &str| {
            Config::parse(&format!("version = 1\n[engine]\n{keys}")).map(|read| read.settings.engine)
        };
        let default = read("").unwrap();
        assert_eq!((default.kind, default.falco.as_str()), (EngineKind::Native, "/usr/bin/falco"));
        assert_eq!(default.deciding_files().count(), 0);
        let falco = read("kind = \"falco\"\nfalco = \"/f\"\nplugin = \"/p\"\n").unwrap();
        assert_eq!(falco.deciding_files().collect::<Vec<_>>(), ["/f", "/p"]);
        for wrong in [
            "kind = \"cloud\"\n",
            "falco = \"falco\"\n",
            "plugin = \"./p\"\n",
            "plugin = \"\"\n",
            "falco = \"/f\\u0000\"\n",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    /// A person must agree to each change: neither engine is stricter, and the paths choose the judge.
    #[test]
    fn each_change_needs_a_person() {
        let read = |keys: &str| Config::parse(&format!("version = 1\n[engine]\n{keys}")).unwrap();
        let (native, falco) = (read(""), read("kind = \"falco\"\n"));
        let other = read("kind = \"falco\"\nfalco = \"/f\"\n");
        for (now, before) in [(&falco, &native), (&native, &falco), (&other, &falco), (&falco, &other)] {
            assert!(now.needs_person(before));
        }
        assert!(!falco.needs_person(&falco));
    }
}
