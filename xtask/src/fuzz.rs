//! `cargo xtask fuzz`: coverage-guided fuzzing of one or all targets for a limited time. Starts from the corpus in
//! `fuzz/corpus`. New inputs are stored below `target/`, because `fuzz/corpus` holds only inputs that a person chose.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};

use crate::root;

/// Seconds of fuzzing for all targets together.
const SECONDS: u64 = 60;

/// Limit of one input in seconds, on a busy machine and with coverage counters.
const INPUT_SECONDS_MAX: u64 = 20;

pub(crate) fn fuzz(words: &[&str]) -> anyhow::Result<()> {
    if let ["--children", rest @ ..] = words {
        return children(rest);
    }
    let (mut seconds, mut target, mut if_present) = (SECONDS, None, false);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match *word {
            "--seconds" => {
                let number = words.next().context("`--seconds` needs a number")?;
                seconds = number.parse().with_context(|| format!("`{number}` is not a number of seconds"))?;
            }
            "--if-present" => if_present = true,
            name if name.starts_with('-') => bail!("unknown option `{name}`"),
            name => target = Some(name),
        }
    }
    if !has_compiler() {
        ensure!(if_present, "libFuzzer is built with a C++ compiler, and `c++` is none");
        eprintln!(
            "\n!! there is no C++ compiler for libFuzzer: NOTHING IS FUZZED, the corpus is replayed only\n"
        );
        return Ok(());
    }
    let all = targets()?;
    let chosen: Vec<&String> = all.iter().filter(|name| target.is_none_or(|only| only == *name)).collect();
    ensure!(!chosen.is_empty(), "unknown target, it is one of {}", all.join(", "));
    let each = (seconds / chosen.len() as u64).max(1);
    // Builds first, so that the whole time is spent on fuzzing.
    let built = build(&chosen)?;
    for name in chosen {
        run(&built.join(name), name, each)?;
    }
    Ok(())
}

/// Fuzzes texts of grammar tokens, in child processes.
fn children(words: &[&str]) -> anyhow::Result<()> {
    let mut cargo = Command::new("cargo");
    cargo.args(["run", "--release", "-p", "castellan-fuzz-bodies", "--bin", "castellan-fuzz-children", "--"]);
    let status = cargo.args(words).current_dir(root()?).status().context("cargo cannot be started")?;
    ensure!(status.success(), "a text ended its process, or took too long");
    Ok(())
}

fn has_compiler() -> bool {
    let compiler = std::env::var_os("CXX").unwrap_or_else(|| "c++".into());
    let mut command = Command::new(compiler);
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn targets() -> anyhow::Result<Vec<String>> {
    let folder = root()?.join("fuzz/fuzz_targets");
    let files = std::fs::read_dir(&folder).with_context(|| format!("{} cannot be read", folder.display()))?;
    let name = |path: &Path| Some(path.file_stem()?.to_str()?.to_owned());
    let mut names: Vec<String> = files.flatten().filter_map(|file| name(&file.path())).collect();
    names.sort();
    Ok(names)
}

/// Flags for libFuzzer's coverage counters, the same as cargo-fuzz's. There is no address sanitizer: it needs a nightly
/// toolchain and halves the speed, and no fuzzed code is unsafe.
const FLAGS: &[&str] = &[
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Cllvm-args=-sanitizer-coverage-stack-depth",
    "-Cdebug-assertions",
    "-Ccodegen-units=1", // With these flags, nothing is inlined across codegen units.
    "--cfg=fuzzing",
];

/// Builds targets, and returns the folder of the programs.
fn build(names: &[&String]) -> anyhow::Result<PathBuf> {
    let (folder, host) = (root()?.join("target/fuzz/build"), host()?);
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--release", "--manifest-path", "fuzz/Cargo.toml"]).current_dir(root()?);
    // With a named target, cargo does not pass the flags to build scripts and macros.
    cargo.args(["--target", &host]).arg("--target-dir").arg(&folder);
    for name in names {
        cargo.args(["--bin", name]);
    }
    cargo.env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join("\u{1f}"));
    let status = cargo.status().context("cargo cannot be started")?;
    ensure!(status.success(), "the fuzz targets do not build: {status}");
    Ok(folder.join(host).join("release"))
}

/// Returns the compiler's name of this machine.
fn host() -> anyhow::Result<String> {
    let output = Command::new("rustc").arg("-vV").output().context("rustc cannot be started")?;
    let text = String::from_utf8(output.stdout)?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("rustc does not name its host")
}

/// Fuzzes a target for some seconds. New inputs stay for the next run; failing inputs go to `target/fuzz/artifacts`.
fn run(program: &Path, name: &str, seconds: u64) -> anyhow::Result<()> {
    let (found, artifacts) = (format!("target/fuzz/corpus/{name}"), format!("target/fuzz/artifacts/{name}/"));
    std::fs::create_dir_all(root()?.join(&found))?;
    std::fs::create_dir_all(root()?.join(&artifacts))?;
    println!("== {name} ({seconds} s)");
    let mut fuzzer = Command::new(program);
    fuzzer.args([found, format!("fuzz/corpus/{name}")]).current_dir(root()?);
    fuzzer.arg(format!("-max_total_time={seconds}")).arg(format!("-timeout={INPUT_SECONDS_MAX}"));
    fuzzer.arg(format!("-artifact_prefix={artifacts}")).args(["-verbosity=0", "-print_final_stats=1"]);
    let status = fuzzer.status().with_context(|| format!("`{name}` cannot be started"))?;
    ensure!(status.success(), "fuzzing `{name}` found what breaks it: {status}, see {artifacts}");
    Ok(())
}
