//! Files of settings other than git's: their formats, and the settings by which they start programs or load code.
//! Sources: the manuals of Mercurial 6.7 (hgrc), npm 10 (npmrc), Yarn 1.22 and 4.5, Jujutsu 0.25, mise 2024.11, OpenSSH
//! 9.7 (`ssh_config`), Jest 29, Vitest 2, Mocha 10, nyc 17, Babel 7, ESLint 8, Prettier 3, Stylelint 16, pytest 8,
//! setuptools and hatch builds (PEP 517), tox 4, `RSpec` 3.13, `PHPUnit` 11, nodemon 3, lefthook 1, lint-staged 15, Nx 20, air
//! 1.61, `GoReleaser` 2, Skaffold 2, process-compose 1, Bazel 7, CMake 3.31, `MkDocs` 1.6, Bun 1.

use crate::language::TOX;

/// Format of a program's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// `[section]`, then `name = value`: the name of a setting is `section.name`.
    Sections,
    /// `name value` on each line.
    Lines,
    /// TOML: the names of all tables around a setting are part of its name.
    Toml,
    Yaml,
    /// JSON with comments, or YAML.
    Data,
    /// A program or another text with `name: value` or `name = value`, whose values are texts.
    Code,
    /// Words `name=value`.
    Words,
    /// One item on each line: its first word is the name, and all of it the value if it has no other words.
    Items,
    /// The whole text is the value of a setting without a name.
    Whole,
}

