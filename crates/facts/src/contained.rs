//! Files that contained commands wrote. Nobody has read them, so running or loading one is code that castellan does not
//! understand, whatever is in it. It must not know who contained a command.

mod copies;

use castellan_event::{Effect, Facts, Role, Why};
use castellan_programs::{Attribute, Invocation, base_name};

pub use self::copies::ContainedMarks;
pub(crate) use self::copies::{of_call, of_command};
use crate::limits::CONTAINED_FILES_REPORTED_MAX;
use crate::scene::Scene;
use crate::sink::Sink;

/// Programs that load files of the project and are in no table of loaders.
const LOADERS: &[&str] = &[
    "ansible",
    "ansible-playbook",
    "as",
    "asdf",
    "bazel",
    "bmake",
    "buildah",
    "c++",
    "cc",
    "clang",
    "clang++",
    "code",
    "cursor",
    "devbox",
    "direnv",
    "docker",
    "docker-compose",
    "emacs",
    "g++",
    "gcc",
    "gdb",
    "gfortran",
    "ghc",
    "gmake",
    "helm",
    "helmfile",
    "idea",
    "java",
    "javac",
    "ld",
    "lldb",
    "make",
    "mise",
    "ninja",
    "nix",
    "nix-build",
    "nix-shell",
    "nvim",
    "packer",
    "pkl",
    "podman",
    "podman-compose",
    "pulumi",
    "rustc",
    "samu",
    "skaffold",
    "terraform",
    "tofu",
    "vagrant",
    "vi",
    "vim",
];

/// Package managers, and the words that only install: then only the files that name packages matter.
const INSTALLERS: &[(&[&str], &[&str])] = &[
    (
        &["npm", "pnpm", "yarn", "bun"],
        &["add", "ci", "i", "install", "remove", "uninstall", "update", "upgrade"],
    ),
    (
        &["pip", "pip3", "pipx", "uv", "poetry", "pdm"],
        &["add", "install", "lock", "remove", "sync", "uninstall"],
    ),
    (&["cargo"], &["add", "fetch", "remove", "update", "vendor"]),
    (&["go"], &["get", "mod"]),
    (&["bundle", "gem", "composer"], &["add", "install", "lock", "remove", "require", "update"]),
];

/// Beginnings of the names of files that name packages, their sources, or code that runs when they are installed.
const MANIFESTS: &[&str] = &[
    ".bunfig",
    ".cargo",
    ".npmrc",
    ".pnpmfile",
    ".yarn",
    "Cargo",
    "Gemfile",
    "binding.gyp",
    "build.rs",
    "bun",
    "composer",
    "config.toml",
    "go.mod",
    "go.sum",
    "go.work",
    "package",
    "pdm",
    "pip.conf",
    "pnpm",
    "poetry",
    "pyproject",
    "requirements",
    "setup",
    "uv",
    "yarn",
];

/// Notices a program of the call that may load files of the project. `is_loader`: it is in a table of loaders.
pub(crate) fn add(name: &str, read: &Invocation, is_loader: bool, sink: &mut Sink<'_, '_, '_, '_>) {
    let is_known = is_loader && !sink.is_of_versions || LOADERS.contains(&name);
    // A dry run loads the same files.
    if !is_known || read.is(Attribute::Inert) {
        return;
    }
    let is_word = |words: &[&str]| read.subcommand.first().is_some_and(|word| words.contains(word));
    let installs = INSTALLERS.iter().any(|(names, words)| names.contains(&name) && is_word(words));
    sink.loads_project(|path| !installs || is_manifest(path));
}

fn is_manifest(path: &str) -> bool {
    // A directory may hold any file.
    let name = base_name(path);
    !name.contains('.') || MANIFESTS.iter().any(|begin| name.starts_with(begin))
}

/// Adds an Opaque effect for each of the first files that the call runs or loads.
pub(crate) fn report(scene: &mut Scene<'_, '_, '_>, facts: &mut Facts) {
    let files = std::mem::take(&mut scene.contained);
    let reported = files.into_iter().take(CONTAINED_FILES_REPORTED_MAX);
    facts.effects.extend(reported.map(|file| Effect::opaque(Role::Code, Why::Contained, Some(file))));
}
