//! A program that is being read: its possible texts, and the modules and acts of each, in the order of the program. The
//! reading stops at each act that leaves work, and goes on when the driver has done the work.

use std::rc::Rc;

use castellan_event::{Doubt, EffectKind, Object, Operation, Role, Why};
use castellan_languages::{Act, Answered, Language, Operand, What, read_once};
use castellan_programs::Arg;
use castellan_shell::{Found, Item, Origin};

use super::effects::{opaque, with_programs, with_sink};
use super::modules::{self, files_of_module, in_roots, roots};
use super::started::{environment_of, given, own_input, started};
use super::{language_in, own, small};
use crate::language::of_word;
use crate::next::{From, Items, Next, Place, Program, Progress, Reading};
use crate::remote::{self, Request};
use crate::scene::Scene;
use crate::sink::Sink;
use crate::{environment, path, sql, targets, walk};

/// Adds the effects of a program from where its reading stopped, up to the next act that leaves work.
pub(crate) fn read_on(mut reading: Box<Reading>, scene: &mut Scene<'_, '_, '_>, progress: &mut Progress) {
    let before = progress.next.len();
    while progress.next.len() == before {
        if let Some(module) = reading.modules.next() {
            own_module(&module, &reading, scene, progress);
        } else if let Some(act) = reading.acts.next() {
            add(act, &mut reading, scene, progress);
        } else if let Some(text) = reading.texts.next() {
            begin(text, &mut reading, scene, progress);
        } else {
            return;
        }
    }
    progress.next.push(Next::Reading(reading));
}

/// Begins with one possible text of the program.
fn begin(
    text: Result<String, Why>,
    reading: &mut Reading,
    scene: &mut Scene<'_, '_, '_>,
    progress: &mut Progress,
) {
    let Reading { program, place, .. } = &*reading;
    let word = language_in(program);
    let language = of_word(word);
    match text {
        Ok(text) => match language {
            Some(language) => {
                let start = start(program, place, scene);
                let Scene { world, budget, .. } = scene;
                let mut helper =
                    |sha256: &str, request: &[u8]| world.program(sha256, request, Answered::decode);
                let found = read_once(language, &text, &start, &mut budget.programs, &mut helper);
                (reading.modules, reading.acts) = (found.modules.into_iter(), found.acts.into_iter());
            }
            None => small::add(word, &text, place, scene, progress),
        },
        // For a file that cannot be read, the effect names the file that loads it.
        Err(why) => {
            let typed = place.file.clone().filter(|_| place.run.script.is_none());
            let place = Place { file: place.loader.clone().or(typed), ..place.clone() };
            opaque(&place, (why, &program.from.written()), scene, &mut progress.facts);
        }
    }
}

fn start(program: &Program, place: &Place, scene: &Scene<'_, '_, '_>) -> castellan_languages::Start {
    let env = environment_of(place, scene);
    let home = scene.session.places.home();
    castellan_languages::Start {
        file: place.file.clone(),
        args: program.args.clone(),
        cwd: place.cwd.clone(),
        home: (!home.is_empty()).then(|| home.to_owned()),
        env,
    }
}

/// Adds the effects of one act, or leaves the commands and programs that it starts as work.
fn add(Act { what, .. }: Act, reading: &mut Reading, scene: &mut Scene<'_, '_, '_>, progress: &mut Progress) {
    let Some(language) = of_word(language_in(&reading.program)) else { return };
    let place = &mut reading.place;
    match what {
        What::Directory(directory) => {
            place.cwd = path::directory(&directory, place.cwd.as_deref(), language.has_drives());
        }
        What::Command { mut argv, cwd, env, stdin } => {
            given(&env, place, scene, &mut progress.facts);
            if language == Language::Batch {
                own::before_path(&mut argv, place, scene);
            }
            let start = started(place, cwd.as_ref(), &env, scene);
            let input = stdin.or_else(|| own_input(language, place));
            let found = walk::command_line(argv, input.as_ref(), &start, scene);
            commands(found, place, progress);
        }
        What::Shell { text, cwd, env, stdin } => match text.as_str() {
            Some(text) => {
                given(&env, place, scene, &mut progress.facts);
                let mut start = started(place, cwd.as_ref(), &env, scene);
                start.input = stdin.or_else(|| own_input(language, place));
                let found = walk::text(text, &start, scene);
                commands(found, place, progress);
            }
            None => {
                let why = text.why().unwrap_or_default();
                opaque(place, (why, &text.written()), scene, &mut progress.facts);
            }
        },
        What::Script { language, path } => inner(language, path, place, progress),
        What::Module { name, files } => match in_roots(&files, &roots_of(place, language), scene) {
            Some(file) => inner(language, Arg::known(file), place, progress),
            None if language == Language::JavaScript && modules::is_declared(&name, place, scene) => {
                installed(&name, place, scene, progress);
            }
            None => opaque(place, (Why::Unresolved, &name), scene, &mut progress.facts),
        },
        What::Effect { .. }
        | What::Sql { .. }
        | What::Variable { .. }
        | What::Hole { .. }
        | What::Request { .. }
        | What::Call { .. } => {
            with_programs(place, scene, progress, |sink| {
                sink.has_drives = language.has_drives();
                effect(what, sink);
            });
        }
    }
}

