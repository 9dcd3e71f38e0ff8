//! Changes of the engine and of its rules: by a person only, and tested by Falco before.

use anyhow::ensure;
use castellan_tests::falco::{self, Play};
use castellan_tests::home::Home;
use castellan_tests::hook::{ENFORCE, RULES, bash};
use castellan_tests::process::Finished;
use castellan_tests::terminal;
use serde_json::Value as Json;

use super::{answer, denied, falcos, home, last_call, wait_for_end_of_falco, wait_for_state};

/// A home with castellan's own engine, and a Falco beside it.
fn native(name: &str) -> anyhow::Result<Home> {
    let home = Home::with_castellan(name, ENFORCE, RULES)?;
    falco::install_beside(&home)?;
    home.start_daemon()?;
    Ok(home)
}

/// Runs `castellan engine` at a terminal.
fn engine(home: &Home, words: &[&str]) -> anyhow::Result<Finished> {
    terminal::run_castellan(home, &[&["engine"], words].concat())
}

fn to_falco(home: &Home) -> anyhow::Result<Finished> {
    let (program, plugin) = (falco::program(home), falco::plugin(home));
    let (program, plugin) = (program.display().to_string(), plugin.display().to_string());
    engine(home, &["falco", "--falco", &program, "--plugin", &plugin, "--yes"])
}

#[test]
fn a_person_switches_to_falco_and_back() -> anyhow::Result<()> {
    let home = native("engine-switch")?;
    ensure!(home.run_castellan(&["engine"])?.stdout == "native\n");
    let done = to_falco(&home)?;
    ensure!(done.code == Some(0), "{done:?}");
    for part in
        ["Falco 0.43.1 has loaded", "Falco 0.43.1 tests the rules now", "undo: castellan", "engine native"]
    {
        ensure!(done.stdout.contains(part), "{part}: {done:?}");
    }
    let shown: Json = serde_json::from_str(&home.run_castellan(&["engine", "--json"])?.stdout)?;
    ensure!(
        shown["kind"] == "falco"
            && shown["judges"] == true
            && shown["version"] == "0.43.1"
            && shown["restarts"] == 0,
        "{shown}"
    );
    ensure!(home.run_castellan(&["engine"])?.stdout.starts_with("falco 0.43.1, process "));
    ensure!(answer(&home, &bash("echo forbidden"))? == "deny" && last_call(&home)?["engine"] == "falco");
    let again = to_falco(&home)?;
    ensure!(again.code == Some(0) && again.stdout.contains("Falco is the engine already"), "{again:?}");
    // Neither an agent nor a program of the user changes it.
    let refused = home.run_castellan(&["engine", "native", "--yes"]).unwrap_err();
    ensure!(refused.to_string().contains("this needs a person"), "{refused}");
    ensure!(denied(&home, &bash("castellan engine native"))?.contains("guard of this session"));
    let done = engine(&home, &["native", "--yes"])?;
    ensure!(done.code == Some(0) && done.stdout.contains("castellan tests the rules itself now"), "{done:?}");
    wait_for_end_of_falco(&home)?;
    ensure!(answer(&home, &bash("echo forbidden"))? == "deny" && last_call(&home)?["engine"].is_null());
    let records = home.records()?;
    let says = |part: &str| {
        records.iter().any(|record| {
            let control = &record["control"];
            control["action"] == "switch"
                && control["argument"].as_str().is_some_and(|text| text.contains(part))
        })
    };
    ensure!(says("engine.kind falco, engine.falco ") && says("engine.kind native"), "{records:?}");
    Ok(())
}

