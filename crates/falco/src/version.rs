//! The version of a Falco, from the text of `falco --version`.

use castellan_rules::Engine;

/// The least version of the plugin interface: the one that the plugin is built for.
const PLUGIN_API: (u32, u32) = (3, 11);

/// Returns the version of the rule language of a Falco, or the reason why castellan cannot work with it. `text`: the output
/// of `falco --version`.
pub fn engine_of(text: &str) -> Result<Engine, String> {
    let after = |label: &str| {
        let lines = text.lines().filter_map(|line| line.split_once(label));
        lines.map(|(_, rest)| rest.trim()).find(|rest| !rest.is_empty())
    };
    let found = after("Falco version:").ok_or("`falco --version` names no version; is it Falco?")?;
    let (major, minor) =
        numbers(found).ok_or_else(|| format!("`falco --version` names the version `{found}`"))?;
    if (major, minor) < (0, 43) {
        return Err(format!("Falco {major}.{minor} is too old: castellan needs 0.43 or later"));
    }
    if major > 0 {
        return Err(format!(
            "Falco {major}.{minor} is newer than this castellan knows: it needs 0.43 to 0.x"
        ));
    }
    let api = after("Plugin API:").and_then(numbers);
    if !api.is_some_and(|api| api.0 == PLUGIN_API.0 && api >= PLUGIN_API) {
        let (major, minor) = PLUGIN_API;
        return Err(format!(
            "this Falco has no plugin interface {major}.{minor}, for which castellan's plugin is built"
        ));
    }
    Ok(if minor >= 44 { Engine::V0_44 } else { Engine::V0_43 })
}

/// Returns the first two numbers of a version.
fn numbers(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.split(|char: char| !char.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(falco: &str, api: &str) -> String {
        format!(
            "Mon Jun  1 10:00:00 2026: Falco version: {falco} (x86_64)\nMon Jun  1 10:00:00 2026: Falco initialized\n\
             Falco version: {falco}\nLibs version:  0.23.1\nPlugin API:    {api}\nEngine:        0.58.0\n"
        )
    }

    #[test]
    fn only_known_versions_are_taken() {
        for (falco, api, expected) in [
            ("0.43.0", "3.12.0", Ok(Engine::V0_43)),
            ("0.43.1-rc1", "3.11.0", Ok(Engine::V0_43)),
            ("0.44.1", "3.12.0", Ok(Engine::V0_44)),
            ("0.58.0", "3.20.0", Ok(Engine::V0_44)),
            ("0.42.9", "3.11.0", Err("too old")),
            ("1.0.0", "3.12.0", Err("newer")),
            ("0.43.0", "3.10.9", Err("plugin interface")),
            ("0.43.0", "4.0.0", Err("plugin interface")),
            ("0.43.0", "", Err("plugin interface")),
            ("x", "3.12.0", Err("names the version `x")),
        ] {
            match (engine_of(&text(falco, api)), expected) {
                (Ok(engine), Ok(expected)) => assert_eq!(engine, expected, "{falco}"),
                (Err(error), Err(expected)) => assert!(error.contains(expected), "{falco}: {error}"),
                (found, _) => panic!("{falco} {api}: {found:?}"),
            }
        }
        assert!(engine_of("").unwrap_err().contains("is it Falco"));
        assert!(engine_of("busybox v1.36").is_err());
    }
}
