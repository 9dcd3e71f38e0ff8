//! Limits of the command, each with its reason.

use std::time::Duration;

/// Bytes of a rule file or field table named on the command line: twice the loader's limit, so the loader reports it.
pub(crate) const RULE_FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Bytes of a file of labelled calls: 10,000 commands with their scripts are about 10 MB.
pub(crate) const LABELLED_FILE_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Bytes of one event of `rules eval`: the largest call that an agent can send.
pub(crate) const EVENT_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Components of a path that `file check` shows: the analysis resolves no longer path.
pub(crate) const COMPONENTS_MAX: usize = 128;

/// Bytes of `/etc/passwd` and the kernel's files about users. Machines with more local users have other lookups.
pub(crate) const PASSWD_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Bytes of a launcher that is compared: castellan writes a few hundred.
pub(crate) const LAUNCHER_BYTES_MAX: u64 = 64 * 1024;

/// Bytes of the stored hash of a rendered file: 64 letters.
pub(crate) const RECORD_BYTES_MAX: u64 = 256;

/// Folders of killed runs that one start removes: far more than end so in a day.
pub(crate) const RUN_LEFTOVERS_MAX: usize = 256;

/// Refused hosts and sent secrets of one sandbox in the log: more than honest work meets. A program inside can invent names.
pub(crate) const NETWORK_NOTES_MAX: usize = 64;

/// Time for Falco to judge after a switch to it. The daemon gives up a start after 20 s.
pub(crate) const ENGINE_START_TIME: Duration = Duration::from_secs(25);

/// Time between two questions about the start of Falco.
pub(crate) const ENGINE_LOOK: Duration = Duration::from_millis(100);

/// Backups beside an agent's settings file: the text before the last change, and two before it.
pub(crate) const BACKUPS_MAX: usize = 3;

/// Bytes shown of the standard error of a daemon that did not start: its last lines give the reason.
pub(crate) const DAEMON_STDERR_BYTES_MAX: u64 = 4096;

/// Time for the daemon's status in `castellan status` and `castellan doctor`: it takes milliseconds, and longer on a loaded machine. A
/// person waits for it.
pub(crate) const STATUS_TIME: Duration = Duration::from_secs(5);

/// Time for the daemon's status in a prompt or a status line: a person notices more.
pub(crate) const PROMPT_TIME: Duration = Duration::from_millis(300);

/// Bytes of the JSON that Claude Code gives to its status line: some KiB, and more with long paths.
pub(crate) const STATUS_LINE_BYTES_MAX: u64 = 1024 * 1024;

/// Time for a started daemon to listen: milliseconds, or longer if the daemon reads a long log.
pub(crate) const START_TIME: Duration = Duration::from_secs(6);

/// Time for the next daemon to take over: the one before finishes calls and requests for up to 16 s, and may still end a
/// hanging one.
pub(crate) const HANDOVER_TIME: Duration = Duration::from_secs(25);

/// Time for a daemon to end: it finishes calls in flight for up to 8 s.
pub(crate) const STOP_TIME: Duration = Duration::from_secs(10);

/// Time between two polls of a condition without notification.
pub(crate) const POLL: Duration = Duration::from_millis(10);

/// Time between two polls of the log's end.
pub(crate) const FOLLOW_POLL: Duration = Duration::from_millis(200);

/// Time between two polls of the pending calls.
pub(crate) const WATCH_POLL: Duration = Duration::from_millis(500);

/// Time between two polls of the pending calls for the screen: ages change by the second.
pub(crate) const SCREEN_POLL: Duration = Duration::from_secs(1);

/// Time for the canary's hook to answer. The hook's own deadline for a starting daemon is shorter.
pub(crate) const CANARY_TIME: Duration = Duration::from_secs(20);

/// Bytes of a hook's answer that doctor reads: a denial has a few hundred.
pub(crate) const CANARY_ANSWER_BYTES_MAX: u64 = 256 * 1024;

/// Columns of a table if the output is not a terminal.
pub(crate) const COLUMNS_DEFAULT: usize = 160;

