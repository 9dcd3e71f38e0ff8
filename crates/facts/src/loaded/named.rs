//! Files that an option names and that the program loads as code, by any name: `mocha --require x.js`, `cmake -P x.cmake`. What the session
//! put there is read as if it was run itself, or is code that nobody has read. It must not know languages.

use castellan_event::{EffectKind, FileOrigin, Role, Scope, Why};
use castellan_programs::{Arg, Invocation};

use super::SOURCES;
use crate::code::{CARGO, From, SHELL};
use crate::command::base_name;
use crate::sink::Sink;

/// Other endings, and names without any, with the language.
const OTHERS: &[(&[&str], &str)] = &[
    (&[".bash", ".sh"], SHELL),
    (&[".lua"], "lua"),
    (&[".php"], "php"),
    (&[".pl", ".pm"], "perl"),
    (&["SConstruct", "wscript"], "python"),
    (&[".gemspec", ".rake", "Gemfile", "Rakefile"], "ruby"),
];

/// Endings of what programs load as code, or find the code to load in, in languages that are not read.
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

/// Looks at the file that an option gives to its program to load. Without the session it is the project's, or the machine's, own.
pub(crate) fn add(file: &Arg, sink: &mut Sink<'_, '_, '_, '_>) {
    if sink.remote || sink.dry {
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
    } else if located.place != Some(Scope::Workspace) && UNREAD.iter().any(|end| name.ends_with(end)) {
        // In the project it is a part of what is built and tested all day.
        sink.opaque(Role::Code, Why::File, &path);
    }
}

/// Settings of Cargo that stand on its command line, or in a file that stands there: they name programs, as its own file does.
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
