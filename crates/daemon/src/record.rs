//! Converts calls and events to records. Only this module knows the format, of `audit`, and the vocabulary, of `event`.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use castellan_agents::{AgentId, Done, Malformed, SessionEvent, prompt_text};
use castellan_audit::{
    CallRecord, ControlRecord, FailureRecord, FileRecord, FindingRecord, GapRecord, MarkRecord,
    ObligationRecord, Record, ScriptRecord, SessionRecord, UngovernedRecord, WorldRecord,
};
use castellan_event::{
    AccessLevel, Action, Agent, Answer, Answers, Call, Exemption, Inode, Layer, Mode, PatchOp, Process,
    Query, sha256_hex,
};
use castellan_policy::{Decision, EngineKind, StateChange};
use castellan_wire::Gap;

use crate::limits::{FULL_TEXT_EVERY, KNOWN_TEXTS_MAX};

pub(crate) struct Judged<'a> {
    pub(crate) call: &'a Call,
    /// The command in the place of the call's own; empty if there is none.
    pub(crate) rewrite: &'a str,
    pub(crate) decision: &'a Decision,
    pub(crate) answers: &'a Answers,
    pub(crate) change: &'a StateChange,
    pub(crate) policy: &'a str,
    /// The engine of the policy.
    pub(crate) engine: EngineKind,
    /// Process id of the run; 0 without one.
    pub(crate) run: u32,
    /// The reviewer's reason; empty without a review.
    pub(crate) review: &'a str,
    /// The directory whose contents belong to the workspace; empty if there is none.
    pub(crate) workspace: &'a str,
    /// Process descriptions of earlier records, which are not repeated.
    pub(crate) reported: &'a SeenTexts,
}

impl Judged<'_> {
    /// The record of the call, `duration` after its request arrived.
    pub(crate) fn record(&self, duration: Duration) -> Record {
        let Judged {
            call, rewrite, decision, answers, change, policy, run, review, workspace, reported, ..
        } = self;
        let agent = call.agent.clone();
        let real = |base: &str, path: &str| answers.real_path(base, path).unwrap_or_default().to_owned();
        let files = call.files.iter().map(|file| FileRecord {
            path: file.path.clone(),
            real_path: real(&agent.cwd, &file.path),
            op: file.patch_op.map_or("", PatchOp::as_str).to_owned(),
        });
        let findings = decision.findings.iter().map(|finding| FindingRecord {
            verdict: finding.verdict.as_str().to_owned(),
            code: finding.code.as_str().to_owned(),
            rule: finding.rule.clone(),
            layer: finding.layer.map_or("", Layer::as_str).to_owned(),
            rows: finding.rows.iter().map(usize::to_string).collect::<Vec<_>>().join(" "),
            lifted: finding.lifted.map_or("", Exemption::as_str).to_owned(),
            message: finding.message.clone(),
        });
        let obligations = decision.obligations.iter().map(|obligation| ObligationRecord {
            kind: obligation.action.kind().as_str().to_owned(),
            detail: match obligation.action {
                Action::Review => (*review).to_owned(),
                Action::Contain { .. } | Action::Checkpoint | Action::Hold { .. } => {
                    obligation.action.detail()
                }
            },
            or_else: obligation.or_else.as_str().to_owned(),
        });
        let marks = change.marks.iter().map(|label| MarkRecord { label: label.clone() });
        let asked = answers.iter().map(|(query, answer)| world(query, answer, reported));
        Record::Call(CallRecord {
            correlation_id: call.correlation_id,
            request: change.request.map(|id| id.to_string()).unwrap_or_default().into(),
            agent_pid: agent.pid,
            run: *run,
            real_cwd: real("/", &agent.cwd).into(),
            workspace: (*workspace).into(),
            tool: call.tool.name.clone().into(),
            tool_raw: call.tool.name_raw.clone().into(),
            use_id: call.tool.use_id.clone().into(),
            input: call.input.clone().into(),
            rewrite: (*rewrite).into(),
            files: files.collect(),
            world: asked.chain(given_up(answers)).collect(),
            findings: findings.collect(),
            obligations: obligations.collect(),
            marks: marks.collect(),
            verdict: decision.verdict.as_str().into(),
            answer: if decision.hold().is_some() { WAITING } else { decision.answer.as_str() }.into(),
            enforced: decision.enforced(),
            mode: decision.mode.as_str().into(),
            required_level: decision.required.map_or("", AccessLevel::as_str).into(),
            active_level: decision.active.map_or("", AccessLevel::as_str).into(),
            reason: decision.reason.clone().into(),
            policy: (*policy).into(),
            engine: engine_word(self.engine).into(),
            duration_us: u64::try_from(duration.as_micros()).unwrap_or(u64::MAX),
            event: agent.event.into(),
            agent: agent.name.into(),
            session_id: agent.session_id.into(),
            subagent_id: agent.subagent_id.into(),
            permission_mode: agent.permission_mode.into(),
            cwd: agent.cwd.into(),
        })
    }
}

