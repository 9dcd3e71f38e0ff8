//! Effects of the files with code that the call writes. Each file is analysed as if it ran after the call; the result
//! is separate from the effects of the call. This module must not know languages.

mod change;
mod ways;

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use castellan_event::{Call, Change, Effect, EffectKind, Facts, FileOrigin, Role, ScriptId, Why, sha256_hex};
use castellan_programs::{Arg, Piece};

use crate::limits::{WRITTEN_MAX, WRITTEN_TASKS_MAX};
use crate::overlay::Overlay;
use crate::scene::{Known, Scene};
use crate::scripts;
use crate::walk::UNKNOWN;
use crate::{driver, path, walk};
use ways::Way;

/// A file that the call writes.
#[derive(Debug)]
struct New {
    /// The absolute path.
    path: String,
    /// The real path.
    real: String,
    /// The contents after the call.
    text: Result<Rc<str>, Why>,
    /// Why a part of the contents is unknown; the variable [`UNKNOWN`] replaces that part.
    hole: Option<Why>,
    /// Index of the file in the call, if the tool itself writes the file.
    file: Option<usize>,
}

/// Adds the effects of the files that the call writes. `made`: the texts that the shell text writes into files. This
/// must be the last analysis of the call, since it clears the call's changes.
pub(crate) fn add(call: &Call, made: &[(Rc<str>, Arg)], scene: &mut Scene<'_, '_, '_>, facts: &mut Facts) {
    let mut files = of_tool(call, scene);
    files.extend(of_text(made, scene, facts));
    files.extend(unknown(&files, facts));
    let executable: Vec<&str> = of_kind(facts, EffectKind::Permission).collect();
    let mut scripts: Vec<(New, Vec<Way>, Known)> = Vec::new();
    for file in files {
        let is_executable = executable.contains(&file.real.as_str());
        let ways = ways::ways_to_run(&file.path, file.text.as_deref().ok(), is_executable);
        if !ways.is_empty() {
            let known = known(&file, scene);
            scripts.push((file, ways, known));
        }
    }
    if scripts.is_empty() {
        return;
    }
    // The call's changes are complete, and nothing is changing any more.
    scene.overlay = Overlay::default();
    scene.budget.is_over_told = false;
    for (file, _, known) in &scripts {
        scene.files.known.insert(file.path.clone(), known.clone());
        scene.files.writing.insert(file.path.clone());
    }
    let cwd = Some(call.agent.cwd.clone()).filter(|cwd| !cwd.is_empty());
    for (number, (file, ways, known)) in scripts.iter().enumerate() {
        let before = facts.written.effects.len();
        match (&known.text, number < WRITTEN_MAX) {
            (Ok(_), true) => {
                scene.files.known.insert(file.path.clone(), known.clone());
                let looked_at = ways.iter().take(WRITTEN_TASKS_MAX);
                looked_at.for_each(|way| run(way, known, cwd.as_deref(), scene, facts));
                let is_over = ways.len() > WRITTEN_TASKS_MAX;
                facts.written.effects.extend(is_over.then(|| opaque(Why::Budget, known)));
                facts.written.effects.extend(file.hole.map(|why| opaque(why, known)));
            }
            (Ok(_), false) => facts.written.effects.push(opaque(Why::Budget, known)),
            (Err(why), _) => facts.written.effects.push(opaque(*why, known)),
        }
        let own = facts.written.effects.get_mut(before..).unwrap_or_default();
        own.iter_mut().for_each(|effect| effect.file = file.file);
    }
}

/// The files that a tool writes and whose contents follow from its input.
fn of_tool(call: &Call, scene: &mut Scene<'_, '_, '_>) -> Vec<New> {
    let mut new = Vec::new();
    for (at, file) in call.files.iter().enumerate() {
        let absolute = |path: &str| path::collapse(Some(&call.agent.cwd), path);
        let Some(path) = absolute(&file.path) else { continue };
        let text = match &file.change {
            Change::Unsaid => continue,
            Change::Whole(text) => Ok(text.as_str().into()),
            Change::Edited { .. } if !ways::may_be(&path) => continue,
            Change::Edited { of, replacements } => {
                let before = absolute(of).map_or(Err(Why::File), |path| scripts::data(&path, scene));
                change::edited(before, replacements)
            }
        };
        if let Some(real) = real(&path, scene) {
            new.push(New { path, real, text, hole: None, file: Some(at) });
        }
    }
    new
}

/// The files that the shell text writes, as far as the walk follows it.
fn of_text(made: &[(Rc<str>, Arg)], scene: &mut Scene<'_, '_, '_>, facts: &Facts) -> Vec<New> {
    let mut new = Vec::new();
    for (path, text) in made {
        let Some(real) = real(path, scene).filter(|real| is_left(real, facts)) else { continue };
        let is_changed = scene.overlay.has_changed(&real);
        let hole = text.why().filter(|_| !is_changed);
        let text = if is_changed { Err(Why::File) } else { with_holes(text) };
        new.push(New { path: path.to_string(), real, text, hole, file: None });
    }
    new
}

