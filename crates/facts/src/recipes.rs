//! Code of task runners: scripts of a `package.json`, recipes of a makefile, a justfile or a Taskfile. Their shell text
//! is walked like any other. Must not know what commands do.

mod composer;
mod deno;
mod expand;
mod just;
mod make;
mod makefile;
mod npm;
mod packages;
mod pre_commit;
mod taskfile;
mod unquote;
mod variable;
pub(crate) mod yaml;

use std::rc::Rc;

use castellan_event::{Answer, Facts, FileKind, Query, Why, single_quoted};
use castellan_programs::{Arg, Piece};
use castellan_shell::{Item, Stdin};

use crate::code::Place;
use crate::limits::{INCLUDES_MAX, PARENTS_MAX};
use crate::scene::Scene;
use crate::{analyse, code, path, scripts};

use packages::Packages;

/// A task that a command runs.
#[derive(Debug, Clone)]
pub(crate) struct Task {
    runner: &'static Runner,
    /// The subcommand of the runner: `run`, `test`.
    verb: String,
    /// The file, as written.
    file: Arg,
    /// Its name; `None` for the default task.
    name: Option<String>,
    /// The command only shows it.
    pub(crate) is_shown: bool,
}

/// How castellan finds and reads one kind of task file.
#[derive(Debug)]
struct Runner {
    system: &'static str,
    /// The names under which its file is searched, in this order, if a command does not name one.
    files: &'static [&'static str],
    /// Also searches the directories above.
    climbs: bool,
    /// An environment variable that names another file.
    variable: Option<&'static str>,
    reads: fn(&str, &Wanted<'_>) -> Script,
}

const RUNNERS: &[Runner] = &[
    Runner { system: "npm", files: &["package.json"], climbs: true, variable: None, reads: npm::script },
    Runner { system: "make", files: MAKEFILES, climbs: false, variable: None, reads: make::script },
    Runner {
        system: "just",
        files: &["justfile", ".justfile", "Justfile"],
        climbs: true,
        variable: None,
        reads: just::script,
    },
    Runner { system: "task", files: TASKFILES, climbs: true, variable: None, reads: taskfile::script },
    Runner {
        system: "composer",
        files: &["composer.json"],
        climbs: false,
        variable: Some("COMPOSER"),
        reads: composer::script,
    },
    Runner {
        system: "deno",
        files: &["deno.json", "deno.jsonc", "package.json"],
        climbs: true,
        variable: None,
        reads: deno::script,
    },
    Runner {
        system: "pre-commit",
        files: &[".pre-commit-config.yaml"],
        climbs: true,
        variable: None,
        reads: pre_commit::script,
    },
];

/// Names under which Task looks for its file.
const TASKFILES: &[&str] = &[
    "Taskfile.yml",
    "taskfile.yml",
    "Taskfile.yaml",
    "taskfile.yaml",
    "Taskfile.dist.yml",
    "taskfile.dist.yml",
    "Taskfile.dist.yaml",
    "taskfile.dist.yaml",
];

/// Names under which make looks for its file.
const MAKEFILES: &[&str] = &["GNUmakefile", "makefile", "Makefile"];

/// The requested task.
#[derive(Debug)]
struct Wanted<'w> {
    verb: &'w str,
    name: Option<&'w str>,
    /// The command only shows it: just the code that runs while the file is read is executed.
    is_shown: bool,
    /// The arguments of the command, its name first.
    argv: &'w [Arg],
    /// The environment of the command; the last value of a name applies.
    env: &'w [(String, Arg)],
    /// The directory in which it runs.
    directory: &'w str,
}

/// The shell texts of a task; each runs in a shell of its own.
#[derive(Debug, Default, PartialEq, Eq)]
struct Script {
    texts: Vec<String>,
    /// Parts that could not be read, with the reason.
    holes: Vec<(Why, String)>,
    /// Files that it includes.
    includes: Vec<String>,
    /// Variables that the runner sets for it.
    env: Vec<(String, String)>,
}

/// Returns the task of an effect that runs one, if castellan reads its kind of file.
pub(crate) fn task_of(system: &str, verb: &str, name: Option<&str>, file: &str) -> Option<Task> {
    let runner = RUNNERS.iter().find(|runner| runner.system == system)?;
    let verb = verb.to_owned();
    Some(Task { runner, verb, file: Arg::known(file), name: name.map(str::to_owned), is_shown: false })
}

