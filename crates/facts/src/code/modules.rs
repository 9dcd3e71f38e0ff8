//! Files that `python` and node run by a name: a module, a directory.

use castellan_event::{Answer, FileKind, Query};
use castellan_languages::Language;
use castellan_programs::Arg;
use castellan_shell::Run;

use crate::language;
use crate::manifests;
use crate::memo;
use crate::next::{From, Place, Program};
use crate::path;
use crate::scene::Scene;

/// Returns the files of a module that `python -m` runs. Python looks in the working directory before its own.
pub(crate) fn module_programs(run: &Run, scene: &mut Scene<'_, '_, '_>) -> Vec<Program> {
    // Few commands have such an option, so the model is looked up last.
    let module = module_of(&run.argv).filter(|_| run.remote.is_empty());
    let interpreter = run.argv.first().and_then(Arg::as_str).unwrap_or_default();
    let language = || language::of_files(interpreter.rsplit('/').next().unwrap_or_default());
    let is_python = |word: &&str| language::of_word(word) == Some(Language::Python);
    let Some((name, behind)) = module else { return Vec::new() };
    let Some(language) = language().filter(is_python) else { return Vec::new() };
    let path = name.replace('.', "/");
    let files = [format!("{path}.py"), format!("{path}/__init__.py"), format!("{path}/__main__.py")];
    let roots = roots(Language::Python, None, run.cwd.as_deref());
    let found = files.into_iter().filter_map(|file| in_roots(&[file], &roots, scene));
    let program = |file| Program {
        language: language.to_owned(),
        from: From::File(Arg::known(file)),
        cwd: run.cwd.clone(),
        args: run.argv.get(behind..).map(<[Arg]>::to_vec),
    };
    found.map(program).collect()
}

/// Returns the module after `-m`, alone or after other letters, and the index of its first argument.
fn module_of(argv: &[Arg]) -> Option<(&str, usize)> {
    let mut at = 1;
    while let Some(letters) = argv.get(at).and_then(Arg::as_str)?.strip_prefix('-') {
        at += 1;
        let Some(place) = letters.find(['m', 'c', 'W', 'X']).filter(|_| !letters.starts_with('-')) else {
            continue;
        };
        let (_, rest) = letters.split_at(place);
        let value = match rest.get(1..).filter(|value| !value.is_empty()) {
            Some(value) => Some(value),
            None => {
                at += 1;
                argv.get(at - 1)?.as_str()
            }
        };
        match rest.chars().next() {
            Some('m') => return value.map(|value| (value, at)),
            Some('c') => return None,
            _ => {}
        }
    }
    None
}

/// Returns the file that runs instead of a path: the main file of a directory in Python, or the file that node finds
/// for a module without its ending.
pub(super) fn main_of(
    file: &Arg,
    language: Option<Language>,
    place: &Place,
    scene: &mut Scene<'_, '_, '_>,
) -> Option<Arg> {
    let path = file.as_str().filter(|_| place.run.remote.is_empty())?;
    let path = path::collapse(place.cwd.as_deref(), path)?;
    match language? {
        Language::Python => {
            let kind = scene.world.ask(Query::FileKind { path: path.clone() });
            matches!(kind, Some(Answer::FileKind(FileKind::Directory)))
                .then(|| Arg::known(format!("{path}/__main__.py")))
        }
        Language::JavaScript if !scene.is_file_there(&path) => {
            // TypeScript names its own modules by their compiled names.
            let compiled = path.strip_suffix(".js").map(|stem| [format!("{stem}.ts"), format!("{stem}.tsx")]);
            let named = OF_MODULES.iter().map(|end| format!("{path}{end}"));
            let main = main_of_package(&path, scene);
            let of_main = main
                .iter()
                .flat_map(|main| [""].iter().chain(OF_MODULES).map(move |end| format!("{main}{end}")));
            let mut files = of_main.chain(named).chain(compiled.into_iter().flatten());
            files.find(|file| scene.is_file_there(file)).map(Arg::known)
        }
        Language::JavaScript
        | Language::Perl
        | Language::Ruby
        | Language::Php
        | Language::Lua
        | Language::PowerShell
        | Language::Batch
        | Language::AppleScript => None,
    }
}

/// Returns the main file that the manifest in a directory names.
fn main_of_package(directory: &str, scene: &mut Scene<'_, '_, '_>) -> Option<String> {
    let answer = scene.world.ask(Query::Contents { path: format!("{directory}/package.json") });
    let Some(Answer::Contents(Some(bytes))) = answer else { return None };
    let manifest = memo::json(std::str::from_utf8(&bytes).ok()?)?;
    path::collapse(Some(directory), manifest.get("main")?.as_str()?)
}

/// Endings that node and similar programs try for the name of a module, in this order.
const OF_MODULES: &[&str] = &[
    ".js",
    ".cjs",
    ".mjs",
    ".json",
    ".ts",
    ".mts",
    ".cts",
    ".tsx",
    ".jsx",
    "/index.js",
    "/index.cjs",
    "/index.mjs",
    "/index.ts",
    "/index.json",
];

/// Returns true if the project's manifest names the package of a module, and the session did not write that manifest.
pub(super) fn is_declared(module: &str, place: &Place, scene: &mut Scene<'_, '_, '_>) -> bool {
    let parts = if module.starts_with('@') { 2 } else { 1 };
    let package: Vec<&str> = module.split('/').take(parts).collect();
    let directory =
        place.file.as_deref().and_then(|file| file.rsplit_once('/')).map(|(directory, _)| directory);
    let directory = directory.or(place.cwd.as_deref()).map(str::to_owned);
    directory.is_some_and(|directory| manifests::declares("npm", &[package.join("/")], &directory, scene))
}

/// Returns the files of a module that a program loads by its name, relative to the program's directory.
pub(super) fn files_of_module(module: &str, language: Language) -> Vec<String> {
    match language {
        Language::Python => {
            let path = module.replace('.', "/");
            vec![format!("{path}.py"), format!("{path}/__init__.py")]
        }
        Language::Lua => {
            let path = module.replace('.', "/");
            vec![format!("{path}.lua"), format!("{path}/init.lua")]
        }
        // A file in a directory that the program adds to its module path.
        Language::Perl | Language::Ruby if module.starts_with('/') => vec![module.to_owned()],
        // A bare name never means a file beside the program.
        Language::JavaScript
        | Language::Perl
        | Language::Ruby
        | Language::Php
        | Language::PowerShell
        | Language::Batch
        | Language::AppleScript => Vec::new(),
    }
}

/// Returns the directories in which a program looks for a module of the project: its own, and in Python the working
/// directory and the directory `src` there, which package managers add to the path of a project under development.
pub(super) fn roots(language: Language, own: Option<&str>, cwd: Option<&str>) -> Vec<String> {
    let of_cwd = cwd.filter(|_| language == Language::Python);
    let src = of_cwd.map(|cwd| format!("{}/src", cwd.trim_end_matches('/')));
    let mut roots: Vec<String> = [own, of_cwd].into_iter().flatten().map(str::to_owned).chain(src).collect();
    roots.dedup();
    roots
}

/// Returns the first of these files that exists in one of the directories.
pub(super) fn in_roots(files: &[String], roots: &[String], scene: &mut Scene<'_, '_, '_>) -> Option<String> {
    let path = |root: &String, file: &String| path::collapse(Some(root), file);
    let mut paths = roots.iter().flat_map(|root| files.iter().filter_map(move |file| path(root, file)));
    paths.find(|path| scene.is_file_there(path))
}
