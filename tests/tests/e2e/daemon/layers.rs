//! An organisation above the user, in a private `/etc`: its settings need no apply, and no user can loosen them.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use anyhow::Context;
use castellan_tests::home::Home;
use castellan_tests::hook::{ENFORCE, RULES, bash, judge, understood};
use castellan_tests::terminal;
use castellan_tests::wait::until;
use serde_json::json;

use super::{LIMIT, kill, status};

/// Returns a home below an organisation with this configuration; `None` if the system has no private `/etc`.
fn below(name: &str, organisation: &str) -> anyhow::Result<Option<(Home, PathBuf)>> {
    let mut home = Home::with_castellan(name, ENFORCE, RULES)?;
    if !home.make_etc_private()? {
        return Ok(None);
    }
    let file = home.etc().join("castellan/config.toml");
    home.write(&file, organisation)?;
    // Only the user can write the laid-out files.
    home.start_daemon()?;
    Ok(Some((home, file)))
}

fn answer(home: &Home, command: &str) -> anyhow::Result<String> {
    Ok(understood(&judge(home, &bash(command))?))
}

fn wait_for_answer(home: &Home, command: &str, word: &str) -> anyhow::Result<()> {
    let found = until(LIMIT, || Ok((answer(home, command)? == word).then_some(())))?;
    found.with_context(|| format!("`{command}` is not answered with {word}: {}", status(home)))
}

fn wait_for_problem(home: &Home, part: &str) -> anyhow::Result<()> {
    let told = || status(home)["problems"].to_string().contains(part);
    until(LIMIT, || Ok(told().then_some(())))?.with_context(|| format!("no {part}: {}", status(home)))
}

#[test]
fn what_an_organisation_says_is_in_force_by_itself() -> anyhow::Result<()> {
    let Some((home, file)) = below("layers", "version = 1\ndeny = [\"Bash(ls:*)\"]\n")? else {
        return Ok(());
    };
    assert_eq!((answer(&home, "ls")?.as_str(), answer(&home, "pwd")?.as_str()), ("deny", "defer"));
    home.write(&file, "version = 1\ndeny = [\"Bash(pwd:*)\"]\n")?;
    wait_for_answer(&home, "pwd", "deny")?;
    assert_eq!(answer(&home, "ls")?, "defer");
    let change = |record: &serde_json::Value| {
        record["control"]["action"] == "organisation" && record["control"]["accepted"] == true
    };
    assert!(home.records()?.iter().any(change));
    // Changes made while no daemon runs apply at the next start, and a restart finds no problem.
    kill(home.start_daemon()?)?;
    home.write(&file, "version = 1\n")?;
    let rule = "- rule: no date\n  desc: d\n  condition: cmd.name = date\n  output: o\n  priority: NOTICE\n  \
                source: coding_agent\n  tags: [coding_agent_deny]\n";
    home.write(&home.etc().join("castellan/rules/a.yaml"), rule)?;
    assert_eq!((answer(&home, "date")?.as_str(), answer(&home, "pwd")?.as_str()), ("deny", "defer"));
    kill(home.start_daemon()?)?;
    assert_eq!(answer(&home, "date")?, "deny");
    let told = status(&home);
    assert_eq!((&told["policy_origin"], &told["problems"]), (&json!("current"), &json!([])));
    Ok(())
}

#[test]
fn an_organisations_broken_file_leaves_the_last_good_one() -> anyhow::Result<()> {
    let good = "version = 1\ndeny = [\"Bash(ls:*)\"]\n";
    let Some((home, file)) = below("layers-broken", good)? else { return Ok(()) };
    let check = |problem: &str| -> anyhow::Result<()> {
        wait_for_problem(&home, problem)?;
        assert_eq!(answer(&home, "ls")?, "deny", "{problem}");
        kill(home.start_daemon()?)?;
        assert_eq!(answer(&home, "ls")?, "deny", "{problem}");
        wait_for_problem(&home, problem)
    };
    home.write(&file, "version = 1\ndney = []\n")?;
    check("/etc/castellan/config.toml`:2:1: unknown key `dney`: did you mean `deny`?")?;
    home.write(&file, "version = 1\n")?;
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o666))?;
    check("/etc/castellan/config.toml`: other users can write it")?;
    let doctor = home
        .command(&home.bin().join("castellan"))
        .arg("--home")
        .arg(home.castellan())
        .arg("doctor")
        .output()?;
    let doctor = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(doctor.contains("other users can write it"), "{doctor}");
    let records = home.records()?;
    assert!(records.iter().any(|record| record["failure"]["code"] == "organisation"));
    // The corrected file applies.
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644))?;
    wait_for_answer(&home, "ls", "defer")?;
    assert_eq!(status(&home)["problems"], json!([]));
    Ok(())
}

#[test]
fn nobody_goes_below_an_organisations_mode() -> anyhow::Result<()> {
    let organisation = "version = 1\nmode = \"monitor\"\nlocked = [\"opaque\"]\n";
    let Some((home, file)) = below("layers-mode", organisation)? else { return Ok(()) };
    let mode = |word: &str| terminal::run_castellan(&home, &["mode", word]);
    assert_eq!(mode("monitor")?.code, Some(0));
    let refused = mode("passthrough")?;
    assert!(refused.code != Some(0), "{refused:?}");
    let why = "the organisation's configuration says `monitor`: `/etc/castellan/config.toml`:2";
    assert!(refused.stderr.contains(why), "{refused:?}");
    assert_eq!(status(&home)["mode"], "monitor");
    // A stricter setting applies at once.
    home.write(&file, "version = 1\nmode = \"enforce\"\n")?;
    let found = until(LIMIT, || Ok((status(&home)["mode"] == "enforce").then_some(())))?;
    found.context("still not enforced")?;
    // The user's own mode stays in the user's file, and applies again when the organisation permits it.
    home.write(&file, "version = 1\nmode = \"monitor\"\n")?;
    let found = until(LIMIT, || Ok((status(&home)["mode"] == "monitor").then_some(())))?;
    found.context("the user's mode is lost")
}

