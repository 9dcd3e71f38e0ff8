//! The layers of ARCHITECTURE.md, checked: a crate may depend only on lower ones, and the hook on nothing but `wire`.

use std::process::Command;

use anyhow::{Context, ensure};
use serde_json::Value;

use crate::root;

/// Each crate and its layer.
const LAYERS: &[(&str, u8)] = &[
    ("castellan-event", 0),
    ("castellan-wire", 0),
    ("castellan-rules", 1),
    ("castellan-agents", 1),
    ("castellan-policy", 2),
    ("castellan-audit", 3),
    ("castellan-daemon", 4),
    ("castellan-hook", 4),
    ("castellan-cli", 5),
];

/// All that the hook may link.
const HOOK_DEPENDENCIES: &[&str] = &["castellan-wire"];

pub(crate) fn check() -> anyhow::Result<()> {
    let output = Command::new("cargo")
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
        let normal =
            dependencies.iter().filter(|dependency| dependency.get("kind").is_none_or(Value::is_null));
        let names: Vec<&str> =
            normal.filter_map(|dependency| dependency.get("name").and_then(Value::as_str)).collect();
        wrong.extend(edges_that_climb(name, &names));
        let castellan =
            name.starts_with("castellan-") && !["castellan-tests", "castellan-floor"].contains(&name);
        if castellan && layer(name).is_none() {
            wrong.push(format!("{name} has no layer: name it in xtask/src/layers.rs and ARCHITECTURE.md"));
        }
    }
    ensure!(wrong.is_empty(), "layers:\n  {}", wrong.join("\n  "));
    println!("layers: {} crates, every edge goes down", LAYERS.len());
    Ok(())
}

fn edges_that_climb(name: &str, dependencies: &[&str]) -> Vec<String> {
    let Some(own) = layer(name) else { return Vec::new() };
    let climbs = |dependency: &&&str| match layer(dependency) {
        Some(other) => other >= own,
        None => name == "castellan-hook" && !HOOK_DEPENDENCIES.contains(dependency),
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
    }
}
