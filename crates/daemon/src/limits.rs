//! Limits of the daemon. A request over a limit is rejected and so denied; other requests are not affected.

use std::time::Duration;

/// Time for a Falco of the user's own to take the copy of a call. One that does not read loses it.
pub(crate) const EVENTS_TIME: Duration = Duration::from_secs(1);

/// Copies of calls that wait for such a Falco: more than agents make in a second. A further one is lost.
pub(crate) const EVENTS_WAITING_MAX: usize = 64;

/// Bytes of the copies that wait: the largest call, or all copies of 1 MiB. A further one is lost.
pub(crate) const EVENTS_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Time from a call's arrival in which Falco must have judged it, with the wait for a Falco that starts. With the hook's own
/// work and the record it is below the 10 s of a hook, so that the reason for the denial reaches the agent.
pub(crate) const ENGINE_TIME: Duration = Duration::from_secs(7);

/// Time for a started Falco to connect. It loads 5,000 rules in 1.5 s; a busy machine takes some times as long.
pub(crate) const ENGINE_START_TIME: Duration = Duration::from_secs(20);

/// Time in which a connected Falco shows that it tests all rules, until castellan looks again whether it still runs. Falco
/// answers in milliseconds.
pub(crate) const ENGINE_READY_TIME: Duration = Duration::from_secs(1);

/// Time for `falco --version`, which prints some lines and loads nothing.
pub(crate) const ENGINE_VERSION_TIME: Duration = Duration::from_secs(5);

/// Time for Falco to load rules before they come into force, with the wait for the check of another change. As long as a
/// start may take: rules that take longer would keep Falco from judging. A person waits for it.
pub(crate) const ENGINE_VALIDATION_TIME: Duration = Duration::from_secs(20);

/// Changes of the files during one request while Falco loads them. A person edits no files so fast.
pub(crate) const ENGINE_CHECKS_MAX: usize = 3;

/// Requests that wait until Falco has loaded the rules of another change. With that one, they are less than half of
/// [`CONTROL_REQUESTS_MAX`].
pub(crate) const ENGINE_CHECKS_WAITING_MAX: usize = 2;

/// Lines about Falco that wait for the record at a start of the daemon: one for each cause, with room.
pub(crate) const ENGINE_LINES_MAX: usize = 16;

/// Time for Falco to end after SIGTERM, before SIGKILL. It has nothing to store. The daemon waits for it at its own end.
pub(crate) const ENGINE_STOP_TIME: Duration = Duration::from_secs(1);

/// Time between two looks at Falco's process.
pub(crate) const ENGINE_LOOK: Duration = Duration::from_millis(50);

/// Time that Falco must have judged calls, so that its next end is a first failure again.
pub(crate) const ENGINE_STEADY_TIME: Duration = Duration::from_secs(30);

/// Pause after the second failure of Falco in a row. It doubles with each further one, up to the longest.
pub(crate) const ENGINE_PAUSE: Duration = Duration::from_millis(500);

/// Longest pause before Falco starts again: a person who has repaired it does not wait for long.
pub(crate) const ENGINE_PAUSE_MAX: Duration = Duration::from_secs(30);

/// Calls in a row that Falco does not answer in time, until castellan starts it again. One lost alert is no hanging Falco.
pub(crate) const ENGINE_LATE_MAX: u32 = 2;

/// Bytes of Falco's log file, and of the one before it. Falco prints some lines at its start and each of its problems.
pub(crate) const ENGINE_LOG_BYTES_MAX: u64 = 1024 * 1024;

/// Bytes of the output of one run of Falco that castellan reads: the result for some thousand rules.
pub(crate) const ENGINE_OUTPUT_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Bytes of Falco's last line in a status or a reason.
pub(crate) const ENGINE_LINE_BYTES_MAX: usize = 300;

/// Problems of rules that are shown of one test by Falco: a person repairs some at a time.
pub(crate) const ENGINE_PROBLEMS_MAX: usize = 20;

/// Bytes of the path of a socket, as of Linux's `sun_path` without its end.
pub(crate) const SOCKET_PATH_BYTES_MAX: usize = 107;

/// Helper processes that read programs at a time. Each may use a core; programs that many calls load at once wait.
pub(crate) const HELPERS_MAX: usize = 4;

/// Time for a program, with the wait for a helper. Reading takes at most some 20 ms of CPU time, more on a busy machine.
/// A call reads no further program after one that was given up, so this is far below the 10 s of a hook.
pub(crate) const HELPER_TIME: Duration = Duration::from_secs(2);

