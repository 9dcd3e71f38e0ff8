//! `castellan run`: registers itself with the daemon and starts an agent that asks castellan. Its arguments keep it so. `run`
//! reads the agent's reports, and at the end stops all processes below itself. Each step that fails starts no agent.
//!
//! The files of `run/` have one part each. Those that start no process are tested without one.

mod begin;
mod begun;
mod between;
mod boxed;
mod budget;
mod environment;
mod launch;
mod lines;
mod meter;
mod observer;
mod own_settings;
mod program;
mod rejected;
mod reporter;
mod spending;
mod stream;
mod sums;
mod transcripts;
mod tree;
mod watch;

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use anyhow::{Context, bail};
use castellan_agents::{
    AgentId, GivenSession, ObserverProblem, can_keep_hooks_on, given_hooks, given_session, has_native,
    is_headless, is_stream, transcript_places, unsaved,
};
use castellan_daemon::{ControlClient, Layout, PlanFor, find_workspace};
use castellan_policy::{Profile, SandboxMode};
use castellan_sandbox::LaunchError;

use self::begun::Begun;
use self::budget::Budgets;
use self::launch::{Launch, guarded, hook, locked_down};
use self::meter::{Cause, Meter, warn};
use self::own_settings::OwnSettings;
use self::program::{NoProgram, Program};
use self::rejected::Rejected;
use self::reporter::Reporter;
use self::sums::SessionSums;
use self::transcripts::Transcripts;
use crate::exit::Exit;
use crate::global::Global;
use crate::guard::Guard;
use crate::limits::STREAM_END_TIME;
use crate::native::Rendered;
use crate::random::random_id;
use crate::sandbox::Prepared;
use crate::signals;
use crate::{plan_file, platform, starting};

pub(crate) use begin::{BEGIN, begin};

/// The start that a person asks for.
#[derive(Debug)]
pub(crate) struct Request<'a> {
    /// `None`: the configured one.
    pub(crate) profile: Option<Profile>,
    pub(crate) plan: Option<&'a Path>,
    /// The agent gets its own settings without a plan, too.
    pub(crate) own_settings: bool,
    /// The agent starts in a sandbox, whatever the settings say.
    pub(crate) sandbox: bool,
    /// In tokens.
    pub(crate) budget_invocation: Option<u64>,
    /// In tokens.
    pub(crate) budget_session: Option<u64>,
    /// The agent and its arguments.
    pub(crate) command: &'a [OsString],
}

/// Returns the exit of an error before the agent's start.
pub(crate) fn exit_of(error: &anyhow::Error) -> Exit {
    if error.is::<Rejected>() || error.is::<ObserverProblem>() {
        return Exit::Usage;
    }
    if let Some(error) = error.downcast_ref::<LaunchError>() {
        return Exit::Agent(error.code());
    }
    error.downcast_ref::<NoProgram>().map_or(Exit::RunFailed, NoProgram::exit)
}

/// Returns the agent that a command line names.
pub(crate) fn agent_of(command: &[OsString]) -> anyhow::Result<AgentId> {
    let name = command.first().context("no agent is named")?;
    Ok(Program::find(name, std::env::var_os("PATH").as_deref())?.agent)
}

/// Returns the error of a command line that asks for something that a run rejects.
pub(crate) fn rejected(why: String) -> anyhow::Error {
    Rejected(why).into()
}

pub(crate) fn run(global: &Global, options: &Request<'_>) -> anyhow::Result<Exit> {
    let Some((name, user)) = options.command.split_first() else { return Ok(Exit::Usage) };
    platform::check_runs()?;
    let program = Program::find(name, std::env::var_os("PATH").as_deref())?;
    let (layout, client) = (global.layout()?, global.client()?);
    let guard = Guard::of(program.agent, &layout)?;
    guard.require_own()?;
    starting::ensure(layout.home(), &client)?;
    let in_force = client.sandbox()?;
    let is_sandboxed = options.sandbox || in_force.mode != SandboxMode::Off.as_str();
    let run = client.start_run(options.profile.map(|profile| profile.as_str()), false)?;
    let is_observer = !run.has_tools;
    // The settings stay until the end of all processes below.
    let settings = if is_observer {
        reject_settings(options)?;
        None
    } else {
        prepare(options, (&program, user, &guard), &layout, &client)?
    };
    let hook = hook(&layout)?;
    let mut launch = if is_observer {
        locked_down(&program, user, &layout, &hook)?
    } else {
        guarded(&program, user, settings.as_ref())?
    };
    let budgets = Budgets::new(options.budget_invocation, options.budget_session, is_observer);
    let is_stream = is_stream(program.agent, &program.words(&launch.arguments));
    let session = if budgets.is_some() { session(&program, &mut launch, is_stream)? } else { None };
    let sandbox = match is_sandboxed {
        true => Some(boxed::prepare(&program, &launch, &in_force, &layout, &client)?),
        false => None,
    };
    let meter = meter(&program, &launch, (budgets, is_observer), &layout, client)?;
    // A session whose budget is spent starts no agent.
    if session.is_some_and(|session| meter.begin(&session)) {
        meter.record_end();
        return Ok(exit_for(&meter).unwrap_or(Exit::RunFailed));
    }
    start((&program, &launch, sandbox), is_stream, budgets.is_some(), meter)
}

fn reject_settings(options: &Request<'_>) -> anyhow::Result<()> {
    if options.plan.is_some() {
        bail!(Rejected(
            "an observer has no tools, so no plan is put in force: leave `--plan` out".to_owned()
        ));
    }
    if options.own_settings {
        bail!(Rejected("an observer has stricter settings: leave `--own-settings` out".to_owned()));
    }
    Ok(())
}

