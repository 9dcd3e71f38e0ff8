//! An agent's own settings as a second line of defence: values → texts of files, and the arguments with which the agent
//! reads them. Only keys that the tested versions honour are written (`docs/settings.md` has the measurements). This
//! module must not know where the values come from or where the files are.
//!
//! `native/claude.rs`, `native/codex.rs` and `native/gemini.rs` write the text of each family. `native/merge.rs` adds
//! what tightens to a person's text. `native/beaten.rs` finds arguments that beat the settings.

mod beaten;
mod claude;
mod codex;
mod gemini;
mod merge;

use crate::agent::AgentId;
use crate::family::HookCommand;
use crate::spec::NativeFamily;

pub use beaten::beats_native;
pub use merge::{Merged, NativeError, merge_native};

/// The values of an agent's own settings. All paths are absolute, without symlinks and without [`is_plain_path`]'s
/// exclusions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NativeValues {
    /// The directory of the work, which the agent may write.
    pub work_dir: String,
    /// Further directories that the agent may write.
    pub directories: Vec<String>,
    /// Commands that run without a prompt of the agent.
    pub commands: Vec<NativeCommand>,
    /// Beginnings of commands that a person is asked about, or that are denied.
    pub stopped: Vec<StoppedCommand>,
    /// Hosts that commands may contact, if they are known; `*.x` is `x` and every host below it.
    pub hosts: Option<Vec<String>>,
    /// Files that the agent must not read.
    pub secrets: Vec<NativeSecret>,
    /// Patterns of files that the agent must not write, as those of [`NativeSecret`].
    pub kept: Vec<String>,
    /// castellan's hook.
    pub hook: HookCommand,
    /// The agent starts in its mode in which a model judges calls instead of a person.
    pub is_auto: bool,
    /// The agent's sandbox works on this machine.
    pub has_sandbox: bool,
}

/// A command that runs without a prompt of the agent.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NativeCommand {
    /// The program and its arguments; each is a word of [`is_plain_word`].
    pub words: Vec<String>,
    /// Any arguments may follow.
    pub goes_on: bool,
}

/// The beginning of a command that castellan stops.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoppedCommand {
    /// The program and its first arguments; each is a word of [`is_plain_word`].
    pub words: Vec<String>,
    /// The command is denied; otherwise a person is asked.
    pub is_denied: bool,
}

/// Files that hold secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NativeSecret {
    /// A pattern: `~/` is below the home, `/` below the root, `**/` anywhere. `*` is any text within a name. A final `/**`
    /// is the directory with everything below it.
    pub pattern: String,
    /// Some files that the pattern matches are no secrets.
    pub is_wide: bool,
    /// The path that the pattern names, with the home in it, if it names one that exists.
    pub present: Option<String>,
}

/// A file of an agent's own settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NativeFile {
    /// The path, relative to the directory for which the settings are rendered.
    pub path: &'static str,
    /// The whole text.
    pub text: String,
}

/// Returns true if castellan writes settings of its own for the agent.
pub fn has_native(agent: AgentId) -> bool {
    agent.spec().families.native.is_some()
}

/// Returns true if the agent has a mode in which a model judges calls, and its settings can choose it.
pub fn has_auto_mode(agent: AgentId) -> bool {
    agent.spec().families.native == Some(NativeFamily::Permissions)
}

/// Returns true if the agent takes its sandbox from the machine, so that it may be missing.
pub fn needs_sandbox_tools(agent: AgentId) -> bool {
    agent.spec().families.native == Some(NativeFamily::Permissions)
}

/// Returns the paths of the agent's files, relative to a directory.
pub fn native_paths(agent: AgentId) -> &'static [&'static str] {
    match agent.spec().families.native {
        None => &[],
        Some(NativeFamily::Permissions) => claude::PATHS,
        Some(NativeFamily::Profile) => codex::PATHS,
        Some(NativeFamily::Policy) => gemini::PATHS,
    }
}

/// Renders the agent's settings for `directory`, in the order of [`native_paths`]. The same values give the same bytes.
pub fn native_files(agent: AgentId, values: &NativeValues, directory: &str) -> Vec<NativeFile> {
    let texts = match agent.spec().families.native {
        None => Vec::new(),
        Some(NativeFamily::Permissions) => claude::texts(agent, values),
        Some(NativeFamily::Profile) => codex::texts(values),
        Some(NativeFamily::Policy) => gemini::texts(agent, values, directory),
    };
    native_paths(agent).iter().zip(texts).map(|(path, text)| NativeFile { path, text }).collect()
}

