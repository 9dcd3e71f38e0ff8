//! The calls that each agent makes under its rendered settings, with what becomes of them.

use serde_json::json;

use super::Step;
use crate::agents::Agent;
use crate::home::Home;
use crate::model::Block;

/// The paths that the calls name.
struct Named {
    outside: String,
    key: String,
    settings: String,
}

pub(super) fn steps(agent: Agent, home: &Home) -> Vec<Step> {
    let below = |path: std::path::PathBuf| path.display().to_string();
    let named = Named {
        outside: below(home.workspace().join("../outside-file")),
        key: below(home.user().join(".ssh/id_rsa")),
        settings: below(home.workspace().join(".claude/settings.local.json")),
    };
    match agent {
        Agent::Claude => claude(agent, &named),
        Agent::Codex => codex(agent, &named),
        Agent::Gemini | Agent::Qwen => gemini(agent, &named),
    }
}

fn planned(agent: Agent) -> Step {
    Step::runs(agent.shell("touch planned-file"), "repo/planned-file")
}

fn stop(agent: Agent, told: &'static str) -> Step {
    Step::stops(agent.shell("castellan stop"), None, told)
}

fn cat(agent: Agent, file: &str, told: &'static str) -> Step {
    Step::stops(agent.shell(&format!("cat {file}")), None, told)
}

fn claude(agent: Agent, named: &Named) -> Vec<Step> {
    let file = |tool: &str, path: &str| Block::call(tool, json!({"file_path": path, "content": "x"}));
    vec![
        planned(agent),
        stop(agent, "has been denied"),
        Step::stops(agent.shell("terraform destroy -h"), None, "haven't granted it"),
        Step::stops(agent.shell("touch other-file"), Some("repo/other-file"), "needs approval"),
        cat(agent, &named.key, "has been denied"),
        cat(agent, ".env", "has been denied"),
        Step::stops(Block::call("Read", json!({"file_path": named.key})), None, "denied by your permission"),
        Step::stops(file("Write", &named.outside), Some("outside-file"), "haven't granted it"),
        Step::stops(
            file("Write", &named.settings),
            Some("repo/.claude/settings.local.json"),
            "denied by your",
        ),
    ]
}

fn codex(agent: Agent, named: &Named) -> Vec<Step> {
    vec![
        planned(agent),
        stop(agent, "castellan denies this command"),
        Step::stops(agent.shell("terraform destroy -h"), None, "approval required by policy"),
        cat(agent, &named.key, "Permission denied"),
        cat(agent, ".env", "Permission denied"),
        Step::stops(agent.shell("touch ../outside-file"), Some("outside-file"), "Read-only file system"),
        Step::stops(
            agent.shell("touch .codex/new-file"),
            Some("repo/.codex/new-file"),
            "Read-only file system",
        ),
        Step::stops(
            Block::FreeCall {
                tool: "apply_patch".to_owned(),
                input: "*** Begin Patch\n*** Add File: ../patched-file\n+x\n*** End Patch".to_owned(),
            },
            Some("patched-file"),
            "rejected",
        ),
    ]
}

fn gemini(agent: Agent, named: &Named) -> Vec<Step> {
    vec![
        planned(agent),
        stop(agent, "castellan denies this command"),
        Step::stops(agent.shell("terraform destroy -h"), None, "requires user confirmation"),
        Step::stops(agent.shell("touch other-file"), Some("repo/other-file"), "denied by policy"),
        cat(agent, &named.key, "castellan denies reading a secret"),
        Step::stops(agent.shell("touch planned-file; cat .env"), None, "castellan denies reading a secret"),
        Step::stops(
            Block::call(
                "grep_search",
                json!({"pattern": "secret", "dir_path": ".", "include_pattern": ".env"}),
            ),
            None,
            "castellan denies reading a secret",
        ),
        Step::stops(
            Block::call("write_file", json!({"file_path": named.outside, "content": "x"})),
            Some("outside-file"),
            "",
        ),
        Step::stops(
            Block::call("write_file", json!({"file_path": ".gemini/settings.json", "content": "{}"})),
            None,
            "castellan denies changing settings",
        ),
    ]
}
