//! [`Scene`]: what the effects of one call are found with: the session, the world, and what earlier commands of the call
//! have changed.

use castellan_event::{Answer, Call, Process, Query, Recorder};

use crate::Setting;
use crate::names::Names;
use crate::overlay::Overlay;
use crate::path::Places;

pub(crate) struct Scene<'s, 'w, 'r> {
    pub(crate) setting: &'s Setting,
    pub(crate) world: &'r mut Recorder<'w>,
    pub(crate) places: Places,
    pub(crate) names: Names,
    pub(crate) overlay: Overlay,
    /// The agent's process, as far as the world could look at it.
    pub(crate) process: Option<Process>,
}

impl<'s, 'w, 'r> Scene<'s, 'w, 'r> {
    pub(crate) fn new(call: &Call, setting: &'s Setting, world: &'r mut Recorder<'w>) -> Scene<'s, 'w, 'r> {
        let process = match world.ask(Query::Process { pid: call.agent.pid }) {
            Some(Answer::Process(process)) => process,
            _ => None,
        };
        let places = Places::new(process.as_ref(), setting);
        let names = Names::new(process.as_ref());
        Scene { setting, world, places, names, overlay: Overlay::default(), process }
    }
}