/// Time for a program of a replay. A person waits for the whole replay, and a hostile program can take it once.
pub(crate) const HELPER_TIME_OF_REPLAY: Duration = Duration::from_secs(20);

/// Programs that a helper reads before a new one replaces it, so that memory which a parser lost is freed.
pub(crate) const HELPER_REQUESTS_MAX: u32 = 500;

/// CPU time of a helper: its programs take some 10 s together. Ends a helper whose daemon was killed.
pub(crate) const HELPER_CPU_SECONDS_MAX: u64 = 60;

/// Address space of a helper: the binary, a stack, and the trees of a program of 64 KiB, some MB.
pub(crate) const HELPER_MEMORY_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// Bytes of a message to or from a helper: a program of 64 KiB with its environment, or its acts.
pub(crate) const HELPER_MESSAGE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Threads that serve hooks, each for one connection at a time. A decision takes microseconds, so this many are busy
/// only if peers are slow or calls wait for a person.
pub(crate) const WORKERS_MAX: usize = 128;

/// Stack of a thread that decides calls. A parser of others takes at most this for a program that is small enough to be
/// read in the daemon. Only used pages take memory.
pub(crate) const WORKER_STACK_BYTES: usize = 8 << 20;

/// Idle threads to keep: two cores' worth, and one that waits in `accept`.
pub(crate) const WORKERS_IDLE_MAX: usize = 4;

/// Connections of an agent process at a time, and so its calls in flight. Agents run a handful of tools in parallel;
/// the other workers stay free for other sessions.
pub(crate) const CONNECTIONS_PER_PEER_MAX: usize = 32;

/// Time for a request frame to arrive whole. A hook sends at once; 8 MiB take milliseconds.
pub(crate) const FRAME_TIME: Duration = Duration::from_secs(2);

/// Memory in bytes for all large payloads in flight: one of the largest, or some dozens of a whole source file.
pub(crate) const PAYLOADS_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Memory in bytes per byte of a payload while it is judged. The same data is in the frame, its JSON values, the
/// input's text, the input's change, the record and its line.
pub(crate) const PAYLOAD_COST: usize = 9;

/// Bytes of a payload outside of the shared budget: nearly all calls. All workers together can hold such payloads.
pub(crate) const SMALL_PAYLOAD_BYTES_MAX: usize = 64 * 1024;

/// Large payloads that wait at a time, each in a worker: half of the workers, so that small calls always find one.
pub(crate) const PAYLOADS_WAITING_MAX: usize = WORKERS_MAX / 2;

/// Time that a large payload waits for room. With the time to read it, this is below the 10 s timeout of its hook.
pub(crate) const PAYLOAD_WAIT: Duration = Duration::from_secs(7);

/// Time for the hook to take a reply.
pub(crate) const REPLY_TIME: Duration = Duration::from_secs(2);

/// Time between two attempts to accept a connection when the process has no free file descriptor.
pub(crate) const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// Time between two records of rejected connections.
pub(crate) const REFUSAL_RECORDS_EVERY: Duration = Duration::from_secs(1);

/// Control connections at a time, with one thread each. For a further one, the oldest that has sent no request is closed.
pub(crate) const CONTROL_CONNECTIONS_MAX: usize = 64;

/// Control requests that are carried out at a time, besides halts: they come from people, not from programs.
pub(crate) const CONTROL_REQUESTS_MAX: usize = 8;

/// Bytes of a program that is compared with castellan, which has some 20 MB, and more with debug information.
pub(crate) const EXECUTABLE_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// Time that `castellan` waits for a control response: longer than a stop, which waits for calls in flight.
pub(crate) const CONTROL_ANSWER_TIME: Duration = Duration::from_secs(15);

/// Quarters of an hour whose calls are counted: a local day has up to 25 hours.
pub(crate) const RECENT_QUARTERS: u64 = 100;

/// Bytes of each stream of the log that a start reads for the calls of the last day: far more than a day's, and a second.
pub(crate) const RECENT_BYTES_MAX: u64 = 128 * 1024 * 1024;

/// Questions that are remembered for a second delivery by another hook: far more than are asked in [`DELIVERY_TIME`]. Of more, a
/// second delivery is judged on its own.
pub(crate) const DELIVERIES_MAX: usize = 512;