/// Leaves a program in a file that this program runs.
fn inner(language: Language, file: Arg, place: &Place, progress: &mut Progress) {
    let (language, from) = (language.as_str().to_owned(), From::File(file));
    let program = Program { language, from, cwd: None, args: None };
    progress.next.push(Next::Program(program, place.inner()));
}

/// Adds a module of a package that the project declares. It may do anything, but the project chose it.
fn installed(name: &str, place: &Place, scene: &mut Scene<'_, '_, '_>, progress: &mut Progress) {
    with_sink(place, scene, &mut progress.facts, |sink| {
        let op = Operation { target: Some(name.to_owned()), ..Operation::of(EffectKind::Execute) };
        sink.add_on(op, Object::Unknown(Doubt { role: None, why: Why::Unresolved }));
    });
}

/// Leaves a module of the project: the program loads it instead of another module with that name.
fn own_module(module: &str, reading: &Reading, scene: &mut Scene<'_, '_, '_>, progress: &mut Progress) {
    let Some(language) = of_word(language_in(&reading.program)) else { return };
    let files = files_of_module(module, language);
    if let Some(file) = in_roots(&files, &roots_of(&reading.place, language), scene) {
        inner(language, Arg::known(file), &reading.place, progress);
    }
}

/// Returns the directories in which a program looks for its modules.
fn roots_of(place: &Place, language: Language) -> Vec<String> {
    let cwd = place.cwd.as_deref();
    let own = match &place.file {
        Some(file) => file.rsplit_once('/').map(|(directory, _)| directory),
        None => cwd,
    };
    roots(language, own, cwd)
}

/// Leaves commands that a program starts, with the program's own position and file.
pub(crate) fn commands(mut found: Found, place: &Place, progress: &mut Progress) {
    let file = place.file.as_deref().map(Rc::<str>::from);
    for item in &mut found.items {
        let script = match item {
            Item::Command(run) => {
                run.span = place.run.span;
                run.remote = Rc::new([place.run.remote.as_slice(), run.remote.as_slice()].concat());
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
    progress.facts.background |= found.background;
    progress.next.push(Next::Items(Items::of(found)));
}

fn effect(what: What, sink: &mut Sink<'_, '_, '_, '_>) {
    match what {
        What::Effect { kind, on, recursive } => {
            let before = sink.mode.recursive.replace(recursive);
            on_operand(kind, &on, sink);
            sink.mode.recursive = before;
        }
        What::Sql { system, text } => sql::effects(&system, &text, sink),
        What::Variable { name, value } => match name.as_str() {
            Some(name) => environment::passed_on(name, &value, sink),
            None => sink.opaque(Role::Target, name.why().unwrap_or_default(), &name.written()),
        },
        What::Hole { role, why, written } => sink.opaque(role, why, &written),
        What::Request { method, url, body } => {
            let (why, method) = (method.why(), method.written().to_ascii_uppercase());
            let texts = [remote::text_of(&body)];
            let unknown = why;
            let request =
                Request { method: &method, unknown, url: url.as_ref(), bodies: &texts, headers: &texts };
            remote::request(&request, sink);
        }
        What::Call { name, url } => remote::named(&name, url.as_ref(), sink),
        What::Directory(_)
        | What::Command { .. }
        | What::Shell { .. }
        | What::Script { .. }
        | What::Module { .. } => {}
    }
}

fn on_operand(kind: EffectKind, on: &Operand, sink: &mut Sink<'_, '_, '_, '_>) {
    match on {
        Operand::Nothing => sink.add(Operation::of(kind)),
        Operand::Path(path) => sink.path(kind, path),
        Operand::Into { path, source } if targets::is_directory(path, sink) => {
            sink.path(kind, &targets::joined(path, source));
        }
        Operand::Into { path, .. } => sink.path(kind, path),
        Operand::Link { path, to } => {
            let target = sink.locate(to);
            let target = Some(target.path.unwrap_or(target.raw));
            sink.path_effect(Operation { kind, target, ..Operation::default() }, path);
        }
        Operand::Host { host, .. } => targets::host(kind, host, sink),
        Operand::Url(url) => targets::url(kind, url, sink),
        Operand::Process(process) => sink.on(kind, "", "", Some(process)),
        Operand::System { system, verb } => sink.on(kind, system, verb, None),
    }
}
