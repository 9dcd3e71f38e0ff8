//! [`invoke`]: parses the arguments of a program by its model. Unknown parts of an argument stay unknown.

use crate::arg::Arg;
use crate::program::{Attribute, Form, Opt, Place, Program, Slot, SlotRole, Style, Test, Wrapper};
use castellan_event::matches_star;

mod found;
mod inner;
mod input;
mod joined;
mod options;

pub use found::FoundPath;
pub use inner::Inner;

/// The parsed arguments of a program.
#[derive(Debug, Clone)]
pub struct Invocation {
    /// The program.
    pub program: &'static Program,
    /// The program or subcommand that runs.
    pub command: &'static Program,
    /// The subcommands up to this command, by their usual names.
    pub subcommand: Vec<&'static str>,
    /// The command and the commands above it, outermost first. It takes their options too.
    pub levels: Vec<&'static Program>,
    /// The options, in order.
    pub options: Vec<Used>,
    /// The operands with their slots, in order.
    pub operands: Vec<Operand>,
    /// Positions of arguments that look like options and are not in the model.
    pub unknown: Vec<usize>,
    /// Positions of arguments that may be options: their start is not known.
    pub uncertain: Vec<usize>,
    /// Position of the `--` that ended the options.
    pub ended_at: Option<usize>,
    /// Position of the first operand if the program has subcommands and the operand names none of the model.
    pub unknown_subcommand: Option<usize>,
}

/// An option of the invocation.
#[derive(Debug, Clone)]
pub struct Used {
    /// The option in the model.
    pub option: &'static Opt,
    /// The flag's full spelling, without abbreviation.
    pub flag: &'static str,
    /// Its value.
    pub value: Option<Arg>,
    /// For [`SlotRole::Clause`]: the words up to its end.
    pub clause: Vec<Arg>,
    /// Position in the arguments.
    pub at: usize,
}

/// An operand.
#[derive(Debug, Clone)]
pub struct Operand {
    /// Its purpose.
    pub slot: Slot,
    /// The operand.
    pub arg: Arg,
    /// Position in the arguments.
    pub at: usize,
}

const TEXT: Slot = Slot { role: SlotRole::Text, detail: "" };

/// Parses arguments; the first is the program's name.
pub fn invoke(program: &'static Program, argv: &[Arg]) -> Invocation {
    let mut reading = Reading {
        argv,
        at: 1,
        read: Invocation {
            program,
            command: program,
            subcommand: Vec::new(),
            levels: vec![program],
            options: Vec::new(),
            operands: Vec::new(),
            unknown: Vec::new(),
            uncertain: Vec::new(),
            ended_at: None,
            unknown_subcommand: None,
        },
        ended: program.style == Style::Plain,
        in_expression: false,
        command_at: usize::MAX,
        placed: Placed::default(),
        places_max: places_max(program),
    };
    reading.all();
    reading.finish()
}

struct Reading<'a> {
    argv: &'a [Arg],
    at: usize,
    read: Invocation,
    /// Options have ended.
    ended: bool,
    /// With [`Style::Find`]: after the paths.
    in_expression: bool,
    /// Position of the option whose value begins a command: the following arguments belong to that command.
    command_at: usize,
    placed: Placed,
    /// The largest number of places in any form of the command. Operands beyond that number have no place of their own.
    places_max: usize,
}

/// Counts of operands with a place so far: all except assignments. Counted on arrival, because there may be thousands.
#[derive(Debug, Default, Clone, Copy)]
struct Placed {
    all: usize,
    after_dashes: usize,
}

impl<'a> Reading<'a> {
    fn all(&mut self) {
        while let Some(arg) = self.argv.get(self.at) {
            let at = self.at;
            self.at += 1;
            if !self.ended && self.option(arg, at) {
                continue;
            }
            if self.operand(arg, at) {
                break;
            }
        }
    }

