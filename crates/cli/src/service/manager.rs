//! [`Manager`]: the service managers. The choice is made at run time by the programs on `PATH` and what they say.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::program::{self, Ran};

/// A program that keeps the daemon running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manager {
    /// systemd's manager of the user.
    Systemd,
    /// macOS's launchd.
    Launchd,
    /// castellan's own supervising process.
    Background,
}

impl Manager {
    /// Returns its name for people.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Manager::Systemd => "systemd",
            Manager::Launchd => "launchd",
            Manager::Background => "castellan's own process",
        }
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Manager::Systemd => "systemd",
            Manager::Launchd => "launchd",
            Manager::Background => "background",
        }
    }
}

/// The manager for a new service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) manager: Manager,
    /// Reasons and doubts, for people.
    pub(crate) notes: Vec<String>,
}

/// The state of systemd's manager of the user, by the word of `systemctl --user is-system-running`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Systemd {
    Usable,
    /// Usable, although units of others have failed.
    Degraded,
    /// It is there, but starts nothing now.
    Busy,
    /// There is none for this user.
    Absent,
}

fn systemd(word: &str) -> Systemd {
    match word {
        "running" | "starting" | "initializing" => Systemd::Usable,
        "degraded" => Systemd::Degraded,
        "stopping" | "maintenance" => Systemd::Busy,
        _ => Systemd::Absent,
    }
}

/// Chooses the manager of this machine and user.
pub(crate) fn choose() -> anyhow::Result<Choice> {
    let mut notes = Vec::new();
    if program::find("systemctl").is_some() {
        let ran = systemctl(&["is-system-running"])?;
        let word = ran.stdout.trim();
        match systemd(word) {
            Systemd::Usable => return Ok(Choice { manager: Manager::Systemd, notes }),
            Systemd::Degraded => {
                notes.push(
                    "systemd says `degraded`: units of others have failed (`systemctl --user --failed`)"
                        .to_owned(),
                );
                return Ok(Choice { manager: Manager::Systemd, notes });
            }
            Systemd::Busy => {
                bail!("systemd says `{word}` and starts nothing now: try again when it is `running`")
            }
            Systemd::Absent => notes.push(format!(
                "systemd has no manager for this user here, as in a container or after `su`: {}",
                ran.says()
            )),
        }
    }
    if program::find("launchctl").is_some() {
        match domain() {
            Ok(_) => return Ok(Choice { manager: Manager::Launchd, notes }),
            Err(error) => notes.push(format!("launchd is not usable here: {error:#}")),
        }
    }
    if notes.is_empty() {
        notes.push("neither systemd nor launchd is on `PATH`".to_owned());
    }
    notes.push("castellan's own process keeps the daemon running; nothing starts it at login".to_owned());
    Ok(Choice { manager: Manager::Background, notes })
}

/// Runs `systemctl --user` with these words.
pub(super) fn systemctl(words: &[&str]) -> anyhow::Result<Ran> {
    let program = program::find("systemctl").context("`systemctl` is not on `PATH`")?;
    let words = [&["--user", "--no-pager"], words].concat();
    let own = runtime_directory();
    let variables: Vec<(&str, PathBuf)> = own.map(|dir| ("XDG_RUNTIME_DIR", dir)).into_iter().collect();
    program::run(&program, &words, &variables)
}

/// Returns the directory of the user's manager where the variable is not set, as after `su` and in cron.
fn runtime_directory() -> Option<PathBuf> {
    if std::env::var_os("XDG_RUNTIME_DIR").is_some() {
        return None;
    }
    let dir = Path::new("/run/user").join(rustix::process::getuid().as_raw().to_string());
    dir.is_dir().then_some(dir)
}

/// Runs `launchctl` with these words.
pub(super) fn launchctl(words: &[&str]) -> anyhow::Result<Ran> {
    let program = program::find("launchctl").context("`launchctl` is not on `PATH`")?;
    program::run(&program, words, &[])
}

/// Returns the launchd domain of the user: that of the desktop, or without one that of the user.
pub(super) fn domain() -> anyhow::Result<String> {
    let user = rustix::process::getuid().as_raw();
    let domains = ["gui", "user"].map(|kind| format!("{kind}/{user}"));
    let mut why = String::new();
    for domain in domains {
        let ran = launchctl(&["print", &domain])?;
        if ran.is_success {
            return Ok(domain);
        }
        why = ran.says();
    }
    bail!("{why}")
}

/// Fails with what the program said unless it succeeded.
pub(super) fn succeeded(what: &str, ran: &Ran) -> anyhow::Result<()> {
    if !ran.is_success {
        bail!("{what}: {}", ran.says());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_degraded_manager_is_used_and_a_missing_one_is_not() {
        for (word, expected) in [
            ("running", Systemd::Usable),
            ("starting", Systemd::Usable),
            ("initializing", Systemd::Usable),
            ("degraded", Systemd::Degraded),
            ("maintenance", Systemd::Busy),
            ("stopping", Systemd::Busy),
            ("offline", Systemd::Absent),
            ("unknown", Systemd::Absent),
            ("", Systemd::Absent),
        ] {
            assert_eq!(systemd(word), expected, "{word}");
        }
    }
}
