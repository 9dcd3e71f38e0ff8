//! The next daemon takes over while calls come: none is refused, lost or answered wrongly, whatever the next daemon does.

use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use castellan_tests::control;
use castellan_tests::home::Home;
use castellan_tests::hook::{ENFORCE, RULES, bash, judge, request_frame, understood};
use castellan_tests::process::Running;
use castellan_tests::terminal;
use castellan_tests::wait::{self, until};
use castellan_wire::{REPLY_BYTES_MAX, Reply, bind, connect, read_frame};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::rig::{LIMIT, call_meanwhile, daemons, paths, pid, restart, restart_with, status, with_next};

/// Upgrades in a row.
const UPGRADES: usize = 5;

/// A daemon that starts a program has its own command line for a moment.
fn check_alone(home: &Home) -> Result<()> {
    let alone = until(LIMIT, || Ok((daemons(home).len() == 1).then_some(())))?;
    alone.with_context(|| format!("{:?}", daemons(home)))
}

#[test]
fn no_call_is_refused_lost_or_answered_wrongly_during_upgrades() -> Result<()> {
    let home = Home::with_castellan("upgrades", ENFORCE, RULES)?;
    home.start_daemon()?;
    let calls = call_meanwhile(&home, || {
        for _ in 0..UPGRADES {
            let before = pid(&home)?;
            let done = restart(&home)?;
            ensure!(done.code == Some(0), "{done:?}");
            let after = pid(&home)?;
            ensure!(before != after, "the same daemon serves");
            let ended = wait::ended(Pid::from_raw(i32::try_from(before)?).context("a pid")?, LIMIT)?;
            ensure!(ended, "the daemon before lives on");
        }
        Ok(())
    })?;
    calls.check_whole()?;
    check_alone(&home)?;
    // Each call is in the log, in one whole chain.
    let of_agent = |record: &&serde_json::Value| {
        record["call"]["use_id"].as_str().is_some_and(|id| id.starts_with("toolu_") && id != "toolu_1")
    };
    assert_eq!(home.records()?.iter().filter(of_agent).count() as u64, calls.all);
    home.run_castellan(&["log", "verify"])?;
    let failures = home.records()?.into_iter().filter(|record| record["type"] == "failure");
    assert_eq!(failures.collect::<Vec<_>>(), Vec::<serde_json::Value>::new());
    Ok(())
}

#[test]
fn the_daemon_before_serves_on_when_the_next_one_fails() -> Result<()> {
    let home = Home::with_castellan("upgrade-fails", ENFORCE, RULES)?;
    home.start_daemon()?;
    let before = pid(&home)?;
    // The frame by which a daemon takes over; `$$` is the script's own process.
    let take = r#"body="{\"take\":{\"version\":1,\"pid\":$$}}"; len=$(printf '\\%03o\\000\\000\\000' ${#body}); printf "CSTL\001\000\004\000$len%s" "$body" >&0;"#;
    let cases = [
        ("ends at once", "exit 1".to_owned(), "no reason"),
        ("is no program", "exec /nowhere".to_owned(), "not found"),
        ("says nonsense", "printf 'nonsense of more than a header' >&0; exit 1".to_owned(), "no reason"),
        ("closes the connection and stays", "exec sleep 60 <&- ".to_owned(), ""),
        ("takes and ends", format!("{take} exit 1"), ""),
        ("takes, reads everything and ends", format!("{take} head -c 60 >/dev/null; exit 1"), ""),
        ("takes and hangs", format!("{take} exec sleep 60"), ""),
        (
            "serves without having taken",
            "printf 'CSTL\\001\\000\\004\\000\\011\\000\\000\\000\"serving\"' >&0; exit 1".to_owned(),
            "",
        ),
    ];
    let calls = call_meanwhile(&home, || {
        for (case, script, _) in &cases {
            let program = with_next(&home, &format!("#!/bin/sh\n{script}\n"))?;
            let done = restart_with(&home, &program)?;
            ensure!(done.code == Some(7), "{case}: {done:?}");
            ensure!(done.stderr.contains("serves on"), "{case}: {done:?}");
            ensure!(pid(&home)? == before, "{case}: another daemon serves");
            println!("{case}: {}", done.stderr.trim());
        }
        Ok(())
    })?;
    ensure!(calls.refused == 0 && calls.lost == 0, "{calls:?}");
    ensure!(calls.slowest < Duration::from_secs(9), "{calls:?}");
    home.run_castellan(&["log", "verify"])?;
    // The same home can still be upgraded.
    assert_eq!(restart(&home)?.code, Some(0));
    assert_ne!(pid(&home)?, before);
    let told = home.records()?.iter().filter(|record| record["failure"]["code"] == "handover").count();
    assert!(told >= cases.len() - 1, "{told} records of {} cases", cases.len());
    Ok(())
}

