//! Files that contained commands wrote. Nobody has read them, so running or loading one is code that castellan does not
//! understand, whatever is in it. It must not know who contained a command.

use castellan_event::{Effect, Facts, Role, Why};
use castellan_programs::{Attribute, Invocation, base_name};

use crate::command::is_version_control;
use crate::limits::CONTAINED_FILES_TOLD_MAX;
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

/// Endings of files that no program loads as code or settings.
const INERT: &[&str] = &[
    ".csv", ".diff", ".gif", ".jpeg", ".jpg", ".log", ".md", ".mp3", ".mp4", ".otf", ".patch", ".pdf",
    ".png", ".rst", ".svg", ".tsv", ".ttf", ".webp", ".woff", ".woff2",
];

/// Notices a program of the call that may load files of the project. `is_loader`: it is in a table of loaders.
pub(crate) fn add(name: &str, read: &Invocation, is_loader: bool, sink: &mut Sink<'_, '_, '_, '_>) {
    let is_known = is_loader && !is_version_control(name) || LOADERS.contains(&name);
    // A dry run loads the same files.
    if !is_known || read.is(Attribute::Inert) {
        return;
    }
    let is_word = |words: &[&str]| read.subcommand.first().is_some_and(|word| words.contains(word));
    let installs = INSTALLERS.iter().any(|(names, words)| names.contains(&name) && is_word(words));
    find(sink, |path| !installs || is_manifest(path));
}

/// Notices a program that may load any file of the project.
pub(crate) fn load(sink: &mut Sink<'_, '_, '_, '_>) {
    find(sink, |_| true);
}

/// Stores the first file of a contained command that `may_load` accepts, in the workspace, below the directory of the
/// command, or beside a directory above it.
fn find(sink: &mut Sink<'_, '_, '_, '_>, may_load: impl Fn(&str) -> bool) {
    let contained = &sink.scene.session.setting.contained;
    if contained.is_empty() || sink.setup.remote {
        return;
    }
    let workspace = sink.scene.session.setting.workspace.trim_end_matches('/');
    let cwd = sink.cwd.as_deref().unwrap_or(workspace);
    let is_below = |path: &str, root: &str| {
        !root.is_empty()
            && path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let is_near = |path: &str| {
        let beside = path.rsplit_once('/').map_or("", |(directory, _)| directory);
        is_below(path, workspace) || is_below(path, cwd) || is_below(cwd, beside) || is_below(cwd, path)
    };
    let is_inert = |path: &str| INERT.iter().any(|end| path.ends_with(end));
    let found = contained.iter().find(|path| is_near(path) && !is_inert(path) && may_load(path));
    let found = found.cloned();
    sink.scene.contained.extend(found);
}

fn is_manifest(path: &str) -> bool {
    // A directory may hold any file.
    let name = base_name(path);
    !name.contains('.') || MANIFESTS.iter().any(|begin| name.starts_with(begin))
}

impl Scene<'_, '_, '_> {
    /// Notices that a file runs or is loaded.
    pub(crate) fn meet_contained(&mut self, path: &str) {
        if self.session.is_contained(path) {
            self.contained.insert(path.to_owned());
        }
    }
}

/// Adds an Opaque effect for each of the first files that the call runs or loads.
pub(crate) fn report(scene: &mut Scene<'_, '_, '_>, facts: &mut Facts) {
    let files = std::mem::take(&mut scene.contained);
    let told = files.into_iter().take(CONTAINED_FILES_TOLD_MAX);
    facts.effects.extend(told.map(|file| Effect::opaque(Role::Code, Why::Contained, Some(file))));
}
