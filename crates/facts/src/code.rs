//! Effects of programs in other languages, as [`castellan_languages`] reads them. Commands that such a program starts
//! are analysed like any other. Must not know languages.

pub(crate) mod configured;
mod encoding;
mod held;
mod inherited;
mod lifted;
mod modules;
mod own;
mod stands;
mod started;
pub(crate) mod unread;

use held::held;
pub(crate) use inherited::{inherited, may_hold_code};
pub(crate) use lifted::{CARGO, GENERATED, TOX};
pub(crate) use modules::module_programs;
pub(crate) use own::{Own, is_script, own_program, script};
use stands::{file_of, unread};
pub(crate) use started::{environment_of, started};
use started::{given, own_input};

use castellan_event::{Effect, EffectKind, Facts, Role, Why};
use castellan_languages::{Act, Answered, Language, Operand, Reading, What, encoded, read_once};
use castellan_programs::{Arg, Does, Operand as Given, SlotRole, find};
use castellan_shell::{Files, Item, Origin, Run, Start, program_within};

use crate::handlers::manifest;
use crate::limits::PROGRAM_DEPTH_MAX;
use crate::scene::Scene;
use crate::sink::Sink;
use crate::{analyse, declared, environment, path, scripts, slots, sql};
use castellan_programs::base_name;

/// A program in some language that a command runs.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    /// Its language, by the name that models use.
    pub(crate) language: String,
    /// The source of its text.
    pub(crate) from: From,
    /// Its working directory, if known: the command's own, unless an option of the command sets another.
    pub(crate) cwd: Option<String>,
    /// Its arguments, if known.
    pub(crate) args: Option<Vec<Arg>>,
}

impl Program {
    /// Sets its arguments: the operands of the command that runs it, or those after its file if that is an operand.
    pub(crate) fn given(&mut self, operands: &[Given]) {
        let is_file = |operand: &Given| match &self.from {
            From::File(file) => operand.arg == *file,
            From::Text(_) => operand.slot.role == SlotRole::Execute,
        };
        let behind = operands.iter().position(is_file).map_or(0, |at| at + 1);
        let args = operands.get(behind..).unwrap_or_default();
        self.args = Some(args.iter().map(|operand| operand.arg.clone()).collect());
    }
}

/// Language name of shell text.
pub(crate) const SHELL: &str = "sh";

/// Prefix of the language name of database statements; the system's name follows.
pub(crate) const SQL: &str = "sql:";

/// Source of a program's text.
#[derive(Debug, Clone)]
pub(crate) enum From {
    /// An argument, or the command's input.
    Text(Arg),
    /// A file.
    File(Arg),
}

/// Language name of `PowerShell` text as `-EncodedCommand` takes it: UTF-16 in base64.
const ENCODED: &str = "powershell-base64";

/// Returns the supported language for a model's word.
pub(crate) fn language_of(word: &str) -> Option<Language> {
    match word {
        "node" | "deno" | "bun" => Some(Language::JavaScript),
        ENCODED => Some(Language::PowerShell),
        word => Language::ALL.iter().copied().find(|language| language.as_str() == word),
    }
}

/// Adds the effects of a command that a program starts.
fn command_line(
    argv: Vec<Arg>,
    stdin: Option<&Arg>,
    start: &Start,
    place: &Place<'_>,
    scene: &mut Scene<'_, '_, '_>,
    facts: &mut Facts,
) {
    let mut work = std::mem::take(&mut scene.work);
    let mut read = |path: &str| scripts::text(path, scene);
    let found = program_within(argv, stdin, start, &mut work, Files::new(&mut read));
    scene.work = work;
    commands(found, place, scene, facts);
}

/// Returns the language of the files that an interpreter runs, by the name that its model uses.
pub(crate) fn language_of_files(interpreter: &str) -> Option<&'static str> {
    let places = find(interpreter)?.forms.iter().flat_map(|form| form.operands);
    let slots = places.map(|place| place.slot).filter(|slot| slot.role == SlotRole::Execute);
    slots.map(|slot| slot.detail).find(|detail| !detail.is_empty())
}

/// The program being read, and its location.
#[derive(Clone)]
pub(crate) struct Place<'p> {
    /// The command that runs it.
    pub(crate) run: &'p Run,
    /// Position of that command among the call's.
    command: usize,
    /// The directory that it runs in, if known.
    pub(crate) cwd: Option<String>,
    /// The file that contains it, absolute.
    pub(crate) file: Option<String>,
    /// The file that loads it.
    loader: Option<String>,
    depth: usize,
}

