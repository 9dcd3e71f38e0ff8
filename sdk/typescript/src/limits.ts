/** Limits of the package. Those of the protocol equal `crates/wire/src/limits.rs`. */

/** Bytes of one payload. A longer one is denied here, because the daemon would reject it. */
export const PAYLOAD_BYTES_MAX = 8 * 1024 * 1024;

/** Bytes of one reply frame's body. Only then is memory for it reserved. */
export const REPLY_BYTES_MAX = 256 * 1024;

/** Milliseconds of all holds of a call together: below the 600 s after which the agent gives up. */
export const HOLD_MS_MAX = 590_000;

/** Seconds that the agent waits for a hook of this package. The package itself answers before. */
export const HOOK_TIMEOUT_S = 600;

/** Milliseconds from a question to its answer, unless the daemon holds the call. */
export const CALL_MS = 10_000;

/** Milliseconds for an event that needs no answer. */
export const EVENT_MS = 5_000;

/** Milliseconds for the end of a session: the agent gives all hooks together 1.5 s. */
export const SESSION_END_MS = 1_000;

/** Milliseconds that a started daemon has until it listens. */
export const START_MS = 6_000;

/** Milliseconds that a daemon has that holds the home and does not listen. */
export const HELD_MS = 2_000;

/** Milliseconds between two checks whether such a daemon has ended. Each check starts a program. */
export const RESTART_MS = 250;

/** Milliseconds between two attempts to connect to a daemon that starts or has a full queue. */
export const TRY_AGAIN_MS = 20;

/** Bytes of the file of gaps. Its first lines are enough to find the cause. */
export const GAPS_BYTES_MAX = 1024 * 1024;

/** Bytes of a socket path that the system accepts. */
export const SOCKET_PATH_BYTES_MAX = 103;

/** Calls whose first answer is stored for the second question. The oldest are dropped first. */
export const CALLS_MAX = 1024;

/** UTF-16 units of the input in an audit row. */
export const AUDIT_INPUT_UNITS_MAX = 4096;