/// The word for the engine in a record; castellan's own is none.
fn engine_word(engine: EngineKind) -> &'static str {
    match engine {
        EngineKind::Native => "",
        EngineKind::Falco => engine.as_str(),
    }
}

/// The answer of a call that is pending. A second record has the final answer.
pub(crate) const WAITING: &str = "hold";

/// The record of a call that has run.
pub(crate) fn done(done: &Done) -> Record {
    let message = if done.failed { "failed" } else { "done" };
    let session = session(&done.call.agent, message.to_owned());
    Record::Session(SessionRecord {
        tool: done.call.tool.name.clone().into(),
        use_id: done.call.tool.use_id.clone().into(),
        ..session
    })
}

/// The record of a call that ran against the decision, or of a change that makes that possible. `record` has the fields
/// that do not describe the agent.
pub(crate) fn ungoverned(agent: &Agent, record: UngovernedRecord) -> Record {
    Record::Ungoverned(UngovernedRecord {
        agent: agent.name.clone().into(),
        agent_pid: agent.pid,
        session_id: agent.session_id.clone().into(),
        cwd: agent.cwd.clone().into(),
        ..record
    })
}

/// The record of files whose code a call ran and that may differ from the judged content. `id`: the agent's call id.
pub(crate) fn scripts(agent: &Agent, id: &str, scripts: Vec<ScriptRecord>) -> Record {
    let is_changed = scripts.iter().any(|script| !script.sha256.is_empty());
    let message = if is_changed { "script_changed" } else { "script_unchecked" };
    let session = session(agent, message.to_owned());
    Record::Session(SessionRecord { use_id: id.into(), scripts, ..session })
}

/// The record of a session in a workspace that a person should decide about, or about its own files. `path` is empty if
/// there is no workspace; `why` is empty if there is no decision.
pub(crate) fn trust_required(agent: &Agent, path: &str, why: &str) -> Record {
    let colon = if why.is_empty() { "" } else { ": " };
    Record::Session(session(agent, format!("trust_required {path}{colon}{why}")))
}

/// The record of a session event that is no call. Without `keeps_prompts`, a prompt is only counted.
pub(crate) fn session_event(agent: AgentId, event: &SessionEvent, keeps_prompts: bool) -> Record {
    let text = match prompt_text(agent, event) {
        Some(prompt) if !keeps_prompts => format!("a prompt of {} characters", prompt.chars().count()),
        Some(_) | None => event.text.clone(),
    };
    Record::Session(session(&event.agent, text))
}

/// The record of a payload without a valid call. Without `keeps_prompts`, it has no beginning of a payload with a prompt.
pub(crate) fn malformed(malformed: &Malformed, event: &str, mode: Mode, keeps_prompts: bool) -> Record {
    let message = if keeps_prompts || !malformed.text.contains("\"prompt\"") {
        format!("{}; the payload begins: {}", malformed.message, malformed.text)
    } else {
        format!("{}; the payload holds a prompt, which is not recorded", malformed.message)
    };
    let agent = &malformed.agent;
    failed_answer("malformed", &message, &agent.name, event, agent.pid, mode)
}

/// The record of a failure of castellan that concerns no agent: `code` is one stable word.
pub(crate) fn failure(code: &str, message: &str) -> Record {
    Record::Failure(FailureRecord { code: code.into(), message: message.into(), ..Default::default() })
}

/// The record of a failure of castellan while it answered an agent.
pub(crate) fn failed_answer(
    code: &str,
    message: &str,
    agent: &str,
    event: &str,
    pid: u32,
    mode: Mode,
) -> Record {
    Record::Failure(FailureRecord {
        code: code.into(),
        message: message.into(),
        agent: agent.into(),
        event: event.into(),
        peer_pid: pid,
        answer: failure_answer(mode).into(),
    })
}