/// Nothing changes if Falco cannot be the engine, and the person reads why.
#[test]
fn falco_is_tested_before_it_becomes_the_engine() -> anyhow::Result<()> {
    let home = native("engine-tested")?;
    for (play, reason) in [
        (Play::HasVersion("0.42.1".to_owned()), "Falco 0.42 is too old"),
        (Play::HasVersion("nonsense".to_owned()), "names the version `nonsense"),
        (
            Play::Rejects("Test ask".to_owned()),
            "Falco rejects the rule `Test ask`: filter error (LOAD_ERR_COMPILE_CONDITION)",
        ),
    ] {
        falco::play(&home, &play)?;
        let done = to_falco(&home)?;
        ensure!(done.code == Some(1) && done.stdout.contains(reason), "{play:?}: {done:?}");
        ensure!(home.run_castellan(&["engine"])?.stdout == "native\n" && falcos(&home).is_empty());
    }
    falco::play(&home, &Play::Judges)?;
    std::fs::remove_file(falco::plugin(&home))?;
    let done = to_falco(&home)?;
    ensure!(done.code == Some(1) && done.stdout.contains("the plugin `"), "{done:?}");
    let done =
        engine(&home, &["falco", "--falco", "/nonexistent/falco", "--plugin", "/nonexistent/p", "--yes"])?;
    ensure!(done.code == Some(1) && done.stdout.contains("does not exist"), "{done:?}");
    let done = engine(&home, &["native", "--falco", "/bin/true"])?;
    ensure!(done.code == Some(7) && done.stderr.contains("of the engine `falco`"), "{done:?}");
    ensure!(answer(&home, &bash("ls"))? == "defer");
    Ok(())
}

/// A Falco that loads the rules and then does not judge: the switch is done, and says that every call is denied.
#[test]
fn a_falco_that_does_not_start_is_reported_by_the_switch() -> anyhow::Result<()> {
    let home = native("engine-late")?;
    falco::play(&home, &Play::CrashesAtStart)?;
    let done = to_falco(&home)?;
    ensure!(done.code == Some(6) && done.stdout.contains("every call is denied"), "{done:?}");
    denied(&home, &bash("ls"))?;
    let shown = home.run_castellan(&["engine"]).unwrap_err().to_string();
    ensure!(shown.contains("exits with Some(1)") && shown.contains("does not run"), "{shown}");
    let done = engine(&home, &["native", "--yes"])?;
    ensure!(done.code == Some(0), "{done:?}");
    ensure!(answer(&home, &bash("ls"))? == "defer");
    Ok(())
}

/// A call after a change of the rules is judged by a Falco that has the new ones, or waits for it.
#[test]
fn applied_rules_reach_falco() -> anyhow::Result<()> {
    let home = home("engine-rules", &Play::Judges)?;
    home.start_daemon()?;
    wait_for_state(&home, "judging")?;
    ensure!(answer(&home, &bash("novel"))? == "defer");
    let more = RULES.replace("contains forbidden", "contains novel");
    // A rule with the name of the one that reports rows is another rule.
    let more = format!(
        "{RULES}{}",
        more.replace("Test ", "castellan has seen the row, ").replace("row, deny", "row")
    );
    home.write(&home.castellan().join("config/rules/user/test.yaml"), &more)?;
    let done = terminal::run_castellan(&home, &["apply", "--yes"])?;
    ensure!(done.code == Some(0), "{done:?}");
    ensure!(answer(&home, &bash("novel"))? == "deny");
    ensure!(answer(&home, &bash("ls"))? == "defer");
    ensure!(wait_for_state(&home, "judging")?["restarts"] == 0);
    ensure!(falcos(&home).len() == 1, "the Falco of before stays");
    Ok(())
}

/// A rule that only Falco would accept: Falco loads a pattern with `\d`, and never matches it.
#[test]
fn a_rule_that_castellan_rejects_reaches_no_falco() -> anyhow::Result<()> {
    let home = home("engine-rejects", &Play::Judges)?;
    home.start_daemon()?;
    wait_for_state(&home, "judging")?;
    let before = falcos(&home);
    let file = home.castellan().join("config/rules/user/test.yaml");
    let digits = RULES.replace("Test deny", "Digits").replace("contains forbidden", "regex \"\\\\d+\"");
    home.write(&file, &digits)?;
    let done = terminal::run_castellan(&home, &["apply", "--yes"])?;
    let shown = format!("{}{}", done.stdout, done.stderr);
    ensure!(done.code != Some(0) && shown.contains("test.yaml") && shown.contains("regex"), "{done:?}");
    ensure!(falcos(&home) == before, "another Falco");
    ensure!(wait_for_state(&home, "judging")?["restarts"] == 0);
    ensure!(answer(&home, &bash("echo forbidden"))? == "deny", "the rules of before are in force");
    ensure!(answer(&home, &bash("ls"))? == "defer");
    Ok(())
}
