//! Compares the calls that ran with the decisions. Finds calls without a decision, against a decision, or with another
//! input than the judged one. Also finds changes of an agent's settings that make such calls possible. A later decision
//! may depend on the consequences of a finding, but not on the way it was found.

use std::path::{Path, PathBuf};

use castellan_agents::{self as agents, Done, Foreign, TranscriptCall};
use castellan_audit::UngovernedRecord;
use castellan_event::{AccessLevel, Agent, Call, Code, PartsHash, ToolKind, Verdict};
use castellan_policy::{Block, OnUngoverned, Ungoverned};

use super::{Asked, Judge, Whose};
use crate::live::{Changed, Live, LiveSessions, SettingsChange};
use crate::memory::{Consequence, Decided};
use crate::peers::AgentProcess;
use crate::process::Process;
use crate::session_key::SessionKey;
use crate::{notification, record};

/// The kind of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    /// castellan was not asked, or did not reply.
    NoDecision,
    /// castellan denied it.
    AgainstDecision,
    /// castellan was asked about another input.
    OtherInput,
    /// castellan was to run it in a sandbox, and the agent ran the call's own input.
    RewriteIgnored,
    /// Such a call is possible: castellan is not asked any more.
    HooksOff,
    /// Such a call is possible: a foreign hook is asked too.
    ForeignHook,
}

impl Why {
    /// Returns the word in records, and its meaning.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Why::NoDecision => ("no_decision", "a call ran without a decision"),
            Why::AgainstDecision => ("against_decision", "a call ran that was denied"),
            Why::OtherInput => ("other_input", "a call ran with another input than the one that was judged"),
            Why::RewriteIgnored => {
                ("rewrite_ignored", "a call ran outside of the sandbox that castellan had it run in")
            }
            Why::HooksOff => ("hooks_off", "the agent's hooks are switched off"),
            Why::ForeignHook => ("foreign_hook", "another hook can change what was judged"),
        }
    }
}

/// A finding, for its record.
struct Found<'a> {
    why: Why,
    session: SessionKey,
    agent: &'a Agent,
    record: UngovernedRecord,
    /// True if the finding has consequences for the session.
    counts: bool,
}

impl Judge {
    /// Returns the sessions with running agents.
    pub(crate) fn live(&self) -> &LiveSessions {
        &self.live
    }

    /// Stores that a hook has reported an event of a session.
    pub(super) fn hear(&self, asked: &Asked<'_>, whose: &Whose, agent: &Agent) {
        let heard = self.live.hear(whose.session.id, asked.agent, agent, asked.sender.agent);
        if heard.is_err_and(|full| full.is_news) {
            let what = "too many sessions run to look at more: what new ones do past castellan is not seen";
            self.fail("monitor", what);
        }
    }

    /// Stores the decision about a call.
    pub(super) fn keep_decision(&self, whose: &Whose, call: &Call, decided: Decided) {
        let mut memory = self.memory();
        if let Some(judged) = decided.judged
            && call.tool.use_id.is_empty()
            && decided.answer == Verdict::Deny
        {
            memory.decided.deny(judged);
        }
        memory.decided.put(whose.session.id, &call.tool.use_id, decided);
    }

    /// Stores a person's consent to an MCP server for the session: a call that was not denied has run.
    pub(super) fn used_server(&self, whose: &Whose, call: &Call) {
        let Some((server, _)) = &call.tool.mcp else { return };
        let mut memory = self.memory();
        let decided = memory.decided.of(whose.session.id, &call.tool.use_id);
        if decided.is_some_and(|decided| decided.answer != Verdict::Deny) {
            memory.use_server(whose.session.root, server);
        }
    }

