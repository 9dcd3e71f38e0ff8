//! The agents' own forms: castellan's plugin for Claude Code and Codex, and its extension for Gemini CLI. Each archive has
//! two: `castellan`, with hooks and programs, and `castellan-commands`, without them. Must not know an archive's format.

use anyhow::Context;
use castellan_agents::{AgentId, OWN_PLUGIN_PROGRAMS, plugin_manifest};
use serde_json::{Value as Json, json};

use super::programs::Programs;
use super::tree::Tree;
use crate::root;

/// The agents with a plugin. Each has a folder of its word below `plugins/`.
pub(super) const AGENTS: [AgentId; 3] = [AgentId::CLAUDE, AgentId::CODEX, AgentId::GEMINI];

const WHOLE: &str = "castellan";
const COMMANDS: &str = "castellan-commands";

/// Returns the files of an agent's archive. `legal` are files that belong beside the programs.
pub(super) fn files(agent: AgentId, programs: &Programs, legal: &Tree) -> anyhow::Result<Tree> {
    let sources = root()?.join("plugins");
    let mut tree = Tree::default();
    tree.add_folder("", &sources.join(agent.word()))?;
    let manifest = plugin_manifest(agent);
    let mut commands = Tree::default();
    for (path, entry) in tree.files() {
        let Some(path) = path.strip_prefix(WHOLE).and_then(|path| path.strip_prefix('/')) else { continue };
        if path != manifest && !path.starts_with("hooks/") {
            commands.add(path, entry.mode, entry.bytes.clone())?;
        }
    }
    let mut skills = Tree::default();
    skills.add_folder("skills", &sources.join("skills"))?;
    tree.add_tree(COMMANDS, &commands)?;
    for plugin in [WHOLE, COMMANDS] {
        tree.add_tree(plugin, &skills)?;
        set_version(&mut tree, &format!("{plugin}/{manifest}"), &programs.version)?;
    }
    tree.add_tree(WHOLE, legal)?;
    tree.add_tree(&format!("{WHOLE}/{OWN_PLUGIN_PROGRAMS}"), &programs.tree)?;
    let sums = tree.checksums();
    tree.add_text("SHA256SUMS", &sums)?;
    Ok(tree)
}

/// Writes the version of the programs into a manifest.
fn set_version(tree: &mut Tree, path: &str, version: &str) -> anyhow::Result<()> {
    let text = &tree.get(path).with_context(|| format!("`{path}` is missing"))?.bytes;
    let mut manifest: Json = serde_json::from_slice(text).with_context(|| format!("`{path}` is no JSON"))?;
    let value = manifest.get_mut("version").with_context(|| format!("`{path}` has no version"))?;
    *value = json!(version);
    tree.replace(path, format!("{manifest:#}\n").into_bytes())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn made(agent: AgentId) -> Tree {
        let mut tree = Tree::default();
        for name in ["castellan", "castellan-hook", "castellan-sandbox"] {
            tree.add(name, 0o755, name.as_bytes()).unwrap();
        }
        let (version, platform) = ("7.8.9".to_owned(), "x".to_owned());
        let programs = Programs { version, platform, castellan: PathBuf::new(), tree, library: None };
        let mut legal = Tree::default();
        legal.add_text("LICENSE", "text").unwrap();
        files(agent, &programs, &legal).unwrap()
    }

    #[test]
    fn only_the_whole_plugin_has_hooks_and_programs() {
        for agent in AGENTS {
            let tree = made(agent);
            for file in [
                "hooks/hooks.json",
                "bin/castellan-hook",
                "bin/castellan",
                "bin/castellan-sandbox",
                "LICENSE",
            ] {
                assert!(tree.get(&format!("{WHOLE}/{file}")).is_some(), "{agent:?} {file}");
                assert!(tree.get(&format!("{COMMANDS}/{file}")).is_none(), "{agent:?} {file}");
            }
            for plugin in [WHOLE, COMMANDS] {
                let of = |below: &str| {
                    let start = format!("{plugin}/{below}");
                    tree.files().filter(|(path, _)| path.starts_with(&start)).count()
                };
                // Two commands, as skills where the agent has no commands of plugins; and three skills.
                assert_eq!(of("commands/") + of("skills/"), 5, "{agent:?} {plugin}");
                let manifest = tree.get(&format!("{plugin}/{}", plugin_manifest(agent))).unwrap();
                let manifest: Json = serde_json::from_slice(&manifest.bytes).unwrap();
                assert_eq!((&manifest["name"], &manifest["version"]), (&json!(plugin), &json!("7.8.9")));
            }
        }
    }

    #[test]
    fn no_text_for_an_agent_names_a_command_that_loosens() {
        const LOOSENING: &[&str] = &[
            "castellan approve",
            "castellan allow",
            "castellan mode",
            "castellan pause",
            "castellan stop",
            "castellan uninstall",
            "castellan trust",
            "castellan resume",
        ];
        for agent in AGENTS {
            for (path, entry) in
                made(agent).files().filter(|(path, _)| path.ends_with(".md") || path.ends_with(".toml"))
            {
                if path == "README.md" {
                    continue;
                }
                let text = String::from_utf8_lossy(&entry.bytes).into_owned();
                // `castellan stopped a call` names no command.
                let is_named = |word: &str| {
                    let mut after = text.split(word).skip(1);
                    after.any(|rest| !rest.starts_with(|c: char| c.is_ascii_alphabetic()))
                };
                for word in LOOSENING {
                    assert!(!is_named(word), "{path} names `{word}`");
                }
            }
        }
    }
}
