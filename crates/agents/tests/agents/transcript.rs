//! Lines from real transcripts. `transcript/AGENT.cases` holds each line and below it, after `=>`, its entries.

use castellan_agents::{AgentId, TranscriptEntry, subagent_transcripts, transcript_line};
use proptest::prelude::*;

fn reported(agent: AgentId, line: &str) -> String {
    let entry = |entry: &TranscriptEntry| match entry {
        TranscriptEntry::Begun(call) => {
            format!("begun {} {} harmless={}", call.id, call.tool, call.is_harmless)
        }
        TranscriptEntry::Ended { id, ran } => format!("ended {id} ran={ran}"),
        TranscriptEntry::Ran(call) => format!("ran {} {} {}", call.id, call.tool, call.input),
    };
    match transcript_line(agent, line.as_bytes()) {
        Ok(line) => line.entries.iter().map(entry).collect::<Vec<_>>().join("; "),
        Err(why) => format!("error: {why}"),
    }
}

fn check(agent: AgentId, cases: &str) {
    let mut count = 0;
    let mut lines = cases.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    while let Some(line) = lines.next() {
        let expected = lines.next().and_then(|line| line.strip_prefix("=>")).unwrap();
        assert_eq!(reported(agent, line), expected.trim(), "{line}");
        count += 1;
    }
    assert!(count > 10, "cases are missing");
}

#[test]
fn lines_say_what_became_of_calls() {
    check(AgentId::CLAUDE, include_str!("transcript/claude.cases"));
    check(AgentId::CODEX, include_str!("transcript/codex.cases"));
}

#[test]
fn a_line_says_when_it_was_written() {
    let line = include_str!("transcript/codex.cases").lines().nth(1).unwrap();
    let read = transcript_line(AgentId::CODEX, line.as_bytes()).unwrap();
    assert_eq!(read.time, "2026-11-22T16:24:14.789Z");
}

#[test]
fn sub_agents_have_transcripts_of_their_own() {
    let of = |agent, path| subagent_transcripts(agent, path);
    assert_eq!(of(AgentId::CLAUDE, "/p/x.jsonl").as_deref(), Some("/p/x/subagents"));
    assert_eq!(of(AgentId::CLAUDE, "/p/x"), None);
    assert_eq!(of(AgentId::CODEX, "/p/x.jsonl"), None);
}

proptest! {
    #[test]
    fn no_line_is_too_odd(line in any::<Vec<u8>>(), word in "(_call|item_completed|tool_use|tool_result)") {
        for agent in AgentId::ALL {
            let _ = transcript_line(agent, &line);
            let text = format!("{{\"{word}\":{}", String::from_utf8_lossy(&line));
            let _ = transcript_line(agent, text.as_bytes());
        }
    }
}
