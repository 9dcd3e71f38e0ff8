//! `castellan log`: shows the records, follows new ones and verifies their chains.

mod line;
mod outside;
mod shown;
mod verify;

pub(crate) use verify::problems;

use std::io::Write;
use std::path::Path;
use std::time::SystemTime;

use castellan_agents::AgentId;
use castellan_audit::{Entry, Filter, Follower, Reading};
use castellan_event::Verdict;

use crate::exit::Exit;
use crate::global::Global;
use crate::limits::FOLLOW_POLL;
use crate::output::{self, NOTE, WARNING};
use crate::pager;
use crate::{times, values};

/// Options of `castellan log`.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Options {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    wanted: Wanted,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Check that no record was changed, moved or removed
    Verify(verify::Options),
}

/// The selection of records.
#[derive(Debug, clap::Args)]
struct Wanted {
    /// Keep printing new records
    #[arg(long, short)]
    follow: bool,

    /// Only the last N records; default: 10 with --follow, otherwise all
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,

    /// Only calls with this verdict
    #[arg(long, value_parser = values::verdict(), ignore_case = true)]
    verdict: Option<Verdict>,

    /// Only records of this agent
    #[arg(long, value_parser = values::agent(), ignore_case = true)]
    agent: Option<AgentId>,

    /// Only records of the session with this id
    #[arg(long, value_name = "ID")]
    session: Option<String>,

    /// Only calls on which a rule fired whose name contains RULE
    #[arg(long)]
    rule: Option<String>,

    /// Only records of this tool
    #[arg(long)]
    tool: Option<String>,

    /// Only calls with this request id, such as `K7`
    #[arg(long, value_name = "ID")]
    request: Option<String>,

    /// Only records since TIME: `2h`, `today`, `yesterday`, `2026-11-20`, `2026-11-20 14:00` or `2026-11-20T13:00:00Z`
    #[arg(long, value_name = "TIME", value_parser = times::parse)]
    since: Option<SystemTime>,

    /// Only records before TIME
    #[arg(long, value_name = "TIME", value_parser = times::parse)]
    until: Option<SystemTime>,

    /// Do not use a pager; default: `$CASTELLAN_PAGER`, `$PAGER` or `less` if the output is a terminal
    #[arg(long)]
    no_pager: bool,

    /// Show the events of sessions too: prompts, starts, ends and completed calls; --json always has them
    #[arg(long)]
    events: bool,

    /// Print the records unchanged, one JSON object per line
    #[arg(long)]
    json: bool,
}

/// Records shown before the new ones with `--follow`.
const FOLLOW_FIRST: usize = 10;

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let dir = global.layout()?.log();
    match &options.command {
        Some(Command::Verify(options)) => verify::run(global, &dir, options),
        None if options.wanted.follow => follow(global, &dir, &options.wanted),
        None => show(global, &dir, &options.wanted),
    }
}

fn show(global: &Global, dir: &Path, wanted: &Wanted) -> anyhow::Result<Exit> {
    let Reading { entries, unreadable } = castellan_audit::read(dir, &wanted.filter())?;
    let is_long = !wanted.no_pager && !entries.is_empty();
    pager::with(is_long, |mut out| {
        entries.iter().try_for_each(|entry| write_entry(&mut out, entry, global, wanted))
    })?;
    let mut err = anstream::stderr();
    if entries.is_empty() && !global.quiet && !wanted.json {
        writeln!(err, "{NOTE} no such record in {}", output::printable(&dir.display().to_string()))?;
    }
    for broken in &unreadable {
        let (file, line, what) = (&broken.file, broken.line, output::printable(&broken.what));
        writeln!(err, "{WARNING} {file}:{line}: not readable: {what}: run `castellan log verify`")?;
    }
    Ok(if unreadable.is_empty() { Exit::Done } else { Exit::No })
}

fn follow(global: &Global, dir: &Path, wanted: &Wanted) -> anyhow::Result<Exit> {
    let filter = wanted.filter();
    // Starts before the read, so that no record is missed. A record seen twice is dropped by its number.
    let mut follower = Follower::new(dir, true)?;
    let mut out = anstream::stdout();
    let mut last = 0;
    let first = Filter { limit: filter.limit.or(Some(FOLLOW_FIRST)), ..filter.clone() };
    for entry in castellan_audit::read(dir, &first)?.entries {
        last = entry.seq;
        write_entry(&mut out, &entry, global, wanted)?;
    }
    out.flush()?;
    loop {
        let entries = follower.next_entries()?;
        if entries.is_empty() {
            if filter.until.is_some_and(|until| until <= SystemTime::now()) || reader_is_gone() {
                return Ok(Exit::Done);
            }
            std::thread::sleep(FOLLOW_POLL);
        }
        for entry in entries.iter().filter(|entry| entry.seq > last && filter.matches(entry)) {
            write_entry(&mut out, entry, global, wanted)?;
        }
        out.flush()?;
    }
}

/// Reports whether the reader of standard output is gone. A waiting follower writes nothing and would not notice.
fn reader_is_gone() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    let stdout = std::io::stdout();
    let mut fds = [PollFd::new(&stdout, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let polled = poll(&mut fds, Some(&now));
    polled.is_ok_and(|ready| ready > 0) && fds.iter().any(|fd| fd.revents().contains(PollFlags::ERR))
}

fn write_entry(out: &mut impl Write, entry: &Entry, global: &Global, wanted: &Wanted) -> anyhow::Result<()> {
    if wanted.json {
        writeln!(out, "{}", entry.line)?;
    } else if global.verbose {
        line::write_whole(out, entry, output::columns())?;
    } else {
        line::write(out, entry, output::columns())?;
    }
    Ok(())
}

impl Wanted {
    fn filter(&self) -> Filter {
        Filter {
            verdict: self.verdict.map(|verdict| verdict.as_str().to_owned()),
            agent: self.agent.map(|agent| agent.name().to_owned()),
            session: self.session.clone(),
            rule: self.rule.clone(),
            tool: self.tool.clone(),
            request: self.request.clone(),
            since: self.since,
            until: self.until,
            without_events: !self.events && !self.json,
            limit: self.limit,
        }
    }
}