#[test]
fn a_next_daemon_that_is_killed_at_any_moment_lets_nothing_run() -> Result<()> {
    let home = Home::with_castellan("upgrade-killed", ENFORCE, RULES)?;
    home.start_daemon()?;
    let calls = call_meanwhile(&home, || {
        for step in 0..10 {
            std::thread::scope(|scope| -> Result<()> {
                let restarting = scope.spawn(|| restart(&home));
                let before = daemons(&home);
                let next = until(LIMIT, || {
                    let new = daemons(&home).into_iter().find(|pid| !before.contains(pid));
                    Ok(new.map(Some).or_else(|| restarting.is_finished().then_some(None)))
                })?;
                if let Some(next) = next.flatten() {
                    // A daemon needs some tens of milliseconds until it serves; each step kills it later.
                    std::thread::sleep(Duration::from_millis(20 * step));
                    let _ended_already = kill_process(next, Signal::KILL);
                }
                let _failed_or_not = restarting.join().map_err(|_| anyhow::anyhow!("a panic"))??;
                Ok(())
            })?;
            // A hook starts a daemon if the next one was killed after the one before had ended.
            let answered = judge(&home, &bash("ls"))?;
            ensure!(understood(&answered) == "defer", "{step}: {answered:?}");
        }
        Ok(())
    })?;
    assert!(calls.denied > 0, "{calls:?}");
    home.run_castellan(&["log", "verify"])?;
    check_alone(&home)
}

#[test]
fn of_two_next_daemons_at_once_one_takes_over() -> Result<()> {
    let home = Home::with_castellan("upgrade-race", ENFORCE, RULES)?;
    home.start_daemon()?;
    let calls = call_meanwhile(&home, || {
        for _ in 0..4 {
            let before = pid(&home)?;
            let done: Vec<_> = std::thread::scope(|scope| {
                let both = [scope.spawn(|| restart(&home)), scope.spawn(|| restart(&home))];
                both.into_iter().map(|one| one.join().unwrap()).collect::<Result<_>>()
            })?;
            let codes: Vec<_> = done.iter().map(|done| done.code).collect();
            // One after the other, both can take over.
            ensure!(codes.contains(&Some(0)), "{done:?}");
            ensure!(codes.iter().all(|code| [Some(0), Some(7)].contains(code)), "{done:?}");
            check_alone(&home)?;
            ensure!(pid(&home)? != before, "the same daemon serves");
        }
        Ok(())
    })?;
    calls.check_whole()
}

#[test]
fn what_has_connected_and_sent_nothing_is_answered_by_the_next_daemon() -> Result<()> {
    let home = Home::with_castellan("upgrade-silent", ENFORCE, RULES)?;
    let first = home.start_daemon()?;
    let frame = request_frame(&bash("forbidden"))?;
    // `timeout` is the agent.
    let script = format!(
        "import socket, sys, time\n\
         hook = [socket.socket(socket.AF_UNIX) for _ in range(3)]\n\
         [one.connect({:?}) for one in hook]\n\
         open({:?}, 'w').close()\n\
         sys.stdin.buffer.read(1)\n\
         frame = bytes.fromhex('{}')\n\
         for one in hook:\n\
         \x20   one.sendall(frame)\n\
         \x20   print(b'deny' in one.recv(65536))\n",
        paths(&home).hook_socket(),
        home.castellan().join("connected"),
        frame.iter().map(|byte| format!("{byte:02x}")).collect::<String>(),
    );
    let (ours, theirs) = UnixStream::pair()?;
    let mut command = home.command(std::path::Path::new("timeout"));
    command.args(["60", "python3", "-c", &script]).stdin(Stdio::from(OwnedFd::from(theirs)));
    let output = command.stdout(Stdio::piped()).spawn()?;
    ensure!(wait::file(&home.castellan().join("connected"), true, LIMIT)?, "not connected");
    let (started, done) = (std::time::Instant::now(), restart(&home)?);
    assert_eq!(done.code, Some(0), "{done:?}");
    // The daemon waits 2 s for a request; it does not wait for these.
    println!("a restart beside silent connections took {:?}", started.elapsed());
    (&ours).write_all(b"x")?;
    let told = output.wait_with_output()?;
    assert_eq!(String::from_utf8_lossy(&told.stdout), "True\nTrue\nTrue\n");
    assert_ne!(pid(&home)?, u64::from(first.as_raw_nonzero().get().unsigned_abs()));
    Ok(())
}

