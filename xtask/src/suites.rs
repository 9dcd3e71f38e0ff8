//! `cargo xtask test`: runs every test suite within a limit of minutes, so that a hang is a failure with a name.

use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;

use crate::root;

/// A suite: its name, its limit in minutes, and its commands, as words separated by blanks.
struct Suite {
    name: &'static str,
    minutes: u64,
    /// Runs only when it is named.
    by_name: bool,
    steps: &'static [&'static str],
}

// Always the whole workspace: cargo rebuilds a dependency for every other choice of packages, and so of features.
const SUITES: &[Suite] = &[
    Suite {
        name: "lint",
        minutes: 10,
        by_name: false,
        steps: &[
            "cargo fmt --all --check",
            "cargo clippy --workspace --all-targets -- --deny warnings",
            "cargo xtask layers",
        ],
    },
    Suite {
        name: "unit",
        minutes: 20,
        by_name: false,
        steps: &[
            "cargo build --workspace",
            "cargo test --workspace --exclude castellan-tests",
            "cargo xtask conformance falco",
            "cargo xtask conformance rules",
            "cargo xtask conformance forerunners --facts",
            "cargo xtask conformance forerunners",
            "cargo xtask conformance disguises",
        ],
    },
    // `unit` replays the corpus. Building the targets with coverage counters takes longer than all other suites.
    Suite { name: "fuzz", minutes: 45, by_name: true, steps: &["cargo xtask fuzz --if-present"] },
    Suite {
        name: "e2e",
        minutes: 15,
        by_name: false,
        steps: &[
            "cargo build --workspace",
            "cargo xtask gen --check",
            "cargo xtask build-hook",
            "cargo test --workspace --test bad_input --test daemon --test hook",
        ],
    },
    Suite {
        name: "agents",
        minutes: 10,
        by_name: false,
        steps: &[
            "cargo build --workspace",
            "cargo test --workspace --test claude --test codex --test gemini --test qwen --test rig",
        ],
    },
];

/// The agents of the `agents` suite: the same table that the tests read.
const PINS: &str = include_str!("../../tests/agents.json");

pub(crate) fn test(names: &[&str]) -> anyhow::Result<()> {
    if let Some(unknown) = names.iter().find(|name| !SUITES.iter().any(|suite| suite.name == **name)) {
        bail!("unknown suite `{unknown}`");
    }
    let mut lines = Vec::new();
    let mut failed = Vec::new();
    let is_chosen =
        |suite: &&Suite| if names.is_empty() { !suite.by_name } else { names.contains(&suite.name) };
    for suite in SUITES.iter().filter(is_chosen) {
        println!("== {} (at most {} minutes)", suite.name, suite.minutes);
        let started = Instant::now();
        let outcome = run_suite(suite);
        let seconds = started.elapsed().as_secs();
        let word = if outcome.is_ok() { "ok" } else { "FAILED" };
        lines.push(format!("{:<8} {word:<8} {seconds:>5} s", suite.name));
        if let Err(error) = outcome {
            failed.push(format!("{}: {error:#}", suite.name));
        }
    }
    println!("\n{}", lines.join("\n"));
    ensure!(failed.is_empty(), "failed suites:\n  {}", failed.join("\n  "));
    Ok(())
}

fn run_suite(suite: &Suite) -> anyhow::Result<()> {
    let until = Instant::now() + Duration::from_secs(60 * suite.minutes);
    if suite.name == "agents" {
        install_agents(until)?;
    }
    for step in suite.steps {
        run_step(&step.split_ascii_whitespace().collect::<Vec<_>>(), until)?;
    }
    Ok(())
}

/// Installs the pinned agents into a cache below the target folder. Without npm, the suite warns about tests that it
/// cannot run; in CI that is a failure.
fn install_agents(until: Instant) -> anyhow::Result<()> {
    let agents = pinned_agents()?;
    let cache = root()?.join("target/agents");
    let installed = cache.join("installed");
    let wanted = agents.join("\n");
    if std::fs::read_to_string(&installed).is_ok_and(|present| present == wanted) {
        return Ok(());
    }
    if Command::new("npm").arg("--version").output().is_err() {
        eprintln!("\n!! npm is missing: the tests with real agents ({}) DO NOT RUN\n", agents.join(", "));
        ensure!(
            std::env::var_os("CI").is_none_or(|ci| ci != "true"),
            "in CI the real-agent tests must run: install Node.js and npm"
        );
        return Ok(());
    }
    std::fs::create_dir_all(&cache)?;
    let prefix = cache.display().to_string();
    let mut step = vec!["npm", "install", "--prefix", &prefix, "--no-audit", "--no-fund", "--ignore-scripts"];
    step.extend(agents.iter().map(String::as_str));
    run_step(&step, until)?;
    std::fs::write(installed, wanted).context("the agents' cache cannot be marked complete")
}

/// Returns `package@version` of each pin.
fn pinned_agents() -> anyhow::Result<Vec<String>> {
    let pins: Vec<Value> = serde_json::from_str(PINS).context("tests/agents.json is not a list")?;
    let text = |pin: &Value, key| pin.get(key).and_then(Value::as_str).map(str::to_owned);
    let package = |pin: &Value| Some(format!("{}@{}", text(pin, "package")?, text(pin, "version")?));
    pins.iter()
        .map(package)
        .collect::<Option<_>>()
        .context("a pin in tests/agents.json lacks package or version")
}

fn run_step(step: &[&str], until: Instant) -> anyhow::Result<()> {
    use std::os::unix::process::CommandExt;

    let (program, arguments) = step.split_first().context("an empty step")?;
    println!("$ {}", step.join(" "));
    let mut command = Command::new(program);
    command.args(arguments).current_dir::<&Path>(&root()?).process_group(0);
    let mut child = command.spawn().with_context(|| format!("`{program}` cannot be started"))?;
    let status =
        wait(&mut child, until)?.with_context(|| format!("`{}` was over its budget", step.join(" ")))?;
    ensure!(status.success(), "`{}` failed: {status}", step.join(" "));
    Ok(())
}

/// Waits for the child. At the end of the budget it kills the whole process group and returns `None`.
fn wait(child: &mut Child, until: Instant) -> anyhow::Result<Option<ExitStatus>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= until {
            let group =
                i32::try_from(child.id()).ok().and_then(Pid::from_raw).context("a child without a pid")?;
            let _ = kill_process_group(group, Signal::KILL);
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}
