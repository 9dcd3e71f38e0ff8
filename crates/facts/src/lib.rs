//! L3: what a call would do. Commands and tool inputs become effects: on paths, hosts, packages, databases, processes. It
//! reads the world only through the [`Recorder`] that it is given, and knows no rule and no verdict.
//!
//! `scene` is what effects are found with. `command` turns one command into effects by its program's model: `slots` by what
//! each argument is for, `rows` by what the model says besides, `handlers` by code where a table cannot say it, `told` by words alone.

mod analyse;
mod code;
mod command;
mod declared;
mod environment;
mod given;
mod guard;
mod handlers;
mod limits;
mod loaded;
mod mcp;
mod memo;
mod missing;
mod names;
mod overlay;
mod own_scripts;
pub mod path;
mod recipes;
mod redirect;
mod rows;
mod scene;
pub mod scope;
mod scripts;
mod secrets;
mod sink;
mod slots;
mod snapshot;
mod sql;
mod told;
mod tools;
mod trees;
pub mod url;
mod written;

use std::collections::BTreeSet;
use std::sync::Arc;

pub use command::is_version_control;
pub use slots::keeps_code;
pub use trees::{ANYWHERE_MARK, TREE_MARK, changes_tree, may_be_written};

use castellan_event::{Call, Facts, Recorder};
use castellan_shell::Found;

use crate::scene::Scene;

/// What the analysis is told of the session.
#[derive(Debug, Clone, Default)]
pub struct Setting {
    /// The workspace's directory, absolute, symlinks resolved.
    pub workspace: String,
    /// Directories and files of castellan itself, as they are called and as they lie.
    pub own: Vec<String>,
    /// Paths that earlier calls of the session wrote, symlinks resolved.
    pub written: Arc<BTreeSet<String>>,
    /// Those of them that came from the network.
    pub downloaded: Arc<BTreeSet<String>>,
    /// There were more: any path may be one of them.
    pub written_is_full: bool,
    /// Paths that calls may be changing that run now.
    pub changing: BTreeSet<String>,
}

/// The work that an analysis took. A call costs the same on every machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spent {
    /// Units for shell text and the effects of commands, of about 200 ns each.
    pub text: u64,
    /// Units for programs in other languages.
    pub programs: u64,
}

/// Finds the commands and effects of a call. Never fails: a part that is not understood is an effect of kind `opaque`.
pub fn analyse(call: &Call, setting: &Setting, world: &mut Recorder<'_>) -> Facts {
    analyse_counted(call, setting, world).0
}

/// Analyses a call as [`analyse`] does, and counts the work.
pub fn analyse_counted(call: &Call, setting: &Setting, world: &mut Recorder<'_>) -> (Facts, Spent) {
    let mut facts = Facts::default();
    let mut scene = Scene::new(call, setting, world);
    let made = analyse::texts(call, &mut scene, &mut facts);
    scene.allow_tool();
    tools::effects(call, &mut scene, &mut facts);
    missing::settle(&scene, &mut facts);
    facts.scripts = scripts::all(&made, &scene);
    facts.own_scripts = own_scripts::of(&facts, &mut scene);
    facts.changed_trees = trees::changed(&mut scene);
    written::add(call, &made, &mut scene, &mut facts);
    (facts, scene.spent())
}

/// What a call does whose shell text was already looked through.
pub fn effects_of(found: &Found, call: &Call, setting: &Setting, world: &mut Recorder<'_>) -> Facts {
    let mut facts = Facts::default();
    let mut scene = Scene::new(call, setting, world);
    analyse::found(found, &mut scene, &mut facts);
    tools::effects(call, &mut scene, &mut facts);
    facts
}
