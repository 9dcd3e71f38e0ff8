//! Content of a code file when a command reads it: written by the call, existing before, or unknown with a reason.

use castellan_event::Why;
use castellan_programs::Arg;
use castellan_shell::Stdin;

use super::known;
use crate::next::Place;
use crate::overlay::Way;
use crate::owner;
use crate::path;
use crate::scene::Scene;
use crate::scripts;

/// Paths by which a process opens its standard input again.
const STANDARD_INPUT: &[&str] = &["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];

/// Returns the possible texts of a file when the command reads it. `is_kept`: the reading tool does not change the file
/// itself, so it can be compared after the call.
pub(super) fn held(
    file: &Arg,
    place: &Place,
    is_kept: bool,
    scene: &mut Scene<'_, '_, '_>,
) -> Vec<Result<String, Why>> {
    let path = known(file).ok().filter(|_| place.run.remote.is_empty());
    let Some(path) = path.and_then(|path| path::collapse(place.cwd.as_deref(), &path)) else {
        return vec![Err(file.why().unwrap_or(Why::File))];
    };
    let made: Vec<_> =
        place.run.made.iter().filter(|(one, _)| **one == *path).map(|(_, text)| known(text)).collect();
    if path::is_stream(&path) {
        return match &place.run.stdin {
            _ if !made.is_empty() => made,
            _ if path == "/dev/null" => vec![Ok(String::new())],
            Stdin::File(input) if STANDARD_INPUT.contains(&&*path) && input != file => {
                held(input, place, is_kept, scene)
            }
            Stdin::Inherited | Stdin::Text(_) | Stdin::File(_) => vec![Err(Why::Input)],
        };
    }
    let real = path::locate(&Arg::known(path.as_str()), None, &scene.session.places, scene.world).path;
    let is_named = !made.is_empty();
    let made = match real.as_deref().filter(|_| !is_named && is_kept) {
        Some(real) => written(&path, real, scene),
        None => made,
    };
    let is_followed = !made.is_empty();
    let changed = real.as_deref().is_some_and(|real| {
        let changed = match (is_kept, is_followed) {
            (true, true) => scene.overlay.has_changed(real),
            (true, false) => scene.overlay.has_written(real),
            (false, _) => scene.overlay.has_named(real) || scene.overlay.has_strange(real),
        };
        changed || scene.overlay.follow(real, true) != Way::Same
    });
    if changed {
        if let Some(real) = real.as_ref().filter(|_| is_kept) {
            scripts::runs(real, &path, true, scene);
        }
        return vec![Err(Why::Shadowed)];
    }
    let texts = if is_followed {
        made
    } else {
        let text = scripts::text(&path, scene).map(|text| text.to_string());
        vec![text.map_err(|why| {
            if why != Why::Unresolved {
                why
            } else if scene.overlay.has_written_above(&path) {
                // The command that creates a directory also creates the files in it.
                Why::Shadowed
            } else {
                owner::why_missing(&path, scene)
            }
        })]
    };
    if let Some(real) = real.filter(|_| is_kept && texts.iter().all(Result::is_ok)) {
        scripts::runs(&real, &path, is_followed, scene);
        scene.files.read.insert(real);
    }
    texts
}

/// Returns the possible texts of a file that the shell text wrote once and that no command names: tools load it by its
/// fixed name. The command that writes it may not have run, so the text before is possible, too.
fn written(path: &str, real: &str, scene: &mut Scene<'_, '_, '_>) -> Vec<Result<String, Why>> {
    let mut texts = scene.files.texts.iter().filter(|(one, _)| **one == *path).map(|(_, text)| text.clone());
    let (Some(text), None) = (texts.next(), texts.next()) else { return Vec::new() };
    if text.as_str().is_none() || !scene.overlay.has_written(real) || scene.overlay.has_changed(real) {
        return Vec::new();
    }
    let before = scripts::data(path, scene).map(|text| text.to_string()).ok();
    [known(&text)].into_iter().chain(before.map(Ok)).collect()
}
