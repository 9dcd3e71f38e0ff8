//! Programs that a helper process of the daemon reads: long ones, and each of Perl and Lua.

use std::fs;

use castellan_tests::home::Home;
use castellan_tests::hook::{bash, judge, understood};
use castellan_tests::process::stop_process;
use castellan_tests::wait::{ended, until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::LIMIT;
use super::history::run_json;

pub(super) const RULES: &str = "
- rule: Marked
  desc: d
  condition: fx.kind = write and fx.path = /srv/mark
  output: marked
  priority: NOTICE
  source: coding_agent
  tags: [coding_agent_deny]
- rule: Unknown code
  desc: d
  condition: fx.kind = opaque and fx.role = code
  output: unknown
  priority: NOTICE
  source: coding_agent
  tags: [coding_agent_deny]
";

/// The packs would deny more.
pub(super) const ALONE: &str = "version = 1\n[packs]\nexecution = \"off\"\n";

/// The helpers of a daemon.
fn helpers(daemon: Pid) -> Vec<Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?));
    let is_child = |pid: &Pid| {
        let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
        let fields = stat.rsplit_once(") ").map_or("", |(_, fields)| fields);
        fields.split(' ').nth(1) == Some(&daemon.as_raw_nonzero().to_string())
    };
    // The daemon also probes the machine for sandboxes.
    let is_helper = |pid: &Pid| {
        let words = fs::read_to_string(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).unwrap_or_default();
        words.contains("read-programs")
    };
    pids.filter(is_child).filter(is_helper).collect()
}

/// Judges a call that runs a program of 6 KiB with this name and code. Returns the verdict and the
/// message of the rule.
fn judged(home: &Home, name: &str, code: &str) -> anyhow::Result<String> {
    let file = home.workspace().join(name);
    fs::write(&file, format!("{code}\n# {}\n", "x".repeat(6_000)))?;
    judged_call(home, &format!("python3 {name}"))
}

fn judged_call(home: &Home, command: &str) -> anyhow::Result<String> {
    let mut call = bash(command);
    call["cwd"] = home.workspace().to_string_lossy().as_ref().into();
    let done = judge(home, &call)?;
    let message = ["marked", "unknown"].into_iter().find(|word| done.stdout.contains(word));
    Ok(format!("{} {}", understood(&done), message.unwrap_or("-")))
}

#[test]
fn a_helper_reads_long_programs_and_may_fail() -> anyhow::Result<()> {
    let home = Home::with_castellan("long-programs", ALONE, RULES)?;
    let daemon = home.start_daemon()?;
    assert_eq!(helpers(daemon), [], "a helper that no call needs");
    assert_eq!(judged(&home, "calm.py", "print(1)")?, "defer -");
    assert_eq!(judged(&home, "mark.py", "open('/srv/mark', 'w')")?, "deny marked");
    let [helper] = helpers(daemon)[..] else { anyhow::bail!("not one helper") };

    // A helper that hangs is killed, and its program is not understood.
    stop_process(helper)?;
    assert_eq!(judged(&home, "hangs.py", "print(2)")?, "deny unknown");
    assert!(ended(helper, LIMIT)?, "the helper hangs on");
    let recorded =
        home.records()?.iter().any(|record| record["call"]["world"].to_string().contains("given up"));
    assert!(recorded, "no record of it");
    // The replay could read it.
    let (done, json) = run_json(&home, &["replay"])?;
    assert_eq!((done.code, &json["changes"]), (Some(0), &json!([])), "{json}");

    // The next one works, also after a crash.
    assert_eq!(judged(&home, "again.py", "print(3)")?, "defer -");
    let [helper] = helpers(daemon)[..] else { anyhow::bail!("not one helper") };
    kill_process(helper, Signal::KILL)?;
    until(LIMIT, || {
        Ok(fs::read(format!("/proc/{}/cmdline", helper.as_raw_nonzero()))?.is_empty().then_some(()))
    })?;
    assert_eq!(judged(&home, "crash.py", "print(4)")?, "deny unknown");
    assert_eq!(judged(&home, "after.py", "print(5)")?, "defer -");
    Ok(())
}

#[test]
fn a_helper_reads_each_program_of_perl_and_lua() -> anyhow::Result<()> {
    let home = Home::with_castellan("perl-programs", ALONE, RULES)?;
    let daemon = home.start_daemon()?;
    assert_eq!(judged_call(&home, "python3 -c 'print(1)'")?, "defer -");
    assert_eq!(helpers(daemon), [], "a helper for a short program");
    assert_eq!(judged_call(&home, "perl -e 'print 1'")?, "defer -");
    let [helper] = helpers(daemon)[..] else { anyhow::bail!("not one helper") };
    assert_eq!(judged_call(&home, "perl -e 'unlink 1; open(F, \">/srv/mark\")'")?, "deny marked");
    assert_eq!(judged_call(&home, "lua -e 'io.open(\"/srv/mark\", \"w\")'")?, "deny marked");
    assert_eq!(helpers(daemon), [helper]);

    // tree-sitter takes seconds for such a text, and calls back too seldom to be ended.
    fs::write(home.workspace().join("slow.lua"), "a b ".repeat(15_000))?;
    assert_eq!(judged_call(&home, "lua slow.lua")?, "deny unknown");
    assert_eq!(judged_call(&home, "perl -e 'print 2'")?, "defer -");
    Ok(())
}
