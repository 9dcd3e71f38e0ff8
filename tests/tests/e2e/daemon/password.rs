//! `presence_check = "password"` with the system's helper and a test `/etc`: the actions that the password permits.

use castellan_tests::agents::not_run;
use castellan_tests::home::Home;
use castellan_tests::hook::{ENFORCE, RULES, bash, judge, run, understood};
use castellan_tests::process::Finished;
use castellan_tests::terminal;
use rustix::process::geteuid;
use serde_json::Value as Json;

use super::status;

const WITH_PASSWORD: &str = "version = 1\npresence_check = \"password\"\n";
const RIGHT: &str = "correct horse";
/// `openssl passwd -6 -salt castellan 'correct horse'`.
const HASH: &str =
    "$6$castellan$Z9wKlYf8CIGKU2DtRz2VV716s3w60MIF/iwY5qVuFDWqVCe9ADsc8V0SsCQZRaETdRDi.A5.AH582mlUcgya70";
/// The account's line of shadow(5), after its name.
const SOUND: &str = ":19000::::::\n";

/// Returns a home whose user is in the test's own user database, with that password. `None` if that is impossible.
fn home(name: &str) -> anyhow::Result<Option<Home>> {
    if !geteuid().is_root() {
        return not_run("only root can give itself another user database").map(|()| None);
    }
    let helpers = ["/usr/sbin/unix_chkpwd", "/sbin/unix_chkpwd", "/usr/bin/unix_chkpwd"];
    if !helpers.iter().any(|helper| std::path::Path::new(helper).exists()) {
        return not_run("this system has no `unix_chkpwd`").map(|()| None);
    }
    let mut home = Home::with_castellan(name, ENFORCE, RULES)?;
    if !home.make_etc_private()? {
        return Ok(None);
    }
    write_etc(&home, "passwd", "root:x:0:0::/root:/bin/sh\n")?;
    write_etc(&home, "shadow", &format!("root:{HASH}{SOUND}"))?;
    Ok(Some(home))
}

/// Replaces the link to the machine's own file.
fn write_etc(home: &Home, name: &str, text: &str) -> anyhow::Result<()> {
    let file = home.etc().join(name);
    std::fs::remove_file(&file)?;
    home.write(&file, text)
}

/// Runs castellan at a terminal, and types `password` when asked.
fn with_password(home: &Home, arguments: &[&str], password: &str) -> anyhow::Result<Finished> {
    let mut session = terminal::start_castellan(home, arguments)?;
    session.answer("password:", &format!("{password}\n"))?;
    session.finish()
}

/// Makes a pending call, and returns its id.
fn waiting(home: &Home) -> anyhow::Result<String> {
    assert_eq!(
        understood(&run(home, "codex", "PreToolUse", bash("doubtful").to_string().as_bytes())?),
        "deny"
    );
    let shown: Json = serde_json::from_str(&home.run_castellan(&["pending", "--json"])?.stdout)?;
    Ok(shown["pending"][0]["id"].as_str().unwrap_or_default().to_owned())
}

fn check_refused(done: &Finished, why: &str) {
    assert!(done.code == Some(4) && done.stderr.contains(why), "{why}: {done:?}");
}

