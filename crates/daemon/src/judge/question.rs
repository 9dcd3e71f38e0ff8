//! One question of an agent: may this call run? And the second one, at the agent's own prompt. It must not know how a hook is
//! answered that asks anything else.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use castellan_agents::{self as agents, AgentId, Told};
use castellan_audit::Record;
use castellan_event::{
    Agent, Answers, Call, Command, Decision, Effect, EffectKind, Facts, FileOrigin, Mode, Recorder, Role,
    Session, ToolKind, Verdict, Why,
};
use castellan_facts::{ANYWHERE_MARK, TREE_MARK, is_version_control, keeps_code};
use castellan_policy::{PROBING, RequestId, State, StateChange, agent_text, drive, user_text};

use super::consent::{Consent, grantable, waits};
use super::sessions::Look;
use super::{Asked, Failure, Judge, Outcome, Terms, Whose, digest, reply};
use crate::facts::facts_after;
use crate::memory::{Begun, CallKey, Given};
use crate::record::Judged;
use crate::requests::{Taken, Waits};
use crate::shipped::CANARY_TOOL;
use crate::world::FileSystem;

/// A call that was judged, before anything follows from that.
pub(super) struct Weighed<'a> {
    pub(super) asked: &'a Asked<'a>,
    pub(super) call: &'a Call,
    pub(super) whose: &'a Whose,
    /// The number of its record, where it was asked about before.
    pub(super) first: Option<u64>,
    /// The session as the call saw it.
    pub(super) session: Arc<Session>,
    pub(super) consent: Consent,
    /// What was granted of it: now, or when it was asked about before.
    pub(super) granted: Option<Taken>,
    pub(super) facts: Facts,
    pub(super) answers: Answers,
    pub(super) decision: Decision,
    pub(super) change: StateChange,
    /// How long it waits for a person.
    pub(super) hold: Option<Duration>,
}

impl Judge {
    /// The agent asks whether a call may run. When it has asked before, `before` is what it was answered then, and its marks
    /// are set. `None`: what a person granted of it may hold no more, and it is to be judged again.
    pub(super) fn question(
        &self,
        asked: &Asked<'_>,
        call: &Call,
        whose: &Whose,
        before: Option<Given>,
    ) -> Result<Option<Outcome>, Failure> {
        let weighed = self.weigh(asked, call, whose, before);
        // What was used up stays so, even of a call that fails from here on: it does not come back by a full disk.
        if !self.settle(&weighed) {
            return Ok(None);
        }
        self.conclude(weighed).map(Some)
    }

