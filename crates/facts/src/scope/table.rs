//! The table of paths and their scopes. The table makes no decision: the most sensitive matching row gives the scope.
//!
//! A pattern begins with `~/` (below any home), `/` (below the root) or `**/` (anywhere). `~/` also covers a variable
//! such as `CARGO_HOME` that replaces a directory below the home. In a component one `*` matches any text. A final
//! `/**` matches the directory and everything below it. Patterns under `except` are exceptions to the row.
//!
//! Decisions that the rows do not explain:
//! * Shell history is *secret*: people type tokens, and no honest work of an agent needs it.
//! * Instructions to agents (`CLAUDE.md`, `AGENTS.md`, rules of Cursor) are not *agent* configuration: they grant
//!   nothing, and agents edit them as documentation. Instructions in the user's own agent directory are.
//! * A file that runs only by explicit request (Makefile, `package.json`, workflow files) is not *hijack*. Otherwise
//!   half of every workspace would be.
//! * Devices that store nothing (`/dev/null`, standard streams) are *temporary*: a write to them changes nothing.

use std::sync::LazyLock;

use castellan_agents::{AgentId, AgentPaths, PathKind, agent_paths};
use castellan_event::Scope;

/// Paths of one kind.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    pub(super) scope: Scope,
    /// A unique description for people.
    pub(super) about: &'static str,
    pub(super) paths: &'static [&'static str],
    pub(super) except: &'static [&'static str],
}

const fn row(scope: Scope, about: &'static str, paths: &'static [&'static str]) -> Row {
    Row { scope, about, paths, except: &[] }
}

impl Row {
    const fn except(self, except: &'static [&'static str]) -> Row {
        Row { except, ..self }
    }
}

/// The description of directories in which programs are.
pub(crate) const PROGRAMS: &str = "directories from which programs are started";

/// Usual places of homes, for users without further information.
pub(super) const HOMES: &[&str] = &[
    "/home/*",
    "/Users/*",
    "/root",
    "/var/root",
    "/var/home/*",
    "/export/home/*",
    "/mnt/*/Users/*",
    "/C:/Users/*",
];

/// All rows: [`OWN`], and the files of each agent that castellan guards.
pub(super) static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let agents = AgentId::ALL.into_iter().flat_map(agent_paths);
    let of_agents = agents.map(|AgentPaths { kind, about, paths, except }| {
        let scope = match kind {
            PathKind::Login => Scope::Secret,
            PathKind::Configuration => Scope::Agent,
            PathKind::Snapshot => Scope::Hijack,
        };
        Row { scope, about, paths, except }
    });
    OWN.iter().copied().chain(of_agents).collect()
});

