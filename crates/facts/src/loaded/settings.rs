//! Settings files that start other programs. Programs find them by a fixed name in their directory, above it or in the
//! home. They are read if the session wrote them. Must not know their formats.

use castellan_programs::{Arg, Invocation};

use super::fixed::{above, below};
use super::there::{is_file, is_of_session};
use super::{Pattern, is_loading};
use crate::language::TOX;
use crate::limits::LOOKED_DIRECTORIES_MAX;
use crate::next::From;
use crate::path;
use crate::sink::Sink;

/// Programs, the subcommands with which they read the files (empty: always), and the files with their languages. Files
/// that begin with `~/` are in the home, the others in the program's directory or above it.
type Settings = (&'static [&'static str], &'static [&'static str], &'static [Pattern]);

const SETTINGS: &[Settings] = &[
    (&["hg", "chg"], &[], &[(".hg/hgrc", "hgrc"), ("~/.hgrc", "hgrc")]),
    (&["jj"], &[], &[(".jj/repo/config.toml", "jj-config"), ("~/.config/jj/config.toml", "jj-config")]),
    (&["npm", "npx", "pnpm", "pnpx", "yarn"], &[], &[(".npmrc", "npmrc")]),
    (&["pnpm", "pnpx"], &[], &[(".pnpmfile.cjs", "node")]),
    (&["yarn"], &[], &[(".yarnrc.yml", "yarnrc-yml"), (".yarnrc", "yarnrc")]),
    (
        &["mise"],
        &[],
        &[
            ("mise.toml", "mise"),
            (".mise.toml", "mise"),
            ("mise.local.toml", "mise"),
            (".config/mise.toml", "mise"),
        ],
    ),
    (&["direnv"], &["exec", "allow", "export", "reload"], &[(".envrc", "sh")]),
    (&["gdb", "gdb-multiarch", "rust-gdb", "cgdb"], &[], &[(".gdbinit", "gdb"), ("~/.gdbinit", "gdb")]),
    (&["lldb", "rust-lldb"], &[], &[(".lldbinit", "lldb"), ("~/.lldbinit", "lldb")]),
    (
        &["vim", "vi", "nvim", "vimdiff"],
        &[],
        &[(".exrc", "ex"), (".vimrc", "ex"), (".nvimrc", "ex"), (".nvim.lua", "lua")],
    ),
    (&["irb"], &[], &[(".irbrc", "ruby")]),
    (&["code", "code-insiders", "codium", "vscodium", "cursor", "windsurf"], &[], VSCODE),
    (
        &["devcontainer"],
        &[],
        &[(".devcontainer/devcontainer.json", "devcontainer"), (".devcontainer.json", "devcontainer")],
    ),
    (&["hx", "helix"], &[], &[(".helix/languages.toml", "helix")]),
    (&["zed"], &[], &[(".zed/settings.json", "zed")]),
    (&["nox"], &[], &[("noxfile.py", "nox")]),
    (&["invoke", "inv"], &[], &[("tasks.py", "invoke")]),
    (&["mocha", "_mocha"], &[], MOCHA),
    (&["jest", "vitest", "playwright", "cypress"], &[], JEST),
    (&["playwright"], &[], &[("playwright.config.ts", "commands"), ("playwright.config.js", "commands")]),
    (&["python", "python3"], &[], &[("sitecustomize.py", "python"), ("usercustomize.py", "python")]),
    (&["mypy", "dmypy"], &[], &[("mypy.ini", "python-plugins"), (".mypy.ini", "python-plugins")]),
    (&["pylint"], &[], &[(".pylintrc", "python-plugins"), ("pylintrc", "python-plugins")]),
    (&["flake8"], &[], &[(".flake8", "python-plugins"), ("tox.ini", "python-plugins")]),
    (&["coverage", "pytest"], &[], &[(".coveragerc", "python-plugins")]),
    (
        &["mypy", "dmypy", "pylint", "flake8", "coverage"],
        &[],
        &[("setup.cfg", "python-plugins"), ("pyproject.toml", "python-plugins-toml")],
    ),
    (&["rubocop", "standardrb"], &[], &[(".rubocop.yml", "ruby-plugins")]),
    (&["phpstan"], &[], &[("phpstan.neon", "php-files"), ("phpstan.neon.dist", "php-files")]),
    (&["jasmine"], &[], &[("spec/support/jasmine.json", "jasmine")]),
    (&["npm", "pnpm", "yarn", "bun"], INSTALLS, &[("package.json", "lifecycle")]),
    (&["cargo"], &[], &[("Cargo.toml", "cargo-sources"), (".config/nextest.toml", "nextest")]),
    (&["dart", "flutter", "pub"], &[], &[("pubspec.yaml", "pub-sources")]),
    (&["prove"], &[], &[(".proverc", "proverc")]),
    (&["busted"], &[], &[(".busted", "busted")]),
    (&["nyc", "ava"], &[], &[(".nycrc", "mocha"), (".nycrc.json", "mocha"), ("package.json", "mocha#nyc")]),
    (
        &["ava"],
        &[],
        &[("package.json", "mocha#ava"), ("ava.config.js", "mocha-code"), ("ava.config.mjs", "mocha-code")],
    ),
    (&["babel", "jest", "webpack", "webpack-cli", "parcel", "next"], &[], BABEL),
    (&["eslint", "next"], &[], ESLINT),
    (&["prettier"], &[], PRETTIER),
    (&["stylelint"], &[], STYLELINT),
    (&["tsc", "tspc", "ts-node"], &[], &[("tsconfig.json", "js-plugins")]),
    (&["bun"], &["test", "run"], &[("bunfig.toml", "bunfig")]),
    (&["nodemon"], &[], &[("nodemon.json", "nodemon"), ("package.json", "nodemon#nodemonconfig")]),
    (&["lint-staged"], &[], LINT_STAGED),
    (&["lefthook"], &[], LEFTHOOK),
    (&["pytest", "py.test", "tox", "nox", "coverage"], &[], PYTEST),
    (
        &["pip", "pip3", "uv", "build", "pipx"],
        &["add", "build", "install", "lock", "pip", "run", "sync", "wheel"],
        PYTHON_BUILD,
    ),
    (&["build", "pyproject-build", "hatch", "poetry", "pdm"], &[], PYTHON_BUILD),
    (
        &["tox"],
        &[],
        &[
            ("pyproject.toml", "tox-toml"),
            ("setup.cfg", TOX),
            ("tox.ini", "tox-deps"),
            ("tox.toml", "tox-toml"),
        ],
    ),
    (&["cabal"], &[], &[("cabal.project", "cabal-sources"), ("cabal.project.local", "cabal-sources")]),
    (&["deno"], &[], &[("deno.json", "deno-imports"), ("deno.jsonc", "deno-imports")]),
    (&["mix"], &[], &[("mix.exs", "mix-sources")]),
    (&["pipenv"], &[], &[("Pipfile", "pipfile")]),
    (&["pod"], &[], &[("Podfile", "podfile")]),
    (&["pre-commit", "prek"], &[], &[(".pre-commit-config.yaml", "pre-commit-repos")]),
    (&["stack"], &[], &[("stack.yaml", "stack-sources")]),
    (&["vcpkg"], &[], &[("vcpkg-configuration.json", "vcpkg-registries")]),
    (&["bundle"], &[], &[(".bundle/config", "bundle-config"), ("Gemfile", "gemfile")]),
    (&["composer"], &["install", "require", "update"], &[("composer.json", "composer-sources")]),
    (&["gradle", "gradlew"], &[], GRADLE),
    (&["mvn", "mvnd", "mvnw"], &[], MAVEN),
    (&["sbt"], &[], &[(".jvmopts", "java-options"), (".sbtopts", "java-options")]),
    (&["dotnet", "msbuild", "nuget"], &[], DOTNET),
    (&["cargo", "rustc", "rustup"], &[], &[("rust-toolchain.toml", "rust-toolchain")]),
    (&["mkdocs"], &[], &[("mkdocs.yml", "mkdocs"), ("mkdocs.yaml", "mkdocs")]),
    (&["rspec"], &[], &[(".rspec", "rspec")]),
    (&["phpunit", "paratest", "pest"], &[], &[("phpunit.xml", "phpunit"), ("phpunit.xml.dist", "phpunit")]),
    (&["air"], &[], &[(".air.toml", "air")]),
    (&["goreleaser"], &[], &[(".goreleaser.yaml", "hooks"), (".goreleaser.yml", "hooks")]),
    (&["skaffold"], &[], &[("skaffold.yaml", "skaffold")]),
    (
        &["process-compose"],
        &[],
        &[("process-compose.yaml", "processes"), ("process-compose.yml", "processes")],
    ),
    (
        &["foreman", "honcho", "overmind", "hivemind", "goreman"],
        &[],
        &[("Procfile", "procfile"), ("Procfile.dev", "procfile")],
    ),
    (&["bazel", "bazelisk"], &[], &[(".bazelrc", "bazelrc")]),
    (&["cmake"], &[], &[("CMakePresets.json", "cmake-presets"), ("CMakeUserPresets.json", "cmake-presets")]),
    (&["R", "Rscript"], &[], &[(".Rprofile", "r")]),
    (&["ghci", "cabal", "stack"], &[], &[(".ghci", "haskell")]),
    (&["ssh", "scp", "sftp", "rsync", "autossh"], &[], &[("~/.ssh/config", "ssh-config")]),
];

