//! Commands of gdb 13 and lldb 14, one a line. Known are commands that inspect or step through the debugged program,
//! and commands that run shell text or files. A command that calls functions or is unknown may do anything.

use castellan_event::Why;

use super::Found;

/// The effect of a command on the text after its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    /// Inspects or steps through the program.
    Nothing,
    /// The text is shell text.
    Shell,
    /// The whole command is shell text: `make`.
    Whole,
    /// `COMMAND | TEXT`: shell text reads the output of a command.
    Pipe,
    /// The text is a file of commands.
    Run,
    /// Arguments of the debugged program, which a shell parses.
    Arguments,
    /// The text is another command, which runs for each thread.
    Each,
}

/// The words of commands and their effects. The longest match applies.
type Table = &'static [(Act, &'static [&'static str])];

const GDB: Table = &[
    (Act::Shell, &["!", "shell"]),
    (Act::Whole, &["make"]),
    (Act::Pipe, &["pipe", "|"]),
    (Act::Run, &["source"]),
    (Act::Arguments, &["r", "run", "set args", "start", "starti"]),
    (Act::Each, &["thread apply all", "frame apply all", "taas", "tfaas", "faas"]),
    (
        Act::Nothing,
        &[
            "advance",
            "awatch",
            "b",
            "backtrace",
            "br",
            "break",
            "bt",
            "c",
            "continue",
            "cont",
            "d",
            "delete",
            "detach",
            "disable",
            "disassemble",
            "display",
            "down",
            "echo",
            "enable",
            "exit",
            "f",
            "finish",
            "frame",
            "help",
            "hbreak",
            "i",
            "info",
            "kill",
            "l",
            "list",
            "n",
            "next",
            "nexti",
            "ni",
            "output",
            "p",
            "print",
            "ptype",
            "q",
            "quit",
            "rbreak",
            "rwatch",
            "s",
            "set breakpoint",
            "set confirm",
            "set disassembly-flavor",
            "set height",
            "set listsize",
            "set pagination",
            "set print",
            "set width",
            "show",
            "si",
            "step",
            "stepi",
            "t",
            "tb",
            "tbreak",
            "thread",
            "u",
            "until",
            "up",
            "watch",
            "whatis",
            "where",
            "x",
        ],
    ),
];

const LLDB: Table = &[
    (Act::Shell, &["platform shell", "shell", "!"]),
    (Act::Run, &["command source"]),
    (Act::Arguments, &["process launch", "r", "run", "settings set target.run-args"]),
    (
        Act::Nothing,
        &[
            "b",
            "br",
            "breakpoint",
            "bt",
            "c",
            "continue",
            "detach",
            "di",
            "disassemble",
            "down",
            "exit",
            "f",
            "finish",
            "frame",
            "help",
            "image",
            "kill",
            "list",
            "memory read",
            "n",
            "next",
            "ni",
            "process status",
            "q",
            "quit",
            "register read",
            "s",
            "si",
            "source list",
            "step",
            "target list",
            "target modules list",
            "thread backtrace",
            "thread info",
            "thread list",
            "up",
            "version",
            "x",
        ],
    ),
];

pub(super) fn gdb(text: &str) -> Vec<Found> {
    scan(text, GDB)
}

pub(super) fn lldb(text: &str) -> Vec<Found> {
    scan(text, LLDB)
}

fn scan(text: &str, table: Table) -> Vec<Found> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.filter_map(|line| command(line, table)).collect()
}

fn command(line: &str, table: Table) -> Option<Found> {
    let mut line = line;
    loop {
        let unknown = || Found::Unknown(Why::Language, line.to_owned());
        let Some((act, rest)) = looked_up(line, table) else { return Some(unknown()) };
        return match act {
            // An expression may call functions of the program, also in a condition.
            Act::Nothing if rest.contains('(') => Some(unknown()),
            Act::Nothing => None,
            Act::Shell => Some(Found::Shell(rest.to_owned())),
            Act::Whole => Some(Found::Shell(line.to_owned())),
            Act::Pipe => Some(
                rest.split_once('|').map_or_else(unknown, |(_, text)| Found::Shell(text.trim().to_owned())),
            ),
            Act::Run => Some(Found::Execute(rest.to_owned())),
            Act::Arguments if rest.is_empty() => None,
            Act::Arguments => Some(Found::Shell(format!(": {rest}"))),
            Act::Each => {
                line = rest.trim_start_matches("-s ").trim_start();
                continue;
            }
        };
    }
}

/// Returns the effect of the command at the start of a line, and the text after it.
fn looked_up(line: &str, table: Table) -> Option<(Act, &str)> {
    let all = table.iter().flat_map(|(act, words)| words.iter().map(|word| (*act, *word)));
    let fits = all.filter_map(|(act, word)| {
        let rest = line.strip_prefix(word)?;
        let is_sign = matches!(word, "!" | "|");
        let ends = rest.is_empty() || rest.starts_with([' ', '\t', '/']);
        (is_sign || ends).then(|| (act, word.len(), rest.trim()))
    });
    fits.max_by_key(|(_, length, _)| *length).map(|(act, _, rest)| (act, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let shown = |found: &Found| match found {
            Found::Shell(text) => format!("shell {text}"),
            Found::Execute(text) => format!("execute {text}"),
            Found::Unknown(_, text) => format!("unknown {text}"),
            Found::Read(text) | Found::Write(text) => text.clone(),
        };
        assert_eq!(gdb(text).iter().map(shown).collect::<Vec<_>>(), expected, "{text}");
    }

    #[test]
    fn commands_that_run_something_are_found() {
        check("shell rm x", &["shell rm x"]);
        check("!rm x", &["shell rm x"]);
        check("make clean", &["shell make clean"]);
        check("pipe bt | tee x", &["shell tee x"]);
        check("| bt | tee x", &["shell tee x"]);
        check("source x.gdb", &["execute x.gdb"]);
        check("run > x", &["shell : > x"]);
        check("set args `rm x`", &["shell : `rm x`"]);
        check("bt\nthread apply all shell rm x", &["shell rm x"]);
    }

    #[test]
    fn what_looks_does_nothing_and_the_rest_is_not_known() {
        check("set pagination off\nrun\nbt full\nthread apply all bt\nx/20i $pc\ninfo registers\nquit", &[]);
        check("python import os", &["unknown python import os"]);
        check("call system(\"x\")", &["unknown call system(\"x\")"]);
        check("print $_shell(\"x\")", &["unknown print $_shell(\"x\")"]);
        check("break f if system(\"x\")", &["unknown break f if system(\"x\")"]);
        check("set logging file x", &["unknown set logging file x"]);
        check("she rm x", &["unknown she rm x"]);
        check("# shell rm x", &[]);
    }
}
