//! Files with code: their contents, and whether the call changes them before it runs them. This module must not know
//! languages.

use std::rc::Rc;

use castellan_event::{Answer, Effect, Facts, FileKind, Query, Role, Scope, ScriptFile, Why, sha256_hex};
use castellan_programs::Arg;
use castellan_shell::Script;

use crate::overlay::Way;
use crate::path;
use crate::scene::{Known, Scene};

/// Magic numbers of machine programs: ELF, Mach-O in both byte orders and for several machines, PE.
const MACHINE: &[&[u8]] =
    &[b"\x7fELF", b"\xfe\xed\xfa", b"\xce\xfa\xed\xfe", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"MZ"];

/// Returns the text of the file at this absolute path, which runs or is loaded.
pub(crate) fn text(path: &str, scene: &mut Scene<'_, '_, '_>) -> Result<Rc<str>, Why> {
    let text = data(path, scene);
    let real = scene.files.known.get(path).map(|known| known.path.clone());
    real.iter().map(String::as_str).chain([path]).for_each(|path| scene.meet_contained(path));
    text
}

/// Returns the text of the file at this absolute path, which neither runs nor is loaded as code.
pub(crate) fn data(path: &str, scene: &mut Scene<'_, '_, '_>) -> Result<Rc<str>, Why> {
    if let Some(known) = scene.files.known.get(path) {
        return known.text.clone();
    }
    let located = path::locate(&Arg::known(path), None, &scene.session.places, scene.world);
    let mut known =
        Known { path: path.to_owned(), sha256: None, text: Err(Why::Unreadable), is_of_machine: false };
    if let Some(real) = located.path {
        // Findings in a file are reported, also to the agent. The agent may not be allowed to read this file.
        let is_secret = matches!(located.scope, Some(Scope::Secret | Scope::Castellan));
        let bytes = if is_secret { Err(Why::File) } else { look(&real, scene) };
        known.sha256 = bytes.as_ref().ok().map(sha256_hex);
        known.is_of_machine =
            bytes.as_ref().is_ok_and(|bytes| MACHINE.iter().any(|begin| bytes.starts_with(begin)));
        known.text = bytes.and_then(code);
        known.path = real;
    }
    let text = known.text.clone();
    scene.files.known.insert(path.to_owned(), known);
    text
}

/// True if a file is neither text nor machine code. When run by its path, such a file goes to an interpreter.
pub(crate) fn is_strange_script(path: &str, scene: &mut Scene<'_, '_, '_>) -> bool {
    let is_text = text(path, scene) != Err(Why::Encoding);
    !is_text && scene.files.known.get(path).is_none_or(|known| !known.is_of_machine)
}

/// Returns the text of a file that no earlier command of the call has changed.
pub(crate) fn unchanged(path: &str, scene: &mut Scene<'_, '_, '_>) -> Result<Rc<str>, Why> {
    let real = path::locate(&Arg::known(path), None, &scene.session.places, scene.world).path;
    let is_changed = real
        .as_deref()
        .is_some_and(|real| scene.overlay.has_written(real) || scene.overlay.follow(real, true) != Way::Same);
    let text = if is_changed { Err(Why::Shadowed) } else { text(path, scene) };
    if let Some(real) = real {
        runs(&real, path, is_changed, scene);
    }
    text.map_err(|why| if why == Why::Unresolved { Why::File } else { why })
}

/// Records that a file runs. `path`: the path of the query. `is_made`: the call itself made the contents that run.
pub(crate) fn runs(real: &str, path: &str, is_made: bool, scene: &mut Scene<'_, '_, '_>) {
    let sha256 = scene.files.known.get(path).filter(|_| !is_made).and_then(|known| known.sha256.clone());
    if sha256.is_some() || is_made {
        scene.files.ran.insert(real.to_owned(), sha256);
    }
}

/// Returns every file that has run. `made`: the texts that the call writes into files, which are the final contents.
pub(crate) fn all(made: &[(Rc<str>, Arg)], scene: &Scene<'_, '_, '_>) -> Vec<ScriptFile> {
    let in_the_end = |path: &str| {
        let mut texts = made.iter().filter(|(one, _)| **one == *path).map(|(_, text)| text.as_str());
        let only = texts.next().flatten().filter(|_| texts.next().is_none());
        only.filter(|_| !scene.overlay.has_changed(path)).map(|text| sha256_hex(text.as_bytes()))
    };
    let each = scene.files.ran.iter().map(|(path, sha256)| ScriptFile {
        path: path.clone(),
        sha256: sha256.clone().or_else(|| in_the_end(path)),
        is_written: scene.overlay.has_written(path),
    });
    each.collect()
}

/// Reads the bytes of a file that no running call is changing.
fn look(real: &str, scene: &mut Scene<'_, '_, '_>) -> Result<Vec<u8>, Why> {
    if scene.session.is_changing(real) {
        return Err(Why::Changing);
    }
    match scene.world.ask(Query::FileKind { path: real.to_owned() }) {
        Some(Answer::FileKind(FileKind::File)) => {}
        Some(Answer::FileKind(FileKind::Missing)) => return Err(Why::Unresolved),
        Some(Answer::FileKind(FileKind::Directory)) => return Err(Why::File),
        Some(Answer::FileKind(FileKind::Device | FileKind::Fifo | FileKind::Socket)) => {
            return Err(Why::Input);
        }
        _ => return Err(Why::Unreadable),
    }
    let Some(Answer::Contents(Some(bytes))) = scene.world.ask(Query::Contents { path: real.to_owned() })
    else {
        return Err(Why::Unreadable);
    };
    if scene.budget.counts_bytes(bytes.len()) { Ok(bytes) } else { Err(Why::Size) }
}

/// Converts bytes to text. Bytes that no shell accepts as text (a program, data) are an error.
fn code(bytes: Vec<u8>) -> Result<Rc<str>, Why> {
    let text = String::from_utf8(bytes).map_err(|_| Why::Encoding)?;
    if text.contains('\0') { Err(Why::Encoding) } else { Ok(text.into()) }
}

/// Records that a file is run. If the call itself changes the file first, castellan has read another text than runs.
pub(crate) fn checked(script: &Script, scene: &mut Scene<'_, '_, '_>, facts: &mut Facts) {
    let located = path::locate(&Arg::known(&*script.path), None, &scene.session.places, scene.world);
    let Some(real) = located.path else { return };
    let changed =
        if script.is_made { scene.overlay.has_changed(&real) } else { scene.overlay.has_written(&real) };
    let changed = changed || scene.overlay.follow(&real, true) != Way::Same;
    runs(&real, &script.path, changed || script.is_made, scene);
    if changed {
        let text = Some(script.path.to_string());
        facts.effects.push(Effect::opaque(Role::Code, Why::Shadowed, text));
    } else {
        scene.files.read.insert(real);
    }
}