/// Subcommands with which package managers run the scripts of an installation. Yarn needs none.
const INSTALLS: &[&str] = &["add", "ci", "i", "install", "rebuild", "remove", "update", "upgrade"];

const VSCODE: &[Pattern] = &[
    (".vscode/launch.json", "editor"),
    (".vscode/settings.json", "editor"),
    (".vscode/tasks.json", "editor-tasks"),
];

const MOCHA: &[Pattern] = &[
    (".mocharc.cjs", "mocha-code"),
    (".mocharc.js", "mocha-code"),
    (".mocharc.json", "mocha"),
    (".mocharc.jsonc", "mocha"),
    (".mocharc.yaml", "mocha"),
    (".mocharc.yml", "mocha"),
    ("package.json", "mocha#mocha"),
];

const JEST: &[Pattern] = &[
    ("cypress.config.js", "jest-code"),
    ("cypress.config.ts", "jest-code"),
    ("jest.config.cjs", "jest-code"),
    ("jest.config.js", "jest-code"),
    ("jest.config.json", "jest"),
    ("jest.config.mjs", "jest-code"),
    ("jest.config.ts", "jest-code"),
    ("package.json", "jest#jest"),
    ("playwright.config.js", "jest-code"),
    ("playwright.config.ts", "jest-code"),
    ("vite.config.js", "jest-code"),
    ("vite.config.ts", "jest-code"),
    ("vitest.config.js", "jest-code"),
    ("vitest.config.mts", "jest-code"),
    ("vitest.config.ts", "jest-code"),
];

