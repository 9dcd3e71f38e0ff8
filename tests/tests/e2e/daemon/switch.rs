//! Live switching of profile and packs: tightening is free, loosening needs a person, and both survive the daemon.

use castellan_tests::home::Home;
use castellan_tests::hook::{ENFORCE, RULES, bash, judge, understood};
use castellan_tests::terminal;
use serde_json::Value as Json;

use super::{kill, status};

fn answer(home: &Home, command: &str) -> anyhow::Result<String> {
    Ok(understood(&judge(home, &bash(command))?))
}

/// Runs castellan without a terminal, like a program. Returns an error if it is refused.
fn run(home: &Home, arguments: &[&str]) -> anyhow::Result<()> {
    home.run_castellan(arguments).map(drop)
}

/// A home with the shipped packs.
fn home(name: &str) -> anyhow::Result<Home> {
    let home = Home::with_castellan(name, ENFORCE, "")?;
    home.start_daemon()?;
    Ok(home)
}

#[test]
fn a_profile_is_switched_without_a_restart() -> anyhow::Result<()> {
    const OPAQUE: &str = "$PROGRAM -x";
    let home = home("profile")?;
    assert_eq!(answer(&home, OPAQUE)?, "ask");
    run(&home, &["profile", "strict"])?;
    assert_eq!(answer(&home, OPAQUE)?, "deny");
    // A program is not a person.
    let refused = run(&home, &["profile", "kit"]).unwrap_err();
    assert!(refused.to_string().contains("this needs a person"), "{refused}");
    assert_eq!(answer(&home, OPAQUE)?, "deny");
    kill(home.start_daemon()?)?;
    assert_eq!(answer(&home, OPAQUE)?, "deny");
    let shown: Json = serde_json::from_str(&home.run_castellan(&["profile", "--json"])?.stdout)?;
    assert_eq!(shown["profile"], "strict");
    let done = terminal::run_castellan(&home, &["profile", "standard"])?;
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(answer(&home, OPAQUE)?, "ask");
    assert_eq!(status(&home)["pending"], serde_json::json!([]));
    let records = home.records()?;
    let said = |argument: &str, accepted: bool| {
        records.iter().any(|record| {
            let control = &record["control"];
            let text = control["argument"].as_str().unwrap_or_default();
            control["action"] == "switch" && control["accepted"] == accepted && text.starts_with(argument)
        })
    };
    assert!(said("profile strict, policy ", true), "{records:?}");
    assert!(said("profile kit", false), "{records:?}");
    assert!(said("profile standard, policy ", true), "{records:?}");
    Ok(())
}

#[test]
fn an_observed_pack_records_and_decides_nothing() -> anyhow::Result<()> {
    const FORCED: &str = "git push --force origin main";
    let home = home("packs")?;
    let enforced = answer(&home, FORCED)?;
    assert_ne!(enforced, "defer");
    assert!(run(&home, &["packs", "git", "observe"]).is_err(), "a program is no person");
    let done = terminal::run_castellan(&home, &["packs", "git", "observe"])?;
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(answer(&home, FORCED)?, "defer");
    let records = home.records()?;
    let call = records.iter().rfind(|record| record["type"] == "call").unwrap();
    let finding = &call["call"]["findings"][0];
    assert_eq!(
        (&finding["lifted"], &finding["verdict"]),
        (&"observe".into(), &enforced.as_str().into()),
        "{call}"
    );
    assert!(home.run_castellan(&["log"])?.stdout.contains(&format!("would {enforced}: ")));
    let shown: Json = serde_json::from_str(&home.run_castellan(&["packs", "git", "--json"])?.stdout)?;
    let git = &shown["packs"][0];
    assert_eq!((&git["state"], &git["hits_7_days"]["observed"]), (&"observe".into(), &1.into()), "{shown}");
    run(&home, &["packs", "git", "enforce"])?;
    assert_eq!(answer(&home, FORCED)?, enforced);
    Ok(())
}

/// A person adds a short rule at a terminal, with a PIN, and the next call runs. An agent's program cannot.
#[test]
fn a_short_rule_counts_from_the_next_call_on() -> anyhow::Result<()> {
    const ADD: [&str; 2] = ["allow", "Bash(doubtful:*)"];
    let home = Home::with_castellan("allow", "version = 1 # mine\npresence_check = \"pin\"\n", RULES)?;
    home.start_daemon()?;
    let mut setting = terminal::start_castellan(&home, &["presence", "set-pin"])?;
    setting.answer("new PIN:", "4711\n")?;
    setting.answer("again:", "4711\n")?;
    assert_eq!(setting.finish()?.code, Some(0));
    assert_eq!(answer(&home, "doubtful now")?, "ask");
    assert!(run(&home, &ADD).is_err(), "a program is no person");
    let mut declined = terminal::start_castellan(&home, &ADD)?;
    declined.answer("apply? [y/N]", "n\n")?;
    let declined = declined.finish()?;
    assert!(
        declined.code == Some(1) && declined.stdout.contains("+allow = [\"Bash(doubtful:*)\"]"),
        "{declined:?}"
    );
    for (pin, code) in [("4712\n", Some(4)), ("4711\n", Some(0))] {
        assert_eq!(answer(&home, "doubtful now")?, "ask");
        let mut added = terminal::start_castellan(&home, &ADD)?;
        added.answer("apply? [y/N]", "y\n")?;
        added.answer("PIN:", pin)?;
        let added = added.finish()?;
        assert_eq!(added.code, code, "{added:?}");
    }
    assert_eq!(answer(&home, "doubtful now")?, "allow");
    assert_eq!(answer(&home, "doubtful now; forbidden")?, "deny");
    kill(home.start_daemon()?)?;
    assert_eq!(answer(&home, "doubtful now")?, "allow");
    run(&home, &["allow", "--remove", "Bash(doubtful:*)"])?;
    assert_eq!(answer(&home, "doubtful now")?, "ask");
    Ok(())
}
