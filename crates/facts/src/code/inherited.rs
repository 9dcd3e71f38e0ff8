//! Code that programs load before their own because a variable of their environment says so. What shells read of it is
//! found as the shell is. It must not know what the code does.

use castellan_event::{EffectKind, Role, Why};
use castellan_programs::{Arg, Piece, Program, find, invoke};
use castellan_shell::Run;

use super::configured::{self, GIT};
use super::{From, SHELL};
use crate::handlers;
use crate::loaded::repository;
use crate::path;
use crate::sink::Sink;

/// What a variable holds.
#[derive(Debug, Clone, Copy)]
enum Holds {
    /// Options, as this program is given them.
    Options(&'static str),
    /// A file in this language.
    File(&'static str),
    /// Directories. Of these files in them those that are there are run, in this language.
    Directories(&'static str, &'static [&'static str]),
    /// `@file`, or the code itself.
    FileOrCode(&'static str),
    /// Where settings stand that may name code.
    Settings,
    /// A file of git's settings.
    Configuration,
    /// Directories in which git looks for such files: they count where the session wrote them.
    Configurations(&'static [&'static str]),
    /// The directory of a repository.
    Repository,
    /// The name of a setting of git.
    Key,
    /// The value of one.
    Value,
}

/// Names; a `*` at the end stands for any rest.
const VARIABLES: &[(&str, Holds)] = &[
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
    ("XDG_CONFIG_HOME", Holds::Configurations(&["git/config"])),
    ("ZDOTDIR", Holds::Directories(SHELL, &[".zshenv"])),
];

/// Whether code may stand in a variable.
pub(crate) fn may_hold_code(variable: &str) -> bool {
    holds(variable).is_some()
}

fn holds(variable: &str) -> Option<Holds> {
    let fits = |pattern: &str| match pattern.strip_suffix('*') {
        Some(start) => variable.starts_with(start),
        None => variable == pattern,
    };
    VARIABLES.iter().find(|(pattern, _)| fits(pattern)).map(|(_, holds)| *holds)
}

/// Adds the programs that a command runs because of its environment, each once for all commands that have it.
pub(crate) fn inherited(run: &Run, model: Option<&Program>, sink: &mut Sink<'_, '_, '_, '_>) {
    if sink.remote || run.argv.is_empty() || model.is_some_and(|model| model.builtin) {
        return;
    }
    let exported = sink.scene.exported_code.iter();
    let own = run.env.iter().filter(|(name, _)| may_hold_code(name));
    let variables: Vec<(String, Arg)> = exported.chain(own).cloned().collect();
    for (at, (variable, value)) in variables.iter().enumerate() {
        let is_last = !variables.iter().skip(at + 1).any(|(other, _)| other == variable);
        let known = format!("{variable} {} {:?}", value.written(), run.cwd);
        if !is_last || sink.scene.inherited.contains(&known) {
            continue;
        }
        let Some(holds) = holds(variable) else { continue };
        let before = sink.programs.len();
        if let Some(number) = variable.strip_prefix(KEY) {
            let is_its = |name: &String| name.strip_prefix(VALUE) == Some(number);
            let set = variables.iter().rfind(|(name, _)| is_its(name)).map(|(_, value)| value);
            setting(value, set, sink);
        }
        add(variable, holds, value, sink);
        // What is written into such a file afterwards is other code.
        if sink.programs.len() == before || sink.scene.overlay.is_empty() {
            sink.scene.inherited.insert(known);
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
        Holds::Repository => repository::at(&value, sink),
        Holds::Key | Holds::Value => {}
        Holds::Settings => sink.opaque(Role::Code, Why::Language, &value.written()),
    }
}

const KEY: &str = "GIT_CONFIG_KEY_";
const VALUE: &str = "GIT_CONFIG_VALUE_";

/// What a setting starts that two variables make. One that has no value is none.
fn setting(name: &Arg, value: Option<&Arg>, sink: &mut Sink<'_, '_, '_, '_>) {
    let Some(value) = value else { return };
    match (name.as_str(), value.as_str()) {
        (Some(name), Some(value)) => {
            if let Some(one) = configured::git_starts(name, value) {
                configured::start(GIT, one, None, sink);
            }
        }
        (Some(name), None) if configured::git_starts(name, "!").is_none() => {}
        _ => sink.opaque(Role::Code, value.why().or(name.why()).unwrap_or_default(), &value.written()),
    }
}

/// The value without what the variable held before, which the user gave it.
fn without_itself(variable: &str, value: &Arg) -> Arg {
    let is_own = |piece: &Piece| matches!(piece, Piece::Unknown { written, .. } if written.trim_start_matches(['$', '{']).starts_with(variable));
    Arg::from_pieces(value.pieces().iter().filter(|piece| !is_own(piece)).cloned(), false)
}

/// The directories of a list that are wholly known. What stands at its ends may belong to what is not known beside it.
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

/// What options make a program load, as if it were given them.
fn options(program: &str, value: &Arg, sink: &mut Sink<'_, '_, '_, '_>) {
    let Some(text) = value.as_str() else {
        let why = value.why().unwrap_or(Why::Variable);
        return sink.opaque(Role::Code, why, &value.written());
    };
    let words = text.split_whitespace().map(|word| word.trim_matches(['"', '\'']));
    // Perl and Ruby take letters without a dash as well.
    let dashed = words.map(|word| match (program, word.starts_with('-')) {
        ("perl" | "ruby", false) => Arg::known(format!("-{word}")),
        _ => Arg::known(word),
    });
    let argv: Vec<Arg> = std::iter::once(Arg::known(program)).chain(dashed).collect();
    if let (Some(model), Some(handler)) = (find(program), handlers::handler(program)) {
        handler(&invoke(model, &argv), &argv, sink);
    }
}
