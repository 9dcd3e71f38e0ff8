//! Checks the layers of ARCHITECTURE.md: crates depend only on lower ones, the hook only on `wire`, and only `agents`
//! names an agent.

mod agents;
mod modules;

use std::process::Command;

use anyhow::{Context, ensure};
use serde_json::Value;

use crate::root;

const LAYERS: &[(&str, u8)] = &[
    ("castellan-event", 0),
    ("castellan-wire", 0),
    ("castellan-files", 0),
    ("castellan-inherit", 0),
    ("castellan-darwin", 0),
    ("castellan-proxy", 0),
    ("castellan-programs", 1),
    ("castellan-rows", 1),
    ("castellan-rules", 1),
    ("castellan-agents", 1),
    ("castellan-sandbox", 1),
    ("castellan-checkpoint", 1),
    ("castellan-reader", 1),
    ("castellan-launcher", 2),
    ("castellan-shell", 2),
    ("castellan-languages", 2),
    ("castellan-policy", 2),
    ("castellan-plans", 2),
    ("castellan-falco", 2),
    ("castellan-engine", 2),
    ("castellan-facts", 3),
    ("castellan-audit", 3),
    ("castellan-review", 3),
    ("castellan-daemon", 4),
    ("castellan-hook", 4),
    ("castellan-trial", 5),
    ("castellan-cli", 6),
];

/// Tests, benchmarks and fuzzing: they may use all crates, and no crate uses them.
const OUTSIDE: &[&str] = &[
    "castellan-attacks",
    "castellan-tests",
    "castellan-floor",
    "castellan-bench-decide",
    "castellan-bench-facts",
    "castellan-bench-plans",
    "castellan-bench-rules",
    "castellan-bench-sandbox",
    "castellan-bench-undo",
    "castellan-conformance",
    "castellan-corpus",
    "castellan-fuzz-bodies",
    "castellan-oracle",
    "castellan-ordinary",
    "castellan-same",
    "castellan-scripted-falco",
];

/// The crates of the hook. They link nothing else, so that the hook starts fast and can be read completely.
const STD_ONLY: &[(&str, &[&str])] = &[("castellan-wire", &[]), ("castellan-hook", &["castellan-wire"])];

/// Returns the names of castellan's own crates, which are installed or linked into what is.
pub(crate) fn crates() -> impl Iterator<Item = &'static str> {
    LAYERS.iter().map(|(name, _)| *name)
}

pub(crate) fn check() -> anyhow::Result<()> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .current_dir(root()?)
        .output()
        .context("cargo metadata cannot be started")?;
    let metadata: Value = serde_json::from_slice(&output.stdout).context("cargo metadata said no JSON")?;
    let packages =
        metadata.get("packages").and_then(Value::as_array).context("cargo metadata names no packages")?;
    let mut wrong = Vec::new();
    for package in packages {
        let name = package.get("name").and_then(Value::as_str).unwrap_or_default();
        let dependencies =
            package.get("dependencies").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        // Dev-dependencies are free; dependencies and build-dependencies are checked.
        let built = dependencies.iter().filter(|d| d.get("kind").and_then(Value::as_str) != Some("dev"));
        let names: Vec<&str> = built.filter_map(|d| d.get("name").and_then(Value::as_str)).collect();
        wrong.extend(edges_that_climb(name, &names));
        let castellan = name.starts_with("castellan-") && !OUTSIDE.contains(&name);
        if castellan && layer(name).is_none() {
            wrong.push(format!("{name} has no layer: name it in xtask/src/layers.rs and ARCHITECTURE.md"));
        }
    }
    wrong.extend(agents::named_elsewhere()?);
    wrong.extend(modules::circles()?);
    ensure!(wrong.is_empty(), "layers:\n  {}", wrong.join("\n  "));
    println!(
        "layers: {} crates, every edge goes down, modules are in no circle but the listed ones, no agent is named outside `agents`",
        LAYERS.len()
    );
    Ok(())
}

fn edges_that_climb(name: &str, dependencies: &[&str]) -> Vec<String> {
    let Some(own) = layer(name) else { return Vec::new() };
    let links = STD_ONLY.iter().find(|(std_only, _)| *std_only == name).map(|(_, links)| links);
    let climbs = |dependency: &&&str| match layer(dependency) {
        Some(other) => other >= own,
        None => links.is_some_and(|links| !links.contains(dependency)),
    };
    dependencies
        .iter()
        .filter(climbs)
        .map(|dependency| format!("{name} must not depend on {dependency}"))
        .collect()
}

fn layer(name: &str) -> Option<u8> {
    LAYERS.iter().find(|(crate_name, _)| *crate_name == name).map(|(_, layer)| *layer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_upwards_and_sideways_are_found() {
        assert!(edges_that_climb("castellan-policy", &["castellan-rules", "sha2"]).is_empty());
        assert_eq!(edges_that_climb("castellan-rules", &["castellan-policy"]).len(), 1);
        assert_eq!(edges_that_climb("castellan-rules", &["castellan-agents"]).len(), 1);
        assert_eq!(edges_that_climb("castellan-hook", &["castellan-wire", "libc"]).len(), 1);
        assert_eq!(edges_that_climb("castellan-wire", &["libc"]).len(), 1);
    }
}