    /// Judges a call. Nothing comes of it yet, but that nobody else has what was granted of it.
    pub(super) fn weigh<'a>(
        &self,
        asked: &'a Asked<'a>,
        call: &'a Call,
        whose: &'a Whose,
        before: Option<Given>,
    ) -> Weighed<'a> {
        let Terms { policy, .. } = asked.terms();
        let first = before.as_ref().map(|before| before.call);
        let mut consent = self.consent(asked, call, whose.session.id, first.is_none());
        let (session, before) = match before {
            Some(before) => (before.session, before.grant),
            None => (Arc::new(self.session(whose, policy)), None),
        };
        let granted = consent.taken().cloned().or(before);
        let grant = granted.as_ref().map(|taken| &taken.grant);
        let follows = self.consequence(asked, &whose.session.id);
        let is_new_server = self.is_new_server(call, whose);
        let mode = &call.agent.permission_mode;
        let state = asked.state(consent.request, mode, whose, &session, &follows);
        let state = State { grant, is_new_server, ..state };
        let machine = FileSystem::default();
        let mut world = Recorder::new(&machine);
        let facts = self.facts(call, state.mode, (whose, first), &mut world);
        let state = State { agent_asks: asked.holds_ask(call, &facts), ..state };
        let (mut decision, mut change) = drive(call, &facts, policy, &state, &mut world);
        let answers = world.into_answers();
        asked.refuse(&mut decision, &mut change);
        let is_grantable = grantable(call, &facts, &decision, &change).is_some();
        let hold = asked.hold_time(&decision, first.is_none() && is_grantable);
        if first.is_some() || hold.is_some() {
            change.marks.clear();
        }
        if change.request.is_some() {
            change.request = Some(self.named(&mut consent, &facts, &decision));
        }
        Weighed {
            asked,
            call,
            whose,
            first,
            session,
            consent,
            granted,
            facts,
            answers,
            decision,
            change,
            hold,
        }
    }

    /// Records what was decided, and keeps what follows from it.
    fn conclude(&self, mut weighed: Weighed<'_>) -> Result<Outcome, Failure> {
        self.mark_probing(&mut weighed);
        let Weighed { asked, call, whose, ref decision, ref change, hold, .. } = weighed;
        let policy = &asked.terms().policy;
        let judged = Judged {
            call,
            decision,
            answers: &weighed.answers,
            change,
            policy: policy.hash(),
            workspace: whose.inside(),
            is_held: hold.is_some(),
            told: &self.told,
        };
        self.commit(&judged.record(asked.started.elapsed()), whose, &change.marks)?;
        self.tell_trust(whose, &call.agent, policy, Look::Call);
        self.keep_waiting(&weighed);
        let is_at_prompt = waits(&weighed) == Waits::AtPrompt;
        if let Some(time) = hold {
            return Ok(Outcome::Hold { id: weighed.consent.request, time });
        }
        self.tally.judged(decision.verdict);
        if call.tool.kind == ToolKind::Unknown && call.tool.name_raw != CANARY_TOOL {
            self.tally.of_unknown_tool(&call.tool.name_raw);
        }
        let number = weighed.first.unwrap_or(call.correlation_id);
        if change.answer != Verdict::Deny {
            let begun = begun(call, number, weighed.facts, whose.inside());
            let forgotten = self.memory().begin(whose.session.root, begun);
            self.check_later(&call.agent, forgotten);
        }
        let told = told(call, decision, change);
        let given = Given {
            verdict: change.answer,
            reason: told.reason.clone(),
            session: weighed.session,
            call: number,
            grant: weighed.granted.filter(|_| change.used_grant),
            epoch: asked.epoch,
        };
        let key = key(asked.agent, call);
        self.keep_decision(whose, call, (key, weighed.consent.key()), (change.answer, is_at_prompt));
        self.memory().remember(key, given);
        Ok(Outcome::Reply(reply(agents::encode(asked.agent, &asked.request.event, &told))))
    }

    /// Whether a call is of an MCP server that nobody has agreed to.
    fn is_new_server(&self, call: &Call, whose: &Whose) -> bool {
        let server = call.tool.mcp.as_ref().map(|(server, _)| server);
        server.is_some_and(|server| !self.memory().knows_server(&whose.session.root, server))
    }

    /// Counts a call that was denied, and marks its session where it tries the same again and again.
    fn mark_probing(&self, weighed: &mut Weighed<'_>) {
        let Weighed { whose, change, first, hold, .. } = weighed;
        let is_answered_now = first.is_none() && hold.is_none();
        if is_answered_now && self.memory().is_probing(whose.session.root, &change.purposes) {
            change.marks.push(PROBING.to_owned());
            change.marks.sort();
            change.marks.dedup();
        }
    }

    /// The agent asks again, at its own prompt, about a call that it has asked about before: the answer stands, and after
    /// an ask the prompt is the answer. A call that was not asked about is judged now, and so is one that would be answered
    /// more strictly by now: a symlink may have moved in between. `None` as of the first question.
    pub(super) fn second_question(
        &self,
        asked: &Asked<'_>,
        call: &Call,
        whose: &Whose,
    ) -> Result<Option<Outcome>, Failure> {
        let key = key(asked.agent, call);
        let given = self.memory().given(&key).cloned();
        let stands = |given: &Given| {
            given.epoch == asked.epoch && self.judge_now(asked, call, whose, given).answer <= given.verdict
        };
        match given {
            Some(given) if stands(&given) => {
                if self.memory().epoch() != asked.epoch {
                    return Ok(None);
                }
                let verdict = if given.verdict == Verdict::Ask { Verdict::Defer } else { given.verdict };
                let told = Told { verdict, reason: given.reason, user_note: String::new() };
                Ok(Some(Outcome::Reply(reply(agents::encode(asked.agent, &asked.request.event, &told)))))
            }
            // A denied call set no marks: allowed by another policy, it is a new one.
            Some(given) if given.verdict == Verdict::Deny => self.question(asked, call, whose, None),
            Some(given) => self.question(asked, call, whose, Some(given)),
            None => self.question(asked, call, whose, None),
        }
    }

    /// The decision as it would be now, for comparison only.
    fn judge_now(&self, asked: &Asked<'_>, call: &Call, whose: &Whose, given: &Given) -> Decision {
        let grant = given.grant.as_ref().map(|taken| &taken.grant);
        let follows = self.consequence(asked, &whose.session.id);
        let mode = &call.agent.permission_mode;
        let state = asked.state(RequestId::from_seed(0), mode, whose, &given.session, &follows);
        let state = State { grant, is_new_server: self.is_new_server(call, whose), ..state };
        let machine = FileSystem::default();
        let mut world = Recorder::new(&machine);
        let facts = self.facts(call, state.mode, (whose, Some(given.call)), &mut world);
        let state = State { agent_asks: asked.holds_ask(call, &facts), ..state };
        drive(call, &facts, &asked.terms().policy, &state, &mut world).0
    }

    /// What the call would do, after what its session has written; `but` for the call itself, when it is asked about again.
    /// Passthrough looks at nothing.
    fn facts(
        &self,
        call: &Call,
        mode: Mode,
        (whose, but): (&Whose, Option<u64>),
        world: &mut Recorder<'_>,
    ) -> Facts {
        if mode == Mode::Passthrough {
            return Facts::default();
        }
        let changed = self.memory().changed(&whose.session.root, but);
        let mut facts = facts_after(call, &self.own, whose.inside(), changed, world);
        if !facts.own_scripts.is_empty() {
            let memory = self.memory();
            facts.own_scripts.retain(|path| !memory.has_any_written(path));
        }
        facts
    }

    /// Writes a call's record, and then sets its marks, as one step: no other call's marks come between the look for room
    /// and the marks.
    fn commit(&self, record: &Record, whose: &Whose, marks: &[String]) -> Result<(), Failure> {
        if marks.is_empty() {
            return Ok(self.append(record)?);
        }
        let mut memory = self.memory();
        memory.check_room(&whose.session.root, marks).map_err(Failure::unmarked)?;
        self.append(record)?;
        memory.mark(whose.session.root, marks);
        Ok(())
    }
}