/// Time that a second delivery of a question waits for the answer to the first: less than a hook waits.
pub(crate) const DELIVERY_TIME: Duration = Duration::from_secs(8);

/// Time from a permitted handover until the next daemon is ready. It loads its rules first: milliseconds.
pub(crate) const HANDOVER_START_TIME: Duration = Duration::from_secs(10);

/// Time that the next daemon waits for the end of the work of the one before: [`SHUTDOWN_TIME`] for the calls, and as much
/// for requests.
pub(crate) const HANDOVER_GIVE_TIME: Duration = Duration::from_secs(18);

/// Time for the next daemon to serve, while calls wait. It reads the state and the end of the log: milliseconds. Below the
/// hook's own deadline, so that the daemon before still answers these calls if the next one hangs.
pub(crate) const HANDOVER_TIME: Duration = Duration::from_secs(5);

/// Time between two knocks at a socket whose threads are to end.
pub(crate) const KNOCK: Duration = Duration::from_millis(5);

/// Connections that wait in the kernel's queue of a socket: as many as Linux permits by default.
pub(crate) const LISTEN_BACKLOG: i32 = 4096;

/// Connections that a daemon finds in the queue of a socket that another process has made. Hooks make some per second. Each
/// needs a descriptor, of which a process has 1024 by default.
pub(crate) const GIVEN_WAITING_MAX: usize = 512;

/// Time for calls in flight to end after SIGTERM. Below the hook's own deadline, so that the reply is in time.
pub(crate) const SHUTDOWN_TIME: Duration = Duration::from_secs(8);

/// Answers stored for the agent's second question, which follows within a second. The oldest are dropped first.
pub(crate) const REMEMBERED_ANSWERS_MAX: usize = 1024;

/// Held calls at a time. Each needs a file descriptor, and the daemon has a thousand.
pub(crate) const WAITING_MAX: usize = 512;

/// Held calls of an agent process at a time: half, so that others have room. Sub-agents share their process.
pub(crate) const WAITING_PER_AGENT_MAX: usize = 256;

/// Bytes of the requests of all held calls.
pub(crate) const WAITING_CALLS_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Payload bytes of a held call: the longest input that can be shown to a person, and the rest of the payload.
pub(crate) const HOLDABLE_PAYLOAD_BYTES_MAX: usize = GRANTABLE_INPUT_BYTES_MAX + 64 * 1024;

/// Time to judge a held call and reply before its hook gives up; also the hook's lead over the timeout of its agent.
pub(crate) const HOLD_GRACE: Duration = Duration::from_secs(10);

/// Seconds that a call may be held: the agents' timeout for hooks, less that time on either side.
pub(crate) const ASK_WAIT_S_MAX: u32 = 580;

/// Attempts to judge a call whose basis persons change meanwhile. Only programs continue to do so. Over the limit it
/// denies.
pub(crate) const JUDGED_AGAIN_MAX: usize = 8;

/// Pending calls; the oldest are dropped first. People look at the last few.
pub(crate) const REQUESTS_MAX: usize = 256;

/// Valid grants at a time, in some megabytes. None is dropped for a new one: over the limit, a person gets an error.
pub(crate) const GRANTS_MAX: usize = 10_000;

/// Plans in force. People use one a session or workspace; each has about a kilobyte here, and its copy.
pub(crate) const PLANS_MAX: usize = 256;

/// Proposed plans that wait for a person; the oldest is dropped. Each has at most a megabyte.
pub(crate) const PROPOSALS_MAX: usize = 16;

/// Bytes of the log of departures. A full one is set aside once, and the one before is dropped.
pub(crate) const VIOLATIONS_BYTES_MAX: u64 = 16 << 20;

/// Bytes of `.git/HEAD`. A branch's name has at most 255.
pub(crate) const GIT_HEAD_BYTES_MAX: u64 = 4 << 10;

/// Counted classes of approved calls, of all sessions. Each has at most a kilobyte; the least recent is dropped.
pub(crate) const APPROVALS_MAX: usize = 256;

/// Approvals of calls of one class in one session after which castellan offers a grant for the class.
pub(crate) const OFFERED_AFTER: u32 = 2;

/// Time in which a grant for a single call must be used. The agent tries again when its user says so.
pub(crate) const ONCE_TIME: Duration = Duration::from_secs(15 * 60);