#[test]
fn apply_shows_what_is_said_in_vain() -> anyhow::Result<()> {
    let Some((home, _)) = below("layers-vain", "version = 1\nmode = \"enforce\"\nlocked = [\"opaque\"]\n")?
    else {
        return Ok(());
    };
    let config = home.castellan().join("config/config.toml");
    home.write(&config, "version = 1\nmode = \"monitor\"\nopaque = \"defer\"\n")?;
    let shown = terminal::run_castellan(&home, &["apply", "--check"])?;
    let (file, above) = (config.display(), "`/etc/castellan/config.toml`");
    for line in [
        format!("`{file}`:2: `mode` has no effect: the organisation sets \"enforce\" ({above}:2)"),
        format!("`{file}`:3: `opaque` has no effect: the organisation locked it ({above}:3)"),
    ] {
        assert!(shown.stdout.contains(&line), "{line}: {shown:?}");
    }
    Ok(())
}

#[test]
fn a_first_start_below_a_broken_organisation_waits_until_it_is_mended() -> anyhow::Result<()> {
    for (name, broken, place) in BROKEN_AT_FIRST {
        let Some((home, file)) = below("layers-first", broken)? else { return Ok(()) };
        let told = status(&home);
        let problems = told["problems"].to_string();
        assert!(problems.contains(place) && !problems.contains("castellan apply"), "{name}: {problems}");
        assert_eq!(
            (&told["policy_origin"], &told["failures"]),
            (&json!("missing"), &json!(0)),
            "{name}: {told}"
        );
        assert_eq!(answer(&home, "ls")?, "deny", "{name}");
        // A restart continues to wait.
        kill(home.start_daemon()?)?;
        home.start_daemon()?;
        assert_eq!(answer(&home, "ls")?, "deny", "{name}");
        home.write(&file, "version = 1\ndeny = [\"Bash(pwd:*)\"]\n")?;
        wait_for_answer(&home, "ls", "defer")?;
        assert_eq!(answer(&home, "pwd")?, "deny", "{name}");
        let told = status(&home);
        assert_eq!((&told["policy_origin"], &told["problems"]), (&json!("current"), &json!([])), "{name}");
        kill(home.start_daemon()?)?;
        home.start_daemon()?;
        assert_eq!((answer(&home, "ls")?.as_str(), answer(&home, "pwd")?.as_str()), ("defer", "deny"));
    }
    Ok(())
}

/// Invalid settings of an organisation, and the place of the error.
const BROKEN_AT_FIRST: &[(&str, &str, &str)] = &[
    (
        "a key",
        "version = 1\ndney = []\n",
        "/etc/castellan/config.toml`:2:1: unknown key `dney`: did you mean `deny`?",
    ),
    ("a word", "version = 1\nmode = \"enforse\"\n", "/etc/castellan/config.toml`:2:"),
    ("a table", "version = 1\n[tgs]\ndeny = \"x\"\n", "/etc/castellan/config.toml`:2:"),
    ("no version", "mode = \"enforce\"\n", "/etc/castellan/config.toml`:"),
    ("a newer version", "version = 9\n", "/etc/castellan/config.toml`:1:"),
    ("no TOML", "version = 1\nmode = \n", "/etc/castellan/config.toml`:2:"),
    ("a number for a list", "version = 1\ndeny = 7\n", "/etc/castellan/config.toml`:2:"),
    ("a pattern", "version = 1\ndeny = [\"Bash(\"]\n", "/etc/castellan/config.toml`:2:"),
    (
        "a key twice",
        "version = 1\nmode = \"enforce\"\nmode = \"monitor\"\n",
        "/etc/castellan/config.toml`:3:",
    ),
    ("a word of a project's", "version = 1\nlocked = [\"opaqe\"]\n", "/etc/castellan/config.toml`:2:"),
];

#[test]
fn a_broken_rule_file_of_the_organisation_waits_likewise() -> anyhow::Result<()> {
    let mut home = Home::with_castellan("layers-first-rules", ENFORCE, RULES)?;
    if !home.make_etc_private()? {
        return Ok(());
    }
    let file = home.etc().join("castellan/rules/a.yaml");
    home.write(&file, "- rule: broken\n  condition: tool.nam = x\n")?;
    home.start_daemon()?;
    let told = status(&home)["problems"].to_string();
    assert!(told.contains("/etc/castellan/rules/a.yaml:") && !told.contains("castellan apply"), "{told}");
    assert_eq!(answer(&home, "ls")?, "deny");
    home.write(&file, "- list: l\n  items: []\n")?;
    wait_for_answer(&home, "ls", "defer")
}

#[test]
fn only_the_files_of_the_first_start_come_into_force_by_themselves() -> anyhow::Result<()> {
    let Some((home, file)) = below("layers-other-files", "version = 1\ndney = []\n")? else { return Ok(()) };
    kill(home.start_daemon()?)?;
    home.write(&home.castellan().join("config/config.toml"), "version = 1\nmode = \"monitor\"\n")?;
    home.write(&file, "version = 1\n")?;
    assert_eq!(answer(&home, "ls")?, "deny");
    let problems = status(&home)["problems"].to_string();
    assert!(problems.contains("castellan apply"), "{problems}");
    assert_eq!(terminal::run_castellan(&home, &["apply", "--yes"])?.code, Some(0));
    assert_eq!(answer(&home, "ls")?, "defer");
    Ok(())
}
