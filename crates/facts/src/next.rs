//! Work that a step of the analysis leaves for the driver, and the [`Progress`] that all steps share. Holds data only:
//! must not know how the work is done.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::vec::IntoIter;

use castellan_event::{Facts, Why};
use castellan_languages::Act;
use castellan_programs::{Arg, Does, Operand, SlotRole};
use castellan_shell::{Found, Item, Run};

use crate::names::Names;
use crate::overlay::Overlay;

/// The results so far, and the work that remains.
#[derive(Default)]
pub(crate) struct Progress {
    pub(crate) facts: Facts,
    /// A step adds its work in the order in which it is to be done. The driver does all of it before older work.
    pub(crate) next: Vec<Next>,
}

/// One piece of work. A piece that was interrupted by inner work holds its own rest.
pub(crate) enum Next {
    /// The items of a walked text.
    Items(Items),
    /// A program in some language.
    Program(Program, Place),
    /// The rest of a program that is being read.
    Reading(Box<Reading>),
    /// Shell text that is not walked yet.
    Shell(Arg, Place),
    /// The effects of code in a little language.
    Does(String, IntoIter<Does>, Place),
    /// A file that the interpreter in its first line runs.
    Script(String, Place),
    /// The remaining possible texts of such a file.
    ScriptTexts(String, IntoIter<Result<String, Why>>, Place),
    /// A file of the session that a program may load, and its language.
    Source(String, &'static str, Place),
    /// The end of the analysis of such a file.
    SourceEnd(Box<Apart>),
    /// A task of a file, such as a script of a manifest.
    Task(Task, Place),
    /// A task whose file was found.
    Recipe(Box<Recipe>),
    /// The remaining shell texts of such a task.
    RecipeTexts(Box<RecipeTexts>),
    /// The end of a command: its position, and that of its first effect.
    Given(Rc<Run>, usize, usize),
    /// The end of the code of a command: the position of the code's first effect.
    Copies(Rc<Run>, usize),
}

/// The programs and tasks that a command runs. Their effects follow the command's own effects.
#[derive(Default)]
pub(crate) struct Left {
    /// Programs in other languages.
    pub(crate) programs: Vec<Program>,
    /// Files of the session that such a program may load, each with its language.
    pub(crate) sources: Vec<(String, &'static str)>,
    /// The script that is passed to the program of its first line, whatever the script's own name.
    pub(crate) other: Option<String>,
    /// Tasks, with their directories.
    pub(crate) tasks: Vec<(Task, Option<String>)>,
}

impl Left {
    pub(crate) fn is_empty(&self) -> bool {
        let Left { programs, sources, other, tasks } = self;
        programs.is_empty() && sources.is_empty() && other.is_none() && tasks.is_empty()
    }

