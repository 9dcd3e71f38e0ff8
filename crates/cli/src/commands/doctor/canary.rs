//! A live call through the real hook, started as the agent starts it: with the agent's environment, and for Codex through
//! the user's login shell with its startup files. The call is of a tool that a shipped rule denies; nothing runs it.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use anyhow::{Context, bail};
use castellan_agents::{AgentId, HookCommand};
use castellan_audit::{CallRecord, Filter, Record};
use castellan_daemon::{ControlClient, Layout};
use castellan_event::Mode;
use serde_json::{Value as Json, json};

use super::Check;
use crate::account::Account;
use crate::limits::{CANARY_ANSWER_BYTES_MAX, CANARY_TIME, POLL};
use crate::output::message;

/// The event that precedes a call.
pub(super) const EVENT: &str = "PreToolUse";

/// A tool that no agent has.
const TOOL: &str = "castellan_canary";

/// What the hook wrote and how it ended.
#[derive(Debug)]
struct Answer {
    exit: Option<i32>,
    stdout: String,
    stderr: String,
}

/// Sends a canary and says what came back.
pub(super) fn send(agent: AgentId, hook: &HookCommand) -> Check {
    let title = agent.title();
    match sing(agent, hook) {
        Ok(what) => Check::good(title, what),
        Err(error) => Check::bad(title, format!("the test call failed: {}", message(&error)), remedy(agent)),
    }
}

fn remedy(agent: AgentId) -> String {
    match agent {
        AgentId::Claude => "look at `castellan status` and `castellan log -n 5`".to_owned(),
        AgentId::Codex => "look at `castellan status`, and at what your shell's startup files do".to_owned(),
    }
}

fn sing(agent: AgentId, hook: &HookCommand) -> anyhow::Result<String> {
    let use_id = format!("canary-{:016x}", RandomState::new().build_hasher().finish());
    let started = Instant::now();
    let answer = ask(command(agent, hook)?, &payload(&use_id))?;
    let took_ms = started.elapsed().as_millis();
    let layout = Layout::read(Path::new(&hook.home))?;
    let mode: Mode = match ControlClient::new(layout.home().clone()).status() {
        Ok(status) => status.mode.parse().map_err(anyhow::Error::msg)?,
        // It answered all the same, so it denied by itself.
        Err(_) => bail!("the hook denied without a daemon: {}", answer.stderr.trim()),
    };
    let record = record(&layout, &use_id)?;
    judge(mode, &answer, &record)?;
    Ok(match mode {
        Mode::Enforce => format!("a test call was denied and recorded, in {took_ms} ms"),
        Mode::Monitor | Mode::Passthrough => {
            format!("a test call was recorded and left to the agent ({mode}), in {took_ms} ms")
        }
    })
}

/// In enforce the agent reads a deny; else it reads nothing.
fn judge(mode: Mode, answer: &Answer, record: &CallRecord) -> anyhow::Result<()> {
    if answer.exit != Some(0) {
        bail!("the hook ended with {:?}: {}", answer.exit, answer.stderr.trim());
    }
    let decision = serde_json::from_str::<Json>(&answer.stdout).unwrap_or_default();
    let denied = decision.pointer("/hookSpecificOutput/permissionDecision") == Some(&json!("deny"));
    match mode {
        Mode::Enforce if denied => Ok(()),
        Mode::Enforce if record.verdict != "deny" => {
            bail!(
                "it was not denied: the shipped rule `Deny the castellan canary` is switched off or changed"
            )
        }
        Mode::Enforce => bail!("the hook did not answer with a denial: {}", answer.stdout.trim()),
        Mode::Monitor | Mode::Passthrough if answer.stdout.trim().is_empty() => Ok(()),
        Mode::Monitor | Mode::Passthrough => bail!("it was not left to the agent: {}", answer.stdout.trim()),
    }
}

/// Claude Code starts the hook itself; Codex has the login shell do it.
fn command(agent: AgentId, hook: &HookCommand) -> anyhow::Result<Command> {
    let argv = [&hook.program, "--agent", agent.word(), "--event", EVENT, "--home", &hook.home];
    let [program, arguments @ ..] = argv;
    match agent {
        AgentId::Claude => {
            let mut command = Command::new(program);
            command.args(arguments);
            Ok(command)
        }
        AgentId::Codex => {
            let account =
                Account::own().context("your login shell is unknown: you are not in /etc/passwd")?;
            let line: Vec<String> =
                argv.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''"))).collect();
            let mut command = Command::new(&account.shell);
            command.arg("-c").arg(line.join(" "));
            Ok(command)
        }
    }
}

fn payload(use_id: &str) -> String {
    let cwd = std::env::current_dir().unwrap_or_default();
    json!({
        "session_id": "castellan-doctor",
        "transcript_path": "",
        "cwd": cwd.to_string_lossy(),
        "permission_mode": "default",
        "hook_event_name": EVENT,
        "tool_name": TOOL,
        "tool_input": {},
        "tool_use_id": use_id,
    })
    .to_string()
}

fn ask(mut command: Command, payload: &str) -> anyhow::Result<Answer> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let program = command.get_program().to_string_lossy().into_owned();
    let mut child = command.spawn().with_context(|| format!("`{program}`"))?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let mut stdin = child.stdin.take().context("no standard input")?;
    std::thread::scope(|scope| {
        let stdout = scope.spawn(|| read(stdout));
        let stderr = scope.spawn(|| read(stderr));
        // A hook that does not read shows in its answer.
        let _ = stdin.write_all(payload.as_bytes());
        drop(stdin);
        let ended = wait(&mut child);
        let (stdout, stderr) = (stdout.join().unwrap_or_default(), stderr.join().unwrap_or_default());
        Ok(Answer { exit: ended?, stdout, stderr })
    })
}

fn wait(child: &mut Child) -> anyhow::Result<Option<i32>> {
    let until = Instant::now() + CANARY_TIME;
    while Instant::now() < until {
        if let Some(status) = child.try_wait()? {
            return Ok(status.code());
        }
        std::thread::sleep(POLL);
    }
    child.kill()?;
    child.wait()?;
    bail!("no answer within {} s", CANARY_TIME.as_secs())
}

fn read(stream: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    // What cannot be read is an answer that is none.
    let _ = stream.map(|stream| stream.take(CANARY_ANSWER_BYTES_MAX).read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The daemon writes the record before it answers, so it is there by now.
fn record(layout: &Layout, use_id: &str) -> anyhow::Result<CallRecord> {
    let filter = Filter { tool: Some(TOOL.to_owned()), limit: Some(100), ..Filter::default() };
    let entries = castellan_audit::read(&layout.log(), &filter)?.entries;
    let calls = entries.into_iter().filter_map(|entry| match entry.record {
        Record::Call(call) => Some(call),
        Record::Session(_)
        | Record::Control(_)
        | Record::Failure(_)
        | Record::Gap(_)
        | Record::Retention(_)
        | Record::Recovery(_) => None,
    });
    let found = calls.into_iter().find(|call| call.use_id == use_id);
    found.context(
        "it is not in the log: the hook was silenced before it reached castellan, or the record was lost",
    )
}
