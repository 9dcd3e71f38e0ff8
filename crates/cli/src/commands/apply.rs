//! `castellan apply`: shows the effect of edited configuration and rule files, and applies them after a person agrees.
//! The daemon accepts only the files shown.

pub(super) mod changes;
pub(super) mod key_edit;
mod read_set;
mod summary;

use std::io::Write;
use std::path::Path;

use anyhow::bail;
use castellan_daemon::{ControlClient, FileSet, Layers, Layout, StatusReport, is_own_change, read_applied};
use castellan_policy::EngineSettings;
use castellan_rules::{Problem, Severity, Source};
use serde_json::{Value as Json, json};

use self::changes::Change;
use self::read_set::ReadSet;
use self::summary::Summary;
use crate::exit::Exit;
use crate::global::Global;
use crate::output::{self, ERROR, WARNING};
use crate::{ask, case_files, policy, presence};

/// Options of `castellan apply`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Only show and validate: exit code 0 if nothing is pending, 12 if changes are pending, 1 if the files do not load
    #[arg(long)]
    check: bool,

    /// Skip the question; a person must still be present
    #[arg(long, short, conflicts_with = "check")]
    yes: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The files on disk compared with the set in force.
#[derive(Debug)]
pub(super) struct Proposal {
    files: FileSet,
    /// `None` if nothing is in force, or if the set in force cannot be shown.
    in_force: Option<Layers>,
    /// The reason why the set in force cannot be shown.
    unknown: Option<&'static str>,
    changes: Vec<Change>,
    case_files: Vec<Source>,
    summary: Summary,
    /// Settings without effect, because the organisation locks the key or sets a stricter value.
    in_vain: Vec<String>,
    config_error: Option<String>,
    problems: Vec<Problem>,
    /// The reasons why Falco does not load the rules, if it is to test them.
    rejected: Vec<String>,
}

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let layout = global.layout()?;
    let client = global.client()?;
    let mut proposal = Proposal::read(&layout, &client.status()?)?;
    proposal.check_engine(&layout)?;
    let sound = !proposal.has_errors();
    if !options.json {
        proposal.write(&mut anstream::stdout(), global)?;
    }
    let exit = if !sound {
        Exit::No
    } else if proposal.is_nothing() {
        Exit::Done
    } else if options.check {
        Exit::Pending
    } else {
        apply(global, &client, options.yes, &proposal.files)?
    };
    let applied = exit == Exit::Done && !proposal.is_nothing();
    if options.json {
        output::write_json(&mut anstream::stdout(), &proposal.json(applied))?;
    } else if applied {
        let status = client.status()?;
        let policy = status.policy.get(..12).unwrap_or_default();
        let rules = output::counted(status.rules, "rule");
        global.note(&format!("applied: {rules} in mode {} ({policy})", status.mode))?;
    }
    Ok(exit)
}

/// Applies the files if the person agrees.
fn apply(global: &Global, client: &ControlClient, yes: bool, files: &FileSet) -> anyhow::Result<Exit> {
    // No files have an empty hash.
    presence::require_before(|| client.apply(""))?;
    if !yes && !ask::is_agreed("apply?")? {
        global.note("nothing was applied")?;
        return Ok(Exit::No);
    }
    client.apply(&files.hash())?;
    Ok(Exit::Done)
}

/// Applies this version's changes to shipped rule files, if nothing else is pending. Returns the applied files, or as
/// an error the pending files that nobody has reviewed.
pub(crate) fn apply_shipped(
    layout: &Layout,
    client: &ControlClient,
    status: &StatusReport,
) -> anyhow::Result<Result<Vec<String>, Vec<String>>> {
    if status.pending.is_empty() {
        return Ok(Ok(Vec::new()));
    }
    let files = FileSet::read(layout)?;
    let Some(in_force) = in_force(layout, status) else { return Ok(Err(status.pending.clone())) };
    let in_force = in_force.user;
    let waiting = files.differing(&in_force);
    let is_own = |name: &String| is_own_change(name, in_force.text_of(name), files.text_of(name));
    if !waiting.iter().all(is_own) {
        return Ok(Err(waiting));
    }
    client.apply(&files.hash())?;
    Ok(Ok(waiting))
}

/// Fails if the daemon is of another version, whose defaults and rules may differ.
fn check_version(status: &StatusReport) -> anyhow::Result<()> {
    let own = env!("CARGO_PKG_VERSION");
    if status.version != own {
        bail!("the daemon is of version {}, this is {own}: run `castellan restart` first", status.version);
    }
    Ok(())
}

/// Returns the set in force; `None` if there is none. The set on disk is used only if its hash matches the daemon's.
fn in_force(layout: &Layout, status: &StatusReport) -> Option<Layers> {
    read_applied(layout).ok().filter(|set| set.hash() == status.applied)
}

impl Proposal {
    fn read(layout: &Layout, status: &StatusReport) -> anyhow::Result<Proposal> {
        Proposal::of(FileSet::read(layout)?, layout, status)
    }