    /// Adds the work of the command at position `command`.
    pub(crate) fn put(self, run: &Rc<Run>, command: usize, next: &mut Vec<Next>) {
        let place = |cwd| Place::of(run, command, cwd);
        let program = |program: Program| {
            let place = place(program.cwd.clone());
            Next::Program(program, place)
        };
        let own = || place(run.cwd.clone());
        next.extend(self.programs.into_iter().map(program));
        next.extend(self.sources.into_iter().map(|(file, language)| Next::Source(file, language, own())));
        next.extend(self.other.map(|path| Next::Script(path, own())));
        next.extend(self.tasks.into_iter().map(|(task, cwd)| Next::Task(task, place(cwd))));
    }
}

/// The items of a walked text that remain.
pub(crate) struct Items {
    pub(crate) items: IntoIter<Item>,
    /// The name of the command whose output a command reads, for each command that reads output.
    pub(crate) pipes: IntoIter<Option<String>>,
    /// The files that the text runs, each with the position of its command, if the items need them.
    pub(crate) scripts: Vec<castellan_shell::Script>,
}

impl Items {
    pub(crate) fn of(found: Found) -> Items {
        let pipe_of = |item: &Item| match item {
            Item::Command(run) => run.pipe_from,
            Item::Set(_) | Item::Script(_) | Item::Hole(_) => None,
        };
        let pipes: Vec<Option<String>> =
            found.items.iter().filter_map(pipe_of).map(|at| found.items.get(at).and_then(name_of)).collect();
        let has_hole = found.items.iter().any(|item| matches!(item, Item::Hole(gap) if gap.script.is_some()));
        let script = |item: &Item| match item {
            Item::Script(script) if has_hole => Some(script.clone()),
            Item::Command(_) | Item::Set(_) | Item::Script(_) | Item::Hole(_) => None,
        };
        let scripts = found.items.iter().filter_map(script).collect();
        Items { items: found.items.into_iter(), pipes: pipes.into_iter(), scripts }
    }
}

fn name_of(item: &Item) -> Option<String> {
    match item {
        Item::Command(run) => {
            run.argv.first().and_then(Arg::as_str).map(|name| castellan_programs::base_name(name).to_owned())
        }
        Item::Set(_) | Item::Script(_) | Item::Hole(_) => None,
    }
}

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

/// Source of a program's text.
#[derive(Debug, Clone)]
pub(crate) enum From {
    /// An argument, or the command's input.
    Text(Arg),
    /// A file.
    File(Arg),
}

impl From {
    pub(crate) fn written(&self) -> String {
        match self {
            From::Text(arg) | From::File(arg) => arg.written().into_owned(),
        }
    }
}

impl Program {
    /// Sets its arguments: the operands of the command that runs it, or those after its file if that is an operand.
    pub(crate) fn given(&mut self, operands: &[Operand]) {
        let is_file = |operand: &Operand| match &self.from {
            From::File(file) => operand.arg == *file,
            From::Text(_) => operand.slot.role == SlotRole::Execute,
        };
        let behind = operands.iter().position(is_file).map_or(0, |at| at + 1);
        let args = operands.get(behind..).unwrap_or_default();
        self.args = Some(args.iter().map(|operand| operand.arg.clone()).collect());
    }
}

/// The location of a program or task: the command that runs it, its directory and file.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// The command that runs it.
    pub(crate) run: Rc<Run>,
    /// Position of that command among the call's.
    pub(crate) command: usize,
    /// The directory that it runs in, if known.
    pub(crate) cwd: Option<String>,
    /// The file that contains it, absolute.
    pub(crate) file: Option<String>,
    /// The file that loads it.
    pub(crate) loader: Option<String>,
    pub(crate) depth: usize,
}

impl Place {
    /// Returns the place of the command at position `command`. `cwd`: the directory in which it looks for files, if
    /// known.
    pub(crate) fn of(run: &Rc<Run>, command: usize, cwd: Option<String>) -> Place {
        Place { run: Rc::clone(run), command, cwd, file: None, loader: None, depth: 0 }
    }

    /// Returns the place of a program that the program at this place runs.
    pub(crate) fn inner(&self) -> Place {
        let Place { run, command, cwd, depth, file, loader: _ } = self;
        let (run, command, cwd, loader) = (Rc::clone(run), *command, cwd.clone(), file.clone());
        Place { run, command, cwd, file: None, loader, depth: depth + 1 }
    }
}

/// A program that is being read. The directory of its place changes with its acts.
pub(crate) struct Reading {
    pub(crate) program: Program,
    pub(crate) place: Place,
    /// The possible texts that remain.
    pub(crate) texts: IntoIter<Result<String, Why>>,
    /// Modules and acts of the text that is being read.
    pub(crate) modules: IntoIter<String>,
    pub(crate) acts: IntoIter<Act>,
}

/// The state of the call before a file is analysed apart from it.
pub(crate) struct Apart {
    pub(crate) file: String,
    pub(crate) language: &'static str,
    pub(crate) place: Place,
    pub(crate) facts: Facts,
    pub(crate) is_over_told: bool,
    pub(crate) overlay: Overlay,
    pub(crate) ran: BTreeMap<String, Option<String>>,
    pub(crate) modules: BTreeSet<(usize, String)>,
}

/// A task that a command runs.
#[derive(Debug, Clone)]
pub(crate) struct Task {
    /// The runner, by the name that models use: `npm`, `make`.
    pub(crate) system: String,
    /// The subcommand of the runner: `run`, `test`.
    pub(crate) verb: String,
    /// The file, as written.
    pub(crate) file: Arg,
    /// Its name; `None` for the default task.
    pub(crate) name: Option<String>,
    /// The command only shows it.
    pub(crate) is_shown: bool,
}

/// A task whose file was found.
pub(crate) struct Recipe {
    pub(crate) task: Task,
    pub(crate) file: String,
    /// The directory in which it runs.
    pub(crate) directory: String,
    /// The environment of the command that runs it.
    pub(crate) env: Rc<Vec<(String, Arg)>>,
    pub(crate) place: Place,
}

/// A task whose shell texts run, each in a shell of its own.
pub(crate) struct RecipeTexts {
    pub(crate) texts: IntoIter<String>,
    /// Variables that the runner sets.
    pub(crate) env: Vec<(String, String)>,
    pub(crate) directory: String,
    pub(crate) place: Place,
    /// The program names before the task.
    pub(crate) names: Names,
}
