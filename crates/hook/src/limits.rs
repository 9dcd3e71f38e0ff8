//! Limits of the hook.

use std::time::Duration;

/// Seconds from the hook's start to its answer, for an unknown event; `failure.rs` has those of known events.
pub(crate) const CALL_SECONDS: u32 = 10;

/// Time that a hook waits for a started daemon to listen.
pub(crate) const START: Duration = Duration::from_secs(6);

/// Time that a hook waits for a daemon that holds the home and does not listen. It is twice the time in which a living
/// daemon makes its socket again. A daemon that is ending needs time to finish its calls.
pub(crate) const HELD: Duration = Duration::from_secs(2);

/// Time between two checks whether such a daemon has ended. Each check starts a program.
pub(crate) const TRY_AGAIN: Duration = Duration::from_millis(250);

/// Time that a hook waits for a daemon of the system. The service manager starts it again within a tenth of a second, and the
/// daemon then loads its rules.
pub(crate) const SYSTEM: Duration = Duration::from_secs(3);

/// Bytes of an argument. Agent and event names are words; a home is a path.
pub(crate) const ARGUMENT_BYTES_MAX: usize = 4096;
