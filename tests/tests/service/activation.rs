//! Sockets that a service manager passes: the daemon uses them if they are what it would make itself, else it makes its own.
//! The test is the service manager.

use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use castellan_tests::home::Home;
use castellan_tests::hook::{ENFORCE, RULES, bash, judge, understood};
use castellan_tests::process::Running;
use castellan_tests::terminal;
use castellan_tests::wait::{self, until};
use castellan_wire::bind;
use rustix::process::{Pid, Signal, kill_process};

use crate::rig::{LIMIT, call_meanwhile, paths, pid, status};

/// The variables of a daemon with both sockets.
const BOTH: &str = "LISTEN_PID=$$ LISTEN_FDS=2 LISTEN_FDNAMES=hook:control";

/// The two sockets of a service manager.
struct Manager {
    sockets: [OwnedFd; 2],
}

impl Manager {
    fn new(home: &Home) -> Result<Manager> {
        fs::create_dir_all(paths(home).run())?;
        fs::set_permissions(paths(home).run(), fs::Permissions::from_mode(0o700))?;
        let listen = |path: &Path| {
            let _was_there = fs::remove_file(path);
            bind(path).map(OwnedFd::from)
        };
        Ok(Manager { sockets: [listen(&paths(home).hook_socket())?, listen(&paths(home).control_socket())?] })
    }

    /// Starts a daemon with both sockets as descriptors 3 and 4, and these variables.
    fn start(&self, home: &Home, variables: &str) -> Result<Running> {
        self.start_by(home, &format!("{variables} exec"))
    }

    fn start_by(&self, home: &Home, words: &str) -> Result<Running> {
        let script = format!(
            "exec 3<&0 4<&1 </dev/null >/dev/null; {words} '{}' daemon --home '{}'",
            home.bin().join("castellan").display(),
            home.castellan().display()
        );
        let mut command = home.command(Path::new("bash"));
        let [hook, control] = self.sockets.each_ref().map(|socket| socket.as_fd().try_clone_to_owned());
        Running::start_on(command.args(["-c", &script]), Stdio::from(hook?), Stdio::from(control?))
    }
}

/// Waits until the home's daemon answers, and returns the process that keeps its sockets.
fn sockets_of(home: &Home) -> Result<String> {
    let answered = until(LIMIT, || Ok(status(home).ok()))?.context("no daemon answers")?;
    Ok(answered["sockets"].as_str().context("no word")?.to_owned())
}

/// Returns what the daemon has recorded about the sockets.
fn recorded(home: &Home) -> Result<Vec<String>> {
    let records = home.records()?.into_iter();
    let of_sockets = records.filter(|record| record["failure"]["code"] == "sockets");
    Ok(of_sockets
        .map(|record| record["failure"]["message"].as_str().unwrap_or_default().to_owned())
        .collect())
}

#[test]
fn a_daemon_serves_on_sockets_of_the_service_manager_and_passes_them_to_nobody() -> Result<()> {
    let home = Home::with_castellan("activated", ENFORCE, RULES)?;
    let manager = Manager::new(&home)?;
    // The call waits until the daemon is started.
    let call = bash("forbidden");
    let done = std::thread::scope(|scope| -> Result<_> {
        let asking = scope.spawn(|| judge(&home, &call));
        home.wait_for_waiting_hook(LIMIT)?;
        let running = manager.start(&home, BOTH)?;
        Ok((asking.join().map_err(|_| anyhow::anyhow!("a panic"))??, running))
    })?;
    let (answered, daemon) = done;
    assert_eq!(understood(&answered), "deny");
    assert!(answered.stdout.contains("the test denies"), "{answered:?}");
    assert_eq!(sockets_of(&home)?, "manager");
    assert_eq!(pid(&home)?, u64::from(daemon.pid().as_raw_nonzero().get().unsigned_abs()));
    // A program that the daemon starts has neither the sockets nor the variables.
    judge(&home, &bash("perl -e 'print 1'"))?;
    let child = until(LIMIT, || Ok(children(daemon.pid())?.first().copied()))?.context("no helper")?;
    let environment = fs::read(format!("/proc/{child}/environ"))?;
    assert!(!String::from_utf8_lossy(&environment).contains("LISTEN_"), "{environment:?}");
    let sockets: Vec<_> = manager.sockets.iter().map(inode).collect::<Result<_>>()?;
    for entry in fs::read_dir(format!("/proc/{child}/fd"))? {
        let link = fs::read_link(entry?.path())?.display().to_string();
        assert!(!sockets.contains(&link), "{link}");
    }
    assert_eq!(recorded(&home)?, Vec::<String>::new());
    // Its end leaves the sockets to the manager.
    kill_process(daemon.pid(), Signal::TERM)?;
    assert!(wait::ended(daemon.pid(), LIMIT)?);
    assert!(paths(&home).hook_socket().exists() && paths(&home).control_socket().exists());
    let again = manager.start(&home, BOTH)?;
    assert_eq!(understood(&judge(&home, &bash("forbidden"))?), "deny");
    assert_eq!(sockets_of(&home)?, "manager");
    drop(again);
    Ok(())
}

