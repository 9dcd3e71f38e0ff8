//! [`invoke`]: how a program would read its arguments, by its model. What is not known of an argument stays unknown.

use crate::arg::Arg;
use crate::program::{Attribute, Form, Opt, Place, Program, Slot, SlotRole, Style, Test, Wrapper};

mod inner;
mod options;

pub use inner::Inner;

/// A program's arguments, read.
#[derive(Debug, Clone)]
pub struct Invocation {
    /// The program.
    pub program: &'static Program,
    /// The program or the subcommand that is run.
    pub command: &'static Program,
    /// The subcommands on the way to it, by their usual names.
    pub subcommand: Vec<&'static str>,
    /// The options, in order.
    pub options: Vec<Used>,
    /// The operands, in order, with what each is for.
    pub operands: Vec<Operand>,
    /// Positions of arguments that look like options and that the model does not know.
    pub unknown: Vec<usize>,
    /// Positions of arguments that may be options or not: what they begin with is not known.
    pub uncertain: Vec<usize>,
    /// Position of the first operand, where the program has subcommands and it names none that the model knows.
    pub unknown_subcommand: Option<usize>,
}

/// An option that was given.
#[derive(Debug, Clone)]
pub struct Used {
    /// Which.
    pub option: &'static Opt,
    /// The spelling that was meant, abbreviations written out.
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
    /// What it is for.
    pub slot: Slot,
    /// The operand.
    pub arg: Arg,
    /// Position in the arguments.
    pub at: usize,
}

const TEXT: Slot = Slot { role: SlotRole::Text, detail: "" };

/// Reads arguments, the program's name first.
pub fn invoke(program: &'static Program, argv: &[Arg]) -> Invocation {
    let mut reading = Reading {
        argv,
        at: 1,
        read: Invocation {
            program,
            command: program,
            subcommand: Vec::new(),
            options: Vec::new(),
            operands: Vec::new(),
            unknown: Vec::new(),
            uncertain: Vec::new(),
            unknown_subcommand: None,
        },
        above: vec![program],
        ended: program.style == Style::Plain,
        in_expression: false,
    };
    reading.all();
    reading.finish()
}

struct Reading<'a> {
    argv: &'a [Arg],
    at: usize,
    read: Invocation,
    /// The command and those above it, whose options it takes too; the outermost first.
    above: Vec<&'static Program>,
    /// No more options.
    ended: bool,
    /// Of [`Style::Find`]: past the paths.
    in_expression: bool,
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

    /// Reads an operand; true when nothing after it is the program's own.
    fn operand(&mut self, arg: &Arg, at: usize) -> bool {
        if self.subcommand(arg, at) {
            return false;
        }
        let slot = self.slot_of_next(arg);
        self.read.operands.push(Operand { slot, arg: arg.clone(), at });
        if self.read.command.style == Style::Posix {
            self.ended = true;
        }
        matches!(slot.role, SlotRole::Command | SlotRole::Joined)
    }

    /// Goes down into a subcommand, if the argument names one.
    fn subcommand(&mut self, arg: &Arg, at: usize) -> bool {
        let command = self.read.command;
        if command.subs.is_empty() || !self.read.operands.is_empty() || self.read.unknown_subcommand.is_some()
        {
            return false;
        }
        let sub = arg.as_str().and_then(|name| command.subs.iter().find(|sub| sub.names.contains(&name)));
        let Some(sub) = sub else {
            self.read.unknown_subcommand = Some(at);
            return false;
        };
        self.read.command = sub;
        self.read.subcommand.push(sub.name());
        self.above.push(sub);
        self.ended = sub.style == Style::Plain;
        true
    }

    /// What the next operand is for, as far as the operands and options before it tell. Only places before a repeating one
    /// are certain by now; the rest is set in the end.
    fn slot_of_next(&self, arg: &Arg) -> Slot {
        let assignments =
            self.read.operands.iter().filter(|one| one.slot.role == SlotRole::Assignment).count();
        let mut count = self.read.operands.len().saturating_sub(assignments);
        for place in form(&self.read).map_or(&[][..], |form| form.operands) {
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

    fn finish(mut self) -> Invocation {
        let places: &[Place] = form(&self.read).map_or(&[], |form| form.operands);
        let places: Vec<&Place> =
            places.iter().filter(|place| place.slot.role != SlotRole::Assignment).collect();
        let mut operands: Vec<&mut Operand> =
            self.read.operands.iter_mut().filter(|one| one.slot.role != SlotRole::Assignment).collect();
        let total = operands.len();
        let repeating = places.iter().position(|place| place.repeats).unwrap_or(places.len());
        let after = places.len().saturating_sub(repeating + 1);
        for (number, operand) in operands.iter_mut().enumerate() {
            let from_end = total - number;
            let place = if number < repeating {
                places.get(number)
            } else if from_end <= after {
                places.get(places.len() - from_end)
            } else {
                places.get(repeating)
            };
            operand.slot = place.map_or(TEXT, |place| place.slot);
        }
        self.read
    }
}

/// The first form whose condition holds, of the command or, where it has none, of those above.
fn form(read: &Invocation) -> Option<&'static Form> {
    read.command.forms.iter().find(|form| read.holds(form.when))
}

