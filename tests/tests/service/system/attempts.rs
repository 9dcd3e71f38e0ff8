//! An agent's own code tries to get rid of its guard, to take its place, and to see what is another user's.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use castellan_tests::machine::{ONE, TWO};
use castellan_tests::process::Running;
use castellan_tests::wait;
use rustix::process::{Pid, Signal, kill_process};

use super::check_failed;
use super::rig::{self, DAEMON, Rig};

/// Attaches to a process, or to a child of its own for 0. Exit code: 0 if it attached, else 40 and the kernel's error number.
const ATTACH: &str = "import ctypes, os, signal, sys
pid = int(sys.argv[1])
own = not pid and os.fork()
if not pid and not own: signal.pause()
c = ctypes.CDLL(None, use_errno=True)
c.ptrace.argtypes = [ctypes.c_long] * 4
c.ptrace.restype = ctypes.c_long
PTRACE_SEIZE = 0x4206
failed = c.ptrace(PTRACE_SEIZE, pid or own, 0, 0)
code = 40 + ctypes.get_errno() if failed else 0
if own: os.kill(own, signal.SIGKILL)
sys.exit(code)";

/// Checks that the kernel refuses code of a user to attach to a process, and that the code can attach at all.
pub(super) fn check_not_attached(rig: &Rig, user: u32, pid: Pid) -> Result<()> {
    const REFUSED: i32 = 40 + 1; // EPERM
    for (pid, expected) in [(0, 0), (pid.as_raw_nonzero().get(), REFUSED)] {
        let words = ["python3", "-c", ATTACH, &pid.to_string()].map(str::to_owned);
        let done = rig.machine.run_as(user, &words, "")?;
        ensure!(done.code == Some(expected), "{pid}: {done:?}");
    }
    Ok(())
}

#[test]
fn an_agents_code_cannot_end_the_daemon_or_take_its_place() -> Result<()> {
    let Some(rig) = Rig::installed()? else { return Ok(()) };
    assert_eq!(rig.ask(ONE, "echo forbidden")?.0, "deny");
    let pid = rig.daemon_pid(ONE)?;
    let (number, bin) = (pid.as_raw_nonzero(), rig.machine.home.bin().display().to_string());
    let run = format!("/run/castellan/{ONE}");
    let state = format!("/var/lib/castellan/{ONE}");
    for text in [
        format!("kill -9 {number}"),
        format!("kill -STOP {number}"),
        format!("cat /proc/{number}/environ"),
        format!("head -c 1 /proc/{number}/mem"),
        format!("ls /proc/{number}/fd"),
        format!("rm -f {run}/hook.sock; test ! -e {run}/hook.sock"),
        format!("mv {run} {run}.old"),
        format!("touch {run}/x"),
        "touch /run/castellan/x".to_owned(),
        format!("ln -s /tmp /var/lib/castellan/{ONE}.x"),
        format!("ls {state}"),
        format!("cat {state}/state/log/*"),
        format!("rm -rf {state}; test ! -e {state}"),
        format!("mv {state} {state}.old"),
        // The programs of the guard.
        format!("cat {bin}/castellan-reader"),
        // The same daemon again, as the agent's user.
        format!("'{bin}/castellan' daemon --home {state}"),
        format!("'{bin}/castellan' --home {state} stop"),
        format!("'{bin}/castellan' --home {state} restart"),
        format!("'{bin}/castellan' --home {state} mode monitor"),
        format!("'{bin}/castellan' --home {state} profile autonomous"),
        format!("'{bin}/castellan' --home {state} pause 10m"),
        format!("'{bin}/castellan' --home {state} config set default allow --yes"),
        format!("'{bin}/castellan' uninstall --managed"),
    ] {
        check_failed(&text, &rig.code(ONE, &text)?)?;
    }
    check_not_attached(&rig, ONE, pid)?;
    // A person of this user neither. The record has each attempt.
    for (words, action) in [
        (&["mode", "monitor"][..], "mode"),
        (&["profile", "autonomous"], "switch"),
        (&["pause", "10m"], "pause"),
        (&["config", "set", "default", "allow", "--yes"], "switch"),
    ] {
        let refused = || -> Result<usize> {
            let records = rig.records(ONE)?;
            let refused = records.iter().map(|record| &record["control"]);
            Ok(refused.filter(|one| one["action"] == action && one["accepted"] == false).count())
        };
        let before = refused()?;
        let done = rig.person(ONE, words)?;
        ensure!(done.code.is_some_and(|code| code != 0), "{words:?}: {done:?}");
        ensure!(refused()? > before, "{words:?}: it is not recorded: {done:?}");
    }
    assert_eq!(rig.daemon_pid(ONE)?, pid);
    assert_eq!(rig.ask(ONE, "echo forbidden")?.0, "deny");
    let status = rig.status(ONE)?;
    assert_eq!((&status["mode"], &status["pause"]), (&"enforce".into(), &serde_json::Value::Null));
    let verified = rig.administer_for(ONE, &["log", "verify"])?;
    ensure!(verified.code == Some(0), "{verified:?}");
    Ok(())
}