/// Why a call may run where all that stood against it was granted.
const GRANTED: &str = "the user has approved this call";

/// What is known of a call that may run from now on. `number`: that of its record.
pub(crate) fn begun<'c>(call: &'c Call, number: u64, facts: Facts, workspace: &str) -> Begun<'c> {
    Begun {
        call: number,
        id: &call.tool.use_id,
        paths: written(&facts, workspace),
        downloaded: downloaded(&facts),
        in_background: in_background(call, &facts),
        scripts: facts.scripts,
    }
}

/// What runs later may be what is written now.
fn written(facts: &Facts, workspace: &str) -> BTreeSet<String> {
    let writes = facts
        .effects
        .iter()
        .filter(|effect| matches!(effect.kind, EffectKind::Write | EffectKind::Link | EffectKind::Download));
    let writes =
        writes.filter(|effect| !keeps_code(effect) && !is_whole_tree(effect, &facts.commands, workspace));
    let mut paths: BTreeSet<String> = writes.filter_map(|effect| effect.path.clone()).collect();
    // Of what is written where nobody knows it may be any file. What the project's own code writes is its own doing.
    let is_own = |effect: &Effect| {
        effect.script_path.as_ref().is_some_and(|script| facts.own_scripts.contains(script))
    };
    // A file that cannot be read says which files a patch changes.
    let is_unread = |effect: &Effect| effect.role == Some(Role::Target) && effect.why == Some(Why::File);
    let is_anywhere = |effect: &Effect| {
        let is_write = matches!(effect.kind, EffectKind::Write | EffectKind::Link) && effect.path.is_none();
        (is_write || is_unread(effect)) && !keeps_code(effect) && !is_own(effect)
    };
    let anywhere = facts.effects.iter().any(is_anywhere).then_some((workspace, ANYWHERE_MARK));
    // Version control does not say which files it changes.
    let trees = facts.changed_trees.iter().map(|root| (root.as_str(), TREE_MARK));
    let marked = trees.chain(anywhere).filter(|(root, _)| !root.is_empty());
    paths.extend(marked.map(|(root, mark)| format!("{}/{mark}", root.trim_end_matches('/'))));
    paths
}

/// Whether version control changes the workspace as a whole: its mark says so, and its own settings stay as they are.
fn is_whole_tree(effect: &Effect, commands: &[Command], workspace: &str) -> bool {
    let command = effect.command.and_then(|command| commands.get(command));
    effect.path.as_deref() == Some(workspace)
        && effect.file_origin != Some(FileOrigin::Downloaded)
        && command.and_then(|command| command.name.as_deref()).is_some_and(is_version_control)
}

/// What of it came from the network.
fn downloaded(facts: &Facts) -> BTreeSet<String> {
    let fetched = facts.effects.iter().filter(|effect| {
        effect.kind == EffectKind::Write && effect.file_origin == Some(FileOrigin::Downloaded)
    });
    fetched.filter_map(|effect| effect.path.clone()).collect()
}

/// Whether the call may go on when the agent's turn is over: as the agent was asked to let it, by its own means, as `&` and
/// wrappers such as `setsid` are, or in a sub-agent, which works while the user talks to the main one.
pub(super) fn in_background(call: &Call, facts: &Facts) -> bool {
    call.in_background
        || !call.agent.subagent_id.is_empty()
        || facts.effects.iter().any(|effect| effect.kind == EffectKind::Detach)
        || facts.commands.iter().any(|command| command.background || !command.wrappers.is_empty())
}

fn told(call: &Call, decision: &Decision, change: &StateChange) -> Told {
    match change.request {
        Some(request) if decision.answer >= Verdict::Ask => Told {
            verdict: decision.answer,
            reason: agent_text(decision, request, call.correlation_id),
            user_note: user_text(decision, request),
        },
        _ => {
            let is_granted = change.used_grant && decision.reason.is_empty();
            let reason = if is_granted { GRANTED.to_owned() } else { decision.reason.clone() };
            Told { verdict: decision.answer, reason, user_note: String::new() }
        }
    }
}

fn key(agent: AgentId, call: &Call) -> CallKey {
    let Agent { session_id, subagent_id, cwd, .. } = &call.agent;
    CallKey(digest(&[agent.word(), session_id, subagent_id, cwd, &agents::call_key_input(call)]))
}
