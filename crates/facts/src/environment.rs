//! Environment variables that change programs: the code they load, the files they read, the servers they trust.

use castellan_event::{EffectKind, Operation, matches_star};
use castellan_programs::Arg;

use crate::limits::WORK_OF_EFFECT;
use crate::sink::Sink;
use castellan_programs::base_name;

/// Names; a `*` at the end matches any rest. The second text is the verb of the effect: the kind of change.
const VARIABLES: &[(&str, &str)] = &[
    ("ACKRC", "command"),
    ("AIDER_*", "agent"),
    ("ALL_PROXY", "network"),
    ("ANSIBLE_*", "code"),
    ("ANTHROPIC_*", "agent"),
    ("AWKLIBPATH", "code"),
    ("AWKPATH", "code"),
    ("AWS_CONFIG_FILE", "target"),
    ("AWS_ENDPOINT_URL*", "target"),
    ("AWS_PAGER", "command"),
    ("AWS_PROFILE", "target"),
    ("AWS_SHARED_CREDENTIALS_FILE", "target"),
    ("BASHOPTS", "shell"),
    ("BASH_ENV", "shell"),
    ("BASH_FUNC_*", "shell"),
    ("BAT_PAGER", "command"),
    ("BROWSER", "command"),
    ("BUNDLE_*", "registry"),
    ("BUN_CONFIG_*", "registry"),
    ("CARGO_BUILD_RUSTC*", "command"),
    ("CARGO_HOME", "registry"),
    ("CARGO_REGISTR*", "registry"),
    ("CARGO_SOURCE_*", "registry"),
    ("CARGO_TARGET_*", "command"),
    ("CASTELLAN_PAGER", "command"),
    ("CC", "command"),
    ("CDPATH", "shell"),
    ("CGO_*", "command"),
    ("CLASSPATH", "code"),
    ("CLAUDE_*", "agent"),
    ("CMAKE_*", "code"),
    ("CODEX_*", "agent"),
    ("COMPOSER", "code"),
    ("COMPOSER_*", "registry"),
    ("CONDA_CHANNEL*", "registry"),
    ("COPILOT_*", "agent"),
    ("COREPACK_NPM_REGISTRY", "registry"),
    ("COREPACK_*", "registry"),
    ("CURL_CA_BUNDLE", "network"),
    ("CURL_HOME", "network"),
    ("CVS_RSH", "command"),
    ("CXX", "command"),
    ("DELTA_PAGER", "command"),
    ("DOCKER_HOST", "target"),
    ("DOTNET_STARTUP_HOOKS", "code"),
    ("DYLD_*", "library"),
    ("EDITOR", "command"),
    ("ELECTRON_MIRROR", "registry"),
    ("ELIXIR_ERL_OPTIONS", "code"),
    ("EMACSLOADPATH", "code"),
    ("ENV", "shell"),
    ("ERL_*", "code"),
    ("EXINIT", "code"),
    ("FLUTTER_STORAGE_BASE_URL", "registry"),
    ("FNM_NODE_DIST_MIRROR", "registry"),
    ("GCONV_PATH", "library"),
    ("GEMINI_*", "agent"),
    ("GEM_HOME", "registry"),
    ("GEM_PATH", "registry"),
    ("GH_BROWSER", "command"),
    ("GH_CONFIG_DIR", "command"),
    ("GH_EDITOR", "command"),
    ("GH_HOST", "target"),
    ("GH_PAGER", "command"),
    ("GIT_*", "git"),
    ("GNUMAKEFLAGS", "command"),
    ("GOENV", "registry"),
    ("GOFLAGS", "command"),
    ("GOINSECURE", "registry"),
    ("GONOSUMCHECK", "registry"),
    ("GONOSUMDB", "registry"),
    ("GOOGLE_GEMINI_*", "agent"),
    ("GOPROXY", "registry"),
    ("GOOSE_*", "agent"),
    ("GOSUMDB", "registry"),
    ("GOTOOLCHAIN", "command"),
    ("GRADLE_OPTS", "code"),
    ("GUILE_LOAD_PATH", "code"),
    ("GZIP", "command"),
    ("HEX_MIRROR*", "registry"),
    ("HGRCPATH", "command"),
    ("HISTCONTROL", "history"),
    ("HISTFILE", "history"),
    ("HISTFILESIZE", "history"),
    ("HISTIGNORE", "history"),
    ("HISTSIZE", "history"),
    ("HOME", "home"),
    ("HOMEBREW_*_DOMAIN", "registry"),
    ("HOMEBREW_*_GIT_REMOTE", "registry"),
    ("HOMEBREW_NO_VERIFY", "registry"),
    ("HTTPS_PROXY", "network"),
    ("HTTP_PROXY", "network"),
    ("IEX_HOME", "code"),
    ("IFS", "shell"),
    ("JAVA_TOOL_OPTIONS", "code"),
    ("JDK_JAVA_OPTIONS", "code"),
    ("JULIA_LOAD_PATH", "code"),
    ("KUBECONFIG", "target"),
    ("KUBECTL_EXTERNAL_DIFF", "command"),
    ("KUBE_EDITOR", "command"),
    ("LD_*", "library"),
    ("LESS", "command"),
    ("LESSCLOSE", "command"),
    ("LESSOPEN", "command"),
    ("LOCPATH", "library"),
    ("LUA_CPATH*", "code"),
    ("LUA_INIT*", "code"),
    ("LUA_PATH*", "code"),
    ("MAKEFILES", "code"),
    ("MAKEFLAGS", "command"),
    ("MANOPT", "command"),
    ("MANPAGER", "command"),
    ("MAVEN_OPTS", "code"),
    ("MFLAGS", "command"),
    ("MYSQL_HOME", "target"),
    ("MYSQL_HOST", "target"),
    ("NODE_EXTRA_CA_CERTS", "network"),
    ("NODE_OPTIONS", "code"),
    ("NODE_PATH", "code"),
    ("NODE_TLS_REJECT_UNAUTHORIZED", "network"),
    ("NPM_CONFIG_NODE_OPTIONS", "code"),
    ("NPM_CONFIG_SCRIPT_SHELL", "command"),
    ("NPM_CONFIG_*", "registry"),
    ("NVM_NODEJS_ORG_MIRROR", "registry"),
    ("OPENAI_*", "agent"),
    ("OPENCODE_*", "agent"),
    ("OPENSSL_CONF", "library"),
    ("OPENSSL_ENGINES", "library"),
    ("PAGER", "command"),
    ("PATH", "programs"),
    ("PERL5DB", "code"),
    ("PERL5LIB", "code"),
    ("PERL5OPT", "code"),
    ("PGHOST", "target"),
    ("PGSERVICEFILE", "target"),
    ("PHPRC", "code"),
    ("PHP_INI_SCAN_DIR", "code"),
    ("PIP_*", "registry"),
    ("PROMPT_COMMAND", "shell"),
    ("PS4", "shell"),
    ("PSQLRC", "code"),
    ("PSQL_EDITOR", "command"),
    ("PSQL_PAGER", "command"),
    ("PUB_HOSTED_URL", "registry"),
    ("PYTHONBREAKPOINT", "code"),
    ("PYTHONHOME", "code"),
    ("PYTHONINSPECT", "code"),
    ("PYTHONPATH", "code"),
    ("PYTHONSTARTUP", "code"),
    ("PYTHONUSERBASE", "code"),
    ("QWEN_*", "agent"),
    ("REQUESTS_CA_BUNDLE", "network"),
    ("RIPGREP_CONFIG_PATH", "command"),
    ("RSH", "command"),
    ("RSYNC_CONNECT_PROG", "command"),
    ("RSYNC_RSH", "command"),
    ("RUBYLIB", "code"),
    ("RUBYOPT", "code"),
    ("RUSTC", "command"),
    ("RUSTC_WORKSPACE_WRAPPER", "command"),
    ("RUSTC_WRAPPER", "command"),
    ("RUSTDOC", "command"),
    ("RUSTDOCFLAGS", "command"),
    ("RUSTFLAGS", "command"),
    ("RUSTUP_DIST_SERVER", "registry"),
    ("RUSTUP_UPDATE_ROOT", "registry"),
    ("RUSTUP_*", "command"),
    ("R_PROFILE*", "code"),
    ("SHELL", "shell"),
    ("SHELLOPTS", "shell"),
    ("SQLITE_HISTORY", "history"),
    ("SSH_ASKPASS", "command"),
    ("SSL_CERT_DIR", "network"),
    ("SSL_CERT_FILE", "network"),
    ("SUDO_ASKPASS", "command"),
    ("SYSTEMD_EDITOR", "command"),
    ("SYSTEMD_PAGER", "command"),
    ("TAPE", "target"),
    ("TAR_OPTIONS", "command"),
    ("TF_CLI_*", "code"),
    ("TMPDIR", "home"),
    ("UV_*", "registry"),
    ("VIM", "code"),
    ("VIMINIT", "code"),
    ("VIMRUNTIME", "code"),
    ("VISUAL", "command"),
    ("WGETRC", "network"),
    ("XDG_CONFIG_HOME", "home"),
    ("XZ_DEFAULTS", "command"),
    ("XZ_OPT", "command"),
    ("YARN_*", "registry"),
    ("ZDOTDIR", "shell"),
    ("ZSTD_CLEVEL", "command"),
    ("_JAVA_OPTIONS", "code"),
    ("all_proxy", "network"),
    ("http_proxy", "network"),
    ("https_proxy", "network"),
    ("npm_config_node_options", "code"),
    ("npm_config_script_shell", "command"),
    ("npm_config_*", "registry"),
];

