//! Files of the session that a tool may load and that castellan did not read. A tool finds its configuration in more
//! ways than the tables list, so a call that runs a tool is only understood if no such file is left. Must not know who
//! loads which file.

use std::collections::BTreeSet;

use castellan_programs::Invocation;

use super::inert::is_inert;
use super::{LOADERS, fixed, is_loading, is_of, sources};
use crate::limits::UNREAD_FILES_MAX;
use crate::scene::Scene;
use crate::sink::Sink;

/// Other programs that load code of the project as plugins or tests, and its language.
const OTHERS: &[(&[&str], &str)] = &[
    (&["bandit", "django-admin", "flake8", "locust", "mutmut", "mypy", "pylint"], "python"),
    (
        &["detox", "expo", "hardhat", "newman", "ng", "protractor", "react-scripts", "tsd", "wtr"],
        "javascript",
    ),
    (&["cucumber", "rails", "rubocop", "standardrb"], "ruby"),
    (&["behat", "codecept", "phan", "php-cs-fixer", "phpcs", "phpstan", "psalm", "rector"], "php"),
];

/// Stores the languages of the files that a program of the call may load.
pub(super) fn add(name: &str, read: &Invocation, sink: &mut Sink<'_, '_, '_, '_>) {
    let rows = LOADERS.iter().filter(|loader| is_of(loader, name, read));
    let patterns = rows.flat_map(|(_, _, patterns)| patterns.iter().copied().flatten());
    let others = OTHERS.iter().filter(|(programs, _)| is_loading(programs, &[], name, read));
    let found: Vec<&'static str> = patterns
        .map(|(_, language)| *language)
        .chain(fixed::languages(read, name))
        .chain(sources::languages(read, name))
        .chain(others.map(|(_, language)| *language))
        .collect();
    sink.scene.files.loads.extend(found);
}

/// Returns the files that the session left in the workspace and that castellan did not read. Empty if no tool of the
/// call loads files.
pub(crate) fn all(scene: &mut Scene<'_, '_, '_>) -> BTreeSet<String> {
    if scene.files.loads.is_empty() {
        return BTreeSet::new();
    }
    let workspace = scene.session.setting.workspace.clone();
    let known = scene.files.known.values().filter(|known| known.text.is_ok()).map(|known| known.path.clone());
    let read: BTreeSet<String> = known.chain(scene.files.read.iter().cloned()).collect();
    let loads = &scene.files.loads;
    let is_unread = |path: &str| match sources::language_of(path) {
        Some((language, is_read)) => loads.contains(language) && !(is_read && read.contains(path)),
        // A file of any name that was read as a source may be settings.
        None => !is_inert(path) && (!read.contains(path) || scene.files.sources.contains(path)),
    };
    // A pattern does not show which files changed; commands that change many files at once format or compile them.
    let open =
        scene.written_where(&workspace, |path| !path.contains(['*', '?', '[', '{']) && is_unread(path));
    if scene.session.setting.written_is_full || open.len() > UNREAD_FILES_MAX {
        return BTreeSet::from([workspace]);
    }
    open.into_iter().filter(|path| scene.has_file(path)).collect()
}