/// Input bytes of a call that a person may grant. The input is shown whole, and this much is a hundred screens. Nobody
/// reads more, and an unread call must not be granted.
pub(crate) const GRANTABLE_INPUT_BYTES_MAX: usize = 256 * 1024;

/// Bytes of the inputs of all pending calls; the oldest are dropped first.
pub(crate) const WAITING_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Time that a call stays pending after its agent has ended: the agent may be continued, and a person may be deciding.
pub(crate) const ENDED_AGENT_TIME: Duration = Duration::from_secs(60);

/// Stored asks of a pending call, the last ones: agents give up after a few tries.
pub(crate) const ASKS_MAX: usize = 16;

/// Time in which a denied call can be approved. No agent waits for it, and its session may have ended (`claude -p`). A
/// person looks at it within the hour, and the agent repeats it.
pub(crate) const DENIED_TIME: Duration = Duration::from_secs(60 * 60);

/// Bytes of a call's input in a list.
pub(crate) const PREVIEW_BYTES_MAX: usize = 400;

/// Commands and effects stored to explain a pending call: some screens.
pub(crate) const EXPLAINED_PARTS_MAX: usize = 256;

/// Bytes of that explanation as JSON: a control frame can hold it and the call's input, even with all escapes.
pub(crate) const EXPLAINED_BYTES_MAX: usize = 256 * 1024;

/// Characters of a PIN: with the waits, trying all PINs of four digits takes years.
pub(crate) const PIN_CHARS_MIN: usize = 4;

/// Bytes of a PIN: it is typed.
pub(crate) const PIN_BYTES_MAX: usize = 256;

/// Bytes of the file with the PIN's hash, which has some hundred.
pub(crate) const SECRET_FILE_BYTES_MAX: u64 = 4 * 1024;

/// Wrong PINs or passwords before the next attempt must wait: people mistype.
pub(crate) const SECRET_TRIES: u32 = 5;

/// The first wait; each wrong attempt doubles it.
pub(crate) const SECRET_WAIT: Duration = Duration::from_secs(30);

/// The longest wait, so that no program can lock the person out for good.
pub(crate) const SECRET_WAIT_MAX: Duration = Duration::from_secs(6 * 60 * 60);

/// Bytes of a password: the limit of pam_unix, with its NUL.
pub(crate) const PASSWORD_BYTES_MAX: usize = 511;

/// Time for the system to check an account and its password, both together. Slow hashes take a second. A request may
/// wait three times as long, because another attempt may be running.
pub(crate) const PASSWORD_TIME: Duration = Duration::from_secs(5);

/// Characters of a directory or a rule's name in a notification: a line or two.
pub(crate) const NOTIFICATION_CHARS_MAX: usize = 160;

/// Time for the desktop to take a notification.
pub(crate) const NOTIFICATION_TIME: Duration = Duration::from_secs(5);

/// Time that a notification waits for a press of its buttons. After it, the call is in `castellan pending` only.
pub(crate) const BUTTONS_TIME: Duration = Duration::from_secs(10 * 60);

/// Open notifications with buttons: each has a process and a thread. More than these have no buttons.
pub(crate) const NOTIFICATIONS_WITH_BUTTONS_MAX: usize = 4;

/// Labels of marks of a session. Rule sets use a handful; a call that would exceed the limit is denied.
pub(crate) const MARKS_PER_SESSION_MAX: usize = 64;

/// Bytes of a mark's label: a word or two.
pub(crate) const MARK_LABEL_BYTES_MAX: usize = 128;

/// Known sessions, with their marks and writes: weeks of work. An agent can create sessions at will, so a session is
/// not dropped for a newer one while its agent runs, or within a week of its last call. Of many ids of one agent
/// process the oldest are dropped, because they share all facts. If no session can be dropped, calls of new sessions
/// are denied.
pub(crate) const SESSIONS_MAX: usize = 4096;

/// Session ids dropped at a time: the search for them takes some milliseconds.
pub(crate) const SESSIONS_DROPPED: usize = SESSIONS_MAX / 8;

/// Known agent processes before ended ones are dropped: some for each session.
pub(crate) const PROCESSES_MAX: usize = 2 * SESSIONS_MAX;

/// Milliseconds without a call after which a session is over and can be dropped: a week.
pub(crate) const SESSION_IDLE_MS: u64 = 7 * 24 * 60 * 60 * 1000;

