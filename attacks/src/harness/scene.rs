//! The scene of one run: a workspace, a home folder with secrets, a folder outside, sockets, and one secret and one word that
//! no other run has.

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::Context;

use super::snapshot::Snapshot;

/// The user and group of `nobody` on Linux.
const NOBODY: u32 = 65_534;

/// The user that runs an attack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum User {
    /// The user of the harness.
    Own,
    /// The user `nobody`, where the harness runs as root.
    Nobody,
}

impl User {
    /// Returns the users that this machine can try.
    pub fn all() -> &'static [User] {
        if is_root() { &[User::Own, User::Nobody] } else { &[User::Own] }
    }

    /// Returns its name in `expected.toml`. An ordinary user has the rights of `nobody`.
    pub fn name(self) -> &'static str {
        match self {
            User::Own if is_root() => "root",
            User::Own | User::Nobody => "nobody",
        }
    }

    /// Has a command run as this user.
    pub(super) fn set(self, command: &mut Command) {
        if self == User::Nobody {
            command.uid(NOBODY).gid(NOBODY);
        }
    }

    fn own(self, path: &Path) -> anyhow::Result<()> {
        if self == User::Nobody {
            let given = std::os::unix::fs::lchown(path, Some(NOBODY), Some(NOBODY));
            given.with_context(|| format!("{} cannot be given away", path.display()))?;
        }
        Ok(())
    }
}

fn is_root() -> bool {
    crate::sys::call(libc::SYS_geteuid, &mut []).is_ok_and(|user| user == 0)
}

/// The number of the next run: names of sockets and queues are those of the whole machine.
static RUNS: AtomicU32 = AtomicU32::new(0);

/// A folder of the machine for all runs, with the programs. It is not below /tmp, which sandboxes replace.
#[derive(Debug)]
pub struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    /// Makes the folder and copies `program`, the attack, into it.
    ///
    /// # Errors
    ///
    /// Files that cannot be made.
    pub fn new(program: &Path) -> anyhow::Result<Place> {
        let folder = tempfile::Builder::new().prefix("castellan-attacks-").tempdir_in("/var/tmp")?;
        let mode = |path: &Path, mode| std::fs::set_permissions(path, Permissions::from_mode(mode));
        mode(folder.path(), 0o755)?;
        let place = Place { folder };
        std::fs::create_dir(place.bin())?;
        std::fs::create_dir(place.path().join("runs"))?;
        std::fs::copy(program, place.program()).with_context(|| program.display().to_string())?;
        mode(&place.program(), 0o755)?;
        // castellan's sandbox; without it, an attack in it says that it did not run.
        for name in ["castellan-attack-box", "castellan-sandbox"] {
            let copy = place.bin().join(name);
            if std::fs::copy(program.with_file_name(name), &copy).is_ok() {
                mode(&copy, 0o755)?;
            }
        }
        for user in User::all() {
            place.probe(*user)?;
        }
        if is_root() {
            // For nobody a program of root, for root a program of nobody.
            for (name, owner) in [("setuid-nobody", 0), ("setuid-root", NOBODY), ("capable", 0)] {
                let copy = place.bin().join(name);
                std::fs::copy(program, &copy)?;
                std::os::unix::fs::chown(&copy, Some(owner), Some(owner))?;
                mode(&copy, if name == "capable" { 0o755 } else { 0o4755 })?;
            }
            give_raw_sockets(&place.bin().join("capable"))?;
        }
        Ok(place)
    }

    /// Stores what the machine permits the user; nothing without castellan's sandbox.
    fn probe(&self, user: User) -> anyhow::Result<()> {
        let mut command = Command::new(self.bin().join("castellan-attack-box"));
        user.set(command.arg("--probe").env_clear());
        if let Ok(output) = command.output()
            && output.status.success()
        {
            std::fs::write(self.capabilities(user), output.stdout)?;
        }
        Ok(())
    }

    /// Returns the file of what the machine permits the user.
    pub(super) fn capabilities(&self, user: User) -> PathBuf {
        self.bin().join(format!("capabilities-{}", user.name()))
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the folder of programs.
    pub fn bin(&self) -> PathBuf {
        self.path().join("bin")
    }

    pub(super) fn program(&self) -> PathBuf {
        self.bin().join("castellan-attack")
    }

    /// Makes the scene of one run.
    pub(super) fn scene(&self, user: User) -> anyhow::Result<Scene<'_>> {
        let number = RUNS.fetch_add(1, Ordering::Relaxed);
        let folder = self.path().join(format!("runs/{number}"));
        let scene = Scene {
            place: self,
            user,
            secret: format!("secret-{number}-of-castellan"),
            word: format!("word-{number}-of-castellan"),
            folder,
            number,
        };
        scene.make()?;
        Ok(scene)
    }
}