const BABEL: &[Pattern] = &[
    (".babelrc", "js-plugins"),
    (".babelrc.json", "js-plugins"),
    ("babel.config.js", "js-plugins-code"),
    ("babel.config.json", "js-plugins"),
    ("package.json", "js-plugins#babel"),
];

const ESLINT: &[Pattern] = &[
    (".eslintrc", "js-plugins"),
    (".eslintrc.cjs", "js-plugins-code"),
    (".eslintrc.js", "js-plugins-code"),
    (".eslintrc.json", "js-plugins"),
    (".eslintrc.yaml", "js-plugins"),
    (".eslintrc.yml", "js-plugins"),
    ("package.json", "js-plugins#eslintconfig"),
];

const PRETTIER: &[Pattern] = &[
    (".prettierrc", "js-plugins"),
    (".prettierrc.json", "js-plugins"),
    (".prettierrc.yaml", "js-plugins"),
    (".prettierrc.yml", "js-plugins"),
    ("package.json", "js-plugins#prettier"),
    ("prettier.config.js", "js-plugins-code"),
];

const STYLELINT: &[Pattern] = &[
    (".stylelintrc", "js-plugins"),
    (".stylelintrc.json", "js-plugins"),
    (".stylelintrc.yml", "js-plugins"),
    ("package.json", "js-plugins#stylelint"),
];

const LINT_STAGED: &[Pattern] = &[
    (".lintstagedrc", "patterns"),
    (".lintstagedrc.json", "patterns"),
    (".lintstagedrc.yaml", "patterns"),
    (".lintstagedrc.yml", "patterns"),
    ("package.json", "patterns#lint-staged"),
];

const LEFTHOOK: &[Pattern] = &[
    (".lefthook.yml", "hooks"),
    ("lefthook-local.yml", "hooks"),
    ("lefthook.yaml", "hooks"),
    ("lefthook.yml", "hooks"),
];

const PYTEST: &[Pattern] = &[
    ("conftest.py", "pytest-code"),
    ("pyproject.toml", "pytest-toml"),
    ("pytest.ini", "pytest"),
    ("setup.cfg", "pytest"),
    ("tests/conftest.py", "pytest-code"),
    ("tox.ini", "pytest"),
];

const GRADLE: &[Pattern] = &[
    ("gradle.properties", "gradle-properties"),
    ("gradle/wrapper/gradle-wrapper.properties", "java-wrapper"),
    ("settings.gradle", "gradle"),
    ("settings.gradle.kts", "gradle"),
    ("~/.gradle/gradle.properties", "gradle-properties"),
    ("~/.gradle/init.gradle", "gradle"),
];

