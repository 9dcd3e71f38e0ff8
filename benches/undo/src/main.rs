//! `castellan-bench-undo`: measures checkpoints, listings with their comparison, and restores. `cargo xtask bench undo` runs
//! it in the folder for temporary files, or in the folder of its argument. Exits with 1 over a target.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, ensure};
use castellan_checkpoint::{Budget, Limits, Listing, Scope, Store};
use rustix::time::{ClockId, clock_gettime};

const ROUNDS: usize = 21;

/// Files of the checkpoint, and bytes of each.
const SMALL_FILES: usize = 1_000;
const SMALL_BYTES: usize = 2_000;

/// Files of the listing.
const LISTED_FILES: usize = 10_000;

/// Files in one directory.
const PER_DIRECTORY: usize = 50;

/// A step, its times in ms, and the target of their median. The second times are those of the processor: other programs of
/// the machine change them less.
struct Measured {
    what: &'static str,
    times: Vec<(f64, f64)>,
    max_ms: f64,
}

fn main() -> ExitCode {
    match print() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("castellan-bench-undo: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn print() -> anyhow::Result<()> {
    let place = match std::env::args_os().nth(1) {
        Some(dir) => tempfile::tempdir_in(dir)?,
        None => tempfile::tempdir()?,
    };
    let top = place.path().canonicalize()?;
    let measured = checkpoints(&top)?.into_iter().chain([edit(&top)?, listing(&top)?]);
    println!(
        "{ROUNDS} rounds; ms.\n\n| step | median | slowest | processor | target |\n|---|---|---|---|---|"
    );
    let mut over = Vec::new();
    for Measured { what, times, max_ms } in measured {
        let sorted = |of: fn(&(f64, f64)) -> f64| {
            let mut sorted: Vec<f64> = times.iter().map(of).collect();
            sorted.sort_by(f64::total_cmp);
            sorted
        };
        let middle = |sorted: &[f64]| sorted.get(sorted.len() / 2).copied().unwrap_or_default();
        let wall = sorted(|(wall, _)| *wall);
        let (median, processor) = (middle(&wall), middle(&sorted(|(_, processor)| *processor)));
        let slowest = wall.last().copied().unwrap_or_default();
        let target = if max_ms.is_finite() { max_ms.to_string() } else { String::new() };
        println!("| {what} | {median:.2} | {slowest:.2} | {processor:.2} | {target} |");
        if median > max_ms {
            over.push(format!("{what}: {median:.2} ms, more than {max_ms}"));
        }
    }
    ensure!(over.is_empty(), "{}", over.join("; "));
    Ok(())
}

/// A first checkpoint of small files, one more of the same files, and a restore after all are deleted.
fn checkpoints(top: &Path) -> anyhow::Result<Vec<Measured>> {
    let measured = |what, max_ms| Measured { what, times: Vec::new(), max_ms };
    let mut first = measured("checkpoint of 1,000 small files", 150.0);
    let mut again = measured("the same, unchanged", 150.0);
    let mut back = measured("restore of 1,000 deleted files", f64::INFINITY);
    for round in 0..ROUNDS {
        let root = make(top, &format!("small-{round}"), SMALL_FILES)?;
        let store = Store::open(&top.join(format!("store-{round}")), Budget::default())?.store;
        first.times.push(timed(|| store.take("first", "bench", &root, Scope::Workspace))?);
        again.times.push(timed(|| store.take("again", "bench", &root, Scope::Workspace))?);
        fs::remove_dir_all(&root)?;
        back.times.push(timed(|| store.restore("first", None))?);
        let found = Listing::read(&root, &Limits::default())?.entries.len();
        ensure!(found == SMALL_FILES + SMALL_FILES / PER_DIRECTORY, "{found} entries were put back");
        fs::remove_dir_all(&root)?;
    }
    Ok(vec![first, again, back])
}

/// The checkpoint before an edit of one small file.
fn edit(top: &Path) -> anyhow::Result<Measured> {
    let root = make(top, "edited", SMALL_FILES)?;
    let store = Store::open(&top.join("store-edit"), Budget::default())?.store;
    let paths = [PathBuf::from("3/7")];
    let mut times = Vec::new();
    for round in 0..ROUNDS * 10 {
        fs::write(root.join("3/7"), format!("{round}").repeat(500))?;
        let scope = Scope::Paths { paths: &paths, with_history: false };
        times.push(timed(|| store.take(&format!("e{round}"), "bench", &root, scope))?);
    }
    Ok(Measured { what: "checkpoint before an edit of one small file", times, max_ms: 0.3 })
}

/// Two listings with their comparison.
fn listing(top: &Path) -> anyhow::Result<Measured> {
    let root = make(top, "listed", LISTED_FILES)?;
    let mut times = Vec::new();
    for round in 0..ROUNDS {
        let (mut before, mut changes) = (None, None);
        let first = timed(|| Listing::read(&root, &Limits::default()).map(|listing| before = Some(listing)))?;
        fs::write(root.join("5/5"), format!("{round}"))?;
        let second = timed(|| {
            let after = Listing::read(&root, &Limits::default())?;
            changes = before.as_ref().map(|before| before.changes(&after));
            anyhow::Ok(())
        })?;
        times.push((first.0 + second.0, first.1 + second.1));
        let changes = changes.context("nothing was compared")?;
        ensure!(changes.changed == [PathBuf::from("5/5")], "{changes:?}");
    }
    Ok(Measured { what: "two listings of 10,000 files, compared", times, max_ms: 60.0 })
}

/// Makes small files of different contents.
fn make(top: &Path, name: &str, files: usize) -> anyhow::Result<PathBuf> {
    let root = top.join(name);
    for file in 0..files {
        let folder = root.join((file / PER_DIRECTORY).to_string());
        fs::create_dir_all(&folder)?;
        let text = format!("{name} {file}\n");
        let text = text.repeat(SMALL_BYTES / text.len());
        fs::write(folder.join((file % PER_DIRECTORY).to_string()), text)
            .context("a file cannot be written")?;
    }
    Ok(root)
}

/// Returns the milliseconds of a step, and those of the processor.
fn timed<T, E>(work: impl FnOnce() -> Result<T, E>) -> anyhow::Result<(f64, f64)>
where
    anyhow::Error: From<E>,
{
    let (started, worked) = (Instant::now(), processor_ms());
    work()?;
    Ok((started.elapsed().as_secs_f64() * 1e3, processor_ms() - worked))
}

fn processor_ms() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}
