//! [`Containment`]: whether calls can be contained on this machine, and the tickets of those that may start. It must not
//! know when a call is to be contained.

mod before;
mod policy;
mod text;
mod tickets;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use castellan_sandbox::{Capabilities, plan, probe, survey};

pub(crate) use self::before::Before;
pub(crate) use self::policy::ContainedPolicy;
pub use self::policy::contained_settings;
pub(crate) use self::text::command_of;
pub(crate) use self::tickets::{Refused, Running, Ticket, TicketId, Tickets};
use crate::clock::boot_ms;
use crate::control::ContainedRun;
use crate::layout::Layout;
use crate::limits::{ENFORCED_MS, PROBE_PAUSE_S};
use crate::platform;
use crate::sandbox_policy::{SandboxRequest, sandbox_policy};

/// The part of the daemon that contains calls.
#[derive(Debug)]
pub(crate) struct Containment {
    layout: Layout,
    /// The homes of the user that castellan guards: of the installation, and of the account.
    homes: Vec<PathBuf>,
    /// castellan's own programs.
    programs: Option<Programs>,
    found: RwLock<Found>,
    is_probing: AtomicBool,
    tickets: Mutex<Tickets>,
    /// The last policy that the machine enforced, and its workspace; the time since boot.
    enforced: Mutex<Option<(String, ContainedPolicy, u64)>>,
}

#[derive(Debug)]
struct Programs {
    castellan: PathBuf,
    launcher: PathBuf,
}

const NO_HOME: &str = "the home of the user is not known";

/// The result of the last probe.
#[derive(Debug, Clone)]
enum Found {
    /// No probe has ended yet.
    Nothing,
    /// The machine enforces this.
    Works(Arc<Capabilities>),
    /// A sandbox failed; the time since boot.
    Failed { why: String, at_ms: u64 },
}

impl Containment {
    /// Containment without a probe: no call can be contained yet.
    pub(crate) fn new(layout: Layout) -> Containment {
        let account = platform::account(rustix::process::geteuid().as_raw()).and_then(|account| account.home);
        let homes = layout.user().map(Path::to_owned).into_iter().chain(account).collect();
        let own = std::env::current_exe().ok();
        let programs = own.and_then(|castellan| {
            let launcher = castellan.with_file_name("castellan-sandbox");
            Some(Programs { castellan, launcher }).filter(|both| both.launcher.is_file())
        });
        Containment {
            layout,
            homes,
            programs,
            found: RwLock::new(Found::Nothing),
            is_probing: AtomicBool::new(false),
            tickets: Mutex::default(),
            enforced: Mutex::default(),
        }
    }

    /// Probes the machine on a thread, never in the path of a call. At the start of the daemon, and some time after a
    /// failure.
    pub(crate) fn keep_probed(self: &Arc<Containment>) {
        let Some(launcher) = self.programs.as_ref().map(|programs| programs.launcher.clone()) else { return };
        let is_due = match &*self.found() {
            Found::Nothing => true,
            Found::Works(_) => false,
            Found::Failed { at_ms, .. } => boot_ms().saturating_sub(*at_ms) >= PROBE_PAUSE_S * 1000,
        };
        if !is_due || self.is_probing.swap(true, Ordering::SeqCst) {
            return;
        }
        let own = Arc::clone(self);
        let work = move || {
            let can = probe(&launcher).can;
            *own.found.write().unwrap_or_else(PoisonError::into_inner) = Found::Works(Arc::new(can));
            own.is_probing.store(false, Ordering::SeqCst);
        };
        if std::thread::Builder::new().name("probe".into()).spawn(work).is_err() {
            self.is_probing.store(false, Ordering::SeqCst);
        }
    }

    /// Stores that a sandbox failed: no further call is contained until the next probe.
    pub(crate) fn failed(&self, why: String) {
        let failed = Found::Failed { why, at_ms: boot_ms() };
        *self.found.write().unwrap_or_else(PoisonError::into_inner) = failed;
    }

    /// Reports whether a call may be contained, as far as the machine decides.
    pub(crate) fn works(&self) -> bool {
        self.capabilities().is_ok()
    }

    fn capabilities(&self) -> Result<Arc<Capabilities>, String> {
        if self.programs.is_none() {
            return Err("the program `castellan-sandbox` is not beside `castellan`".to_owned());
        }
        match &*self.found() {
            Found::Nothing => Err("castellan does not know yet what this machine enforces".to_owned()),
            Found::Failed { why, .. } => Err(format!("the last sandbox failed: {why}")),
            Found::Works(can) => Ok(Arc::clone(can)),
        }
    }

