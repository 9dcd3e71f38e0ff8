//! Files of the session that a tool's files may load in turn: modules, helpers, sources, files of any name. They are
//! read apart: they only count if they do harm. Must not know what a tool loads first.

use std::collections::BTreeSet;

use castellan_event::{Effect, EffectKind, Facts, Role, Scope, Why};
use castellan_programs::{Arg, Invocation};

use super::inert::is_inert;
use super::{JS_ENDINGS, Pattern, is_loading};
use crate::limits::LOADED_FILES_MAX;
use crate::next::{Apart, From, Next, Place, Program, Progress};
use crate::scene::Scene;
use crate::sink::Sink;

/// Endings of programs in languages that castellan reads.
pub(super) const SOURCES: &[(&[&str], &str)] =
    &[(JS_ENDINGS, "javascript"), (&[".py"], "python"), (&[".rb"], "ruby"), (&[".php"], "php")];

/// Programs, subcommands, endings and a language.
type Run = (&'static [&'static str], &'static [&'static str], &'static [&'static str], &'static str);

/// Programs that run sources, their subcommands for it (empty: any), the endings of the sources, and the language by
/// whose rules castellan finds the commands in them.
const RUN: &[Run] = &[
    (&["go"], &["run", "test"], &[".go"], "go-code"),
    (&["cargo"], &["bench", "build", "check", "nextest", "run", "test"], &[".rs"], "rust-code"),
    (&["gradle", "gradlew", "mvn", "mvnw", "mvnd", "sbt", "mill", "ant"], &[], JVM_ENDINGS, "jvm-code"),
    (&["dart", "flutter"], &[], &[".dart"], "dart-code"),
    (&["swift"], &[], &[".swift"], "swift-code"),
    (&["dotnet"], &["build", "run", "test"], &[".cs", ".fs"], "dotnet-code"),
    (&["mix"], &[], &[".ex", ".exs"], "mix"),
    (&["cabal", "stack"], &[], &[".hs"], "haskell-code"),
    (&["zig"], &[], &[".zig"], "zig-build"),
    (&["busted"], &[], &[".lua"], "lua"),
    (&["prove"], &[], &[".t", ".pl", ".pm"], "perl"),
    (&["robot", "pabot"], &[], &[".robot", ".resource"], "robot"),
    (&["robot", "pabot", "behave"], &[], &[".py"], "python"),
    (&["bats", "shellspec", "shunit2"], &[], &[".bats", ".bash", ".sh"], "shell-tests"),
    (&["cucumber", "rails", "rubocop", "standardrb"], &[], &[".rb"], "ruby"),
    (&["brew", "pod", "fastlane"], &[], &[".rb", "Brewfile", "Podfile", ".podspec", "Fastfile"], "ruby"),
    (&["composer"], &["install", "require", "update"], &[".php"], "php"),
    (&["cmake"], &[], &[".inc"], "cmake"),
    (&["behat", "codecept", "phpstan", "psalm", "rector"], &[], &[".php", ".inc"], "php"),
];

const JVM_ENDINGS: &[&str] = &[".groovy", ".java", ".kt", ".scala"];

/// Endings of data and of programs that no loader of another language reads.
const KNOWN: &[&str] = &[
    ".bash",
    ".bat",
    ".bats",
    ".c",
    ".cc",
    ".cfg",
    ".clj",
    ".cmake",
    ".conf",
    ".cpp",
    ".cs",
    ".dart",
    ".env",
    ".ex",
    ".exs",
    ".gemspec",
    ".go",
    ".gradle",
    ".graphql",
    ".groovy",
    ".h",
    ".hpp",
    ".hs",
    ".html",
    ".ini",
    ".java",
    ".json",
    ".jsonc",
    ".kt",
    ".kts",
    ".lock",
    ".lua",
    ".mk",
    ".nix",
    ".pl",
    ".pm",
    ".properties",
    ".proto",
    ".robot",
    ".rs",
    ".scala",
    ".sh",
    ".sql",
    ".svelte",
    ".swift",
    ".tf",
    ".toml",
    ".vue",
    ".xml",
    ".yaml",
    ".yml",
    ".zig",
    "file",
];

