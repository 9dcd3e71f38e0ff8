//! Writes to files of the workspace that make others act: git's hooks, the agent's settings, castellan's own rules.

use std::path::Path;

use super::{Attack, Evidence, Run, append};
use crate::outcome::{At, Attempt};
use crate::sys::{self, Arg};
use crate::targets::Targets;

pub(super) const ATTACKS: &[Attack] = &[
    Attack {
        name: "write-git-hook",
        says: "Makes a git hook, which runs outside at the user's next commit.",
        evidence: Evidence::Changed,
        run: Run::Append("work", ".git/hooks/pre-commit"),
    },
    Attack {
        name: "write-git-config",
        says: "Appends to the repository's configuration, which can name programs to run.",
        evidence: Evidence::Changed,
        run: Run::Append("work", ".git/config"),
    },
    Attack {
        name: "rename-git-away",
        says: "Renames `.git` away and makes another one with a hook.",
        evidence: Evidence::Changed,
        run: Run::Do(|targets| replace(targets, ".git", "hooks/pre-commit")),
    },
    Attack {
        name: "replace-git-hooks",
        says: "Renames `.git/hooks` away and makes another one with a hook.",
        evidence: Evidence::Changed,
        run: Run::Do(|targets| replace(targets, ".git/hooks", "pre-commit")),
    },
    Attack {
        name: "exchange-git-hooks",
        says: "Exchanges `.git/hooks` with a folder of its own in one step.",
        evidence: Evidence::Changed,
        run: Run::Do(|targets| {
            let own = targets.below("work", "own-hooks")?;
            std::fs::create_dir(&own).at("make a folder in the workspace")?;
            append(own.join("pre-commit"))?;
            let (own, hooks) =
                (sys::c_path(own).at("path")?, sys::c_path(targets.below("work", ".git/hooks")?).at("path")?);
            let here = Arg::Int(libc::AT_FDCWD.into());
            let exchange = Arg::Int(libc::RENAME_EXCHANGE.into());
            sys::call(
                libc::SYS_renameat2,
                &mut [here, Arg::Text(&own), Arg::Int(libc::AT_FDCWD.into()), Arg::Text(&hooks), exchange],
            )
            .at("renameat2")?;
            Ok("exchanged".to_owned())
        }),
    },
    Attack {
        name: "hardlink-git-config",
        says: "Writes the repository's configuration through a hard link with an innocent name.",
        evidence: Evidence::Changed,
        run: Run::Do(|targets| {
            let link = targets.below("work", "innocent")?;
            std::fs::hard_link(targets.below("work", ".git/config")?, &link).at("link")?;
            append(link)
        }),
    },
    Attack {
        name: "symlink-git-hooks",
        says: "Writes a hook through a symbolic link with an innocent name.",
        evidence: Evidence::Changed,
        run: Run::Do(|targets| {
            let link = targets.below("work", "innocent")?;
            std::os::unix::fs::symlink(".git/hooks", &link).at("symlink")?;
            append(link.join("pre-commit"))
        }),
    },
    Attack {
        name: "delete-git-hooks",
        says: "Removes the sample hook and the folder of hooks.",
        evidence: Evidence::Changed,
        run: Run::Do(|targets| {
            std::fs::remove_dir_all(targets.below("work", ".git/hooks")?).at("remove")?;
            Ok("removed".to_owned())
        }),
    },
    Attack {
        name: "write-agent-settings",
        says: "Appends to the agent's settings of the project, which can switch hooks off.",
        evidence: Evidence::Changed,
        run: Run::Append("work", ".claude/settings.json"),
    },
    Attack {
        name: "create-agent-settings",
        says: "Makes settings of an agent that has none in this project yet.",
        evidence: Evidence::Changed,
        run: Run::Do(|targets| {
            let folder = targets.below("work", ".codex")?;
            std::fs::create_dir(&folder).at("make the folder")?;
            append(folder.join("config.toml"))
        }),
    },
    Attack {
        name: "replace-agent-folder",
        says: "Renames the agent's folder of the project away and makes another one.",
        evidence: Evidence::Changed,
        run: Run::Do(|targets| replace(targets, ".claude", "settings.json")),
    },
    Attack {
        name: "write-castellan-rules",
        says: "Appends to castellan's own settings of the project.",
        evidence: Evidence::Changed,
        run: Run::Append("work", ".castellan/config.toml"),
    },
    Attack {
        name: "replace-castellan-folder",
        says: "Renames castellan's folder of the project away and makes another one.",
        evidence: Evidence::Changed,
        run: Run::Do(|targets| replace(targets, ".castellan", "config.toml")),
    },
    Attack {
        name: "replace-workspace",
        says: "Renames the whole workspace away and makes another one without protected files.",
        evidence: Evidence::Changed,
        run: Run::Do(|targets| {
            let work = targets.below("work", "")?;
            let away = targets.below("outside", "work")?;
            std::fs::rename(&work, &away).at("rename")?;
            std::fs::create_dir_all(work.join(".git/hooks")).at("make the folder")?;
            append(work.join(".git/hooks/pre-commit"))
        }),
    },
];

/// Renames a protected folder away and makes one in its place with an own file.
fn replace(targets: &Targets, folder: &str, file: &str) -> Attempt {
    let folder = targets.below("work", folder)?;
    std::fs::rename(&folder, targets.below("work", "away")?).at("rename")?;
    let file = folder.join(file);
    std::fs::create_dir_all(file.parent().unwrap_or(Path::new("/"))).at("make the folder")?;
    append(file)
}