    /// Reads an operand; true when the rest does not belong to the program itself.
    fn operand(&mut self, arg: &Arg, at: usize) -> bool {
        if self.command_at == usize::MAX && self.subcommand(arg, at) {
            return false;
        }
        self.read.operands.push(Operand { slot: TEXT, arg: arg.clone(), at });
        let slot = self.slot_of_last(arg);
        if let Some(operand) = self.read.operands.last_mut() {
            operand.slot = slot;
        }
        if slot.role != SlotRole::Assignment {
            self.placed.all += 1;
            self.placed.after_dashes += usize::from(self.read.ended_at.is_some());
        }
        if matches!(self.read.command.style, Style::Posix | Style::Shell) {
            self.ended = true;
        }
        matches!(slot.role, SlotRole::Command | SlotRole::Joined | SlotRole::JoinedCode)
    }

    /// Descends into a subcommand, if the argument names one.
    fn subcommand(&mut self, arg: &Arg, at: usize) -> bool {
        let command = self.read.command;
        if command.subs.is_empty() || !self.read.operands.is_empty() || self.read.unknown_subcommand.is_some()
        {
            return false;
        }
        // The argument may become options or nothing, so the subcommand may follow.
        if arg.as_str().is_none() && arg.splits() {
            return true;
        }
        let sub = arg.as_str().and_then(|name| command.subs.iter().find(|sub| sub.names.contains(&name)));
        let Some(sub) = sub else {
            // Some commands take operands instead: `deno FILE`.
            self.read.unknown_subcommand = command.forms.is_empty().then_some(at);
            return false;
        };
        self.read.command = sub;
        self.read.subcommand.push(sub.name());
        self.read.levels.push(sub);
        self.ended = sub.style == Style::Plain;
        self.places_max = places_max(sub);
        true
    }

    /// Returns the slot of the last operand, as far as the arguments before it determine it. Only places before a
    /// repeating place are certain now; `finish` sets the rest.
    fn slot_of_last(&self, arg: &Arg) -> Slot {
        let fewest = if self.read.ended_at.is_some() { self.placed.after_dashes } else { self.placed.all };
        // Finding the form is skipped too, because its condition reads all options.
        if self.command_at != usize::MAX || fewest >= self.places_max {
            return TEXT;
        }
        let (before, after) = self.places();
        let dashes = self.read.ended_at.filter(|_| !after.is_empty());
        let places = if dashes.is_some() { after } else { before };
        let mut count = if dashes.is_some() { self.placed.after_dashes } else { self.placed.all };
        for place in places {
            if place.slot.role == SlotRole::Assignment {
                if count == 0 && is_assignment(arg) {
                    return place.slot;
                }
                continue;
            }
            if place.repeats {
                break;
            }
            if count == 0 {
                return place.slot;
            }
            count -= 1;
        }
        TEXT
    }

    /// Returns the places before `--` and after it, if the form distinguishes them.
    fn places(&self) -> (&'static [Place], &'static [Place]) {
        form(&self.read).map_or((&[], &[]), |form| (form.operands, form.after))
    }

    fn finish(mut self) -> Invocation {
        let (before, after) = self.places();
        let dashes = self.read.ended_at.filter(|_| !after.is_empty()).unwrap_or(usize::MAX);
        let is_placed =
            |one: &&mut Operand| one.slot.role != SlotRole::Assignment && one.at < self.command_at;
        let operands = self.read.operands.iter_mut().filter(is_placed);
        let (first, second): (Vec<_>, Vec<_>) = operands.partition(|one| one.at < dashes);
        assign(before, first);
        assign(after, second);
        self.read
    }
}

fn places_max(program: &Program) -> usize {
    program.forms.iter().map(|form| form.operands.len().max(form.after.len())).max().unwrap_or_default()
}

fn assign(places: &[Place], operands: Vec<&mut Operand>) {
    let places: Vec<&Place> = places.iter().filter(|place| place.slot.role != SlotRole::Assignment).collect();
    let total = operands.len();
    let repeating = places.iter().position(|place| place.repeats).unwrap_or(places.len());
    let last = places.len().saturating_sub(repeating + 1);
    for (number, operand) in operands.into_iter().enumerate() {
        let from_end = total - number;
        let place = if number < repeating {
            places.get(number)
        } else if from_end <= last {
            places.get(places.len() - from_end)
        } else {
            places.get(repeating)
        };
        operand.slot = place.map_or(TEXT, |place| place.slot);
    }
}

