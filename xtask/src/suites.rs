//! `cargo xtask test`: every test suite, each under a budget of minutes, so that a hang is a failure with a name. It
//! prints the seconds of each step.

mod clients;
mod executables;
mod falco;
mod kits;
mod matrix;
pub(crate) mod sandboxes;
mod steps;

use std::time::{Duration, Instant};

use anyhow::{bail, ensure};

use matrix::Share;
use steps::{Step, Timed};

/// A named list of steps.
struct Suite {
    name: &'static str,
    /// The budget.
    minutes: u64,
    when: When,
    steps: &'static [Step],
}

/// Which part of a suite the test command runs when no suite is named. A named suite always runs whole.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    Whole,
    /// A slow matrix: the commit chooses one fifth of its tests.
    Fifth,
    /// Only by its name.
    Named,
}

// Every build is one of the whole workspace: cargo builds a dependency anew for another choice of packages and so of
// features.
const SUITES: &[Suite] = &[
    Suite {
        name: "lint",
        minutes: 10,
        when: When::Whole,
        steps: &[
            Step::Run("cargo fmt --all --check"),
            Step::Run("cargo clippy --workspace --all-targets -- --deny warnings"),
            Step::Run("cargo xtask layers"),
            Step::Run("cargo xtask dependencies"),
        ],
    },
    Suite {
        name: "unit",
        minutes: 20,
        when: When::Whole,
        steps: &[
            Step::Run("cargo build --workspace"),
            Step::Run("cargo test --workspace --no-run"),
            Step::Tests {
                threads: None,
                belongs: |test| match test.package.as_str() {
                    END_TO_END => test.name == "castellan_tests",
                    ATTACKS => test.name != "full" && test.name != "levels" && test.name != "work",
                    _ => true,
                },
            },
            Step::Run("cargo xtask conformance all"),
            // A fresh seed: rules are written on the seeds 1 to 3.
            Step::Run("cargo xtask accuracy --ordinary"),
        ],
    },
    // The corpus is replayed by `unit`. Building the targets, everything in them counted, takes longer than all other
    // suites.
    Suite {
        name: "fuzz",
        minutes: 45,
        when: When::Named,
        steps: &[Step::Run("cargo xtask fuzz --if-present")],
    },
    Suite {
        name: "e2e",
        minutes: 15,
        when: When::Whole,
        steps: &[
            Step::Run("cargo build --workspace"),
            Step::Run("cargo xtask gen --check"),
            Step::Run("cargo xtask build-hook"),
            // These tests wait for processes most of the time.
            Step::Tests {
                threads: Some(4),
                belongs: |test| test.package == END_TO_END && test.name == "e2e",
            },
        ],
    },
    Suite {
        name: "agents",
        minutes: 10,
        when: When::Fifth,
        steps: &[
            Step::Clients,
            Step::Run("cargo build --workspace"),
            Step::Tests {
                threads: None,
                belongs: |test| test.package == END_TO_END && test.name == "agents",
            },
        ],
    },
    // Limits of processor time and of processes are those of a user: one test at a time.
    Suite {
        name: "attacks",
        minutes: 5,
        when: When::Whole,
        steps: &[
            Step::Run("cargo build --workspace"),
            Step::Tests { threads: Some(1), belongs: |test| test.package == ATTACKS && test.name == "full" },
        ],
    },
    Suite {
        name: "sandbox",
        minutes: 15,
        when: When::Named,
        steps: &[
            Step::Sandboxes,
            Step::Run("cargo build --workspace"),
            Step::Run(
                "cargo test --workspace --test full --test levels --test work --test boxed -- --test-threads=1",
            ),
        ],
    },
    Suite {
        name: "containment",
        minutes: 15,
        when: When::Named,
        steps: &[
            Step::Clients,
            Step::Run("cargo build --workspace"),
            Step::Run("cargo test --workspace --test containment -- --test-threads=2"),
        ],
    },
    Suite {
        name: "service",
        minutes: 25,
        when: When::Named,
        steps: &[
            Step::Clients,
            Step::Run("cargo build --workspace"),
            Step::FalcoPlugin,
            Step::Run("cargo test --workspace --test service -- --test-threads=1 --nocapture"),
            Step::Run("cargo test --workspace --test packages -- --test-threads=1"),
        ],
    },
    Suite {
        name: "plans",
        minutes: 10,
        when: When::Named,
        steps: &[
            Step::Clients,
            Step::Run("cargo build --workspace"),
            Step::Run("cargo test --workspace --test agents --test e2e -- plan review"),
        ],
    },
    Suite {
        name: "lockdown",
        minutes: 15,
        when: When::Named,
        steps: &[
            Step::Clients,
            Step::Kits,
            Step::Run("cargo build --workspace"),
            Step::Run("cargo test --workspace --test lockdown -- --test-threads=2"),
        ],
    },
    // The plugin is a workspace of its own, which no other suite builds. `unit` has the tests of the crates `rows` and
    // `engine`.
    Suite {
        name: "falco",
        minutes: 10,
        when: When::Whole,
        steps: &[
            Step::Run("cargo fmt --manifest-path plugins/falco/Cargo.toml --check"),
            Step::Run("cargo build --workspace"),
            Step::Run("cargo build --workspace --example case_rows --example both_engines"),
            Step::Falco,
        ],
    },
    Suite {
        name: "walks",
        minutes: 15,
        when: When::Named,
        steps: &[
            Step::Clients,
            Step::Run("cargo build --workspace"),
            Step::Tests {
                threads: Some(1),
                belongs: |test| test.package == END_TO_END && test.name == "walks",
            },
        ],
    },
];

const ATTACKS: &str = "castellan-attacks";
const END_TO_END: &str = "castellan-tests";

/// Runs the named suites whole; without a name every suite, but one fifth of a slow matrix.
pub(crate) fn test(names: &[&str]) -> anyhow::Result<()> {
    if let Some(unknown) = names.iter().find(|name| !SUITES.iter().any(|suite| suite.name == **name)) {
        bail!("unknown suite `{unknown}`");
    }
    let is_chosen = |suite: &&Suite| {
        if names.is_empty() { suite.when != When::Named } else { names.contains(&suite.name) }
    };
    let mut times = Vec::new();
    let mut failed = Vec::new();
    for suite in SUITES.iter().filter(is_chosen) {
        println!("== {} (at most {} minutes)", suite.name, suite.minutes);
        let started = Instant::now();
        let share =
            if names.is_empty() && suite.when == When::Fifth { Share::of_commit()? } else { Share::WHOLE };
        let outcome = run_suite(suite, share, &mut times);
        let word = if outcome.is_ok() { "ok" } else { "FAILED" };
        times
            .push(Timed { what: format!("{} {word}", suite.name), seconds: started.elapsed().as_secs_f32() });
        if let Err(error) = outcome {
            failed.push(format!("{}: {error:#}", suite.name));
        }
    }
    println!();
    times.iter().for_each(|time| println!("{time}"));
    ensure!(failed.is_empty(), "failed suites:\n  {}", failed.join("\n  "));
    Ok(())
}

fn run_suite(suite: &Suite, share: Share, times: &mut Vec<Timed>) -> anyhow::Result<()> {
    let until = Instant::now() + Duration::from_secs(60 * suite.minutes);
    for step in suite.steps {
        let started = Instant::now();
        let outcome = step.run(share, until);
        times.push(Timed { what: format!("    {step}"), seconds: started.elapsed().as_secs_f32() });
        outcome?;
    }
    Ok(())
}