fn failure_answer(mode: Mode) -> &'static str {
    match mode {
        Mode::Enforce => "deny",
        Mode::Monitor | Mode::Passthrough => "defer",
    }
}

/// The record of a gap that a hook noted, or of an invalid line.
pub(crate) fn gap(gap: Option<&Gap>, line: &str) -> Record {
    Record::Gap(match gap {
        Some(gap) => GapRecord {
            agent: gap.agent.clone().into(),
            event: gap.event.clone().into(),
            count: 1,
            since: since(gap.unix_ms).into(),
            message: format!("the hook of process {} answered alone: {}", gap.parent_pid, gap.failure).into(),
        },
        None => {
            GapRecord { message: format!("a note that cannot be read: {line}").into(), ..Default::default() }
        }
    })
}

fn since(unix_ms: u64) -> String {
    let time = SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(unix_ms));
    // A forged note may have a time so far off that `humantime` would panic.
    let sane = time.filter(|_| unix_ms < 253_402_300_800_000);
    sane.map(|time| humantime::format_rfc3339_millis(time).to_string()).unwrap_or_default()
}

/// The record of a control request, or of a set that the daemon put in force itself. `files` is the hash of the files
/// in force from here on; empty if they do not change.
pub(crate) fn control(
    action: &str,
    argument: &str,
    refused: Option<&str>,
    files: &str,
    peer: (u32, u32),
) -> Record {
    Record::Control(ControlRecord { files: files.into(), ..answered(action, argument, refused, peer) })
}

fn answered(action: &str, argument: &str, refused: Option<&str>, peer: (u32, u32)) -> ControlRecord {
    ControlRecord {
        action: action.into(),
        argument: argument.into(),
        accepted: refused.is_none(),
        message: refused.unwrap_or_default().into(),
        peer_pid: peer.0,
        peer_uid: peer.1,
        ..Default::default()
    }
}

/// The record of a person's consent to a call, or of its end. `call`: record number of the call and SHA-256 of its
/// input, if they identify a call.
pub(crate) fn consent(
    action: &str,
    argument: &str,
    refused: Option<&str>,
    call: Option<(u64, String)>,
    peer: (u32, u32),
) -> Record {
    let (call, input_sha256) = call.unwrap_or_default();
    let input_sha256 = input_sha256.into();
    Record::Control(ControlRecord { call, input_sha256, ..answered(action, argument, refused, peer) })
}

fn session(agent: &Agent, message: String) -> SessionRecord {
    SessionRecord {
        event: agent.event.clone().into(),
        agent: agent.name.clone().into(),
        agent_pid: agent.pid,
        session_id: agent.session_id.clone().into(),
        subagent_id: agent.subagent_id.clone().into(),
        cwd: agent.cwd.clone().into(),
        message: message.into(),
        ..Default::default()
    }
}

fn world(query: &Query, answer: &Answer, reported: &SeenTexts) -> WorldRecord {
    let as_written = match (query, answer) {
        (Query::RealPath { base, path }, Answer::RealPath(real)) => is_as_written(base, path, real),
        _ => false,
    };
    let query = query_text(query, |path| reported.brief(path));
    let answer = match answer {
        Answer::RealPath(_) if as_written => AS_WRITTEN.to_owned(),
        Answer::RealPath(real) => real.clone(),
        Answer::FileKind(kind) => format!("{kind:?}").to_ascii_lowercase(),
        // File contents may be secret; their hash is enough to detect a change.
        Answer::Contents(bytes) => bytes.as_ref().map_or_else(none, |bytes| reported.hash_of_contents(bytes)),
        Answer::Executable(file) | Answer::Repository(file) | Answer::Newest(file) => {
            file.clone().unwrap_or_else(none)
        }
        Answer::Inode(inode) => {
            inode.map_or_else(none, |Inode { links, size }| format!("links {links} size {size}"))
        }
        Answer::Head(is_binary) => is_binary.map_or_else(none, |is_binary| is_binary.to_string()),
        // No path has a NUL, and a record may have one.
        Answer::OtherNames(names) => names.join(BETWEEN_NAMES),
        Answer::Process(process) => {
            process.as_ref().map_or_else(none, |process| reported.shorter(process_text(process)))
        }
    };
    WorldRecord { query, answer }
}