/// Returns the first form of the command whose condition holds.
fn form(read: &Invocation) -> Option<&'static Form> {
    read.command.forms.iter().find(|form| read.holds(form.when))
}

/// Values that negate the option.
const NO: [&str; 9] = ["0", "F", "FALSE", "False", "f", "false", "never", "no", "none"];

/// Reports whether a used option sets the attribute. An unknown value does not set an attribute that would make the
/// invocation harmless. `--no-dry-run` negates `--dry-run` if both are spellings of one option.
fn sets_attribute(used: &Used, attribute: Attribute) -> bool {
    let positive = used.flag.strip_prefix("--no-");
    let is_among = |flag: &&str| flag.strip_prefix("--") == positive;
    if positive.is_some() && used.option.flags.iter().any(is_among) {
        return false;
    }
    match used.value.as_ref().map(Arg::as_str) {
        None => true,
        Some(Some(value)) => !NO.contains(&value),
        Some(None) => matches!(attribute, Attribute::Recursive | Attribute::Force),
    }
}

/// The environment has names that no shell variable can have: `BASH_FUNC_f%%`, `a.b`.
fn is_assignment(arg: &Arg) -> bool {
    let Some((name, _)) = arg.prefix().split_once('=') else { return false };
    let mut letters = name.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || "_.-%()<>".contains(letter))
}

impl Invocation {
    /// Reports whether an option was given, in any spelling. If several levels have an option of this spelling, only
    /// the option of the innermost command matches: not the `-C` of `git -C DIR branch`.
    pub fn given(&self, flag: &str) -> bool {
        let mut used = self.options.iter().filter(|used| used.option.flags.contains(&flag)).peekable();
        if used.peek().is_none() {
            return false;
        }
        let meant = self.levels.iter().rev().find_map(|level| Some(level.option(flag)?.0));
        used.any(|used| meant.is_none_or(|meant| used.option.is_same(meant)))
    }

    /// Iterates over the values of an option in any of its spellings, in order.
    pub fn values<'i>(&'i self, flag: &'i str) -> impl Iterator<Item = &'i Arg> {
        let used = self.options.iter().filter(move |used| used.option.flags.contains(&flag));
        used.filter_map(|used| used.value.as_ref())
    }

    /// Reports whether an option sets the attribute. The last use of an option applies; `--dry-run=none` and
    /// `--force=false` negate it.
    pub fn is(&self, attribute: Attribute) -> bool {
        let saying = || self.options.iter().filter(|used| used.option.attributes.contains(&attribute));
        self.command.always.contains(&attribute)
            || saying().any(|one| {
                let last = saying().rfind(|used| std::ptr::eq(used.option, one.option));
                last.is_some_and(|last| sets_attribute(last, attribute))
            })
    }

    /// Returns the wrapper if the program's purpose is to run another command.
    pub fn wrapper(&self) -> Option<Wrapper> {
        self.command.wrapper.or(self.program.wrapper)
    }

    /// Reports whether all terms of a condition hold.
    pub fn holds(&self, when: &[crate::program::Term]) -> bool {
        when.iter().all(|term| term.any.iter().any(|test| self.test(test)) != term.negated)
    }

    fn test(&self, test: &Test) -> bool {
        match test {
            Test::Given(flag) => self.given(flag),
            Test::Sub => !self.subcommand.is_empty(),
            Test::Is(attribute) => self.is(*attribute),
            Test::AtLeast(count) => self.operands.len() >= *count,
            Test::Operand(pattern) => {
                // In this style options match in upper or lower case, so operands do too.
                let loose = self.command.style == Style::Loose;
                let meets = |text: &str| match loose {
                    true => matches_star(pattern, &text.to_ascii_lowercase()),
                    false => matches_star(pattern, text),
                };
                self.operands.iter().any(|one| one.arg.as_str().is_some_and(meets))
            }
            Test::Value(flag, pattern) => {
                self.values(flag).any(|value| value.as_str().is_some_and(|text| matches_star(pattern, text)))
            }
        }
    }
}
