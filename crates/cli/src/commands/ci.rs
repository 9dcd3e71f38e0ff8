//! `castellan ci`: `castellan run` for a machine without a person. The daemon runs for this start only, each ask is a denial
//! because nobody is at a prompt, and the log of the run becomes a file. It must not know how the agent is watched.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, bail};
use castellan_agents::{AgentId, HookCommand, is_headless};
use castellan_audit::{Filter, Record, read};
use castellan_daemon::{ControlClient, Layout};
use castellan_files::{Access, NewFile};
use castellan_policy::Profile;
use rustix::process::{Pid, Signal, kill_process};

use crate::agent_files::AgentFiles;
use crate::commands::run::guarded_exit;
use crate::edit::Edited;
use crate::exit::Exit;
use crate::global::Global;
use crate::guard::{Fault, Guard};
use crate::limits::STATUS_TIME;
use crate::output::{self, NOTE, WARNING};
use crate::registration::Registration;
use crate::run::{self, Request};
use crate::{launch, starting, values};

/// Arguments that send an ask to a program, which is no person.
const PROMPT_PROGRAMS: &[&str] = &["--permission-prompt-tool", "--permission-prompts"];

/// Options of `castellan ci`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// File for the log of this run, one JSON record a line
    #[arg(long, value_name = "FILE", default_value = "castellan-log.jsonl")]
    log: PathBuf,

    /// Profile of the agent and of everything below it; default: the configured one
    #[arg(long, value_name = "PROFILE", value_parser = values::profile())]
    profile: Option<Profile>,

    /// Start the agent in a sandbox; default: as `sandbox.mode` says
    #[arg(long)]
    sandbox: bool,

    /// The agent and its arguments: `-- claude -p 'fix the test'`
    #[arg(last = true, required = true, value_name = "AGENT")]
    command: Vec<OsString>,
}

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let begun = SystemTime::now();
    // The agent changes directories and files, and castellan writes its own file afterwards.
    let log = std::path::absolute(&options.log)?;
    guarded_exit(|| {
        let layout = global.layout()?;
        let client = global.client()?;
        let agent = unattended(&options.command)?;
        let was_running = client.is_running();
        starting::ensure(layout.home(), &client)?;
        let ended = registered(global, options, agent, &layout, &client);
        let kept = keep_log(&layout, &log, begun);
        if !was_running {
            end(&client);
        }
        let ended = ended?;
        kept.with_context(|| format!("the log of this run was not written to `{}`", log.display()))?;
        Ok(ended)
    })
}

/// Returns the agent, if nobody can answer its prompts.
fn unattended(command: &[OsString]) -> anyhow::Result<AgentId> {
    let agent = run::agent_of(command)?;
    let words: Vec<&[u8]> = command.iter().map(|word| word.as_encoded_bytes()).collect();
    let is_prompt_program = |word: &&[u8]| {
        let name = word.split(|byte| *byte == b'=').next().unwrap_or_default();
        PROMPT_PROGRAMS.iter().any(|option| option.as_bytes() == name)
    };
    if words.iter().any(is_prompt_program) {
        let options = PROMPT_PROGRAMS.join("` and `");
        bail!(run::rejected(format!("an ask is a denial here: leave `{options}` out")));
    }
    if !is_headless(agent, Some(&words), "default") {
        bail!(run::rejected(
            "nobody is at a prompt here: start the agent without one, as `claude -p` or `codex exec`"
                .to_owned()
        ));
    }
    Ok(agent)
}

/// Runs the agent with castellan's hooks in its user settings, and removes them afterwards if they were not there.
fn registered(
    global: &Global,
    options: &Options,
    agent: AgentId,
    layout: &Layout,
    client: &ControlClient,
) -> anyhow::Result<Exit> {
    let hook = hook(layout)?;
    let registration = Registration::of_user(&AgentFiles::of_environment(agent)?);
    let guard = Guard::of(agent, layout)?;
    guard.require_own()?;
    let is_added = if guard.is_guarded() {
        false
    } else {
        if registration.leads_elsewhere(&hook)? {
            bail!("the hooks of {} lead to another castellan", agent.title());
        }
        registration.add(&hook, false)? != Edited::Unchanged
    };
    let ended = check(agent, layout, client).and_then(|()| {
        let request = Request {
            profile: options.profile,
            plan: None,
            own_settings: false,
            sandbox: options.sandbox,
            budget_invocation: None,
            budget_session: None,
            command: &options.command,
        };
        run::run(global, &request)
    });
    if is_added && let Err(error) = registration.remove(false) {
        let text = format!("the hooks stay in `{}`: {error:#}", registration.file.display());
        output::write_messages(&mut anstream::stderr(), WARNING, &[text])?;
    }
    ended
}

/// Returns the hook for the user's settings.
fn hook(layout: &Layout) -> anyhow::Result<HookCommand> {
    let text = |path: &Path| {
        path.to_str().map(str::to_owned).with_context(|| format!("`{}` is not UTF-8", path.display()))
    };
    Ok(HookCommand { program: text(&launch::beside("castellan-hook")?)?, home: text(layout.home().dir())? })
}

/// Fails unless castellan enforces its decisions on this agent.
fn check(agent: AgentId, layout: &Layout, client: &ControlClient) -> anyhow::Result<()> {
    let status = client.status_within(STATUS_TIME)?;
    if status.mode != "enforce" {
        bail!("the mode is {}: nothing is denied; set `mode = \"enforce\"`", status.mode);
    }
    if status.pause.is_some() {
        bail!("castellan is paused: castellan resume");
    }
    let guard = Guard::of(agent, layout)?;
    guard.require_own()?;
    if !guard.is_guarded() {
        let gap = guard.gap().map(Fault::what).unwrap_or_default();
        let remedy = guard.gap().map(Fault::remedy_alone).unwrap_or_default();
        bail!("{} does not ask castellan: {gap}: {remedy}", agent.title());
    }
    Ok(())
}

/// Writes the records since the begin of this run. The file replaces a symlink, because the agent can have made it.
fn keep_log(layout: &Layout, file: &Path, begun: SystemTime) -> anyhow::Result<()> {
    let reading = read(&layout.log(), &Filter { since: Some(begun), ..Filter::default() })?;
    let lines: String = reading.entries.iter().map(|entry| format!("{}\n", entry.line)).collect();
    NewFile::write(file, &lines, &Access::Mode(0o600)).and_then(NewFile::put)?;
    let count = |verdicts: &[&str]| {
        let is_counted = |record: &Record| match record {
            Record::Call(call) => call.answer != *"hold" && verdicts.contains(&call.verdict.as_str()),
            Record::Session(_)
            | Record::Control(_)
            | Record::Failure(_)
            | Record::Ungoverned(_)
            | Record::Gap(_)
            | Record::Retention(_)
            | Record::Recovery(_) => false,
        };
        reading.entries.iter().filter(|entry| is_counted(&entry.record)).count()
    };
    let (denied, others) = (count(&["deny", "ask"]), count(&["allow", "defer"]));
    let (calls, shown) = (output::counted(denied, "call"), output::printable(&file.display().to_string()));
    writeln!(anstream::stderr(), "{NOTE} {calls} denied, {others} not; the log is in {shown}")?;
    Ok(())
}

/// Ends the daemon that this run has started.
fn end(client: &ControlClient) {
    let pid = client.status_within(STATUS_TIME).ok().and_then(|status| i32::try_from(status.pid).ok());
    if let Some(pid) = pid.and_then(Pid::from_raw) {
        // One that has ended by itself is over, too.
        let _ = kill_process(pid, Signal::TERM);
    }
}