/// Adds the effects of a task. `place.cwd`: the directory in which the command looks for its file.
pub(crate) fn add(task: &Task, place: Place<'_>, scene: &mut Scene<'_, '_, '_>, facts: &mut Facts) {
    if place.cwd.is_none() {
        return code::opaque(&place, (Why::File, &task.file.written()), scene, facts);
    }
    let env = code::environment_of(&place, scene);
    let named = env.iter().rev().find(|(name, _)| Some(name.as_str()) == task.runner.variable);
    let mut task = task.clone();
    if let Some((_, value)) =
        named.filter(|_| task.runner.files.iter().any(|file| task.file.as_str() == Some(file)))
    {
        if let Some(why) = value.why() {
            return code::opaque(&place, (why, &value.written()), scene, facts);
        }
        task.file = value.clone();
    }
    let (file, directory) = match find(&task, &place, scene) {
        Found::Here(file, directory) => (file, directory),
        // A runner without its file does nothing.
        Found::Nowhere => return,
        Found::TooFar => return code::opaque(&place, (Why::Budget, &task.file.written()), scene, facts),
    };
    if task.runner.system == "npm"
        && let Some(asked) = packages::asked_for(&place.run.argv, &task.verb)
    {
        return in_packages(asked, &task, (&file, &directory), place, scene, facts);
    }
    run(&task, file, directory, &env, place, scene, facts);
}

/// Runs the script in packages of the project. Packages that are not found are Opaque.
fn in_packages(
    asked: Packages,
    task: &Task,
    (file, root): (&str, &str),
    mut place: Place<'_>,
    scene: &mut Scene<'_, '_, '_>,
    facts: &mut Facts,
) {
    let env = code::environment_of(&place, scene);
    let Packages { names, is_all, script, written } = asked;
    let mut task = task.clone();
    if let Some((verb, name)) = script {
        (task.verb, task.name) = (verb, name);
    }
    let found: Option<Vec<_>> = match is_all {
        true => {
            let (found, is_over) = packages::all((file, root), scene);
            if is_over {
                code::opaque(&place, (Why::Budget, &written), scene, facts);
            }
            Some(found)
        }
        false => names.iter().map(|name| packages::manifest(name, (file, root), scene)).collect(),
    };
    let Some(found) = found.filter(|found| !found.is_empty()) else {
        // The packages belong to the project, in any directory of it.
        place.file = Some(format!("{root}/**/package.json"));
        return code::opaque(&place, (Why::File, &written), scene, facts);
    };
    for (file, directory) in found {
        run(&task, file, directory, &env, place.clone(), scene, facts);
    }
}

/// Adds the effects of a task whose file was found. `directory`: where it runs.
fn run(
    task: &Task,
    file: String,
    directory: String,
    env: &[(String, Arg)],
    mut place: Place<'_>,
    scene: &mut Scene<'_, '_, '_>,
    facts: &mut Facts,
) {
    // A task that runs itself does not end by itself. The cause of its end, and the changes until then, are unknown.
    let same = format!("{file} {directory} {task:?} {:?} {:?}", place.run.argv, place.run.env);
    if scene.open_tasks.contains(&same) || !scene.counts_program() {
        return code::opaque(&place, (Why::Nesting, &file), scene, facts);
    }
    let text = match scripts::unchanged(&file, scene) {
        Ok(text) => text,
        Err(why) => return code::opaque(&place, (why, &file), scene, facts),
    };
    let wanted = Wanted {
        verb: &task.verb,
        name: task.name.as_deref(),
        argv: &place.run.argv,
        env,
        is_shown: task.is_shown,
        directory: &directory,
    };
    let script = with_includes(text.to_string(), task, &wanted, &directory, scene);
    place.file = Some(file);
    for (why, written) in &script.holes {
        code::opaque(&place, (*why, written), scene, facts);
    }
    let names = scene.names.clone();
    if task.runner.system == "npm" {
        scene.names.put_first(&format!("{directory}/node_modules/.bin"));
        if let Some(shell) = packages::other_shell(&directory, scene).filter(|_| !script.texts.is_empty()) {
            return code::opaque(&place, (Why::Language, &shell), scene, facts);
        }
    }
    scene.open_tasks.push(same);
    for text in &script.texts {
        let mut start = code::started(&place, None, &[], scene);
        start.cwd = Some(directory.clone());
        start.env.extend(script.env.iter().cloned());
        let mut found = analyse::walked(text, &start, scene);
        found.items.iter_mut().for_each(unquoted);
        code::commands(found, &place, scene, facts);
    }
    scene.open_tasks.pop();
    scene.names = names;
}

/// Reads a script, then reads it again with the files that it includes.
fn with_includes(
    mut text: String,
    task: &Task,
    wanted: &Wanted<'_>,
    directory: &str,
    scene: &mut Scene<'_, '_, '_>,
) -> Script {
    let mut holes = Vec::new();
    let mut seen: Vec<String> = Vec::new();
    loop {
        let mut script = (task.runner.reads)(&text, wanted);
        let new: Vec<String> = script.includes.iter().filter(|file| !seen.contains(file)).cloned().collect();
        let is_over = seen.len() + new.len() > INCLUDES_MAX;
        if new.is_empty() || is_over {
            if is_over {
                holes.push((Why::Budget, new.join(" ")));
            }
            script.holes.append(&mut holes);
            return script;
        }
        for file in new {
            match path::collapse(Some(directory), &file).map(|path| scripts::unchanged(&path, scene)) {
                Some(Ok(more)) => {
                    text.push('\n');
                    text.push_str(&more);
                }
                // An optional file that does not exist.
                Some(Err(Why::File)) if is_missing(directory, &file, scene) => {}
                Some(Err(why)) => holes.push((why, file.clone())),
                None => holes.push((Why::File, file.clone())),
            }
            seen.push(file);
        }
    }
}

