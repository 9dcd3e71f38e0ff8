//! The output of programs that depends only on their arguments and standard input. Each program is a small function
//! without files, clocks or networks. The output of all other programs is unknown.

mod awk;
mod bytes;
mod gzip;
mod jq;
mod lines;
mod listed;
mod names;
mod numbers;
mod print;
mod sed;
mod source;
mod tr;
mod words;

pub use words::HEAD_BRANCH;

use castellan_event::Why;
use castellan_programs::{Arg, Piece, Slot, SlotRole, invoke};

use crate::state::{Descriptor, State};
use crate::syntax::Shell;
use crate::text::Text;

/// The output of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Made {
    /// Text with known and unknown parts.
    Text(Text),
    Unknown(Why),
}

/// The input of a computed program.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Given<'a> {
    /// The arguments without the name.
    pub(crate) args: &'a [Arg],
    /// Standard input.
    pub(crate) input: Option<&'a Text>,
}

/// Computes the output of a program. Returns `None` for unsupported arguments.
type Computed = for<'a> fn(Given<'a>) -> Option<Text>;

const COMPUTED: &[(&str, Computed)] = &[
    ("awk", awk::awk),
    ("base32", bytes::base32),
    ("base64", bytes::base64),
    ("basename", names::basename),
    ("basenc", bytes::basenc),
    ("cat", lines::cat),
    ("command", names::which),
    ("cut", lines::cut),
    ("dirname", names::dirname),
    ("echo", print::echo),
    ("gawk", awk::awk),
    ("gbase32", bytes::base32),
    ("gbase64", bytes::base64),
    ("gunzip", bytes::gunzip),
    ("gzcat", bytes::gunzip),
    ("gzip", bytes::gzip),
    ("gsed", sed::sed),
    ("gtac", lines::tac),
    ("head", lines::head),
    ("jq", jq::jq),
    ("mawk", awk::awk),
    ("mktemp", names::mktemp),
    ("openssl", bytes::openssl),
    ("pigz", bytes::gzip),
    ("print", print::print),
    ("printf", print::printf),
    ("rev", lines::rev),
    ("sed", sed::sed),
    ("seq", names::seq),
    ("sort", lines::sort),
    ("tac", lines::tac),
    ("tail", lines::tail),
    ("tr", tr::tr),
    ("type", names::which),
    ("uniq", lines::uniq),
    ("unpigz", bytes::gunzip),
    ("which", names::which),
    ("xxd", bytes::xxd),
    ("zcat", bytes::gunzip),
];

/// Programs without output on success.
const SILENT: &[&str] = &[
    "[", "chmod", "chown", "chgrp", "cp", "ln", "mkdir", "mv", "rm", "rmdir", "sleep", "test", "touch",
    "disown", "bg", "compopt", "sync",
];

/// Returns true if a silent program stays silent with this argument, unlike with `-v`, `--version` and similar.
fn leaves_silent(arg: &Arg) -> bool {
    let written = arg.prefix();
    let option = written.starts_with('-') && (written.starts_with("--") || written.contains(['v', 'c']));
    !option || written == "--"
}

/// Programs that print file contents, and whose models do not mark the file arguments.
const FILES: &[&str] =
    &["awk", "bzip2", "gawk", "gzip", "jq", "lz4", "mawk", "sqlite3", "tar", "xz", "yq", "zstd"];

/// `tee`: a program that writes its input to files.
#[derive(Debug)]
pub(crate) struct Tee {
    /// Files with known names.
    pub(crate) paths: Vec<String>,
    /// True if the files keep their contents.
    pub(crate) appends: bool,
}

impl Tee {
    /// Parses `argv`, which includes the program's name.
    pub(crate) fn of(name: &str, argv: &[Arg]) -> Option<Tee> {
        let program = castellan_programs::find(name)?;
        let is_file = |slot: Slot| slot.role == SlotRole::Write && slot.detail == "input";
        let mut places = program.forms.iter().flat_map(|form| form.operands);
        if !places.any(|place| is_file(place.slot)) {
            return None;
        }
        let read = invoke(program, argv);
        let files = read.operands.iter().filter(|operand| is_file(operand.slot));
        let paths = files.filter_map(|operand| operand.arg.as_str().map(str::to_owned)).collect();
        Some(Tee { paths, appends: read.given("--append") })
    }
}

/// Returns true for programs that do not fail, which decides the paths after `&&` and `||`.
pub(crate) fn always_succeeds(name: &str) -> bool {
    matches!(name, "echo" | "printf" | "tee" | "seq" | "basename" | "dirname")
}

