//! The keys of the table `sandbox` → [`SandboxSettings`].

use castellan_policy::{SandboxLimits, SandboxSettings};

use super::{count, flag, parsed, texts};
use crate::config::merge::Settled;

/// Returns the settings of sandboxes. Returns an error if a path is relative.
pub(super) fn settings(settled: &Settled) -> Result<SandboxSettings, String> {
    let limit = |name| count(settled, name).unwrap_or_default();
    let settings = SandboxSettings {
        mode: parsed(settled, "sandbox.mode")?,
        files: parsed(settled, "sandbox.files")?,
        commits: flag(settled, "sandbox.commits").unwrap_or_default(),
        writable: texts(settled, "sandbox.writable"),
        private_home: flag(settled, "sandbox.private_home").unwrap_or_default(),
        network: parsed(settled, "sandbox.network")?,
        hosts: texts(settled, "sandbox.hosts"),
        requests: texts(settled, "sandbox.requests"),
        secrets: texts(settled, "sandbox.secrets"),
        environment: texts(settled, "sandbox.environment"),
        limits: SandboxLimits {
            processes: limit("sandbox.processes"),
            memory_mib: limit("sandbox.memory_mib"),
            cpu_s: limit("sandbox.cpu_s"),
            file_mib: limit("sandbox.file_mib"),
            open_files: limit("sandbox.open_files"),
            wall_s: limit("sandbox.wall_s"),
        },
    };
    match settings.writable.iter().find(|path| !path.starts_with('/') && !path.starts_with("~/")) {
        Some(path) => Err(format!(
            "`sandbox.writable` has `{path}`: write an absolute path, or `~/` and a path in your home"
        )),
        None => Ok(settings),
    }
}

#[cfg(test)]
mod tests {
    use castellan_policy::{SandboxMode, SandboxSettings};

    use crate::config::Config;

    #[test]
    fn keys_become_settings_and_relative_paths_are_errors() {
        let read = |keys: &str| Config::parse(&format!("version = 1\n[sandbox]\n{keys}"));
        let sandbox = |keys: &str| read(keys).unwrap().settings.sandbox;
        assert_eq!(sandbox(""), SandboxSettings::DEFAULT);
        let mode = SandboxMode::Prefer;
        assert_eq!(sandbox("mode = \"prefer\"\n"), SandboxSettings { mode, ..SandboxSettings::DEFAULT });
        let writable = vec!["/a".to_owned(), "~/b".to_owned()];
        assert_eq!(sandbox("writable = [\"/a\", \"~/b\"]\n").writable, writable);
        assert_eq!(sandbox("wall_s = 9\n").limits.wall_s, 9);
        for relative in ["a", "~", "./a"] {
            let why = read(&format!("writable = [\"{relative}\"]\n")).unwrap_err();
            assert!(why.contains("write an absolute path"), "{relative}: {why}");
        }
    }
}