/// Stored paths of a session's writes. A long session writes hundreds of files. Over the limit, every program outside
/// of the system's directories is treated as written by the agent.
pub(crate) const CHANGED_PATHS_PER_SESSION_MAX: usize = 4096;

/// Stored paths of all sessions' writes: ten thousand calls with some writes each, in some ten MB. Over the limit, a
/// session is treated as over its own limit.
pub(crate) const CHANGED_PATHS_MAX: usize = 128 * 1024;

/// Characters of a path in the record of a request.
pub(crate) const SHOWN_PATH_CHARS: usize = 1024;

/// Workspaces with a person's decision: years of work.
pub(crate) const DECIDED_WORKSPACES_MAX: usize = 4096;

/// Bytes of the state on disk: several times all data at their limits.
pub(crate) const JOURNAL_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Bytes by which the state on disk may exceed twice the valid data before it is rewritten.
pub(crate) const JOURNAL_GROWTH_BYTES: u64 = 64 * 1024;

/// Request ids that the state on disk reserves at a time: one line for so many calls.
pub(crate) const REQUESTS_RESERVED: u32 = 64;

/// The count of each mark for a session with lost state: more than any rule requires.
pub(crate) const SUSPECT_MARKS: u64 = 1_000_000;

/// Running calls of a session. Agents run a handful at a time. Some ends are never reported: the oldest are dropped.
pub(crate) const OPEN_CALLS_PER_SESSION_MAX: usize = 64;

/// Files that a running call reads, by name. Commands with more name a directory or a pattern. Beyond, castellan assumes that it
/// reads any file.
pub(crate) const READS_PER_CALL_MAX: usize = 256;

/// Calls of all sessions with a stored decision, some 200 bytes each; the oldest are dropped first. A call is over long
/// before so many others; the log has the rest.
pub(crate) const DECIDED_CALLS_MAX: usize = 8192;

/// Sessions whose agents' transcripts and settings are monitored, more than agents run at a time. Further sessions are
/// not monitored, and this is recorded. If foreign hooks bar sessions, these sessions are barred.
pub(crate) const LIVE_SESSIONS_MAX: usize = 256;

/// Time between two checks of the transcripts and settings of live sessions. A call found there has already run: no
/// person could react within a quarter of a second.
pub(crate) const LOOK: Duration = Duration::from_millis(250);

/// Time that a session's files are still monitored after its last event, when its agent's process has ended or cannot
/// be seen. By then the last lines are written.
pub(crate) const LINGER: Duration = Duration::from_secs(10);

/// Bytes of a transcript read at each check, so that no transcript delays the others: 4 MiB a second.
pub(crate) const TRANSCRIPT_LOOK_BYTES: u64 = 1024 * 1024;

/// Bytes of a line of a transcript. A call that writes a file contains the file whole, as its payload does.
pub(crate) const TRANSCRIPT_LINE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Bytes by which the monitor may fall behind a transcript. Agents write some KiB per call; skipped bytes are recorded.
pub(crate) const TRANSCRIPT_BEHIND_MAX: u64 = 64 * 1024 * 1024;

/// Transcripts of a session: its own and those of its sub-agents, some dozens in a long session.
pub(crate) const TRANSCRIPTS_PER_SESSION_MAX: usize = 256;

/// Entries of the folder with the transcripts of a session's sub-agents: many more than are read.
pub(crate) const TRANSCRIPT_FOLDER_MAX: usize = 4096;

/// Calls of a transcript that have begun and not ended. Agents run a handful at a time; the oldest are dropped first.
pub(crate) const BEGUN_CALLS_MAX: usize = 256;

/// Directories, from the working directory upwards, whose settings an agent may read. Repositories are some levels
/// deep, generated trees some dozens. Each costs some `stat`s at every check.
pub(crate) const SETTINGS_LEVELS_MAX: usize = 64;

/// Known agent processes for the user presence check before ended ones are dropped. A running process is never dropped.
pub(crate) const GUARDED_AGENTS_MAX: usize = 4096;

/// Shells between an agent and its hook. Codex has one, the login shell.
pub(crate) const WRAPPERS_MAX: usize = 4;

/// Ancestors that the user presence check and the search for runs follow. Real chains have about ten.
pub(crate) const ANCESTORS_MAX: usize = 64;

/// Attempts to read the ancestors of a process while some of them end: shells that start hooks live for milliseconds.
pub(crate) const ANCESTRY_READS_MAX: usize = 4;

