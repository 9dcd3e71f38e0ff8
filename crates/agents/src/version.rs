//! [`executable_version`]: the running version of an agent, from the path of its executable and the package manifest
//! beside it. This module must not know the meaning of a version.

use std::fmt;
use std::str::FromStr;

use serde_json::Value as Json;

use crate::agent::AgentId;
use crate::spec::Version;

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

/// The text is not a version of three numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoVersion;

impl FromStr for Version {
    type Err = NoVersion;

    /// Reads three numbers. A pre-release (`2.1.330-beta.1`) is not a released version.
    fn from_str(text: &str) -> Result<Version, NoVersion> {
        let mut numbers = text.split('.').map(|number| {
            let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
            number.parse().ok().filter(|_| digits)
        });
        match (numbers.next().flatten(), numbers.next().flatten(), numbers.next().flatten(), numbers.next()) {
            (Some(major), Some(minor), Some(patch), None) => Ok(Version(major, minor, patch)),
            _ => Err(NoVersion),
        }
    }
}

/// The name of the manifest beside an executable from an npm package.
pub const PACKAGE_MANIFEST: &str = "package.json";

/// Returns the version of the agent whose process runs `executable` (an absolute path), if known. The agents' own
/// installers name the file, or the folder above it, after the version. An npm package has a manifest beside the file,
/// with text `manifest`. Linux appends ` (deleted)` to the path of a replaced executable; the manifest then belongs to
/// another version.
pub fn executable_version(agent: AgentId, executable: &str, manifest: Option<&str>) -> Option<Version> {
    const REPLACED: &str = " (deleted)";
    let path = executable.strip_suffix(REPLACED).unwrap_or(executable);
    let named = path.rsplit('/').take(NAMED_LEVELS).find_map(|name| name.parse().ok());
    let manifest = manifest.filter(|_| !executable.ends_with(REPLACED));
    named.or_else(|| manifest_version(agent, manifest?))
}

/// Levels of `…/versions/2.1.330` and `…/claude-code/2.1.330/claude`.
const NAMED_LEVELS: usize = 2;

fn manifest_version(agent: AgentId, manifest: &str) -> Option<Version> {
    let manifest: Json = serde_json::from_str(manifest).ok()?;
    let text = |key: &str| manifest.get(key).and_then(Json::as_str);
    // The executable is in a package for one platform, whose name begins with the main package's name.
    text("name")?
        .strip_prefix(agent.spec().package)
        .filter(|rest| rest.is_empty() || rest.starts_with('-'))?;
    text("version")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_three_numbers() {
        let check = |text: &str, expected| assert_eq!(text.parse(), expected, "{text}");
        check("2.1.330", Ok(Version(2, 1, 330)));
        for text in [
            "",
            "2",
            "2.1",
            "2.1.330.1",
            "2.1.x",
            "2.1.",
            "+2.1.3",
            "2.1.330-beta.1",
            "v2.1.330",
            "2.1.99999999999",
        ] {
            check(text, Err(NoVersion));
        }
        assert!(Version(2, 1, 99) < Version(2, 1, 330) && Version(2, 1, 330) < Version(2, 2, 0));
    }

    #[test]
    fn the_version_is_in_the_path_or_in_the_manifest_beside_it() {
        const CLAUDE: &str = r#"{"name": "@anthropic-ai/claude-code-linux-x64", "version": "2.1.330"}"#;
        let check = |path: &str, manifest: &str, expected: Option<&str>| {
            let found =
                executable_version(AgentId::CLAUDE, path, Some(manifest).filter(|text| !text.is_empty()));
            assert_eq!(found.map(|version| version.to_string()).as_deref(), expected, "{path} {manifest}");
        };
        check("/home/u/.local/share/claude/versions/2.1.330", "", Some("2.1.330"));
        check("/home/u/.local/share/claude/versions/2.1.330 (deleted)", "", Some("2.1.330"));
        check("/opt/homebrew/Caskroom/claude-code/2.1.331/claude", "", Some("2.1.331"));
        check("/x/@anthropic-ai/claude-code-linux-x64/claude", CLAUDE, Some("2.1.330"));
        check("/x/@anthropic-ai/claude-code-linux-x64/claude (deleted)", CLAUDE, None);
        check("/x/claude", r#"{"name": "@anthropic-ai/claude-code", "version": "2.1.204"}"#, Some("2.1.204"));
        check("/x/claude", r#"{"name": "@anthropic-ai/claude-coder", "version": "2.1.204"}"#, None);
        check("/x/claude", r#"{"name": "left-pad", "version": "2.1.204"}"#, None);
        check("/x/claude", r#"{"name": 7, "version": "2.1.204"}"#, None);
        check("/x/claude", "{", None);
        check("/usr/bin/node", "", None);
        check("/2.1.330/lib/bin/node", "", None);
        check("", "", None);
    }
}