#[test]
fn the_daemon_before_answers_the_call_in_its_hands() -> Result<()> {
    let home = Home::with_castellan("upgrade-half", ENFORCE, RULES)?;
    home.start_daemon()?;
    let before = pid(&home)?;
    let frame = request_frame(&bash("forbidden"))?;
    let (half, rest) = frame.split_at(frame.len() / 2);
    let mut stream = connect(&paths(&home).hook_socket())?;
    stream.set_read_timeout(Some(LIMIT))?;
    stream.write_all(half)?;
    let done = std::thread::scope(|scope| -> Result<_> {
        let restarting = scope.spawn(|| restart(&home));
        // The daemon before answers this call before it gives the home away.
        let log = home.castellan().join("state/log/notable.jsonl");
        let permitted = || Ok(std::fs::read_to_string(&log)?.contains("\"handover\"").then_some(()));
        until(LIMIT, permitted)?.context("no handover")?;
        stream.write_all(rest)?;
        let reply = Reply::decode(&read_frame(&mut stream, REPLY_BYTES_MAX).ok().context("no answer")?.body);
        let said = String::from_utf8_lossy(&reply.ok().context("no reply")?.stdout).into_owned();
        ensure!(said.contains("the test denies"), "{said}");
        restarting.join().map_err(|_| anyhow::anyhow!("a panic"))?
    })?;
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_ne!(pid(&home)?, before);
    home.run_castellan(&["log", "verify"])?;
    Ok(())
}

#[test]
fn an_agent_cannot_have_the_daemon_replaced() -> Result<()> {
    let home = Home::with_castellan("upgrade-agent", ENFORCE, RULES)?;
    home.start_daemon()?;
    let before = pid(&home)?;
    // Without a terminal.
    let command =
        format!("{} --home {} restart", home.bin().join("castellan").display(), home.castellan().display());
    let mut plain = home.command(std::path::Path::new("sh"));
    let done = Running::start(plain.args(["-c", &command]))?.finish(LIMIT)?;
    assert_eq!(done.code, Some(4), "{done:?}");
    // At a terminal, below an agent.
    let agent = home.bin().join("claude");
    std::fs::copy("/bin/sh", &agent)?;
    let done = terminal::run(&home, &agent, &["-c", &format!("{command}\ntrue")])?;
    assert!(done.stderr.contains("within a guarded agent"), "{done:?}");
    // By the protocol.
    let refused = control::ask(&home, &json!("hand_over"))?;
    assert!(refused.get("refused").is_some(), "{refused}");
    // A process that says it takes over, without a permitted connection.
    for option in ["--take-over", "--resume"] {
        let mut next = home.command(&home.bin().join("castellan"));
        next.args(["daemon", option]).arg("--home").arg(home.castellan());
        let done = Running::start(&mut next)?.finish(LIMIT)?;
        assert_eq!(done.code, Some(7), "{option}: {done:?}");
        let mut stream = control::begin(&home)?;
        let theirs = Stdio::from(OwnedFd::from(stream.try_clone()?));
        let mut next = home.command(&home.bin().join("castellan"));
        next.args(["daemon", option]).arg("--home").arg(home.castellan()).stdin(theirs);
        let done = next.stderr(Stdio::piped()).spawn()?.wait_with_output()?;
        assert_eq!(done.status.code(), Some(7), "{option}: {done:?}");
        let _closed = stream.read(&mut [0; 512]);
    }
    assert_eq!(pid(&home)?, before);
    assert_eq!(understood(&judge(&home, &bash("forbidden"))?), "deny");
    let refused = home
        .records()?
        .into_iter()
        .filter(|record| record["control"]["action"] == "handover" && record["control"]["accepted"] == false);
    assert_eq!(refused.count(), 3);
    Ok(())
}

/// A program that listens in the daemon's place, and gives its own sockets to whoever takes over.
const IMPOSTOR: &str = r#"
import array, fcntl, json, os, socket, sys
home, ready = sys.argv[1:]
def listen(name):
    path = f"{home}/run/{name}.sock"
    os.path.exists(path) and os.remove(path)
    made = socket.socket(socket.AF_UNIX)
    made.bind(path)
    os.chmod(path, 0o600)
    made.listen(16)
    return made
hook, control = listen("hook"), listen("control")
lock = open(f"{home}/run/daemon.lock", "w")
try: fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
except OSError: pass
def send(stream, body):
    body = json.dumps(body).encode()
    stream.sendall(b"CSTL" + (1).to_bytes(2, "little") + (4).to_bytes(2, "little") + len(body).to_bytes(4, "little") + body)
