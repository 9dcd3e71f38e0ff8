//! Commands made to break the analysis, through hook and daemon: Opaque parts have a reason, and the daemon continues.

use std::fs::File;
use std::os::unix::fs::symlink;
use std::path::Path;

use anyhow::{Context, ensure};
use castellan_corpus::hostile;
use castellan_tests::home::Home;
use castellan_tests::hook::{self, ENFORCE, bash, judge, understood};
use castellan_tests::process::Running;
use rustix::process::Pid;

use super::{LIMIT, status};

/// Denies Opaque parts and reports the reason; also denies writes to other programs.
const RULES: &str = "
- rule: Not understood
  desc: d
  condition: fx.kind = opaque
  output: role=%fx.role why=%fx.why
  priority: WARNING
  source: coding_agent
  tags: [coding_agent_deny]

- rule: Injected
  desc: d
  condition: fx.kind = inject
  output: injected %fx.path
  priority: WARNING
  source: coding_agent
  tags: [coding_agent_deny]
";

/// Bytes of a script that is too large to be read.
const HUGE: u64 = 100 << 20;

/// A workspace with a cycle of symlinks, a FIFO, and files with invalid code.
fn home(name: &str) -> anyhow::Result<Home> {
    let home = Home::with_castellan(name, ENFORCE, RULES)?;
    let workspace = home.workspace();
    symlink("circle", workspace.join("circle"))?;
    let mut make = home.command(Path::new("mkfifo"));
    let made = Running::start(make.arg(workspace.join("fifo")))?.finish(LIMIT)?;
    ensure!(made.code == Some(0), "no FIFO: {made:?}");
    symlink("fifo", workspace.join("to-fifo"))?;
    File::create(workspace.join("huge"))?.set_len(HUGE)?;
    std::fs::write(workspace.join("wide"), b"\xff\xfer\0m\0 \0-\0r\0")?;
    std::fs::write(workspace.join("elf"), b"\x7fELF\x02\x01\x01\0")?;
    std::fs::write(workspace.join("ring.sh"), format!(". {}/ring.sh\n", workspace.display()))?;
    std::fs::write(workspace.join("Makefile"), "all:\n\t$(MAKE) all\n")?;
    Ok(home)
}

/// Checks that the command is denied with these words. `W/` is the workspace.
fn check(home: &Home, command: &str, expected: &str) -> anyhow::Result<()> {
    let workspace = format!("{}/", home.workspace().display());
    let done = judge(home, &bash(&command.replace("W/", &workspace)))?;
    let name = command.get(..60).unwrap_or(command);
    assert_eq!(understood(&done), "deny", "{name}: {done:?}");
    assert!(done.stdout.replace(&workspace, "W/").contains(expected), "{name}: {done:?}");
    Ok(())
}

#[test]
fn what_is_not_understood_is_denied_with_the_reason() -> anyhow::Result<()> {
    let home = home("bad-commands")?;
    let daemon = home.start_daemon()?;
    let nested = format!("rm {}a{}", "$(".repeat(100_000), ")".repeat(100_000));
    for (command, expected) in [
        (nested.as_str(), "role=code why=size"),
        (&"$(".repeat(100_000), "role=code why=size"),
        (&format!("rm {}", "a".repeat(1 << 20)), "role=code why=size"),
        (&"a".repeat(1 << 20), "role=code why=size"),
        ("rm 'a", "role=code why=syntax"),
        ("\u{feff}rm -rf W/x 'a", "role=code why=syntax"),
        ("sh W/fifo", "role=code why=input"),
        ("sh < W/fifo", "role=code why=input"),
        ("python3 W/fifo", "role=code why=input"),
        ("node W/to-fifo", "role=code why=input"),
        ("make -C W/ -f fifo", "role=code why=input"),
        ("bash /dev/zero", "role=code why=input"),
        ("bash W/huge", "role=code why=unreadable"),
        ("python3 < W/huge", "role=code why=unreadable"),
        ("bash W/wide", "role=code why=encoding"),
        ("bash W/elf", "role=code why=encoding"),
        ("node W/elf", "role=code why=encoding"),
        (". W/ring.sh", "role=code why=nesting"),
        ("make -C W/", "role=code why=nesting"),
        ("bash W/circle", "role=program why=unreadable"),
        ("echo a > W/fifo", "/repo/fifo. Do not rephrase it."),
        ("sh /dev/tty", "role=code why=input"),
        ("rm W/circle/x", "role=target why=unreadable"),
        ("cat W/circle", "role=operand why=unreadable"),
        ("W/circle/x", "role=program why=unreadable"),
        ("ln -s W/a W/b; ln -s W/b W/a; rm W/a/x", "role=target why=unreadable"),
    ] {
        check(&home, command, expected)?;
    }
    assert_eq!(understood(&judge(&home, &bash("ls"))?), "defer");
    assert_eq!(status(&home)["pid"], daemon.as_raw_nonzero().get());
    Ok(())
}

/// Sizes of the hostile calls, and the number of calls at a time.
const SIZES: [usize; 2] = [1 << 10, 8 << 10];
const AT_A_TIME: usize = 4;

/// Limit of the daemon's peak memory in KiB. Without hostile calls the peak is some tens of thousands.
const PEAK_KIB_MAX: u64 = 256 << 10;

#[test]
fn the_daemon_survives_hundreds_of_hostile_calls_and_answers_others_meanwhile() -> anyhow::Result<()> {
    let home = home("hostile")?;
    let daemon = home.start_daemon()?;
    let shapes = hostile().map_err(anyhow::Error::msg)?;
    let commands: Vec<String> =
        SIZES.iter().flat_map(|size| shapes.iter().map(|shape| shape.text(*size))).collect();
    ensure!(commands.len() >= 200, "only {} commands", commands.len());
    let ask = |command: &String| -> anyhow::Result<Running> {
        let payload = bash(command).to_string();
        Running::start_with_input(&mut hook::command(&home, "claude", "PreToolUse"), payload.as_bytes())
    };
    for commands in commands.chunks(AT_A_TIME) {
        let running: Vec<Running> = commands.iter().map(ask).collect::<anyhow::Result<_>>()?;
        // Sent during the hostile calls; it must not wait for them.
        assert_eq!(understood(&judge(&home, &bash("ls"))?), "defer");
        for (hook, command) in running.into_iter().zip(commands) {
            let done = hook.finish(hook::HOOK_LIMIT)?;
            let answer = understood(&done);
            assert!(["deny", "ask", "defer"].contains(&answer.as_str()), "{command}: {answer}");
        }
    }
    assert_eq!(status(&home)["pid"], daemon.as_raw_nonzero().get());
    let failures = home.records()?.iter().filter(|record| record["type"] == "failure").count();
    assert_eq!(failures, 0, "calls that failed inside");
    let peak = peak_kib(daemon)?;
    assert!(peak <= PEAK_KIB_MAX, "{peak} KiB at the peak");
    Ok(())
}

/// Returns the peak of a process's memory.
fn peak_kib(process: Pid) -> anyhow::Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.as_raw_nonzero()))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no VmHWM")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}