const MAVEN: &[Pattern] = &[
    (".mvn/extensions.xml", "maven-extensions"),
    (".mvn/jvm.config", "java-options"),
    (".mvn/maven.config", "maven-options"),
    (".mvn/wrapper/maven-wrapper.properties", "java-wrapper"),
    ("~/.m2/settings.xml", "maven"),
];

const DOTNET: &[Pattern] = &[
    ("Directory.Build.props", "msbuild"),
    ("Directory.Build.rsp", "msbuild-options"),
    ("Directory.Build.targets", "msbuild"),
    ("Directory.Packages.props", "msbuild"),
    ("NuGet.Config", "nuget"),
    ("nuget.config", "nuget"),
];

/// Scripts of build systems, and the settings that name one.
const PYTHON_BUILD: &[Pattern] =
    &[("hatch_build.py", "python"), ("pyproject.toml", "python-build"), ("setup.py", "python")];

/// Options that name such a file, written by anyone or only by the session, and options that name its directory.
const NAMED: &[(&[&str], &str, &str, Writer)] = &[
    (&["ssh", "scp", "sftp", "autossh"], "-F", "ssh-config", Writer::Anyone),
    (&["pip", "pip3", "uv"], "-r", "requirements", Writer::Session),
    (&["pip", "pip3", "uv"], "-c", "requirements", Writer::Session),
    (&["conda", "mamba", "micromamba"], "-f", "conda-env", Writer::Session),
    (&["ansible-galaxy"], "-r", "galaxy", Writer::Session),
];

/// The writers of a file that is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Writer {
    Anyone,
    Session,
}
const DIRECTORIES: &[(&[&str], &str)] = &[(&["hg", "chg"], "-R")];

/// Returns the programs that read such a file.
pub(super) fn programs() -> impl Iterator<Item = &'static [&'static str]> {
    SETTINGS.iter().map(|(programs, ..)| *programs).chain(NAMED.iter().map(|(programs, ..)| *programs))
}

/// Programs whose first operand is such a directory.
const OPERANDS: &[&str] = &["direnv"];

/// Programs that open a project.
const OPENING: &[&str] = &[
    "code",
    "code-insiders",
    "codium",
    "cursor",
    "devcontainer",
    "hx",
    "helix",
    "vscodium",
    "windsurf",
    "zed",
];

/// Adds the programs that the settings of a command's program start.
pub(super) fn add(read: &Invocation, name: &str, sink: &mut Sink<'_, '_, '_, '_>) {
    for (_, option, language, writer) in NAMED.iter().filter(|row| is_loading(row.0, &[], name, read)) {
        for file in read.values(option).filter(|file| !matches!(file.as_str(), Some("none" | "/dev/null"))) {
            let path = file.as_str().and_then(|file| path::collapse(sink.cwd.as_deref(), file));
            if *writer == Writer::Anyone || path.is_some_and(|path| is_of_session(&path, sink)) {
                sink.program(language, From::File(file.clone()));
            }
        }
    }
    // What opens a project trusts its files, whoever wrote them.
    let is_opening = OPENING.contains(&name);
    if !is_opening && !sink.scene.has_changes() {
        return;
    }
    let Some(cwd) = sink.cwd.clone() else { return };
    for (_, _, files) in SETTINGS.iter().filter(|row| is_loading(row.0, row.1, name, read)) {
        let options = DIRECTORIES.iter().filter(|row| is_loading(row.0, &[], name, read));
        let operand = read.operands.first().map(|operand| &operand.arg).filter(|_| OPERANDS.contains(&name));
        let named =
            options.flat_map(|(_, option)| read.values(option)).chain(operand).filter_map(Arg::as_str);
        let named = named.filter_map(|directory| path::collapse(Some(&cwd), directory));
        let directories: Vec<String> = named
            .chain(above(&cwd, &sink.scene.session.setting.workspace))
            .take(LOOKED_DIRECTORIES_MAX)
            .collect();
        for (file, language) in *files {
            let paths: Vec<String> = match file.strip_prefix("~/") {
                Some(rest) => vec![below(sink.scene.session.places.home(), rest)],
                None => directories.iter().map(|directory| below(directory, file)).collect(),
            };
            for path in paths {
                if is_file(&path, sink) && (is_opening || is_of_session(&path, sink)) {
                    sink.program(language, From::File(Arg::known(path)));
                }
            }
        }
    }
}
