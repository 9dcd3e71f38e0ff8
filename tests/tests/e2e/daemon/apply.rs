//! `castellan apply`: shows a person the effect of edited files, and puts exactly those in force, while calls continue.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use anyhow::Context;
use castellan_tests::home::Home;
use castellan_tests::hook::{ENFORCE, RULES, bash, judge, understood};
use castellan_tests::process::Finished;
use castellan_tests::terminal;
use castellan_tests::wait::until;
use serde_json::{Value as Json, json};

use super::{kill, status};

fn rules(home: &Home) -> PathBuf {
    home.castellan().join("config/rules/user/test.yaml")
}

fn edit(home: &Home, from: &str, to: &str) -> anyhow::Result<()> {
    Ok(std::fs::write(rules(home), RULES.replace(from, to))?)
}

/// Runs `castellan apply` without a terminal.
fn without_terminal(home: &Home, arguments: &[&str]) -> anyhow::Result<Finished> {
    let mut command = home.command("setsid".as_ref());
    command.args(["--wait"]).arg(home.bin().join("castellan")).arg("--home").arg(home.castellan());
    let running = castellan_tests::process::Running::start(command.arg("apply").args(arguments))?;
    running.finish(super::LIMIT)
}

/// Applies without a question.
fn apply(home: &Home) -> anyhow::Result<Finished> {
    let done = terminal::run_castellan(home, &["apply", "--yes"])?;
    assert_eq!(done.code, Some(0), "{done:?}");
    Ok(done)
}

fn applies(home: &Home) -> anyhow::Result<Vec<Json>> {
    let records = home.records()?.into_iter();
    Ok(records
        .filter(|record| record["control"]["action"] == "apply")
        .map(|record| record["control"].clone())
        .collect())
}

#[test]
fn what_is_shown_and_agreed_to_is_in_force() -> anyhow::Result<()> {
    let home = Home::with_castellan("apply", ENFORCE, RULES)?;
    home.start_daemon()?;
    let before = status(&home)["policy"].clone();
    let nothing = terminal::run_castellan(&home, &["apply"])?;
    assert_eq!(
        (nothing.code, nothing.stdout.as_str()),
        (Some(0), "nothing to apply: the files are those in force\n")
    );

    edit(&home, "forbidden", "prohibited")?;
    home.write(&home.castellan().join("config/config.toml"), "version = 1\ndefault = \"allow\"\n")?;
    let shown = without_terminal(&home, &["--check"])?;
    assert_eq!(shown.code, Some(12), "{shown:?}");
    for line in [
        "--- config.toml (in force)\n+++ config.toml (edited)\n",
        "+default = \"allow\"\n",
        "--- user/test.yaml (in force)\n",
        "-  condition: tool.input_command contains forbidden\n+  condition: tool.input_command contains prohibited\n",
        "changed  deny  Test deny\n",
        "0 added, 0 removed, 1 changed, ",
    ] {
        assert!(shown.stdout.contains(line), "{line}: {}", shown.stdout);
    }

    let mut session = terminal::start_castellan(&home, &["apply"])?;
    session.answer("apply? [y/N]", "n\n")?;
    let declined = session.finish()?;
    assert_eq!((declined.code, &status(&home)["policy"]), (Some(1), &before), "{declined:?}");
    assert_eq!(understood(&judge(&home, &bash("forbidden"))?), "deny");

    let mut session = terminal::start_castellan(&home, &["apply"])?;
    session.answer("apply? [y/N]", "y\n")?;
    let done = session.finish()?;
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.stdout.starts_with(&shown.stdout), "shown before the question: {}", done.stdout);
    assert_eq!(understood(&judge(&home, &bash("prohibited"))?), "deny");
    assert_eq!(understood(&judge(&home, &bash("forbidden"))?), "allow");
    let after = status(&home);
    assert_eq!(after["pending"], json!([]));
    assert_ne!(after["policy"], before);

    let [record] = &applies(&home)?[..] else { panic!("{:?}", applies(&home)) };
    let change = format!("policy {} -> {}", before.as_str().unwrap(), after["policy"].as_str().unwrap());
    assert_eq!((&record["accepted"], record["argument"].as_str().unwrap()), (&json!(true), change.as_str()));
    kill(home.start_daemon()?)?;
    assert_eq!(understood(&judge(&home, &bash("prohibited"))?), "deny");
    Ok(())
}

