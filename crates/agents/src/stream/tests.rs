use serde_json::json;

use super::*;

fn response(id: &str, is_subagent: bool, (input, output, cache_creation): (u64, u64, u64)) -> UsageReport {
    UsageReport::Response { id: id.to_owned(), is_subagent, tokens: Tokens { input, output, cache_creation } }
}

fn thread(input: u64, output: u64) -> UsageReport {
    UsageReport::Thread(Tokens { input, output, cache_creation: 0 })
}

/// A message of Claude Code with this usage.
fn message(usage: &Json) -> Vec<u8> {
    json!({"type": "assistant", "session_id": "s", "message": {"id": "m", "content": [], "usage": usage}})
        .to_string()
        .into_bytes()
}

#[test]
fn claudes_stream_has_sessions_calls_and_usage() {
    let line = json!({
        "type": "assistant", "session_id": "s", "parent_tool_use_id": null,
        "message": {"id": "m", "content": [
            {"type": "text", "text": "x"},
            {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}},
            {"type": "server_tool_use", "id": "u", "name": "web_search", "input": {}},
        ], "usage": {"input_tokens": 1, "output_tokens": 2, "cache_creation_input_tokens": 3, "cache_read_input_tokens": 99}},
    });
    let read = stream_line(AgentId::CLAUDE, line.to_string().as_bytes()).unwrap();
    assert_eq!(read.session.as_deref(), Some("s"));
    assert_eq!(read.usage, [response("m", false, (1, 2, 3))]);
    let calls: Vec<(&str, &str)> =
        read.calls.iter().map(|call| (call.id.as_str(), call.tool.as_str())).collect();
    assert_eq!(calls, [("t", "Bash"), ("u", "web_search")]);
    let result =
        json!({"type": "result", "session_id": "s", "usage": {"input_tokens": 5, "output_tokens": 6}});
    let read = stream_line(AgentId::CLAUDE, result.to_string().as_bytes()).unwrap();
    assert_eq!(read.usage, [UsageReport::Turn(Tokens { input: 5, output: 6, cache_creation: 0 })]);
    let child = json!({"type": "assistant", "parent_tool_use_id": "t", "message":
        {"id": "n", "usage": {"input_tokens": 1, "output_tokens": 1}}});
    let read = stream_line(AgentId::CLAUDE, child.to_string().as_bytes()).unwrap();
    assert_eq!(read.usage, [response("n", true, (1, 1, 0))]);
}

#[test]
fn usage_that_is_no_number_of_tokens_is_an_error() {
    let check = |usage: Json, expected: Option<&'static str>| {
        let got = stream_line(AgentId::CLAUDE, &message(&usage));
        assert_eq!(got.as_ref().err(), expected.map(StreamProblem::Usage).as_ref(), "{usage}");
    };
    check(json!({"input_tokens": 1, "output_tokens": TOKENS_MAX}), None);
    check(json!({"input_tokens": 0, "output_tokens": 0, "cache_creation_input_tokens": null}), None);
    check(json!({"output_tokens": 1}), Some("input_tokens"));
    check(json!({"input_tokens": 1}), Some("output_tokens"));
    check(json!({"input_tokens": -1, "output_tokens": 1}), Some("input_tokens"));
    check(json!({"input_tokens": 1.5, "output_tokens": 1}), Some("input_tokens"));
    check(json!({"input_tokens": "1", "output_tokens": 1}), Some("input_tokens"));
    check(json!({"input_tokens": null, "output_tokens": 1}), Some("input_tokens"));
    check(json!({"input_tokens": 1, "output_tokens": TOKENS_MAX + 1}), Some("output_tokens"));
    check(json!({"input_tokens": 1, "output_tokens": 1e300}), Some("output_tokens"));
    check(
        json!({"input_tokens": 1, "output_tokens": 1, "cache_creation_input_tokens": -5}),
        Some("cache_creation_input_tokens"),
    );
    check(json!("none"), Some("input_tokens"));
    let missing = json!({"type": "assistant", "message": {"id": "m", "content": []}}).to_string();
    assert_eq!(stream_line(AgentId::CLAUDE, missing.as_bytes()), Err(StreamProblem::Usage("usage")));
    let missing = json!({"type": "result"}).to_string();
    assert_eq!(stream_line(AgentId::CLAUDE, missing.as_bytes()), Err(StreamProblem::Usage("usage")));
    let cached = json!({"type": "turn.completed", "usage":
        {"input_tokens": 5, "cached_input_tokens": 6, "output_tokens": 1}});
    let got = stream_line(AgentId::CODEX, cached.to_string().as_bytes());
    assert_eq!(got, Err(StreamProblem::Usage("cached_input_tokens")));
}

