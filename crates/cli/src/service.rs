//! [`Service`]: the daemon as a service of the user, which starts it at login and again when it ends. Three managers do
//! that: systemd, launchd, or castellan's own process. It must not know agents and their hooks.

mod background;
mod definition;
pub(crate) mod files;
mod launchd;
mod manager;
pub(crate) mod program;
mod state;
pub(crate) mod systemd;

use std::path::PathBuf;

use anyhow::{Context, bail};
use castellan_daemon::Layout;
use castellan_wire::Home;

use crate::directories::Directories;
use definition::{Definition, Rights};
use files::Rendered;
use manager::{domain, launchctl, succeeded, systemctl};

pub(crate) use background::supervise;
pub(crate) use files::Found;
pub(crate) use manager::{Choice, Manager, choose};
pub(crate) use state::State;

/// The service of one home under one manager.
#[derive(Debug, Clone)]
pub(crate) struct Service {
    pub(crate) manager: Manager,
    definition: Definition,
    /// The directory of its files.
    dir: PathBuf,
}

impl Service {
    /// Returns the service of a home under a manager, installed or not.
    pub(crate) fn under(manager: Manager, home: &Home) -> anyhow::Result<Service> {
        let directories = Directories::of_environment()?;
        let dir = match manager {
            Manager::Systemd => directories.config.join("systemd/user"),
            Manager::Launchd => directories.home.join("Library/LaunchAgents"),
            Manager::Background => home.dir().to_owned(),
        };
        Ok(Service { manager, definition: Definition::of(home)?, dir })
    }

    /// Returns the installed service of a home: the one of which a file of castellan's is there.
    pub(crate) fn installed(home: &Home) -> anyhow::Result<Option<Service>> {
        for manager in [Manager::Systemd, Manager::Launchd, Manager::Background] {
            let service = Service::under(manager, home)?;
            if service.names().iter().any(|name| files::is_ours(&service.dir.join(name))) {
                return Ok(Some(service));
            }
        }
        Ok(None)
    }

    /// Returns the files with the state of each.
    pub(crate) fn files(&self, layout: &Layout) -> anyhow::Result<Vec<(PathBuf, Found)>> {
        let files = self.rendered(layout)?.into_iter();
        Ok(files
            .map(|Rendered { name, text }| {
                let file = self.dir.join(name);
                let found = files::look(&file, &text);
                (file, found)
            })
            .collect())
    }

    /// Writes the files, and has the manager read them. Returns the names of those that changed; with `dry_run` of those
    /// that would. A second call completes what an earlier one left.
    pub(crate) fn write(&self, layout: &Layout, dry_run: bool) -> anyhow::Result<Vec<String>> {
        let rendered = self.rendered(layout)?;
        if dry_run {
            let changes =
                |file: &&Rendered| files::look(&self.dir.join(&file.name), &file.text) != Found::Same;
            return Ok(rendered.iter().filter(changes).map(|file| file.name.clone()).collect());
        }
        castellan_files::remove_leftovers(&self.dir);
        let changed = files::put(&self.dir, &rendered)?;
        self.reload()?;
        Ok(changed)
    }

    /// Removes the files. Returns the removed ones.
    pub(crate) fn remove(&self, dry_run: bool) -> anyhow::Result<Vec<PathBuf>> {
        let removed = files::remove(&self.dir, &self.names(), dry_run)?;
        if !dry_run && self.manager == Manager::Systemd {
            files::remove_links(&self.dir, systemd::WANTED_BY, &self.names());
            // A manager that does not answer reads the files when it starts.
            let _ = self.reload();
        }
        Ok(removed)
    }

    /// Starts the daemon at each login. Not possible without a manager.
    pub(crate) fn enable(&self) -> anyhow::Result<()> {
        match self.manager {
            Manager::Systemd => self.systemctl("enable"),
            Manager::Launchd => self.launchctl("enable"),
            Manager::Background => bail!(
                "nothing starts programs at login here: the first call of an agent starts the daemon, and `castellan \
                 service start` the process that keeps it running"
            ),
        }
    }

    /// Does not start the daemon at a login any more.
    pub(crate) fn disable(&self) -> anyhow::Result<()> {
        match self.manager {
            Manager::Systemd => self.systemctl("disable"),
            Manager::Launchd => self.launchctl("disable"),
            Manager::Background => Ok(()),
        }
    }

