//! A hook in a container, and the daemon outside of it.

use std::path::Path;

use anyhow::{Result, ensure};
use castellan_tests::home::Home;
use castellan_tests::hook::{RULES, bash, understood};
use castellan_tests::process::Running;

use crate::rig::LIMIT;

/// Asks about a call that no rule stops, with the words of `unshare` before the hook.
fn ask(home: &Home, flags: &[&str]) -> Result<Option<(String, String)>> {
    let mut command = home.command(Path::new("unshare"));
    command.args(flags).arg(home.bin().join("castellan-hook"));
    command.args(["--agent", "claude", "--event", "PreToolUse", "--home"]).arg(home.castellan());
    let done = Running::start_with_input(&mut command, bash("ls").to_string().as_bytes())?.finish(LIMIT)?;
    if done.stderr.starts_with("unshare:") {
        ensure!(std::env::var("CI").is_err(), "no namespace: {done:?}");
        println!("NOT RUN: no namespace: {}", done.stderr.trim());
        return Ok(None);
    }
    let told = format!("{}{}", done.stdout, done.stderr);
    Ok(Some((understood(&done).to_owned(), told)))
}

#[test]
fn a_hook_with_other_process_ids_or_another_root_is_denied() -> Result<()> {
    let home = Home::with_castellan("namespaces", "version = 1\n", RULES)?;
    home.start_daemon()?;
    let map: &[&str] = if rustix::process::geteuid().is_root() { &[] } else { &["--map-root-user"] };
    // A mount namespace with the same root has the same paths.
    let Some((verdict, told)) = ask(&home, &[map, &["--mount"]].concat())? else { return Ok(()) };
    assert_eq!(verdict, "defer", "{told}");
    for flags in [&["--pid", "--fork"][..], &["--pid", "--fork", "--mount-proc"]] {
        let Some((verdict, told)) = ask(&home, &[map, flags].concat())? else { return Ok(()) };
        assert_eq!(verdict, "deny", "{flags:?}: {told}");
        assert!(told.contains("the agent runs in a container, and castellan outside of it"), "{told}");
    }
    let log = home.run_castellan(&["log", "--json"])?.stdout;
    assert!(log.contains("install castellan inside it"), "{log}");
    Ok(())
}