    /// Checks a call that has run with this input according to its agent.
    pub(super) fn ran(&self, asked: &Asked<'_>, whose: &Whose, done: &Done) {
        let call = &done.call;
        let session = whose.session.id;
        // Older versions of agents give no ids. A tool that changes only the agent's own state gets its answer as a
        // changed input: a person's answers are put into the input of a question.
        if call.tool.use_id.is_empty() || call.tool.kind == ToolKind::Internal {
            return;
        }
        let why = match self.decision(session, &call.agent, asked.sender.agent.started, &call.tool.use_id) {
            Some(decided) if decided.is_reported => return,
            None => Why::NoDecision,
            Some(decided) if decided.answer == Verdict::Deny => Why::AgainstDecision,
            Some(decided) if decided.original == Some(input_hash(call)) => Why::RewriteIgnored,
            Some(decided) if decided.input.is_some_and(|judged| judged != input_hash(call)) => {
                Why::OtherInput
            }
            Some(_) => return,
        };
        let record = UngovernedRecord {
            seen: call.agent.event.clone().into(),
            subagent_id: call.agent.subagent_id.clone().into(),
            tool: call.tool.name.clone().into(),
            use_id: call.tool.use_id.clone().into(),
            input: call.input.clone().into(),
            ..UngovernedRecord::default()
        };
        self.found(Found { why, session, agent: &call.agent, record, counts: true });
    }

    /// Checks a call that ran according to a transcript, which shows only the input that the model requested.
    pub(crate) fn transcribed(&self, live: &Live, subagent: &str, call: &TranscriptCall, file: &Path) {
        if call.is_harmless {
            return;
        }
        let why = match self.decision(live.session, &live.agent, live.process().started, &call.id) {
            Some(decided) if decided.is_reported || decided.answer != Verdict::Deny => return,
            Some(_) => Why::AgainstDecision,
            None => Why::NoDecision,
        };
        let record = UngovernedRecord {
            seen: "transcript".into(),
            subagent_id: subagent.into(),
            tool: call.tool.clone().into(),
            use_id: call.id.clone().into(),
            input: call.input.clone().into(),
            file: file.display().to_string().into(),
            ..UngovernedRecord::default()
        };
        self.found(Found { why, session: live.session, agent: &live.agent, record, counts: true });
    }

    /// Checks a session's settings again.
    pub(crate) fn look_at_settings(&self, live: &Live) {
        for changed in live.look_at_settings() {
            self.changed(live, changed);
        }
    }

    fn changed(&self, live: &Live, changed: Changed) {
        let (why, file, message, counts) = match changed.change {
            SettingsChange::HooksOff { file, how } => {
                let held = match (changed.is_managed, changed.keeps_hooks) {
                    (true, _) => "; castellan is asked all the same: it is registered for the machine",
                    (_, true) => "; castellan is asked all the same: the agent was started so",
                    (false, false) => "",
                };
                (Why::HooksOff, file, format!("{how}{held}"), held.is_empty())
            }
            SettingsChange::ForeignHook { file, hook } => {
                if self.terms().policy.settings().ungoverned.trusted_hooks.contains(&hook.command) {
                    return;
                }
                let message = format!("a hook for {} was added: {}", hook.event, hook.command);
                // A change of the input by this hook is found when the call is done.
                (Why::ForeignHook, file, message, false)
            }
        };
        let record = UngovernedRecord {
            seen: "settings".into(),
            file: file.display().to_string().into(),
            message: message.into(),
            ..UngovernedRecord::default()
        };
        self.found(Found { why, session: live.session, agent: &live.agent, record, counts });
    }

    /// Returns the consequences for a session that wants to make a call.
    pub(super) fn consequence(&self, asked: &Asked<'_>, session: &SessionKey) -> Consequence {
        let mut follows = self.memory().consequence(session);
        let Ungoverned { blocks_foreign_hooks, trusted_hooks, .. } =
            &asked.terms().policy.settings().ungoverned;
        if *blocks_foreign_hooks && follows.block.is_none() {
            follows.block = match self.live.of(session) {
                Some(live) => self.untrusted(&live, asked.sender.agent, trusted_hooks),
                None => Some(unseen("too many sessions run: end some agents")),
            };
        }
        follows
    }

