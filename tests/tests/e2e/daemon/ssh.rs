//! A login by ssh as an ordinary user: one from another machine is a person's, and one from this machine is not.

use anyhow::{Result, ensure};
use castellan_tests::machine::{Machine, ONE};
use castellan_tests::process::Finished;
use castellan_tests::terminal;

/// Runs `castellan mode monitor` at a terminal that an ssh daemon has opened for a user.
fn loosen(machine: &Machine, connection: &str) -> Result<Finished> {
    let mut sshd = machine.home.command(&machine.home.bin().join("sshd"));
    sshd.args([&ONE.to_string(), connection, "setsid", "--ctty"]).arg(machine.home.bin().join("castellan"));
    sshd.args(["mode", "monitor"]).env("HOME", machine.user(ONE)?).current_dir("/");
    terminal::start_at_one(&mut sshd)?.finish()
}

#[test]
fn a_login_from_another_machine_is_a_persons_and_one_from_this_machine_is_not() -> Result<()> {
    let Some(machine) = Machine::new()? else { return Ok(()) };
    machine.home.link_as("castellan-test-sshd", "sshd")?;
    ensure!(machine.administer(&["install", "--managed", "claude"])?.code == Some(0));
    // The first call makes the user's home and starts the daemon.
    ensure!(machine.ask(ONE, "ls")?.0 == "defer");
    for connection in ["127.0.0.1 50000 127.0.0.1 22", "198.51.100.1 50000 198.51.100.1 22", "", "x"] {
        let done = loosen(&machine, connection)?;
        ensure!(done.code == Some(4), "{connection}: {done:?}");
    }
    let done = loosen(&machine, "192.0.2.7 50000 198.51.100.1 22")?;
    ensure!(done.code == Some(0), "{done:?}");
    Ok(())
}
