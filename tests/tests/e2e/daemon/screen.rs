//! The screen of `castellan pending` in a terminal: keys, news, sizes, the user presence check, and the terminal
//! afterwards.

use anyhow::Context;
use castellan_tests::home::Home;
use castellan_tests::hook::{ENFORCE, RULES, bash, run, understood};
use castellan_tests::process::processes_of;
use castellan_tests::terminal::{self, Session};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value as Json;

/// Ends the second screen of a terminal, so that its first one is visible again.
const LEFT: &str = "\x1b[?1049l";

/// Asks about a command as Codex, which receives a deny instead of an ask.
fn ask(home: &Home, command: &str) -> anyhow::Result<String> {
    Ok(understood(&run(home, "codex", "PreToolUse", bash(command).to_string().as_bytes())?))
}

fn pending(home: &Home) -> anyhow::Result<usize> {
    let shown: Json = serde_json::from_str(&home.run_castellan(&["pending", "--json"])?.stdout)?;
    Ok(shown["pending"].as_array().map(Vec::len).unwrap_or_default())
}

fn start(home: &Home) -> anyhow::Result<Session> {
    let words = words(home);
    terminal::start_on_screen(home, 24, 100, &words.each_ref().map(String::as_str))
}

/// Returns the command line of the screen.
fn words(home: &Home) -> [String; 4] {
    let [castellan, own] =
        [home.bin().join("castellan"), home.castellan()].map(|path| path.display().to_string());
    [castellan, "--home".to_owned(), own, "pending".to_owned()]
}

/// Returns the process of the screen.
fn process(home: &Home) -> anyhow::Result<Pid> {
    let line = words(home).join("\0");
    let is_screen = |pid: &Pid| {
        let words = std::fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).unwrap_or_default();
        String::from_utf8_lossy(&words).starts_with(&line)
    };
    processes_of(&home.castellan()).into_iter().find(is_screen).context("no screen")
}

/// Changes the size of the terminal, and waits for the keys in its new last row. crossterm may leave keys unread that
/// arrive together with the new size, until the next key.
fn resize(screen: &mut Session, rows: u16, columns: u16) -> anyhow::Result<()> {
    const FAINT: &str = "\x1b[2m";
    screen.resize(rows, columns)?;
    screen.expect(&format!("\x1b[{rows};1H{FAINT}"))
}

/// Checks that the program has left the terminal as a shell expects it.
fn check_left(screen: &mut Session) -> anyhow::Result<()> {
    screen.expect(LEFT)?;
    anyhow::ensure!(screen.is_as_a_shell_expects()?, "the terminal is not restored");
    Ok(())
}

#[test]
fn a_person_approves_and_refuses_on_the_screen() -> anyhow::Result<()> {
    let home = Home::with_castellan("screen", ENFORCE, RULES)?;
    assert_eq!(ask(&home, "doubtful one")?, "deny");
    let mut screen = start(&home)?;
    screen.expect("1 call waits for you")?;
    screen.expect("Bash: doubtful one")?;
    assert!(!screen.is_as_a_shell_expects()?, "keys are not read one by one");
    // A call that comes later is shown without a key.
    assert_eq!(ask(&home, "doubtful two")?, "deny");
    screen.expect("2 calls wait for you")?;
    screen.expect("doubtful two")?;
    resize(&mut screen, 10, 60)?;
    screen.answer("q end", "jw")?;
    screen.expect("Test ask: the test asks")?;
    screen.answer("q back", "q")?;
    screen.answer("2 calls wait for you", "\x1b[A")?;
    screen.answer("> ", "r")?;
    screen.expect("is refused")?;
    assert_eq!(pending(&home)?, 1);
    resize(&mut screen, 30, 120)?;
    screen.type_keys("a")?;
    // No other key than `y` approves.
    screen.answer("let this happen, once? [y/N]", "\r")?;
    screen.answer("a approve once", "a")?;
    assert_eq!(pending(&home)?, 1);
    screen.answer("let this happen, once? [y/N]", "y")?;
    screen.expect("the call is granted once")?;
    assert_eq!(ask(&home, "doubtful one")?, "deny");
    assert_eq!(ask(&home, "doubtful two")?, "defer");
    screen.type_keys("q")?;
    check_left(&mut screen)?;
    assert_eq!(screen.finish()?.code, Some(0));
    let records = home.records()?;
    let approved = records.iter().filter(|record| record["control"]["action"] == "approve");
    assert_eq!(approved.count(), 1);
    Ok(())
}