/// Registered runs at a time. People start a handful; a program that starts more gets an error.
pub(crate) const RUNS_MAX: usize = 256;

/// Characters of a note about a run: a tool's input of 4096 characters, with its names.
pub(crate) const NOTE_CHARS_MAX: usize = 5000;

/// Agent processes of a run that are stored, before ended ones are dropped. A run starts one agent; with its sub-agents
/// and restarts some dozens. A call of a further one is denied.
pub(crate) const AGENTS_PER_RUN_MAX: usize = 1024;

/// Halts in force at a time: one of all agents includes every other one.
pub(crate) const HALTS_MAX: usize = 256;

/// Bytes of the kernel's file about a process: some 60 lines.
pub(crate) const STATUS_BYTES_MAX: u64 = 16 * 1024;

/// Seconds of the longest pause: half a working day. A longer one is `castellan mode`, which says so at each look.
pub const PAUSE_S_MAX: u64 = 4 * 60 * 60;

/// Time for processes to end by themselves at `castellan halt --kill`: agents store their session within a second.
pub(crate) const TERM_TIME: Duration = Duration::from_secs(2);

/// Time after that to kill the rest. A killed process ends at once, unless it waits for a device.
pub(crate) const KILL_TIME: Duration = Duration::from_secs(3);

/// Time between two looks for processes that have ended or that are new.
pub(crate) const KILL_POLL: Duration = Duration::from_millis(10);

/// Ended processes in the response: a build has some hundred.
pub(crate) const ENDED_LISTED_MAX: usize = 256;

/// Nested multiplexers that the user presence check follows. People have one or two.
pub(crate) const NESTED_MULTIPLEXERS_MAX: u32 = 2;

/// Clients of a multiplexer that the check inspects: people have one or two.
pub(crate) const MULTIPLEXER_CLIENTS_MAX: usize = 16;

/// Symlinks followed in a path, as in Linux.
pub(crate) const SYMLINKS_MAX: usize = 40;

/// Path components inspected for a decision: patches of many files need some thousands, and this takes a tenth of a
/// second.
pub(crate) const STEPS_PER_DECISION_MAX: u32 = 20_000;

/// Bytes of a file whose contents are read: scripts, manifests, settings. Longer files are generated, not read by
/// persons.
pub(crate) const CONTENTS_BYTES_MAX: u64 = 256 * 1024;

/// Entries of directories that are compared with a file that has several names: a home and the directories of secrets
/// have some hundred. Each costs a microsecond. Over the limit, the file's other names are unknown.
pub(crate) const NAMES_ENTRIES_MAX: usize = 10_000;

/// Such entries at the cost of a path component of a whole path.
pub(crate) const ENTRIES_PER_STEP: usize = 16;

/// Other names of a file that are reported. A key has none; a package manager's store is not searched.
pub(crate) const OTHER_NAMES_MAX: usize = 64;

/// Bytes read at the cost of a path component: both take some microseconds.
pub(crate) const BYTES_PER_STEP: usize = 4 * 1024;

/// Bytes of a process's environment or arguments, or of the kernel's other data about it. Linux permits a quarter of
/// the stack, usually 2 MiB; real processes have a few KiB.
pub(crate) const ENVIRONMENT_BYTES_MAX: u64 = 2 * 1024 * 1024;

/// Paths in the environment of a process: real processes have up to about a hundred, most of them in `PATH`. Each is
/// inspected once per decision. Over the limit, the process counts as unknown.
pub(crate) const PROCESS_PATHS_MAX: usize = 512;

/// Bytes of the mount table. Hosts of many containers have some thousand lines of 200 bytes.
#[cfg(target_os = "linux")]
pub(crate) const MOUNTS_BYTES_MAX: u64 = 1024 * 1024;

/// Reads of two mount tables until they are the same: a container engine mounts some times a second at most.
#[cfg(target_os = "linux")]
pub(crate) const MOUNTS_READS_MAX: usize = 3;

/// Records between two that contain the full start data of a process: this costs a few bytes per record.
pub(crate) const FULL_TEXT_EVERY: u32 = 256;

/// Processes known to be described in a record: more than run at a time.
pub(crate) const KNOWN_TEXTS_MAX: usize = 256;

/// Plugin and skill files searched for an agent's hooks: people have some dozens. Each costs a `stat` at every check.
pub(crate) const HOOK_SOURCES_MAX: usize = 512;