#[test]
fn json_says_what_is_said_to_people() -> anyhow::Result<()> {
    let home = Home::with_castellan("apply-json", ENFORCE, RULES)?;
    home.start_daemon()?;
    edit(&home, "Test ask", "Test question")?;
    let answer = |done: &Finished| serde_json::from_str::<Json>(&done.stdout);
    let shown = without_terminal(&home, &["--check", "--json"])?;
    let shown = answer(&shown)?;
    assert_eq!((&shown["applied"], &shown["ok"]), (&json!(false), &json!(true)));
    let rules = &shown["rules"];
    assert_eq!((&rules["added"], &rules["removed"]), (&json!(["Test question"]), &json!(["Test ask"])));
    let file = &shown["files"][0];
    assert_eq!((&file["file"], &file["change"]), (&json!("user/test.yaml"), &json!("edited")));
    assert!(
        file["diff"].as_str().unwrap().contains("\n-- rule: Test ask\n+- rule: Test question\n"),
        "{file}"
    );
    let done = answer(&terminal::run_castellan(&home, &["apply", "--yes", "--json"])?)?;
    assert_eq!((&done["applied"], &done["hash"]), (&json!(true), &shown["hash"]));
    assert_eq!(status(&home)["applied"], done["hash"]);
    Ok(())
}

#[test]
fn files_edited_after_they_were_shown_are_not_applied() -> anyhow::Result<()> {
    let home = Home::with_castellan("apply-edited", ENFORCE, RULES)?;
    home.start_daemon()?;
    edit(&home, "Test ask", "Test question")?;
    let mut session = terminal::start_castellan(&home, &["apply"])?;
    session.answer("apply? [y/N]", "")?;
    edit(&home, "forbidden", "nonsense")?;
    session.answer("", "y\n")?;
    let refused = session.finish()?;
    assert_eq!(refused.code, Some(7), "{refused:?}");
    assert!(refused.stderr.contains("edited after they had been shown"), "{refused:?}");
    assert_eq!(understood(&judge(&home, &bash("forbidden"))?), "deny");
    let [record] = &applies(&home)?[..] else { panic!("{:?}", applies(&home)) };
    assert_eq!(record["accepted"], json!(false), "{record}");
    Ok(())
}

#[test]
fn files_that_do_not_load_are_not_applied() -> anyhow::Result<()> {
    let home = Home::with_castellan("apply-broken", ENFORCE, RULES)?;
    home.start_daemon()?;
    let config = home.castellan().join("config/config.toml");
    let before = status(&home)["policy"].clone();
    let check = |part: &str| -> anyhow::Result<()> {
        for done in
            [terminal::run_castellan(&home, &["apply", "--yes"])?, without_terminal(&home, &["--check"])?]
        {
            assert_eq!(done.code, Some(1), "{part}: {done:?}");
            assert!(done.stdout.contains(part), "{part}: {done:?}");
        }
        assert_eq!(status(&home)["policy"], before, "{part}");
        assert_eq!(understood(&judge(&home, &bash("forbidden"))?), "deny", "{part}");
        Ok(())
    };
    edit(&home, "tool.input_command contains forbidden", "tool.input_comand contains forbidden")?;
    check("tool.input_comand")?;
    edit(&home, "", "")?;
    std::fs::write(&config, "version = 1\n[rules]\nmatching = \"last\"\n")?;
    check("`rules.matching`: `last` is not one of first, all")?;
    std::fs::write(&config, ENFORCE)?;
    std::fs::create_dir(home.castellan().join("config/rules/user/folder.yaml"))?;
    let done = terminal::run_castellan(&home, &["apply", "--yes"])?;
    assert_eq!(done.code, Some(7), "{done:?}");
    assert!(done.stderr.contains("folder.yaml`: it is a folder, not a regular file"), "{done:?}");
    assert_eq!(status(&home)["policy"], before);
    Ok(())
}

#[test]
fn without_a_daemon_nothing_is_applied() -> anyhow::Result<()> {
    let home = Home::with_castellan("apply-alone", ENFORCE, RULES)?;
    let done = terminal::run_castellan(&home, &["apply", "--yes"])?;
    assert_eq!(done.code, Some(3), "{done:?}");
    assert!(done.stderr.contains("castellan start"), "{done:?}");
    Ok(())
}