/// Time to compare one edited file; afterwards the diff is coarser. Rule files take milliseconds.
pub(crate) const DIFF_TIME: Duration = Duration::from_secs(2);

/// Rules of each kind in a summary. Nobody reads more; the diff has all of them.
pub(crate) const RULES_SHOWN_MAX: usize = 100;

/// Bytes of an answer to a question at the terminal: a word, a PIN or a password.
pub(crate) const ANSWER_BYTES_MAX: u64 = 512;

/// Characters of one line of `castellan explain`. A longer command or path is cut; `--json` prints all of it.
pub(crate) const EXPLAINED_LINE_CHARS: usize = 200;

/// Default number of logged calls that are judged again or counted: some weeks of one person, in half a minute.
pub(crate) const CALLS_READ: usize = 50_000;

/// Directories above an agent's program searched for its package manifest: `dist`, `bin` and the package itself.
pub(crate) const PACKAGE_LEVELS_MAX: usize = 3;

/// Bytes of a package manifest. Real ones have a few KiB.
pub(crate) const PACKAGE_MANIFEST_BYTES_MAX: u64 = 64 * 1024;

/// Bytes of one line of an agent's stream or transcript that are read. Tool results with images have a few MiB.
pub(crate) const STREAM_LINE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Bytes that `run` copies at once, and the size of its pipe: fewer system calls than with the usual 64 KiB.
pub(crate) const STREAM_CHUNK_BYTES: usize = 256 * 1024;

/// Responses of one start whose numbers may still grow. An agent has a few open responses at a time.
pub(crate) const RESPONSES_KEPT: usize = 4096;

/// Calls of one start that are not recorded twice. A stream repeats a call within a few lines.
pub(crate) const CALLS_KEPT: usize = 4096;

/// Tokens of one start of an observer without an own limit, as claude-mem has planned them.
pub(crate) const OBSERVER_INVOCATION_TOKENS: u64 = 50_000;

/// Tokens of one session of an observer without an own limit, as claude-mem has planned them.
pub(crate) const OBSERVER_SESSION_TOKENS: u64 = 500_000;

/// Sessions whose tokens are kept. The oldest leaves first; each needs some 100 bytes.
pub(crate) const SESSION_SUMS_MAX: usize = 4096;

/// Bytes of the file of these sums: four times as many as castellan writes.
pub(crate) const SESSION_SUMS_BYTES_MAX: u64 = 2 * 1024 * 1024;

/// Time between two writes of a session's tokens, so that a fast stream does not wait for the disk.
pub(crate) const SESSION_SUMS_PAUSE: Duration = Duration::from_millis(200);

/// Time to wait for the lock of these sums: other writers need a millisecond.
pub(crate) const SESSION_SUMS_LOCK_TIME: Duration = Duration::from_secs(1);

/// Time between two tries of this lock.
pub(crate) const SESSION_SUMS_LOCK_POLL: Duration = Duration::from_millis(2);

/// Time between two looks at an agent's transcripts: a response takes seconds.
pub(crate) const TRANSCRIPT_POLL: Duration = Duration::from_millis(100);

/// Files and folders that one search for transcripts looks at: some years of sessions.
pub(crate) const TRANSCRIPT_FILES_MAX: usize = 50_000;

/// Bytes at the start of a transcript that name the thread above it. The instructions there have some 30 KiB.
pub(crate) const TRANSCRIPT_HEAD_BYTES_MAX: u64 = 256 * 1024;

/// Time for processes to end after SIGTERM, before SIGKILL.
pub(crate) const END_GRACE: Duration = Duration::from_secs(2);

/// Time for processes to end after SIGKILL. Only a process of another user, or one in the kernel, lasts longer.
pub(crate) const END_TIME: Duration = Duration::from_secs(10);

/// Time for the copy of a stream to end after the last process that could write to it.
pub(crate) const STREAM_END_TIME: Duration = Duration::from_secs(5);

/// Bytes of a process's `stat` file: the kernel's numbers and a name of 15 bytes.
#[cfg(target_os = "linux")]
pub(crate) const STAT_BYTES_MAX: u64 = 4096;

