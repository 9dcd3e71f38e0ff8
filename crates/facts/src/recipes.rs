//! Code of task runners: scripts of a `package.json`, recipes of a makefile, a justfile or a Taskfile. Their shell text
//! is walked like any other. Must not know what commands do.

mod composer;
mod deno;
mod expand;
mod just;
mod listed;
mod make;
mod makefile;
mod npm;
mod packages;
mod pre_commit;
mod taskfile;
mod unquote;
mod variable;

use std::rc::Rc;

use castellan_event::{Answer, FileKind, Query, Why, matches_star, single_quoted};
use castellan_programs::{Arg, Piece};

use crate::limits::{INCLUDES_MAX, PARENTS_MAX};
use crate::next::{Next, Place, Progress, Recipe, RecipeTexts, Task};
use crate::scene::Scene;
use crate::walk::UNKNOWN;
use crate::{code, environment, path, scripts, walk};

use packages::Packages;

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
    Runner {
        system: "hatch",
        files: PYPROJECT,
        climbs: true,
        variable: None,
        reads: |text, wanted| listed::script("hatch", text, wanted, true),
    },
    Runner {
        system: "pdm",
        files: PYPROJECT,
        climbs: true,
        variable: None,
        reads: |text, wanted| listed::script("pdm", text, wanted, false),
    },
    Runner {
        system: "pipenv",
        files: &["Pipfile"],
        climbs: true,
        variable: None,
        reads: |text, wanted| listed::script("pipenv", text, wanted, false),
    },
    Runner {
        system: "poe",
        files: PYPROJECT,
        climbs: true,
        variable: None,
        reads: |text, wanted| listed::script("poe", text, wanted, false),
    },
    Runner {
        system: "rye",
        files: PYPROJECT,
        climbs: true,
        variable: None,
        reads: |text, wanted| listed::script("rye", text, wanted, false),
    },
];

const PYPROJECT: &[&str] = &["pyproject.toml"];

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
    /// Tasks of other files that it runs: the file and the name of each.
    tasks: Vec<(String, String)>,
    /// Variables that the runner sets for it.
    env: Vec<(String, String)>,
}

/// Adds the effects of a task, if castellan reads its kind of file. `place.cwd`: the directory in which the command
/// looks for its file.
pub(crate) fn add(task: &Task, place: Place, scene: &mut Scene<'_, '_, '_>, progress: &mut Progress) {
    let Some(runner) = runner_of(task) else { return };
    let facts = &mut progress.facts;
    if place.cwd.is_none() {
        return code::opaque(&place, (Why::File, &task.file.written()), scene, facts);
    }
    let env = code::environment_of(&place, scene);
    let named = env.iter().rev().find(|(name, _)| Some(name.as_str()) == runner.variable);
    let mut task = task.clone();
    if let Some((_, value)) =
        named.filter(|_| runner.files.iter().any(|file| task.file.as_str() == Some(file)))
    {
        if let Some(why) = value.why() {
            return code::opaque(&place, (why, &value.written()), scene, facts);
        }
        task.file = value.clone();
    }
    let (file, directory) = match find(&task, runner, &place, scene) {
        Found::Here(file, directory) => (file, directory),
        // A runner without its file does nothing.
        Found::Nowhere => return,
        Found::TooFar => return code::opaque(&place, (Why::Budget, &task.file.written()), scene, facts),
    };
    if runner.system == "npm"
        && let Some(asked) = packages::asked_for(&place.run.argv, &task.verb)
    {
        return in_packages(asked, task, (&file, &directory), Rc::new(env), place, scene, progress);
    }
    run(Recipe { task, file, directory, env: Rc::new(env), place }, scene, progress);
}

fn runner_of(task: &Task) -> Option<&'static Runner> {
    RUNNERS.iter().find(|runner| runner.system == task.system)
}

/// Leaves the script in packages of the project as work. Packages that are not found are Opaque.
fn in_packages(
    asked: Packages,
    mut task: Task,
    (file, root): (&str, &str),
    env: Rc<Vec<(String, Arg)>>,
    mut place: Place,
    scene: &mut Scene<'_, '_, '_>,
    progress: &mut Progress,
) {
    let Packages { names, is_all, script, written } = asked;
    if let Some((verb, name)) = script {
        (task.verb, task.name) = (verb, name);
    }
    let found: Option<Vec<_>> = match is_all {
        true => {
            let (found, is_over) = packages::all((file, root), scene);
            if is_over {
                code::opaque(&place, (Why::Budget, &written), scene, &mut progress.facts);
            }
            Some(found)
        }
        false => names.iter().map(|name| packages::manifest(name, (file, root), scene)).collect(),
    };
    let Some(found) = found.filter(|found| !found.is_empty()) else {
        // The packages belong to the project, in any directory of it.
        place.file = Some(format!("{root}/**/package.json"));
        return code::opaque(&place, (Why::File, &written), scene, &mut progress.facts);
    };
    progress.next.extend(found.into_iter().map(|(file, directory)| {
        let (task, env, place) = (task.clone(), Rc::clone(&env), place.clone());
        Next::Recipe(Box::new(Recipe { task, file, directory, env, place }))
    }));
}

