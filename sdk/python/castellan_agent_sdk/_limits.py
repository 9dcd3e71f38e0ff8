"""Limits of the package. Those of the protocol equal `crates/wire/src/limits.rs`."""

from typing import Final

PAYLOAD_BYTES_MAX: Final = 8 * 1024 * 1024
"""Bytes of one payload. A longer one is denied here, because the daemon would reject it."""

REPLY_BYTES_MAX: Final = 256 * 1024
"""Bytes of one reply frame's body. No more is read."""

HOLD_S_MAX: Final = 590.0
"""Seconds of all holds of a call together: below the 600 s after which the agent gives up."""

HOOK_TIMEOUT_S: Final = 600.0
"""Seconds that the agent waits for a hook of this package. The package itself answers before."""

CALL_S: Final = 10.0
"""Seconds from a question to its answer, unless the daemon holds the call."""

EVENT_S: Final = 5.0
"""Seconds for an event that needs no answer."""

START_S: Final = 6.0
"""Seconds that a started daemon has until it listens."""

HELD_S: Final = 2.0
"""Seconds that a daemon has that holds the home and does not listen."""

RESTART_S: Final = 0.25
"""Seconds between two checks whether such a daemon has ended. Each check starts a program."""

TRY_AGAIN_S: Final = 0.02
"""Seconds between two attempts to connect to a daemon that starts or has a full queue."""

GAPS_BYTES_MAX: Final = 1024 * 1024
"""Bytes of the file of gaps. Its first lines are enough to find the cause."""

SOCKET_PATH_BYTES_MAX: Final = 103
"""Bytes of a socket path that the system accepts."""

CALLS_MAX: Final = 1024
"""Calls whose first answer is stored for the second question. The oldest are dropped first."""

AUDIT_INPUT_UNITS_MAX: Final = 4096
"""UTF-16 units of the input in an audit row."""
