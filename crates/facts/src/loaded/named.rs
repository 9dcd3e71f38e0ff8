//! Files of any name that an option makes the program load as code: `mocha --require x.js`, `cmake -P x.cmake`. A file
//! that the session wrote is read as if run directly, or is unread code. Must not know languages.

use castellan_event::{EffectKind, FileOrigin, Role, Scope, Why};
use castellan_programs::{Arg, Invocation};

use super::fixed;
use super::sources::SOURCES;
use super::there::is_file;
use crate::language::{CARGO, SHELL, TOX, of_files};
use crate::next::From;
use crate::sink::Sink;
use castellan_programs::base_name;

/// Other endings and whole names, with the language.
const OTHERS: &[(&[&str], &str)] = &[
    (&[".bash", ".sh"], SHELL),
    (&[".lua"], "lua"),
    (&[".php"], "php"),
    (&[".pl", ".pm"], "perl"),
    (&["SConstruct", "wscript"], "python"),
    (&[".gemspec", ".rake", "Gemfile", "Rakefile"], "ruby"),
];

/// Programs whose options name build files of any name, and the language of the files.
const OF_PROGRAMS: &[(&[&str], &str)] = &[
    (&["cmake", "ctest"], "cmake"),
    (&["gradle", "gradlew"], "gradle"),
    (&["msbuild"], "msbuild"),
    (&["mvn", "mvnd", "mvnw"], "maven"),
    (&["ninja", "samu"], "ninja"),
    (&["nix", "nix-build", "nix-shell"], "nix-file"),
    (&["tox"], TOX),
];

/// Endings of files that programs load as code, or that name code to load, in languages that castellan does not read.
const UNREAD: &[&str] = &[
    ".bzl",
    ".cfg",
    ".clj",
    ".cmake",
    ".conf",
    ".dll",
    ".dylib",
    ".el",
    ".gradle",
    ".groovy",
    ".ini",
    ".jar",
    ".json",
    ".kts",
    ".ninja",
    ".sbt",
    ".so",
    ".toml",
    ".xml",
    ".yaml",
    ".yml",
    "CMakeLists.txt",
    "rc",
];

/// Adds a file that an option makes its program load, if the session wrote it. Other files are the project's.
pub(crate) fn add(file: &Arg, program: &str, sink: &mut Sink<'_, '_, '_, '_>) {
    if sink.setup.remote || sink.mode.dry {
        return;
    }
    let located = sink.locate(file);
    let Some(path) = located.path else { return };
    let origin = sink.scene.origin_of(&path, located.place);
    if !matches!(origin, Some(FileOrigin::Written | FileOrigin::Downloaded)) {
        return;
    }
    let name = base_name(&path);
    let ends = |(ends, _): &&(&[&str], &'static str)| ends.iter().any(|end| name.ends_with(end));
    if let Some((_, language)) = SOURCES.iter().chain(OTHERS).find(ends) {
        sink.program(language, From::File(file.clone()));
    } else if let Some((_, language)) = OF_PROGRAMS.iter().find(|(programs, _)| programs.contains(&program))
        && is_file(&path, sink)
    {
        sink.program(language, From::File(file.clone()));
    } else if let Some(language) =
        fixed::is_javascript(program).then_some("javascript").or_else(|| of_files(program))
        && !UNREAD.iter().any(|end| name.ends_with(end))
    {
        sink.program(language, From::File(file.clone()));
    } else if located.place != Some(Scope::Workspace) && UNREAD.iter().any(|end| name.ends_with(end)) {
        // In the project, such a file is part of daily builds and tests.
        sink.opaque(Role::Code, Why::File, &path);
    }
}

/// Adds the programs that Cargo settings on its command line name, as text or as a file.
pub(super) fn settings(read: &Invocation, sink: &mut Sink<'_, '_, '_, '_>) {
    let values: Vec<Arg> = read.values("--config").cloned().collect();
    for value in values {
        if value.written().contains('=') {
            sink.program(CARGO, From::Text(value));
        } else {
            sink.path(EffectKind::Execute, &value);
            sink.program(CARGO, From::File(value));
        }
    }
}