#[test]
fn a_screen_asks_for_the_pin_as_approve_does() -> anyhow::Result<()> {
    let home = Home::with_castellan("screen-pin", "version = 1\npresence_check = \"pin\"\n", RULES)?;
    assert_eq!(ask(&home, "doubtful")?, "deny");
    let mut setting = terminal::start_castellan(&home, &["presence", "set-pin"])?;
    setting.answer("new PIN:", "4711\n")?;
    setting.answer("again:", "4711\n")?;
    assert_eq!(setting.finish()?.code, Some(0));
    let mut screen = start(&home)?;
    screen.answer("1 call waits for you", "a")?;
    screen.answer("[y/N]", "y")?;
    screen.expect(LEFT)?;
    screen.answer("PIN: ", "4712\n")?;
    screen.expect("the PIN is wrong")?;
    assert_eq!(ask(&home, "doubtful")?, "deny");
    screen.type_keys("a")?;
    screen.answer("[y/N]", "y")?;
    screen.answer("PIN: ", "4711\n")?;
    screen.expect("the call is granted once")?;
    screen.type_keys("\x03")?;
    check_left(&mut screen)?;
    assert_eq!(screen.finish()?.code, Some(0));
    assert_eq!(ask(&home, "doubtful")?, "defer");
    Ok(())
}

#[test]
fn a_signal_leaves_the_terminal_as_it_was() -> anyhow::Result<()> {
    let home = Home::with_castellan("screen-signal", "version = 1\npresence_check = \"pin\"\n", RULES)?;
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        home.start_daemon()?;
        let mut screen = start(&home)?;
        screen.expect("no call waits for you")?;
        kill_process(process(&home)?, signal)?;
        check_left(&mut screen)?;
        assert_ne!(screen.finish()?.code, Some(0), "{signal:?}");
    }
    Ok(())
}

#[test]
fn a_guarded_agent_and_a_pipe_get_lines() -> anyhow::Result<()> {
    let home = Home::with_castellan("screen-agent", ENFORCE, RULES)?;
    assert_eq!(ask(&home, "doubtful")?, "deny");
    let agent = home.bin().join("claude");
    let copied = std::process::Command::new("cp").arg("/usr/bin/setsid").arg(&agent).status()?;
    anyhow::ensure!(copied.success(), "`setsid` cannot be copied");
    let agent = agent.display().to_string();
    let words = words(&home);
    let words = words.each_ref().map(String::as_str);
    let below = [&[agent.as_str(), "--fork", "--wait"], &words[..]].concat();
    for line in [below, [&words[..], &["--plain"]].concat()] {
        let mut plain = terminal::start_on_screen(&home, 24, 100, &line)?;
        plain.expect("Test ask: the test asks")?;
        assert!(plain.is_as_a_shell_expects()?);
        assert_eq!(plain.finish()?.code, Some(0), "{line:?}");
    }
    // Its input is a terminal, its output is not.
    let piped = terminal::run_castellan(&home, &["pending"])?;
    assert!(piped.code == Some(0) && piped.stdout.contains("Test ask: the test asks"), "{piped:?}");
    Ok(())
}

#[test]
fn without_a_daemon_there_is_no_screen() -> anyhow::Result<()> {
    let home = Home::with_castellan("screen-none", ENFORCE, RULES)?;
    let mut screen = start(&home)?;
    screen.expect("the daemon is not running")?;
    assert_eq!(screen.finish()?.code, Some(3));
    Ok(())
}
