//! `cargo xtask bench state`: measures the daemon's memory for sessions and grants, and the daemon's start with them.
//! The state has the daemon's own format; a state that the daemon rejects is an error.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, ensure};
use castellan_wire::Home;
use serde_json::{Value as Json, json};

use super::{Server, start_daemon, stats};
use crate::build;

/// Sessions and grants that must fit into 20 MB.
const SESSIONS: usize = 1_000;
const GRANTS: usize = 10_000;

/// The state of a session: marks of a few rules, and paths of a day's work.
const MARKS: usize = 4;
const PATHS: usize = 50;

/// Measures a daemon without state and a daemon with it.
pub(crate) fn state() -> anyhow::Result<()> {
    let castellan = build::release()?.castellan;
    let place = tempfile::tempdir()?;
    let home = Home::new(place.path().join("home")).context("a temporary folder with a relative path")?;
    let (empty, empty_ms) = start(&castellan, &home)?;
    let before = stats::resident_kib(empty.pid())?;
    drop(empty);

    let journal = home.dir().join("state/journal");
    let written = std::fs::read_to_string(&journal).context("the daemon has written no state")?;
    let header = written.lines().next().context("the state is empty")?;
    let text = made(header)?;
    let mut file = File::options().write(true).truncate(true).mode(0o600).open(&journal)?;
    file.write_all(text.as_bytes())?;

    let (full, full_ms) = start(&castellan, &home)?;
    let after = stats::resident_kib(full.pid())?;
    let status = Command::new(&castellan).args(["status", "--json", "--home"]).arg(home.dir()).output()?;
    let status: Json = serde_json::from_slice(&status.stdout).context("no status")?;
    let count = |key| status.get(key).and_then(Json::as_u64);
    let kept = (count("sessions"), count("grants"));
    ensure!(kept == (Some(SESSIONS as u64), Some(GRANTS as u64)), "the daemon has not taken it: {status}");
    println!(
        "{SESSIONS} sessions with {MARKS} marks and {PATHS} written paths each, {GRANTS} grants\n\n\
         | | without | with |\n|---|---|---|\n\
         | on disk | | {:.1} MB |\n\
         | daemon, resident | {:.1} MiB | {:.1} MiB |\n\
         | that is | | {:.1} MB |\n\
         | start, until it listens | {empty_ms:.0} ms | {full_ms:.0} ms |",
        text.len() as f64 / 1e6,
        before as f64 / 1024.0,
        after as f64 / 1024.0,
        after.saturating_sub(before) as f64 * 1024.0 / 1e6,
    );
    Ok(())
}

const STARTS: usize = 11;
/// Limit of a start.
const START_MAX_MS: u64 = 50;

/// Measures the time until a daemon with all shipped packs listens.
pub(crate) fn starts() -> anyhow::Result<String> {
    let castellan = build::release()?.castellan;
    let place = tempfile::tempdir()?;
    let home = Home::new(place.path().join("home")).context("a temporary folder with a relative path")?;
    // The first start writes the daemon's files.
    start(&castellan, &home)?;
    let mut times = Vec::new();
    for _ in 0..STARTS {
        times.push(start(&castellan, &home)?.1);
    }
    times.sort_by(f64::total_cmp);
    let (least, median) = (times.first().copied(), times.get(STARTS / 2).copied());
    let (least, median) = least.zip(median).context("nothing was measured")?;
    Ok(format!(
        "\nStart of a daemon with all packs, until it listens, {STARTS} times: median {median:.0} ms, least {least:.0} ms; \
         target: {START_MAX_MS} ms."
    ))
}

/// Starts a daemon. Returns it with the milliseconds until it listens.
fn start(castellan: &Path, home: &Home) -> anyhow::Result<(Server, f64)> {
    let begun = Instant::now();
    let daemon = start_daemon(castellan, home)?;
    Ok((daemon, begun.elapsed().as_secs_f64() * 1e3))
}

fn made(header: &str) -> anyhow::Result<String> {
    let mut text = format!("{header}\n");
    for number in 0..SESSIONS {
        session(&mut text, number)?;
    }
    for number in 0..GRANTS {
        let lifts = [[
            "ask_rule",
            "Ask before a change that cannot be undone",
            "user",
            "git push --force to a branch that others use (origin main)",
        ]];
        let granted = json!({
            "request": number, "call": key(number), "session": key(number % SESSIONS), "scope": "session",
            "given": { "wall_s": 1_700_000_000, "boot_s": 1000 }, "until": null,
            "subject": {
                "agent": "claude_code", "cwd": "/home/user/project", "tool": "Bash",
                "preview": "git push --force origin main",
            },
            "parts": [{ "lifts": lifts, "scripts": [] }],
        });
        writeln!(text, "{}", json!({ "granted": granted }))?;
    }
    Ok(text)
}

fn session(text: &mut String, number: usize) -> anyhow::Result<()> {
    let root = key(number);
    let workspace = json!({ "path": format!("/home/user/project-{number}"), "is_border": true });
    let session = json!({ "id": root, "root": root, "seen_ms": 0, "workspace": workspace });
    writeln!(text, "{}", json!({ "session": session }))?;
    writeln!(text, "{}", json!({ "process": { "pid": 1000 + number, "started": number, "root": root } }))?;
    for mark in 0..MARKS {
        let mark =
            json!({ "root": root, "label": format!("a mark of rules, {mark}"), "count": 3, "at_ms": 0 });
        writeln!(text, "{}", json!({ "mark": mark }))?;
    }
    let path = |path: usize| format!("/home/user/project-{number}/src/a/module/of/it/file_{path}.rs");
    let paths: Vec<String> = (0..PATHS).map(path).collect();
    let written = json!({ "root": root, "paths": paths, "downloaded": [], "is_full": false });
    writeln!(text, "{}", json!({ "written": written }))?;
    Ok(())
}

/// Returns a hash in its written form.
fn key(number: usize) -> String {
    format!("{number:064x}")
}