/// Names as in [`VARIABLES`], whose value is a file that programs write or append to.
const WRITTEN: &[&str] = &[
    "GIT_INDEX_FILE",
    "GIT_TRACE*",
    "HISTFILE",
    "LESSHISTFILE",
    "MYSQL_HISTFILE",
    "NODE_REPL_HISTORY",
    "PSQL_HISTORY",
    "PYTHON_HISTORY",
    "SQLITE_HISTORY",
    "SSLKEYLOGFILE",
];

/// Adds the effect of a variable, if it changes what programs do.
pub(crate) fn effect(name: &str, value: &Arg, sink: &mut Sink<'_, '_, '_, '_>) {
    // The name is compared with all known names.
    if !sink.spend(WORK_OF_EFFECT) {
        return;
    }
    if WRITTEN.iter().any(|pattern| matches_star(pattern, name)) && is_file_name(name, value) {
        sink.path(EffectKind::Write, value);
    }
    // `ENV=production make`: only an interactive shell reads the file in `ENV`, and the shell walk handles that.
    if name == "ENV" && value.as_str().is_some_and(|value| !value.contains('/')) {
        return;
    }
    let Some((_, verb)) = VARIABLES.iter().find(|(pattern, _)| matches_star(pattern, name)) else { return };
    sink.add(Operation {
        kind: EffectKind::Environment,
        verb: Some((*verb).to_owned()),
        target: Some(format!("{name}={}", value.written())),
        ..Operation::default()
    });
    if let Some(text) = run_by_a_shell(name, value) {
        sink.shell(text);
    }
}

