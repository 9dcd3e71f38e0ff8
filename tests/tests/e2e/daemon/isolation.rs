//! Isolation: other processes cannot reach the daemon, and the daemon keeps nothing of the process that started it.

use std::fs::{File, Permissions};
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use castellan_tests::agents::not_run;
use castellan_tests::home::Home;
use castellan_tests::hook::{self, ENFORCE, RULES, bash, judge, understood};
use castellan_tests::process::{Running, processes_of};
use castellan_tests::wait::{self, until};
use castellan_wire::{DAEMON_ENVIRONMENT, Kind, REPLY_BYTES_MAX, WireError, read_frame, write_frame};
use rustix::process::{Pid, Uid, geteuid};
use serde_json::json;

use super::{LIMIT, daemons, status};

/// A user that is not root: the traditional `nobody`.
const NOBODY: u32 = 65534;

fn proc(pid: Pid, entry: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{}/{entry}", pid.as_raw_nonzero()))
}

#[test]
fn a_daemon_that_a_hook_starts_has_nothing_of_the_agents() -> anyhow::Result<()> {
    if !geteuid().is_root() {
        return not_run("only root can look into a process that is not dumpable");
    }
    let home = Home::with_castellan("descriptors", ENFORCE, RULES)?;
    let mut command = home.command(Path::new("sh"));
    command.args(["-c", "exec 9</etc/hostname; \"$@\"; status=$?; exit $status", "sh"]);
    let hook = hook::command(&home, "claude", "PreToolUse");
    command.arg(hook.get_program()).args(hook.get_args()).env("SECRET", "of the agent");
    let payload = bash("forbidden").to_string();
    let done = Running::start_with_input(&mut command, payload.as_bytes())?.finish(hook::HOOK_LIMIT)?;
    assert_eq!(understood(&done), "deny", "{done:?}");

    let found = daemons(&home);
    let [daemon] = found[..] else { panic!("daemons: {found:?}") };
    assert_eq!(std::fs::read_link(proc(daemon, "cwd"))?, Path::new("/"));
    let environment = DAEMON_ENVIRONMENT.map(|(name, value)| format!("{name}={value}\0")).concat();
    assert_eq!(std::fs::read_to_string(proc(daemon, "environ"))?, environment);
    let stat = std::fs::read_to_string(proc(daemon, "stat"))?;
    // After the name: state, parent, group, session, terminal.
    let fields: Vec<_> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
    let own = daemon.as_raw_nonzero().to_string();
    assert_eq!((fields[2], fields[3], fields[4]), (&*own, &*own, "0"), "group, session, terminal: {stat}");
    for entry in std::fs::read_dir(proc(daemon, "fd"))? {
        let entry = entry?;
        let (number, target) = (entry.file_name(), std::fs::read_link(entry.path())?);
        let expected = match number.to_str() {
            Some("0" | "1") => target == Path::new("/dev/null"),
            Some("2") => target == home.castellan().join("run/daemon.stderr"),
            _ => {
                let unnamed = ["socket:", "pipe:", "anon_inode:"];
                let mounts = Path::new("/proc").join(&own).join("mountinfo");
                target.starts_with(home.castellan())
                    || target == mounts
                    || unnamed.iter().any(|kind| target.to_string_lossy().starts_with(kind))
            }
        };
        assert!(expected, "descriptor {number:?} leads to {target:?}");
    }
    Ok(())
}