#[rustfmt::skip]
pub(super) const OWN: &[Row] = &[
    row(Scope::Castellan, "castellan's own files", &[
        "~/.local/share/castellan/**", "~/.local/state/castellan/**", "~/.config/castellan/**",
    ]),
    row(Scope::Castellan, "castellan's service", &[
        "~/.config/systemd/user/castellan.service", "~/.config/systemd/user/castellan-hook.socket",
        "~/.config/systemd/user/castellan-control.socket", "~/.config/systemd/user/castellan.service.d/**",
        "~/.config/systemd/user/castellan-hook.socket.d/**", "~/.config/systemd/user/castellan-control.socket.d/**",
        "~/Library/LaunchAgents/dev.castellan.daemon.plist",
    ]),
    row(Scope::Castellan, "castellan's programs", &[
        "**/bin/castellan", "**/bin/castellan-hook", "~/.local/bin/castellan", "~/.local/bin/castellan-hook", "**/bin/castellan-sandbox",
        "~/.local/bin/castellan-sandbox", "**/bin/castellan-reader",
    ]),

    row(Scope::Secret, "SSH keys", &["**/.ssh/**", "/etc/ssh/ssh_host_*_key"]).except(&[
        "**/.ssh/*.pub", "**/.ssh/known_hosts*", "**/.ssh/config", "**/.ssh/config.d/**", "**/.ssh/authorized_keys*",
        "**/.ssh/rc", "**/.ssh/environment",
    ]),
    row(Scope::Secret, "private keys and key stores", &[
        "**/id_rsa", "**/id_dsa", "**/id_ecdsa", "**/id_ed25519", "**/id_ecdsa_sk", "**/id_ed25519_sk", "**/*.pem", "**/*.key",
        "**/*.p8", "**/*.p12", "**/*.pfx", "**/*.jks", "**/*.keystore", "**/*.ppk", "**/*.kdbx", "**/*.kdb", "**/*.agekey",
        "/etc/ssl/private/**", "/etc/pki/tls/private/**", "/etc/letsencrypt/archive/**", "/etc/letsencrypt/live/**",
    ]).except(&[
        "**/ca.pem", "**/cacert.pem", "**/cert.pem", "**/chain.pem", "**/fullchain.pem", "**/ca-bundle.pem", "**/*.pub.pem",
        "**/*_pub.pem", "**/*-pub.pem", "**/public.pem", "**/public_key.pem", "**/public-key.pem", "/etc/ssl/certs/**",
        "/usr/share/**", "/usr/lib/**", "**/debug.keystore",
    ]),
    row(Scope::Secret, "environment files", &["**/.env", "**/.env.*", "**/*.env"]).except(&[
        "**/.env.example", "**/.env.sample", "**/.env.template", "**/.env.dist", "**/.env.defaults", "**/.env.schema",
        "**/.env.tpl", "**/.env.*.example", "**/.env.*.sample", "**/.env.*.template", "**/example.env", "**/sample.env",
        "**/.*rc.js", "**/.*rc.cjs", "**/.*rc.mjs", "**/.*rc.json", "**/.*rc.yml", "**/.*rc.yaml", "**/template.env", "**/*.example.env", "**/*.sample.env", "**/*.template.env",
    ]),
    row(Scope::Secret, "cloud credentials", &[
        "~/.aws/credentials", "~/.aws/sso/cache/**", "~/.aws/cli/cache/**", "~/.config/gcloud/credentials.db",
        "~/.config/gcloud/access_tokens.db", "~/.config/gcloud/application_default_credentials.json",
        "~/.config/gcloud/legacy_credentials/**", "~/.boto", "~/.azure/accessTokens.json", "~/.azure/msal_token_cache*",
        "~/.azure/service_principal_entries*", "~/.oci/**", "~/.aliyun/config.json", "~/.tccli/**", "~/.bluemix/config.json",
        "~/.config/doctl/config.yaml", "~/.config/hcloud/cli.toml", "~/.config/linode-cli", "~/.linode-cli",
        "~/.config/scw/config.yaml", "~/.fly/config.yml", "~/.local/share/com.vercel.cli/auth.json",
        "~/.vercel/auth.json", "~/.netlify/config.json", "~/.config/netlify/config.json", "~/.wrangler/config/**",
        "~/.config/.wrangler/config/**", "~/.config/configstore/**", "~/.databrickscfg", "~/.snowflake/**", "~/.snowsql/**",
        "~/.dbt/profiles.yml", "~/.kaggle/kaggle.json", "~/.huggingface/token", "~/.cache/huggingface/token",
        "~/.cache/huggingface/stored_tokens", "~/.s3cfg", "~/.passwd-s3fs", "~/.config/rclone/rclone.conf", "~/.rclone.conf",
        "~/.mc/config.json", "~/.pulumi/credentials.json", "~/.terraform.d/credentials.tfrc.json", "~/.terraformrc",
        "~/.vault-token", "~/.config/sops/**", "~/.circleci/cli.yml", "~/.travis/config.yml", "~/.config/stripe/config.toml",
        "~/.sentryclirc", "~/.config/ngrok/ngrok.yml", "~/.ngrok2/ngrok.yml", "~/.cloudflared/**",
    ]),
    row(Scope::Secret, "keys of cloud accounts and of infrastructure, by name", &[
        "**/service-account*.json", "**/service_account*.json", "**/serviceAccount*.json", "**/client_secret*.json",
        "**/application_default_credentials.json", "**/credentials.json", "**/terraform.tfstate", "**/terraform.tfstate.*",
        "**/*.tfstate", "**/*.tfstate.backup", "**/.terraform/terraform.tfstate", "**/.vault_pass", "**/.vault_pass.txt",
        "**/.vault-token", "**/.htpasswd", "**/.aws/credentials", "**/kubeconfig", "**/*.kubeconfig", "**/.dev.vars", "**/*.auto.tfvars", "**/.s3cfg",
    ]),
    row(Scope::Secret, "logins of programs", &[
        "**/.netrc", "**/_netrc", "**/.authinfo", "**/.authinfo.gpg", "**/.pgpass", "~/.my.cnf", "~/.mylogin.cnf",
        "**/.git-credentials", "~/.config/git/credentials", "~/.config/gh/hosts.yml", "~/.config/glab-cli/config.yml",
        "~/.config/hub", "~/.config/tea/config.yml", "~/.smbcredentials", "~/.fetchmailrc", "~/.msmtprc",
        "~/.config/msmtp/config", "~/.Xauthority", "~/.ICEauthority", "/run/user/*/keyring/**", "**/krb5cc_*",
        "~/.config/filezilla/**", "~/.config/FileZilla/**", "~/.config/remmina/**", "~/.subversion/auth/**", "~/.putty/**", "~/.muttrc", "~/.mbsyncrc",
        "~/.config/isyncrc", "~/.config/mutt/**", "~/.config/neomutt/**", "~/.irssi/config", "~/.config/twilio-cli/**", "~/.twilio-cli/**", "~/.config/argocd/config", "~/.argocd/config",
        "~/.config/evolution/sources/**", "~/.config/act/.secrets", "~/.config/circleci/cli.yml", "~/.expo/state.json", "~/.config/openstack/**", "~/.openstack/**", "~/.ibmcloud/**",
        "~/.config/fly/config.yml", "~/.config/anthropic/**", "~/.anthropic/**", "~/.config/openai/**", "~/.openai/**", "/var/lib/tailscale/**", "/var/lib/jenkins/credentials.xml",
        "/var/lib/jenkins/secrets/**", "~/.jenkins/secrets/**",
    ]),
    row(Scope::Secret, "logins of package registries", &[
        "~/.npmrc", "~/.yarnrc.yml", "**/.pypirc", "~/.config/pypoetry/auth.toml", "~/.cargo/credentials",
        "~/.cargo/credentials.toml", "~/.gem/credentials", "~/.local/share/gem/credentials", "~/.bundle/config",
        "~/.composer/auth.json", "~/.config/composer/auth.json", "~/.m2/settings.xml", "~/.m2/settings-security.xml",
        "~/.gradle/gradle.properties", "~/.nuget/NuGet/NuGet.Config", "~/.config/NuGet/NuGet.Config", "~/.hex/hex.config",
        "~/.pub-cache/credentials.json", "~/.config/dart/pub-credentials.json",
    ]),
    row(Scope::Secret, "container and cluster credentials", &[
        "~/.docker/config.json", "**/.dockercfg", "~/.config/containers/auth.json", "/run/containers/*/auth.json",
        "/run/user/*/containers/auth.json", "~/.config/helm/registry/config.json", "~/.kube/config", "~/.kube/configs/**",
        "/etc/kubernetes/*.conf", "/etc/kubernetes/pki/**", "/etc/rancher/k3s/k3s.yaml", "/run/secrets/**",
        "/var/run/secrets/**",
    ]),
    row(Scope::Secret, "GnuPG keys", &["**/.gnupg/**"]).except(&[
        "**/.gnupg/gpg.conf", "**/.gnupg/gpg-agent.conf", "**/.gnupg/dirmngr.conf", "**/.gnupg/pubring.*",
    ]),
    row(Scope::Secret, "password stores and key chains", &[
        "~/.password-store/**", "~/.local/share/gopass/**", "~/.local/share/password-store/**", "~/.local/share/keyrings/**",
        "~/.local/share/kwalletd/**", "~/.config/Bitwarden/**", "~/.config/Bitwarden CLI/**", "~/.config/op/**",
        "~/.config/1Password/**", "~/.1password/**", "~/.lastpass/**", "~/Library/Keychains/**", "/Library/Keychains/**",
        "/System/Library/Keychains/**", "~/AppData/Local/Microsoft/Credentials/**", "~/AppData/Roaming/Microsoft/Credentials/**",
        "~/AppData/Roaming/Microsoft/Protect/**", "~/.age/**",
    ]),
    row(Scope::Secret, "profiles of browsers, mail and chat programs", &[
        "~/.mozilla/**", "~/.thunderbird/**", "~/.config/google-chrome/**", "~/.config/google-chrome-beta/**",
        "~/.config/chromium/**", "~/.config/BraveSoftware/**", "~/.config/microsoft-edge/**", "~/.config/vivaldi/**",
        "~/.config/opera/**", "~/snap/firefox/**", "~/snap/chromium/**", "~/.var/app/org.mozilla.firefox/**",
        "~/.var/app/com.google.Chrome/**", "~/Library/Application Support/Google/Chrome/**",
        "~/Library/Application Support/Chromium/**", "~/Library/Application Support/Firefox/**",
        "~/Library/Application Support/BraveSoftware/**", "~/Library/Application Support/Microsoft Edge/**",
        "~/Library/Safari/**", "~/Library/Cookies/**", "~/Library/Mail/**", "~/Library/Messages/**",
        "~/AppData/Local/Google/Chrome/User Data/**", "~/AppData/Local/Microsoft/Edge/User Data/**",
        "~/AppData/Roaming/Mozilla/Firefox/**", "**/cookies.sqlite", "**/logins.json", "**/key4.db", "**/Login Data",
        "~/.config/Slack/**", "~/.config/Signal/**", "~/.config/discord/**", "~/.config/Element/**", "~/.config/Microsoft/Microsoft Teams/**",
        "~/.local/share/TelegramDesktop/**", "~/Library/Application Support/Slack/**", "~/Library/Application Support/Signal/**",
        "~/Library/Application Support/discord/**", "~/Library/Group Containers/*/Telegram/**",
    ]),
    row(Scope::Secret, "wallets", &[
        "~/.bitcoin/**", "~/.litecoin/**", "~/.ethereum/keystore/**", "~/.electrum/wallets/**", "~/.config/solana/id.json",
        "~/.monero/**", "**/wallet.dat",
    ]),
    row(Scope::Secret, "shell history", &[
        "~/.bash_history", "~/.zsh_history", "~/.zhistory", "~/.histfile", "~/.sh_history", "~/.ash_history", "~/.history",
        "~/.local/share/fish/fish_history", "~/.local/share/atuin/**", "~/.python_history", "~/.node_repl_history",
        "~/.psql_history", "~/.mysql_history", "~/.sqlite_history", "~/.rediscli_history", "~/.dbshell", "~/.irb_history",
        "~/.local/share/powershell/PSReadLine/**", "~/.zsh_sessions/**", "~/.bash_sessions/**",
    ]),
    row(Scope::Secret, "logins of other agents", &[
        "~/.config/github-copilot/**", "~/.local/share/opencode/auth.json", "~/.local/share/opencode/mcp-auth.json",
        "~/.config/goose/secrets.yaml",
        "~/.local/share/amp/secrets.json", "**/.factory/auth.json", "~/.config/cursor/auth.json",
        "~/.aider/oauth-keys.env", "~/.config/llm/keys.json", "~/.config/io.datasette.llm/keys.json",
    ]),
    row(Scope::Secret, "password files of the system", &[
        "/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/master.passwd", "/etc/security/opasswd",
        "/etc/krb5.keytab", "/etc/NetworkManager/system-connections/**", "/etc/wireguard/**", "/etc/openvpn/**",
        "/etc/wpa_supplicant/**", "/etc/sssd/sssd.conf", "/etc/*creds", "/etc/ppp/chap-secrets", "/etc/ppp/pap-secrets", "/etc/ipsec.secrets", "/var/db/dslocal/**",
        "/var/lib/sss/secrets/**", "/etc/credstore/**", "/etc/credstore.encrypted/**", "/C:/Windows/System32/config/**",
    ]),
    row(Scope::Secret, "memory and environment of processes", &[
        "**/environ", "/proc/*/mem", "/proc/*/task/*/mem", "/proc/kcore", "/proc/kmem",
        "/dev/mem", "/dev/kmem", "/dev/port",
    ]),

    row(Scope::Agent, "configuration of Cursor", &[
        "**/.cursor/**", "/etc/cursor/**", "/Library/Application Support/Cursor/**", "/C:/ProgramData/Cursor/**",
        "~/.config/Cursor/User/**", "~/Library/Application Support/Cursor/User/**",
    ]).except(&["**/.cursor/rules/**", "~/.cursor/projects/**", "~/.cursor/worktrees/**"]),
    row(Scope::Agent, "configuration of Copilot", &[
        "~/.copilot/**", "**/.github/hooks/**", "**/.github/copilot/**", "/etc/github-copilot/**",
        "/C:/ProgramData/GitHub/Copilot/**",
    ]).except(&["~/.copilot/logs/**", "~/.copilot/session-state/**"]),
    row(Scope::Agent, "configuration of OpenCode", &[
        "**/opencode.json", "**/opencode.jsonc", "**/.opencode/**", "~/.config/opencode/**", "/etc/opencode/**",
    ]),
    row(Scope::Agent, "configuration of other agents", &[
        "**/.windsurf/hooks.json", "~/.codeium/windsurf/**", "/etc/windsurf/**", "/Library/Application Support/Windsurf/**",
        "**/.clinerules/hooks/**", "**/.cline/hooks/**", "~/.cline/**", "~/Documents/Cline/Hooks/**", "**/.amp/**",
        "~/.config/amp/**", "**/.factory/**", "**/.kiro/hooks/**", "**/.kiro/settings/**", "~/.kiro/**",
        "**/.continue/**", "**/.agents/plugins/**", "~/.config/goose/**", "**/.aider.conf.yml", "**/.vscode/mcp.json",
        "**/.roo/mcp.json",
    ]),

    row(Scope::Startup, "files that a user's shells read", &[
        "~/.bashrc", "~/.bash_profile", "~/.bash_login", "~/.bash_logout", "~/.bash_aliases", "~/.bash_completion",
        "~/.bashrc.d/**", "~/.profile", "~/.zshenv", "~/.zshrc", "~/.zprofile", "~/.zlogin", "~/.zlogout", "~/.zshrc.d/**",
        "~/.oh-my-zsh/**", "~/.config/zsh/**", "~/.config/fish/**", "~/.config/nushell/**", "~/.config/elvish/**",
        "~/.config/powershell/**", "~/.kshrc", "~/.mkshrc", "~/.shrc", "~/.shinit", "~/.cshrc", "~/.tcshrc", "~/.login",
        "~/.logout", "~/.xonshrc", "~/.xprofile", "~/.xinitrc", "~/.xsession", "~/.xsessionrc", "~/.pam_environment",
        "~/.config/environment.d/**", "~/.local/share/bash-completion/**", "~/.config/starship.toml",
    ]),
    row(Scope::Startup, "files that every shell reads", &[
        "/etc/profile", "/etc/profile.d/**", "/etc/bash.bashrc", "/etc/bash.bash_logout", "/etc/bashrc",
        "/etc/bash_completion.d/**", "/usr/share/bash-completion/**", "/etc/zsh/**", "/etc/zshenv", "/etc/zshrc", "/etc/zprofile",
        "/etc/zlogin", "/etc/fish/**", "/etc/csh.cshrc", "/etc/csh.login", "/etc/ksh.kshrc", "/etc/environment",
        "/etc/environment.d/**", "/etc/skel/**",
    ]),

    row(Scope::Hijack, PROGRAMS, &[
        "~/bin/**", "~/.bin/**", "~/.local/bin/**", "~/.cargo/bin/**", "~/go/bin/**", "~/.npm-global/bin/**", "~/.bun/bin/**",
        "~/.deno/bin/**", "~/.yarn/bin/**", "~/.krew/bin/**", "~/.volta/bin/**", "~/.local/share/pnpm/**", "~/.nix-profile/**",
        "~/.rustup/toolchains/*/bin/**", "~/.nvm/versions/*/*/bin/**", "~/.sdkman/candidates/*/*/bin/**", "~/.pyenv/shims/**", "~/.rbenv/shims/**", "~/.asdf/shims/**", "~/.local/share/mise/shims/**",
        "/bin/**", "/sbin/**", "/usr/bin/**", "/usr/sbin/**", "/usr/local/bin/**", "/usr/local/sbin/**",
        "/opt/homebrew/bin/**", "/snap/bin/**", "**/node_modules/.bin/**", "**/.venv/bin/**", "**/venv/bin/**",
        "/etc/alternatives/**",
    ]),
    row(Scope::Hijack, "configuration and hooks of git", &[
        "~/.gitconfig", "~/.config/git/**", "/etc/gitconfig", "**/.git/config", "**/.git/config.worktree", "**/.git/hooks/**",
        "**/.git/info/attributes", "**/.git/modules/*/config", "**/.git/modules/*/hooks/**", "**/.git/worktrees/*/config.worktree",
        "**/*.git/hooks/**", "**/*.git/config", "~/.git-templates/**", "/usr/share/git-core/templates/**", "**/.githooks/**",
        "**/git-hooks/**", "**/.husky/**", "**/.pre-commit-config.yaml", "**/lefthook.yml", "**/.lefthook.yml",
        "**/.hg/hgrc", "~/.hgrc", "~/.config/jj/**",
    ]),
    row(Scope::Hijack, "configuration of SSH", &[
        "**/.ssh/config", "**/.ssh/config.d/**", "**/.ssh/authorized_keys*", "**/.ssh/rc", "**/.ssh/environment", "/etc/ssh/**",
    ]),
    row(Scope::Hijack, "configuration of package managers and compilers", &[
        "**/.npmrc", "/etc/npmrc", "**/.yarnrc", "**/.yarnrc.yml", "**/.pnpmfile.cjs", "**/.yarn/releases/**",
        "**/.yarn/plugins/**", "**/bunfig.toml", "**/.bunfig.toml", "~/.config/pnpm/**", "~/.sbt/**", "~/.clojure/**", "~/.lein/**", "**/.cargo/config", "**/.cargo/config.toml", "**/pip.conf", "**/pip.ini",
        "~/.config/uv/**", "~/.config/pypoetry/**", "~/.pydistutils.cfg", "**/.condarc", "**/.gemrc", "**/.bundle/config",
        "~/.gradle/init.gradle", "~/.gradle/init.d/**", "**/.mvn/**", "~/.config/go/env", "/etc/apt/**", "/etc/yum.repos.d/**",
        "/etc/dnf/**", "/etc/pacman.conf", "/etc/pacman.d/**", "/etc/apk/**", "~/.config/nix/**", "/etc/nix/**", "~/.nixpkgs/**",
    ]),
    row(Scope::Hijack, "code that interpreters load by themselves", &[
        "**/sitecustomize.py", "**/usercustomize.py", "~/.local/lib/python*/site-packages/**", "**/site-packages/*.pth", "**/dist-packages/*.pth", "~/.pythonrc",
        "~/.pythonrc.py", "**/.pdbrc", "~/.ipython/**", "**/.Rprofile", "**/.Renviron", "~/.irbrc", "~/.pryrc", "~/.perldb",
        "**/.node_repl_init.js", "**/.ocamlinit", "~/.julia/config/**", "~/.octaverc", "~/.sbclrc", "~/.guile", "~/.iex.exs", "~/.erlang", "~/.jupyter/**", "**/.ghci", "~/.ghc/**", "**/.rspec",
    ]),
    row(Scope::Hijack, "files that directory and version tools run", &[
        "**/.envrc", "~/.config/direnv/**", "**/.mise.toml", "**/mise.toml", "**/.mise/**", "~/.config/mise/**", "~/.asdfrc",
        "**/.autoenv.zsh",
    ]),
    row(Scope::Hijack, "configuration of editors", &[
        "**/.vscode/tasks.json", "**/.vscode/settings.json", "**/.vscode/launch.json", "**/.vscode/extensions.json",
        "**/*.code-workspace", "**/.idea/**", "**/.devcontainer/**", "**/.devcontainer.json", "**/.zed/**", "**/.helix/**",
        "**/.gitpod.yml", "**/.idx/**", "**/*.sublime-project", "~/.config/zed/**",
        "~/.config/Code/User/**", "~/Library/Application Support/Code/User/**", "~/.vscode/extensions/**",
        "~/.vscode-server/**", "**/.vimrc", "**/.exrc", "**/.nvimrc", "**/.nvim.lua", "~/.vim/**", "~/.config/nvim", "~/.config/nvim/**", "~/.config/psysh/**", "~/.config/karabiner/**",
        "~/.emacs", "~/.emacs.d/**", "~/.config/emacs/**", "**/.dir-locals.el", "~/.nanorc", "~/.config/helix/**",
    ]),
    row(Scope::Hijack, "configuration that makes tools run commands", &[
        "**/.gdbinit", "**/.lldbinit", "~/.tmux.conf", "~/.config/tmux/**", "~/.screenrc", "~/.lessfilter", "~/.lesskey",
        "~/.config/lesskey", "~/.psqlrc", "~/.sqliterc", "~/.mongoshrc.js", "~/.mongorc.js", "~/.duckdbrc", "**/.ackrc", "~/.parallel/**",
        "~/.gdbearlyinit", "~/.config/gdb/**", "~/.terraform.d/plugins/**", "~/.ansible/plugins/**", "~/.vagrant.d/**",
        "~/.local/share/gh/extensions/**", "~/.local/share/helm/plugins/**", "~/.muttrc", "~/.procmailrc", "~/.forward",
        "~/.config/kitty/**", "~/.config/alacritty/**", "~/.wezterm.lua", "~/.config/wezterm/**", "~/.hammerspoon/**", "~/.xbindkeysrc",
        "~/.config/sway/**", "~/.config/i3/**", "~/.i3/**", "~/.config/hypr/**", "~/.curlrc", "~/.config/curlrc", "~/.wgetrc", "~/.mailrc", "~/.mailcap",
        "~/.aws/config", "~/.aws/cli/alias", "~/.config/gh/config.yml", "~/.docker/cli-plugins/**", "~/.gnupg/gpg-agent.conf",
        "~/.gnupg/gpg.conf", "~/.ansible.cfg", "**/ansible.cfg", "~/.config/pulse/**", "~/.inputrc", "/etc/inputrc",
        "/etc/wgetrc", "/etc/mailcap", "~/.config/containers/containers.conf", "/etc/docker/daemon.json", "~/.docker/daemon.json",
    ]),
    row(Scope::Hijack, "what runs later or at login", &[
        "/etc/crontab", "/etc/anacrontab", "/etc/cron.d/**", "/etc/cron.hourly/**", "/etc/cron.daily/**", "/etc/cron.weekly/**",
        "/etc/cron.monthly/**", "/var/spool/cron/**", "/var/spool/at/**", "/var/spool/atjobs/**", "/var/at/**",
        "~/.config/systemd/**", "~/.local/share/systemd/**", "/etc/systemd/**", "/etc/NetworkManager/dispatcher.d/**", "/etc/network/if-up.d/**", "/etc/acpi/events/**", "/usr/lib/systemd/**", "/lib/systemd/**",
        "/run/systemd/system/**", "/etc/init.d/**", "/etc/rc.local", "/etc/inittab", "/etc/init/**", "/etc/update-motd.d/**",
        "~/Library/LaunchAgents/**", "/Library/LaunchAgents/**", "/Library/LaunchDaemons/**", "/Library/StartupItems/**",
        "~/.config/autostart/**", "/etc/xdg/autostart/**", "~/.config/autostart-scripts/**", "~/.local/share/applications/**",
        "~/.local/share/dbus-1/services/**", "~/.config/plasma-workspace/env/**", "/etc/udev/rules.d/**",
        "~/AppData/Roaming/Microsoft/Windows/Start Menu/Programs/Startup/**",
    ]),
    row(Scope::Hijack, "what decides rights and loaded code", &[
        "/etc/ld.so.preload", "/etc/ld.so.conf", "/etc/ld.so.conf.d/**", "/etc/ld.so.cache", "/etc/sudoers", "/etc/sudoers.d/**",
        "/etc/sudo.conf", "/etc/doas.conf", "/etc/pam.d/**", "/etc/pam.conf", "/etc/security/**", "/etc/polkit-1/**",
        "/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/modprobe.d/**", "/etc/modules-load.d/**", "/lib/modules/**",
        "/usr/lib/modules/**", "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/etc/binfmt.d/**",
        "/etc/shells", "/etc/subuid", "/etc/subgid", "/etc/apparmor.d/**", "/etc/selinux/**",
    ]),
    row(Scope::Hijack, "sockets that give control", &[
        "/run/docker.sock", "/var/run/docker.sock", "~/.docker/run/docker.sock", "/run/containerd/**", "/var/run/containerd/**",
        "/run/podman/**", "/run/user/*/podman/**", "/run/user/*/docker.sock", "/run/user/*/bus", "/run/user/*/systemd/**",
        "/run/systemd/private", "/run/dbus/system_bus_socket", "/tmp/tmux-*/*", "/run/screen/**", "/tmp/ssh-*/*",
    ]),

    row(Scope::Vcs, "metadata of version control", &[
        "**/.git/**", "**/.hg/**", "**/.svn/**", "**/.jj/**", "**/.bzr/**", "**/_darcs/**", "**/.pijul/**", "**/CVS/**",
    ]),

    row(Scope::Device, "devices", &["/dev/**"]).except(&[
        "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/stdin", "/dev/stdout",
        "/dev/stderr", "/dev/fd/**", "/dev/shm/**",
    ]),
    row(Scope::Device, "files of the kernel that change it", &[
        "/proc/sys/**", "/proc/sysrq-trigger", "/proc/acpi/**", "/proc/bus/**", "/proc/irq/**", "/sys/**",
    ]),
    row(Scope::Network, "network mounts", &["/net/**", "/afs/**", "/run/user/*/gvfs/**", "~/.gvfs/**", "~/.cache/gvfs/**"]),
    row(Scope::Temporary, "directories for temporary files", &[
        "/tmp/**", "/var/tmp/**", "/dev/shm/**", "/var/folders/**", "~/AppData/Local/Temp/**", "/C:/Windows/Temp/**",
    ]),
    row(Scope::Temporary, "devices that keep nothing", &[
        "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/stdin", "/dev/stdout",
        "/dev/stderr", "/dev/fd/**", "/proc/self/fd/**",
    ]),
    row(Scope::System, "files of the operating system", &[
        "/etc/**", "/usr/**", "/bin/**", "/sbin/**", "/lib/**", "/lib32/**", "/lib64/**", "/libx32/**", "/boot/**", "/efi/**",
        "/var/**", "/opt/**", "/srv/**", "/run/**", "/proc/**", "/nix/**", "/snap/**", "/lost+found/**", "/root/**",
        "/Library/**", "/System/**", "/Applications/**", "/private/**", "/cores/**", "/C:/Windows/**", "/C:/Program Files/**",
        "/C:/Program Files (x86)/**", "/C:/ProgramData/**",
    ]),
    row(Scope::System, "directories that hold homes and mounts", &[
        "/home", "/Users", "/Volumes", "/mnt", "/media", "/C:/Users", "/var/home", "/export", "/export/home",
    ]),
];