/// Returns the session's files, each with its language, that loaded files may load in turn.
pub(super) fn all(
    (name, read): (&str, &Invocation),
    found: &BTreeSet<String>,
    loaded: &BTreeSet<(String, &str)>,
    patterns: &[&Pattern],
) -> Vec<(String, &'static str)> {
    let is_read =
        |file: &String| loaded.iter().any(|(one, language)| one == file && *language != super::SOURCE);
    let has = |file: &str, endings: &[&str]| endings.iter().any(|end| file.ends_with(end));
    let is_of = |language: &str| patterns.iter().any(|(_, one)| *one == language);
    let language = |file: &String| {
        let run = RUN.iter().find(|row| has(file, row.2) && is_loading(row.0, row.1, name, read));
        let of_ending = SOURCES.iter().find(|(endings, _)| has(file, endings));
        let is_odd = !has(file, KNOWN) && !is_inert(file) && of_ending.is_none();
        let odd = SOURCES.iter().find(|(_, language)| is_odd && is_of(language));
        let own = of_ending.or(odd).map(|(_, language)| *language).filter(|language| is_of(language));
        run.map(|row| row.3).or(own)
    };
    // A pattern does not show which files changed; commands that change many files at once format or compile them.
    let is_file = |file: &&String| !file.contains(['*', '?', '[', '{']);
    let others = found.iter().filter(is_file).filter(|file| !is_read(file));
    others.filter_map(|file| Some((file.clone(), language(file)?))).take(LOADED_FILES_MAX + 1).collect()
}

/// Returns the programs that run sources.
pub(super) fn programs() -> impl Iterator<Item = &'static [&'static str]> {
    RUN.iter().map(|(programs, ..)| *programs)
}

/// Returns the languages of the sources that a program runs.
pub(super) fn languages(read: &Invocation, name: &str) -> impl Iterator<Item = &'static str> {
    RUN.iter().filter(|row| is_loading(row.0, row.1, name, read)).map(|row| row.3)
}

/// Returns the language of a source by its name, and whether castellan reads all of the language.
pub(super) fn language_of(file: &str) -> Option<(&'static str, bool)> {
    let has = |endings: &[&str]| endings.iter().any(|end| file.ends_with(end));
    let of_all = SOURCES.iter().find(|(endings, _)| has(endings)).map(|(_, language)| (*language, true));
    let is_read = |language: &str| matches!(language, "lua" | "perl" | "shell-tests");
    let run = || RUN.iter().find(|row| has(row.2)).map(|row| (row.3, is_read(row.3)));
    of_all.or_else(run)
}

/// Returns true if a program runs sources of the session.
pub(super) fn runs(name: &str) -> bool {
    RUN.iter().any(|row| row.0.contains(&name))
}

/// Reads a file that the session wrote and that a command's program may load in turn. It has an `execute` effect only
/// if it does more than change nearby files, or if its effects are unknown: agents write and test such files all day.
pub(crate) fn source(
    file: String,
    language: &'static str,
    place: Place,
    scene: &mut Scene<'_, '_, '_>,
    progress: &mut Progress,
) {
    if !scene.files.sources.insert(file.clone()) {
        return;
    }
    if scene.files.sources.len() > LOADED_FILES_MAX {
        return executed(&file, &place, scene, &mut progress.facts);
    }
    let from = From::File(Arg::known(file.as_str()));
    let program = Program { language: language.to_owned(), from, cwd: place.cwd.clone(), args: None };
    let apart = Apart {
        file,
        language,
        place: place.clone(),
        facts: std::mem::take(&mut progress.facts),
        is_over_told: scene.budget.is_over_told,
        overlay: scene.overlay.clone(),
        ran: scene.files.ran.clone(),
        modules: scene.files.modules.clone(),
    };
    progress.next.push(Next::Program(program, place));
    progress.next.push(Next::SourceEnd(Box::new(apart)));
}

/// Ends the analysis of such a file: its effects and changes are dropped.
pub(crate) fn source_end(apart: Apart, scene: &mut Scene<'_, '_, '_>, progress: &mut Progress) {
    let Apart { file, language, place, facts, is_over_told, overlay, ran, modules } = apart;
    let own = std::mem::replace(&mut progress.facts, facts);
    let is_harmful = harms(&own);
    let is_known = scene.budget.is_over_told == is_over_told
        && own.commands.is_empty()
        && own.effects.iter().all(is_near);
    scene.files.modules = modules;
    (scene.budget.is_over_told, scene.overlay, scene.files.ran) = (is_over_told, overlay, ran);
    if is_harmful {
        // Its effects are those of the tool.
        let from = From::File(Arg::known(file.as_str()));
        let program = Program { language: language.to_owned(), from, cwd: place.cwd.clone(), args: None };
        progress.next.push(Next::Program(program, place.clone()));
    }
    if is_harmful || !is_known && is_code(&file) {
        executed(&file, &place, scene, &mut progress.facts);
    }
}

