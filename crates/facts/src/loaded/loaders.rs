//! The programs that load code files by their names, and the names. Must not know where the files are.

use crate::language::GENERATED;

/// A pattern for names, in which `*` matches any text, and the language of such files.
pub(super) type Pattern = (&'static str, &'static str);

/// Programs, the subcommands or options with which they load files (empty: always), and the files.
pub(super) type Loader = (&'static [&'static str], &'static [&'static str], &'static [&'static [Pattern]]);

pub(super) const LOADERS: &[Loader] = &[
    (&["pytest", "py.test", "nose2", "unittest", "coverage"], &[], &[PYTHON_TESTS]),
    (
        &["tox", "nox"],
        &[],
        &[PYTHON_TESTS, &[("noxfile.py", "python"), ("setup.py", "python"), ("tox.ini", "tox")]],
    ),
    (&["pip", "pip3", "uv", "build"], &[], &[&[("setup.py", "python")]]),
    (
        &["jest", "vitest", "mocha", "_mocha", "ava", "jasmine", "karma", "cypress", "playwright"],
        &[],
        &[JS_TESTS, JS_CONFIGURATIONS],
    ),
    (
        &[
            "vite",
            "webpack",
            "webpack-cli",
            "rollup",
            "esbuild",
            "next",
            "nuxt",
            "astro",
            "eslint",
            "prettier",
            "stylelint",
            "babel",
            "storybook",
            "tsup",
            "gulp",
            "grunt",
            "parcel",
            "tailwindcss",
        ],
        &[],
        &[JS_CONFIGURATIONS],
    ),
    (&["sphinx-build", "sphinx-autobuild", "mkdocs"], &[], &[&[("conf.py", "python")]]),
    (&["tap", "typedoc"], &[], &[JS_TESTS, JS_CONFIGURATIONS]),
    (
        &["nightwatch", "wdio", "testcafe", "codeceptjs", "cucumber-js", "stryker", "c8", "nyc", "ts-mocha"],
        &[],
        &[JS_TESTS, JS_CONFIGURATIONS],
    ),
    (&["behave"], &[], &[&[("environment.py", "python")]]),
    (&["conan"], &[], &[&[("conanfile.py", "python")]]),
    (&["vcpkg"], &[], &[&[("*.cmake", "cmake")]]),
    (&["gem"], &["build", "install"], &[&[("*.gemspec", "ruby")]]),
    (&["pod"], &[], &[&[("*.podspec", "commands")]]),
    (&["luarocks"], &["build", "install", "make"], &[&[("*.rockspec", "rockspec")]]),
    (&["opam", "dune"], &[], &[&[("*.opam", "opam"), ("opam", "opam")]]),
    (
        &["npm", "pnpm", "yarn", "bun"],
        &["add", "ci", "i", "install", "rebuild"],
        &[&[("package.json", "lifecycle")]],
    ),
    (&["rspec", "minitest"], &[], &[&[("*_spec.rb", "ruby"), ("*_helper.rb", "ruby")]]),
    (
        &["rake", "thor"],
        &[],
        &[&[("Rakefile", "ruby"), ("*.rake", "ruby"), ("Thorfile", "ruby"), ("*_test.rb", "ruby")]],
    ),
    (&["bundle"], &[], &[&[("Gemfile", "ruby"), ("*.gemspec", "ruby")]]),
    (
        &["phpunit", "pest", "paratest"],
        &[],
        &[&[("*Test.php", "php"), ("bootstrap.php", "php"), ("Pest.php", "php")]],
    ),
    (
        &["cargo"],
        &["build", "check", "test", "run", "clippy", "bench", "doc", "install"],
        &[&[("build.rs", "rust")]],
    ),
    (&["cargo"], &["test", "bench", "run"], &[&[("*.rs", SOURCE)]]),
    (&["go"], &["test", "run"], &[&[("*.go", SOURCE)]]),
    (&["go"], &["generate"], &[&[("*.go", GENERATED)]]),
    (&["node"], &["--test"], &[JS_TESTS, JS_TESTS_OF_NODE]),
    (&["bun", "deno"], &["test", "bench"], &[JS_TESTS, JS_TESTS_OF_DENO]),
    (&["gradle", "gradlew"], &[], &[&[("*.gradle", "gradle"), ("*.gradle.kts", "gradle")]]),
    (&["mvn", "mvnw", "mvnd"], &[], &[&[("pom.xml", "maven")]]),
    (&["ant"], &[], &[&[("build.xml", "ant")]]),
    (&["dotnet", "msbuild"], MSBUILD_BUILDS, &[MSBUILD_FILES]),
    (&["cmake", "ctest", "ninja"], &[], &[&[("CMakeLists.txt", "cmake"), ("*.cmake", "cmake")]]),
    (&["meson", "ninja"], &[], &[&[("meson.build", "meson")]]),
    (&["dune"], &[], &[&[("dune", "dune"), ("dune.inc", "dune")]]),
    (&["bazel", "bazelisk"], &[], &[BAZEL_FILES]),
    (&["terraform", "tofu", "terragrunt"], TERRAFORM_CHANGES, &[TERRAFORM_FILES]),
    (&["terraform", "tofu", "terragrunt"], TERRAFORM_READS, &[TERRAFORM_DATA]),
    (
        &["terraform", "tofu", "terragrunt"],
        &["get", "init"],
        &[&[
            ("*.tf", "terraform-sources"),
            ("*.tf.json", "terraform-json-sources"),
            ("*.tofu", "terraform-sources"),
        ]],
    ),
    (&["terragrunt"], &[], &[&[("*.hcl", "terragrunt")]]),
    (&["mix", "iex"], &[], &[&[("mix.exs", "mix"), ("config.exs", "mix"), (".formatter.exs", "mix")]]),
    (&["mix", "iex"], &[], &[&[("dev.exs", "mix"), ("test.exs", "mix"), ("runtime.exs", "mix")]]),
    (&["mix"], &["test"], &[&[("test_helper.exs", "mix"), ("*_test.exs", "mix")]]),
    (&["sbt"], &[], &[&[("*.sbt", "sbt")]]),
    (&["rebar3"], &[], &[&[("rebar.config", "rebar")]]),
    (&["nx"], &[], &[&[("project.json", NX)]]),
    (&["lerna", "nx", "rush", "turbo"], &[], &[&[("package.json", PACKAGE_SCRIPT)]]),
    (&["ninja"], &[], &[&[("build.ninja", "ninja")]]),
    (
        &["pulumi"],
        &["pre", "preview", "refresh", "up", "update"],
        &[&[("index.ts", "javascript"), ("__main__.py", "python")]],
    ),
    (
        &["npm", "pnpm", "yarn"],
        &["build", "ci", "configure", "i", "install", "rebuild"],
        &[&[("binding.gyp", "gyp")]],
    ),
    (
        &["autoconf", "autoreconf", "aclocal"],
        &[],
        &[&[("configure.ac", "autoconf"), ("aclocal.m4", "autoconf"), ("configure.in", "autoconf")]],
    ),
    (&["swift"], &[], &[&[("Package.swift", "swift-package")]]),
    (&["node-gyp"], &[], &[&[("binding.gyp", "gyp")]]),
    (&["scons"], &[], &[&[("SConstruct", "scons"), ("SConscript", "scons")]]),
    (&["zig"], &[], &[&[("build.zig", "zig-build")]]),
    (
        &["nix", "nix-build", "nix-shell"],
        &[],
        &[&[("flake.nix", "nix-file"), ("shell.nix", "nix-file"), ("default.nix", "nix-file")]],
    ),
];

