//! `castellan settings render`: writes an agent's own settings as a second line of defence, or prints them. It must not
//! know the format of any agent.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::ensure;
use castellan_agents::{AgentId, needs_trust};
use castellan_daemon::PLAN_BYTES_MAX;

use crate::exit::Exit;
use crate::global::Global;
use crate::native::{self, How, Sandbox, Wanted, Written};
use crate::output::printable;
use crate::text_file::read_text;
use crate::{presence, values};

/// Subcommands of `castellan settings`.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Write the agent's own permission rules, sandbox and hooks for a directory
    Render(Render),
}

#[derive(Debug, clap::Args)]
pub(crate) struct Render {
    /// Agent whose settings are written
    #[arg(long, value_parser = values::agent_with_settings())]
    agent: AgentId,

    /// Directory in which the agent works and may write; the settings are written there
    #[arg(long, value_name = "DIR", default_value = ".")]
    work_dir: PathBuf,

    /// A further directory that the agent may write
    #[arg(long, value_name = "DIR")]
    repo: Option<PathBuf>,

    /// Plan whose commands run without a prompt of the agent
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,

    /// Start in the mode in which a model judges calls, with the commands that profile `quiet` allows
    #[arg(long)]
    auto: bool,

    /// The agent's own sandbox; `auto`: if the machine has the tools for it
    #[arg(long, value_name = "WHEN", default_value = "auto", value_parser = values::one_of(SANDBOXES))]
    sandbox: Sandbox,

    /// Keep the entries of an edited file and add what tightens
    #[arg(long, conflicts_with_all = ["force", "print"])]
    merge: bool,

    /// Replace an edited file
    #[arg(long, conflicts_with = "print")]
    force: bool,

    /// Print the settings and write nothing
    #[arg(long)]
    print: bool,
}

const SANDBOXES: &[(&str, Sandbox)] =
    &[("auto", Sandbox::IfPossible), ("on", Sandbox::On), ("off", Sandbox::Off)];

pub(crate) fn run(global: &Global, command: &Command) -> anyhow::Result<Exit> {
    match command {
        Command::Render(options) => render(global, options),
    }
}

fn render(global: &Global, options: &Render) -> anyhow::Result<Exit> {
    let layout = global.layout()?;
    // An agent could let its own commands run without a prompt.
    if !options.print && presence::is_within_agent(layout.home()) {
        presence::require_here()?;
        ensure!(options.print, "this cannot be done from within a guarded agent: use `--print`");
    }
    let read = |file: &PathBuf| native::plan_of(&read_text(file, PLAN_BYTES_MAX as u64)?, file);
    let plan = options.plan.as_ref().map(read).transpose()?;
    let wanted = Wanted {
        agent: options.agent,
        home: layout.home().dir(),
        work_dir: &options.work_dir,
        repo: options.repo.as_deref(),
        plan: plan.as_ref(),
        is_auto: options.auto,
        sandbox: options.sandbox,
    };
    let rendered = native::render(&wanted)?;
    let directory = rendered.values.work_dir.as_str();
    if options.print {
        print(&rendered.files(directory))?;
    } else {
        let how = match (options.merge, options.force) {
            (true, _) => How::Merge,
            (false, true) => How::Replace,
            (false, false) => How::Refuse,
        };
        let records = layout.state().join("rendered");
        report(global, &native::write(&rendered, directory, &records, how)?)?;
        if needs_trust(options.agent) {
            let title = options.agent.title();
            global.note(&format!(
                "{title} reads them in a trusted directory, and runs the hooks after you trust them"
            ))?;
        }
    }
    // The standard output of `--print` is the settings alone.
    let say = |text: &str| match options.print {
        true => writeln!(anstream::stderr(), "{text}"),
        false => global.note(text),
    };
    if !rendered.missing_tools.is_empty() {
        let tools = rendered.missing_tools.join(" and ");
        say(&format!("without a sandbox, as this machine lacks {tools}"))?;
    }
    for entry in &rendered.left_out {
        say(&format!("left out of the plan: {}", printable(entry)))?;
    }
    Ok(if rendered.left_out.is_empty() { Exit::Done } else { Exit::Incomplete })
}

/// Prints each text; several with a line before each that names its file.
fn print(files: &[castellan_agents::NativeFile]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for file in files {
        if files.len() > 1 {
            writeln!(out, "==> {} <==", file.path)?;
        }
        out.write_all(file.text.as_bytes())?;
    }
    out.flush()
}

fn report(global: &Global, files: &[Written]) -> anyhow::Result<()> {
    for Written { file, is_changed, kept } in files {
        let shown = printable(&file.display().to_string());
        let done = if *is_changed { "written" } else { "unchanged" };
        global.note(&format!("`{shown}`: {done}"))?;
        for entry in kept {
            global.note(&format!("`{shown}` keeps {}", printable(entry)))?;
        }
    }
    Ok(())
}