/// Folders and lists searched for those files. A plugin has about five; each costs a `stat` at every check.
pub(crate) const HOOK_LOOKUPS_MAX: usize = 2048;

/// Files and folders walked in that search.
pub(crate) const HOOK_STEPS_MAX: usize = 8192;

/// Agents that run the same session at the same time and are monitored, such as one resumed in a second terminal. More
/// of them bar the session if foreign hooks bar sessions.
pub(crate) const STARTS_PER_SESSION_MAX: usize = 4;

/// Entries of a folder of plugins.
pub(crate) const PLUGINS_PER_FOLDER_MAX: usize = 256;

/// Bytes of the user database: ten thousand users.
#[cfg(target_os = "linux")]
pub(crate) const USER_DATABASE_BYTES_MAX: u64 = 1024 * 1024;

/// The longest time of a review, in milliseconds. The hook denies the call after 10 s, and judging it takes some, too.
pub(crate) const REVIEW_TIME_MS_MAX: u32 = 5000;

/// Reviews that run at once. Each keeps a thread of the hook socket busy, and there are many more of these.
pub(crate) const REVIEWS_AT_ONCE_MAX: usize = 4;

/// Bytes of a file with the key of an endpoint.
pub(crate) const REVIEW_KEY_BYTES_MAX: u64 = 8 * 1024;

/// Prompts of a session that a reviewer may see. The last few name the task.
pub(crate) const PROMPTS_PER_SESSION_MAX: usize = 8;

/// Bytes of a stored prompt. A reviewer sees less of it, and learns that it was longer.
pub(crate) const PROMPT_BYTES_MAX: usize = 5 * 1024;

/// Seconds since the start of a hook that reports a prompt. A hook reports it at once, if the machine is not overloaded.
pub(crate) const PROMPT_HOOK_AGE_S_MAX: u64 = 5;

/// Agent processes whose calls and prompts are tracked for reviews. No prompt of a further one counts.
pub(crate) const PROMPTING_AGENTS_MAX: usize = 256;

/// Sessions of an agent process whose prompts are stored. An agent has one at a time; the oldest loses its prompts.
pub(crate) const PROMPTING_SESSIONS_MAX: usize = 8;

/// Running calls of an agent process that are tracked for reviews. With more, no prompt counts until they have ended.
pub(crate) const RUNNING_CALLS_MAX: usize = 256;

/// Bytes of a rule file. The largest public one has 64 KiB.
pub(crate) const RULE_FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Rule files.
pub(crate) const RULE_FILES_MAX: usize = 512;

/// Bytes of the applied set: every rule file and the configuration, as JSON. Ten times 10,000 rules.
pub(crate) const APPLIED_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Bytes of the package manifest beside an agent's executable; it has a few hundred.
pub(crate) const MANIFEST_BYTES_MAX: u64 = 64 * 1024;

/// Bytes of the layout file: a line and two paths.
pub(crate) const LAYOUT_BYTES_MAX: u64 = 16 * 1024;

/// Bytes of the configuration file.
pub(crate) const CONFIG_BYTES_MAX: u64 = 1024 * 1024;

/// Time between two rounds of housekeeping, and so the longest time without a socket that another program has removed.
pub(crate) const HOUSEKEEPING: Duration = Duration::from_secs(1);

/// Rounds of housekeeping between two retention checks of the log.
pub(crate) const RETENTION_ROUNDS: u32 = 60;

/// Time between two checks of watched rule files. A file still being written at the first has until the second.
pub(crate) const WATCH: Duration = Duration::from_millis(250);

/// Reported mistakes of a configuration file: after so many a reader starts again anyway.
pub(crate) const MISTAKES_MAX: usize = 50;

/// Characters of a word that gets a suggestion. The longest key has 24.
pub(crate) const MISSPELT_CHARS_MAX: usize = 40;

/// Bytes of the copy of a workspace's own files, as JSON: some thousand rules. A person must read them at `castellan
/// trust`, and each workspace with a decision may have a copy.
pub(crate) const PROJECT_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Workspaces with own files whose compiled policy is in memory: people work in a handful. Others are compiled again.
pub(crate) const PROJECTS_MAX: usize = 32;

/// Denial keys remembered over all sessions: some hundred KiB. A session gets tens of denials.
pub(crate) const DENIALS_REMEMBERED_MAX: usize = 4096;

/// MCP servers known in every session. People configure tens.
pub(crate) const MCP_SERVERS_MAX: usize = 1000;