def receive(stream):
    head = stream.recv(12, socket.MSG_WAITALL)
    return json.loads(stream.recv(int.from_bytes(head[8:], "little"), socket.MSG_WAITALL)) if len(head) == 12 else None
open(ready, "w").close()
while True:
    stream, _ = control.accept()
    request = receive(stream)
    if request is None: continue
    if "take" not in request:
        answer = {"status": {"pid": 1, "version": "0.0.1", "sockets": "daemon"}} if request["body"] == "status" else "done"
        send(stream, {"version": 2, "body": answer})
        request = receive(stream)
    if request and "take" in request:
        send(stream, {"given": {"hook": 0, "control": 0, "why": ""}})
        fds = array.array("i", [hook.fileno(), control.fileno(), lock.fileno()])
        stream.sendmsg([b"d"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
        open(f"{home}/given", "w").close()
        receive(stream)
        open(f"{home}/taken", "w").close()
"#;

#[test]
fn nothing_is_taken_from_an_impostor() -> Result<()> {
    let home = Home::with_castellan("upgrade-impostor", ENFORCE, RULES)?;
    let daemon = home.start_daemon()?;
    for is_alive in [true, false] {
        match is_alive {
            // It would make its sockets again.
            true => kill_process(daemon, Signal::STOP)?,
            false => {
                kill_process(daemon, Signal::KILL)?;
                ensure!(wait::ended(daemon, LIMIT)?, "the daemon lives on");
            }
        }
        let ready = home.castellan().join(format!("ready-{is_alive}"));
        let mut impostor = home.command(std::path::Path::new("python3"));
        impostor.args(["-c", IMPOSTOR]).arg(home.castellan()).arg(&ready);
        let running = Running::start(&mut impostor)?;
        ensure!(wait::file(&ready, true, LIMIT)?, "{:?}", running.finish(Duration::ZERO));
        // castellan of a person does not ask it.
        let done = restart(&home)?;
        assert_eq!(done.code, Some(7), "{done:?}");
        assert!(done.stderr.contains("is another program than this castellan"), "{done:?}");
        // A daemon that is led to it does not take anything either.
        let stream = connect(&paths(&home).control_socket())?;
        let mut next = home.command(&home.bin().join("castellan"));
        next.args(["daemon", "--take-over"]).arg("--home").arg(home.castellan());
        next.stdin(Stdio::from(OwnedFd::from(stream))).stderr(Stdio::piped());
        let done = next.spawn()?.wait_with_output()?;
        let told = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(7), "{told}");
        assert!(told.contains("is another program than this castellan"), "{told}");
        for file in ["given", "taken"] {
            assert!(!home.castellan().join(file).exists(), "{file}: {told}");
        }
        drop(running);
        if is_alive {
            kill_process(daemon, Signal::CONT)?;
            let healed = until(LIMIT, || {
                Ok(status(&home)
                    .is_ok_and(|status| status["pid"] == daemon.as_raw_nonzero().get())
                    .then_some(()))
            })?;
            assert!(healed.is_some(), "the daemon is not reached again");
        }
    }
    assert_eq!(understood(&judge(&home, &bash("forbidden"))?), "deny");
    Ok(())
}

#[test]
fn a_listener_at_another_place_is_not_taken() -> Result<()> {
    // The daemon itself would be replaced by a program with its own executable: the sockets must be at the home's paths.
    let home = Home::with_castellan("upgrade-elsewhere", ENFORCE, RULES)?;
    home.start_daemon()?;
    let before = pid(&home)?;
    let paths = paths(&home);
    // The daemon repairs its sockets before a handover, so that they lead to it.
    for path in [paths.hook_socket(), paths.control_socket()] {
        let keeps: UnixListener = {
            std::fs::rename(&path, path.with_extension("moved"))?;
            bind(&path)?
        };
        if path == paths.control_socket() {
            // Nobody answers there until the daemon has made its socket again.
            drop(keeps);
            let found = until(LIMIT, || Ok(status(&home).ok()))?;
            assert!(found.is_some());
        }
    }
    let done = restart(&home)?;
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_ne!(pid(&home)?, before);
    let mut stream = connect(&paths.hook_socket())?;
    stream.write_all(&request_frame(&bash("forbidden"))?)?;
    stream.set_read_timeout(Some(LIMIT))?;
    read_frame(&mut stream, REPLY_BYTES_MAX).ok().context("no answer")?;
    Ok(())
}