/// The text with a variable for each unknown part. An error if nothing is known.
fn with_holes(text: &Arg) -> Result<Rc<str>, Why> {
    let is_text = |piece: &Piece| matches!(piece, Piece::Text(_));
    if let Some(why) = text.why().filter(|_| !text.pieces().iter().any(is_text)) {
        return Err(why);
    }
    let parts = text.pieces().iter().map(|piece| match piece {
        Piece::Text(text) => text.clone(),
        Piece::Unknown { .. } => format!("${{{UNKNOWN}}}"),
    });
    Ok(parts.collect::<String>().into())
}

/// Files that hold code by their names and have unknown contents.
fn unknown(files: &[New], facts: &Facts) -> Vec<New> {
    let mut unknown: BTreeMap<&str, Why> = BTreeMap::new();
    let is_here = |effect: &Effect| {
        let command = effect.command.and_then(|at| facts.commands.get(at));
        command.is_none_or(|command| command.remote.is_none())
    };
    let writes = facts.effects.iter().filter(|effect| effect.kind() == EffectKind::Write && is_here(effect));
    for effect in writes {
        let Some(real) = effect.path().filter(|real| ways::is_named(real)) else { continue };
        if files.iter().all(|file| file.real != real) && is_left(real, facts) {
            let is_fetched = effect.file_origin() == Some(FileOrigin::Downloaded);
            unknown.insert(real, if is_fetched { Why::Network } else { Why::File });
        }
    }
    let new = |(real, why): (&str, Why)| New {
        path: real.to_owned(),
        real: real.to_owned(),
        text: Err(why),
        hole: None,
        file: None,
    };
    unknown.into_iter().map(new).collect()
}

/// True if the call does not delete the file after writing it.
fn is_left(real: &str, facts: &Facts) -> bool {
    let last = |kind| {
        let is_it = |effect: &Effect| effect.kind() == kind && effect.path() == Some(real);
        facts.effects.iter().rposition(is_it)
    };
    last(EffectKind::Write) >= last(EffectKind::Delete)
}

fn of_kind(facts: &Facts, kind: EffectKind) -> impl Iterator<Item = &str> {
    facts.effects.iter().filter(move |effect| effect.kind() == kind).filter_map(|effect| effect.path())
}

/// The real path of a file. None for streams, which store nothing.
fn real(path: &str, scene: &mut Scene<'_, '_, '_>) -> Option<String> {
    let real = path::locate(&Arg::known(path), None, &scene.session.places, scene.world).path?;
    (!path::is_stream(&real)).then_some(real)
}

/// The known state of the file when it runs. Written bytes use the same limit as read bytes.
fn known(file: &New, scene: &mut Scene<'_, '_, '_>) -> Known {
    let mut known =
        Known { path: file.real.clone(), sha256: None, text: file.text.clone(), is_of_machine: false };
    if let Ok(text) = &file.text {
        if scene.budget.counts_bytes(text.len()) {
            known.sha256 = Some(sha256_hex(text.as_bytes()));
        } else {
            known.text = Err(Why::Size);
        }
        if text.contains('\0') {
            known.text = Err(Why::Encoding);
        }
    }
    known
}

/// Adds the effects of running a file in one way: the effects of its code, not the effect of starting it.
fn run(way: &Way, file: &Known, cwd: Option<&str>, scene: &mut Scene<'_, '_, '_>, facts: &mut Facts) {
    let start = walk::start_in(way.cwd.as_deref().or(cwd).map(str::to_owned), scene);
    let found = walk::command_line(way.argv.clone(), None, &start, scene);
    let mut done = Facts::default();
    driver::run(found, scene, &mut done);
    let offset = facts.written.commands.len();
    facts.written.commands.append(&mut done.commands);
    let is_of_file =
        |effect: &Effect| effect.script.is_some() || effect.is_opaque() && effect.role() == Some(Role::Code);
    for mut effect in done.effects.into_iter().filter(is_of_file) {
        effect.command = effect.command.map(|at| at + offset);
        effect.script.get_or_insert_with(|| script_of(file));
        facts.written.effects.push(effect);
    }
}

fn script_of(file: &Known) -> Arc<ScriptId> {
    Arc::new(ScriptId { path: file.path.clone(), sha256: file.sha256.clone() })
}

/// Returns the Opaque effect for unknown code.
fn opaque(why: Why, file: &Known) -> Effect {
    let part = Effect::opaque(Role::Code, why, Some(file.path.clone()));
    Effect { script: Some(script_of(file)), ..part }
}
