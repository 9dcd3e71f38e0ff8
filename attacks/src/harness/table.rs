//! The table of docs/sandbox-attacks.md: each attack in castellan's sandbox, in bubblewrap and in the sandbox-runtime.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use anyhow::Context;

use super::sandbox::{BUBBLEWRAP, Level, RUNTIME, RuntimeFiles, Sandbox};
use super::scene::{Place, User};
use super::server::Internet;
use super::trial::{Verdict, run};
use crate::attempts::{Attack, Evidence, TOPICS};

const HEAD: &str = "\
# Attacks on the sandbox

castellan's sandbox beside bubblewrap alone and Anthropic's sandbox-runtime, on the same attacks. `cargo xtask attacks --write` makes this
page; do not edit.

A harness prepares a workspace, a home folder with invented secrets, processes, sockets and servers, and looks itself at whether an attack got
something. Each attack succeeds without a sandbox, or the row says that it proves nothing for this user. The attacks are in
`attacks/src/attempts/`; `attacks/expected.toml` names the attacks that castellan does not block, with the reasons.

castellan has more rules for this comparison than a command line of bubblewrap: it knows protected files and limits. A longer command line can
do a part of that, too. The table compares what a user gets who writes what the guides say.

";

/// The verdicts of one sandbox, in the order of [`TOPICS`].
struct Column {
    name: &'static str,
    verdicts: Vec<Verdict>,
}

/// Runs all attacks and returns the page. `program` is the attack; without `runtime` the page has no column for it.
///
/// # Errors
///
/// A scene that cannot be made.
pub fn table(program: &Path, runtime: Option<RuntimeFiles>) -> anyhow::Result<String> {
    let place = Place::new(program)?;
    let internet = Internet::start()?;
    let mut page = HEAD.to_owned();
    page.push_str(&machine(runtime.as_ref())?);
    let mut sandboxes = vec![Sandbox::None, Sandbox::Castellan(Level::Full), Sandbox::Bubblewrap];
    sandboxes.extend(runtime.map(Sandbox::Runtime));
    for user in User::all() {
        let columns: Vec<Column> = std::thread::scope(|scope| {
            let start = |sandbox| {
                let (place, internet) = (&place, &internet);
                scope.spawn(move || column(sandbox, *user, place, internet))
            };
            let threads: Vec<_> = sandboxes.iter().map(start).collect();
            let end = |thread: std::thread::ScopedJoinHandle<'_, anyhow::Result<Column>>| {
                thread.join().unwrap_or_else(|_| Err(anyhow::anyhow!("a thread of the harness ended")))
            };
            threads.into_iter().map(end).collect::<anyhow::Result<_>>()
        })?;
        let who = if user.name() == "root" { "root" } else { "an ordinary user" };
        write!(page, "\n## As {who}\n\n{}", summary(&columns)?)?;
        write!(page, "\n### Each attack as {who}\n\n{}", rows(&columns)?)?;
    }
    Ok(page)
}

fn column(sandbox: &Sandbox, user: User, place: &Place, internet: &Internet) -> anyhow::Result<Column> {
    let verdicts = TOPICS
        .iter()
        .flat_map(|(_, attacks)| attacks.iter())
        .map(|attack| run(attack, sandbox, user, place, internet))
        .collect::<anyhow::Result<_>>()?;
    let name = match sandbox {
        Sandbox::Castellan(_) => "castellan",
        Sandbox::None | Sandbox::Bubblewrap | Sandbox::Runtime(_) => sandbox.name(),
    };
    Ok(Column { name, verdicts })
}

fn machine(runtime: Option<&RuntimeFiles>) -> anyhow::Result<String> {
    let said = |program: &str, words: &[&str]| -> anyhow::Result<String> {
        let output = Command::new(program).args(words).output().with_context(|| program.to_owned())?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let mut text = format!(
        "Made on {} with Linux {}, {}.\n\n* bubblewrap: `{BUBBLEWRAP}`\n",
        said("date", &["-u", "+%Y-%m-%d"])?,
        said("uname", &["-rm"])?,
        said("bwrap", &["--version"])?
    );
    if let Some(files) = runtime {
        let cli = files.cli.display().to_string();
        let version = Command::new(&files.node).args([&cli, "--version"]).output()?;
        let version = String::from_utf8_lossy(&version.stdout).trim().to_owned();
        writeln!(text, "* sandbox-runtime {version}: `srt --settings FILE`, with {RUNTIME}")?;
    }
    text.push_str("* castellan: the policy that writes a workspace, with the secrets, protected files and limits of the harness\n");
    Ok(text)
}

/// The counts of blocked attacks by topic.
fn summary(columns: &[Column]) -> anyhow::Result<String> {
    let mut text = head("| topic | attacks that prove something |", columns)?;
    let mut start = 0;
    for (topic, attacks) in TOPICS {
        let range = start..start + attacks.len();
        start = range.end;
        let is_work = attacks.iter().all(|attack| attack.evidence == Evidence::Works);
        let counts = |column: &Column, index: usize| column.verdicts.get(index).map(cell).unwrap_or("?");
        let none = columns.first().context("no columns")?;
        let proved: Vec<usize> =
            range.filter(|index| counts(none, *index) == cell(&Verdict::Succeeded(String::new()))).collect();
        let wanted = if is_work { "possible" } else { "blocked" };
        write!(text, "| {topic} | {} |", proved.len())?;
        for column in columns.iter().skip(1) {
            let succeeded = |index: &&usize| {
                column.verdicts.get(**index).is_some_and(|one| matches!(one, Verdict::Succeeded(_)))
            };
            let count = proved.iter().filter(|index| succeeded(index) == is_work).count();
            write!(text, " {count} {wanted} |")?;
        }
        text.push('\n');
    }
    Ok(text)
}

fn head(first: &str, columns: &[Column]) -> anyhow::Result<String> {
    let mut text = first.to_owned();
    let mut line = "|---".repeat(first.matches('|').count() - 1);
    for column in columns.iter().skip(1) {
        write!(text, " {} |", column.name)?;
        line.push_str("|---");
    }
    Ok(format!("{text}\n{line}|\n"))
}

fn rows(columns: &[Column]) -> anyhow::Result<String> {
    let mut text = head("| attack | without |", columns)?;
    let attacks = TOPICS.iter().flat_map(|(_, attacks)| attacks.iter());
    for (index, Attack { name, says, .. }) in attacks.enumerate() {
        write!(text, "| `{name}`: {says} |")?;
        for column in columns {
            write!(text, " {} |", column.verdicts.get(index).map_or("?", cell))?;
        }
        text.push('\n');
    }
    Ok(text)
}

fn cell(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Succeeded(_) => "succeeds",
        Verdict::Blocked(_) => "blocked",
        Verdict::Unsupported(_) => "not possible",
        Verdict::Broken(_) => "did not run",
    }
}
