//! Limits of the hook.

use std::time::Duration;

/// Seconds that a call may take from the hook's start to its answer, unless the daemon asks to hold. Far above a decision
/// (milliseconds) and a start of the daemon (tenths of a second), far below the 600 s after which an agent gives up.
pub(crate) const CALL_SECONDS: u32 = 10;

/// The same for events that precede no call, whose hooks are registered with 10 s.
pub(crate) const MENTION_SECONDS: u32 = 5;

/// The same for `SessionEnd`: Claude Code 2.1.330 gives all its hooks 1.5 s together, Codex 1 s.
pub(crate) const SESSION_END_SECONDS: u32 = 1;

/// How long a hook waits for a daemon that is being started to listen.
pub(crate) const START: Duration = Duration::from_secs(6);

/// How long a hook waits for a daemon that holds the home and does not listen: twice the time in which a living one makes its socket
/// again. One that is ending finishes its calls, and needs its time.
pub(crate) const HELD: Duration = Duration::from_secs(2);

/// How long until the hook looks again whether such a daemon has ended. A look starts a program.
pub(crate) const TRY_AGAIN: Duration = Duration::from_millis(250);

/// Bytes of an argument. Agent and event names are words; a home is a path.
pub(crate) const ARGUMENT_BYTES_MAX: usize = 4096;
