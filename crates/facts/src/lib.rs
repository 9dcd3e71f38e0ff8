//! Layer L3: converts commands and tool inputs into effects on paths, hosts, packages, databases and processes. Reads
//! the world only through the given [`Recorder`]. Must not know rules or verdicts.
//!
//! `texts` walks the call's shell text. `driver` works through the items of the walk: each step adds effects through
//! `sink`, and leaves the programs, tasks and texts that it found as work (`next`). `scene` holds the state of the
//! call.
//!
//! `command` converts one command by the model of its program: `slots` reads each argument by its role, `rows` adds the
//! other rows of the model, `handlers` runs code where a table is not enough, and `told` classifies by the words of a
//! command alone. `code` converts a program in another language, `recipes` a task of a file.

mod builds;
mod changed;
mod code;
mod command;
mod contained;
mod copies;
mod declared;
mod detours;
mod driver;
mod environment;
mod given;
mod guard;
mod handlers;
mod ignored;
mod inherited;
mod language;
mod limits;
mod little;
mod loaded;
mod manifests;
mod mcp;
mod memo;
mod names;
mod next;
mod overlay;
mod owner;
mod packages;
pub mod path;
mod recipes;
mod redirect;
mod remote;
mod rows;
mod scene;
pub mod scope;
mod scripts;
mod secrets;
mod settings;
mod sink;
mod slots;
mod snapshot;
mod sql;
mod targets;
mod texts;
mod told;
mod tools;
pub mod url;
mod walk;
mod written;
mod yaml;

use std::collections::BTreeSet;
use std::sync::Arc;

pub use changed::{ChangedPath, may_be_anywhere, may_be_written, names};
pub use command::is_version_control;
pub use contained::ContainedMarks;
pub use owner::{changes_tree, keeps_code, sets_remote};
pub use redirect::REDIRECT;

use castellan_event::{Call, Facts, Recorder};
use castellan_shell::Found;

use crate::scene::Scene;

/// The session's data for the analysis.
#[derive(Debug, Clone, Default)]
pub struct Setting {
    /// The workspace's directory, absolute, symlinks resolved.
    pub workspace: String,
    /// Directories and files of castellan itself, as configured and with symlinks resolved.
    pub own: Vec<String>,
    /// Paths that earlier calls of the session wrote, symlinks resolved.
    pub written: Arc<BTreeSet<String>>,
    /// The paths in `written` whose content came from the network.
    pub downloaded: Arc<BTreeSet<String>>,
    /// Files that hold what earlier calls read from a secret.
    pub secret_copies: Arc<BTreeSet<String>>,
    /// An earlier call of the session opened a tunnel: an address of this machine may lead to another one.
    pub has_tunnel: bool,
    /// Files that contained commands of any session wrote and nobody has read, symlinks resolved.
    pub contained: Arc<BTreeSet<String>>,
    /// The session wrote more paths than these: any path may be one of them.
    pub written_is_full: bool,
    /// Paths that concurrently running calls may be changing.
    pub changing: BTreeSet<String>,
}

/// The work of an analysis. The same call costs the same on every machine.
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

/// Analyses a call like [`analyse`], and returns the work.
pub fn analyse_counted(call: &Call, setting: &Setting, world: &mut Recorder<'_>) -> (Facts, Spent) {
    let mut facts = Facts::default();
    let mut scene = Scene::new(call, setting, world);
    let mut made = Vec::new();
    for mut found in texts::walked(call, &mut scene, &mut facts) {
        made.append(&mut found.written);
        scene.files.texts.clone_from(&made);
        driver::run(found, &mut scene, &mut facts);
    }
    scene.budget.allow_tool();
    tools::effects(call, &mut scene, &mut facts);
    copies::report_rest(&mut scene, &mut facts);
    contained::report(&mut scene, &mut facts);
    owner::settle(&scene, &mut facts);
    detours::settle(&scene, &mut facts);
    facts.scripts = scripts::all(&made, &scene);
    (facts.own_scripts, facts.session_scripts) = owner::owned_opaque_files(&facts, &mut scene);
    facts.unread = loaded::unread::all(&mut scene);
    facts.unread.append(&mut scene.unread);
    facts.changed_trees = owner::changed_trees(&mut scene);
    facts.secret_copies = std::mem::take(&mut scene.copies);
    facts.contained_copies = contained::of_call(&mut scene, &facts, is_version_control);
    facts.opens_tunnel = scene.has_tunnel && !setting.has_tunnel;
    written::add(call, &made, &mut scene, &mut facts);
    (facts, scene.budget.spent())
}

/// Returns the effects of a call whose shell text was already walked.
pub fn effects_of(found: &Found, call: &Call, setting: &Setting, world: &mut Recorder<'_>) -> Facts {
    let mut facts = Facts::default();
    let mut scene = Scene::new(call, setting, world);
    driver::run(found.clone(), &mut scene, &mut facts);
    tools::effects(call, &mut scene, &mut facts);
    facts
}
