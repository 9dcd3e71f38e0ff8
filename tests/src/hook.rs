//! Hooks started as an agent starts them, and a daemon that misbehaves on a test's request.

use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use castellan_wire::{Kind, Request, write_frame};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
use serde_json::{Value as Json, json};

use crate::home::Home;
use crate::process::{Finished, Running};

/// The hook's own deadline is 10 s. A hook that runs longer than this has missed it.
pub const HOOK_LIMIT: Duration = Duration::from_secs(30);

/// A configuration in which castellan decides.
pub const ENFORCE: &str = "version = 1\n";

/// A configuration in which castellan only monitors.
pub const MONITOR: &str = "version = 1\nmode = \"monitor\"\n";

/// Rules that each match one word in a command. The allow rule matches a path, as no rule may allow whole shell text.
pub const RULES: &str = "
- rule: Test deny
  desc: d
  condition: tool.input_command contains forbidden
  output: the test denies
  priority: CRITICAL
  source: coding_agent
  tags: [coding_agent_deny]

- rule: Test ask
  desc: d
  condition: tool.input_command contains doubtful
  output: the test asks
  priority: WARNING
  source: coding_agent
  tags: [coding_agent_ask]

- rule: Test allow
  desc: d
  condition: tool.file_path endswith permitted
  output: the test allows
  priority: NOTICE
  source: coding_agent
  tags: [coding_agent_allow]
";

/// A call of Claude's Bash tool.
pub fn bash(command: &str) -> Json {
    call("Bash", &json!({ "command": command }))
}

/// A call of one of Claude's tools.
pub fn call(tool: &str, input: &Json) -> Json {
    json!({
        "session_id": "test", "transcript_path": "/nowhere", "cwd": "/", "permission_mode": "default",
        "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input, "tool_use_id": "toolu_1",
    })
}

/// Returns the command line of a hook. The hook runs below its own `timeout` process, and castellan takes that process
/// for the agent. The test must not become the agent, because it could not play the user afterwards.
pub fn command(home: &Home, agent: &str, event: &str) -> Command {
    let mut command = home.command(Path::new("timeout"));
    command.arg("60").arg(home.bin().join("castellan-hook"));
    command.args(["--agent", agent, "--event", event]).arg("--home").arg(home.castellan());
    command
}

/// Runs a hook to its end.
pub fn run(home: &Home, agent: &str, event: &str, payload: &[u8]) -> Result<Finished> {
    Running::start_with_input(&mut command(home, agent, event), payload)?.finish(HOOK_LIMIT)
}

/// Judges one of Claude's calls.
pub fn judge(home: &Home, call: &Json) -> Result<Finished> {
    run(home, "claude", "PreToolUse", call.to_string().as_bytes())
}

/// Asks about a call for the second time, without the call's id, like an agent before its own prompt.
pub fn ask_again(home: &Home, agent: &str, call: &Json) -> Result<Finished> {
    let mut payload = call.clone();
    let fields = payload.as_object_mut().context("a call that is no object")?;
    fields.remove("tool_use_id");
    fields.insert("hook_event_name".to_owned(), "PermissionRequest".into());
    run(home, agent, "PermissionRequest", payload.to_string().as_bytes())
}

/// Returns the frame in which a hook sends one of Claude's calls.
pub fn request_frame(call: &Json) -> Result<Vec<u8>> {
    let request = Request {
        agent: "claude".into(),
        event: "PreToolUse".into(),
        parent_pid: 1,
        cwd: b"/".to_vec(),
        payload: call.to_string().into_bytes(),
    };
    let mut frame = Vec::new();
    write_frame(&mut frame, Kind::Request, &request.encode())?;
    Ok(frame)
}

/// Returns the decision that the agent receives: `deny`, `ask`, `allow`, `defer`, or the error in the answer.
pub fn understood(done: &Finished) -> String {
    let output: Option<Json> = serde_json::from_str(&done.stdout).ok();
    let decision = output.as_ref().and_then(|json| json.pointer("/hookSpecificOutput/permissionDecision"));
    let behavior = output.as_ref().and_then(|json| json.pointer("/hookSpecificOutput/decision/behavior"));
    match (done.code, decision.or(behavior).and_then(Json::as_str)) {
        (Some(2), None) if !done.stderr.trim().is_empty() => "deny".to_owned(),
        (Some(0), Some(word)) => word.to_owned(),
        (Some(0), None) if done.stdout.is_empty() => "defer".to_owned(),
        _ => format!("nonsense: {done:?}"),
    }
}

/// A socket in the daemon's place; the test plays the daemon.
#[derive(Debug)]
pub struct FakeDaemon {
    listener: UnixListener,
}

impl FakeDaemon {
    /// Listens in the daemon's place.
    pub fn listen(home: &Home) -> Result<FakeDaemon> {
        let home = castellan_wire::Home::new(home.castellan()).context("a relative home")?;
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(home.run())?;
        Ok(FakeDaemon { listener: castellan_wire::bind(&home.hook_socket())? })
    }

    /// Listens with the shortest possible queue, see [`FakeDaemon::fill_queue`].
    pub fn listen_with_short_queue(home: &Home) -> Result<FakeDaemon> {
        let daemon = FakeDaemon::listen(home)?;
        rustix::net::listen(&daemon.listener, 0)?;
        Ok(daemon)
    }

    /// Connects until the queue is full, so the next connection waits.
    pub fn fill_queue(&self, home: &Home) -> Result<Vec<OwnedFd>> {
        let home = castellan_wire::Home::new(home.castellan()).context("a relative home")?;
        let address = SocketAddrUnix::new(home.hook_socket())?;
        let mut queued = Vec::new();
        loop {
            let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
            let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
            match connect(&socket, &address) {
                Ok(()) => queued.push(socket),
                Err(Errno::AGAIN) => return Ok(queued),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Accepts and closes all waiting connections.
    pub fn empty_queue(&self) -> Result<()> {
        self.listener.set_nonblocking(true)?;
        while self.listener.accept().is_ok() {}
        Ok(self.listener.set_nonblocking(false)?)
    }

    /// Accepts one hook, reads part of its request and lets `play` answer.
    pub fn serve(&self, play: impl FnOnce(&mut UnixStream)) -> Result<()> {
        let (mut stream, _) = self.listener.accept()?;
        let _some = stream.read(&mut [0; 16])?;
        play(&mut stream);
        Ok(())
    }
}
