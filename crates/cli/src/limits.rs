//! Limits of the command, each with its reason.

use std::time::Duration;

/// Bytes of a rule file or field table that is named on the command line: twice what the loader takes, which then says itself
/// that a file is too large.
pub(crate) const RULE_FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Bytes of a file of labelled calls: 10,000 commands with scripts beside them are some 10 MB.
pub(crate) const LABELLED_FILE_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Bytes of one event of `rules eval`: what an agent can send in one call.
pub(crate) const EVENT_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Bytes of `/etc/passwd` and of files about users that the kernel makes. Machines with more local users than fit have other means to look them up.
pub(crate) const PASSWD_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Bytes of a launcher that is compared: castellan writes some hundred.
pub(crate) const LAUNCHER_BYTES_MAX: u64 = 64 * 1024;

/// Bytes of standard error shown of a daemon that did not start: its last lines say why.
pub(crate) const DAEMON_STDERR_BYTES_MAX: u64 = 4096;

/// Time for a started daemon to listen. It is up in milliseconds; a long log is read at the start.
pub(crate) const START_TIME: Duration = Duration::from_secs(6);

/// Time for a daemon to end: it finishes calls in flight for up to 8 s.
pub(crate) const STOP_TIME: Duration = Duration::from_secs(10);

/// Time between two looks at something that cannot be waited on.
pub(crate) const POLL: Duration = Duration::from_millis(10);

/// Time between two looks at the log's end.
pub(crate) const FOLLOW_POLL: Duration = Duration::from_millis(200);

/// Time between two looks at what waits.
pub(crate) const WATCH_POLL: Duration = Duration::from_millis(500);

/// Time for the canary's hook to answer. Its own deadline for a daemon that starts is below.
pub(crate) const CANARY_TIME: Duration = Duration::from_secs(20);

/// Bytes of a hook's answer that doctor reads: a denial has some hundred.
pub(crate) const CANARY_ANSWER_BYTES_MAX: u64 = 256 * 1024;

/// Columns of a table where the output is no terminal.
pub(crate) const COLUMNS_DEFAULT: usize = 160;

/// Time for the comparison of one edited file; beyond it, the diff is coarser. Rule files take milliseconds.
pub(crate) const DIFF_TIME: Duration = Duration::from_secs(2);

/// Rules that a summary names of each kind. More, nobody reads; the diff has them all.
pub(crate) const RULES_SHOWN_MAX: usize = 100;

/// Bytes of an answer to a question at the terminal: a word, a PIN or a password.
pub(crate) const ANSWER_BYTES_MAX: u64 = 512;

/// Characters of one line of `castellan explain`: a command or path that is longer is cut; `--json` has all of it.
pub(crate) const EXPLAINED_LINE_CHARS: usize = 200;

/// Calls of the log that are judged again, or counted, where nothing else is said: some weeks of one person's, in half a minute.
pub(crate) const CALLS_READ: usize = 50_000;

/// Directories above an agent's program in which the manifest of its package is looked for: `dist`, `bin` and the package itself.
pub(crate) const PACKAGE_LEVELS_MAX: usize = 3;

/// Bytes of that manifest. Real ones have a few KiB.
pub(crate) const PACKAGE_MANIFEST_BYTES_MAX: u64 = 64 * 1024;