    /// Checks that the machine enforces every part of a policy for a workspace. Reads the file system, but not again at once
    /// for the same policy: `castellan contained` plans again, and then runs nothing that is not enforced.
    pub(crate) fn check(&self, workspace: &str, policy: &ContainedPolicy) -> Result<(), String> {
        let can = self.capabilities()?;
        let is_enforced = |(known, of, at): &(String, ContainedPolicy, u64)| {
            (known.as_str(), of) == (workspace, policy) && boot_ms().saturating_sub(*at) < ENFORCED_MS
        };
        if self.enforced().as_ref().is_some_and(is_enforced) {
            return Ok(());
        }
        self.plan_of(&can, workspace, policy)?;
        *self.enforced() = Some((workspace.to_owned(), policy.clone(), boot_ms()));
        Ok(())
    }

    /// Plans a sandbox for a policy, without starting it.
    fn plan_of(&self, can: &Capabilities, workspace: &str, policy: &ContainedPolicy) -> Result<(), String> {
        let homes = self.homes_with(&policy.homes);
        let (user_home, other_homes) = homes.split_first().ok_or(NO_HOME)?;
        let in_force = contained_settings(&policy.hosts, &policy.environment);
        let request = SandboxRequest {
            in_force: &in_force,
            user_home,
            other_homes,
            layout: &self.layout,
            workspace: Path::new(workspace),
            directory: Path::new(workspace),
            agent: None,
            is_unread: true,
            tools: &policy.tools,
            has_terminal: false,
        };
        let all: Vec<(OsString, OsString)> = std::env::vars_os().collect();
        let policy = sandbox_policy(&request, Vec::new(), &all).map_err(|error| error.to_string())?;
        let survey = survey(&policy, can).map_err(|error| error.to_string())?;
        let (_, report) =
            plan(&policy, can, &survey, &["/bin/sh".into()]).map_err(|error| error.to_string())?;
        match report.missing().next() {
            None => Ok(()),
            Some(item) => Err(format!("this machine does not enforce `{}`: {}", item.requested, item.how)),
        }
    }

    /// Returns what `castellan contained` needs to run a ticket's command.
    pub(crate) fn run_of(&self, ticket: &Ticket) -> Result<ContainedRun, String> {
        let ContainedPolicy { hosts, environment, homes, tools } = &ticket.policy;
        let homes = self.homes_with(homes);
        let (user_home, other_homes) = homes.split_first().ok_or(NO_HOME)?;
        Ok(ContainedRun {
            command: ticket.command.clone(),
            workspace: ticket.workspace.clone(),
            user_home: user_home.display().to_string(),
            other_homes: other_homes.to_vec(),
            tools: tools.clone(),
            hosts: hosts.clone(),
            environment: environment.clone(),
            capabilities: (*self.capabilities()?).clone(),
        })
    }

    /// The homes of the user, and those that an agent has in its environment.
    fn homes_with(&self, more: &[PathBuf]) -> Vec<PathBuf> {
        let mut homes: Vec<PathBuf> = Vec::new();
        for home in self.homes.iter().chain(more).filter(|home| home.is_absolute()) {
            if !homes.contains(home) {
                homes.push(home.clone());
            }
        }
        homes
    }

    /// Returns the command that the agent runs instead of a ticket's command.
    pub(crate) fn command(&self, id: &TicketId, command: &str) -> Result<String, String> {
        let programs = self.programs.as_ref().ok_or("castellan's own program is not known")?;
        if !programs.castellan.is_file() {
            return Err("castellan was replaced since the daemon started: `castellan restart`".to_owned());
        }
        let (program, home) = (programs.castellan.to_str(), self.layout.home().dir().to_str());
        let (program, home) = program.zip(home).ok_or("castellan's own path is not UTF-8")?;
        Ok(command_of((program, home), id, command))
    }

    /// Returns the tickets.
    pub(crate) fn tickets(&self) -> MutexGuard<'_, Tickets> {
        self.tickets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enforced(&self) -> MutexGuard<'_, Option<(String, ContainedPolicy, u64)>> {
        self.enforced.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn found(&self) -> std::sync::RwLockReadGuard<'_, Found> {
        self.found.read().unwrap_or_else(PoisonError::into_inner)
    }
}
