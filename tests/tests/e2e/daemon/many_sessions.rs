//! An agent process that uses thousands of session ids: the daemon serves it, and forgets nothing because of it.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write;
use std::time::Duration;

use anyhow::Context;
use castellan_tests::home::Home;
use castellan_tests::hook::{ENFORCE, RULES, request_frame};
use castellan_wire::{REPLY_BYTES_MAX, Reply, connect, read_frame};
use serde_json::{Value as Json, json};

use super::{kill, status};

/// The number of sessions that the daemon stores.
const SESSIONS: usize = 4096;

/// Marks a session, and denies its later calls.
const MARKS: &str = r#"
- rule: Marks
  desc: d
  condition: tool.input_command contains first
  output: marked
  priority: NOTICE
  source: coding_agent
  tags: ["coding_agent_mark:seen"]

- rule: Remembers
  desc: d
  condition: tool.input_command contains later and session.mark_count[seen] >= 1
  output: it was seen
  priority: WARNING
  source: coding_agent
  tags: [coding_agent_deny]
"#;

fn answer(home: &Home, frame: &[u8]) -> anyhow::Result<String> {
    let socket = castellan_wire::Home::new(home.castellan()).unwrap().hook_socket();
    let mut stream = connect(&socket)?;
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    stream.write_all(frame)?;
    let reply = Reply::decode(&read_frame(&mut stream, REPLY_BYTES_MAX)?.body)?;
    Ok(format!(
        "{} {}{}",
        reply.exit,
        String::from_utf8_lossy(&reply.stdout),
        String::from_utf8_lossy(&reply.stderr)
    ))
}

fn ask(home: &Home, session: usize, command: &str) -> anyhow::Result<String> {
    let mut call: Json = castellan_tests::hook::bash(command);
    call["session_id"] = json!(format!("session-{session}"));
    answer(home, &request_frame(&call)?)
}

/// Adds sessions to the daemon's state, as if the agent of the present session had continued under their ids.
fn add_sessions(home: &Home) -> anyhow::Result<()> {
    let journal = home.castellan().join("state/journal");
    let text = std::fs::read_to_string(&journal)?;
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Json>(line).ok());
    let session = lines.filter_map(|line| line.get("session").cloned()).next_back().context("no session")?;
    let mut more = String::new();
    for number in 0..SESSIONS {
        let line = json!({ "session": {
            "id": format!("{number:064x}"), "root": session["root"], "seen_ms": session["seen_ms"], "workspace": null,
        }});
        writeln!(more, "{line}")?;
    }
    Ok(OpenOptions::new().append(true).open(&journal)?.write_all(more.as_bytes())?)
}

#[test]
fn an_agent_is_served_under_any_number_of_ids_and_sheds_nothing() -> anyhow::Result<()> {
    let home = Home::with_castellan("many-sessions", ENFORCE, &format!("{RULES}{MARKS}"))?;
    let daemon = home.start_daemon()?;
    // This test's parent process is the agent of these connections.
    let first = ask(&home, 0, "echo first")?;
    assert!(!first.contains("deny"), "{first}");
    kill(daemon)?;
    add_sessions(&home)?;
    home.start_daemon()?;
    for session in [1, 2, 3, 0] {
        let answer = ask(&home, session, "ls")?;
        assert!(!answer.contains("deny"), "{session}: {answer}");
        let answer = ask(&home, session, "echo later")?;
        assert!(answer.contains("it was seen"), "{session}: {answer}");
    }
    assert_eq!(status(&home)["failures"], 0);
    assert!(status(&home)["sessions"].as_u64() < Some(SESSIONS as u64), "{}", status(&home));
    Ok(())
}
