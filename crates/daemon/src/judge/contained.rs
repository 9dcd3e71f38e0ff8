//! Contained calls from decision to end: the ticket of a call, the start of its command, and the files that it wrote. It
//! must not know why a call is contained.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use castellan_agents as agents;
use castellan_event::{Answer, Call, Query, World};
use castellan_policy::Failed;

use super::checkpoint::checkpoint_id;
use super::{Asked, Judge, Whose};
use crate::ancestors::Ancestors;
use crate::clock::boot_ms;
use crate::containment::{Before, ContainedPolicy, Containment, Refused, Running, Ticket, TicketId};
use crate::control::{ContainedEnd, ContainedOutcome, ContainedRun};
use crate::jobs::Jobs;
use crate::limits::CONTAINED_TEXT_BYTES_MAX;
use crate::peers::AgentProcess;
use crate::record;
use crate::sandbox_policy::tools;
use crate::world::FileSystem;

impl Judge {
    /// Contains calls from now on. Only the first call of this function has an effect.
    pub(crate) fn contain_with(&self, containment: Containment) {
        self.containment.get_or_init(|| Arc::new(containment)).keep_probed();
    }

    /// Reports whether the machine can contain calls.
    pub(super) fn contains(&self) -> bool {
        self.containment.get().is_some_and(|containment| containment.works())
    }

