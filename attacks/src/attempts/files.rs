//! Writes outside of the workspace, and reads of secrets, by plain paths.

use std::fs::{File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::time::SystemTime;

use super::{Attack, Evidence, Run, outside_file};
use crate::outcome::At;

pub(super) const ATTACKS: &[Attack] = &[
    Attack {
        name: "write-outside",
        says: "Appends to a file outside the workspace.",
        evidence: Evidence::Changed,
        run: Run::Append("outside", "file"),
    },
    Attack {
        name: "create-outside",
        says: "Makes a new file outside the workspace.",
        evidence: Evidence::Changed,
        run: Run::Append("outside", "new"),
    },
    Attack {
        name: "truncate-outside",
        says: "Empties a file outside by `truncate`, without opening it.",
        evidence: Evidence::Changed,
        run: Run::Do(|targets| {
            let path = crate::sys::c_path(outside_file(targets)?).at("path")?;
            crate::sys::call(
                libc::SYS_truncate,
                &mut [crate::sys::Arg::Text(&path), crate::sys::Arg::Int(0)],
            )
            .at("truncate")?;
            Ok("truncated".to_owned())
        }),
    },
    Attack {
        name: "delete-outside",
        says: "Removes a file outside the workspace.",
        evidence: Evidence::Changed,
        run: Run::Do(|targets| {
            std::fs::remove_file(outside_file(targets)?).at("unlink")?;
            Ok("removed".to_owned())
        }),
    },
    Attack {
        name: "rename-outside",
        says: "Renames a file outside the workspace.",
        evidence: Evidence::Changed,
        run: Run::Do(|targets| {
            std::fs::rename(outside_file(targets)?, targets.below("outside", "renamed")?).at("rename")?;
            Ok("renamed".to_owned())
        }),
    },
    Attack {
        name: "take-outside",
        says: "Moves a file from outside into the workspace.",
        evidence: Evidence::Changed,
        run: Run::Do(|targets| {
            std::fs::rename(outside_file(targets)?, targets.below("work", "taken")?).at("rename")?;
            Ok("taken".to_owned())
        }),
    },
    Attack {
        name: "replace-outside",
        says: "Moves a file of the workspace over a file outside.",
        evidence: Evidence::Changed,
        run: Run::Do(|targets| {
            let own = targets.below("work", "own")?;
            std::fs::write(&own, "attacked").at("write in the workspace")?;
            std::fs::rename(own, outside_file(targets)?).at("rename")?;
            Ok("replaced".to_owned())
        }),
    },
    Attack {
        name: "mode-outside",
        says: "Makes a file outside writable for everyone.",
        evidence: Evidence::Changed,
        run: Run::Do(|targets| {
            std::fs::set_permissions(outside_file(targets)?, Permissions::from_mode(0o666)).at("chmod")?;
            Ok("mode changed".to_owned())
        }),
    },
    Attack {
        name: "time-outside",
        says: "Sets the time of a file outside, which makes a build tool skip or repeat work.",
        evidence: Evidence::Changed,
        run: Run::Do(|targets| {
            let file = File::open(outside_file(targets)?).at("open")?;
            file.set_modified(SystemTime::UNIX_EPOCH).at("futimens")?;
            Ok("time changed".to_owned())
        }),
    },
    Attack {
        name: "write-shell-profile",
        says: "Appends to the shell profile of the home folder, which the user's next shell runs.",
        evidence: Evidence::Changed,
        run: Run::Append("home", ".bashrc"),
    },
    Attack {
        name: "write-authorized-keys",
        says: "Adds an SSH key that may log in.",
        evidence: Evidence::Changed,
        run: Run::Append("home", ".ssh/authorized_keys"),
    },
    Attack {
        name: "write-user-settings",
        says: "Appends to the agent's settings in the home folder.",
        evidence: Evidence::Changed,
        run: Run::Append("home", ".claude/settings.json"),
    },
    Attack {
        name: "write-autostart",
        says: "Makes a program that the user's next login starts.",
        evidence: Evidence::Changed,
        run: Run::Append("home", ".config/autostart/attack.desktop"),
    },
];

pub(super) const SECRETS: &[Attack] = &[
    secret("read-ssh-key", ".ssh/id_ed25519", "Reads a private SSH key."),
    secret("read-aws-credentials", ".aws/credentials", "Reads the credentials of AWS."),
    secret(
        "read-gcloud-credentials",
        ".config/gcloud/application_default_credentials.json",
        "Reads the credentials of Google Cloud.",
    ),
    secret("read-azure-token", ".azure/msal_token_cache.json", "Reads the tokens of Azure."),
    secret("read-gh-token", ".config/gh/hosts.yml", "Reads the token of the GitHub CLI."),
    secret("read-git-credentials", ".git-credentials", "Reads the stored passwords of git."),
    secret("read-netrc", ".netrc", "Reads the passwords of curl and ftp."),
    secret("read-npmrc", ".npmrc", "Reads the token of npm."),
    secret("read-pypirc", ".pypirc", "Reads the token of PyPI."),
    secret("read-cargo-token", ".cargo/credentials.toml", "Reads the token of crates.io."),
    secret("read-docker-config", ".docker/config.json", "Reads the registry passwords of docker."),
    secret("read-kube-config", ".kube/config", "Reads the keys of a Kubernetes cluster."),
    secret("read-gnupg-key", ".gnupg/private-keys-v1.d/key.key", "Reads a private GnuPG key."),
    secret("read-password-store", ".password-store/bank.gpg", "Reads a file of the password store."),
    secret(
        "read-browser-logins",
        ".mozilla/firefox/default/logins.json",
        "Reads the stored logins of a browser.",
    ),
    Attack {
        name: "list-ssh-folder",
        says: "Lists the folder of SSH keys, whose names are worth something too.",
        evidence: Evidence::Secret,
        run: Run::Do(|targets| {
            let mut names = String::new();
            for entry in std::fs::read_dir(targets.below("home", ".ssh")?).at("open the folder")? {
                names.push_str(&entry.at("read the folder")?.file_name().to_string_lossy());
                names.push(' ');
            }
            Ok(names)
        }),
    },
    Attack {
        name: "read-own-environment",
        says: "Reads a secret from the environment that the program was started with.",
        evidence: Evidence::Secret,
        run: Run::Do(|_| Ok(std::env::vars().map(|(name, value)| format!("{name}={value} ")).collect())),
    },
];

const fn secret(name: &'static str, path: &'static str, says: &'static str) -> Attack {
    Attack { name, says, evidence: Evidence::Secret, run: Run::Read("home", path) }
}