fn executed(file: &str, place: &Place, scene: &mut Scene<'_, '_, '_>, facts: &mut Facts) {
    let mut sink = Sink::new(scene, &mut facts.effects, Some(place.command), place.cwd.clone());
    sink.comes_from(place.run.script.as_deref());
    sink.path(EffectKind::Execute, &Arg::known(file));
}

/// Returns true for an effect that is normal for a project's code.
fn is_near(effect: &Effect) -> bool {
    let is_in = |scopes: &[Scope]| {
        effect.path().is_some() && effect.scope().is_some_and(|scope| scopes.contains(&scope))
    };
    match effect.kind() {
        EffectKind::Read => is_in(&[Scope::Workspace, Scope::Temporary, Scope::System]),
        EffectKind::Write => is_in(&[Scope::Workspace, Scope::Temporary]),
        EffectKind::Delete => {
            is_in(&[Scope::Workspace, Scope::Temporary]) && effect.op.recursive != Some(true)
        }
        // A package that the manifest declares.
        EffectKind::Execute => effect.path().is_none() && effect.why() == Some(Why::Unresolved),
        EffectKind::Opaque => effect.role() == Some(Role::Operand),
        EffectKind::Query => effect.host().is_none() && effect.url().is_none(),
        EffectKind::Link
        | EffectKind::Permission
        | EffectKind::Interactive
        | EffectKind::Connect
        | EffectKind::Upload
        | EffectKind::Download
        | EffectKind::Listen
        | EffectKind::Elevate
        | EffectKind::Install
        | EffectKind::Publish
        | EffectKind::Mutate
        | EffectKind::Destroy
        | EffectKind::Signal
        | EffectKind::Service
        | EffectKind::Schedule
        | EffectKind::Detach
        | EffectKind::Inject
        | EffectKind::Spawn
        | EffectKind::Environment
        | EffectKind::Mcp => false,
    }
}

/// Returns true for a file that is code by its name. Another file may be data, which no language can parse.
fn is_code(file: &str) -> bool {
    SOURCES.iter().any(|(endings, _)| endings.iter().any(|end| file.ends_with(end)))
}

/// Returns true for effects that no test and no build of a project needs.
fn harms(facts: &Facts) -> bool {
    let is_in =
        |effect: &Effect, scopes: &[Scope]| effect.scope().is_some_and(|scope| scopes.contains(&scope));
    let has = |kinds: &[EffectKind]| facts.effects.iter().any(|effect| kinds.contains(&effect.kind()));
    let sends = has(&[EffectKind::Connect, EffectKind::Upload, EffectKind::Publish]);
    facts.effects.iter().any(|effect| match effect.kind() {
        EffectKind::Delete => {
            effect.path().is_some() && !is_in(effect, &[Scope::Workspace, Scope::Temporary])
        }
        EffectKind::Opaque => effect.role() == Some(Role::Code) && effect.why() == Some(Why::Network),
        EffectKind::Read => sends && is_in(effect, &[Scope::Secret, Scope::Agent, Scope::Castellan]),
        EffectKind::Upload => is_in(effect, &[Scope::Secret, Scope::Agent, Scope::Castellan]),
        EffectKind::Write => is_in(effect, &[Scope::Secret, Scope::Agent, Scope::Castellan, Scope::Hijack]),
        EffectKind::Elevate => true,
        EffectKind::Link
        | EffectKind::Permission
        | EffectKind::Execute
        | EffectKind::Interactive
        | EffectKind::Connect
        | EffectKind::Download
        | EffectKind::Listen
        | EffectKind::Install
        | EffectKind::Publish
        | EffectKind::Query
        | EffectKind::Mutate
        | EffectKind::Destroy
        | EffectKind::Signal
        | EffectKind::Service
        | EffectKind::Schedule
        | EffectKind::Detach
        | EffectKind::Inject
        | EffectKind::Spawn
        | EffectKind::Environment
        | EffectKind::Mcp => false,
    })
}