/// MCP servers that a session has used with a person's consent.
pub(crate) const SERVERS_PER_SESSION_MAX: usize = 100;

/// Bytes of an agent's file about its user, including servers. Claude Code's file grows with its projects.
pub(crate) const AGENT_STATE_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// Seconds in which a rule from an upgrade is only observed: two weeks of work show its findings.
pub(crate) const TRIAL_S: u64 = 14 * 24 * 60 * 60;

/// Attempts to read a journal while its daemon rewrites it, which takes some milliseconds.
pub(crate) const JOURNAL_READS_MAX: usize = 3;

/// Files of one contained call that are stored by name: a build writes thousands. Of more, directories are stored.
pub(crate) const CONTAINED_FILES_PER_CALL_MAX: usize = 8 * 1024;

/// Files of all contained calls that are stored by name: some MB. Over it, the largest call counts as its whole workspace.
pub(crate) const CONTAINED_FILES_MAX: usize = 64 * 1024;

/// Directories that replace the copies of one call outside of its workspace, if these are too many. A copy of a tree is one
/// directory.
pub(crate) const CONTAINED_COPIES_WIDE: usize = 16;

/// Contained calls whose files wait for a person. Over it, the files of the oldest are
/// settled by their names alone.
pub(crate) const CONTAINED_CALLS_MAX: usize = 1024;

/// Contained calls between decision and start, over all agents. An agent starts a call at once, or waits for a person.
pub(crate) const TICKETS_MAX: usize = 256;

/// Contained calls of one agent process between decision and start.
pub(crate) const TICKETS_PER_AGENT_MAX: usize = 32;

/// Seconds from the decision to the start of a contained call. A person may think about the agent's prompt meanwhile.
pub(crate) const TICKET_S: u64 = 15 * 60;

/// Contained calls that run at once. Each is a process tree of its own.
pub(crate) const CONTAINED_RUNNING_MAX: usize = 128;

/// Bytes of the text of a contained call: the largest argument of a program (Linux MAX_ARG_STRLEN), less a page.
pub(crate) const CONTAINED_TEXT_BYTES_MAX: usize = 124 * 1024;

/// Places that a contained command can read: each is a mount, of some microseconds. A home has a hundred settings.
pub(crate) const READABLE_MAX: usize = 512;

/// Seconds until the next probe after a sandbox failed. A probe takes some 100 ms of processor time.
pub(crate) const PROBE_PAUSE_S: u64 = 60;

/// Milliseconds in which a policy is not planned again, which takes 3 ms. If the file system changes in this time so that the
/// machine cannot enforce the policy any more, the command does not start.
pub(crate) const ENFORCED_MS: u64 = 60_000;

/// Hosts that a contained command reaches: those that an understood command names.
pub(crate) const CONTAINED_HOSTS_MAX: usize = 16;

/// Paths that a checkpoint names. A call that names more changes the workspace as a whole.
pub(crate) const CHECKPOINT_PATHS_MAX: usize = 1000;

/// Bytes of one file whose text `castellan diff` shows. People read hundreds of lines.
pub(crate) const DIFF_FILE_BYTES_MAX: u64 = 64 * 1024;

/// Bytes of all these texts: the response to the request has at most 4 MiB, and JSON writes a byte in up to six.
pub(crate) const DIFF_BYTES_MAX: usize = 512 * 1024;

/// Differences that a response lists, with paths of some hundred bytes.
pub(crate) const DIFFERENCES_MAX: usize = 4000;

/// Lines that wait for the system's log: some hundred KiB, and the denials of a busy minute.
pub(crate) const OUTSIDE_WAITING_MAX: usize = 256;

/// Files of the guarded user that a daemon of the system copies at once: segments of the log are few, and rule files are
/// limited by themselves.
pub(crate) const OWN_FILES_MAX: usize = 1024;

/// Their bytes together: half of the largest log that the settings suggest. The user's command stores a copy of them.
pub(crate) const OWN_FILES_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Time for sending them all: seconds on a slow disk. A command that takes them more slowly holds room for requests.
pub(crate) const OWN_FILES_TIME: Duration = Duration::from_secs(20);

/// Requests for them at a time, of programs and again of persons' commands: together less than [`CONTROL_REQUESTS_MAX`], so
/// that slow ones keep no other request out.
pub(crate) const OWN_FILES_REQUESTS_MAX: usize = 2;