/// How the value of a setting starts something.
#[derive(Debug, Clone, Copy)]
pub(super) enum Value {
    /// Shell text.
    Shell,
    /// The words of a command.
    Words,
    /// Shell text after `!`.
    Marked,
    /// Shell text, unless it names a Python function.
    Hook,
    /// A file in this language; nothing if the value is not a path.
    File(&'static str),
    /// Options of node.
    Options,
    /// Options with which this program is started.
    OptionsOf(&'static str),
    /// A directory with this program, which counts if it is a script of the session.
    Below(&'static str),
    /// Options of `MSBuild`. Those that may name code are Unknown.
    MsBuild,
    /// Each text of a list is shell text.
    Each,
    /// Files that are loaded as code in this language, or installed packages.
    Modules(&'static str),
    /// A module of Python by its dotted name.
    Dotted,
    /// Options of a program, some of which (`-p`) name such modules.
    Plugins,
    /// Text in this language.
    Text(&'static str),
    /// The value has the effect that an editor runs something when it opens the project.
    Opens(&'static [&'static str]),
    /// A program that an editor starts when it opens the project.
    OpensProgram,
    /// Like this, but no shell or interpreter, which takes its code from other settings.
    OpensServer,
    /// The address of a package for this package manager.
    Fetched(&'static str),
    /// A repository on GitHub for this package manager, by its name.
    Hosted(&'static str),
    /// The address of a registry.
    Registry,
    /// Another such file.
    Settings,
    /// Code that castellan does not read.
    Unknown,
    /// A command that the program has itself: starts nothing.
    Nothing,
}

/// Files of settings: the word for their language, their format, and settings by their names in lower case. The first
/// match applies; `*` matches any text.
pub(super) type Files = (&'static str, Format, &'static [(&'static str, Value)]);

pub(super) const FILES: &[Files] = &[
    (
        "hgrc",
        Format::Sections,
        &[
            ("hooks.*", Value::Hook),
            ("alias.*", Value::Marked),
            ("extensions.*", Value::File("python")),
            ("ui.editor", Value::Shell),
            ("ui.ssh", Value::Shell),
            ("ui.merge", Value::Shell),
            ("ui.askusername", Value::Nothing),
            ("pager.pager", Value::Shell),
            ("merge-tools.*.executable", Value::Shell),
            ("extdiff.cmd.*", Value::Shell),
            ("encode.*", Value::Shell),
            ("decode.*", Value::Shell),
            ("%include", Value::Settings),
        ],
    ),
    (
        "npmrc",
        Format::Sections,
        &[
            ("script-shell", Value::Shell),
            ("shell", Value::Shell),
            ("git", Value::Shell),
            ("editor", Value::Shell),
            ("viewer", Value::Shell),
            ("node-options", Value::Options),
            ("global-pnpmfile", Value::File("node")),
            ("init-module", Value::File("node")),
            ("pnpmfile", Value::File("node")),
            ("onload-script", Value::File("node")),
            ("globalconfig", Value::Settings),
            ("userconfig", Value::Settings),
        ],
    ),
    ("yarnrc", Format::Lines, &[("yarn-path", Value::File("node")), ("script-shell", Value::Shell)]),
    ("yarnrc-yml", Format::Yaml, &[("yarnpath", Value::File("node")), ("plugins.*", Value::File("node"))]),
    (
        "jj-config",
        Format::Toml,
        &[
            ("ui.editor", Value::Shell),
            ("ui.pager", Value::Shell),
            ("ui.diff.tool", Value::Nothing),
            ("fix.tools.*.command", Value::Shell),
            ("merge-tools.*.program", Value::Shell),
            ("signing.backends.*.program", Value::Shell),
            ("git.executable-path", Value::Shell),
            ("aliases.*", Value::Shell),
        ],
    ),
    (
        "mise",
        Format::Toml,
        &[
            ("hooks.*", Value::Shell),
            ("tasks.*.run", Value::Shell),
            ("tasks.*", Value::Shell),
            ("env._.source", Value::File("sh")),
            ("watch_files.*.run", Value::Shell),
        ],
    ),
    (
        "ssh-config",
        Format::Lines,
        &[
            ("proxycommand", Value::Shell),
            ("localcommand", Value::Shell),
            ("knownhostscommand", Value::Shell),
            ("xauthlocation", Value::Shell),
            ("pkcs11provider", Value::File("")),
            ("securitykeyprovider", Value::File("")),
            ("include", Value::Settings),
        ],
    ),
    ("jest", Format::Data, JEST),
    ("jest-code", Format::Code, JEST),
    ("mocha", Format::Data, MOCHA),
    ("mocha-code", Format::Code, MOCHA),
    ("js-plugins", Format::Data, JS_PLUGINS),
    ("js-plugins-code", Format::Code, JS_PLUGINS),
    ("pytest", Format::Sections, PYTEST),
    ("pytest-toml", Format::Toml, PYTEST),
    ("pytest-code", Format::Code, &[("pytest_plugins", Value::Dotted)]),
    (
        "python-build",
        Format::Toml,
        &[
            ("build-system.build-backend", Value::Dotted),
            ("build-system.requires", Value::Fetched("pip")),
            ("dependency-groups.*", Value::Fetched("pip")),
            ("project.*dependencies*", Value::Fetched("pip")),
            ("tool.*.source.item.url", Value::Registry),
            ("tool.*dependencies.*.git", Value::Fetched("pip")),
            ("tool.*dependencies.*.url", Value::Fetched("pip")),
            ("tool.uv.*index.item.url", Value::Registry),
            ("tool.uv.*index-url", Value::Registry),
            ("tool.uv.sources.*.git", Value::Fetched("pip")),
            ("tool.uv.sources.*.url", Value::Fetched("pip")),
            ("tool.poetry.build", Value::Modules("python")),
            ("tool.poetry.build.script", Value::Modules("python")),
            ("tool.hatch.build.*hooks.custom.path", Value::Modules("python")),
            ("tool.pdm.build.custom-hook", Value::Modules("python")),
            ("tool.pdm.scripts.post_*", Value::Shell),
            ("tool.pdm.scripts.pre_*", Value::Shell),
        ],
    ),
    ("python-plugins", Format::Sections, PYTHON_PLUGINS),
    ("python-plugins-toml", Format::Toml, PYTHON_PLUGINS),
    (
        "ruby-plugins",
        Format::Data,
        &[("require", Value::Modules("ruby")), ("plugins", Value::Modules("ruby"))],
    ),
    ("php-files", Format::Data, &[("*bootstrapfiles", Value::Modules("php"))]),
    ("jasmine", Format::Data, &[("helpers", Value::Modules("node")), ("requires", Value::Modules("node"))]),
    ("commands", Format::Code, &[("command", Value::Shell), ("*.prepare_command", Value::Shell)]),
    ("lifecycle", Format::Data, LIFECYCLE),
    ("cargo-sources", Format::Toml, &[("*.git", Value::Fetched("cargo"))]),
    ("pub-sources", Format::Data, &[("*.git", Value::Fetched("pub")), ("*.git.url", Value::Fetched("pub"))]),
    ("nextest", Format::Toml, &[("scripts.*command", Value::Shell)]),
    (
        "proverc",
        Format::Lines,
        &[("--exec", Value::Shell), ("-e", Value::Shell), ("--source", Value::Nothing)],
    ),
    ("busted", Format::Code, &[("helper", Value::Modules("lua"))]),
    (
        "tox-toml",
        Format::Toml,
        &[
            ("tool.tox.legacy_tox_ini", Value::Text(TOX)),
            ("*commands", Value::Shell),
            ("*commands*.item", Value::Shell),
        ],
    ),
    ("rspec", Format::Lines, &[("--require", Value::Modules("ruby")), ("-r", Value::Modules("ruby"))]),
    ("phpunit", Format::Code, &[("bootstrap", Value::Modules("php"))]),
    (
        "nodemon",
        Format::Data,
        &[("exec", Value::Shell), ("events.*", Value::Shell), ("execmap.*", Value::Shell)],
    ),
    (
        "hooks",
        Format::Data,
        &[
            ("*.run", Value::Shell),
            ("*hooks", Value::Each),
            ("*hooks.item.cmd", Value::Shell),
            ("*hooks.*.cmd", Value::Shell),
        ],
    ),
    ("patterns", Format::Data, &[("*", Value::Each)]),
    (
        "nx",
        Format::Data,
        &[("command", Value::Shell), ("options.*command", Value::Shell), ("options.commands", Value::Each)],
    ),
    ("air", Format::Toml, &[("build.cmd", Value::Shell), ("build.*_cmd", Value::Each)]),
    ("skaffold", Format::Data, &[("*buildcommand", Value::Shell), ("*.command", Value::Shell)]),
    ("processes", Format::Data, &[("processes.*.command", Value::Shell)]),
    ("procfile", Format::Lines, &[("*:", Value::Shell)]),
    (
        "bazelrc",
        Format::Words,
        &[
            ("--workspace_status_command", Value::Shell),
            ("--run_under", Value::Shell),
            ("--shell_executable", Value::Shell),
        ],
    ),
    (
        "cmake-presets",
        Format::Data,
        &[
            ("*_launcher", Value::Shell),
            ("*_compiler", Value::Shell),
            ("*toolchainfile", Value::Modules("cmake")),
            ("*toolchain_file", Value::Modules("cmake")),
        ],
    ),
    ("mkdocs", Format::Data, &[("hooks", Value::Modules("python"))]),
    (
        "bunfig",
        Format::Toml,
        &[("preload", Value::Modules("node")), ("test.preload", Value::Modules("node"))],
    ),
    ("editor", Format::Code, EDITOR),
    ("helix", Format::Toml, &[("language-server.*.command", Value::OpensServer)]),
    (
        "zed",
        Format::Data,
        &[("lsp.*.path", Value::OpensServer), ("terminal.shell.*program", Value::OpensProgram)],
    ),
    ("editor-tasks", Format::Code, &[("runon", Value::Opens(&["folderOpen"]))]),
    (
        "devcontainer",
        Format::Data,
        &[
            ("initializecommand*", Value::Opens(&[])),
            ("*command", Value::Shell),
            ("*command.*", Value::Shell),
        ],
    ),
    ("script", Format::Data, &[("", Value::Shell)]),
    ("bundle-config", Format::Lines, &[("bundle_mirror__*", Value::Registry)]),
    (
        "composer-sources",
        Format::Data,
        &[("repositories.*.url", Value::Registry), ("repositories.item.url", Value::Registry)],
    ),
    ("cabal-sources", Format::Lines, &[("location:", Value::Fetched("hackage"))]),
    ("conda-env", Format::Data, &[("dependencies.item.pip", Value::Fetched("pip"))]),
    ("deno-imports", Format::Data, &[("imports.*", Value::Registry), ("scopes.*", Value::Registry)]),
    ("galaxy", Format::Data, &[("*name", Value::Fetched("ansible")), ("*src", Value::Fetched("ansible"))]),
    ("gemfile", Format::Code, &[("*git", Value::Fetched("gem")), ("*github", Value::Hosted("gem"))]),
    ("mix-sources", Format::Code, &[("*git", Value::Fetched("hex")), ("*github", Value::Hosted("hex"))]),
    (
        "pipfile",
        Format::Toml,
        &[("source.item.url", Value::Registry), ("*packages.*.git", Value::Fetched("pip"))],
    ),
    ("podfile", Format::Code, &[("*git", Value::Fetched("cocoapods"))]),
    ("pre-commit-repos", Format::Data, &[("repos.item.repo", Value::Fetched("pre-commit"))]),
    ("stack-sources", Format::Data, &[("extra-deps.item.git", Value::Fetched("hackage"))]),
    ("terraform-json-sources", Format::Data, &[("*module.*source", Value::Fetched("terraform"))]),
    ("vcpkg-registries", Format::Data, &[("*repository", Value::Fetched("vcpkg"))]),
    (
        "gradle-properties",
        Format::Sections,
        &[
            ("org.gradle.java.home", Value::Below("bin/java")),
            ("org.gradle.jvmargs", Value::OptionsOf("java")),
        ],
    ),
    ("java-options", Format::Whole, &[("", Value::OptionsOf("java"))]),
    (
        "java-wrapper",
        Format::Sections,
        &[("distributionurl", Value::Registry), ("wrapperurl", Value::Registry)],
    ),
    ("maven-extensions", Format::Whole, &[("", Value::Unknown)]),
    ("maven-options", Format::Whole, &[("", Value::OptionsOf("mvn"))]),
    ("msbuild-options", Format::Whole, &[("", Value::MsBuild)]),
    ("nuget", Format::Code, &[("value", Value::Registry)]),
    ("requirements", Format::Items, REQUIREMENTS),
    ("rust-toolchain", Format::Toml, &[("toolchain.path", Value::Below("bin/rustc"))]),
    (
        "terraform-json",
        Format::Data,
        &[("*external.*program", Value::Words), ("*local-exec*command", Value::Shell)],
    ),
    ("terraform-json-data", Format::Data, &[("*external.*program", Value::Words)]),
    ("tox-deps", Format::Sections, &[("*.deps", Value::Fetched("pip"))]),
];

/// Lines of a file of requirements, of pip 24.
const REQUIREMENTS: &[(&str, Value)] = &[
    ("--constraint", Value::Settings),
    ("--extra-index-url", Value::Registry),
    ("--find-links", Value::Registry),
    ("--index-url", Value::Registry),
    ("--requirement", Value::Settings),
    ("-c", Value::Settings),
    ("-f", Value::Registry),
    ("-i", Value::Registry),
    ("-r", Value::Settings),
    ("*", Value::Fetched("pip")),
];

/// Settings of editors. Their files may be edited in parts, so only names and values are read.
const EDITOR: &[(&str, Value)] = &[
    ("*configpath", Value::Nothing),
    ("*.path", Value::OpensProgram),
    ("path", Value::OpensProgram),
    ("*executablepath", Value::OpensProgram),
    ("*interpreterpath", Value::OpensProgram),
    ("*nodepath", Value::OpensProgram),
    ("*binarypath", Value::OpensProgram),
    ("*serverpath", Value::OpensProgram),
    ("*toolpath", Value::OpensProgram),
    ("*runtimeexecutable", Value::OpensProgram),
    ("*.shell.*", Value::OpensProgram),
    ("*exec", Value::OpensProgram),
    ("task.allowautomatictasks", Value::Opens(&["on"])),
];

/// Settings of mypy 1, pylint 3, flake8 7 and coverage 7.
const PYTHON_PLUGINS: &[(&str, Value)] = &[
    ("*init-hook", Value::Text("python")),
    ("*load-plugins", Value::Dotted),
    ("*mypy.plugins", Value::Dotted),
    ("flake8:local-plugins.*", Value::Dotted),
    ("*run.plugins", Value::Dotted),
];

/// Scripts that an installation runs, and packages from an address.
const LIFECYCLE: &[(&str, Value)] = &[
    ("scripts.install", Value::Shell),
    ("scripts.pnpm:devpreinstall", Value::Shell),
    ("scripts.postinstall", Value::Shell),
    ("scripts.postprepare", Value::Shell),
    ("scripts.preinstall", Value::Shell),
    ("scripts.prepare", Value::Shell),
    ("scripts.preprepare", Value::Shell),
    ("*dependencies.*", Value::Fetched("npm")),
    ("*overrides.*", Value::Fetched("npm")),
    ("packagemanager", Value::Fetched("npm")),
    ("resolutions.*", Value::Fetched("npm")),
];

const JEST: &[(&str, Value)] = &[
    ("*globalsetup", Value::Modules("node")),
    ("*globalteardown", Value::Modules("node")),
    ("*setupfiles", Value::Modules("node")),
    ("*setupfilesafterenv", Value::Modules("node")),
    ("*environment", Value::Modules("node")),
    ("*preset", Value::Modules("node")),
    ("*reporter*", Value::Modules("node")),
    ("*resolver", Value::Modules("node")),
    ("*runner", Value::Modules("node")),
    ("*snapshotserializers", Value::Modules("node")),
    ("*supportfile", Value::Modules("node")),
    ("*testsequencer", Value::Modules("node")),
    ("*transform.*", Value::Modules("node")),
    ("*transform", Value::Modules("node")),
    ("*watchplugins*", Value::Modules("node")),
];

const MOCHA: &[(&str, Value)] = &[
    ("file", Value::Modules("node")),
    ("import", Value::Modules("node")),
    ("loader", Value::Modules("node")),
    ("reporter", Value::Modules("node")),
    ("require", Value::Modules("node")),
    ("spec", Value::Modules("node")),
    ("ui", Value::Modules("node")),
];

const JS_PLUGINS: &[(&str, Value)] = &[
    ("*customsyntax", Value::Modules("node")),
    ("*extends", Value::Modules("node")),
    ("*parser", Value::Modules("node")),
    ("*plugins", Value::Modules("node")),
    ("*plugins.item", Value::Modules("node")),
    ("*plugins.item.transform", Value::Modules("node")),
    ("*presets", Value::Modules("node")),
    ("*presets.item", Value::Modules("node")),
    ("*processors", Value::Modules("node")),
    ("*rulepaths", Value::Modules("node")),
];

const PYTEST: &[(&str, Value)] = &[
    ("pytest.addopts", Value::Plugins),
    ("tool:pytest.addopts", Value::Plugins),
    ("tool.pytest.ini_options.addopts", Value::Plugins),
];
