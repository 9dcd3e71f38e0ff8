//! Golden payloads: `golden/AGENT/EVENT-name.json` (or `.bin`) from an agent, and beside it `.txt` with the decoded
//! call. `UPDATE_EXPECT=1` rewrites the texts; read the difference before you keep it.

use std::fmt::Write;
use std::path::Path;

use castellan_agents::{AgentId, Incoming, Malformed, Origin, PAYLOAD_BYTES_MAX, call_key_input, decode};
use castellan_event::{Agent, Call, Change, IntakeProblem, Override};
use proptest::prelude::*;
use serde_json::Value as Json;

fn origin() -> Origin {
    Origin { correlation_id: 42, agent_pid: 7, hook_cwd: "/hook/cwd".to_owned() }
}

#[test]
fn payloads_are_read_as_written_beside_them() {
    let update = std::env::var_os("UPDATE_EXPECT").is_some();
    let mut wrong = Vec::new();
    for agent in AgentId::ALL {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agents/golden").join(agent.word());
        let mut files: Vec<_> = std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files.retain(|file| file.extension().is_some_and(|extension| extension != "txt"));
        assert!(files.len() > 10, "payloads are missing in {}", dir.display());
        for file in files {
            let event = file.file_stem().unwrap().to_str().unwrap().split('-').next().unwrap();
            let found = summary(&decode(agent, event, &std::fs::read(&file).unwrap(), &origin()));
            let expected_file = file.with_extension("txt");
            if update {
                std::fs::write(&expected_file, &found).unwrap();
            }
            let expected = std::fs::read_to_string(&expected_file).unwrap_or_default();
            if found != expected {
                wrong.push(format!("{}:\n{found}--- expected:\n{expected}", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn summary(decoded: &Result<Incoming, Malformed>) -> String {
    let mut text = String::new();
    match decoded {
        Ok(Incoming::Question(call)) => write_call(&mut text, "question", call),
        Ok(Incoming::Permission(call)) => write_call(&mut text, "permission", call),
        Ok(Incoming::Done(done)) => {
            write_call(&mut text, if done.failed { "failed" } else { "done" }, &done.call);
            writeln!(text, "response: {}", done.response).unwrap();
        }
        Ok(Incoming::Session(event)) => {
            writeln!(text, "session event: {:?} {:?}", event.moment, event.text).unwrap();
            write_agent(&mut text, &event.agent);
        }
        Err(malformed) => {
            writeln!(text, "malformed: {malformed}").unwrap();
            write_agent(&mut text, &malformed.agent);
            let beginning: String = malformed.text.chars().take(40).collect();
            writeln!(text, "text: {beginning:?}").unwrap();
        }
    }
    text
}

fn write_call(text: &mut String, what: &str, call: &Call) {
    let tool = &call.tool;
    writeln!(
        text,
        "{what} {}: {} ({}) {:?} id={:?}",
        call.correlation_id, tool.name, tool.name_raw, tool.kind, tool.use_id
    )
    .unwrap();
    if let Some((server, tool)) = &tool.mcp {
        writeln!(text, "mcp: {server} / {tool}").unwrap();
    }
    write_agent(text, &call.agent);
    if call.in_background {
        writeln!(text, "in the background").unwrap();
    }
    if let Some(command) = &call.command {
        writeln!(text, "command: {command:?}").unwrap();
    }
    for file in &call.files {
        let op = file.patch_op.map_or("", |op| op.as_str());
        writeln!(text, "file: {op} {:?} {:?}", file.path, file.patch_text).unwrap();
        if file.change != Change::Unsaid {
            writeln!(text, "change: {:?}", file.change).unwrap();
        }
    }
    writeln!(text, "input: {}", call.input_text).unwrap();
    writeln!(text, "key: {}", call_key_input(call)).unwrap();
    for problem in &call.problems {
        writeln!(text, "problem: {problem}").unwrap();
    }
}

fn write_agent(text: &mut String, agent: &Agent) {
    writeln!(text, "agent: {} {} pid={} cwd={}", agent.name, agent.event, agent.pid, agent.cwd).unwrap();
    let rest = [
        ("session", &agent.session_id),
        ("subagent", &agent.subagent_id),
        ("mode", &agent.permission_mode),
        ("transcript", &agent.transcript_path),
        ("model", &agent.model),
        ("turn", &agent.turn_id),
    ];
    for (name, value) in rest.into_iter().filter(|(_, value)| !value.is_empty()) {
        writeln!(text, "  {name}={value}").unwrap();
    }
    if let Some(Override { verdict, reason }) = &agent.overriding {
        writeln!(text, "  override={verdict} {reason:?}").unwrap();
    }
}

#[test]
fn the_size_limit_is_exact() {
    let payload = |bytes: usize| {
        let head = r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"#;
        format!("{head}\"{}\"}}}}", "a".repeat(bytes - head.len() - 4)).into_bytes()
    };
    let decoded = |bytes| decode(AgentId::CLAUDE, "PreToolUse", &payload(bytes), &origin());
    assert!(matches!(decoded(PAYLOAD_BYTES_MAX), Ok(Incoming::Question(call)) if call.problems.is_empty()));
    let error = decoded(PAYLOAD_BYTES_MAX + 1).unwrap_err();
    assert!(error.message.contains("more than 8388608"), "{error}");
    assert!(error.text.len() < 10_000);
}

#[test]
fn a_permission_request_finds_its_question() {
    let key = |event: &str, input: &str| {
        let payload = format!(r#"{{"hook_event_name":"{event}","tool_name":"Bash","tool_input":{input}}}"#);
        match decode(AgentId::CODEX, event, payload.as_bytes(), &origin()).unwrap() {
            Incoming::Question(call) | Incoming::Permission(call) => call_key_input(&call),
            Incoming::Done(_) | Incoming::Session(_) => panic!("no call"),
        }
    };
    let question = key("PreToolUse", r#"{"command":"ls","b":{"y":1,"x":2}}"#);
    assert_eq!(question, key("PermissionRequest", r#"{"b":{"x":2,"y":1},"description":"d","command":"ls"}"#));
    assert_ne!(question, key("PermissionRequest", r#"{"b":{"x":2,"y":1},"command":"ls "}"#));
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        agent in prop::sample::select(&AgentId::ALL[..]),
    ) {
        for event in ["PreToolUse", "BeforeTool", "PostToolUse", "UserPromptSubmit", "Nonsense"] {
            // Random bytes are never a whole payload.
            prop_assert!(decode(agent, event, &bytes, &origin()).is_err());
        }
    }

    #[test]
    fn a_question_without_problems_is_the_payload(
        command in "(?s).{0,40}",
        escapes in any::<bool>(),
        damage in prop::option::of((any::<prop::sample::Index>(), any::<u8>())),
    ) {
        let text = Json::from(command.as_str()).to_string();
        let text = if escapes { text.replace('/', "\\/") } else { text };
        let payload = format!(r#"{{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{{"command":{text}}}}}"#);
        let mut payload = payload.into_bytes();
        if let Some((index, byte)) = damage {
            let index = index.index(payload.len());
            payload[index] = byte;
        }
        let Ok(Incoming::Question(call)) = decode(AgentId::CLAUDE, "PreToolUse", &payload, &origin()) else {
            prop_assert!(damage.is_some());
            return Ok(());
        };
        let json: Json = serde_json::from_slice(&payload).unwrap_or_default();
        if call.problems.is_empty() && call.tool.name == "Bash" {
            prop_assert_eq!(call.command.as_deref(), json["tool_input"]["command"].as_str());
            prop_assert!(!call.command.unwrap().contains('\0'));
        } else if damage.is_none() {
            prop_assert!(command.is_empty() || call.problems == [IntakeProblem::NulByte]);
        }
    }
}