const BAZEL_FILES: &[Pattern] = &[
    ("BUILD", "bazel"),
    ("BUILD.bazel", "bazel"),
    ("MODULE.bazel", "bazel"),
    ("WORKSPACE", "bazel"),
    ("WORKSPACE.bazel", "bazel"),
    ("*.bzl", "bazel"),
];

const MSBUILD_BUILDS: &[&str] = &["build", "msbuild", "pack", "publish", "restore", "run", "test", "watch"];

const MSBUILD_FILES: &[Pattern] = &[
    ("*.*proj", "msbuild"),
    ("Directory.Build.*", "msbuild"),
    ("*.targets", "msbuild"),
    ("*.props", "msbuild"),
];

const TERRAFORM_FILES: &[Pattern] = &[
    ("*.tf", "terraform"),
    ("*.tf.json", "terraform-json"),
    ("*.tofu", "terraform"),
    ("*.tofu.json", "terraform-json"),
];

const TERRAFORM_DATA: &[Pattern] = &[
    ("*.tf", "terraform-data"),
    ("*.tf.json", "terraform-json-data"),
    ("*.tofu", "terraform-data"),
    ("*.tofu.json", "terraform-json-data"),
];

const TERRAFORM_CHANGES: &[&str] = &["apply", "destroy", "run-all", "test"];

