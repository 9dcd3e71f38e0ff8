//! Limits of the daemon. Over a limit, the caller is refused, and so denied; nobody else notices.

use std::time::Duration;

/// Threads that serve hooks. Each serves one connection at a time; a decision takes microseconds, so this many are in use
/// only when peers are slow or calls wait for a person.
pub(crate) const WORKERS_MAX: usize = 128;

/// Idle threads that are kept. Two cores' worth, and one that waits in `accept`.
pub(crate) const WORKERS_IDLE_MAX: usize = 4;

/// Connections of one agent process at a time, which is also its calls in flight. Agents run a handful of tools in
/// parallel; the rest of the workers stay free for other sessions.
pub(crate) const CONNECTIONS_PER_PEER_MAX: usize = 32;

/// Time for one request frame to arrive whole. A hook sends at once; 8 MiB take milliseconds.
pub(crate) const FRAME_TIME: Duration = Duration::from_secs(2);

/// Bytes of memory that all large payloads in flight take together: one of the largest, or some dozens of a whole source file.
pub(crate) const PAYLOADS_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Bytes of memory that one byte of a payload takes while it is judged: the frame, the values of its JSON, the call's input as text and as
/// what it would change, and the same in the record and in its line.
pub(crate) const PAYLOAD_COST: usize = 9;

/// Bytes of a payload that shares nothing: nearly all calls. All workers together have some of these.
pub(crate) const SMALL_PAYLOAD_BYTES_MAX: usize = 64 * 1024;

/// Large payloads that wait at a time, each in a worker: half of these, so that small calls always find one.
pub(crate) const PAYLOADS_WAITING_MAX: usize = WORKERS_MAX / 2;

/// Time that a large payload waits for room: with the time to read it, below the 10 s after which its hook denies.
pub(crate) const PAYLOAD_WAIT: Duration = Duration::from_secs(7);

/// Time for a reply to be taken by the hook.
pub(crate) const REPLY_TIME: Duration = Duration::from_secs(2);

/// Time between two tries to take a connection where the system gives no descriptor for one.
pub(crate) const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// Time between two records of turned-away connections.
pub(crate) const REFUSAL_RECORDS_EVERY: Duration = Duration::from_secs(1);

/// Control connections at a time: people, not programs.
pub(crate) const CONTROL_CONNECTIONS_MAX: usize = 8;

/// Bytes of a program that may be another copy of castellan: it has some 20 MB, and more with debug information.
pub(crate) const EXECUTABLE_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// Time that `castellan` waits for a control answer: longer than a stop, which waits for calls in flight.
pub(crate) const CONTROL_ANSWER_TIME: Duration = Duration::from_secs(15);

/// Time for calls in flight to end after SIGTERM. Below the hook's own deadline, so that its answer still counts.
pub(crate) const SHUTDOWN_TIME: Duration = Duration::from_secs(8);

/// Answers kept for the agent's second question about a call. It follows within a second; the oldest go first.
pub(crate) const REMEMBERED_ANSWERS_MAX: usize = 1024;

/// Calls that are held at a time. Each is a descriptor, of which the daemon has a thousand.
pub(crate) const HELD_MAX: usize = 512;

/// Calls of one agent process that are held at a time: half, so that there is room for others. Sub-agents share their process.
pub(crate) const HELD_PER_AGENT_MAX: usize = 256;

/// Bytes of what all held calls asked.
pub(crate) const HELD_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Bytes of what one held call asked: with the rest of the payload what a person can be shown.
pub(crate) const HOLDABLE_PAYLOAD_BYTES_MAX: usize = GRANTABLE_INPUT_BYTES_MAX + 64 * 1024;

/// Time for the answer to a held call to be judged and to reach its hook, before the hook gives up, and for the hook before its
/// agent does.
pub(crate) const HOLD_GRACE: Duration = Duration::from_secs(10);

/// Seconds that a call may be held: what agents wait for hooks, less that time on either side.
pub(crate) const ASK_WAIT_S_MAX: u32 = 580;

/// How often a call is judged again because persons have spoken meanwhile: they do so once, and only programs go on. Over the limit
/// it is denied.
pub(crate) const JUDGED_AGAIN_MAX: usize = 8;

/// Calls that are kept for a person to grant; the oldest go first. People look at the last few.
pub(crate) const REQUESTS_MAX: usize = 256;

/// Grants that hold at a time. Nothing makes room but their end: over the limit a person is told.
/// Ten thousand take some megabytes.
pub(crate) const GRANTS_MAX: usize = 10_000;

/// Time in which a grant for one call must be used. The agent tries again when its user says so.
pub(crate) const ONCE_TIME: Duration = Duration::from_secs(15 * 60);