    /// Makes a ticket for a call, and returns the command that its agent runs instead. Nothing runs yet. `hosts`: those that
    /// the command may reach.
    pub(super) fn contained_command(
        &self,
        (asked, call, whose): (&Asked<'_>, &Call, &Whose),
        hosts: Vec<String>,
    ) -> Result<String, Failed> {
        let no = |why: &str| Err(Failed::contain(why));
        let failed = |why: String| Failed::contain(why);
        let Some(containment) = self.containment.get() else {
            return no("castellan makes no sandboxes here");
        };
        let Some(command) = agents::command_text(asked.agent, call) else {
            return no("it has no shell text");
        };
        if command.len() > CONTAINED_TEXT_BYTES_MAX || command.contains('\0') {
            return no("its text is too long for one argument of a shell, or has a NUL");
        }
        let (agent, workspace) = (asked.sender.agent, whose.inside());
        if agent.pid == 0 || agent.started == 0 {
            return no("the process of the agent is not known");
        }
        if workspace.is_empty() {
            return no("the session has no workspace: its directory is a home, or holds one");
        }
        if self.is_sandboxed(agent) {
            return no("the agent itself is in a sandbox, and no further one starts in it");
        }
        if self.memory().runs_code_in(workspace, call.correlation_id) {
            return no("another call runs code of this workspace, which could load what this call writes");
        }
        let environment = asked.terms().policy.settings().sandbox.environment.clone();
        let (homes, tools) = places_of(agent.pid);
        let policy = ContainedPolicy { hosts, environment, homes, tools };
        containment.check(workspace, &policy).map_err(failed)?;
        let before = Before::take(workspace).map_err(failed)?;
        if let Some(path) = before.unprotected(workspace) {
            return no(&format!(
                "the sandbox would leave `{path}` open: it protects only the top of the workspace"
            ));
        }
        if let Some(path) = before.shared() {
            return no(&format!("`{path}` also has a name outside of the workspace, which it could write"));
        }
        self.checkpoint_contained((asked, call, whose), &before).map_err(failed)?;
        let ticket = Ticket {
            command: command.to_owned(),
            workspace: workspace.to_owned(),
            policy,
            call: call.correlation_id,
            agent,
            before: Arc::new(before),
        };
        let id = containment.tickets().make(ticket, boot_ms()).map_err(failed)?;
        containment.command(&id, command).map_err(failed)
    }

    /// Uses up a ticket for a process, and returns the id of the call's checkpoint. From now on every file of the workspace
    /// may be written. The inner error says why the ticket is not valid.
    pub(crate) fn redeem(
        &self,
        id: TicketId,
        process: AgentProcess,
    ) -> Result<Result<(String, ContainedRun), Refused>, String> {
        let containment = self.containment.get().ok_or("castellan makes no sandboxes here")?;
        let ancestors = Ancestors::of(process);
        let redeemed = containment.tickets().redeem(id, &ancestors, boot_ms());
        let ticket = match redeemed {
            Ok(ticket) => ticket,
            Err(refused) => return Ok(Err(refused)),
        };
        self.end_outlasting(Some(process));
        let begun = {
            let mut memory = self.memory();
            // It may have begun since the decision.
            if memory.runs_code_in(&ticket.workspace, ticket.call) {
                containment.tickets().end(id, process);
                return Ok(Err(Refused::Beside));
            }
            memory.begin_contained(ticket.call, &ticket.workspace, process)
        };
        let begun = begun.map_err(|error| format!("the start of the command could not be stored: {error}"));
        let run = begun.and_then(|()| containment.run_of(&ticket));
        if run.is_err() {
            containment.tickets().end(id, process);
        }
        run.map(|run| Ok((checkpoint_id(ticket.call), run)))
    }

    /// Stores the end of a contained command: compares its workspace with the state at the decision. `None` if the process
    /// did not start it.
    pub(crate) fn end_contained(
        &self,
        id: TicketId,
        process: AgentProcess,
        end: &ContainedEnd,
    ) -> Option<ContainedOutcome> {
        let containment = self.containment.get()?;
        let running = containment.tickets().end(id, process)?;
        if !end.failure.is_empty() {
            containment.failed(end.failure.clone());
        }
        let written = self.settle_contained(&running);
        let directory = end.directory.as_deref().and_then(|path| inside(path, &running.ticket.workspace));
        Some(ContainedOutcome { directory, written })
    }

    /// Ends the calls of which no command runs any more. `carrier`: the process that carries the present request.
    pub(super) fn end_outlasting(&self, carrier: Option<AgentProcess>) {
        let memory = self.memory();
        if !memory.may_outlast() {
            return;
        }
        let contained = memory.contained_processes();
        // To read all processes takes longer than any work on the memory.
        drop(memory);
        let jobs = Jobs::read(carrier, &contained);
        self.memory().end_outlasting(&jobs);
    }

    /// Ends the contained commands whose processes were killed, and probes the machine again after a failure.
    pub(crate) fn keep_contained(&self) {
        let Some(containment) = self.containment.get() else { return };
        containment.keep_probed();
        let gone = containment.tickets().gone(AgentProcess::lives);
        let own = rustix::process::geteuid().as_raw();
        for running in gone {
            let written = self.settle_contained(&running);
            let what = format!("call {}: killed, {}", running.ticket.call, counted(written));
            let record = record::control("contained_end", &what, None, "", (running.process.pid, own));
            if let Err(error) = self.append(&record) {
                self.fail("log", &format!("the end of a contained command could not be recorded: {error}"));
            }
        }
    }

    /// Ends the tickets that no process has redeemed.
    pub(crate) fn end_tickets(&self) {
        if let Some(containment) = self.containment.get() {
            containment.tickets().clear();
        }
    }

    /// Stores the files that a command wrote. If they cannot be found or stored, the whole workspace stays written.
    fn settle_contained(&self, Running { ticket, .. }: &Running) -> Option<usize> {
        let written = match ticket.before.written(&ticket.workspace) {
            Ok(written) => written,
            Err(why) => {
                self.fail(
                    "contained",
                    &format!("the files that a contained command wrote are not known: {why}"),
                );
                return None;
            }
        };
        let number = written.len();
        let mut memory = self.memory();
        let stored = memory.end_contained(ticket.call, &ticket.workspace, written);
        drop(memory);
        match stored {
            Ok(()) => Some(number),
            Err(error) => {
                self.fail("state", &format!("the files of a contained command cannot be written: {error}"));
                None
            }
        }
    }
}

/// Returns the home in the environment of a process, and its installations. The environment is that of the process's start: no
/// command of an agent changes it.
fn places_of(pid: u32) -> (Vec<PathBuf>, Vec<PathBuf>) {
    match FileSystem::default().answer(&Query::Process { pid }) {
        Some(Answer::Process(Some(process))) => {
            let home = process.var("HOME").map(PathBuf::from).into_iter().collect();
            (home, tools(|name| process.var(name)))
        }
        _ => (Vec::new(), Vec::new()),
    }
}

/// Returns the number of written files, for people.
pub(crate) fn counted(written: Option<usize>) -> String {
    written.map_or("its files are not known".to_owned(), |number| format!("files written: {number}"))
}

/// Returns a directory by its real path if it is in the workspace. A shell reads the path as one line.
fn inside(path: &str, workspace: &str) -> Option<String> {
    let real = std::fs::canonicalize(path).ok()?;
    let is_inside = real.starts_with(Path::new(workspace)) && real.is_dir();
    let text = real.to_str().filter(|_| is_inside)?;
    (!text.contains(['\n', '\r', '\0'])).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_directory_in_the_workspace_is_accepted() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        for dir in ["w/sub", "w/line\nbreak", "w-other", "out"] {
            std::fs::create_dir_all(root.join(dir)).unwrap();
        }
        std::fs::write(root.join("w/file"), "").unwrap();
        std::os::unix::fs::symlink(root.join("out"), root.join("w/link")).unwrap();
        std::os::unix::fs::symlink(root.join("w/sub"), root.join("w/inner")).unwrap();
        let workspace = root.join("w");
        let check = |path: &str, expected: Option<&str>| {
            let found = inside(root.join(path).to_str().unwrap(), workspace.to_str().unwrap());
            assert_eq!(found, expected.map(|path| root.join(path).to_str().unwrap().to_owned()), "{path:?}");
        };
        check("w", Some("w"));
        check("w/sub", Some("w/sub"));
        check("w/inner", Some("w/sub"));
        for path in ["out", "w-other", "w/../out", "w/link", "w/file", "w/none", "w/line\nbreak", "w/sub\n"] {
            check(path, None);
        }
    }
}
