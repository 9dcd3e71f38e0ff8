//! The bodies of frames: [`Request`], [`Reply`], [`Hold`].

use crate::frame::WireError;

/// The message of a hook: its arguments, its process and directory, and the agent's bytes as they came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// `--agent`, such as `claude`.
    pub agent: String,
    /// `--event`, such as `PreToolUse`.
    pub event: String,
    /// Process id of the hook's parent. A program that embeds an agent has no hook and sends its own id.
    pub parent_pid: u32,
    /// The hook's working directory, as bytes; empty when it has none.
    pub cwd: Vec<u8>,
    /// Standard input.
    pub payload: Vec<u8>,
}

/// The exact output and exit code of the hook.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reply {
    /// Exit code.
    pub exit: u8,
    /// Bytes for standard output.
    pub stdout: Vec<u8>,
    /// Bytes for standard error.
    pub stderr: Vec<u8>,
}

/// *Hold until*: the call waits for a person or a reviewer. The hook waits for this long, measured from the receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hold {
    /// Milliseconds, at most [`crate::HOLD_MS_MAX`].
    pub ms: u32,
}

impl Request {
    /// Returns the frame body.
    pub fn encode(&self) -> Vec<u8> {
        let mut body =
            Vec::with_capacity(self.payload.len().saturating_add(self.cwd.len()).saturating_add(64));
        put(&mut body, self.agent.as_bytes());
        put(&mut body, self.event.as_bytes());
        body.extend_from_slice(&self.parent_pid.to_le_bytes());
        put(&mut body, &self.cwd);
        put(&mut body, &self.payload);
        body
    }

    /// Parses a frame body. The payload stays in its buffer, because it may have megabytes.
    pub fn decode(mut body: Vec<u8>) -> Result<Request, WireError> {
        let mut rest = &*body;
        let agent = text(take(&mut rest)?)?;
        let event = text(take(&mut rest)?)?;
        let parent_pid = take_u32(&mut rest)?;
        let cwd = take(&mut rest)?.to_vec();
        let payload = take(&mut rest)?.len();
        end(rest)?;
        body.drain(..body.len().saturating_sub(payload));
        Ok(Request { agent, event, parent_pid, cwd, payload: body })
    }
}

impl Reply {
    /// Returns the frame body.
    pub fn encode(&self) -> Vec<u8> {
        let mut body = vec![self.exit];
        put(&mut body, &self.stdout);
        put(&mut body, &self.stderr);
        body
    }

    /// Parses a frame body.
    pub fn decode(body: &[u8]) -> Result<Reply, WireError> {
        let (&exit, mut rest) = body.split_first().ok_or(WireError::Body)?;
        let stdout = take(&mut rest)?.to_vec();
        let stderr = take(&mut rest)?.to_vec();
        end(rest)?;
        Ok(Reply { exit, stdout, stderr })
    }
}

impl Hold {
    /// Returns the frame body.
    pub fn encode(self) -> Vec<u8> {
        self.ms.to_le_bytes().to_vec()
    }

    /// Parses a frame body.
    pub fn decode(body: &[u8]) -> Result<Hold, WireError> {
        let mut rest = body;
        let ms = take_u32(&mut rest)?;
        end(rest)?;
        Ok(Hold { ms })
    }
}

fn put(body: &mut Vec<u8>, bytes: &[u8]) {
    // A field longer than 4 GiB gets a wrong length. Every reader rejects it, and would reject its frame too.
    body.extend_from_slice(&u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
    body.extend_from_slice(bytes);
}

fn take<'a>(rest: &mut &'a [u8]) -> Result<&'a [u8], WireError> {
    let length = take_u32(rest)? as usize;
    let (bytes, after) = rest.split_at_checked(length).ok_or(WireError::Body)?;
    *rest = after;
    Ok(bytes)
}

fn take_u32(rest: &mut &[u8]) -> Result<u32, WireError> {
    let (bytes, after) = rest.split_first_chunk::<4>().ok_or(WireError::Body)?;
    *rest = after;
    Ok(u32::from_le_bytes(*bytes))
}

fn text(bytes: &[u8]) -> Result<String, WireError> {
    String::from_utf8(bytes.to_vec()).map_err(|_| WireError::Body)
}

fn end(rest: &[u8]) -> Result<(), WireError> {
    if rest.is_empty() { Ok(()) } else { Err(WireError::Body) }
}