/// Bytes of the input of a call that a person may grant: it is shown whole, and this much is a hundred screens. Nobody reads more,
/// and what nobody has read is not granted.
pub(crate) const GRANTABLE_INPUT_BYTES_MAX: usize = 256 * 1024;

/// Bytes of the inputs of all calls that wait; the oldest calls go first.
pub(crate) const WAITING_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Time for which a call waits whose agent has ended: the agent may be about to be continued, and a person is looking at the call.
pub(crate) const ENDED_AGENT_TIME: Duration = Duration::from_secs(60);

/// Times that an agent has asked about one call that waits, the last ones: agents give up after a few tries.
pub(crate) const ASKS_MAX: usize = 16;

/// Time for which a denied call can be approved. No agent waits for it, and its session may have ended (`claude -p`): a person looks at it
/// within the hour, and the agent makes it again.
pub(crate) const DENIED_TIME: Duration = Duration::from_secs(60 * 60);

/// Bytes of a call's input in a list.
pub(crate) const PREVIEW_BYTES_MAX: usize = 400;

/// Commands and effects that are kept to explain a call that waits: some screens.
pub(crate) const EXPLAINED_PARTS_MAX: usize = 256;

/// Bytes of that, as JSON: a frame of the control socket has room for it and for the call's input, whatever must be escaped.
pub(crate) const EXPLAINED_BYTES_MAX: usize = 256 * 1024;

/// Characters of a PIN: four digits take the waits years to try.
pub(crate) const PIN_CHARS_MIN: usize = 4;

/// Bytes of a PIN: it is typed.
pub(crate) const PIN_BYTES_MAX: usize = 256;

/// Bytes of the file that keeps its hash; it has some hundred.
pub(crate) const SECRET_FILE_BYTES_MAX: u64 = 4 * 1024;

/// Wrong PINs or passwords before the next one has to wait: people mistype.
pub(crate) const SECRET_TRIES: u32 = 5;

/// How long it has to wait first; each wrong one doubles that.
pub(crate) const SECRET_WAIT: Duration = Duration::from_secs(30);

/// The longest wait, so that nobody can lock the person out for good.
pub(crate) const SECRET_WAIT_MAX: Duration = Duration::from_secs(6 * 60 * 60);

/// Bytes of a password: what pam_unix takes, with its NUL.
pub(crate) const PASSWORD_BYTES_MAX: usize = 511;

/// Time for the system to check an account and its password, both together. Slow hashes take a second; whoever asks waits three times
/// as long, as another try may be going on.
pub(crate) const PASSWORD_TIME: Duration = Duration::from_secs(5);

/// Characters of a directory or a rule's name in a notification: a line or two.
pub(crate) const NOTIFICATION_CHARS_MAX: usize = 160;

/// Time for a notification to be taken by the desktop.
pub(crate) const NOTIFICATION_TIME: Duration = Duration::from_secs(5);

/// Labels of marks that one session may have. Rule sets use a handful; one over it denies the call that would set it.
pub(crate) const MARKS_PER_SESSION_MAX: usize = 64;

/// Bytes of a mark's label: a word or two.
pub(crate) const MARK_LABEL_BYTES_MAX: usize = 128;

/// Sessions that are kept in mind, with their marks and what they wrote: weeks of work. What is known of one is not dropped for a newer
/// one while its agent runs, or within a week of its last call, as an agent could make new ones at will. Of many ids of one agent
/// process the oldest are dropped, as what is known of one of them is known of all. With none to drop calls of another session are denied.
pub(crate) const SESSIONS_MAX: usize = 4096;

/// Ids of sessions that are dropped at a time: looking for them takes some milliseconds.
pub(crate) const SESSIONS_DROPPED: usize = SESSIONS_MAX / 8;

/// Agent processes that are kept in mind before those that have ended are forgotten: some for each session.
pub(crate) const PROCESSES_MAX: usize = 2 * SESSIONS_MAX;

/// Milliseconds without a call after which a session counts as over, and gives its place to another: a week.
pub(crate) const SESSION_IDLE_MS: u64 = 7 * 24 * 60 * 60 * 1000;

/// Paths that are kept of what one session wrote. A long session writes hundreds; over the limit every program outside the
/// system's directories counts as written by the agent.
pub(crate) const CHANGED_PATHS_PER_SESSION_MAX: usize = 4096;

/// Paths that are kept of what all sessions wrote: ten thousand calls that each write some, in some ten MB. Over the limit a session
/// counts as one over its own.
pub(crate) const CHANGED_PATHS_MAX: usize = 128 * 1024;

/// Characters of a path that a record of a request shows.
pub(crate) const SHOWN_PATH_CHARS: usize = 1024;

