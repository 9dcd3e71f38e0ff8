//! Limits of the hook.

use std::time::Duration;

/// Seconds from the hook's start to its answer for an event that it does not know. The table of `failure.rs` has those of known events.
pub(crate) const CALL_SECONDS: u32 = 10;

/// How long a hook waits for a daemon that is being started to listen.
pub(crate) const START: Duration = Duration::from_secs(6);

/// How long a hook waits for a daemon that holds the home and does not listen: twice the time in which a living one makes its socket
/// again. One that is ending finishes its calls, and needs its time.
pub(crate) const HELD: Duration = Duration::from_secs(2);

/// How long until the hook looks again whether such a daemon has ended. A look starts a program.
pub(crate) const TRY_AGAIN: Duration = Duration::from_millis(250);

/// Bytes of an argument. Agent and event names are words; a home is a path.
pub(crate) const ARGUMENT_BYTES_MAX: usize = 4096;