#[test]
fn a_user_sees_nothing_of_another_one() -> Result<()> {
    let Some(rig) = Rig::installed()? else { return Ok(()) };
    // A person cannot lift an ask of the organisation.
    rig.configure(TWO, "version = 1\nask_wait = 300\nask = [\"Bash(echo curious)\"]\n")?;
    let waiting = rig.start_ask(TWO, "echo curious")?;
    let id = rig.pending(TWO)?;
    let home = format!("/var/lib/castellan/{TWO}");
    for words in [
        &["--home", &home, "status"][..],
        &["--home", &home, "pending"],
        &["--home", &home, "log"],
        &["--home", &home, "why", &id],
        &["--home", &home, "approve", &id, "--yes"],
        &["--home", &home, "halt"],
    ] {
        let done = rig.castellan(ONE, words)?;
        check_failed(&words.join(" "), &done)?;
        ensure!(!format!("{}{}", done.stdout, done.stderr).contains("curious"), "{done:?}");
    }
    // The same id at the own daemon.
    check_failed("approve", &rig.castellan(ONE, &["approve", &id, "--yes"])?)?;
    // Code of the call's own user is no person.
    check_failed("approve", &rig.castellan(TWO, &["approve", &id, "--yes"])?)?;
    assert_eq!(rig.pending(TWO)?, id);
    let approved = rig.person(TWO, &["approve", &id, "--yes"])?;
    ensure!(approved.code == Some(0), "{approved:?}");
    let done = waiting.finish(rig::LIMIT)?;
    assert_eq!(castellan_tests::hook::understood(&done), "allow", "{done:?}");
    // Another user's hook reaches the daemon's socket, and gets no answer.
    let hook = rig.machine.home.bin().join("castellan-hook").display().to_string();
    let words =
        [&hook, "--agent", "claude", "--event", "PreToolUse", "--home", &home].map(|word| word.to_owned());
    let payload = castellan_tests::hook::bash("echo fine").to_string();
    let done = rig.machine.run_as(ONE, &words, &payload)?;
    assert_eq!(castellan_tests::hook::understood(&done), "deny", "{done:?}");
    Ok(())
}

#[test]
fn a_hook_accepts_no_answer_of_another_user() -> Result<()> {
    let Some(rig) = Rig::installed()? else { return Ok(()) };
    let pid = rig.daemon_pid(ONE)?;
    kill_process(pid, Signal::KILL)?;
    ensure!(wait::ended(pid, rig::LIMIT)?, "the daemon does not end");
    let (answer, told) = rig.ask(ONE, "echo fine")?;
    assert_eq!(answer, "deny");
    ensure!(told.contains("the daemon of this machine does not run"), "{told}");
    ensure!(rig.daemon_pid(ONE).is_err(), "a hook has started the daemon");
    // Somebody has given the folder of sockets away.
    let run = rig.run_of(ONE)?;
    let _was_there = fs::remove_file(run.join("hook.sock"));
    let listener = castellan_wire::bind(&run.join("hook.sock"))?;
    fs::set_permissions(run.join("hook.sock"), Permissions::from_mode(0o666))?;
    let (answer, told) = rig.ask(ONE, "echo fine")?;
    assert_eq!(answer, "deny");
    ensure!(told.contains("another program listens in the place of its daemon"), "{told}");
    drop(listener);
    chown(&run, Some(ONE), Some(ONE))?;
    let (answer, told) = rig.ask(ONE, "echo fine")?;
    assert_eq!(answer, "deny");
    ensure!(told.contains("another program listens in the place of its daemon"), "{told}");
    Ok(())
}