    /// Returns a bar for an untrusted foreign hook. Reads the settings now: a hook added since the last check also
    /// runs.
    pub(super) fn untrusted(&self, live: &Live, process: AgentProcess, trusted: &[String]) -> Option<Block> {
        self.look_at_settings(live);
        let is_untrusted = |(_, hook): &(PathBuf, Foreign)| !trusted.contains(&hook.command);
        let said = live.with_settings(process, |settings| {
            settings.foreign().into_iter().find(is_untrusted).ok_or_else(|| settings.unseen())
        });
        let (file, hook) = match said {
            Some(Ok(found)) => found,
            Some(Err(why)) => return why.map(|why| unseen(&why)),
            None => return Some(unseen("too many agents run this session: end some")),
        };
        let message = format!(
            "`{}` has a hook that could change the call after castellan judged it: {}",
            file.display(),
            hook.command
        );
        Some(Block { code: Code::ForeignHook, message })
    }

    /// Returns the decision about a call, from the log if an earlier daemon may have decided or decisions were dropped.
    fn decision(&self, session: SessionKey, agent: &Agent, started: u64, id: &str) -> Option<Decided> {
        let memory = self.memory();
        let decided = memory.decided.of(session, id);
        let is_forgettable = memory.decided.forgot() || started <= self.own_start();
        drop(memory);
        if decided.is_some() || !is_forgettable {
            return decided;
        }
        let answer =
            castellan_audit::answer_to(self.log.dir(), &agent.name, &agent.session_id, id).ok().flatten()?;
        let decided = Decided::remembered(answer.parse().ok()?);
        self.memory().decided.put(session, id, decided);
        Some(decided)
    }

    /// Returns this daemon's start time; 0 if it cannot be read, as for agents.
    fn own_start(&self) -> u64 {
        *self.own_start.get_or_init(|| Process::read(std::process::id()).map_or(0, |own| own.started))
    }

    /// Records a finding and its consequences. If it cannot be recorded, the status shows it.
    fn found(&self, Found { why, session, agent, record, counts }: Found<'_>) {
        let (word, meaning) = why.words();
        let terms = self.terms_of(&session);
        let settings = &terms.policy.settings().ungoverned;
        let (action, level) =
            if counts { (settings.action, settings.level) } else { (OnUngoverned::Record, None) };
        let block = (action == OnUngoverned::Stop).then(|| Block {
            code: Code::Ungoverned,
            message: format!("castellan stopped this session: {meaning}"),
        });
        let mut memory = self.memory();
        memory.follow(&session, Consequence { ceiling: level, block });
        let saved = memory.save();
        if let Some(decided) = memory.decided.of(session, &record.use_id) {
            memory.decided.put(session, &record.use_id, Decided { is_reported: true, ..decided });
        } else {
            let reported = Decided { is_reported: true, ..Decided::remembered(Verdict::Defer) };
            memory.decided.put(session, &record.use_id, reported);
        }
        drop(memory);
        if let Err(error) = saved {
            self.fail("state", &format!("the consequence for a session cannot be written: {error}"));
        }
        let what = if record.message.is_empty() { meaning.to_owned() } else { record.message.to_string() };
        self.tally.ungoverned(&format!("{word}: {what}"));
        if action >= OnUngoverned::Notify {
            notification::show_ungoverned(&agent.name, &agent.cwd, meaning);
        }
        let record = UngovernedRecord {
            why: word.into(),
            message: what.into(),
            action: action.as_str().into(),
            ceiling: level.map_or("", AccessLevel::as_str).into(),
            ..record
        };
        if let Err(error) = self.append(&record::ungoverned(agent, record)) {
            self.tally.failed(&format!("an undecided call could not be recorded: {error}"));
        }
    }
}

/// Returns the bar for a session whose hooks cannot be checked.
fn unseen(why: &str) -> Block {
    let message = format!("castellan cannot tell whether another hook changes the call afterwards: {why}");
    Block { code: Code::ForeignHook, message }
}

/// Hashes the input of a call, independent of the order of its keys.
pub(super) fn input_hash(call: &Call) -> [u8; 32] {
    PartsHash::of([&agents::call_key_input(call)]).bytes()
}