const TERRAFORM_READS: &[&str] = &["console", "import", "plan", "refresh"];

const PYTHON_TESTS: &[Pattern] =
    &[("conftest.py", "python"), ("test_*.py", "python"), ("*_test.py", "python")];

const JS_TESTS: &[Pattern] = &[
    ("*.test.*s", "javascript"),
    ("*.spec.*s", "javascript"),
    ("*.test.*sx", "javascript"),
    ("*.cy.*s", "javascript"),
];

const JS_TESTS_OF_NODE: &[Pattern] = &[
    ("*-test.*js", "javascript"),
    ("*_test.*js", "javascript"),
    ("test-*.*js", "javascript"),
    ("test.*js", "javascript"),
];

const JS_TESTS_OF_DENO: &[Pattern] = &[
    ("*_test.*s", "javascript"),
    ("*_spec.*s", "javascript"),
    ("*_bench.*s", "javascript"),
    ("*.bench.*s", "javascript"),
    ("test.*s", "javascript"),
];

/// Language of a program's own sources. The effects only record their execution and origin: agents write and test such
/// programs all day, and the agent's own permissions decide about them.
pub(super) const SOURCE: &str = "";

/// Languages whose files are compiled into one program: a requested test is built with all others.
pub(super) const COMPILED: &[&str] = &[SOURCE, "rust", GENERATED];

const JS_CONFIGURATIONS: &[Pattern] = &[
    ("*.config.js", "javascript"),
    ("*.config.cjs", "javascript"),
    ("*.config.mjs", "javascript"),
    ("*.config.ts", "javascript"),
    ("*.config.mts", "javascript"),
    ("*.conf.*js", "javascript"),
    ("*.conf.ts", "javascript"),
    (".*rc.js", "javascript"),
    (".*rc.cjs", "javascript"),
    (".*rc.mjs", "javascript"),
    ("*.setup.*s", "javascript"),
    ("Gruntfile.js", "javascript"),
    ("gulpfile.*", "javascript"),
];

/// Programs that build in another directory than that of the sources, or that load files of other directories, so all of
/// the workspace may be loaded.
pub(super) const IN_OWN_DIRECTORY: &[&str] =
    &["cmake", "ctest", "meson", "ninja", "terraform", "terragrunt", "tofu"];

/// Settings with the tasks of a project of Nx, and the scripts of a package; the name of one follows.
pub(super) const NX: &str = "nx#targets";
pub(super) const PACKAGE_SCRIPT: &str = "script#scripts";

pub(super) const JS_RUNNERS: &[&str] =
    &["mocha", "_mocha", "ava", "jasmine", "jest", "vitest", "karma", "cypress", "playwright", "node"];

pub(super) const TEST_DIRECTORIES: &[&str] = &["__tests__", "spec", "specs", "test", "tests"];

pub(super) const JS_ENDINGS: &[&str] = &[".cjs", ".cts", ".js", ".jsx", ".mjs", ".mts", ".ts", ".tsx"];
