//! A live call through the real hook, with the agent's environment; for Codex through the user's login shell with its
//! startup files. A built-in rule denies the tool of the call, and nothing runs the tool.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use anyhow::{Context, bail};
use castellan_agents::{
    AgentId, HookCommand, HookStart, Question, hook_start, is_deferral, is_denial, question_event,
};
use castellan_audit::{CallRecord, Filter, Record};
use castellan_daemon::{CANARY_TOOL, ControlClient, Layout};
use castellan_event::Mode;
use serde_json::json;

use crate::check::Check;
use crate::limits::{CANARY_ANSWER_BYTES_MAX, CANARY_TIME, POLL};
use crate::output::message;
use crate::platform::account;
use crate::registration::home_of;
use crate::system::Copies;

/// The output and exit code of the hook.
#[derive(Debug)]
struct Answer {
    exit: Option<i32>,
    stdout: String,
    stderr: String,
}

/// Sends a canary call and returns the result.
pub(super) fn send(agent: AgentId, hook: &HookCommand) -> Check {
    let title = agent.title();
    let start = hook_start(agent, hook, question_event(agent));
    let home = home_of(hook).context("this user has no home");
    match home.and_then(|home| sing(agent, &start, home.dir())) {
        Ok(what) => Check::good(title, what),
        Err(error) => Check::bad(title, format!("the test call failed: {}", message(&error)), remedy(&start)),
    }
}

fn remedy(start: &HookStart) -> &'static str {
    match start {
        HookStart::Direct { .. } => "look at `castellan status` and `castellan log -n 5`",
        HookStart::LoginShell { .. } => {
            "look at `castellan status`, and at what your shell's startup files do"
        }
    }
}

fn sing(agent: AgentId, start: &HookStart, home: &Path) -> anyhow::Result<String> {
    let use_id = format!("canary-{:016x}", RandomState::new().build_hasher().finish());
    let started = Instant::now();
    let answer = ask(command(start)?, &payload(agent, &use_id))?;
    let took_ms = started.elapsed().as_millis();
    let layout = Layout::read(home)?;
    let mode: Mode = match ControlClient::new(layout.home().clone()).status() {
        Ok(status) if status.pause.is_some() => Mode::Passthrough,
        Ok(status) => status.mode.parse()?,
        // The hook answered without a daemon, so the denial was its own.
        Err(error) => bail!("the hook denied it by itself, because {error}"),
    };
    let copies = Copies::are_needed(&layout).then(|| Copies::of(&layout)).transpose()?;
    let seen = copies.as_ref().map_or(layout.clone(), |copies| copies.layout(&layout));
    let record = record(&seen, &use_id)?;
    judge(agent, mode, &answer, &record)?;
    Ok(match mode {
        Mode::Enforce => format!("a test call was denied and recorded, in {took_ms} ms"),
        Mode::Monitor | Mode::Passthrough => {
            format!("a test call was recorded and left to the agent ({mode}), in {took_ms} ms")
        }
    })
}

/// Checks the answer: a denial in enforce, and a deferral in the other modes.
fn judge(agent: AgentId, mode: Mode, answer: &Answer, record: &CallRecord) -> anyhow::Result<()> {
    let exit = match answer.exit {
        Some(exit @ 0) => exit,
        exit => bail!("the hook ended with {exit:?}: {}", answer.stderr.trim()),
    };
    let denied = is_denial(agent, question_event(agent), exit, &answer.stdout);
    match mode {
        Mode::Enforce if denied => Ok(()),
        Mode::Enforce if record.verdict != "deny" => {
            // The rule is built in; no file or setting changes it.
            bail!("it was not denied, although castellan's own rules deny it in every configuration")
        }
        Mode::Enforce => bail!("the hook did not answer with a denial: {}", answer.stdout.trim()),
        Mode::Monitor | Mode::Passthrough if is_deferral(exit, &answer.stdout) => Ok(()),
        Mode::Monitor | Mode::Passthrough => bail!("it was not left to the agent: {}", answer.stdout.trim()),
    }
}

/// Returns the command of the hook as the agent starts it.
fn command(start: &HookStart) -> anyhow::Result<Command> {
    match start {
        HookStart::Direct { argv } => {
            let (program, arguments) = argv.split_first().context("the hook has no program")?;
            let mut command = Command::new(program);
            command.args(arguments);
            Ok(command)
        }
        HookStart::LoginShell { arguments } => {
            let account = account(rustix::process::getuid().as_raw())
                .context("your login shell is unknown: you are not in /etc/passwd")?;
            let mut command = Command::new(&account.shell);
            command.args(arguments);
            Ok(command)
        }
    }
}

fn payload(agent: AgentId, use_id: &str) -> String {
    let cwd = std::env::current_dir().unwrap_or_default();
    let cwd = cwd.to_string_lossy();
    let question =
        Question { session_id: "castellan-doctor", cwd: &cwd, tool: CANARY_TOOL, input: json!({}), use_id };
    question.payload(agent)
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
        // A hook that does not read its input reveals this by its answer.
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
    // A failed read gives an incomplete answer, which fails the check.
    let _ = stream.map(|stream| stream.take(CANARY_ANSWER_BYTES_MAX).read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the record of the call. The daemon writes it before it answers, so it is already in the log.
fn record(layout: &Layout, use_id: &str) -> anyhow::Result<CallRecord> {
    let filter = Filter { tool: Some(CANARY_TOOL.to_owned()), limit: Some(100), ..Filter::default() };
    let entries = castellan_audit::read(&layout.log(), &filter)?.entries;
    let found = entries.into_iter().find_map(|entry| {
        let Record::Call(call) = entry.record else { return None };
        (call.use_id == use_id).then_some(call)
    });
    found.context(
        "it is not in the log: the hook was silenced before it reached castellan, or the record was lost",
    )
}