/// Values that take back what the option says.
const NO: [&str; 9] = ["0", "F", "FALSE", "False", "f", "false", "never", "no", "none"];

/// A value that is not known takes back what would make the invocation harmless. `--no-dry-run` takes back `--dry-run`,
/// where both are spellings of one option.
fn says(used: &Used, attribute: Attribute) -> bool {
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

fn is_assignment(arg: &Arg) -> bool {
    let Some((name, _)) = arg.prefix().split_once('=') else { return false };
    let mut letters = name.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

impl Invocation {
    /// Whether an option was given, by any of its spellings.
    pub fn given(&self, flag: &str) -> bool {
        self.options.iter().any(|used| used.option.flags.contains(&flag))
    }

    /// The values of an option, by any of its spellings, in order.
    pub fn values<'i>(&'i self, flag: &'i str) -> impl Iterator<Item = &'i Arg> {
        let used = self.options.iter().filter(move |used| used.option.flags.contains(&flag));
        used.filter_map(|used| used.value.as_ref())
    }

    /// Whether an option that was given says so. Given several times, the last time counts; `--dry-run=none` and
    /// `--force=false` take it back.
    pub fn is(&self, attribute: Attribute) -> bool {
        let saying = || self.options.iter().filter(|used| used.option.attributes.contains(&attribute));
        saying().any(|one| {
            let last = saying().rfind(|used| std::ptr::eq(used.option, one.option));
            last.is_some_and(|last| says(last, attribute))
        })
    }

    /// Whether the program is a wrapper that is there to run another command.
    pub fn wrapper(&self) -> Option<Wrapper> {
        self.command.wrapper.or(self.program.wrapper)
    }

    /// Whether all terms of a condition hold.
    pub fn holds(&self, when: &[crate::program::Term]) -> bool {
        when.iter().all(|term| term.any.iter().any(|test| self.test(test)) != term.negated)
    }

    fn test(&self, test: &Test) -> bool {
        match test {
            Test::Given(flag) => self.given(flag),
            Test::Is(attribute) => self.is(*attribute),
            Test::AtLeast(count) => self.operands.len() >= *count,
            Test::Operand(pattern) => {
                self.operands.iter().any(|one| one.arg.as_str().is_some_and(|text| fits(pattern, text)))
            }
            Test::Value(flag, pattern) => {
                self.values(flag).any(|value| value.as_str().is_some_and(|text| fits(pattern, text)))
            }
        }
    }
}

/// Whether a text fits a pattern in which `*` stands for any text. Linear in the text for each star.
pub(crate) fn fits(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    rest.ends_with(last)
}