#[test]
fn the_password_of_the_account_lets_through_and_nothing_else_does() -> anyhow::Result<()> {
    let Some(home) = home("password")? else { return Ok(()) };
    home.start_daemon()?;
    home.write(&home.castellan().join("config/config.toml"), WITH_PASSWORD)?;
    // Without the password nobody can turn on the requirement and lock out everybody.
    check_refused(&with_password(&home, &["apply", "--yes"], "wrong")?, "the password is wrong");
    assert_eq!(status(&home)["pending"].as_array().map(Vec::len), Some(1));
    let applied = with_password(&home, &["apply", "--yes"], RIGHT)?;
    assert_eq!(applied.code, Some(0), "{applied:?}");

    let id = waiting(&home)?;
    for wrong in ["wrong", "", &format!("{RIGHT} "), HASH] {
        check_refused(&with_password(&home, &["approve", &id, "--yes"], wrong)?, "the password is wrong");
    }
    assert_eq!(waiting(&home)?, id);
    // A refusal at the first apply, and one for each of these.
    assert_eq!(status(&home)["refused"], 5);
    let approved = with_password(&home, &["approve", &id, "--yes"], RIGHT)?;
    assert_eq!(approved.code, Some(0), "{approved:?}");
    // Removing the password requirement needs the password.
    home.write(&home.castellan().join("config/config.toml"), ENFORCE)?;
    check_refused(&with_password(&home, &["apply", "--yes"], "wrong")?, "the password is wrong");
    assert_eq!(with_password(&home, &["apply", "--yes"], RIGHT)?.code, Some(0));
    assert_eq!(terminal::run_castellan(&home, &["mode", "monitor"])?.code, Some(0));

    let told = format!("{:?}", home.records()?);
    let stderr = std::fs::read_to_string(home.castellan().join("run/daemon.stderr")).unwrap_or_default();
    let kept = std::fs::read_to_string(home.castellan().join("state/pin.json"))?;
    for text in [told, stderr, kept] {
        assert!(!text.contains(RIGHT) && !text.contains(HASH), "{text}");
    }
    Ok(())
}

#[test]
fn what_cannot_be_checked_is_refused() -> anyhow::Result<()> {
    let Some(home) = home("password-none")? else { return Ok(()) };
    home.write(&home.castellan().join("config/config.toml"), WITH_PASSWORD)?;
    home.start_daemon()?;
    let stop = |password| with_password(&home, &["stop"], password);
    let unasked = || terminal::run_castellan(&home, &["stop"]);
    // Locked, without a password, or with no password needed to log in.
    for locked in [&format!("!{HASH}"), "*", "!", ""] {
        write_etc(&home, "shadow", &format!("root:{locked}{SOUND}"))?;
        check_refused(&stop(RIGHT)?, "it may be locked");
        std::fs::remove_file(home.castellan().join("state/pin.json"))?;
    }
    check_refused(&stop("")?, "the password is wrong");
    // castellan refuses these accounts without asking for a password.
    write_etc(&home, "shadow", &format!("root:{HASH}:19000:::::19001:\n"))?;
    check_refused(&unasked()?, "the account `root` has expired");
    write_etc(&home, "passwd", "ada:x:1000:1000::/:/bin/sh\n")?;
    check_refused(&unasked()?, "user 0 is not in `/etc/passwd`");
    write_etc(&home, "passwd", "root:x:0:0::/root:/bin/sh\n")?;
    write_etc(&home, "shadow", &format!("ada:{HASH}{SOUND}"))?;
    check_refused(&stop(RIGHT)?, "it may be locked");
    assert_eq!(understood(&judge(&home, &bash("forbidden"))?), "deny");
    Ok(())
}

#[test]
fn who_got_it_wrong_too_often_waits() -> anyhow::Result<()> {
    let Some(home) = home("password-tries")? else { return Ok(()) };
    home.write(&home.castellan().join("config/config.toml"), WITH_PASSWORD)?;
    home.start_daemon()?;
    for _ in 0..5 {
        check_refused(&with_password(&home, &["stop"], "wrong")?, "the password is wrong");
    }
    check_refused(&with_password(&home, &["stop"], RIGHT)?, "wrong too often: try again in");
    // Setting a first PIN does not reset the wait.
    let mut setting = terminal::start_castellan(&home, &["presence", "set-pin"])?;
    setting.answer("new PIN:", "4711\n")?;
    setting.answer("again:", "4711\n")?;
    assert_eq!(setting.finish()?.code, Some(0));
    check_refused(&with_password(&home, &["stop"], RIGHT)?, "wrong too often: try again in");
    Ok(())
}
