//! Start environment of the agent's process. Only variables that change
//! the effect of commands or the place of files leave this module, never a token.

use castellan_agents::{AgentId, settings_variable};
use castellan_event::Process;

use crate::platform;

/// The variables for the analysis, sorted: they locate programs, configuration and temporary files, or make programs
/// run code. Variables that move an agent's directory are in the agents' data. Records show the values, so no variable
/// here may contain a secret.
const USEFUL: &[&str] = &[
    "AWS_CONFIG_FILE",
    "AWS_SHARED_CREDENTIALS_FILE",
    "BASHOPTS",
    "BASH_ENV",
    "BROWSER",
    "CARGO_HOME",
    "CDPATH",
    "CLAUDE_CODE_SHELL",
    "CLOUDSDK_CONFIG",
    "COPILOT_HOME",
    "DOCKER_CONFIG",
    "DOCKER_HOST",
    "DYLD_FALLBACK_LIBRARY_PATH",
    "DYLD_FRAMEWORK_PATH",
    "DYLD_INSERT_LIBRARIES",
    "DYLD_LIBRARY_PATH",
    "EDITOR",
    "ENV",
    "GH_CONFIG_DIR",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_ASKPASS",
    "GIT_CEILING_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_SYSTEM",
    "GIT_DIR",
    "GIT_EDITOR",
    "GIT_EXEC_PATH",
    "GIT_EXTERNAL_DIFF",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PAGER",
    "GIT_PROXY_COMMAND",
    "GIT_SEQUENCE_EDITOR",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_TEMPLATE_DIR",
    "GIT_WORK_TREE",
    "GLOBIGNORE",
    "GNUPGHOME",
    "GOBIN",
    "GOPATH",
    "HOME",
    "IFS",
    "JAVA_TOOL_OPTIONS",
    "KUBECONFIG",
    "LANG",
    "LC_ALL",
    "LD_AUDIT",
    "LD_LIBRARY_PATH",
    "LD_ORIGIN_PATH",
    "LD_PRELOAD",
    "LD_PROFILE",
    "LD_SHOW_AUXV",
    "LESSOPEN",
    "LOGNAME",
    "MANPAGER",
    "NODE_OPTIONS",
    "NODE_PATH",
    "NPM_CONFIG_PREFIX",
    "NPM_CONFIG_USERCONFIG",
    "NVM_DIR",
    "OLDPWD",
    "PAGER",
    "PASSWORD_STORE_DIR",
    "PATH",
    "PERL5LIB",
    "PERL5OPT",
    "PIP_CONFIG_FILE",
    "POSIXLY_CORRECT",
    "PROMPT_COMMAND",
    "PWD",
    "PYENV_ROOT",
    "PYTHONHOME",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "RUBYLIB",
    "RUBYOPT",
    "RUSTC_WRAPPER",
    "RUSTUP_HOME",
    "SHELL",
    "SHELLOPTS",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "TEMP",
    "TMP",
    "TMPDIR",
    "USER",
    "VIRTUAL_ENV",
    "VISUAL",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_DIRS",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
    "ZDOTDIR",
];

/// Returns the process without its `links`; `None` when a part of it cannot be read.
pub(super) fn process(pid: u32) -> Option<Process> {
    if pid == 0 {
        return None;
    }
    let (environment, user) = platform::environment_and_user(pid)?;
    let env = useful(&environment)?;
    let home = platform::account(user).and_then(|account| account.home?.into_os_string().into_string().ok());
    let home = home.unwrap_or_default();
    let network = platform::network_mounts(pid)?;
    Some(Process { env, home, is_root: user == 0, links: Vec::new(), network })
}

/// Returns the useful variables of `NAME=value` entries that end with NUL. `None` when one of them is no valid text,
/// because its value would change here.
fn useful(environ: &[u8]) -> Option<Vec<(String, String)>> {
    let vars = environ.split(|byte| *byte == 0).filter_map(|entry| {
        let at = entry.iter().position(|byte| *byte == b'=')?;
        let (name, value) = entry.split_at_checked(at)?;
        let at = USEFUL.binary_search_by(|useful| useful.as_bytes().cmp(name));
        let of_agent = || AgentId::ALL.into_iter().map(settings_variable).find(|one| one.as_bytes() == name);
        let name = at.map_or_else(|_| of_agent(), |at| USEFUL.get(at).copied())?;
        Some((name, value.get(1..).unwrap_or_default()))
    });
    let texts = vars.map(|(name, value)| Some((name.to_owned(), str::from_utf8(value).ok()?.to_owned())));
    texts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_useful_variables_leave() {
        let environ = b"PATH=/bin:/usr/bin\0GITHUB_TOKEN=t\0ANTHROPIC_API_KEY=k\0GIT_SSH_COMMAND=ssh -v=1\0HOME=\0x\0\0";
        let env = useful(environ).unwrap();
        let shown: Vec<String> = env.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(shown, ["PATH=/bin:/usr/bin", "GIT_SSH_COMMAND=ssh -v=1", "HOME="]);
        assert_eq!(useful(b"PATH=/\xff\0"), None);
        assert_eq!(useful(b"OTHER=\xff\0").unwrap(), []);
    }

    #[test]
    fn no_variable_of_the_table_can_hold_a_secret() {
        assert!(USEFUL.is_sorted());
        let telling = ["TOKEN", "KEY", "SECRET", "PASSWD", "AUTH", "COOKIE", "CREDENTIAL_"];
        for name in USEFUL.iter().copied().chain(AgentId::ALL.into_iter().map(settings_variable)) {
            assert!(!telling.iter().any(|part| name.contains(part)), "{name}");
        }
    }

    #[test]
    fn this_process_is_seen_and_no_other_one_made_up() {
        let own = process(std::process::id()).unwrap();
        assert_eq!(own.var("PATH"), std::env::var("PATH").ok().as_deref());
        assert_eq!(own.is_root, rustix::process::geteuid().is_root());
        assert_eq!(process(0), None);
        assert_eq!(process(u32::MAX), None);
    }
}