/// Returns two rules in two files that belong together; each contains its version.
fn pair(version: usize) -> [(&'static str, String); 2] {
    ["a", "b"].map(|name| {
        let rule = format!(
            "- rule: Half {name}\n  desc: d\n  condition: tool.name = Bash\n  output: version {version}\n  \
             priority: CRITICAL\n  source: coding_agent\n  tags: [coding_agent_deny]\n"
        );
        (name, rule)
    })
}

/// Replaces both files at once, so that a delay of the test cannot show a mixture.
fn put_pair(home: &Home, version: usize) -> anyhow::Result<()> {
    let rules = home.castellan().join("config/rules");
    let (folder, new) = (format!("user-{version}"), rules.join("user.new"));
    for (name, text) in pair(version) {
        home.write(&rules.join(&folder).join(format!("{name}.yaml")), &text)?;
    }
    std::os::unix::fs::symlink(folder, &new)?;
    Ok(std::fs::rename(new, rules.join("user"))?)
}

/// Returns a home with the first version in force.
fn paired(name: &str, config: &str) -> anyhow::Result<Home> {
    let home = Home::with_castellan(name, config, "")?;
    std::fs::remove_dir_all(home.castellan().join("config/rules/user"))?;
    put_pair(&home, 0)?;
    home.start_daemon()?;
    Ok(home)
}

/// Judges calls in two threads without pauses while `put` puts each version in force. Every call must be denied by a
/// single version, and all versions must appear in order.
fn calls_go_on(
    home: &Home,
    versions: usize,
    put: impl Fn(usize) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let stop = AtomicBool::new(false);
    let judging = |command: &str, judged: &AtomicUsize| -> anyhow::Result<()> {
        while !stop.load(Ordering::SeqCst) {
            let done = judge(home, &bash(command))?;
            assert_eq!(understood(&done), "deny", "{done:?}");
            assert!(done.stdout.contains("castellan blocked this"), "not judged by a daemon: {done:?}");
            judged.fetch_add(1, Ordering::SeqCst);
        }
        Ok(())
    };
    let sessions = [("first", AtomicUsize::new(0)), ("second", AtomicUsize::new(0))];
    // The current call may have begun before the change.
    let two_more_calls = || {
        let before = sessions.each_ref().map(|(_, judged)| judged.load(Ordering::SeqCst));
        let are_judged = || {
            let mut pairs = sessions.iter().zip(before);
            pairs.all(|((_, judged), before)| judged.load(Ordering::SeqCst) >= before + 2)
        };
        until(super::LIMIT, || Ok(are_judged().then_some(())))?.context("no more calls are judged")
    };
    std::thread::scope(|scope| {
        let threads = sessions.each_ref().map(|(command, judged)| scope.spawn(|| judging(command, judged)));
        let worked = two_more_calls().and_then(|()| {
            (1..=versions).try_for_each(|version| put(version).and_then(|()| two_more_calls()))
        });
        stop.store(true, Ordering::SeqCst);
        let judged: anyhow::Result<()> = threads.into_iter().try_for_each(|thread| thread.join().unwrap());
        judged.and(worked)
    })?;
    let records = home.records()?;
    for (command, judged) in &sessions {
        let calls = records.iter().filter(|record| record["call"]["input"].to_string().contains(command));
        let mut seen: Vec<usize> = calls.map(version_of).collect();
        assert_eq!(seen.len(), judged.load(Ordering::SeqCst));
        assert!(seen.is_sorted(), "{seen:?}");
        seen.dedup();
        assert_eq!(seen, (0..=versions).collect::<Vec<_>>());
    }
    Ok(())
}

/// Returns the version, which must be the same in both halves.
fn version_of(record: &Json) -> usize {
    let findings = record["call"]["findings"].as_array().unwrap();
    let of_rules: Vec<_> = findings.iter().filter(|finding| finding["code"] == "deny_rule").collect();
    let [a, b] = &of_rules[..] else { panic!("not both halves: {findings:?}") };
    assert_eq!(a["message"], b["message"], "a mixture");
    a["message"].as_str().unwrap().trim_start_matches("version ").parse().unwrap()
}

#[test]
fn calls_go_on_while_sets_are_applied() -> anyhow::Result<()> {
    let home = paired("apply-gapless", ENFORCE)?;
    calls_go_on(&home, 8, |version| {
        put_pair(&home, version)?;
        apply(&home).map(drop)
    })
}

#[test]
fn calls_go_on_while_watched_files_change() -> anyhow::Result<()> {
    let home = paired("watch-gapless", "version = 1\n[rules]\nreload = \"watch\"\n")?;
    calls_go_on(&home, 4, |version| {
        let before = status(&home)["policy"].clone();
        put_pair(&home, version)?;
        let is_swapped = || Ok((status(&home)["policy"] != before).then_some(()));
        until(super::LIMIT, is_swapped)?.with_context(|| format!("version {version} is not in force"))
    })
}