/// The kernel gives the files of a process that is not dumpable to root.
#[test]
fn other_processes_of_the_user_cannot_look_into_the_daemon() -> anyhow::Result<()> {
    let home = Home::with_castellan("dumpable", ENFORCE, RULES)?;
    if !geteuid().is_root() {
        let daemon = home.start_daemon()?;
        assert_eq!(std::fs::metadata(proc(daemon, "environ"))?.uid(), 0);
        return Ok(());
    }
    // Root's files are always root's, so the daemon runs as another user, from a place that this user can reach.
    let place = tempfile::tempdir()?;
    std::fs::set_permissions(place.path(), Permissions::from_mode(0o755))?;
    let (castellan, folder) = (place.path().join("castellan"), place.path().join("home"));
    let copied = Command::new("cp").arg(home.bin().join("castellan")).arg(&castellan).status()?;
    assert!(copied.success());
    std::fs::create_dir(&folder)?;
    std::os::unix::fs::chown(&folder, Some(NOBODY), Some(NOBODY))?;
    let nobody = |program: &Path, arguments: &[&str]| {
        let mut command = Command::new("setpriv");
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default()).current_dir(&folder);
        command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]).arg(program).args(arguments);
        Running::start(&mut command)
    };
    let owner = |word: &str| {
        let runs = |pid: &Pid| {
            std::fs::read(proc(*pid, "cmdline"))
                .is_ok_and(|line| String::from_utf8_lossy(&line).split('\0').nth(1) == Some(word))
        };
        until(LIMIT, || Ok(processes_of(&folder).into_iter().find(runs)))?
            .map(|pid| Ok(std::fs::metadata(proc(pid, "environ"))?.uid()))
            .unwrap_or_else(|| anyhow::bail!("`{word}` does not run"))
    };
    let daemon = nobody(&castellan, &["daemon", "--home", &folder.display().to_string()])?;
    let socket = folder.join("run/hook.sock");
    assert!(wait::file(&socket, true, LIMIT)?, "{:?}", daemon.finish(LIMIT));
    assert_eq!(owner("daemon")?, 0);
    // Files of an ordinary process are its user's, so the check above is meaningful.
    let _other = nobody(Path::new("sleep"), &["60.5"])?;
    assert_eq!(owner("60.5")?, NOBODY);
    drop(daemon);
    Ok(())
}

/// Connects to the socket `name` in `folder` as another user, sends `bytes`, and waits for a frame.
fn ask_as_nobody(folder: &File, name: &str, bytes: &[u8]) -> anyhow::Result<Result<(), WireError>> {
    let socket = format!("/proc/self/fd/{}/{name}", folder.as_raw_fd());
    let bytes = bytes.to_vec();
    // The kernel changes the user of this thread only.
    let asking = std::thread::spawn(move || {
        let nobody = Uid::from_raw(NOBODY);
        rustix::thread::set_thread_res_uid(nobody, nobody, nobody)?;
        let mut stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(LIMIT))?;
        // The daemon may close the connection before all bytes are sent.
        let _sent = stream.write_all(&bytes);
        Ok(read_frame(&mut stream, REPLY_BYTES_MAX).map(drop))
    });
    asking.join().unwrap_or_else(|_| anyhow::bail!("the thread has panicked"))
}

#[test]
fn another_user_is_not_served() -> anyhow::Result<()> {
    if !geteuid().is_root() {
        return not_run("only root can play another user");
    }
    let home = Home::with_castellan("another-user", ENFORCE, RULES)?;
    home.start_daemon()?;
    let run = home.castellan().join("run");
    let folder = File::open(&run)?;
    let call = hook::request_frame(&bash("ls"))?;
    let mut control = Vec::new();
    write_frame(&mut control, Kind::Control, json!({"version": 1, "body": "status"}).to_string().as_bytes())?;
    let sockets = [("hook.sock", &call), ("control.sock", &control)];
    for (name, bytes) in sockets {
        let refused = ask_as_nobody(&folder, name, bytes).unwrap_err().to_string();
        assert!(refused.contains("Permission denied"), "{name}: {refused}");
    }
    // The daemon rejects another user even if the folder does not. It resets such permissions within a second.
    for (number, (name, bytes)) in sockets.into_iter().enumerate() {
        let opened = || {
            std::fs::set_permissions(&run, Permissions::from_mode(0o711))?;
            std::fs::set_permissions(run.join(name), Permissions::from_mode(0o666))?;
            Ok(ask_as_nobody(&folder, name, bytes).ok())
        };
        let answer = until(LIMIT, opened)?.context("no connection")?;
        assert!(answer.is_err(), "{name}: another user was answered");
        let records = home.records()?;
        let refusals = records.iter().filter(|r| r["failure"].to_string().contains("another user"));
        assert_eq!(refusals.count(), number + 1, "{name}: {records:?}");
    }
    std::fs::set_permissions(&run, Permissions::from_mode(0o700))?;
    assert_eq!(understood(&judge(&home, &bash("ls"))?), "defer");
    assert_eq!(status(&home)["mode"], "enforce");
    Ok(())
}
