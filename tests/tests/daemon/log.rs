//! What the daemon does when it cannot record.

use std::path::Path;
use std::time::Duration;

use castellan_tests::home::Home;
use castellan_tests::hook::{ENFORCE, RULES, bash, judge, understood};
use castellan_tests::process::{Running, until};

use crate::status;

#[test]
fn a_log_that_cannot_be_opened_denies() -> anyhow::Result<()> {
    let home = Home::with_castellan("no-log", ENFORCE, RULES)?;
    // A file where the directory should be holds for root, too.
    home.write(&home.castellan().join("state/log"), "")?;
    assert_eq!(understood(&judge(&home, &bash("ls"))?), "deny");
    let stderr = std::fs::read_to_string(home.castellan().join("run/daemon.stderr"))?;
    assert!(stderr.contains("state/log"), "the daemon does not say why: {stderr}");
    Ok(())
}

/// Runs the daemon with its state on a file system of 256 KiB, in a mount namespace of its own.
#[test]
fn a_full_disk_denies_and_loses_no_record() -> anyhow::Result<()> {
    let home = Home::with_castellan("full", ENFORCE, RULES)?;
    let state = home.castellan().join("state");
    std::fs::create_dir_all(&state)?;
    let script = "mount -t tmpfs -o size=256k,mode=700 castellan \"$1\" && exec \"$2\" daemon --home \"$3\"";
    let mut command = home.command(Path::new("unshare"));
    command.args(["--mount", "--map-root-user", "--", "sh", "-c", script, "sh"]);
    command.arg(&state).arg(home.bin().join("castellan")).arg(home.castellan());
    let daemon = Running::start(&mut command)?;
    let socket = home.castellan().join("run/hook.sock");
    if until(Duration::from_secs(5), || Ok(socket.exists().then_some(())))?.is_none() {
        castellan_tests::agents::not_run("no private mount namespace: the full-disk test did not run")?;
        return Ok(());
    }
    let long = format!("echo {}", "x".repeat(3000));
    let answers: Vec<_> = (0..120).map(|_| judge(&home, &bash(&long))).collect::<anyhow::Result<_>>()?;
    let words: Vec<_> = answers.iter().map(understood).collect();
    let kept = words.iter().take_while(|word| *word == "defer").count();
    assert!(kept > 10 && kept < 120, "{kept} of 120 were recorded");
    assert!(words[kept..].iter().all(|word| word == "deny"), "{words:?}");
    assert!(answers[kept].stderr.contains("could not be recorded"), "{:?}", answers[kept]);
    let last_failure = status(&home)["last_failure"].to_string();
    assert!(last_failure.contains("No space left"), "the user is not told why: {last_failure}");
    let records = std::fs::read_to_string(format!(
        "/proc/{}/root{}",
        pid_of(&home),
        state.join("log/routine.jsonl").display()
    ))?;
    assert!(records.ends_with('\n'), "a torn line");
    assert_eq!(records.lines().filter(|line| line.contains("\"type\":\"call\"")).count(), kept);
    drop(daemon);
    Ok(())
}

fn pid_of(home: &Home) -> i64 {
    status(home)["pid"].as_i64().unwrap()
}
