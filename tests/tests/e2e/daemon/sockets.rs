//! The daemon's sockets, lock and folder, removed or replaced while it runs: soon only this daemon is reachable again.

use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::Path;
use std::time::Duration;

use castellan_tests::home::Home;
use castellan_tests::hook::{ENFORCE, RULES, bash, judge, understood};
use castellan_tests::process::stop_process;
use castellan_tests::wait::{self, until};
use castellan_wire::bind;
use rustix::process::Pid;

use super::{LIMIT, daemons, kill, status};

/// The daemon creates the socket again within a second; a busy machine needs longer.
const HEALED: Duration = Duration::from_secs(5);

/// A hook waits 2 s for a daemon that does not listen; its own deadline is 10 s.
const DENIED: Duration = Duration::from_secs(8);

fn paths(home: &Home) -> castellan_wire::Home {
    castellan_wire::Home::new(home.castellan()).unwrap()
}

/// Checks that the same daemon still answers hooks and `castellan`.
fn check_reached(home: &Home, daemon: Pid, case: &str) -> anyhow::Result<()> {
    let answered = until(HEALED, || Ok((understood(&judge(home, &bash("ls"))?) == "defer").then_some(())))?;
    assert!(answered.is_some(), "{case}: no hook is answered");
    let asked = || Ok(home.run_castellan(&["status", "--json"]).is_ok().then_some(()));
    assert!(until(HEALED, asked)?.is_some(), "{case}: `castellan` is not answered");
    assert_eq!(status(home)["pid"], daemon.as_raw_nonzero().get(), "{case}");
    // A daemon that a hook has started meanwhile finds the home locked, and ends.
    let alone = until(LIMIT, || Ok((daemons(home) == [daemon]).then_some(())))?;
    assert!(alone.is_some(), "{case}: {:?}", daemons(home));
    assert_eq!(understood(&judge(home, &bash("forbidden"))?), "deny", "{case}");
    Ok(())
}

#[test]
fn what_is_removed_from_a_living_daemon_is_made_again() -> anyhow::Result<()> {
    let home = Home::with_castellan("removed", ENFORCE, RULES)?;
    let daemon = home.start_daemon()?;
    let paths = paths(&home);
    let remove = |path: &Path| std::fs::remove_file(path).unwrap();
    let files = [paths.hook_socket(), paths.control_socket(), paths.daemon_lock()];
    let cases: [(&str, &dyn Fn()); 8] = [
        ("hook socket", &|| remove(&paths.hook_socket())),
        ("control socket", &|| remove(&paths.control_socket())),
        ("lock", &|| remove(&paths.daemon_lock())),
        ("sockets and lock", &|| {
            [paths.hook_socket(), paths.control_socket(), paths.daemon_lock()]
                .iter()
                .for_each(|path| remove(path));
        }),
        ("folder", &|| std::fs::remove_dir_all(paths.run()).unwrap()),
        ("folder, and another one in its place", &|| {
            std::fs::rename(paths.run(), paths.dir().join("moved")).unwrap();
            std::fs::DirBuilder::new().mode(0o700).create(paths.run()).unwrap();
        }),
        ("folder, and a link in its place", &|| {
            std::fs::rename(paths.run(), paths.dir().join("linked")).unwrap();
            symlink("linked", paths.run()).unwrap();
        }),
        ("a socket of another one", &|| {
            remove(&paths.hook_socket());
            drop(bind(&paths.hook_socket()).unwrap());
        }),
    ];
    for (case, spoil) in cases {
        spoil();
        check_reached(&home, daemon, case)?;
        for file in &files {
            assert!(wait::file(file, true, HEALED)?, "{case}: {}", file.display());
        }
    }
    let told = home.records()?.iter().filter(|record| record["failure"]["code"] == "home").count();
    assert!(told >= cases.len(), "{told} records of {} cases", cases.len());
    Ok(())
}

#[test]
fn a_hook_does_not_wait_long_for_a_daemon_that_does_not_listen() -> anyhow::Result<()> {
    let home = Home::with_castellan("deaf", ENFORCE, RULES)?;
    let daemon = home.start_daemon()?;
    stop_process(daemon)?;
    std::fs::remove_file(paths(&home).hook_socket())?;
    let done = judge(&home, &bash("ls"))?;
    assert_eq!(understood(&done), "deny");
    assert!(done.stderr.contains("cannot be reached") && done.took < DENIED, "{done:?}");
    assert_eq!(daemons(&home), [daemon]);
    // After the daemon's end, its place is free.
    kill(daemon)?;
    let answered = until(LIMIT, || Ok((understood(&judge(&home, &bash("ls"))?) == "defer").then_some(())))?;
    assert!(answered.is_some());
    Ok(())
}