/// Bytes of the user's configuration that an observer takes keys from.
pub(crate) const OBSERVER_CONFIG_BYTES_MAX: u64 = 1024 * 1024;

/// Characters of a tool's input in a record of an attempt (claude-mem's limit).
pub(crate) const ATTEMPT_INPUT_CHARS: usize = 4096;

/// Bytes of a stored probe of this machine: a few words.
pub(crate) const PROBE_BYTES_MAX: u64 = 4096;

/// Connections at once to one port of the loopback that a sandbox has: an agent opens some ten to its model.
pub(crate) const FORWARDED_CONNECTIONS_MAX: usize = 128;

/// Bytes of the system's certificates: they have some 200 KiB.
pub(crate) const CERTIFICATES_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Bytes that the shell of a contained command reports as its directory: a path (PATH_MAX) and its line end.
pub(crate) const DIRECTORY_BYTES_MAX: u64 = 4097;

/// Files of one folder of an imported kit: as many rule files as the daemon loads.
pub(crate) const KIT_RULE_FILES_MAX: usize = 512;

/// Bytes of a configuration file of an imported kit: as of castellan's own.
pub(crate) const KIT_CONFIG_BYTES_MAX: u64 = 1024 * 1024;

/// Files of a folder that are searched for the service of a kit: far more units than people have.
pub(crate) const KIT_UNITS_MAX: usize = 1024;

/// Bytes of a unit that may start the service of a kit: real ones have some hundred.
pub(crate) const KIT_UNIT_BYTES_MAX: u64 = 64 * 1024;

/// Bytes of the record of an import: the texts of the rules (64 MiB) and settings, escaped for JSON.
pub(crate) const KIT_RECORD_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Calls that `castellan undo` lists: people undo one of the last.
pub(crate) const UNDO_LISTED_MAX: usize = 50;

/// Bytes of a file of a service: castellan writes some 2 KiB.
pub(crate) const SERVICE_FILE_BYTES_MAX: u64 = 64 * 1024;

/// Time for a program of a service manager. Stopping waits for the daemon, which has 15 s.
pub(crate) const MANAGER_TIME: Duration = Duration::from_secs(30);

/// Bytes of the output of such a program. The properties of a unit have some hundred.
pub(crate) const MANAGER_OUTPUT_BYTES_MAX: u64 = 256 * 1024;

/// The first pause before castellan's own supervisor starts the daemon again.
pub(crate) const RESTART_PAUSE: Duration = Duration::from_millis(100);

/// The longest such pause: a daemon that cannot start for a while, as on a full disk, soon serves again.
pub(crate) const RESTART_PAUSE_MAX: Duration = Duration::from_secs(5);

/// A daemon that ran so long did not fail at its start, so the pause begins anew.
pub(crate) const STEADY_TIME: Duration = Duration::from_secs(10);

/// Bytes of the list of agents whose hooks a stop removed: some words.
pub(crate) const REMOVED_HOOKS_BYTES_MAX: u64 = 4096;

/// Time between two looks at a daemon that the supervisor did not start: it soon serves after the end of that daemon.
pub(crate) const OTHER_DAEMON_POLL: Duration = Duration::from_secs(1);
/// Bytes of one line of the system's log: `journalctl` adds some KiB of its own to a copy, which has about one.
pub(crate) const SYSTEM_LOG_LINE_BYTES_MAX: u64 = 64 * 1024;

/// Copies of a log's lines that are compared: some hundred bytes each, and years of denials.
pub(crate) const COPIES_MAX: usize = 1_000_000;

/// Records in the bundle of `castellan support`: an hour of an agent.
pub(crate) const SUPPORT_RECORDS: usize = 200;

/// Paths that the note of a contained command names of each kind. An agent reads the note.
pub(crate) const CLOSED_NAMED_MAX: usize = 8;

/// Bytes of a copied file of a daemon with another user; the daemon sends no more in all.
pub(crate) const COPY_BYTES_MAX: u64 = 256 * 1024 * 1024;
