//! Build files of the project that nobody changed, and the files of the session that they load: `include(notes.txt)`. Must
//! not know the languages of build files.

use std::collections::BTreeSet;

use castellan_event::{Answer, Query, Role, Why};
use castellan_programs::{Arg, Invocation};

use super::fixed::{above, below};
use super::is_loading;
use super::loaders::Pattern;
use super::there::{is_file, is_of_session};
use crate::builds::{self, Source};
use crate::limits::{BYTES_PER_WORK, LOOKED_DIRECTORIES_MAX, WORK_OF_PATH};
use crate::next::From;
use crate::path;
use crate::sink::Sink;

/// Programs, and the files with which they begin.
const ROOTS: &[(&[&str], &[Pattern])] = &[
    (&["cmake", "ctest"], &[("CMakeLists.txt", "cmake")]),
    (&["ninja", "samu"], &[("build.ninja", "ninja")]),
    (
        &["gradle", "gradlew"],
        &[
            ("build.gradle", "gradle"),
            ("build.gradle.kts", "gradle"),
            ("settings.gradle", "gradle"),
            ("settings.gradle.kts", "gradle"),
        ],
    ),
    (
        &["nix", "nix-build", "nix-shell"],
        &[("default.nix", "nix-file"), ("flake.nix", "nix-file"), ("shell.nix", "nix-file")],
    ),
    (&["dotnet", "msbuild"], &[("Directory.Build.props", "msbuild"), ("Directory.Build.targets", "msbuild")]),
    (&["mvn", "mvnd", "mvnw"], &[("pom.xml", "maven")]),
];

/// Returns the programs that begin with such a file.
pub(super) fn programs() -> impl Iterator<Item = &'static [&'static str]> {
    ROOTS.iter().map(|(programs, _)| *programs)
}

/// Adds the session's files that build files of the project load in turn.
pub(super) fn add(read: &Invocation, name: &str, sink: &mut Sink<'_, '_, '_, '_>) {
    let Some(cwd) = sink.cwd.clone().filter(|_| sink.scene.has_changes()) else { return };
    let rows = ROOTS.iter().filter(|row| is_loading(row.0, &[], name, read)).flat_map(|row| row.1);
    let directories = above(&cwd, &sink.scene.session.setting.workspace);
    let mut open: Vec<(String, &'static str)> = rows
        .flat_map(|(file, language)| directories.iter().map(|directory| (below(directory, file), *language)))
        .collect();
    let roots: BTreeSet<String> = open.iter().map(|(file, _)| file.clone()).collect();
    let mut seen = BTreeSet::new();
    while let Some((file, language)) = open.pop() {
        if seen.contains(&file) || !sink.spend(WORK_OF_PATH) || !is_file(&file, sink) {
            continue;
        }
        if seen.len() == LOOKED_DIRECTORIES_MAX {
            return sink.opaque(Role::Code, Why::Budget, name);
        }
        seen.insert(file.clone());
        if is_of_session(&file, sink) {
            // The tables of other modules name the first files.
            if !roots.contains(&file) {
                sink.program(language, From::File(Arg::known(file)));
            }
            continue;
        }
        let Some(Answer::Contents(Some(bytes))) =
            sink.scene.world.ask(Query::Contents { path: file.clone() })
        else {
            continue;
        };
        if !sink.spend((bytes.len() / BYTES_PER_WORK) as u64) {
            return;
        }
        let directory = file.rsplit_once('/').map(|(directory, _)| directory);
        let found = builds::read(language, &String::from_utf8_lossy(&bytes), directory);
        open.extend(found.sources.into_iter().filter_map(|source| match source {
            Source::File(name) => Some((path::collapse(directory, &name)?, language)),
            Source::Address(..) | Source::Registry(_) => None,
        }));
    }
}
