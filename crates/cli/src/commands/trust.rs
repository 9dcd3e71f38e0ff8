//! `castellan trust`: a person decides whether agents may work in a workspace, and whether its own files apply. This
//! module must not know the effect of a profile on that.

mod project;

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use castellan_daemon::{
    DecidedWorkspace, FileSet, Layout, PROJECT_FOLDER, ProjectFiles, TrustDecision, find_workspace,
    read_project,
};
use serde_json::json;

use crate::exit::Exit;
use crate::global::Global;
use crate::output::{self, BAD, Cell, GOOD, WARN, printable};
use crate::{ask, presence};

/// Options of `castellan trust`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Directory of the workspace; default: the current one. Files in its `.castellan` folder are shown first, and
    /// apply as they are now
    #[arg(value_name = "DIR", conflicts_with = "list")]
    directory: Option<PathBuf>,

    #[command(flatten)]
    what: What,

    /// Skip the question; a person must still be present
    #[arg(long, short, conflicts_with_all = ["deny", "forget", "list"])]
    yes: bool,

    /// Print JSON
    #[arg(long, requires = "list")]
    json: bool,
}

/// The decision; default: trust.
#[derive(Debug, clap::Args)]
#[group(multiple = false)]
struct What {
    /// Deny every call of agents in this directory or below it
    #[arg(long)]
    deny: bool,

    /// Forget the decision
    #[arg(long)]
    forget: bool,

    /// List the decisions, and the workspaces whose own files have changed
    #[arg(long)]
    list: bool,
}

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let client = global.client()?;
    if options.what.list {
        return list(global, &client.trusted()?, options.json);
    }
    let directory = options.directory.as_deref().unwrap_or(Path::new("."));
    let shown = || format!("`{}`", directory.display());
    let mut project = None;
    let (workspace, decision, words) = match options.what {
        What { deny: true, .. } => {
            let real = std::fs::canonicalize(directory).with_context(shown)?;
            (text_of(&real)?, TrustDecision::Denied, "every call of agents there is denied")
        }
        What { forget: true, .. } => (
            decided_at(directory, &client.trusted()?)?,
            TrustDecision::Unknown,
            "nothing is decided about it",
        ),
        What { .. } => {
            let workspace = find_workspace(directory).with_context(shown)?;
            project = read_project(Path::new(&workspace))?;
            if let Some(project) = &project {
                // No files have an empty hash.
                let attempt = || client.trust(&workspace, TrustDecision::Trusted, Some(String::new()));
                presence::require_before(attempt)?;
                if !is_agreed(&global.layout()?, &workspace, project, options.yes)? {
                    global.note("nothing was decided")?;
                    return Ok(Exit::No);
                }
            }
            (workspace, TrustDecision::Trusted, "agents may work there, as your profile says")
        }
    };
    client.trust(&workspace, decision, project.map(|project| project.hash()))?;
    global.note(&format!("{}: {words}", printable(&workspace)))?;
    Ok(Exit::Done)
}

/// Shows the workspace's own files in full and asks whether they may apply.
fn is_agreed(layout: &Layout, workspace: &str, project: &FileSet, yes: bool) -> anyhow::Result<bool> {
    let mut text = Vec::new();
    writeln!(text, "{} has files of its own, in `{PROJECT_FOLDER}`. They say:", printable(workspace))?;
    project::write(&mut text, layout, project)?;
    let is_seen = ask::show(&String::from_utf8_lossy(&text))?;
    Ok(yes || (is_seen && ask::is_agreed("trust it with these?")?))
}

/// Finds the decision for the directory itself, or for its workspace. The directory may no longer exist.
fn decided_at(directory: &Path, decided: &[DecidedWorkspace]) -> anyhow::Result<String> {
    let real = std::fs::canonicalize(directory).or_else(|_| std::path::absolute(directory))?;
    let candidates = [Some(text_of(&real)?), find_workspace(directory).ok()];
    let is_decided = |path: &String| decided.iter().any(|one| one.workspace == *path);
    let found = candidates.into_iter().flatten().find(is_decided);
    found.with_context(|| {
        format!("nothing was decided about `{}`: see `castellan trust --list`", directory.display())
    })
}

fn text_of(path: &Path) -> anyhow::Result<String> {
    let text = path.to_str().with_context(|| format!("`{}` is no text", path.display()))?;
    Ok(text.to_owned())
}

/// Describes the state of the workspace's own files; empty if no action is needed.
fn files_cell(files: Option<ProjectFiles>) -> Cell {
    match files {
        None | Some(ProjectFiles::Same) => Cell::from(""),
        Some(ProjectFiles::Changed) => {
            Cell::new("changed: its own files are others than those that count", WARN)
        }
        Some(ProjectFiles::Lost) => {
            Cell::new("lost: the copy of its own files, so it counts as unknown", BAD)
        }
    }
}

fn list(global: &Global, decided: &[DecidedWorkspace], json: bool) -> anyhow::Result<Exit> {
    let mut out = anstream::stdout();
    if json {
        output::write_json(&mut out, &json!({ "version": 2, "workspaces": decided }))?;
        return Ok(Exit::Done);
    }
    if decided.is_empty() {
        global.note("nothing was decided about any workspace")?;
    }
    let rows: Vec<Vec<Cell>> = decided
        .iter()
        .map(|DecidedWorkspace { workspace, trust, files }| {
            let style = if *trust == TrustDecision::Trusted { GOOD } else { BAD };
            vec![
                Cell::new(trust.as_str(), style),
                Cell::from(printable(workspace).as_str()),
                files_cell(*files),
            ]
        })
        .collect();
    output::write_table(&mut out, &rows)?;
    Ok(Exit::Done)
}
