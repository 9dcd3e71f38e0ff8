//! Agents are named in `crates/agents` only. No literal elsewhere in `crates/*/src` equals an agent's word or name, one
//! of its events, or a path of its settings. Tests may name them.

use std::path::Path;

use anyhow::Context;
use castellan_agents::{AgentId, agent_literals};

use crate::root;

/// Places that may name agents, with the reason.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("crates/hook/src/failure/table.rs", "`cargo xtask gen` makes it from the agents' data"),
    ("crates/programs/src", "models of programs: an agent is a program, too"),
];

/// Returns the forbidden names.
pub(super) fn named_elsewhere() -> anyhow::Result<Vec<String>> {
    let words: Vec<&str> = AgentId::ALL.into_iter().flat_map(agent_literals).collect();
    let mut wrong = Vec::new();
    for entry in std::fs::read_dir(root()?.join("crates")).context("no folder `crates`")? {
        let folder = entry?.path();
        if !folder.ends_with("agents") {
            look(&folder.join("src"), &words, &mut wrong)?;
        }
    }
    wrong.sort();
    Ok(wrong)
}

fn look(folder: &Path, words: &[&str], wrong: &mut Vec<String>) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(folder).with_context(|| format!("no folder `{}`", folder.display()))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default();
        if path.is_dir() {
            if name != "tests" {
                look(&path, words, wrong)?;
            }
        } else if path.extension().is_some_and(|ending| ending == "rs") && name != "tests.rs" {
            let text = std::fs::read_to_string(&path)?;
            let file = path.strip_prefix(root()?).unwrap_or(&path).display().to_string();
            wrong.extend(named(&file, &text, words));
        }
    }
    Ok(())
}

/// Returns the literals of a source file that name an agent. Its tests begin at `#[cfg(test)]`, at its end.
fn named(file: &str, text: &str, words: &[&str]) -> Vec<String> {
    let code = text.split_once("\n#[cfg(test)]\nmod tests {").map_or(text, |(code, _)| code);
    let lines = code.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
    let found = lines.flat_map(|(at, line)| {
        let literals = line.split('"').skip(1).step_by(2);
        literals.filter(|literal| words.contains(literal)).map(move |literal| (at + 1, literal))
    });
    let is_excepted = EXCEPTIONS.iter().any(|(place, _)| file.starts_with(place));
    found
        .filter(|_| !is_excepted)
        .map(|(line, literal)| {
            format!("{file}:{line}: `{literal}` names an agent: it belongs into crates/agents")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_literal_that_names_an_agent_is_found() {
        let words: Vec<&str> = AgentId::ALL.into_iter().flat_map(agent_literals).collect();
        let check = |text: &str, expected: usize| {
            assert_eq!(named("crates/daemon/src/x.rs", text, &words).len(), expected, "{text}");
        };
        check("let a = \"claude\";", 1);
        check("f(\"x\", \"PreToolUse\", \".codex/hooks.json\")", 2);
        check("let dir = \".claude\";", 1);
        check("let name = \"GEMINI_CLI_HOME\";", 1);
        check("// \"claude\"\nlet a = \"claudette\";", 0);
        check("let a = 1;\n\n#[cfg(test)]\nmod tests {\n\"claude\"", 0);
        assert!(named("crates/programs/src/x.rs", "\"claude\"", &words).is_empty());
    }
}
