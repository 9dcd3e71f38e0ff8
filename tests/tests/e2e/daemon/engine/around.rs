//! The work around the test of rules, with a Falco as the engine: consent, a project's own rules, profiles and packs.

use anyhow::{Context, ensure};
use castellan_tests::falco::Play;
use castellan_tests::home::Home;
use castellan_tests::hook::{bash, run, understood};
use castellan_tests::terminal;
use serde_json::Value as Json;

use super::{answer, falco, home, last_call, wait_for_state};

/// Asks about a command as Codex, which gets a deny instead of an ask.
fn ask(home: &Home, command: &str) -> anyhow::Result<String> {
    Ok(understood(&run(home, "codex", "PreToolUse", bash(command).to_string().as_bytes())?))
}

#[test]
fn an_approved_call_runs_once() -> anyhow::Result<()> {
    let home = home("falco-consent", &Play::Judges)?;
    home.start_daemon()?;
    wait_for_state(&home, "judging")?;
    ensure!(ask(&home, "doubtful")? == "deny");
    let shown: Json = serde_json::from_str(&home.run_castellan(&["pending", "--json"])?.stdout)?;
    let id = shown["pending"][0]["id"].as_str().context("no call waits")?.to_owned();
    let approved = terminal::run_castellan(&home, &["approve", &id, "--yes"])?;
    ensure!(approved.code == Some(0), "{approved:?}");
    for (command, expected) in [("doubtful; ls", "deny"), ("doubtful", "defer"), ("doubtful", "deny")] {
        let found = ask(&home, command)?;
        ensure!(found == expected, "{command}: {found}");
    }
    Ok(())
}

/// Falco keeps its rules, so it runs on.
#[test]
fn a_projects_rules_and_other_settings_need_no_other_falco() -> anyhow::Result<()> {
    const FORCED: &str = "git push --force origin main";
    let home = home("falco-project", &Play::Judges)?;
    let rule = "- rule: Project deny\n  desc: d\n  condition: cmd.name = projectword\n  output: the project denies\n  \
                priority: CRITICAL\n  source: coding_agent\n  tags: [coding_agent_deny]\n";
    home.write(&home.workspace().join(".castellan/config.toml"), "version = 1\n")?;
    home.write(&home.workspace().join(".castellan/rules/own.yaml"), rule)?;
    home.start_daemon()?;
    wait_for_state(&home, "judging")?;
    let before = falco(&home)?;
    let workspace = home.workspace().canonicalize()?.display().to_string();
    let inside = |command: &str| {
        let mut call = bash(command);
        call["cwd"] = workspace.as_str().into();
        call
    };
    ensure!(answer(&home, &inside("projectword x"))? != "deny");
    let trusted = terminal::run_castellan(&home, &["trust", "--yes", &workspace])?;
    ensure!(trusted.code == Some(0), "{trusted:?}");
    ensure!(answer(&home, &inside("projectword x"))? == "deny");
    ensure!(last_call(&home)?.to_string().contains("Project deny"));
    // Falco has judged the other rules of the same call.
    ensure!(answer(&home, &inside("echo forbidden"))? == "deny");
    ensure!(last_call(&home)?.to_string().contains("Test deny"));
    ensure!(answer(&home, &bash(FORCED))? != "defer");
    for words in [&["packs", "git", "observe"][..], &["profile", "strict"], &["mode", "monitor"]] {
        let done = terminal::run_castellan(&home, words)?;
        ensure!(done.code == Some(0), "{done:?}");
    }
    ensure!(answer(&home, &bash("echo forbidden"))? == "defer" && last_call(&home)?["verdict"] == "deny");
    let done = terminal::run_castellan(&home, &["mode", "enforce"])?;
    ensure!(done.code == Some(0), "{done:?}");
    answer(&home, &bash(FORCED))?;
    let findings = last_call(&home)?["findings"].clone();
    let is_observed = |one: &Json| one["lifted"] == "observe" && one["layer"] == "user";
    ensure!(findings.as_array().is_some_and(|all| all.iter().any(is_observed)), "{findings}");
    ensure!(falco(&home)? == before, "another Falco");
    Ok(())
}