/// Returns the records of the programs that were given up.
pub(crate) fn given_up(answers: &Answers) -> impl Iterator<Item = WorldRecord> {
    let one = |sha256| WorldRecord { query: program_text(sha256), answer: GIVEN_UP.to_owned() };
    answers.given_up().map(one)
}

/// Formats a program that was given up, for records.
pub(crate) fn program_text(sha256: &str) -> String {
    format!("program {sha256}")
}

/// Formats a question for records; `brief` shortens a long list of directories.
pub(crate) fn query_text(query: &Query, brief: impl Fn(&str) -> String) -> String {
    match query {
        Query::RealPath { base, path } => format!("real_path {path} from {base}"),
        Query::FileKind { path } => format!("file_kind {path}"),
        Query::Contents { path } => format!("contents {path}"),
        Query::Executable { name, path } => format!("executable {name} in {}", brief(path)),
        Query::Repository { of } => format!("repository {of}"),
        Query::Newest { directory, prefix, suffix } => format!("newest {prefix}*{suffix} in {directory}"),
        Query::Inode { path } => format!("inode {path}"),
        Query::Head { path } => format!("head {path}"),
        Query::OtherNames { path, directories } => {
            format!("other_names {path} in {}", brief(&directories.join(":")))
        }
        Query::Process { pid } => format!("process {pid}"),
    }
}

/// The answer for a path that resolves to itself, as nearly all do; the question contains the path. No path is `=`.
pub(crate) const AS_WRITTEN: &str = "=";

/// The answer for a program that no helper read.
pub(crate) const GIVEN_UP: &str = "given up";

fn is_as_written(base: &str, path: &str, real: &str) -> bool {
    let below_base = || real.strip_prefix(base.trim_end_matches('/'))?.strip_prefix('/');
    if path.starts_with('/') { real == path } else { below_base() == Some(path) }
}

/// The text between two names in an answer. No path has it.
pub(crate) const BETWEEN_NAMES: &str = "\0";

/// The answer when nothing was found.
pub(crate) const NONE: &str = "none";

fn none() -> String {
    NONE.to_owned()
}

/// Texts that earlier records contain in full. Later records contain only the hash. The start environment of an agent
/// has some hundred bytes, the same for thousands of calls.
#[derive(Debug, Default)]
pub(crate) struct SeenTexts {
    /// Number of records for each text, by its hash.
    times: Mutex<HashMap<String, u32>>,
    /// The last long file contents with their hash. A snapshot of the agent's shell is the same for all calls of a
    /// session and may have a hundred KiB.
    contents: Mutex<Option<(Vec<u8>, String)>>,
}

/// Length up to which a hash would save little.
pub(crate) const BRIEF_BYTES_MAX: usize = 100;

/// Number of bytes that are hashed in a few microseconds. Longer contents are first compared with the last ones.
const HASHED_BYTES_MAX: usize = 4 * 1024;

impl SeenTexts {
    /// Returns the hash followed by the text at the first time and again from time to time, because old records are
    /// deleted. Else returns the hash alone.
    fn shorter(&self, text: String) -> String {
        let hash = sha256_hex(text.as_bytes());
        let mut reported = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        if reported.len() >= KNOWN_TEXTS_MAX && !reported.contains_key(&hash) {
            reported.clear();
        }
        let times = reported.entry(hash.clone()).or_default();
        let is_due = times.is_multiple_of(FULL_TEXT_EVERY);
        *times = times.wrapping_add(1);
        drop(reported);
        if is_due { format!("{hash}\n{text}") } else { hash }
    }

    /// Like `shorter`, for mostly short texts: a short text is always written in full.
    fn brief(&self, text: &str) -> String {
        if text.len() <= BRIEF_BYTES_MAX { text.to_owned() } else { self.shorter(text.to_owned()) }
    }