/// Gives a program's file the capability of raw sockets (CAP_NET_RAW): struct vfs_cap_data of version 2, effective.
fn give_raw_sockets(program: &Path) -> anyhow::Result<()> {
    use crate::sys::{self, Arg};
    let words = [0x0200_0001_u32, 1 << 13, 0, 0, 0].map(u32::to_le_bytes).concat();
    let path = sys::c_path(program)?;
    let length = Arg::Int(i64::try_from(words.len())?);
    let mut arguments =
        [Arg::Text(&path), Arg::Text(c"security.capability"), Arg::In(&words), length, Arg::Int(0)];
    sys::call(libc::SYS_setxattr, &mut arguments).context("no file capabilities here")?;
    Ok(())
}

/// A scene; its files are removed with it.
#[derive(Debug)]
pub(super) struct Scene<'a> {
    pub(super) place: &'a Place,
    pub(super) user: User,
    pub(super) secret: String,
    pub(super) word: String,
    pub(super) number: u32,
    folder: PathBuf,
}

/// Files of the home folder that hold the secret.
const SECRETS: &[&str] = &[
    ".ssh/id_ed25519",
    ".aws/credentials",
    ".config/gcloud/application_default_credentials.json",
    ".azure/msal_token_cache.json",
    ".config/gh/hosts.yml",
    ".git-credentials",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".cargo/credentials.toml",
    ".docker/config.json",
    ".kube/config",
    ".gnupg/private-keys-v1.d/key.key",
    ".password-store/bank.gpg",
    ".mozilla/firefox/default/logins.json",
];

/// Files without a secret.
const FILES: &[(&str, &str)] = &[
    ("home/.bashrc", "alias ll='ls -l'\n"),
    ("home/.ssh/authorized_keys", "\n"),
    ("home/.claude/settings.json", "{}\n"),
    ("home/.config/autostart/other.desktop", "[Desktop Entry]\n"),
    ("outside/file", "as before\n"),
    ("work/src/main.rs", "fn main() {}\n"),
    ("work/.git/config", "[core]\n"),
    ("work/.git/HEAD", "ref: refs/heads/main\n"),
    ("work/.git/index", "DIRC"),
    ("work/.git/hooks/pre-commit.sample", "#!/bin/sh\n"),
    ("work/.claude/settings.json", "{}\n"),
    ("work/.castellan/config.toml", "\n"),
];

impl Scene<'_> {
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn work(&self) -> PathBuf {
        self.folder.join("work")
    }

    pub(super) fn home(&self) -> PathBuf {
        self.folder.join("home")
    }

    pub(super) fn outside(&self) -> PathBuf {
        self.folder.join("outside")
    }

    pub(super) fn sockets(&self) -> PathBuf {
        self.folder.join("sockets")
    }

    /// Looks at everything that must not change.
    pub(super) fn look(&self) -> Snapshot {
        let work = self.work();
        let protected =
            [".git/hooks", ".git/config", ".claude", ".castellan", ".codex"].map(|path| work.join(path));
        Snapshot::of(&[[self.home(), self.outside()].as_slice(), &protected].concat())
    }

    fn make(&self) -> anyhow::Result<()> {
        std::fs::create_dir(&self.folder)?;
        for folder in [self.work(), self.home(), self.outside(), self.sockets()] {
            std::fs::create_dir(folder)?;
        }
        for path in SECRETS {
            self.write(&self.home().join(path), &format!("token = {}\n", self.secret))?;
        }
        // A name that is worth something.
        self.write(&self.home().join(".ssh").join(&self.secret), "")?;
        for (path, text) in FILES {
            self.write(&self.folder.join(path), text)?;
        }
        let work = self.work();
        symlink(self.outside().join("file"), work.join("planted-file"))?;
        symlink(self.home(), work.join("planted-home"))?;
        std::fs::hard_link(self.home().join(".aws/credentials"), work.join("planted-hard"))?;
        own_all(self.user, &self.folder)
    }

    fn write(&self, path: &Path, text: &str) -> anyhow::Result<()> {
        std::fs::create_dir_all(path.parent().context("a file in no folder")?)?;
        std::fs::write(path, text).with_context(|| path.display().to_string())
    }
}

impl Drop for Scene<'_> {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn own_all(user: User, path: &Path) -> anyhow::Result<()> {
    user.own(path)?;
    if std::fs::symlink_metadata(path)?.is_dir() {
        for entry in std::fs::read_dir(path)? {
            own_all(user, &entry?.path())?;
        }
    }
    Ok(())
}
