//! Broken rule files and configurations: the applied set stays in force. Without one, only reading is possible.

use castellan_tests::home::Home;
use castellan_tests::hook::{ENFORCE, RULES, bash, call, judge, understood};
use castellan_tests::terminal;
use serde_json::json;

use super::{kill, status};

/// A user's own tag. Without this configuration, the rule with the tag denies nothing.
const OWN_TAG: &str = "version = 1\n[tags]\ndeny = \"my_deny\"\n";

fn own_tag_rules() -> String {
    RULES.replace("coding_agent_deny", "my_deny")
}

#[test]
fn a_broken_rule_file_at_start_is_no_hindrance() -> anyhow::Result<()> {
    let home = Home::with_castellan("broken-rules", ENFORCE, RULES)?;
    kill(home.start_daemon()?)?;
    let rules = home.castellan().join("config/rules/user/test.yaml");
    std::fs::write(&rules, format!("{RULES}\n- rule: broken\n  condition: tool.nam = x\n"))?;
    assert_eq!(understood(&judge(&home, &bash("forbidden"))?), "deny");
    assert_eq!(understood(&judge(&home, &bash("ls"))?), "defer");
    let status = status(&home);
    assert_eq!((&status["policy_origin"], &status["problems"]), (&json!("current"), &json!([])));
    assert_eq!(status["pending"], json!(["user/test.yaml"]));
    Ok(())
}

#[test]
fn broken_files_of_a_new_home_deny_all_but_reads() -> anyhow::Result<()> {
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
    // Corrected files come into force at an apply.
    std::fs::write(home.castellan().join("config/rules/user/test.yaml"), RULES)?;
    kill(home.start_daemon()?)?;
    assert_eq!(understood(&judge(&home, &bash("ls"))?), "deny");
    assert_eq!(terminal::run_castellan(&home, &["apply", "--yes"])?.code, Some(0));
    assert_eq!(understood(&judge(&home, &bash("ls"))?), "defer");
    assert_eq!(understood(&judge(&home, &bash("forbidden"))?), "deny");
    Ok(())
}

#[test]
fn a_rule_file_that_is_no_text_is_a_problem_with_a_place() -> anyhow::Result<()> {
    const PLACE: &str = "test.yaml:2:4: LOAD_ERR_FILE_READ: a byte that is not UTF-8";
    let text = b"# \xc3\xa9\n- r\xff: x\n";
    let home = Home::with_castellan("not-text", ENFORCE, RULES)?;
    let rules = home.castellan().join("config/rules/user/test.yaml");
    std::fs::write(&rules, text)?;
    // At the first start.
    let denied = judge(&home, &bash("ls"))?;
    assert!(understood(&denied) == "deny" && denied.stdout.contains(PLACE), "{denied:?}");
    std::fs::write(&rules, RULES)?;
    assert_eq!(terminal::run_castellan(&home, &["apply", "--yes"])?.code, Some(0));
    // At an apply, and at a later start.
    std::fs::write(&rules, text)?;
    let refused = terminal::run_castellan(&home, &["apply", "--yes"])?;
    assert!(refused.code == Some(7) && refused.stderr.contains(PLACE), "{refused:?}");
    kill(home.start_daemon()?)?;
    assert_eq!(understood(&judge(&home, &bash("forbidden"))?), "deny");
    assert!(status(&home)["problems"].to_string().contains(PLACE), "{}", status(&home));
    let doctor = home
        .command(&home.bin().join("castellan"))
        .arg("--home")
        .arg(home.castellan())
        .arg("doctor")
        .output()?;
    let shown = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(shown.contains(PLACE), "{shown}");
    Ok(())
}

#[test]
fn a_broken_configuration_at_start_is_no_hindrance() -> anyhow::Result<()> {
    let home = Home::with_castellan("broken-config", OWN_TAG, &own_tag_rules())?;
    assert_eq!(understood(&judge(&home, &bash("forbidden"))?), "deny");
    kill(home.start_daemon()?)?;
    let config = home.castellan().join("config/config.toml");
    std::fs::write(&config, OWN_TAG.replace("[tags]", "typo = 1\n[tags]"))?;
    assert_eq!(understood(&judge(&home, &bash("forbidden"))?), "deny");
    assert_eq!(understood(&judge(&home, &bash("ls"))?), "defer");
    let told = status(&home);
    assert_eq!((&told["policy_origin"], &told["pending"]), (&json!("current"), &json!(["config.toml"])));
    let refused = terminal::run_castellan(&home, &["apply", "--yes"])?;
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stdout.contains("config.toml`:2:1: unknown key `typo`"), "{refused:?}");
    Ok(())
}

#[test]
fn a_broken_configuration_of_a_new_home_denies_all_but_reads() -> anyhow::Result<()> {
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