/// Workspaces that a person has decided about: years of work.
pub(crate) const DECIDED_WORKSPACES_MAX: usize = 4096;

/// Bytes of the state on disk: everything that is kept at its limit, several times.
pub(crate) const JOURNAL_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Bytes by which the state on disk may grow beyond the double of what counts before it is written anew.
pub(crate) const JOURNAL_GROWTH_BYTES: u64 = 64 * 1024;

/// Request ids that the state on disk says are taken, at a time: one line for so many calls.
pub(crate) const REQUESTS_RESERVED: u32 = 64;

/// How often a session of which nothing is known any more counts as having set each mark: more than any rule asks for.
pub(crate) const SUSPECT_MARKS: u64 = 1_000_000;

/// Calls of one session that count as still running. Agents run a handful at a time; some ends are never reported, and the
/// oldest go first.
pub(crate) const OPEN_CALLS_PER_SESSION_MAX: usize = 64;

/// Calls of all sessions of which it is kept what was decided, some 200 bytes each; the oldest go first. A call is over long before
/// so many others; the log knows of the rest.
pub(crate) const DECIDED_CALLS_MAX: usize = 8192;

/// Sessions whose agents' transcripts and settings are looked at. More than agents run at a time; over the limit new ones are not, which
/// is recorded, and where hooks of others bar a session, they bar these.
pub(crate) const LIVE_SESSIONS_MAX: usize = 256;

/// Time between two looks at the transcripts and settings of live sessions. What is found is a call that has run already: a
/// quarter of a second is before a person could act on it.
pub(crate) const LOOK: Duration = Duration::from_millis(250);

/// Time for which the files of a session are still looked at when its agent's process is gone, or has been silent where processes
/// cannot be seen: the last lines are written by then.
pub(crate) const LINGER: Duration = Duration::from_secs(10);

/// Bytes of one transcript that are read at one look, so that none holds up the others: 4 MiB a second.
pub(crate) const TRANSCRIPT_LOOK_BYTES: u64 = 1024 * 1024;

/// Bytes of one line of a transcript. A call that writes a file holds it whole, as its payload does.
pub(crate) const TRANSCRIPT_LINE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Bytes by which looking may fall behind a transcript. Agents write some KiB a call; what is skipped over the limit is recorded.
pub(crate) const TRANSCRIPT_BEHIND_MAX: u64 = 64 * 1024 * 1024;

/// Transcripts of one session: its own and those of its sub-agents, of which some dozens run in a long session.
pub(crate) const TRANSCRIPTS_PER_SESSION_MAX: usize = 256;

/// Entries of a folder in which a session's sub-agents have their transcripts: many more than are read.
pub(crate) const TRANSCRIPT_FOLDER_MAX: usize = 4096;

/// Calls of one transcript that have begun and are not over, as it tells. Agents run a handful at a time; the oldest go first.
pub(crate) const BEGUN_CALLS_MAX: usize = 256;

/// Directories from the working directory up whose settings an agent may read. Repositories are some deep, generated trees some dozens;
/// each is some `stat`s at every look.
pub(crate) const SETTINGS_LEVELS_MAX: usize = 64;

/// Agent processes kept in mind for the presence check before those that have ended are forgotten. None that runs is.
pub(crate) const GUARDED_AGENTS_MAX: usize = 4096;

/// Shells between an agent and its hook. Codex has one, the login shell.
pub(crate) const WRAPPERS_MAX: usize = 4;

/// Ancestors that the presence check climbs. Real chains have about ten.
pub(crate) const ANCESTORS_MAX: usize = 64;

/// Multiplexers within each other that the presence check looks through. People have one, or two.
pub(crate) const NESTED_MULTIPLEXERS_MAX: u32 = 2;

/// Clients of a multiplexer that it looks at: people have one or two.
pub(crate) const MULTIPLEXER_CLIENTS_MAX: usize = 16;

/// Symlinks followed in one path, as in Linux.
pub(crate) const SYMLINKS_MAX: usize = 40;

/// Path components that are looked at for one decision. Patches of many files in deep folders need some thousands; this
/// many take a tenth of a second.
pub(crate) const STEPS_PER_DECISION_MAX: u32 = 20_000;

/// Bytes of a file whose contents are asked for: scripts, manifests, settings. Longer ones are generated, and no person reads
/// them either.
pub(crate) const CONTENTS_BYTES_MAX: u64 = 256 * 1024;

/// Bytes that are read at the cost of one path component: both take some microseconds.
pub(crate) const BYTES_PER_STEP: usize = 4 * 1024;

