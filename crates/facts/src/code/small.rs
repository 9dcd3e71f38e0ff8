//! Shell text, database statements, settings, and code in the little languages of programs.

use std::vec::IntoIter;

use castellan_event::Why;
use castellan_programs::{Arg, Does};

use super::effects::{opaque, with_programs};
use super::{commands, configured, known, lifted, started};
use crate::builds::{self, Rest};
use crate::language::{SHELL, SQL};
use crate::next::{Next, Place, Progress};
use crate::scene::Scene;
use crate::{little, loaded, owner, settings, sql, walk};

/// Adds the effects of a text in such a language.
pub(super) fn add(
    language: &str,
    text: &str,
    place: &Place,
    scene: &mut Scene<'_, '_, '_>,
    progress: &mut Progress,
) {
    if language == SHELL {
        return walked(text, place, scene, progress);
    }
    if settings::is_one(language) {
        return configured::add(language, text, place, scene, progress);
    }
    if builds::is_one(language) {
        return built(language, text, place, scene, progress);
    }
    if lifted::is_one(language) {
        return match lifted::shell(language, text) {
            Ok(commands) => walked(&commands, place, scene, progress),
            Err(why) => opaque(place, (why, language), scene, &mut progress.facts),
        };
    }
    if let Some(system) = language.strip_prefix(SQL) {
        let text = Arg::known(text);
        return with_programs(place, scene, progress, |sink| sql::effects(system, &text, sink));
    }
    if let Some(found) = castellan_programs::code(language, &Arg::known(text)) {
        does(language.to_owned(), found.into_iter(), place.clone(), scene, progress);
    }
}

/// Adds the effects of code in a little language, up to the first that leaves work.
pub(crate) fn does(
    language: String,
    mut found: IntoIter<Does>,
    place: Place,
    scene: &mut Scene<'_, '_, '_>,
    progress: &mut Progress,
) {
    let before = progress.next.len();
    while let Some(one) = found.next() {
        match one {
            Does::Shell(text) => shell(&text, &place, scene, progress),
            Does::Read(_) | Does::Write(_) | Does::Execute(_) | Does::Unknown { .. } => {
                with_programs(&place, scene, progress, |sink| little::does(&language, one, sink));
            }
        }
        if progress.next.len() > before {
            return progress.next.push(Next::Does(language, found, place));
        }
    }
}

/// Walks shell text that a program at this place runs.
pub(crate) fn shell(text: &Arg, place: &Place, scene: &mut Scene<'_, '_, '_>, progress: &mut Progress) {
    match known(text) {
        Ok(text) => walked(&text, place, scene, progress),
        Err(why) => opaque(place, (why, &text.written()), scene, &mut progress.facts),
    }
}

/// Adds the commands of a build file. The rest of a file that may do more is Opaque.
fn built(language: &str, text: &str, place: &Place, scene: &mut Scene<'_, '_, '_>, progress: &mut Progress) {
    let directory =
        place.file.as_deref().and_then(|file| file.rsplit_once('/')).map(|(directory, _)| directory);
    let found = builds::read(language, text, directory);
    // Code without a word that starts or deletes something only describes the build.
    let is_plain = owner::is_plain(text);
    let rest = Place {
        file: place.file.clone().filter(|_| is_plain || found.rest != Rest::Script),
        ..place.clone()
    };
    match found.rest {
        Rest::Nothing => {}
        Rest::Code if is_plain => {}
        Rest::Code | Rest::Script => opaque(&rest, (Why::Language, language), scene, &mut progress.facts),
        Rest::Over => opaque(&rest, (Why::Budget, language), scene, &mut progress.facts),
    }
    with_programs(place, scene, progress, |sink| {
        let file = place.file.as_deref();
        found
            .sources
            .into_iter()
            .for_each(|one| loaded::starts::source((language, place.command), one, file, sink));
    });
    let mut start = started(place, None, &[], scene);
    start.cwd = directory.map(str::to_owned).or(start.cwd);
    start.input = Some(Arg::unknown(Why::Input, "", false));
    let mut walked = walk::text(&found.shell, &start, scene);
    walked.items.iter_mut().for_each(walk::unquoted);
    commands(walked, place, progress);
}

fn walked(text: &str, place: &Place, scene: &mut Scene<'_, '_, '_>, progress: &mut Progress) {
    let mut start = started(place, None, &[], scene);
    // The shell may read output of the program, or the rest of the program's input.
    start.input = Some(Arg::unknown(Why::Input, "", false));
    let found = walk::text(text, &start, scene);
    commands(found, place, progress);
}
