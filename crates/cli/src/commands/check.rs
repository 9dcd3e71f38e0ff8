//! `castellan check`: judges one call without an agent. It goes the way of a real call: an agent's payload is decoded and
//! decided; only memory and log are left out.

mod answer;

use castellan_agents::question_event;
use castellan_daemon::{Config, FileSystem, facts_of, own_paths};
use castellan_event::{Mode, Recorder, Session, Verdict};
use castellan_policy::{RequestId, State, drive};

use crate::asked_call::AskedCall;
use crate::exit::Exit;
use crate::global::Global;
use crate::policy;
use answer::Answered;

/// Options of `castellan check`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    call: AskedCall,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let layout = global.layout()?;
    let config = Config::read(&layout.config_file())?;
    let call = options.call.call()?;
    let loaded = policy::load(&layout, &config)?;
    // What the rules say is asked, so the mode is not applied; the answer names it.
    let session = Session::default();
    let state = State {
        mode: Mode::Enforce,
        agent_asks: castellan_agents::can_ask(options.call.agent, question_event(options.call.agent)),
        next_request: RequestId::from_seed(0),
        session: &session,
    };
    let machine = FileSystem::default();
    let mut world = Recorder::new(&machine);
    let facts = facts_of(&call, &own_paths(&layout), &mut world);
    let (decision, change) = drive(&call, &facts, &loaded.policy, &state, &mut world);
    let answers = world.into_answers();
    let daemon = global.client()?.status().ok();
    let answered = Answered {
        agent: options.call.agent,
        call: &call,
        decision: &decision,
        marks: &change.marks,
        answers: &answers,
        loaded: &loaded,
        mode: daemon.as_ref().and_then(|status| status.mode.parse().ok()).unwrap_or(config.mode),
        daemon_policy: daemon.map(|status| status.policy),
    };
    let mut out = anstream::stdout();
    if options.json {
        answered.write_json(&mut out)?
    } else {
        answered.write(&mut out, global)?
    }
    Ok(match decision.verdict {
        Verdict::Deny => Exit::Deny,
        Verdict::Ask => Exit::Ask,
        Verdict::Allow | Verdict::Defer => Exit::Done,
    })
}
