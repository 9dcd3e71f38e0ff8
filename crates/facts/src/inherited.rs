//! Code that programs load before their own because of an environment variable. The walk of shell text finds code for
//! shells. Must not know what the code does.

use castellan_event::{EffectKind, Role, Why, matches_star};
use castellan_programs::{Arg, Piece, Program, find, invoke};
use castellan_shell::Run;

use crate::handlers;
use crate::language::{GIT, SHELL};
use crate::loaded::{named, repository, starts, there};
use crate::next::From;
use crate::path;
use crate::settings;
use crate::sink::Sink;

/// Content of a variable.
#[derive(Debug, Clone, Copy)]
enum Holds {
    /// Options of this program.
    Options(&'static str),
    /// A file in this language.
    File(&'static str),
    /// Directories. If these files exist in them, they run, in this language.
    Directories(&'static str, &'static [&'static str]),
    /// `@file`, or the code itself.
    FileOrCode(&'static str),
    /// The location of settings that may name code.
    Settings,
    /// A settings file of git.
    Configuration,
    /// Directories in which git looks for such files. Only files that the session wrote are read.
    Configurations(&'static [&'static str]),
    /// The directory of a repository.
    Repository,
    /// A program that tools start, with its arguments. Only a program that the session wrote is read.
    Program,
    /// A file that this program loads. Only a file that the session wrote is read.
    Loaded(&'static str),
    /// Options of compilers, which may name such a program.
    Linker,
    /// The name of a git setting.
    Key,
    /// The value of a git setting.
    Value,
}

/// Names; a `*` at the end matches any rest.
const VARIABLES: &[(&str, Holds)] = &[
    ("AR", Holds::Program),
    ("CARGO_BUILD_RUSTC*", Holds::Program),
    ("CARGO_TARGET_*_LINKER", Holds::Program),
    ("CARGO_TARGET_*_RUNNER", Holds::Program),
    ("CARGO_TARGET_*_RUSTFLAGS", Holds::Linker),
    ("CC", Holds::Program),
    ("CMAKE_*_COMPILER_LAUNCHER", Holds::Program),
    ("CMAKE_TOOLCHAIN_FILE", Holds::Loaded("cmake")),
    ("CXX", Holds::Program),
    ("GIT_COMMON_DIR", Holds::Repository),
    ("GIT_CONFIG", Holds::Configuration),
    ("GIT_CONFIG_GLOBAL", Holds::Configuration),
    ("GIT_CONFIG_KEY_*", Holds::Key),
    ("GIT_CONFIG_SYSTEM", Holds::Configuration),
    ("GIT_CONFIG_VALUE_*", Holds::Value),
    ("GIT_DIR", Holds::Repository),
    ("HOME", Holds::Configurations(&[".gitconfig", ".config/git/config"])),
    ("LUA_INIT*", Holds::FileOrCode("lua")),
    ("NODE_OPTIONS", Holds::Options("node")),
    ("PERL5OPT", Holds::Options("perl")),
    ("PHPRC", Holds::Settings),
    ("PHP_INI_SCAN_DIR", Holds::Settings),
    ("PYTHONPATH", Holds::Directories("python", &["sitecustomize.py", "usercustomize.py"])),
    ("PYTHONSTARTUP", Holds::File("python")),
    ("RUBYOPT", Holds::Options("ruby")),
    ("RUSTC", Holds::Program),
    ("RUSTC_*WRAPPER", Holds::Program),
    ("RUSTDOC", Holds::Program),
    ("RUSTFLAGS", Holds::Linker),
    ("XDG_CONFIG_HOME", Holds::Configurations(&["git/config"])),
    ("ZDOTDIR", Holds::Directories(SHELL, &[".zshenv"])),
];

/// Returns true if a variable may hold code.
pub(crate) fn may_hold_code(variable: &str) -> bool {
    holds(variable).is_some()
}

fn holds(variable: &str) -> Option<Holds> {
    VARIABLES.iter().find(|(pattern, _)| matches_star(pattern, variable)).map(|(_, holds)| *holds)
}

/// Adds the programs that a command runs because of its environment, each once for all commands that share it.
pub(crate) fn inherited(run: &Run, model: Option<&Program>, sink: &mut Sink<'_, '_, '_, '_>) {
    if sink.setup.remote || run.argv.is_empty() || model.is_some_and(|model| model.builtin) {
        return;
    }
    let exported = sink.scene.exports.code.iter();
    let own = run.env.iter().filter(|(name, _)| may_hold_code(name));
    let variables: Vec<(String, Arg)> = exported.chain(own).cloned().collect();
    for (at, (variable, value)) in variables.iter().enumerate() {
        let is_last = !variables.iter().skip(at + 1).any(|(other, _)| other == variable);
        let known = format!("{variable} {} {:?}", value.written(), run.cwd);
        if !is_last || sink.scene.exports.inherited.contains(&known) {
            continue;
        }
        let Some(holds) = holds(variable) else { continue };
        let before = sink.left.programs.len();
        if let Some(number) = variable.strip_prefix(KEY) {
            let is_its = |name: &String| name.strip_prefix(VALUE) == Some(number);
            let set = variables.iter().rfind(|(name, _)| is_its(name)).map(|(_, value)| value);
            setting(value, set, sink);
        }
        add(variable, holds, value, sink);
        // A later write changes the code in such a file.
        if sink.left.programs.len() == before || sink.scene.overlay.is_empty() {
            sink.scene.exports.inherited.insert(known);
        }
    }
}

fn add(variable: &str, holds: Holds, value: &Arg, sink: &mut Sink<'_, '_, '_, '_>) {
    let value = without_itself(variable, value);
    if value.as_str() == Some("") {
        return;
    }
    match holds {
        Holds::Options(program) => options(program, &value, sink),
        Holds::File(language) => file(language, &value, sink),
        Holds::Directories(language, files) => {
            for directory in value.pieces().iter().flat_map(directories) {
                for name in files {
                    let path = path::collapse(sink.cwd.as_deref(), &format!("{directory}/{name}"));
                    if let Some(path) = path.filter(|path| sink.scene.is_file_there(path)) {
                        file(language, &Arg::known(path), sink);
                    }
                }
            }
        }
        Holds::FileOrCode(language) => match value.strip_prefix("@") {
            Some(path) => file(language, &path, sink),
            None => sink.program(language, From::Text(value)),
        },
        Holds::Configuration => sink.program(GIT, From::File(value)),
        Holds::Configurations(files) => {
            for directory in value.pieces().iter().flat_map(directories) {
                for name in files {
                    if let Some(path) = path::collapse(sink.cwd.as_deref(), &format!("{directory}/{name}")) {
                        repository::settings(&path, false, sink);
                    }
                }
            }
        }
        Holds::Loaded(program) => named::add(&value, program, sink),
        Holds::Program => own_program(&value, sink),
        Holds::Linker => {
            let words = value.as_str().unwrap_or_default().split_whitespace();
            for (_, linker) in words.filter_map(|word| word.split_once("linker=")) {
                own_program(&Arg::known(linker), sink);
            }
        }
        Holds::Repository => repository::at(&value, sink),
        Holds::Key | Holds::Value => {}
        Holds::Settings => sink.opaque(Role::Code, Why::Language, &value.written()),
    }
}

/// Adds a program by its path, if the session wrote it.
fn own_program(value: &Arg, sink: &mut Sink<'_, '_, '_, '_>) {
    let first = value.as_str().and_then(|value| value.split_whitespace().next());
    let path = first.filter(|first| first.contains('/'));
    let path = path.and_then(|path| path::collapse(sink.cwd.as_deref(), path));
    if path.is_some_and(|path| there::is_of_session(&path, sink)) {
        sink.shell(value.clone());
    }
}

const KEY: &str = "GIT_CONFIG_KEY_";
const VALUE: &str = "GIT_CONFIG_VALUE_";

/// Adds the start of a git setting that two variables define. A name without a value is not a setting.
fn setting(name: &Arg, value: Option<&Arg>, sink: &mut Sink<'_, '_, '_, '_>) {
    let Some(value) = value else { return };
    match (name.as_str(), value.as_str()) {
        (Some(name), Some(value)) => {
            if let Some(one) = settings::git_starts(name, value) {
                starts::start(GIT, one, None, sink);
            }
        }
        (Some(name), None) if settings::git_starts(name, "!").is_none() => {}
        _ => sink.opaque(Role::Code, value.why().or(name.why()).unwrap_or_default(), &value.written()),
    }
}

/// Returns the value without its own previous value, which the user set.
fn without_itself(variable: &str, value: &Arg) -> Arg {
    let is_own = |piece: &Piece| matches!(piece, Piece::Unknown { written, .. } if written.trim_start_matches(['$', '{']).starts_with(variable));
    Arg::from_pieces(value.pieces().iter().filter(|piece| !is_own(piece)).cloned(), false)
}

/// Returns the known directories of a list. The first or last may be incomplete, beside an unknown part.
fn directories(piece: &Piece) -> Vec<&str> {
    match piece {
        Piece::Text(text) => text.split(':').filter(|part| !part.is_empty()).collect(),
        Piece::Unknown { .. } => Vec::new(),
    }
}

fn file(language: &str, file: &Arg, sink: &mut Sink<'_, '_, '_, '_>) {
    sink.path(EffectKind::Execute, file);
    sink.program(language, From::File(file.clone()));
}

/// Adds the code that options make a program load.
fn options(program: &str, value: &Arg, sink: &mut Sink<'_, '_, '_, '_>) {
    let Some(text) = value.as_str() else {
        let why = value.why().unwrap_or(Why::Variable);
        return sink.opaque(Role::Code, why, &value.written());
    };
    let words = text.split_whitespace().map(|word| word.trim_matches(['"', '\'']));
    // Perl and Ruby also accept letters without a dash.
    let dashed = words.map(|word| match (program, word.starts_with('-')) {
        ("perl" | "ruby", false) => Arg::known(format!("-{word}")),
        _ => Arg::known(word),
    });
    let argv: Vec<Arg> = std::iter::once(Arg::known(program)).chain(dashed).collect();
    if let (Some(model), Some(handler)) = (find(program), handlers::handler(program)) {
        handler(&invoke(model, &argv), &argv, sink);
    }
}