/// Renders the agent's own settings for the workspace, and puts the plan in force there: the session does not exist yet.
/// Without settings of an agent the plan alone is in force. An error if neither they nor the user's bring castellan's hook.
fn prepare(
    options: &Request<'_>,
    (program, user, guard): (&Program, &[OsString], &Guard),
    layout: &Layout,
    client: &ControlClient,
) -> anyhow::Result<Option<OwnSettings>> {
    let agent = program.agent;
    let require_asks =
        || guard.require_asks(&given_hooks(agent, &program.words(user)), can_keep_hooks_on(agent));
    if options.plan.is_none() && !options.own_settings {
        require_asks()?;
        return Ok(None);
    }
    if options.own_settings && !has_native(agent) {
        let title = agent.title();
        bail!(Rejected(format!("castellan writes no settings for {title}: leave `--own-settings` out")));
    }
    let workspace = find_workspace(Path::new(".")).context("no workspace for the plan or the settings")?;
    let text = options.plan.map(plan_file::read).transpose()?;
    let plan = options.plan.zip(text.as_deref());
    let rendered = match has_native(agent) {
        true => Some(own_settings::render(&program.words(user), agent, layout, &workspace, plan)?),
        false => None,
    };
    if !rendered.as_ref().is_some_and(Rendered::brings_hook) {
        require_asks()?;
    }
    if let Some((file, text)) = plan {
        let workspace = PlanFor::Workspace(workspace);
        client.use_plan(text.to_owned(), plan_file::source(file)?, workspace, false)?;
    }
    rendered.map(|rendered| OwnSettings::write(&layout.run_settings(), &rendered)).transpose()
}

/// Returns the session that the agent will use, and adds an argument for it where needed; `None` if the stream names it.
/// Where its usage could not be read, no agent starts.
fn session(program: &Program, launch: &mut Launch, is_stream: bool) -> anyhow::Result<Option<String>> {
    let (agent, words) = (program.agent, program.words(&launch.arguments));
    let title = agent.title();
    if transcript_places(agent).is_empty() {
        bail!(Rejected(format!("castellan cannot read the tokens of {title}: leave the budgets out")));
    }
    if let Some(option) = unsaved(agent, &words) {
        bail!(Rejected(format!(
            "with `{option}` the tokens of {title} cannot be read: leave it or the budgets out"
        )));
    }
    if is_stream {
        return Ok(None);
    }
    let unseen = || {
        Rejected(format!(
            "a budget needs the tokens of {title}, which it reports only without a person: use `claude -p`, or \
             `codex exec --json`"
        ))
    };
    if !is_headless(agent, Some(&words), "default") {
        bail!(unseen());
    }
    match given_session(agent, &words) {
        GivenSession::Named(session) => Ok(Some(session)),
        GivenSession::New(option) => {
            let session = random_id()?;
            launch.arguments.splice(0..0, [option.into(), session.clone().into()]);
            Ok(Some(session))
        }
        GivenSession::Unknown => bail!(unseen()),
    }
}

fn meter(
    program: &Program,
    launch: &Launch,
    (budgets, is_observer): (Budgets, bool),
    layout: &Layout,
    client: ControlClient,
) -> anyhow::Result<Meter> {
    let agent = program.agent;
    let transcripts = Transcripts::new(agent, launch.agent_dir.clone(), SystemTime::now())?;
    Ok(Meter::new(
        agent,
        (budgets, is_observer),
        SessionSums::new(layout.state()),
        Reporter { client, agent },
        budgets.is_some().then_some(transcripts),
    ))
}

/// Starts the agent, waits for its end and ends all that remains.
fn start(
    (program, launch, sandbox): (&Program, &Launch, Option<Prepared>),
    is_stream: bool,
    has_budget: bool,
    meter: Meter,
) -> anyhow::Result<Exit> {
    let meter = Arc::new(meter);
    platform::adopt().context("castellan cannot adopt the agent's processes")?;
    let caught = signals::catch().context("signals cannot be caught")?;
    let mut begun = match sandbox {
        Some(sandbox) => Begun::in_sandbox(sandbox, is_stream)?,
        None => Begun::plain(program, launch, is_stream)?,
    };
    let agent = begun.agent;
    let watched = watch::watch(begun.stdout.take(), has_budget, &meter);
    let forwarded = caught.forward(agent);
    if watched.is_err() || forwarded.is_err() {
        tree::end_all();
    }
    let (copied, looking) = watched.context("the agent cannot be watched")?;
    forwarded.context("signals cannot be forwarded")?;
    let status = tree::wait_for(agent).context("the end of the agent cannot be seen")?;
    let left = tree::end_all();
    tree::collect();
    let ended = begun.ended(status)?;
    for pid in left {
        warn(&format!("process {pid} of the agent still runs: castellan may not end it"));
    }
    drop(looking);
    // All writers have ended, so the copy ends.
    let _ended = copied.recv_timeout(STREAM_END_TIME);
    watch::last_look(&meter, ended == Exit::Agent(0));
    Ok(exit_for(&meter).unwrap_or(ended))
}

fn exit_for(meter: &Meter) -> Option<Exit> {
    meter.cause().map(|cause| match cause {
        Cause::Exceeded(..) | Cause::Unreadable(_) => Exit::Budget,
        Cause::Failed(_) => Exit::RunFailed,
    })
}