    /// Compares `files`, which need not be on disk, with the set in force.
    pub(super) fn of(files: FileSet, layout: &Layout, status: &StatusReport) -> anyhow::Result<Proposal> {
        check_version(status)?;
        let in_force = in_force(layout, status);
        let unknown = match (&in_force, status.applied.is_empty()) {
            (Some(_), _) => None,
            (None, true) => Some("nothing is in force: every file counts as new"),
            (None, false) => Some(
                "the applied set on disk is not the one in force, so somebody else has changed it: every file counts \
                 as new",
            ),
        };
        let before = in_force.as_ref().and_then(|set| ReadSet::of(set, layout).ok());
        let now = Layers::above(files.clone(), layout)?;
        let (after, config_error) = match ReadSet::of(&now, layout) {
            Ok(after) => (Some(after), None),
            Err(error) => (None, Some(error.to_string())),
        };
        let (case_files, of_cases) = match &after {
            Some(after) if after.compiled.error().is_none() => of_cases(after, &files, layout)?,
            _ => Default::default(),
        };
        Ok(Proposal {
            case_files,
            changes: changes::between(in_force.as_ref().map(|set| &set.user), &files),
            summary: summary_of(before.as_ref(), after.as_ref()),
            in_vain: after.as_ref().map(|after| after.config.in_vain()).unwrap_or_default(),
            problems: after
                .iter()
                .flat_map(ReadSet::problems)
                .chain(of_cases)
                .filter(|problem| !policy::is_shipped_warning(problem, &files.rules))
                .collect(),
            files,
            in_force,
            unknown,
            config_error,
            rejected: Vec::new(),
        })
    }

    /// Has Falco load the rules, if it tests those in force. A person is then not asked about rules that the daemon would
    /// refuse. Other programs than those in force do not run: an agent may have written their names.
    fn check_engine(&mut self, layout: &Layout) -> anyhow::Result<()> {
        let Some(in_force) = self.in_force.as_ref().filter(|_| !self.has_errors() && !self.is_nothing())
        else {
            return Ok(());
        };
        let now = Layers::above(self.files.clone(), layout)?;
        let engine = |set: &Layers| set.config(layout).map(|config| config.settings.engine);
        let (before, after) = (engine(in_force)?, engine(&now)?);
        let programs =
            |engine: &EngineSettings| engine.deciding_files().map(str::to_owned).collect::<Vec<_>>();
        if after.is_falco() && programs(&before) == programs(&after) {
            self.rejected = now.check_engine(layout).err().unwrap_or_default();
        }
        Ok(())
    }

    /// Reports whether the files equal the set in force, and the stored set is intact.
    fn is_nothing(&self) -> bool {
        self.in_force.as_ref().is_some_and(|set| set.user.hash() == self.files.hash())
    }

    /// Returns the compared files.
    pub(super) fn files(&self) -> &FileSet {
        &self.files
    }

    pub(super) fn has_errors(&self) -> bool {
        self.config_error.is_some()
            || !self.rejected.is_empty()
            || self.problems.iter().any(|problem| problem.severity == Severity::Error)
    }

    pub(super) fn write(&self, out: &mut impl Write, global: &Global) -> anyhow::Result<()> {
        if self.is_nothing() {
            global.note("nothing to apply: the files are those in force")?;
            return Ok(());
        }
        if let Some(unknown) = self.unknown {
            writeln!(out, "{WARNING} {unknown}\n")?;
        }
        for change in &self.changes {
            change.write(out)?;
            writeln!(out)?;
        }
        self.write_problems(out)?;
        if self.has_errors() {
            output::write_messages(out, ERROR, &self.rejected)?;
            writeln!(out, "{ERROR} these files do not load: nothing was applied")?;
        } else {
            output::write_messages(out, WARNING, &self.in_vain)?;
            self.summary.write(out)?;
        }
        Ok(())
    }

    fn write_problems(&self, out: &mut impl Write) -> anyhow::Result<()> {
        if let Some(error) = &self.config_error {
            writeln!(out, "{ERROR} {}\n", output::printable(error))?;
        }
        for problem in &self.problems {
            let mut sources = self.files.rules.iter().chain(&self.case_files);
            let source = sources.find(|source| source.name == problem.file);
            let rendered = problem.render(source.map(|source| source.text.as_str()));
            writeln!(out, "{}\n", output::printable_lines(&rendered))?;
        }
        Ok(())
    }

    fn json(&self, applied: bool) -> Json {
        let problems = self.problems.iter().map(Problem::one_line);
        json!({
            "applied": applied,
            "ok": !self.has_errors(),
            "files": self.changes.iter().map(Change::json).collect::<Vec<_>>(),
            "rules": self.summary.json(),
            "ignored": self.in_vain,
            "problems": self.config_error.iter().cloned().chain(problems).chain(self.rejected.iter().cloned()).collect::<Vec<_>>(),
            "hash": self.files.hash(),
        })
    }
}

/// Returns the cases beside the user's rule files, and their problems.
fn of_cases(
    after: &ReadSet,
    files: &FileSet,
    layout: &Layout,
) -> anyhow::Result<(Vec<Source>, Vec<Problem>)> {
    let own = layout.rules_user();
    let is_own = |source: &&Source| Path::new(&source.name).starts_with(&own);
    let user: Vec<Source> = files.rules.iter().filter(is_own).cloned().collect();
    case_files::problems(&user, &files.rules, &after.config, &after.compiled.policy)
}

fn summary_of(before: Option<&ReadSet>, after: Option<&ReadSet>) -> Summary {
    after.map(|after| Summary::between(before, after)).unwrap_or_default()
}