#[test]
fn malformed_lines_are_errors() {
    for line in [&b"{"[..], b"usage", b"[]", b"\xff", b"{\"usage\": 1, \"usage\": 2}", b"{} {}", b"\"usage\""]
    {
        for agent in AgentId::ALL {
            assert!(stream_line(agent, line).is_err(), "{agent:?} {line:?}");
            assert!(transcript_usage(agent, line).is_err(), "{agent:?} {line:?}");
        }
    }
}

#[test]
fn codexs_stream_has_a_thread_items_and_its_usage() {
    let check = |line: Json, expected: StreamLine| {
        assert_eq!(stream_line(AgentId::CODEX, line.to_string().as_bytes()), Ok(expected), "{line}");
    };
    let session = Some("0-1".to_owned());
    check(
        json!({"type": "thread.started", "thread_id": "0-1"}),
        StreamLine { session, ..StreamLine::default() },
    );
    let usage = json!({"input_tokens": 300, "cached_input_tokens": 100, "cache_write_input_tokens": 7, "output_tokens": 50});
    check(
        json!({"type": "turn.completed", "usage": usage}),
        StreamLine { usage: vec![thread(200, 50)], ..StreamLine::default() },
    );
    let call = StreamCall {
        id: "item_1".to_owned(),
        tool: "command_execution".to_owned(),
        input: json!({"command": "ls"}),
    };
    let item = json!({"id": "item_1", "type": "command_execution", "command": "ls", "status": "in_progress"});
    check(
        json!({"type": "item.started", "item": item}),
        StreamLine { calls: vec![call], ..StreamLine::default() },
    );
    check(
        json!({"type": "item.completed", "item": {"id": "i", "type": "agent_message", "text": "x"}}),
        StreamLine::default(),
    );
}

#[test]
fn transcripts_report_whole_responses_and_threads() {
    let line = json!({"type": "assistant", "isSidechain": true, "timestamp": "2026-11-29T01:00:00.000Z",
        "message": {"id": "m", "usage": {"input_tokens": 1, "output_tokens": 2}}});
    let read = transcript_usage(AgentId::CLAUDE, line.to_string().as_bytes()).unwrap();
    assert_eq!(
        (read.time.as_str(), read.usage),
        ("2026-11-29T01:00:00.000Z", vec![response("m", true, (1, 2, 0))])
    );
    let other = json!({"type": "user", "message": {"content": "usage"}});
    assert_eq!(transcript_usage(AgentId::CLAUDE, other.to_string().as_bytes()).unwrap().usage, []);
    let info =
        json!({"total_token_usage": {"input_tokens": 9, "cached_input_tokens": 4, "output_tokens": 3}});
    let line = json!({"type": "event_msg", "payload": {"type": "token_count", "info": info}});
    assert_eq!(transcript_usage(AgentId::CODEX, line.to_string().as_bytes()).unwrap().usage, [thread(5, 3)]);
    let line = json!({"type": "event_msg", "payload": {"type": "token_count", "info": null}});
    assert_eq!(transcript_usage(AgentId::CODEX, line.to_string().as_bytes()).unwrap().usage, []);
    let line = json!({"type": "event_msg", "payload": {"type": "token_count", "info": {}}});
    assert!(transcript_usage(AgentId::CODEX, line.to_string().as_bytes()).is_err());
}
