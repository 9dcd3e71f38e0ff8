//! `castellan explain`: what one call would do, as the rules see it: commands and their effects, what was not understood, and
//! which rules fired on what.

mod tree;

use castellan_agents::question_event;
use castellan_daemon::{Config, FileSystem, facts_of, own_paths};
use castellan_event::{Mode, Recorder, Session, rows};
use castellan_policy::{RequestId, State, drive};

use crate::asked_call::AskedCall;
use crate::exit::Exit;
use crate::global::Global;
use crate::policy;
use tree::Explained;

/// Options of `castellan explain`.
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
    let machine = FileSystem::default();
    let mut world = Recorder::new(&machine);
    let facts = facts_of(&call, &own_paths(&layout), &mut world);
    let session = Session::default();
    let state = State {
        mode: Mode::Enforce,
        agent_asks: castellan_agents::can_ask(options.call.agent, question_event(options.call.agent)),
        next_request: RequestId::from_seed(0),
        session: &session,
    };
    let (decision, _) = drive(&call, &facts, &loaded.policy, &state, &mut world);
    // A decision that could not be completed has asked for what cannot be answered: there are no rows then.
    let rows = rows(&call, &facts, &session, world.answers()).unwrap_or_default();
    let explained = Explained { call: &call, facts: &facts, rows: &rows, decision: &decision };
    let mut out = anstream::stdout();
    if options.json {
        explained.write_json(&mut out)?;
    } else {
        explained.write(&mut out)?;
    }
    Ok(Exit::Done)
}