fn is_missing(directory: &str, file: &str, scene: &mut Scene<'_, '_, '_>) -> bool {
    let path = path::collapse(Some(directory), file);
    let kind = path.and_then(|path| scene.world.ask(Query::FileKind { path }));
    matches!(kind, Some(Answer::FileKind(FileKind::Missing)))
}

/// Location of a task's file.
enum Found {
    /// The file, and the directory in which its tasks run.
    Here(String, String),
    Nowhere,
    /// It may be above the searched directories.
    TooFar,
}

fn find(task: &Task, place: &Place<'_>, scene: &mut Scene<'_, '_, '_>) -> Found {
    let (Some(written), Some(cwd)) = (task.file.as_str(), place.cwd.clone()) else { return Found::Nowhere };
    let is_usual = task.runner.files.contains(&written);
    let names = if is_usual { task.runner.files.to_vec() } else { vec![written] };
    let mut here = cwd;
    for _ in 0..=PARENTS_MAX {
        for name in &names {
            let Some(path) = path::collapse(Some(&here), name) else { return Found::Nowhere };
            let kind = scene.world.ask(Query::FileKind { path: path.clone() });
            let is_there = !matches!(kind, Some(Answer::FileKind(FileKind::Missing)));
            if is_there || scene.overlay.has_written(&path) || scene.has_script(&path) {
                return Found::Here(path, here);
            }
        }
        if !task.runner.climbs || here == "/" {
            return Found::Nowhere;
        }
        here = match here.rsplit_once('/') {
            Some(("", _)) | None => "/".to_owned(),
            Some((above, _)) => above.to_owned(),
        };
    }
    Found::TooFar
}

/// Restores unknown parts that were in quotes, in which a shell does not expand a variable.
fn unquoted(item: &mut Item) {
    let Item::Command(run) = item else { return };
    let env = run.env.iter_mut().map(|(_, value)| value);
    run.argv.iter_mut().chain(env).for_each(unknown_again);
    for redirect in run.redirects.iter_mut().filter(|redirect| redirect.target.written().contains(UNKNOWN)) {
        unknown_again(&mut Rc::make_mut(redirect).target);
    }
    match &mut run.stdin {
        Stdin::Text(arg) | Stdin::File(arg) => unknown_again(arg),
        Stdin::Inherited => {}
    }
    run.cwd.take_if(|cwd| cwd.contains(UNKNOWN));
}

fn unknown_again(arg: &mut Arg) {
    let is_literal = |piece: &Piece| matches!(piece, Piece::Text(text) if text.contains(UNKNOWN));
    if !arg.pieces().iter().any(is_literal) {
        return;
    }
    let open = format!("${{{UNKNOWN}");
    let mut pieces = Vec::new();
    for piece in arg.pieces() {
        let Piece::Text(text) = piece else {
            pieces.push(piece.clone());
            continue;
        };
        for (at, part) in text.split(&open).enumerate() {
            let (marker, part) =
                if at == 0 { ("", part) } else { part.split_once('}').unwrap_or((part, "")) };
            if at > 0 {
                // A number marks the output of a command.
                let why = if marker.is_empty() { Why::Dynamic } else { Why::Substitution };
                pieces.push(Piece::Unknown { why, written: format!("{open}}}") });
            }
            pieces.push(Piece::Text(part.to_owned()));
        }
    }
    *arg = Arg::from_pieces(pieces, arg.splits());
}

/// Returns a word in a form that a shell parses back to the word.
fn quoted(arg: &Arg) -> String {
    match arg.as_str() {
        Some(text) => single_quoted(text),
        None if is_pattern(arg) => arg.written().into_owned(),
        // A variable that no environment has: its value is unknown.
        None => format!("\"${{{UNKNOWN}}}\""),
    }
}

/// Returns true if a word is a glob that reads the same in any shell.
fn is_pattern(arg: &Arg) -> bool {
    let is_glob = |piece: &Piece| matches!(piece, Piece::Text(_) | Piece::Unknown { why: Why::Glob, .. });
    let is_plain = |one: char| one.is_ascii_alphanumeric() || "_-./*?[]".contains(one);
    arg.pieces().iter().all(is_glob)
        && arg.written().chars().all(is_plain)
        && arg.prefix().starts_with(|first: char| first != '-')
}

/// A variable in shell text that represents an unknown value.
pub(crate) const UNKNOWN: &str = "castellan_unknown_value";
