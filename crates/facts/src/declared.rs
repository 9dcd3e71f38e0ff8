//! Programs without a model whose packages the project's manifest declares. Must not know what the programs do.

use castellan_event::{FileOrigin, Scope};
use castellan_programs::{Arg, find};

use crate::limits::WORK_OF_PATH;
use crate::manifests;
use crate::path;
use crate::scene::Scene;
use castellan_programs::base_name;

/// The verb in the effects of a declared program.
pub(crate) const DECLARED: &str = "declared";

/// Programs that run or destroy their arguments. A word that names one of them makes the declared program a wrapper.
const RISKY: &[&str] = &[
    "bash", "bun", "bunx", "chmod", "chown", "cp", "curl", "dash", "dd", "deno", "docker", "eval", "exec",
    "fish", "git", "gh", "kill", "kubectl", "ln", "mv", "node", "npm", "npx", "perl", "php", "pip", "pnpm",
    "python", "python3", "rimraf", "rm", "rmdir", "ruby", "scp", "sh", "ssh", "su", "sudo", "tee", "unlink",
    "wget", "yarn", "zsh",
];

/// Parts of program names that suggest an effect that others can see.
const OUTWARD: &[&str] = &[
    "bump", "commit", "deploy", "exec", "lerna", "login", "open", "patch", "proxy", "publish", "push",
    "release", "send", "serve", "server", "ssh", "tunnel", "upload",
];

/// Returns true if the manifest of the project around a directory names the package of a program. The session must not
/// have written the manifest, and the arguments must name no other program and no file of the session.
pub(crate) fn is_declared(
    name: &str,
    argv: &[Arg],
    cwd: Option<&str>,
    scene: &mut Scene<'_, '_, '_>,
) -> bool {
    let is_put_there = name.contains('/');
    let program = base_name(name);
    if is_put_there && !name.trim_start_matches("./").starts_with(BIN) {
        return false;
    }
    let is_outward = program.split(['-', '_', '.']).any(|part| OUTWARD.contains(&part));
    let runs_another = argv.iter().skip(1).any(|arg| match arg.as_str() {
        Some(text) => {
            RISKY.contains(&base_name(text))
                || find(text).is_some_and(|program| program.wrapper.is_some() && !program.builtin)
        }
        None => false,
    });
    let Some(cwd) = cwd.filter(|_| !is_outward && !runs_another) else { return false };
    let is_named = |arg: &Arg| arg.as_str().is_some_and(|word| is_put_there_by_session(word, cwd, scene));
    if argv.iter().skip(1).any(is_named) {
        return false;
    }
    has_package(program, cwd, scene)
}

/// Returns true if a word, or the value in it, names a file that the session wrote or downloaded. A directory or
/// pattern with such a file below it matches, too.
pub(crate) fn is_put_there_by_session(word: &str, cwd: &str, scene: &Scene<'_, '_, '_>) -> bool {
    let value = word.split_once('=').map_or(word, |(_, value)| value);
    [word, value].into_iter().any(|path| {
        let known = path.split(['*', '?', '[', '{']).next().unwrap_or_default();
        let Some(path) = path::collapse(Some(cwd), known) else { return false };
        let is_old = scene.origin_of(&path, Some(Scope::Workspace)) == Some(FileOrigin::Repository);
        !is_old || !known.is_empty() && path != cwd && !scene.written_below(&path).is_empty()
    })
}

/// Returns true if the project's manifest names the package that provides a program.
pub(crate) fn has_package(program: &str, cwd: &str, scene: &mut Scene<'_, '_, '_>) -> bool {
    manifests::declares("npm", &packages(program), cwd, scene)
}

/// Returns true if an absolute path is a file of an installed package, the manifest beside it names the package, and
/// the session did not write the file. The project chose such a file, like a program that its tasks start.
pub(crate) fn is_of_package(path: &str, scene: &mut Scene<'_, '_, '_>) -> bool {
    let Some((project, rest)) = path.split_once("/node_modules/") else { return false };
    let mut components = rest.split('/');
    let first = components.next().unwrap_or_default();
    let second = components.next().unwrap_or_default();
    if rest.contains("/node_modules/")
        || scene.origin_of(path, Some(Scope::Workspace)) != Some(FileOrigin::Repository)
        || scene.session.is_changing(path)
    {
        return false;
    }
    match first {
        ".bin" => has_package(second, project, scene),
        scope if scope.starts_with('@') => {
            manifests::declares("npm", &[format!("{scope}/{second}")], project, scene)
        }
        package => manifests::declares("npm", &[package], project, scene),
    }
}

/// Directory in which npm puts the programs of packages.
const BIN: &str = "node_modules/.bin/";

