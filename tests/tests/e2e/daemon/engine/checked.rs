//! New rules while a Falco is the engine: Falco loads them before they come into force, whatever puts them there.

use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use castellan_tests::falco::{self, Play};
use castellan_tests::home::Home;
use castellan_tests::hook::{ENFORCE, RULES, bash};
use castellan_tests::terminal;
use castellan_tests::wait::until;

use super::{LIMIT, answer, falco as falco_of, status, wait_for_state};

const REASON: &str = "Falco rejects the rule `Test more`: filter error (LOAD_ERR_COMPILE_CONDITION)";

/// A home whose Falco judges, with this configuration.
fn judging(name: &str, config: &str) -> anyhow::Result<Home> {
    let home = Home::with_castellan(name, ENFORCE, RULES)?;
    falco::install(&home, &format!("{ENFORCE}{config}"))?;
    home.start_daemon()?;
    wait_for_state(&home, "judging")?;
    Ok(home)
}

/// Adds a rule that denies the word `novel`.
fn edit(home: &Home) -> anyhow::Result<()> {
    let more = "- rule: Test more\n  desc: d\n  condition: tool.input_command contains novel\n  output: o\n  priority: \
                CRITICAL\n  source: coding_agent\n  tags: [coding_agent_deny]\n";
    home.write(&home.castellan().join("config/rules/user/test.yaml"), &format!("{RULES}{more}"))
}

/// The rules of before are in force, and their Falco judges.
fn is_as_before(home: &Home) -> anyhow::Result<()> {
    ensure!(answer(home, &bash("novel"))? == "defer" && answer(home, &bash("echo forbidden"))? == "deny");
    Ok(())
}

#[test]
fn an_apply_of_rules_that_falco_rejects_changes_nothing() -> anyhow::Result<()> {
    let home = judging("engine-apply", "")?;
    let before = falco_of(&home)?;
    falco::play(&home, &Play::Rejects("Test more".to_owned()))?;
    edit(&home)?;
    let checked = home.run_castellan(&["apply", "--check"]).unwrap_err().to_string();
    ensure!(checked.contains("exits with Some(1)") && checked.contains(REASON), "{checked}");
    let done = terminal::run_castellan(&home, &["apply", "--yes"])?;
    ensure!(done.code == Some(1) && done.stdout.contains(REASON), "{done:?}");
    is_as_before(&home)?;
    ensure!(falco_of(&home)? == before, "another Falco");
    falco::play(&home, &Play::Judges)?;
    let done = terminal::run_castellan(&home, &["apply", "--yes"])?;
    ensure!(done.code == Some(0), "{done:?}");
    ensure!(answer(&home, &bash("novel"))? == "deny");
    Ok(())
}

#[test]
fn watched_rules_that_falco_rejects_change_nothing_until_they_are_mended() -> anyhow::Result<()> {
    let home = judging("engine-watch", "[rules]\nreload = \"watch\"\n")?;
    let before = falco_of(&home)?;
    falco::play(&home, &Play::Rejects("Test more".to_owned()))?;
    edit(&home)?;
    let found =
        until(LIMIT, || Ok(status(&home)["problems"].to_string().contains("Test more").then_some(())))?;
    found.with_context(|| format!("the status has no reason: {}", status(&home)["problems"]))?;
    ensure!(status(&home)["problems"].to_string().contains("LOAD_ERR_COMPILE_CONDITION"));
    is_as_before(&home)?;
    ensure!(falco_of(&home)? == before, "another Falco");
    falco::play(&home, &Play::Judges)?;
    home.write(&home.castellan().join("config/rules/user/other.yaml"), "# The next edit is a new try.\n")?;
    let judged = until(LIMIT, || Ok((answer(&home, &bash("novel"))? == "deny").then_some(())))?;
    judged.context("the rules are not in force")?;
    Ok(())
}

/// castellan does not know then whether Falco loads the rules, so they do not come into force. Calls and the status go on
/// meanwhile.
#[test]
fn a_falco_that_hangs_while_it_loads_rules_ends_the_change_alone() -> anyhow::Result<()> {
    let home = judging("engine-hangs", "")?;
    falco::play(&home, &Play::HangsAtVersion)?;
    edit(&home)?;
    let done = std::thread::scope(|scope| {
        let applying = scope.spawn(|| terminal::run_castellan(&home, &["apply", "--yes"]));
        let start = Instant::now();
        let mut slowest = Duration::ZERO;
        while !applying.is_finished() {
            let begin = Instant::now();
            is_as_before(&home)?;
            ensure!(status(&home)["engine"]["state"] == "judging");
            slowest = slowest.max(begin.elapsed());
            ensure!(start.elapsed() < 2 * LIMIT, "it does not end");
        }
        ensure!(slowest < Duration::from_secs(5), "they wait: {slowest:?}");
        applying.join().map_err(|_| anyhow::anyhow!("a panic"))?
    })?;
    ensure!(done.code == Some(1) && done.stdout.contains("--version` did not end within 5 s"), "{done:?}");
    is_as_before(&home)
}
