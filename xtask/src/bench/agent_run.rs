//! `cargo xtask bench run`: the cost of `castellan run` for the start of an agent and for its stream. Each figure stands
//! beside that of the plain program in the same run: the agent itself, and `cat` in the place of the copy.

use std::fmt::Write as _;
use std::fs::{File, Permissions};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, ensure};
use castellan_wire::Home;
use serde_json::json;

use super::spawn::{self, Case};
use super::start_daemon;
use super::stats::percentile;
use crate::build;

/// Starts of each program.
const STARTS: usize = 200;

/// Lines of the stream: responses with texts of [`TEXT_BYTES`], and each tenth one a result of a tool with ten times that.
const LINES: usize = 40_000;
const TEXT_BYTES: usize = 2_000;

/// The agent writes these lines so many times, so that its start has no part in the throughput.
const REPEATS: u64 = 8;

/// Copies of the stream.
const COPIES: usize = 9;

/// Tokens that no stream here reaches.
const BUDGET: &str = "1000000000000";

pub(crate) fn agent_run() -> anyhow::Result<()> {
    let built = build::release()?;
    let place = tempfile::tempdir()?;
    let home = Home::new(place.path().join("home")).context("a temporary folder with a relative path")?;
    let bin = place.path().join("bin");
    std::fs::create_dir(&bin)?;
    let castellan = bin.join("castellan");
    std::fs::copy(&built.castellan, &castellan)?;
    std::fs::copy(&built.hook, bin.join("castellan-hook"))?;
    let agent = bin.join("claude");
    let stream = place.path().join("stream");
    write_stream(&stream)?;
    // Started with a stream it prints the file, else it ends at once.
    let whole = format!("{} ", stream.display()).repeat(usize::try_from(REPEATS)?);
    let script = format!("#!/bin/sh\ncase \"$*\" in *stream-json*) exec cat {whole};; esac\n");
    std::fs::write(&agent, script)?;
    std::fs::set_permissions(&agent, Permissions::from_mode(0o755))?;
    let daemon = start_daemon(&castellan, &home)?;
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
    let user = place.path().join("user");
    register(&castellan, &home, &user)?;
    let run =
        words(&["--home", &home.dir().display().to_string(), "run", "--", &agent.display().to_string()]);
    let with_settings: Vec<String> = run
        .iter()
        .flat_map(|word| if word == "--" { words(&["--own-settings", "--"]) } else { vec![word.clone()] })
        .collect();
    let cases = [
        Case::new("agent", &agent, Vec::new(), "", &daemon),
        Case::new("castellan run -- agent", &castellan, run.clone(), "", &daemon).in_home(&user),
        Case::new("castellan run --own-settings -- agent", &castellan, with_settings, "", &daemon)
            .in_home(&user),
    ];
    let starts = spawn::measure(&cases, STARTS)?;
    let mut report =
        format!("### Start and end of an agent, {STARTS} times\n\n| | p50 ms | p99 ms |\n|---|---:|---:|\n");
    for start in &starts {
        let (p50, p99) = (start.wall_p50_us / 1000.0, start.wall_p99_us / 1000.0);
        writeln!(report, "| {} | {p50:.1} | {p99:.1} |", start.name)?;
    }
    let streamed = words(&["-p", "--output-format", "stream-json"]);
    let with_budget = run
        .iter()
        .flat_map(|word| {
            if word == "--" { words(&["--budget-invocation", BUDGET, "--"]) } else { vec![word.clone()] }
        })
        .chain(streamed.clone())
        .collect();
    let runs = [
        ("castellan run -- agent", run.into_iter().chain(streamed).collect()),
        ("castellan run --budget-invocation TOKENS -- agent", with_budget),
    ];
    let bytes = std::fs::metadata(&stream)?.len() * REPEATS;
    report.push_str(&stream_table((&castellan, &user), &agent, &runs, bytes)?);
    println!("{report}");
    Ok(())
}

/// Registers castellan's hooks in the settings of a user who has nothing else: no agent starts without them.
fn register(castellan: &Path, home: &Home, user: &Path) -> anyhow::Result<()> {
    let mut print = Command::new(castellan);
    print.arg("--home").arg(home.dir()).args(["install", "claude", "--print"]).env("HOME", user);
    let printed = print.output().context("castellan cannot be started")?;
    ensure!(printed.status.success(), "no hooks: {}", String::from_utf8_lossy(&printed.stderr));
    let folder = user.join(".claude");
    std::fs::create_dir_all(&folder)?;
    Ok(std::fs::write(folder.join("settings.json"), printed.stdout)?)
}

/// Writes lines as Claude Code does.
fn write_stream(file: &Path) -> anyhow::Result<()> {
    let mut out = std::io::BufWriter::new(File::create(file)?);
    let text = "the quick brown fox jumps over the lazy dog ".repeat(TEXT_BYTES / 44);
    for number in 0..LINES {
        let line = if number % 10 == 0 {
            let content = json!([{"type": "tool_result", "tool_use_id": "t", "content": text.repeat(10)}]);
            json!({"type": "user", "message": {"role": "user", "content": content}, "session_id": "bench"})
        } else {
            let usage = json!({"input_tokens": 3, "output_tokens": 5, "cache_read_input_tokens": 20_000});
            let content = json!([{"type": "text", "text": text}]);
            let message = json!({"id": format!("msg_{number}"), "content": content, "usage": usage});
            json!({"type": "assistant", "message": message, "session_id": "bench"})
        };
        writeln!(out, "{line}")?;
    }
    Ok(out.flush()?)
}

/// Compares the copies of the stream by `castellan run` with one by `cat`, in turns.
fn stream_table(
    (castellan, user): (&Path, &Path),
    agent: &Path,
    runs: &[(&str, Vec<String>)],
    bytes: u64,
) -> anyhow::Result<String> {
    let mut plain = Vec::new();
    let mut through = vec![Vec::new(); runs.len()];
    for _ in 0..COPIES {
        let mut cat = Command::new("sh");
        cat.args(["-c", "\"$1\" stream-json | cat", "sh"]).arg(agent);
        plain.push(copy_mb_s(cat, bytes)?);
        for ((_, run), speeds) in runs.iter().zip(&mut through) {
            let mut copy = Command::new(castellan);
            copy.args(run).env("HOME", user).env_remove("CLAUDE_CONFIG_DIR");
            speeds.push(copy_mb_s(copy, bytes)?);
        }
    }
    let plain = percentile(&mut plain, 50.0);
    let mut table = format!(
        "\n### A stream of {} MB, {COPIES} times\n\n| | MB/s, p50 | share |\n|---|---:|---:|\n\
         | agent, then `cat` | {plain:.0} | 100 % |\n",
        bytes / 1_000_000,
    );
    for ((name, _), speeds) in runs.iter().zip(&mut through) {
        let speed = percentile(speeds, 50.0);
        writeln!(table, "| `{name}` | {speed:.0} | {:.0} % |", speed / plain * 100.0)?;
    }
    Ok(table)
}

/// Returns the millions of bytes a second that a reader gets.
fn copy_mb_s(mut command: Command, bytes: u64) -> anyhow::Result<f64> {
    let started = Instant::now();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let mut from = child.stdout.take().context("no output")?;
    let copied = std::io::copy(&mut from, &mut std::io::sink())?;
    let took = started.elapsed();
    ensure!(child.wait()?.success() && copied == bytes, "{copied} of {bytes} bytes were copied");
    #[expect(clippy::cast_precision_loss, reason = "a few hundred million are exact")]
    Ok(bytes as f64 / 1e6 / took.as_secs_f64())
}
