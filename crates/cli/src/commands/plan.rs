//! `castellan plan`: put a plan in force, propose one, approve its scope, show what was done under it. It must not know
//! how a call is compared.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use castellan_daemon::{ControlClient, ListedPlan, PlanFor, ShownPlan, find_workspace};
use serde_json::json;

use crate::exit::Exit;
use crate::global::Global;
use crate::output::{self, FAINT, WARN, printable};
use crate::{ask, plan_file, presence};

/// Subcommands of `castellan plan`.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Put a copy of a plan in force: castellan's format, or an experiment_plan.yaml of nous
    Use(Use),
    /// End a plan
    End(End),
    /// Compile Markdown to a plan and show its scope; nothing is in force before you approve it
    Propose(Propose),
    /// Approve the scope of a proposed plan, after showing it
    Approve(Approve),
    /// Show the plans in force, the departures from them, and the proposed plans
    Status(Status),
}

/// The sessions of a plan; default: those of the workspace around the current directory.
#[derive(Debug, clap::Args)]
pub(crate) struct Sessions {
    /// Only this session, by the agent's id
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Use {
    /// The plan
    file: PathBuf,

    #[command(flatten)]
    sessions: Sessions,

    /// Deny departures, also where `plan.mode` is `warn`
    #[arg(long)]
    strict: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct End {
    #[command(flatten)]
    sessions: Sessions,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Propose {
    /// Markdown file; `-` is the standard input
    file: PathBuf,

    #[command(flatten)]
    sessions: Sessions,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Approve {
    /// Id of the proposed plan, from `castellan plan status`
    id: String,

    /// Skip the question; a person must still be present
    #[arg(long, short)]
    yes: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Status {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(global: &Global, command: &Command) -> anyhow::Result<Exit> {
    let client = global.client()?;
    match command {
        Command::Use(options) => {
            let (text, source) = (plan_file::read(&options.file)?, plan_file::source(&options.file)?);
            let of = options.sessions.of()?;
            client.use_plan(text, source, of.clone(), options.strict)?;
            let effect =
                if options.strict { "departures are denied" } else { "`plan.mode` decides about departures" };
            global.note(&format!("the plan is in force for {}: {effect}", printable(&of.to_string())))?;
        }
        Command::End(options) => {
            let of = options.sessions.of()?;
            client.end_plan(of.clone())?;
            global.note(&format!("no plan is in force any more for {}", printable(&of.to_string())))?;
        }
        Command::Propose(options) => {
            let plan = client.propose_plan(plan_file::read(&options.file)?, options.sessions.of()?)?;
            write!(anstream::stdout(), "{}", shown(&plan)?)?;
            global.note(&format!("approve it with `castellan plan approve {}`", plan.id))?;
        }
        Command::Approve(options) => return approve(global, &client, options),
        Command::Status(options) => status(global, &client.plans()?, options.json)?,
    }
    Ok(Exit::Done)
}

fn approve(global: &Global, client: &ControlClient, options: &Approve) -> anyhow::Result<Exit> {
    // No plan has an empty hash.
    presence::require_before(|| client.approve_plan(&options.id, ""))?;
    let plan = client.show_plan(&options.id)?;
    let has_seen = ask::show(&shown(&plan)?)?;
    if !has_seen || !options.yes && !ask::is_agreed("let the agent follow this plan?")? {
        global.note("nothing was approved")?;
        return Ok(Exit::No);
    }
    client.approve_plan(&options.id, &plan.hash)?;
    let of = printable(&plan.of);
    let outside = "castellan asks about calls outside of it, or denies them if the plan before was strict";
    global.note(&format!("the plan is in force for {of}: {outside}"))?;
    Ok(Exit::Done)
}

fn status(global: &Global, plans: &[ListedPlan], is_json: bool) -> anyhow::Result<()> {
    let mut out = anstream::stdout();
    if is_json {
        return Ok(output::write_json(&mut out, &json!({ "version": 1, "plans": plans }))?);
    }
    if plans.is_empty() {
        global.note("no plan is in force or proposed")?;
    }
    for plan in plans {
        let of = printable(&plan.of);
        match &plan.proposal {
            Some(id) => writeln!(out, "{WARN}{id}{WARN:#}  proposed for {of}")?,
            None => {
                let kind = match (plan.is_strict, plan.is_approved) {
                    (true, _) => "strict",
                    (false, true) => "approved",
                    (false, false) => "by plan.mode",
                };
                let (calls, departed) = (plan.calls, plan.departed);
                writeln!(out, "{WARN}{of}{WARN:#}  {}, {kind}", printable(&plan.source))?;
                writeln!(out, "    {calls} calls, {departed} of them departed from it")?;
                if departed > 0 {
                    writeln!(out, "    last departure: {}", printable(&plan.last))?;
                }
            }
        }
        write!(out, "{}", scope(&plan.scope)?)?;
    }
    Ok(())
}

fn shown(plan: &ShownPlan) -> anyhow::Result<String> {
    let mut out = Vec::new();
    writeln!(out, "{WARN}{}{WARN:#}  proposed for {}", printable(&plan.id), printable(&plan.of))?;
    write!(out, "{}", scope(&plan.scope)?)?;
    if !plan.not_covered.is_empty() {
        writeln!(out, "    not covered: castellan asks about")?;
        plan.not_covered.iter().try_for_each(|line| writeln!(out, "        {}", printable(line)))?;
    }
    Ok(String::from_utf8_lossy(&out).into_owned())
}

fn scope(sections: &[(String, Vec<String>)]) -> anyhow::Result<String> {
    let mut out = Vec::new();
    for (title, lines) in sections {
        writeln!(out, "    {FAINT}{}{FAINT:#}", printable(title))?;
        lines.iter().try_for_each(|line| writeln!(out, "        {}", printable(line)))?;
    }
    Ok(String::from_utf8_lossy(&out).into_owned())
}

impl Sessions {
    fn of(&self) -> anyhow::Result<PlanFor> {
        match &self.session {
            Some(session) => Ok(PlanFor::Session(session.clone())),
            None => {
                let workspace = find_workspace(Path::new("."));
                Ok(PlanFor::Workspace(workspace.context("name a session with `--session`")?))
            }
        }
    }
}