/// A program of the settings, such as that of a review, has the daemon's user, as root's commands have. The daemon of another
/// guarded user starts such programs, too, in the control group of its own unit.
#[test]
fn a_program_of_the_daemons_user_administers_nothing() -> Result<()> {
    let Some(rig) = Rig::installed()? else { return Ok(()) };
    let own = rig.machine.home.bin().join("castellan").display().to_string();
    let home = format!("/var/lib/castellan/{ONE}");
    let folder = rig.machine.root()?.join("said");
    fs::create_dir(&folder)?;
    chown(&folder, Some(DAEMON), Some(DAEMON))?;
    let said = folder.join("said");
    let group = Group::of_unit(&format!("castellan@{TWO}.service"));
    // It waits until it has lost the program that started it, as a program of the daemon can.
    let script = "cd $1; while [ $(cut -d' ' -f4 /proc/$$/stat) = $2 ]; do sleep 0.01; done
                  $3 --home $4 $5 >new 2>&1; echo code $? >>new; mv new said";
    let groups = [Path::new("/dev/null")].into_iter().chain(group.iter().map(Group::members));
    for (group, words) in groups.flat_map(|group| WORDS.map(|words| (group, words))) {
        let text = format!(
            "echo $$ >\"$5\"
             setsid setpriv --reuid {DAEMON} --regid {DAEMON} --clear-groups --no-new-privs \
             sh -c \"$1\" orphan \"$2\" $$ \"$3\" {home} \"$4\" &",
        );
        let mut command = rig.machine.home.command(Path::new("sh"));
        command.args(["-c", &text, "sh", script]).arg(&folder).args([&own, words]).arg(group);
        let starting = Running::start(&mut command)?;
        let told = || Ok(fs::read_to_string(&said).ok());
        let told = wait::until(rig::LIMIT, told)?.context("nothing is said")?;
        ensure!(starting.finish(rig::LIMIT)?.code == Some(0));
        fs::remove_file(&said)?;
        ensure!(told.contains("only root's own commands administer castellan"), "{group:?} {words}: {told}");
        ensure!(!told.contains("code 0"), "{group:?} {words}: {told}");
    }
    let status = rig.status(ONE)?;
    assert_eq!(
        (&status["mode"], &status["pause"], &status["halts"]),
        (&"enforce".into(), &serde_json::Value::Null, &serde_json::json!([])),
        "{status:#}"
    );
    Ok(())
}

/// Requests that only an administrator may make to the daemon of another user.
const WORDS: [&str; 5] = ["status", "mode monitor", "pause 10m", "pending", "halt"];

/// A control group with the name of a unit. Dropping it removes it.
struct Group {
    members: PathBuf,
}

impl Group {
    /// Makes the group. `None`, after a warning, if this machine's control groups cannot be written.
    fn of_unit(unit: &str) -> Option<Group> {
        let trees = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"].map(Path::new);
        let tree = trees.into_iter().find(|tree| tree.join("cgroup.procs").exists());
        let folder = tree?.join(format!("castellan-test-{}", std::process::id())).join(unit);
        match fs::create_dir_all(&folder) {
            Ok(()) => Some(Group { members: folder.join("cgroup.procs") }),
            Err(error) => {
                eprintln!(
                    "no process of the test is in the group of a unit: `{}`: {error}",
                    folder.display()
                );
                None
            }
        }
    }

    fn members(&self) -> &Path {
        &self.members
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let Some(folder) = self.members.parent() else { return };
        // The last member may not have ended yet.
        let is_removed = || Ok(fs::remove_dir(folder).is_ok().then_some(()));
        let _left = wait::until(rig::LIMIT, is_removed);
        let _not_empty = folder.parent().map(fs::remove_dir);
    }
}

/// Both sockets are open to other users, because the daemon checks who connects.
#[test]
fn another_user_that_connects_without_end_does_not_fill_the_record() -> Result<()> {
    const CONNECTIONS: u64 = 500;

    let Some(rig) = Rig::installed()? else { return Ok(()) };
    for (socket, what) in [
        ("hook", "another user's process tried to connect"),
        ("control", "another user's process tried to connect for control"),
    ] {
        let connect = |times: u64| -> Result<()> {
            let text = format!(
                "python3 -c \"import socket\nfor _ in range({times}):\n s = socket.socket(socket.AF_UNIX); \
                 s.connect('/run/castellan/{ONE}/{socket}.sock'); assert s.recv(1) == b''\""
            );
            let done = rig.code(TWO, &text)?;
            ensure!(done.code == Some(0), "{done:?}");
            Ok(())
        };
        let texts = || -> Result<Vec<String>> {
            let records = rig.records(ONE)?;
            let texts = records.iter().filter_map(|record| record["failure"]["message"].as_str());
            let is_it = |text: &&str| text.split(" (").next() == Some(what);
            Ok(texts.filter(is_it).map(str::to_owned).collect())
        };
        let (begun, mut made) = (Instant::now(), CONNECTIONS);
        connect(made)?;
        let most = begun.elapsed().as_secs() + 2;
        ensure!(texts()?.len() as u64 <= most, "{:?}", texts()?);
        // A later record has the number of those without one.
        let are_counted = || {
            connect(1)?;
            made += 1;
            let texts = texts()?;
            let count = |text: &String| text.split_once(" (")?.1.split(' ').next()?.parse::<u64>().ok();
            let counted: u64 = texts.iter().filter_map(count).sum();
            Ok((counted + texts.len() as u64 == made).then_some(()))
        };
        ensure!(wait::until(rig::LIMIT, are_counted)?.is_some(), "{socket}: {:?}", texts()?);
    }
    assert_eq!(rig.ask(ONE, "echo forbidden")?.0, "deny");
    Ok(())
}
