//! `cargo xtask bench contained`: a contained call beside the same call. This process is the agent: it asks the hook, and
//! runs the command of the answer.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use castellan_wire::Home;
use serde_json::{Value as Json, json};

use super::start_daemon;
use super::stats::percentile;
use crate::build;

const WARM_UP: usize = 10;
const CALLS: usize = 200;

/// Files of the workspace. castellan lists them before and after each contained call.
const FILES: usize = 1000;

/// castellan does not read the file of the first one, so it contains the call. It reads the second one.
const UNREAD: &str = "eval \"$(cat step)\"";
const READ: &str = "cat step";

/// The time in which the daemon has probed the machine.
const PROBE_LIMIT: Duration = Duration::from_secs(30);

struct Bench {
    hook: PathBuf,
    home: Home,
    user: PathBuf,
    workspace: PathBuf,
}

pub(crate) fn contained() -> anyhow::Result<()> {
    let built = build::release()?;
    // Not in `/tmp`, which is private in a sandbox.
    let place = tempfile::tempdir_in(build::target()?)?;
    let root = place.path().canonicalize()?;
    let (bin, user, workspace) = (root.join("bin"), root.join("user"), root.join("work"));
    for dir in [&bin, &user, &workspace.join(".git"), &workspace.join("src")] {
        std::fs::create_dir_all(dir)?;
    }
    for (from, name) in [
        (&built.castellan, "castellan"),
        (&built.hook, "castellan-hook"),
        (&built.launcher, "castellan-sandbox"),
    ] {
        std::fs::copy(from, bin.join(name))?;
    }
    for number in 0..FILES {
        std::fs::write(workspace.join(format!("src/{number}")), format!("{number}\n"))?;
    }
    std::fs::write(workspace.join("step"), "true\n")?;
    let home = Home::new(root.join("home")).context("a relative folder")?;
    std::fs::create_dir_all(home.dir().join("config"))?;
    std::fs::write(home.dir().join("config/config.toml"), "version = 1\n")?;
    let _daemon = start_daemon(&bin.join("castellan"), &home)?;
    let bench = Bench { hook: bin.join("castellan-hook"), home, user, workspace };
    let until = Instant::now() + PROBE_LIMIT;
    while bench.ask(UNREAD)?.is_none() {
        ensure!(Instant::now() < until, "castellan contains no call on this machine");
        std::thread::sleep(Duration::from_millis(50));
    }
    println!("{}", bench.table()?);
    Ok(())
}

impl Bench {
    fn table(&self) -> anyhow::Result<String> {
        let mut times: [Vec<f64>; 4] = Default::default();
        for round in 0..WARM_UP + CALLS {
            let (free, asked_free) = timed(|| self.ask(READ))?;
            ensure!(free.is_none(), "`{READ}` is contained");
            self.report(READ, READ)?;
            let (rewrite, asked) = timed(|| self.ask(UNREAD))?;
            let rewrite = rewrite.context("the call is not contained any more")?;
            let ((), contained) = timed(|| self.shell(&rewrite))?;
            self.report(UNREAD, &rewrite)?;
            let ((), plain) = timed(|| self.shell(UNREAD))?;
            if round >= WARM_UP {
                for (times, one) in times.iter_mut().zip([asked_free, asked, plain, contained]) {
                    times.push(one);
                }
            }
        }
        let names = [
            "answer, a call that runs freely",
            "answer, a contained call",
            "the call itself",
            "the call itself, contained",
        ];
        let mut table = format!(
            "### A contained call, {CALLS} times in turns; {FILES} files in the workspace\n\n\
             | | p50 ms | p99 ms |\n|---|---:|---:|\n"
        );
        let mut medians = Vec::new();
        for (name, times) in names.iter().zip(&mut times) {
            let (p50, p99) = (percentile(times, 50.0), percentile(times, 99.0));
            writeln!(table, "| {name} | {p50:.1} | {p99:.1} |")?;
            medians.push(p50);
        }
        if let [asked_free, asked, plain, contained] = medians.as_slice() {
            writeln!(table, "| added to the answer | {:.1} | |", asked - asked_free)?;
            writeln!(table, "| added to the call | {:.1} | |", contained - plain)?;
        }
        Ok(table)
    }

    /// Asks about a shell command. Returns the command that runs instead, if any.
    fn ask(&self, command: &str) -> anyhow::Result<Option<String>> {
        let output = self.hook("PreToolUse", command, command)?;
        let answer: Json = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let rewrite = answer.pointer("/hookSpecificOutput/updatedInput/command").and_then(Json::as_str);
        Ok(rewrite.map(str::to_owned))
    }

    /// Reports the end of a call.
    fn report(&self, asked: &str, ran: &str) -> anyhow::Result<()> {
        self.hook("PostToolUse", asked, ran).map(drop)
    }

    fn hook(&self, event: &str, asked: &str, ran: &str) -> anyhow::Result<Output> {
        let call = json!({
            "session_id": "bench", "transcript_path": "/nowhere", "cwd": self.workspace, "permission_mode": "default",
            "hook_event_name": event, "tool_name": "Bash", "tool_input": { "command": ran },
            "tool_use_id": format!("toolu_{}", asked.len()), "tool_response": {},
        });
        let mut hook = self.command(&self.hook);
        hook.args(["--agent", "claude", "--event", event, "--home"]).arg(self.home.dir());
        let mut child = hook.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().context("no hook")?;
        child.stdin.take().context("no input")?.write_all(call.to_string().as_bytes())?;
        let output = child.wait_with_output()?;
        ensure!(output.status.success(), "the hook ended with {}", output.status);
        Ok(output)
    }

    /// Runs a command as an agent does.
    fn shell(&self, command: &str) -> anyhow::Result<()> {
        let mut shell = self.command(Path::new("bash"));
        let status = shell.args(["-c", command]).stdin(Stdio::null()).status().context("no bash")?;
        ensure!(status.success(), "`{command}` ended with {status}");
        Ok(())
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.workspace).env("HOME", &self.user);
        command
    }
}

/// Returns a result with its time in milliseconds.
fn timed<T>(action: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<(T, f64)> {
    let started = Instant::now();
    let result = action()?;
    Ok((result, started.elapsed().as_secs_f64() * 1e3))
}
