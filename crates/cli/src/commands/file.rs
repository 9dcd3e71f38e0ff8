//! `castellan file`: where a path really is, and what the boundary of the workspace answers about it.

mod answer;
mod walked;

use std::path::PathBuf;

use castellan_daemon::{Config, find_workspace};
use castellan_event::{Code, Finding, Verdict};

use crate::asked_call::AskedCall;
use crate::exit::Exit;
use crate::global::Global;
use answer::Answered;

/// Subcommands of `castellan file`.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Show each component of a path, where it really is, and the answer of the boundary
    Check(Options),
}

/// Options of `castellan file check`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Path as an agent would write it: absolute, or relative to the workspace's directory
    path: String,

    /// Check for a tool that reads the file (default)
    #[arg(long)]
    read: bool,

    /// Check for a tool that writes the file
    #[arg(long, conflicts_with = "read")]
    write: bool,

    /// Check for a tool that changes the file
    #[arg(long, conflicts_with_all = ["read", "write"])]
    edit: bool,

    /// Directory that the agent works in; default: the current directory
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(global: &Global, command: &Command) -> anyhow::Result<Exit> {
    let Command::Check(options) = command;
    check(global, options)
}

fn check(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let layout = global.layout()?;
    let config = Config::of_home(&layout)?;
    let directory = match &options.workspace {
        Some(directory) => std::path::absolute(directory)?,
        None => std::env::current_dir()?,
    };
    let tool = options.tool();
    let judged = AskedCall::of_file(tool, &options.path, directory.clone()).judge(&layout, &config)?;
    // The agent's directory as written: the path is relative to it.
    let workspace = find_workspace(&directory).map_err(|error| error.to_string());
    let components = walked::components(&directory.join(&options.path), workspace.as_deref().ok())?;
    let findings: Vec<&Finding> =
        judged.decision.findings.iter().filter(|finding| finding.code == Code::Boundary).collect();
    let counting = findings.iter().filter(|finding| finding.lifted.is_none());
    let verdict = counting.map(|finding| finding.verdict).max().unwrap_or(Verdict::Defer);
    let answered = Answered {
        path: &options.path,
        tool,
        workspace: workspace.as_ref().map(String::as_str).map_err(String::as_str),
        components: &components,
        effects: &judged.facts.effects,
        boundary: judged.loaded.policy.settings().boundary,
        verdict,
        findings: &findings,
        whole: judged.decision.verdict,
    };
    let mut out = anstream::stdout();
    if options.json {
        answered.write_json(&mut out)?;
    } else {
        answered.write(&mut out, global)?;
    }
    Ok(match verdict {
        Verdict::Deny => Exit::Deny,
        Verdict::Ask => Exit::Ask,
        Verdict::Allow | Verdict::Defer => Exit::Done,
    })
}

impl Options {
    /// The tool of the default agent for the operation.
    fn tool(&self) -> &'static str {
        match (self.write, self.edit) {
            (true, _) => "Write",
            (false, true) => "Edit",
            (false, false) => "Read",
        }
    }
}
