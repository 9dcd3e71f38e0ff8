//! The paths in an agent's settings: the directories of the work, secrets, and files that no agent may change.

use std::path::Path;

use anyhow::{Context, bail, ensure};
use castellan_agents::{
    AgentId, NativeSecret, Place, directory_name, hook_files, is_plain_path, native_paths,
};
use castellan_daemon::named_place;
use castellan_facts::scope::{castellan_patterns, secret_patterns};

/// Returns a directory of the work as the agent knows it: absolute, symlinks resolved.
pub(super) fn work_directory(dir: &Path, user_home: &Path) -> anyhow::Result<String> {
    let shown = dir.display();
    let real = dir.canonicalize().with_context(|| format!("`{shown}`: the directory must exist"))?;
    ensure!(real.is_dir(), "`{shown}` is no directory");
    let home = user_home.canonicalize().unwrap_or_else(|_| user_home.to_owned());
    // The agent could change everything that the user has.
    ensure!(!home.starts_with(&real), "`{shown}` is a home or holds one: name a directory in it");
    text(&real)
}

/// Returns a path as text that means itself in the rules of every agent.
pub(super) fn text(path: &Path) -> anyhow::Result<String> {
    let Some(text) = path.to_str() else {
        bail!("`{}` is not UTF-8, which agents' settings need: rename it", path.display());
    };
    let what = "has a letter that agents' rules read as a pattern or a quote, or a control character";
    ensure!(is_plain_path(text), "`{}` {what}: rename it", text.escape_debug());
    Ok(text.to_owned())
}

/// Returns the files that hold secrets, by castellan's table of paths.
pub(super) fn secrets(user_home: &Path) -> Vec<NativeSecret> {
    let of = |(pattern, is_wide): (&'static str, bool)| NativeSecret {
        pattern: pattern.to_owned(),
        is_wide,
        present: named_place(pattern, user_home)
            .filter(|path| path.symlink_metadata().is_ok())
            .and_then(|path| text(&path).ok()),
    };
    secret_patterns().map(of).collect()
}

/// Returns the files that no agent may change: castellan's own, and those in which agents read hooks and rules.
pub(super) fn kept(castellan_home: &Path, hook_program: &str) -> anyhow::Result<Vec<String>> {
    let mut kept: Vec<String> = castellan_patterns().map(str::to_owned).collect();
    kept.push(format!("{}/**", text(castellan_home)?));
    kept.push(hook_program.to_owned());
    kept.extend(hook_program.strip_suffix("-hook").map(str::to_owned));
    for agent in AgentId::ALL {
        kept.extend(hook_files(agent).iter().filter_map(|file| match file.place {
            Place::Machine => Some(file.path.to_owned()),
            Place::User => Some(format!("~/{}/{}", directory_name(agent), file.path)),
            Place::Workspace => Some(format!("**/{}", file.path)),
            Place::CommandLine | Place::Plugin => None,
        }));
        kept.extend(native_paths(agent).iter().map(|path| format!("**/{path}")));
    }
    kept.sort();
    kept.dedup();
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn a_directory_that_no_rule_can_name_is_an_error() {
        let root = tempfile::tempdir().unwrap();
        let home = root.path().join("home");
        let check = |name: &[u8], part: &str| {
            let dir = root.path().join(std::ffi::OsStr::from_bytes(name));
            std::fs::create_dir_all(&dir).unwrap();
            let error = format!("{:#}", work_directory(&dir, &home).unwrap_err());
            assert!(error.contains(part), "{error}");
        };
        check(b"a\nb", "control character");
        check(b"a[1]", "pattern");
        check(b"a*", "pattern");
        check(b"a\"b", "quote");
        check(b"a\xff", "not UTF-8");
        check(b"home", "is a home or holds one");
        let error = format!("{:#}", work_directory(&root.path().join("none"), &home).unwrap_err());
        assert!(error.contains("must exist"), "{error}");
        std::fs::write(root.path().join("f"), "").unwrap();
        let error = format!("{:#}", work_directory(&root.path().join("f"), &home).unwrap_err());
        assert!(error.contains("no directory"), "{error}");
        std::fs::create_dir(root.path().join("home/work dir")).unwrap();
        assert!(work_directory(&home.join("work dir"), &home).is_ok());
        assert!(work_directory(root.path(), &home).is_err());
    }

    #[test]
    fn secrets_that_are_there_have_their_path() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        std::fs::create_dir(home.join(".ssh")).unwrap();
        std::fs::write(home.join(".netrc"), "").unwrap();
        let secrets = secrets(home);
        let present: Vec<_> = secrets.iter().filter_map(|secret| secret.present.as_deref()).collect();
        for path in [".ssh", ".netrc"] {
            assert!(present.contains(&home.join(path).to_str().unwrap()), "{path}: {present:?}");
        }
        assert!(!present.iter().any(|path| path.ends_with(".pgpass") || path.contains('*')), "{present:?}");
    }

    #[test]
    fn castellans_files_and_agents_hooks_are_kept() {
        let kept = kept(Path::new("/srv/guard"), "/opt/bin/castellan-hook").unwrap();
        for pattern in [
            "/srv/guard/**",
            "/opt/bin/castellan-hook",
            "/opt/bin/castellan",
            "~/.config/castellan/**",
            "**/.claude/settings.json",
            "**/.claude/settings.local.json",
            "~/.claude/settings.json",
            "/etc/codex/requirements.toml",
            "**/.codex/config.toml",
            "**/.codex/rules/castellan.rules",
            "**/.gemini/castellan.toml",
        ] {
            assert!(kept.iter().any(|one| one == pattern), "{pattern}: {kept:?}");
        }
    }
}