/// Returns the output of the program with this name.
pub(crate) fn computed(name: &str, args: &[Arg], input: Option<&Text>, state: &State) -> Made {
    if SILENT.contains(&name) && (matches!(name, "[" | "test") || args.iter().all(leaves_silent)) {
        return Made::Text(Text::default());
    }
    let is_own = match (state.options.shell, name) {
        // `-e` and a second option are text.
        (Shell::Posix, "echo") => {
            let is_option = |arg: &Arg| arg.prefix().starts_with('-') && arg.as_str() != Some("-n");
            args.first().is_some_and(is_option)
                || args.len() > 1 && args.iter().take(2).all(|arg| arg.prefix().starts_with('-'))
        }
        // Its format of an empty value is another.
        (Shell::Ksh, "printf") => args.first().is_some_and(|format| format.written().contains("%q")),
        // A value that is missing is empty.
        (Shell::Zsh, "printf") => args.first().is_some_and(|format| {
            let format = format.written();
            format.contains("%q") && format.matches('%').count() >= args.len()
        }),
        // `xpg_echo`
        (Shell::Bash, "echo") => {
            state.options.is_unmodelled && args.iter().any(|arg| arg.written().contains('\\'))
        }
        // The locale decides what a character is.
        (_, "cut" | "fold" | "printf" | "rev" | "sed" | "tr") if !is_ascii(args, input) => {
            name != "printf" && name != "sed" || args.iter().any(|arg| arg.written().contains(['.', '[']))
        }
        // `type` prints a sentence.
        (_, "type") => !args.iter().any(|arg| arg.prefix().starts_with('-')),
        // `command -v f` prints the name of a function.
        (_, "command") => args.iter().filter_map(Arg::as_str).any(|name| state.functions.contains(name)),
        _ => false,
    };
    if is_own {
        return Made::Unknown(Why::Substitution);
    }
    if let Some(text) = numbers::numbered(name, Given { args, input }) {
        return Made::Text(text);
    }
    if let Some((_, compute)) = COMPUTED.iter().find(|(one, _)| *one == name) {
        let (mut args, named) = followed(args, state);
        let has_escapes = name == "echo" && matches!(state.options.shell, Shell::Zsh | Shell::Posix);
        if has_escapes && args.iter().any(|arg| arg.written().contains('\\')) {
            args.insert(0, Arg::known("-e"));
        }
        let input = named.as_ref().or(input);
        if let Some(text) = compute(Given { args: &args, input }) {
            return Made::Text(text);
        }
    }
    if let Some(text) = listed::names(name, args).or_else(|| words::word(name, args, state)) {
        return Made::Text(text);
    }
    // Selected lines of file names are still file names.
    if let Some(text) =
        input.filter(|text| text.why_of_parts() == Some(Why::Glob) && lines::keeps(name, args))
    {
        return Made::Text(text.clone());
    }
    let own = source::source_of(name, args);
    if own == Some(Why::Network) {
        return Made::Unknown(Why::Network);
    }
    // Unknown input keeps its reason in the output.
    let passed =
        input.iter().flat_map(|text| text.pieces()).find(|piece| matches!(piece, Piece::Unknown { .. }));
    match passed {
        // The output may contain names other than those that match the pattern.
        Some(Piece::Unknown { why: Why::Glob, .. }) => Made::Unknown(Why::File),
        Some(Piece::Unknown { why, written }) => Made::Text(Text::unknown(*why, written)),
        // Without input, these programs read their file arguments.
        Some(Piece::Text(_)) | None if input.is_none() && FILES.contains(&name) => Made::Unknown(Why::File),
        Some(Piece::Text(_)) | None => Made::Unknown(own.unwrap_or(Why::Substitution)),
    }
}

/// Resolves operands that are open descriptors or files written by the text: the first with known text replaces
/// standard input.
fn followed(args: &[Arg], state: &State) -> (Vec<Arg>, Option<Text>) {
    let mut rest = Vec::with_capacity(args.len());
    let mut named = None;
    for arg in args {
        let open = arg.as_str().filter(|_| named.is_none()).and_then(|path| state.opened(path));
        match open {
            Some(Descriptor::Input(text)) => named = Some((*text).clone()),
            Some(
                Descriptor::Inherited
                | Descriptor::Collected(_)
                | Descriptor::Process(_)
                | Descriptor::File(_)
                | Descriptor::Written(_)
                | Descriptor::Script
                | Descriptor::Unknown,
            ) => rest.push(arg.clone()),
            None => {
                match arg.as_str().filter(|_| named.is_none()).and_then(|path| state.certainly_held(path)) {
                    Some(text) => named = Some(text),
                    None => rest.push(arg.clone()),
                }
            }
        }
    }
    (rest, named)
}

impl<'a> Given<'a> {
    /// Returns the arguments, if all are known.
    fn known(self) -> Option<Vec<&'a str>> {
        self.args.iter().map(Arg::as_str).collect()
    }

    /// Returns all of standard input, if known.
    fn text(self) -> Option<&'a str> {
        self.input?.as_str()
    }

    /// Returns standard input for a program without operands or with the single operand `-`.
    fn read_by(self, operands: &[&str]) -> Option<&'a str> {
        if matches!(operands, [] | ["-"]) { self.text() } else { None }
    }
}

/// Applies a per-character change to the known parts of a text, and keeps the unknown parts.
fn each_known(text: &Text, change: impl Fn(&str) -> String) -> Text {
    let mut made = Text::default();
    for piece in text.pieces() {
        match piece {
            Piece::Text(known) => made.push_str(&change(known)),
            Piece::Unknown { why: Why::Glob, written } => made.push_unknown(Why::File, written),
            Piece::Unknown { why, written } => made.push_unknown(*why, written),
        }
    }
    made
}

/// Returns the output of a program, if it is installed and accepts the arguments.
#[cfg(test)]
fn real(program: &str, args: &[&str], input: &str) -> Option<String> {
    use std::io::Write;
    use std::process::{Command, Stdio};

    let mut command = Command::new(program);
    command
        .args(args)
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    // A program that reads nothing closes its input.
    let _ = child.stdin.take()?.write_all(input.as_bytes());
    let done = child.wait_with_output().ok()?;
    Some(String::from_utf8_lossy(&done.stdout).into_owned()).filter(|_| done.status.success())
}

fn is_ascii(args: &[Arg], input: Option<&Text>) -> bool {
    args.iter().all(|arg| arg.written().is_ascii()) && input.is_none_or(|input| input.written().is_ascii())
}