/// Adds the effects of a task whose file was found, up to the first shell text.
pub(crate) fn run(recipe: Recipe, scene: &mut Scene<'_, '_, '_>, progress: &mut Progress) {
    let Recipe { task, file, directory, env, mut place } = recipe;
    let Some(runner) = runner_of(&task) else { return };
    let facts = &mut progress.facts;
    // A task that runs itself does not end by itself. The cause of its end, and the changes until then, are unknown.
    let same = format!("{file} {directory} {task:?} {:?} {:?}", place.run.argv, place.run.env);
    if scene.open_tasks.contains(&same) || !scene.budget.counts_program() {
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
        env: &env,
        is_shown: task.is_shown,
        directory: &directory,
    };
    let script = with_includes(text.to_string(), runner, &wanted, scene);
    place.file = Some(file);
    for (why, written) in &script.holes {
        code::opaque(&place, (*why, written), scene, facts);
    }
    let names = scene.names.clone();
    if runner.system == "npm" {
        scene.names.put_first(&format!("{directory}/node_modules/.bin"));
        if let Some(shell) = packages::other_shell(&directory, scene).filter(|_| !script.texts.is_empty()) {
            return code::opaque(&place, (Why::Language, &shell), scene, facts);
        }
    }
    for (file, name) in script.tasks {
        let task = Task { file: Arg::known(file), name: Some(name), ..task.clone() };
        progress.next.push(Next::Task(task, Place { cwd: Some(directory.clone()), ..place.clone() }));
    }
    scene.open_tasks.push(same);
    let (texts, env) = (script.texts.into_iter(), script.env);
    run_on(Box::new(RecipeTexts { texts, env, directory, place, names }), scene, progress);
}

/// Leaves the commands of the next shell text as work. After the last text, the task is closed.
pub(crate) fn run_on(mut recipe: Box<RecipeTexts>, scene: &mut Scene<'_, '_, '_>, progress: &mut Progress) {
    let Some(text) = recipe.texts.next() else {
        scene.open_tasks.pop();
        scene.names = recipe.names;
        return;
    };
    let mut start = code::started(&recipe.place, None, &[], scene);
    start.cwd = Some(recipe.directory.clone());
    start.env.extend(recipe.env.iter().cloned());
    if let Some((_, home)) = recipe.env.iter().rev().find(|(name, _)| name == environment::HOME) {
        scene.exports.home = Some(Arg::known(home.as_str()));
    }
    let mut found = walk::text(&text, &start, scene);
    found.items.iter_mut().for_each(walk::unquoted);
    code::commands(found, &recipe.place, progress);
    progress.next.push(Next::RecipeTexts(recipe));
}

/// Reads a script, then reads it again with the files that it includes.
fn with_includes(
    mut text: String,
    runner: &Runner,
    wanted: &Wanted<'_>,
    scene: &mut Scene<'_, '_, '_>,
) -> Script {
    let mut holes = Vec::new();
    let mut seen: Vec<String> = Vec::new();
    loop {
        let mut script = (runner.reads)(&text, wanted);
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
            if file.contains('*') {
                // Files that match and that the session did not write are the project's.
                let pattern = path::collapse(Some(wanted.directory), &file).unwrap_or_default();
                for path in scene
                    .written_where("", |path| matches_star(&pattern, path))
                    .into_iter()
                    .take(INCLUDES_MAX)
                {
                    match scripts::unchanged(&path, scene) {
                        Ok(more) => text.extend(["\n", &more]),
                        Err(why) => holes.push((why, path)),
                    }
                }
                seen.push(file);
                continue;
            }
            match path::collapse(Some(wanted.directory), &file).map(|path| scripts::unchanged(&path, scene)) {
                Some(Ok(more)) => {
                    text.push('\n');
                    text.push_str(&more);
                }
                // An optional file that does not exist.
                Some(Err(Why::File)) if is_missing(wanted.directory, &file, scene) => {}
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

fn find(task: &Task, runner: &Runner, place: &Place, scene: &mut Scene<'_, '_, '_>) -> Found {
    let (Some(written), Some(cwd)) = (task.file.as_str(), place.cwd.clone()) else { return Found::Nowhere };
    let is_usual = runner.files.contains(&written);
    let names = if is_usual { runner.files.to_vec() } else { vec![written] };
    let mut here = cwd;
    for _ in 0..=PARENTS_MAX {
        for name in &names {
            let Some(path) = path::collapse(Some(&here), name) else { return Found::Nowhere };
            let kind = scene.world.ask(Query::FileKind { path: path.clone() });
            let is_there = !matches!(kind, Some(Answer::FileKind(FileKind::Missing)));
            if is_there || scene.overlay.has_written(&path) || scene.files.has_text(&path) {
                return Found::Here(path, here);
            }
        }
        if !runner.climbs || here == "/" {
            return Found::Nowhere;
        }
        here = match here.rsplit_once('/') {
            Some(("", _)) | None => "/".to_owned(),
            Some((above, _)) => above.to_owned(),
        };
    }
    Found::TooFar
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