/// Adds the effects of a program. `command`: the position of the command that runs it.
pub(crate) fn add(
    program: &Program,
    run: &Run,
    command: usize,
    scene: &mut Scene<'_, '_, '_>,
    facts: &mut Facts,
) {
    add_at(program, Place::of(run, command, program.cwd.clone()), scene, facts);
}

impl<'p> Place<'p> {
    /// Returns the place of the command at position `command`. `cwd`: the directory in which it looks for files, if
    /// known.
    pub(crate) fn of(run: &'p Run, command: usize, cwd: Option<String>) -> Place<'p> {
        Place { run, command, cwd, file: None, loader: None, depth: 0 }
    }
}

/// Files that a program reads in another language than its own, by the endings of their names.
const OTHERS: &[(&str, &str, &str)] =
    &[("ex", ".lua", "lua"), ("gdb", ".py", "python"), ("lldb", ".py", "python")];

/// The language of a program's text.
fn language_in(program: &Program) -> &str {
    let own = program.language.as_str();
    let From::File(file) = &program.from else { return own };
    let written = file.written();
    let other = OTHERS.iter().find(|(language, end, _)| *language == own && written.ends_with(end));
    other.map_or(own, |(.., language)| language)
}

fn add_at(program: &Program, mut place: Place<'_>, scene: &mut Scene<'_, '_, '_>, facts: &mut Facts) {
    let word = language_in(program);
    let language = language_of(word);
    let is_small = word == SHELL
        || lifted::is_one(word)
        || configured::is_one(word)
        || word.starts_with(SQL)
        || castellan_programs::reads(word);
    if word == configured::GIT_HOOK {
        return hook(&program.from, &place, scene, facts);
    }
    if language.is_none() && !is_small {
        return unread::add(program, word, place, scene, facts);
    }
    if !scene.counts_program() || place.depth > PROGRAM_DEPTH_MAX {
        return opaque(&unread(program, place), (Why::Nesting, word), scene, facts);
    }
    // The code that reads the argument adds the effects of a URL.
    if matches!(&program.from, From::File(file) if file.prefix().contains("://")) {
        return;
    }
    if let Some(package) = package_of(&program.from, &place) {
        return with_sink(&place, scene, facts, |sink| manifest::package("npm", &package, sink));
    }
    let texts = match &program.from {
        From::Text(text) if word == ENCODED => {
            vec![known(text).and_then(|text| encoded(&text).ok_or(Why::Encoding))]
        }
        From::Text(text) => vec![known(text)],
        From::File(file) if language == Some(Language::JavaScript) && is_of_package(file, &place, scene) => {
            return;
        }
        From::File(file) => {
            let main = modules::main_of(file, language, &place, scene);
            let file = main.as_ref().unwrap_or(file);
            // A program loads each module once, and a file with data is not code.
            if place.depth > 0 && language == Some(Language::JavaScript) {
                let path = file.as_str().and_then(|path| path::collapse(place.cwd.as_deref(), path));
                if path.is_some_and(|path| !scene.modules.insert((place.command, path))) {
                    return;
                }
                if file.as_str().is_some_and(|path| path.ends_with(".json")) {
                    return with_sink(&place, scene, facts, |sink| sink.path(EffectKind::Read, file));
                }
            }
            let mut texts = held(file, &place, !configured::is_one(word), scene);
            // An agent that types a command or a program knows the file that it runs, or creates the file first.
            if place.run.script.is_none() {
                texts
                    .iter_mut()
                    .filter(|text| **text == Err(Why::Missing))
                    .for_each(|text| *text = Err(Why::File));
            }
            place.file = file_of(file, &place);
            texts
        }
    };
    // A database client without its file does nothing, and settings without their file start nothing.
    let is_optional = word.starts_with(SQL) || configured::is_one(word);
    if is_optional && place.file.as_deref().is_some_and(|path| !scene.is_file_there(path)) {
        return;
    }
    texts.into_iter().for_each(|text| add_text(text, program, &mut place, scene, facts));
}

/// Adds the effects of one possible text of the program.
fn add_text(
    text: Result<String, Why>,
    program: &Program,
    place: &mut Place<'_>,
    scene: &mut Scene<'_, '_, '_>,
    facts: &mut Facts,
) {
    let word = language_in(program);
    let language = language_of(word);
    match text {
        Ok(text) if language == Some(Language::Python) && !encoding::is_as_read(&text) => {
            opaque(place, (Why::Encoding, &written(&program.from)), scene, facts);
        }
        Ok(text) => match language {
            Some(language) => {
                let start = start(program, place, scene);
                let Scene { world, program_work, .. } = scene;
                let mut helper =
                    |sha256: &str, request: &[u8]| world.program(sha256, request, Answered::decode);
                let reading = read_once(language, &text, &start, program_work, &mut helper);
                acts(reading, language, place, scene, facts);
            }
            None => small(word, &text, place, scene, facts),
        },
        // For a file that cannot be read, the effect names the file that loads it.
        Err(why) => {
            let typed = place.file.clone().filter(|_| place.run.script.is_none());
            let place = Place { file: place.loader.clone().or(typed), ..place.clone() };
            opaque(&place, (why, &written(&program.from)), scene, facts);
        }
    }
}

/// Adds the effects of a hook. Its first line names its interpreter.
fn hook(from: &From, place: &Place<'_>, scene: &mut Scene<'_, '_, '_>, facts: &mut Facts) {
    match from {
        From::File(file) if file.as_str().is_some() => {
            with_sink(place, scene, facts, |sink| sink.path(EffectKind::Execute, file));
            script(&file.written(), place.run, place.command, scene, facts);
        }
        From::File(arg) | From::Text(arg) => opaque(place, (Why::File, &arg.written()), scene, facts),
    }
}

/// Returns the package that Deno runs by its name (`npm:vitest`, `jsr:@std/cli`). No file has such a name.
fn package_of(from: &From, place: &Place<'_>) -> Option<Arg> {
    let From::File(file) = from else { return None };
    let is_deno =
        || place.run.argv.first().and_then(Arg::as_str).is_some_and(|name| base_name(name) == "deno");
    let name = ["npm:", "jsr:"].iter().find_map(|scheme| file.as_str()?.strip_prefix(scheme))?;
    is_deno().then(|| Arg::known(name.trim_start_matches('/')))
}

/// Returns true for a file of an installed package that the project declares. castellan does not read such a file.
fn is_of_package(file: &Arg, place: &Place<'_>, scene: &mut Scene<'_, '_, '_>) -> bool {
    let path = file.as_str().filter(|_| place.run.remote.is_empty());
    let path = path.and_then(|path| path::collapse(place.cwd.as_deref(), path));
    path.is_some_and(|path| declared::is_of_package(&path, scene))
}

/// Adds the effects of shell text, database statements, or code in a program's little language.
fn small(language: &str, text: &str, place: &Place<'_>, scene: &mut Scene<'_, '_, '_>, facts: &mut Facts) {
    if language == SHELL {
        let mut start = started(place, None, &[], scene);
        // The shell may read output of the program, or the rest of the program's input.
        start.input = Some(Arg::unknown(Why::Input, "", false));
        let found = analyse::walked(text, &start, scene);
        return commands(found, place, scene, facts);
    }
    if configured::is_one(language) {
        return configured::add(language, text, place, scene, facts);
    }
    if lifted::is_one(language) {
        return match lifted::shell(language, text) {
            Ok(commands) => small(SHELL, &commands, place, scene, facts),
            Err(why) => opaque(place, (why, language), scene, facts),
        };
    }
    if let Some(system) = language.strip_prefix(SQL) {
        let text = Arg::known(text);
        return with_programs(place, scene, facts, |sink| sql::effects(system, &text, sink));
    }
    for one in castellan_programs::code(language, &Arg::known(text)).into_iter().flatten() {
        match one {
            Does::Shell(text) => match known(&text) {
                Ok(text) => small(SHELL, &text, place, scene, facts),
                Err(why) => opaque(place, (why, &text.written()), scene, facts),
            },
            Does::Read(_) | Does::Write(_) | Does::Execute(_) | Does::Unknown { .. } => {
                with_programs(place, scene, facts, |sink| slots::does(language, one, sink));
            }
        }
    }
}

fn known(text: &Arg) -> Result<String, Why> {
    text.as_str().map(str::to_owned).ok_or_else(|| text.why().unwrap_or_default())
}

fn written(from: &From) -> String {
    match from {
        From::Text(arg) | From::File(arg) => arg.written().into_owned(),
    }
}

fn start(program: &Program, place: &Place<'_>, scene: &Scene<'_, '_, '_>) -> castellan_languages::Start {
    let env = environment_of(place, scene);
    let home = scene.places.home();
    castellan_languages::Start {
        file: place.file.clone(),
        args: program.args.clone(),
        cwd: place.cwd.clone(),
        home: (!home.is_empty()).then(|| home.to_owned()),
        env,
    }
}

fn acts(
    reading: Reading,
    language: Language,
    place: &mut Place<'_>,
    scene: &mut Scene<'_, '_, '_>,
    facts: &mut Facts,
) {
    for module in &reading.modules {
        own_module(module, language, place, scene, facts);
    }
    for Act { what, .. } in reading.acts {
        match what {
            What::Directory(directory) => {
                place.cwd = path::directory(&directory, place.cwd.as_deref(), language.has_drives());
            }
            What::Command { mut argv, cwd, env, stdin } => {
                given(&env, place, scene, facts);
                if language == Language::Batch {
                    own::before_path(&mut argv, place, scene);
                }
                let start = started(place, cwd.as_ref(), &env, scene);
                let input = stdin.or_else(|| own_input(language, place));
                command_line(argv, input.as_ref(), &start, place, scene, facts);
            }
            What::Shell { text, cwd, env, stdin } => match text.as_str() {
                Some(text) => {
                    given(&env, place, scene, facts);
                    let mut start = started(place, cwd.as_ref(), &env, scene);
                    start.input = stdin.or_else(|| own_input(language, place));
                    let found = analyse::walked(text, &start, scene);
                    commands(found, place, scene, facts);
                }
                None => opaque(place, (text.why().unwrap_or_default(), &text.written()), scene, facts),
            },
            What::Script { language, path } => {
                inner(&program_of_file(language, path), place, scene, facts);
            }
            What::Module { name, files } => match beside(&files, place, scene) {
                Some(file) => inner(&program_of_file(language, Arg::known(file)), place, scene, facts),
                None if language == Language::JavaScript && modules::is_declared(&name, place, scene) => {
                    installed(&name, place, scene, facts);
                }
                None => opaque(place, (Why::Unresolved, &name), scene, facts),
            },
            What::Effect { .. } | What::Sql { .. } | What::Variable { .. } | What::Hole { .. } => {
                with_programs(place, scene, facts, |sink| {
                    sink.has_drives = language.has_drives();
                    effect(what, sink);
                });
            }
        }
    }
}

fn program_of_file(language: Language, file: Arg) -> Program {
    Program { language: language.as_str().to_owned(), from: From::File(file), cwd: None, args: None }
}

/// Adds a module of a package that the project declares. It may do anything, but the project chose it.
fn installed(name: &str, place: &Place<'_>, scene: &mut Scene<'_, '_, '_>, facts: &mut Facts) {
    let (target, why) = (Some(name.to_owned()), Some(Why::Unresolved));
    with_sink(place, scene, facts, |sink| {
        sink.add(Effect { kind: EffectKind::Execute, target, why, ..Effect::default() });
    });
}

fn inner(program: &Program, place: &Place<'_>, scene: &mut Scene<'_, '_, '_>, facts: &mut Facts) {
    let Place { run, command, cwd, depth, file, loader: _ } = place;
    let (cwd, loader) = (cwd.clone(), file.clone());
    let inside = Place { run, command: *command, cwd, file: None, loader, depth: depth + 1 };
    add_at(program, inside, scene, facts);
}

/// Reads a module beside the program: the program loads it instead of another module with that name.
fn own_module(
    module: &str,
    language: Language,
    place: &Place<'_>,
    scene: &mut Scene<'_, '_, '_>,
    facts: &mut Facts,
) {
    let files = match language {
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
        | Language::AppleScript => return,
    };
    if let Some(file) = beside(&files, place, scene) {
        let from = From::File(Arg::known(file));
        inner(
            &Program { language: language.as_str().to_owned(), from, cwd: None, args: None },
            place,
            scene,
            facts,
        );
    }
}

/// Returns the first of these files that exists, relative to the program's directory.
fn beside(files: &[String], place: &Place<'_>, scene: &mut Scene<'_, '_, '_>) -> Option<String> {
    let directory = match &place.file {
        Some(file) => file.rsplit_once('/').map(|(directory, _)| directory.to_owned())?,
        None => place.cwd.clone()?,
    };
    let mut paths = files.iter().filter_map(|file| path::collapse(Some(&directory), file));
    paths.find(|path| scene.is_file_there(path))
}

/// Adds commands that a program starts, with the program's own position and file.
pub(crate) fn commands(
    mut found: castellan_shell::Found,
    place: &Place<'_>,
    scene: &mut Scene<'_, '_, '_>,
    facts: &mut Facts,
) {
    let file = place.file.as_deref().map(std::rc::Rc::<str>::from);
    for item in &mut found.items {
        let script = match item {
            Item::Command(run) => {
                run.span = place.run.span;
                run.remote = std::rc::Rc::new([place.run.remote.as_slice(), run.remote.as_slice()].concat());
                if run.origin == Origin::Text {
                    run.origin = Origin::Code;
                }
                run.background |= place.run.background;
                &mut run.script
            }
            Item::Set(set) => &mut set.script,
            Item::Hole(gap) => &mut gap.script,
            Item::Script(_) => continue,
        };
        if script.is_none() {
            script.clone_from(&file);
        }
    }
    analyse::found(&found, scene, facts);
}

fn effect(what: What, sink: &mut Sink<'_, '_, '_, '_>) {
    match what {
        What::Effect { kind, on, recursive } => {
            let before = sink.recursive.replace(recursive);
            on_operand(kind, &on, sink);
            sink.recursive = before;
        }
        What::Sql { system, text } => sql::effects(&system, &text, sink),
        What::Variable { name, value } => match name.as_str() {
            Some(name) => environment::effect(name, &value, sink),
            None => sink.opaque(Role::Target, name.why().unwrap_or_default(), &name.written()),
        },
        What::Hole { role, why, written } => sink.opaque(role, why, &written),
        What::Directory(_)
        | What::Command { .. }
        | What::Shell { .. }
        | What::Script { .. }
        | What::Module { .. } => {}
    }
}

fn on_operand(kind: EffectKind, on: &Operand, sink: &mut Sink<'_, '_, '_, '_>) {
    match on {
        Operand::Nothing => sink.add(Effect { kind, ..Effect::default() }),
        Operand::Path(path) => sink.path(kind, path),
        Operand::Into { path, source } if slots::is_directory(path, sink) => {
            sink.path(kind, &slots::joined(path, source));
        }
        Operand::Into { path, .. } => sink.path(kind, path),
        Operand::Link { path, to } => {
            let target = sink.locate(to);
            let target = Some(target.path.unwrap_or(target.raw));
            sink.path_effect(Effect { kind, target, ..Effect::default() }, path);
        }
        Operand::Host { host, .. } => slots::host(kind, host, sink),
        Operand::Url(url) => slots::url(kind, url, sink),
        Operand::Process(process) => sink.on(kind, "", "", Some(process)),
        Operand::System { system, verb } => sink.on(kind, system, verb, None),
    }
}

/// Adds effects, and the effects of the programs that they run.
fn with_programs(
    place: &Place<'_>,
    scene: &mut Scene<'_, '_, '_>,
    facts: &mut Facts,
    add: impl FnOnce(&mut Sink<'_, '_, '_, '_>),
) {
    let mut programs = Vec::new();
    with_sink(place, scene, facts, |sink| {
        add(sink);
        programs = std::mem::take(&mut sink.programs);
    });
    programs.iter().for_each(|program| inner(program, place, scene, facts));
}

fn with_sink(
    place: &Place<'_>,
    scene: &mut Scene<'_, '_, '_>,
    facts: &mut Facts,
    add: impl FnOnce(&mut Sink<'_, '_, '_, '_>),
) {
    let mut sink = Sink::new(scene, &mut facts.effects, Some(place.command), place.cwd.clone());
    sink.remote = !place.run.remote.is_empty();
    sink.comes_from(place.file.as_deref().or(place.run.script.as_deref()));
    add(&mut sink);
}

/// Adds an Opaque effect for code that is not understood.
pub(crate) fn opaque(
    place: &Place<'_>,
    (why, written): (Why, &str),
    scene: &mut Scene<'_, '_, '_>,
    facts: &mut Facts,
) {
    let why = scene.secrets.source(why, written, place.run.span);
    with_sink(place, scene, facts, |sink| sink.opaque(Role::Code, why, written));
}
