//! Works through the items of walked shell text, and through the programs, tasks and texts that they run. Each step can
//! change the state for the steps after it, so work is done in the order in which a computer would run it.

use std::rc::Rc;

use castellan_event::{Facts, Role, Why};
use castellan_shell::{Found, Gap, Item, Script, Set};

use crate::next::{Items, Next, Progress};
use crate::scene::Scene;
use crate::sink::Sink;
use crate::{code, command, copies, environment, given, inherited, loaded, owner, recipes, scripts};

/// Adds the effects of walked shell text, and of all that it runs.
pub(crate) fn run(found: Found, scene: &mut Scene<'_, '_, '_>, facts: &mut Facts) {
    let mut progress = Progress { facts: std::mem::take(facts), next: Vec::new() };
    progress.facts.background |= found.background;
    let mut now = Next::Items(Items::of(found));
    loop {
        let before = progress.next.len();
        step(now, scene, &mut progress);
        progress.next.get_mut(before..).unwrap_or_default().reverse();
        match progress.next.pop() {
            Some(next) => now = next,
            None => break,
        }
    }
    *facts = progress.facts;
}

/// Does one piece of work. Inner work is left to the driver.
fn step(now: Next, scene: &mut Scene<'_, '_, '_>, progress: &mut Progress) {
    match now {
        Next::Items(items) => these(items, scene, progress),
        Next::Program(program, place) => code::add(program, place, scene, progress),
        Next::Reading(reading) => code::read_on(reading, scene, progress),
        Next::Shell(text, place) => code::shell(&text, &place, scene, progress),
        Next::Does(language, does, place) => code::does(language, does, place, scene, progress),
        Next::Script(path, place) => code::script(path, place, scene, progress),
        Next::ScriptTexts(path, texts, place) => code::script_texts(path, texts, place, scene, progress),
        Next::Source(file, language, place) => {
            loaded::sources::source(file, language, place, scene, progress)
        }
        Next::SourceEnd(apart) => loaded::sources::source_end(*apart, scene, progress),
        Next::Task(task, place) => recipes::add(&task, place, scene, progress),
        Next::Recipe(recipe) => recipes::run(*recipe, scene, progress),
        Next::RecipeTexts(texts) => recipes::run_on(texts, scene, progress),
        Next::Copies(run, from) => {
            copies::of_code(&run, progress.facts.effects.get(from..).unwrap_or_default(), scene);
        }
        Next::Given(run, at, before) => given::add(&run, at, before, scene, &mut progress.facts),
    }
}

/// Adds the effects of items, up to the first that leaves work.
fn these(mut items: Items, scene: &mut Scene<'_, '_, '_>, progress: &mut Progress) {
    let before = progress.next.len();
    while let Some(item) = items.items.next() {
        match item {
            Item::Command(run) => {
                let from = run.pipe_from.and_then(|_| items.pipes.next()).flatten();
                command::add(run, from, scene, progress);
            }
            Item::Set(set) => set_variable(&set, scene, &mut progress.facts),
            Item::Script(script) => scripts::checked(&script, scene, &mut progress.facts),
            Item::Hole(gap) => hole(&gap, &items.scripts, scene, &mut progress.facts),
        }
        if progress.next.len() > before {
            return progress.next.push(Next::Items(items));
        }
    }
}

fn hole(gap: &Gap, scripts: &[Script], scene: &mut Scene<'_, '_, '_>, facts: &mut Facts) {
    let mut sink = Sink::new(scene, &mut facts.effects, None, None);
    // A glob of script files whose contents are unknown.
    let is_pattern = gap.role == Role::Code && gap.why == Why::Glob && gap.written.starts_with('/');
    let own = Some(&*gap.written).filter(|_| is_pattern);
    sink.comes_from(gap.script.as_deref().or(own));
    let why = sink.scene.secrets.source(gap.why, &gap.written, gap.span);
    let why = of_script(why, gap, scripts, sink.scene);
    sink.opaque(gap.role, why, &gap.written);
}

/// Returns why the content of a file that a shell runs is unknown.
fn of_script(why: Why, gap: &Gap, scripts: &[Script], scene: &mut Scene<'_, '_, '_>) -> Why {
    // An agent that types a command knows the file that it runs, or creates the file first.
    if (gap.role, why) != (Role::Code, Why::File) || gap.script.is_none() {
        return why;
    }
    let of_gap = scripts.iter().filter(|script| script.span == gap.span).map(|script| &script.path);
    let mut files: Vec<&Rc<str>> = of_gap.collect();
    files.retain(|file| file.ends_with(gap.written.trim_start_matches("./")));
    match files.as_slice() {
        [] => why,
        files => files
            .iter()
            .map(|file| owner::why_missing(file, scene))
            .find(|one| *one == Why::File)
            .unwrap_or(Why::Missing),
    }
}

/// Usual names of compilers. A `CC` or `CXX` that may have been set to one of them is treated as that compiler.
const COMPILERS: &[&str] = &["c++", "cc", "clang", "clang++", "g++", "gcc", "musl-gcc", "tcc"];

fn set_variable(set: &Set, scene: &mut Scene<'_, '_, '_>, facts: &mut Facts) {
    if set.name == "PATH" {
        scene.names.set_path(&set.value);
    }
    if set.exported {
        scene.exports.names.insert(set.name.clone());
        scene.exports.texts.extend(environment::run_by_a_shell(&set.name, &set.value));
        scene.exports.compilers.remove(&set.name);
        let compiler = set.value.as_str().filter(|value| COMPILERS.contains(value));
        if let Some(compiler) = compiler.filter(|_| matches!(set.name.as_str(), "CC" | "CXX")) {
            scene.exports.compilers.insert(set.name.clone(), compiler.to_owned());
        }
        if inherited::may_hold_code(&set.name) {
            scene.exports.code.push((set.name.clone(), set.value.clone()));
        }
    }
    if set.exported || set.name == "PATH" {
        let mut sink = Sink::new(scene, &mut facts.effects, None, None);
        sink.comes_from(set.script.as_deref());
        environment::passed_on(&set.name, &set.value, &mut sink);
    }
}