    fn hash_of_contents(&self, bytes: &[u8]) -> String {
        if bytes.len() <= HASHED_BYTES_MAX {
            return sha256_hex(bytes);
        }
        let last = || self.contents.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, hash)) = last().as_ref().filter(|(known, _)| known == bytes) {
            return hash.clone();
        }
        let hash = sha256_hex(bytes);
        *last() = Some((bytes.to_vec(), hash.clone()));
        hash
    }

    /// Forgets all texts after a failed write, so that the next records contain them in full.
    pub(crate) fn forget(&self) {
        self.times.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// One line for each fact of a process.
pub(crate) fn process_text(process: &Process) -> String {
    let vars = process.env.iter().map(|(name, value)| format!("{name}={value}"));
    let own = [format!("home {}", process.home), format!("root {}", process.is_root)];
    let links = process.links.iter().map(|(path, real)| format!("{path} -> {real}"));
    let network = process.network.iter().map(|point| format!("network {point}"));
    own.into_iter().chain(vars).chain(links).chain(network).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_process_was_started_with_is_told_once_and_again_after_many_records() {
        let reported = SeenTexts::default();
        let process = Process { home: "/home/u".to_owned(), ..Process::default() };
        let answer = Answer::Process(Some(process.clone()));
        let record = || world(&Query::Process { pid: 7 }, &answer, &reported).answer;
        let whole = record();
        let (hash, text) = whole.split_once('\n').unwrap();
        assert_eq!(text, process_text(&process));
        for _ in 1..FULL_TEXT_EVERY {
            assert_eq!(record(), hash);
        }
        assert_eq!(record(), whole);
        assert_eq!(record(), hash);
        reported.forget();
        assert_eq!(record(), whole);
        for number in 0..KNOWN_TEXTS_MAX {
            reported.shorter(number.to_string());
        }
        assert_eq!(record(), whole, "what is not kept any more is told again");
    }

    #[test]
    fn a_path_that_leads_where_it_says_is_told_once() {
        let cases = [
            ("/w", "x/y", "/w/x/y", "="),
            ("/", "x", "/x", "="),
            ("/", "/x", "/x", "="),
            ("/w", "/x", "/x", "="),
            ("/w", "x", "/v/x", "/v/x"),
            ("/w", "x/../y", "/w/y", "/w/y"),
            ("/w", ".", "/w", "/w"),
            ("/w", "x", "/wx", "/wx"),
            ("/w/", "w/x", "/w/x", "/w/x"),
        ];
        for (base, path, real, expected) in cases {
            let query = Query::RealPath { base: base.to_owned(), path: path.to_owned() };
            let reported = world(&query, &Answer::RealPath(real.to_owned()), &SeenTexts::default());
            assert_eq!(reported.answer, expected, "{}", reported.query);
        }
    }

    #[test]
    fn contents_are_told_by_their_own_hash() {
        let reported = SeenTexts::default();
        let long = [b'x'; HASHED_BYTES_MAX + 1];
        let longer = [b'x'; HASHED_BYTES_MAX + 2];
        for bytes in [&b"a"[..], &long, &long, &longer, b"a", &long] {
            assert_eq!(reported.hash_of_contents(bytes), sha256_hex(bytes));
        }
    }

    #[test]
    fn every_fact_of_a_process_is_told() {
        let text = |text: &str| text.to_owned();
        let process = Process {
            env: vec![(text("PATH"), text("/a:/b"))],
            home: text("/home/u"),
            is_root: true,
            links: vec![(text("/a"), text("/c"))],
            network: vec![text("/mnt")],
        };
        let expected = "home /home/u\nroot true\nPATH=/a:/b\n/a -> /c\nnetwork /mnt";
        assert_eq!(process_text(&process), expected);
    }

    /// The inverse is in `recorded`; no path has the text between two names.
    #[test]
    fn numbers_and_names_of_files_are_told() {
        let text = |text: &str| text.to_owned();
        let names = |names: &[&str]| Answer::OtherNames(names.iter().map(|name| text(name)).collect());
        let path = text("/w/x");
        let directories = vec![text("/a"), text("/b")];
        let other = Query::OtherNames { path: path.clone(), directories };
        for (query, answer, expected) in [
            (
                Query::Inode { path: path.clone() },
                Answer::Inode(Some(Inode { links: 2, size: 70 })),
                ("inode /w/x", "links 2 size 70"),
            ),
            (Query::Inode { path: path.clone() }, Answer::Inode(None), ("inode /w/x", "none")),
            (Query::Head { path: path.clone() }, Answer::Head(Some(true)), ("head /w/x", "true")),
            (Query::Head { path: path.clone() }, Answer::Head(None), ("head /w/x", "none")),
            (other.clone(), names(&[]), ("other_names /w/x in /a:/b", "")),
            (other, names(&["/a/x", "/b/y\nz"]), ("other_names /w/x in /a:/b", "/a/x\0/b/y\nz")),
        ] {
            let reported = world(&query, &answer, &SeenTexts::default());
            assert_eq!((reported.query.as_str(), reported.answer.as_str()), expected);
        }
    }
}