/// Returns the arguments with which the agent uses the files of [`native_files`] in `directory`, whatever a repository
/// says. `mark` is a text of letters and digits that a repository cannot guess: a repository that knows the name of a
/// permission profile can add rights to it (measured on Codex 0.169.0).
pub fn native_arguments(agent: AgentId, values: &NativeValues, directory: &str, mark: &str) -> Vec<String> {
    match agent.spec().families.native {
        None => Vec::new(),
        Some(NativeFamily::Permissions) => claude::arguments(directory),
        Some(NativeFamily::Profile) => codex::arguments(values, mark),
        Some(NativeFamily::Policy) => gemini::arguments(directory),
    }
}

/// Returns true if [`native_arguments`] name the files of [`native_files`]. Otherwise they hold the settings themselves.
pub fn arguments_name_files(agent: AgentId) -> bool {
    match agent.spec().families.native {
        None | Some(NativeFamily::Profile) => false,
        Some(NativeFamily::Permissions | NativeFamily::Policy) => true,
    }
}

/// Returns true if every agent reads a path in a rule as the path itself: it has no letter of a pattern, a quote or a
/// control character.
pub fn is_plain_path(path: &str) -> bool {
    let is_special = |letter: char| letter.is_control() || "*?[](){}!\\\"'`$#,:|".contains(letter);
    path.starts_with('/') && path.trim() == path && !path.contains(is_special)
}

/// Returns true if every agent reads a word of a command in a rule as the word itself.
pub fn is_plain_word(word: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=@%+,:".contains(letter);
    !word.is_empty() && word.chars().all(is_plain) && !word.ends_with(':')
}

/// Returns a pattern of the machine's own file system; those of Windows begin with a drive.
fn of_this_system<'v>(patterns: impl IntoIterator<Item = &'v str>) -> impl Iterator<Item = &'v str> {
    patterns.into_iter().filter(|pattern| !pattern.starts_with("/C:/"))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    pub(crate) fn values() -> NativeValues {
        let secret = |pattern: &str, is_wide, present: Option<&str>| NativeSecret {
            pattern: pattern.to_owned(),
            is_wide,
            present: present.map(str::to_owned),
        };
        let stopped = |line, is_denied| StoppedCommand { words: words(line), is_denied };
        NativeValues {
            work_dir: "/home/u/work".to_owned(),
            directories: vec!["/home/u/repo".to_owned()],
            commands: vec![
                NativeCommand { words: words("cargo test"), goes_on: true },
                NativeCommand { words: words("./gen.sh --all"), goes_on: false },
            ],
            stopped: vec![stopped("gh repo delete", true), stopped("terraform destroy", false)],
            hosts: Some(vec!["static.crates.io".to_owned()]),
            secrets: vec![
                secret("**/.ssh/**", false, Some("/home/u/.ssh")),
                secret("~/.aws/credentials", false, None),
                secret("~/.azure/msal_token_cache*", false, None),
                secret("/etc/ssl/private/**", false, Some("/etc/ssl/private")),
                secret("**/.env", false, None),
                secret("**/.env.*", true, None),
                secret("/proc/*/environ", false, None),
                secret("/C:/Windows/System32/config/**", false, None),
            ],
            kept: ["~/.config/castellan/**", "**/.claude/settings.json", "/etc/codex/**"]
                .map(str::to_owned)
                .to_vec(),
            hook: HookCommand { program: "/opt/castellan-hook".to_owned(), home: "/home/u/it's".to_owned() },
            is_auto: false,
            has_sandbox: true,
        }
    }

    #[test]
    fn a_path_or_word_with_a_meaning_of_its_own_is_not_plain() {
        for path in ["/home/u/a b", "/w/ü", "/"] {
            assert!(is_plain_path(path), "{path}");
        }
        for path in
            ["", "w", "/w/*", "/w[1]", "/w(1)", "/a\nb", "/a\\b", "/a\"b", "/w ", "/{a}", "/a,b", "/$HOME"]
        {
            assert!(!is_plain_path(path), "{path:?}");
        }
        for word in ["cargo", "./gen.sh", "--x=1", "test:unit", "@scope/x"] {
            assert!(is_plain_word(word), "{word}");
        }
        for word in ["", "a b", "*", "a;b", "$(x)", "a:", "a\nb", "(", "'a'", "ü"] {
            assert!(!is_plain_word(word), "{word:?}");
        }
    }

    #[test]
    fn no_agent_gets_a_flag_or_key_that_skips_its_permissions() {
        for agent in AgentId::ALL {
            let mut all = native_arguments(agent, &values(), "/d", "7f").join("\n");
            native_files(agent, &values(), "/d").iter().for_each(|file| all.push_str(&file.text));
            for word in ["bypassPermissions\"", "danger", "yolo\"", "skip", "full-access", "bypass_"] {
                assert!(!all.contains(word), "{}: {word}", agent.word());
            }
            assert_eq!(native_paths(agent).len(), native_files(agent, &values(), "/d").len());
            assert_eq!(has_native(agent), !native_paths(agent).is_empty());
        }
    }
}