/// Bytes of a process's environment or arguments, or of the kernel's other facts about it. Linux lets one be a quarter of the stack,
/// which is 2 MiB as a rule; real ones have a few KiB.
pub(crate) const ENVIRONMENT_BYTES_MAX: u64 = 2 * 1024 * 1024;

/// Paths that a process is given by its environment: real ones have up to about a hundred, most of them in `PATH`. Each is
/// looked at once a decision. Over the limit nothing counts as known of the process.
pub(crate) const PROCESS_PATHS_MAX: usize = 512;

/// Bytes of the table of mounts. Hosts of many containers have some thousand lines of 200 bytes.
pub(crate) const MOUNTS_BYTES_MAX: u64 = 1024 * 1024;

/// Records between two that tell in whole what a process was started with: it costs a few bytes a record.
pub(crate) const TOLD_EVERY: u32 = 256;

/// Processes of which it is known that a record told of them: more than run at a time.
pub(crate) const TOLD_MAX: usize = 256;

/// Files of plugins and skills in which hooks of one agent are looked for. People have some dozens; each is a `stat` at every look.
pub(crate) const HOOK_SOURCES_MAX: usize = 512;

/// Folders and lists in which those files are looked for. A plugin has about five; each is a `stat` at every look.
pub(crate) const HOOK_LOOKUPS_MAX: usize = 2048;

/// Files and folders that are walked for them.
pub(crate) const HOOK_STEPS_MAX: usize = 8192;

/// Agents that run one session at the same time and whose settings are looked at: one resumed in a second terminal. More bar
/// a session where hooks of others do.
pub(crate) const STARTS_PER_SESSION_MAX: usize = 4;

/// Entries of one folder of them.
pub(crate) const PLUGINS_PER_FOLDER_MAX: usize = 256;

/// Bytes of the user database: ten thousand users.
pub(crate) const USER_DATABASE_BYTES_MAX: u64 = 1024 * 1024;

/// Bytes of one rule file. The largest public one has 64 KiB.
pub(crate) const RULE_FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Rule files.
pub(crate) const RULE_FILES_MAX: usize = 512;

/// Bytes of the applied set: every rule file and the configuration, as JSON. Ten times 10,000 rules.
pub(crate) const APPLIED_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Bytes of the package manifest beside an agent's executable, which has a few hundred.
pub(crate) const MANIFEST_BYTES_MAX: u64 = 64 * 1024;

/// Bytes of the layout file: a line and two paths.
pub(crate) const LAYOUT_BYTES_MAX: u64 = 16 * 1024;

/// Bytes of the configuration file.
pub(crate) const CONFIG_BYTES_MAX: u64 = 1024 * 1024;

/// Time between two rounds of housekeeping, and so for which a socket that somebody has removed is gone at most.
pub(crate) const HOUSEKEEPING: Duration = Duration::from_secs(1);

/// Rounds of housekeeping between two looks at the log's retention.
pub(crate) const RETENTION_ROUNDS: u32 = 60;

/// Time between two looks at watched rule files. One that is still being written when the first look finds it changed has
/// until the second.
pub(crate) const WATCH: Duration = Duration::from_millis(250);

/// Mistakes that are told of one configuration file: after these a reader starts again anyway.
pub(crate) const MISTAKES_MAX: usize = 50;

/// Characters of a word for which a known one is suggested. The longest key has 24.
pub(crate) const MISSPELT_CHARS_MAX: usize = 40;

/// Bytes of the copy of a workspace's own files, as JSON. Some thousand rules; `castellan trust` is to be read by a person, and there
/// may be a copy for each workspace that was decided about.
pub(crate) const PROJECT_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Workspaces with files of their own whose compiled policy is kept. People work in a handful at a time; one more compiles
/// them anew.
pub(crate) const PROJECTS_MAX: usize = 32;

/// Purposes of denials that are remembered, over all sessions: some hundred KiB. A session is denied tens of things.
pub(crate) const DENIALS_REMEMBERED_MAX: usize = 4096;

/// MCP servers that are known in every session. People configure tens.
pub(crate) const MCP_SERVERS_MAX: usize = 1000;

/// MCP servers that a session has used with a person's consent.
pub(crate) const SERVERS_PER_SESSION_MAX: usize = 100;

/// Bytes of the file in which an agent keeps what it knows of the user, servers among it. Claude Code's grows with its projects.
pub(crate) const AGENT_STATE_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// Seconds that a rule is only observed which an upgrade has brought: two weeks of work show what it finds.
pub(crate) const TRIAL_S: u64 = 14 * 24 * 60 * 60;

/// Times that a journal is read which its daemon is writing anew meanwhile, which takes it some milliseconds.
pub(crate) const JOURNAL_READS_MAX: usize = 3;