/// Packages whose programs have other names.
const NAMED_OTHERWISE: &[(&str, &[&str])] = &[
    ("api-extractor", &["@microsoft/api-extractor"]),
    ("apollo-pbjs", &["@apollo/protobufjs"]),
    ("apollo-pbts", &["@apollo/protobufjs"]),
    ("cleancss", &["clean-css-cli"]),
    ("docusaurus", &["@docusaurus/core"]),
    ("es-shim-api", &["@es-shims/api"]),
    ("flow", &["flow-bin"]),
    ("git-cz", &["commitizen"]),
    ("graphql-codegen", &["@graphql-codegen/cli"]),
    ("lab", &["@hapi/lab"]),
    ("rstest", &["@rstest/core"]),
    ("stryker", &["@stryker-mutator/core"]),
    ("tape6", &["tape-six"]),
    ("tape6-seq", &["tape-six"]),
    ("tsfmt", &["typescript-formatter"]),
    ("vp", &["vite-plus"]),
    ("web-test-runner", &["@web/test-runner"]),
    ("attw", &["@arethetypeswrong/cli"]),
    ("brittle-bare", &["brittle"]),
    ("brittle-node", &["brittle"]),
    ("cake", &["coffee-script", "coffeescript"]),
    ("cucumber-js", &["@cucumber/cucumber", "cucumber"]),
    ("jsdoc2md", &["jsdoc-to-markdown"]),
    ("napi", &["@napi-rs/cli"]),
    ("npmPkgJsonLint", &["npm-package-json-lint"]),
    ("tsc", &["typescript"]),
    ("tsserver", &["typescript"]),
    ("ng", &["@angular/cli"]),
    ("tsgo", &["@typescript/native-preview"]),
    ("uglifyjs", &["uglify-js", "uglify-es"]),
    ("vue-tsc", &["vue-tsc"]),
    ("wtr", &["@web/test-runner"]),
];

/// Returns the packages that may provide a program of that name.
fn packages(program: &str) -> Vec<String> {
    let named = NAMED_OTHERWISE.iter().filter(|(name, _)| *name == program);
    let named = named.flat_map(|(_, packages)| packages.iter().map(|one| (*one).to_owned()));
    let forms = [
        program.to_owned(),
        format!("{program}-cli"),
        format!("@{program}/cli"),
        format!("@{program}/{program}"),
    ];
    named.chain(forms).collect()
}

/// Returns the origin of the files that declare an installation. An origin other than the repository overrides.
pub(crate) fn origin_of_installation(
    system: &str,
    cwd: &str,
    scene: &mut Scene<'_, '_, '_>,
) -> Option<FileOrigin> {
    let (_, first, others) = MANIFESTS.iter().find(|(name, _, _)| *name == system)?;
    let mut origin = |file: &str| {
        let path = format!("{}/{file}", cwd.trim_end_matches('/'));
        let located = path::locate(&Arg::known(path), None, &scene.session.places, scene.world);
        let path = located.path?;
        let is_there = scene.is_file_there(&path);
        is_there.then(|| scene.origin_of(&path, located.place)).flatten()
    };
    let manifest = first.iter().find_map(|file| origin(file))?;
    let rest = others.iter().filter_map(|file| origin(file));
    rest.chain([manifest]).max_by_key(|origin| *origin != FileOrigin::Repository)
}

/// Returns the work for looking at the files of one package manager.
pub(crate) fn work_of_installation(system: &str) -> u64 {
    let files = MANIFESTS
        .iter()
        .find(|(name, _, _)| *name == system)
        .map(|(_, first, others)| first.len() + others.len());
    files.unwrap_or_default() as u64 * WORK_OF_PATH
}

/// For each package manager: manifests (one declares the packages), and files that set the sources of the packages.
const MANIFESTS: &[(&str, &[&str], &[&str])] = &[
    ("cargo", &["Cargo.toml"], &["Cargo.lock", ".cargo/config.toml", ".cargo/config"]),
    ("composer", &["composer.json"], &["composer.lock"]),
    ("gem", &["Gemfile"], &["Gemfile.lock", ".bundle/config"]),
    ("go", &["go.mod"], &["go.sum"]),
    (
        "npm",
        &["package.json"],
        &[
            "package-lock.json",
            "npm-shrinkwrap.json",
            "yarn.lock",
            "pnpm-lock.yaml",
            "pnpm-workspace.yaml",
            "bun.lockb",
            ".npmrc",
            ".yarnrc",
            ".yarnrc.yml",
            ".pnpmfile.cjs",
        ],
    ),
    (
        "pip",
        &["pyproject.toml", "requirements.txt", "requirements-dev.txt", "Pipfile"],
        &["poetry.lock", "uv.lock", "Pipfile.lock", "pip.conf"],
    ),
];