    /// Starts the sockets and the daemon. Returns before the daemon listens.
    pub(crate) fn start(&self) -> anyhow::Result<()> {
        match self.manager {
            Manager::Systemd => {
                // Forgets failed starts, after which systemd would refuse another. It fails for units without any.
                let _ = self.systemctl("reset-failed");
                self.systemctl("start")
            }
            Manager::Launchd => {
                let domain = domain()?;
                let label = launchd::label(&self.definition);
                if launchctl(&["print", &format!("{domain}/{label}")])?.is_success {
                    return self.launchctl("kickstart");
                }
                let file = self.dir.join(format!("{label}.plist")).display().to_string();
                succeeded("launchctl bootstrap", &launchctl(&["bootstrap", &domain, &file])?)
            }
            Manager::Background => background::start(&self.definition.home),
        }
    }

    /// Stops the sockets and the daemon, which stay stopped only while the mark of a deliberate stop exists.
    pub(crate) fn stop(&self) -> anyhow::Result<()> {
        match self.manager {
            Manager::Systemd => self.systemctl("stop"),
            Manager::Launchd => {
                let label = launchd::label(&self.definition);
                let loaded = launchctl(&["print", &format!("{}/{label}", domain()?)])?.is_success;
                if loaded { self.launchctl("bootout") } else { Ok(()) }
            }
            // The process ends when the daemon has ended.
            Manager::Background => Ok(()),
        }
    }

    /// Returns the path of one of its files.
    pub(crate) fn place(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Returns the manager's own name of the service.
    pub(crate) fn name(&self) -> String {
        match self.manager {
            Manager::Systemd => format!("{}.service", self.definition.name),
            Manager::Launchd => launchd::label(&self.definition),
            Manager::Background => background::record().name,
        }
    }

    fn rendered(&self, layout: &Layout) -> anyhow::Result<Vec<Rendered>> {
        let rendered = match self.manager {
            Manager::Systemd => systemd::files(&self.definition, Rights::of(layout)),
            Manager::Launchd => launchd::file(&self.definition).map(|file| vec![file]),
            Manager::Background => Some(vec![background::record()]),
        };
        rendered.with_context(|| {
            format!(
                "`{}` or `{}` has characters that a file of {} cannot have: move it",
                self.definition.program.display(),
                self.definition.home.dir().display(),
                self.manager.as_str()
            )
        })
    }

    fn names(&self) -> Vec<String> {
        match self.manager {
            Manager::Systemd => systemd::units(&self.definition),
            Manager::Launchd => vec![format!("{}.plist", launchd::label(&self.definition))],
            Manager::Background => vec![background::record().name],
        }
    }

    /// Has systemd read the files again. launchd reads its file when the service is loaded.
    fn reload(&self) -> anyhow::Result<()> {
        match self.manager {
            Manager::Systemd => succeeded("systemctl --user daemon-reload", &systemctl(&["daemon-reload"])?),
            Manager::Launchd | Manager::Background => Ok(()),
        }
    }

    fn systemctl(&self, action: &str) -> anyhow::Result<()> {
        let units = self.names();
        let words: Vec<&str> = [action].into_iter().chain(units.iter().map(String::as_str)).collect();
        succeeded(&format!("systemctl --user {action} {}", units.join(" ")), &systemctl(&words)?)
    }

    fn launchctl(&self, action: &str) -> anyhow::Result<()> {
        let target = format!("{}/{}", domain()?, launchd::label(&self.definition));
        succeeded(&format!("launchctl {action} {target}"), &launchctl(&[action, &target])?)
    }
}

/// Starts the installed service of a home. Returns false if there is none.
pub(crate) fn start(home: &Home) -> anyhow::Result<bool> {
    let Some(service) = Service::installed(home)? else { return Ok(false) };
    service.start()?;
    Ok(true)
}

/// Reports whether a manager of the system starts the daemon of a home when it ends.
pub(crate) fn is_kept(home: &Home) -> bool {
    let installed = Service::installed(home).ok().flatten();
    installed.is_some_and(|service| service.manager != Manager::Background)
}

/// Stops the installed service of a home, after the mark of a deliberate stop was written.
pub(crate) fn stop(home: &Home) -> anyhow::Result<()> {
    Service::installed(home)?.map_or(Ok(()), |service| service.stop())
}