/// Adds the effect of a variable that all later commands of the call receive, and stores the home of later agents.
pub(crate) fn passed_on(name: &str, value: &Arg, sink: &mut Sink<'_, '_, '_, '_>) {
    if name == HOME {
        sink.scene.exports.home = Some(value.clone());
    }
    effect(name, value, sink);
}

/// The variable below whose directory agents have their settings.
pub(crate) const HOME: &str = "HOME";

/// Variables whose value a shell runs, with the shown or edited file as an argument. Source: the manuals of git 2.47,
/// less 661, man-db 2.13, PostgreSQL 17, systemd 256, gh 2.60 and kubectl 1.31.
const RUN_BY_A_SHELL: &[&str] = &[
    "AWS_PAGER",
    "BAT_PAGER",
    "BROWSER",
    "CASTELLAN_PAGER",
    "DELTA_PAGER",
    "EDITOR",
    "GH_BROWSER",
    "GH_EDITOR",
    "GH_PAGER",
    "GIT_EDITOR",
    "GIT_EXTERNAL_DIFF",
    "GIT_PAGER",
    "GIT_PROXY_COMMAND",
    "GIT_SEQUENCE_EDITOR",
    "GIT_SSH_COMMAND",
    "KUBECTL_EXTERNAL_DIFF",
    "KUBE_EDITOR",
    "LESSCLOSE",
    "LESSOPEN",
    "MANPAGER",
    "PAGER",
    "PSQL_EDITOR",
    "PSQL_PAGER",
    "SYSTEMD_EDITOR",
    "SYSTEMD_PAGER",
    "VISUAL",
];

/// Usual values of these variables, which only show, edit or connect.
const PLAIN: &[&str] = &[
    "bat",
    "batcat",
    "cat",
    "code",
    "code-insiders",
    "col",
    "cursor",
    "delta",
    "diff-so-fancy",
    "emacs",
    "emacsclient",
    "less",
    "lesspipe",
    "lesspipe.sh",
    "more",
    "most",
    "nano",
    "nvim",
    "ssh",
    "subl",
    "vi",
    "vim",
    "zed",
];

/// Returns the text that a shell runs because of a variable, unless it only names a program that shows or edits.
pub(crate) fn run_by_a_shell(name: &str, value: &Arg) -> Option<Arg> {
    let value = value.as_str().filter(|_| RUN_BY_A_SHELL.contains(&name))?;
    let value = value.trim_start_matches(['|', '-', ' ']);
    value.split_whitespace().next()?;
    (!is_name(value) && !only_shows(value)).then(|| Arg::known(value))
}

/// Returns true if shell text only names a program that shows, edits or connects, with plain options.
pub(crate) fn only_shows(text: &str) -> bool {
    let Some(first) = text.split_whitespace().next() else { return true };
    let has_signs = text.contains(['|', ';', '&', '$', '`', '(', '<', '>', '\n']);
    // Other words may be commands: `vim -c '!rm x'`, `less +!rm`.
    let is_switch =
        |word: &str| word.starts_with('-') && is_name(word) && !["-c", "-S", "-e"].contains(&word);
    let mut rest = text.split_whitespace().skip(1);
    let has_orders = base_name(first) != "ssh" && !rest.all(is_switch);
    PLAIN.contains(&base_name(first)) && !has_signs && !has_orders
}

fn is_name(text: &str) -> bool {
    text.chars().all(|one| one.is_ascii_alphanumeric() || "._-".contains(one))
}

/// `GIT_TRACE=1` names no file. Git writes a trace only to an absolute path; other values are numbers and words.
fn is_file_name(name: &str, value: &Arg) -> bool {
    let may_be_relative = !name.starts_with("GIT_TRACE");
    let is_named = value.prefix().starts_with('/') || may_be_relative && value.as_str() != Some("");
    is_named && value.as_str() != Some("/dev/null")
}