/// Returns the processes that a daemon has started.
fn children(of: Pid) -> Result<Vec<i32>> {
    let is_child = |pid: &i32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let parent = stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(1)?.parse().ok());
        parent == Some(of.as_raw_nonzero().get())
    };
    let names = fs::read_dir("/proc")?.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    Ok(names.filter(is_child).collect())
}

/// Returns the name of a socket in the kernel's list of descriptors.
fn inode(socket: &OwnedFd) -> Result<String> {
    Ok(format!("socket:[{}]", rustix::fs::fstat(socket)?.st_ino))
}

#[test]
fn a_restart_by_the_service_manager_loses_no_call() -> Result<()> {
    let home = Home::with_castellan("activated-restart", ENFORCE, RULES)?;
    let manager = Manager::new(&home)?;
    let mut daemon = manager.start(&home, BOTH)?;
    assert_eq!(sockets_of(&home)?, "manager");
    let calls = call_meanwhile(&home, || {
        for _ in 0..3 {
            let before = pid(&home)?;
            // As a person asks for a restart, the manager sees the end of the daemon and starts it again.
            let done = std::thread::scope(|scope| -> Result<_> {
                let restarting = scope.spawn(|| terminal::run_castellan(&home, &["restart"]));
                ensure!(wait::ended(daemon.pid(), LIMIT)?, "the daemon does not end");
                daemon = manager.start(&home, BOTH)?;
                restarting.join().map_err(|_| anyhow::anyhow!("a panic"))?
            })?;
            ensure!(done.code == Some(0), "{done:?}");
            ensure!(pid(&home)? != before && sockets_of(&home)? == "manager");
        }
        Ok(())
    })?;
    calls.check_whole()
}

/// Passes sockets that are not those of the home. The daemon serves on its own ones and says so.
fn check(name: &str, make: impl FnOnce(&Home) -> Result<[OwnedFd; 2]>, words: &str, why: &str) -> Result<()> {
    let home = Home::with_castellan(&format!("activated-{name}"), ENFORCE, RULES)?;
    fs::create_dir_all(paths(&home).run())?;
    fs::set_permissions(paths(&home).run(), fs::Permissions::from_mode(0o700))?;
    let manager = Manager { sockets: make(&home)? };
    let there = || fs::symlink_metadata(paths(&home).control_socket()).map(|found| found.ino()).ok();
    let before = there();
    let daemon = manager.start_by(&home, words)?;
    // A request on a socket that no daemon serves would wait for an answer.
    let made = until(LIMIT, || Ok(there().filter(|made| Some(*made) != before)))?;
    ensure!(made.is_some(), "{name}: the daemon made no sockets");
    let own = until(LIMIT, || Ok(status(&home).ok()))?.with_context(|| format!("{name}: no answer"))?;
    assert_eq!(own["sockets"], "daemon", "{name}");
    assert_eq!(understood(&judge(&home, &bash("forbidden"))?), "deny", "{name}");
    let told = recorded(&home)?;
    match why {
        "" => assert_eq!(told, Vec::<String>::new(), "{name}"),
        why => assert!(told.len() == 1 && told.concat().contains(why), "{name}: {told:?}"),
    }
    drop(daemon);
    Ok(())
}

