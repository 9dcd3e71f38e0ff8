//! Broken rule files and configurations: what was in force stays in force; without that, only reading is possible.

use castellan_tests::home::Home;
use castellan_tests::hook::{ENFORCE, RULES, bash, call, judge, understood};
use castellan_tests::process::until;
use rustix::process::{Signal, kill_process};
use serde_json::json;

use crate::{LIMIT, kill, status};

/// A user's own tag: without this configuration, the rule that has it denies nothing.
const OWN_TAG: &str = "version = 1\n[tags]\ndeny = \"my_deny\"\n";

fn own_tag_rules() -> String {
    RULES.replace("coding_agent_deny", "my_deny")
}

#[test]
fn a_broken_rule_file_at_start_leaves_the_last_good_set_in_force() -> anyhow::Result<()> {
    let home = Home::with_castellan("last-good", ENFORCE, RULES)?;
    let pid = home.start_daemon()?;
    kill(pid)?;
    let rules = home.castellan().join("config/rules/user/test.yaml");
    std::fs::write(&rules, format!("{RULES}\n- rule: broken\n  condition: tool.nam = x\n"))?;
    assert_eq!(understood(&judge(&home, &bash("forbidden"))?), "deny");
    assert_eq!(understood(&judge(&home, &bash("ls"))?), "defer");
    let status = status(&home);
    assert_eq!(status["policy_origin"], "last_good");
    let line = format!("test.yaml:{}:", RULES.lines().count() + 2);
    assert!(status["problems"].to_string().contains(&line), "{status}");
    Ok(())
}

#[test]
fn a_broken_rule_file_without_a_last_good_set_denies_all_but_reads() -> anyhow::Result<()> {
    let home = Home::with_castellan("no-policy", ENFORCE, "- rule: [")?;
    let denied = judge(&home, &bash("ls"))?;
    assert_eq!(understood(&denied), "deny");
    assert!(denied.stdout.contains("test.yaml:1:"), "names no file and line: {denied:?}");
    assert_eq!(
        understood(&judge(&home, &call("Write", &json!({"file_path": "/x", "content": ""})))?),
        "deny"
    );
    assert_eq!(understood(&judge(&home, &call("Read", &json!({"file_path": "/x"})))?), "defer");
    assert_eq!(status(&home)["policy_origin"], "missing");
    Ok(())
}

#[test]
fn a_broken_rule_file_at_run_time_changes_nothing_until_it_is_mended() -> anyhow::Result<()> {
    let home = Home::with_castellan("reload", ENFORCE, RULES)?;
    let pid = home.start_daemon()?;
    let rules = home.castellan().join("config/rules/user/test.yaml");
    let policy = status(&home)["policy"].clone();
    std::fs::write(&rules, "- rule: broken\n  condition: (\n")?;
    kill_process(pid, Signal::HUP)?;
    until(LIMIT, || Ok((status(&home)["policy_origin"] == "last_good").then_some(())))?.unwrap();
    assert_eq!(status(&home)["policy"], policy);
    assert_eq!(understood(&judge(&home, &bash("forbidden"))?), "deny");
    std::fs::write(&rules, RULES.replace("forbidden", "prohibited"))?;
    kill_process(pid, Signal::HUP)?;
    until(LIMIT, || Ok((status(&home)["policy_origin"] == "current").then_some(())))?.unwrap();
    assert_eq!(understood(&judge(&home, &bash("forbidden"))?), "defer");
    assert_eq!(understood(&judge(&home, &bash("prohibited"))?), "deny");
    Ok(())
}

#[test]
fn a_broken_configuration_at_start_leaves_the_last_good_one_in_force() -> anyhow::Result<()> {
    let home = Home::with_castellan("config-last-good", OWN_TAG, &own_tag_rules())?;
    assert_eq!(understood(&judge(&home, &bash("forbidden"))?), "deny");
    kill(home.start_daemon()?)?;
    let config = home.castellan().join("config/config.toml");
    std::fs::write(&config, OWN_TAG.replace("[tags]", "typo = 1\n[tags]"))?;
    assert_eq!(understood(&judge(&home, &bash("forbidden"))?), "deny");
    assert_eq!(understood(&judge(&home, &bash("ls"))?), "defer");
    let told = status(&home);
    assert_eq!(told["policy_origin"], "last_good");
    assert!(told["problems"].to_string().contains("config.toml`:2:1: unknown field `typo`"), "{told}");
    // Mended, it is in force again.
    kill(home.start_daemon()?)?;
    std::fs::write(&config, OWN_TAG)?;
    assert_eq!(understood(&judge(&home, &bash("forbidden"))?), "deny");
    assert_eq!(status(&home)["problems"], json!([]));
    Ok(())
}

#[test]
fn a_broken_configuration_without_a_last_good_one_denies_all_but_reads() -> anyhow::Result<()> {
    let broken = OWN_TAG.replace("[tags]", "typo = 1\n[tags]");
    let home = Home::with_castellan("config-missing", &broken, &own_tag_rules())?;
    let denied = judge(&home, &bash("ls"))?;
    assert_eq!(understood(&denied), "deny");
    assert!(denied.stdout.contains("config.toml`:2:1:"), "names no file, line and column: {denied:?}");
    assert_eq!(understood(&judge(&home, &call("Read", &json!({"file_path": "/x"})))?), "defer");
    let told = status(&home);
    assert_eq!(told["policy_origin"], "missing");
    assert!(told["problems"].to_string().contains("config.toml`:2:1:"), "{told}");
    Ok(())
}
