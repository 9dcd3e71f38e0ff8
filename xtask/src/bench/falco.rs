//! `cargo xtask bench falco`: both engines side by side: the hook from spawn to exit, decided calls a second, and the rows of
//! all cases. They need the `falco` on PATH; without one they do not run. The plugin's extraction needs none.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use castellan_wire::Home;
use serde_json::json;

use super::spawn::{self, Case};
use super::{ASKED, DEFERRED, Server, start_daemon, throughput};
use crate::{build, falco};

/// The time in which Falco must have loaded the rules.
const READY: Duration = Duration::from_secs(60);

/// A daemon with one of the engines.
struct Engine {
    name: &'static str,
    home: Home,
    daemon: Server,
}

pub(crate) fn falco(words: &[&str]) -> anyhow::Result<()> {
    let calls = match words {
        [] => 500,
        ["--calls", n] => n.parse().context("--calls takes a number")?,
        _ => bail!("bench falco takes --calls N"),
    };
    match falco::on_path() {
        Some(program) => engines(&program, calls)?,
        None => println!(
            "not run: no `falco` is on PATH, so nothing about both engines was measured. Install Falco 0.43 or later. \
             castellan's stand-in shows nothing about Falco's speed; to try this command itself, link {STAND_IN} as `falco` \
             in a folder of PATH."
        ),
    }
    println!("\nThe plugin's extraction of each field, through the C interface.\n");
    succeed(falco::cargo(&["run", "--quiet", "--example", "extraction"])?.arg("--release"))
}

/// Remarks about programs in Falco's place, by a word of their versions.
const NOTES: [(&str, &str); 2] = [
    ("stand-in", "It is no Falco: it tests rules by castellan's engine. None of these figures is Falco's."),
    (
        "libsinsp",
        "It is Falco's core, libsinsp, without Falco's reader of rule files: `plugins/falco/libsinsp/host.cpp`.",
    ),
];

/// The stand-in, below the root of the project.
const STAND_IN: &str = "`target/falco-plugin/release/examples/stand_in`";

/// Measures castellan's own engine beside this Falco.
fn engines(program: &Path, calls: usize) -> anyhow::Result<()> {
    let built = build::release()?;
    build::cargo(&["build", "--release", "--package", "castellan-trial", "--example", "both_engines"], "")?;
    succeed(falco::cargo(&falco::BUILD)?.arg("--release"))?;
    let (library, _) = falco::built("release")?;
    let version = version(program)?;
    println!("\n{version}");
    for (_, note) in NOTES.iter().filter(|(word, _)| version.contains(word)) {
        println!("{note}");
    }
    println!();
    let place = tempfile::tempdir()?;
    let bin = place.path().join("bin");
    std::fs::create_dir(&bin)?;
    let hook = bin.join("castellan-hook");
    for (from, to) in [(&built.hook, &hook), (&built.castellan, &bin.join("castellan"))] {
        std::fs::copy(from, to)?;
    }
    let of_falco =
        format!("[engine]\nkind = \"falco\"\nfalco = {}\nplugin = {}\n", json!(program), json!(library));
    let engines = [start("native", place.path(), "")?, start("falco", place.path(), &of_falco)?];
    println!("{}", hook_table(&hook, &engines, calls)?);
    println!("{}", throughput::side_by_side(&engines.each_ref().map(|engine| (engine.name, &engine.home)))?);
    drop(engines);
    println!("The shipped rules on the rows of all their cases, without daemon and hook.\n");
    succeed(Command::new(build::target()?.join("release/examples/both_engines")).args([program, &library]))
}

/// Returns the first line of `falco --version`.
fn version(program: &Path) -> anyhow::Result<String> {
    let output = Command::new(program).arg("--version").output();
    let output = output.with_context(|| format!("{} cannot be started", program.display()))?;
    ensure!(output.status.success(), "{} --version failed: {}", program.display(), output.status);
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().next().unwrap_or_default().trim().to_owned())
}

/// Starts a daemon and waits until its engine judges.
fn start(name: &'static str, place: &Path, settings: &str) -> anyhow::Result<Engine> {
    let home = Home::new(place.join(name)).context("a temporary folder with a relative path")?;
    let config = home.dir().join("config");
    std::fs::create_dir_all(&config)?;
    std::fs::write(config.join("config.toml"), format!("version = 1\n{settings}"))?;
    let daemon = start_daemon(&place.join("bin/castellan"), &home)?;
    let engine = Engine { name, home, daemon };
    let hook = place.join("bin/castellan-hook");
    let until = Instant::now() + READY;
    loop {
        // Without its engine, the daemon denies.
        let output = engine.case(&hook, "", DEFERRED).output()?;
        if output.is_empty() {
            break;
        }
        ensure!(Instant::now() < until, "the engine `{name}` does not judge: {output}");
        std::thread::sleep(Duration::from_millis(100));
    }
    let output = engine.case(&hook, "", ASKED).output()?;
    ensure!(output.contains("\"ask\""), "the engine `{name}` answered `{output}`");
    Ok(engine)
}

impl Engine {
    fn case<'e>(&'e self, hook: &'e Path, name: &'static str, input: &'static str) -> Case<'e> {
        let words = ["--agent", "claude", "--event", "PreToolUse", "--home"].map(str::to_owned);
        let arguments = words.into_iter().chain([self.home.dir().display().to_string()]).collect();
        Case::new(name, hook, arguments, input, &self.daemon)
    }
}

fn hook_table(hook: &Path, [native, falco]: &[Engine; 2], calls: usize) -> anyhow::Result<String> {
    let cases = [
        native.case(hook, "native, deferred call", DEFERRED),
        falco.case(hook, "falco, deferred call", DEFERRED),
        native.case(hook, "native, asked call", ASKED),
        falco.case(hook, "falco, asked call", ASKED),
    ];
    let mut table = format!(
        "The hook from spawn to exit, {calls} calls each, interleaved; µs.\n\n| | wall p50 | wall p99 |\n|---|---|---|\n"
    );
    for row in spawn::measure(&cases, calls)? {
        writeln!(table, "| {} | {:.0} | {:.0} |", row.name, row.wall_p50_us, row.wall_p99_us)?;
    }
    Ok(table)
}

fn succeed(command: &mut Command) -> anyhow::Result<()> {
    let status = command.status().with_context(|| format!("{command:?} cannot be started"))?;
    ensure!(status.success(), "{command:?} failed: {status}");
    Ok(())
}