#[test]
fn sockets_that_are_not_the_homes_are_not_used() -> Result<()> {
    let listen = |path: &Path| bind(path).map(OwnedFd::from);
    let right = |home: &Home| -> Result<_> { Ok(Manager::new(home)?.sockets) };
    let exec = |variables: &str| format!("{variables} exec");
    check(
        "elsewhere",
        |home| Ok([listen(&home.castellan().join("a"))?, listen(&home.castellan().join("b"))?]),
        &exec(BOTH),
        "no socket of this user is at its path",
    )?;
    check(
        "swapped",
        right,
        &exec("LISTEN_PID=$$ LISTEN_FDS=2 LISTEN_FDNAMES=control:hook"),
        "do not arrive on it",
    )?;
    check("unnamed", right, &exec("LISTEN_PID=$$ LISTEN_FDS=2"), "not `hook` or `control`")?;
    check(
        "twice",
        right,
        &exec("LISTEN_PID=$$ LISTEN_FDS=2 LISTEN_FDNAMES=hook:hook"),
        "two sockets have the name",
    )?;
    check("one", right, &exec("LISTEN_PID=$$ LISTEN_FDS=1 LISTEN_FDNAMES=hook"), "both sockets are needed")?;
    check("many", right, &exec("LISTEN_PID=$$ LISTEN_FDS=999 LISTEN_FDNAMES=hook"), "LISTEN_FDS is `999`")?;
    check(
        "closed",
        right,
        &exec("LISTEN_PID=$$ LISTEN_FDS=4 LISTEN_FDNAMES=hook:control:a:b"),
        "is not open",
    )?;
    check(
        "datagrams",
        |home| {
            let path = paths(home).hook_socket();
            Ok([UnixDatagram::bind(&path)?.into(), listen(&paths(home).control_socket())?])
        },
        &exec(BOTH),
        "no listening Unix stream socket",
    )?;
    check(
        "replaced",
        |home| {
            let sockets = Manager::new(home)?.sockets;
            fs::remove_file(paths(home).hook_socket())?;
            drop(UnixListener::bind(paths(home).hook_socket())?);
            Ok(sockets)
        },
        &exec(BOTH),
        "hook socket",
    )?;
    // Another process than the parent listens: it could keep calls for itself.
    check(
        "borrowed",
        right,
        "bash -c '(LISTEN_PID=$BASHPID LISTEN_FDS=2 LISTEN_FDNAMES=hook:control exec \"$@\"); true' bash",
        "which passes it",
    )?;
    // The variables are meant for another process.
    check("another", right, &exec("LISTEN_PID=1 LISTEN_FDS=2 LISTEN_FDNAMES=hook:control"), "")
}

/// A program that makes both sockets, and starts the daemon as a service manager would.
const AGENT: &str = r#"
import os, socket, sys
home, castellan = sys.argv[1:]
os.makedirs(f"{home}/run", 0o700, exist_ok=True)
def listen(name):
    made = socket.socket(socket.AF_UNIX)
    made.bind(f"{home}/run/{name}.sock")
    made.listen(16)
    return made
hook, control = listen("hook"), listen("control")
if os.fork() == 0:
    os.dup2(hook.fileno(), 20), os.dup2(control.fileno(), 21)
    os.dup2(20, 3), os.dup2(21, 4)
    variables = {"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": "2", "LISTEN_FDNAMES": "hook:control"}
    os.execve(castellan, [castellan, "daemon", "--home", home], variables)
os.wait()
"#;

#[test]
fn an_agent_cannot_pass_sockets() -> Result<()> {
    for (agent, sockets) in [("claude", "daemon"), ("manager", "manager")] {
        let home = Home::with_castellan(&format!("activated-by-{agent}"), ENFORCE, RULES)?;
        let program = home.bin().join(agent);
        fs::copy(fs::canonicalize("/usr/bin/python3")?, &program)?;
        let mut command = home.command(&program);
        command.env("PYTHONHOME", "/usr").args(["-c", AGENT]).arg(home.castellan());
        let running = Running::start(command.arg(home.bin().join("castellan")))?;
        let found = until(LIMIT, || Ok(status(&home).ok()))?;
        let found = found.with_context(|| format!("{agent}: {running:?}"))?;
        assert_eq!(found["sockets"], sockets, "{agent}");
        let told = recorded(&home)?.concat();
        assert_eq!(told.contains("an agent has started this daemon"), agent == "claude", "{agent}: {told}");
    }
    Ok(())
}
