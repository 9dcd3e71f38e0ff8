//! make's variables and targets, a compiler's inputs and outputs, and the small tools inside cmake.

use castellan_event::{EffectKind, Operation, Role, Why, matches_star, single_quoted};
use castellan_programs::{Arg, Attribute, Invocation, Piece};

use crate::sink::Sink;
use crate::{builds, loaded};

/// Options of compilers and linkers whose value is the next argument; attached values need no list.
const COMPILER_VALUES: &[&str] = &[
    "-A",
    "-B",
    "-D",
    "-I",
    "-L",
    "-MF",
    "-MQ",
    "-MT",
    "-T",
    "-U",
    "-Xassembler",
    "-Xclang",
    "-Xlinker",
    "-Xpreprocessor",
    "-arch",
    "-aux-info",
    "-dumpbase",
    "-dumpdir",
    "-e",
    "-framework",
    "-h",
    "-idirafter",
    "-imacros",
    "-imultilib",
    "-include",
    "-install_name",
    "-iprefix",
    "-iquote",
    "-isysroot",
    "-isystem",
    "-iwithprefix",
    "-l",
    "-m",
    "-mllvm",
    "-o",
    "-rpath",
    "-soname",
    "-specs",
    "-target",
    "-u",
    "-wrapper",
    "-x",
    "-z",
    "--param",
    "--sysroot",
    "--target",
    "-plugin",
];

/// Options whose value is code that the compiler runs or that says what it runs.
const COMPILER_CODE: &[&str] = &[
    "-B",
    "-fplugin=",
    "-fpass-plugin=",
    "-fuse-ld=/",
    "--ld-path=",
    "-load=",
    "-plugin",
    "-specs=",
    "--specs=",
];

/// Options with which a compiler only tells something.
const COMPILER_TELLS: &[&str] =
    &["--help", "--version", "-dumpmachine", "-dumpversion", "-print-search-dirs", "-###", "-v"];

/// Variables of a make whose value it runs.
const TOOLS: &[&str] = &["AR", "AS", "CC", "CPP", "CXX", "FC", "LD", "LEX", "MAKE", "RM", "YACC"];

/// `make target NAME=value`: the makefile's commands for a target run.
pub(crate) fn make(read: &Invocation, _: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    for text in read.values("-E") {
        sink.opaque(Role::Code, Why::Language, &text.written());
    }
    let mut targets = Vec::new();
    for operand in &read.operands {
        match operand.arg.prefix().split_once('=') {
            Some((name, _)) => variable(name, &operand.arg, sink),
            None => targets.push(&operand.arg),
        }
    }
    if !targets.is_empty() {
        targets.into_iter().for_each(|target| recipe(Some(target), read, sink));
    } else {
        recipe(None, read, sink);
    }
}

/// `just -f FILE recipe`, `task -t FILE task`: a file that is named instead of the usual one.
pub(crate) fn task_file(read: &Invocation, _: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let system = read.program.name();
    if read.given("-g") {
        // The one of the user.
        sink.opaque(Role::Code, Why::File, system);
    }
    let flag = if system == "just" { "-f" } else { "-t" };
    let Some(file) = read.values(flag).last().and_then(Arg::as_str) else { return };
    if read.operands.is_empty() {
        sink.task(system, "run", None, file);
    }
    for operand in &read.operands {
        sink.task(system, "run", Some(&operand.arg.written()), file);
    }
}

fn recipe(target: Option<&Arg>, read: &Invocation, sink: &mut Sink<'_, '_, '_, '_>) {
    let text = |text: &str| Some(text.to_owned());
    let target = target.map(|target| target.written().into_owned());
    let (system, verb) = (text("make"), text("run"));
    let effect = Operation { system, verb, target, ..Operation::of(EffectKind::Execute) };
    let file = read.values("-f").last().cloned().unwrap_or_else(|| Arg::known("Makefile"));
    // `$(shell ...)`, and lines with a plus, run even when commands are only shown.
    sink.mode.dry = false;
    sink.shows_tasks = read.is(Attribute::Dry);
    sink.path_effect(effect, &file);
}

fn variable(name: &str, arg: &Arg, sink: &mut Sink<'_, '_, '_, '_>) {
    let name = name.trim_end_matches([':', '?', '+', '!']);
    let value = arg.prefix().split_once('=').map(|(_, value)| value).unwrap_or_default();
    let is_command = value.contains([' ', '/', '$', ';']) || arg.as_str().is_none();
    if matches!(name, "SHELL" | ".SHELLFLAGS" | "MAKEFILES") || TOOLS.contains(&name) && is_command {
        sink.opaque(Role::Code, arg.why().unwrap_or(Why::Unsupported), &arg.written());
    }
}

/// `gcc -o out in.c`: compilers and linkers take hundreds of options in words of one dash; a few say what is written or
/// run.
pub(crate) fn compiler(_: &Invocation, argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let has = |flag: &str| argv.iter().any(|arg| arg.as_str() == Some(flag));
    let mut args = argv.iter().skip(1).peekable();
    let (mut writes, mut inputs) = (false, 0);
    if args.peek().is_none() || argv.len() == 2 && COMPILER_TELLS.iter().any(|flag| has(flag)) {
        return;
    }
    while let Some(arg) = args.next() {
        let begins = arg.prefix();
        let next =
            if COMPILER_VALUES.contains(&begins) && arg.as_str().is_some() { args.next() } else { None };
        if let Some(file) = attached(arg, &["-o", "-MF"], next) {
            writes |= !begins.starts_with("-MF");
            sink.path(EffectKind::Write, &file);
        } else if let Some(file) = attached(arg, COMPILER_CODE, next) {
            sink.path(EffectKind::Execute, &file);
        } else if begins.starts_with('@') {
            sink.path(EffectKind::Read, &arg.strip_prefix("@").unwrap_or_else(|| arg.clone()));
            sink.opaque(Role::Code, Why::File, &arg.written());
        } else if begins == "-Xclang" && next.is_some_and(|next| next.as_str() == Some("-load")) {
            sink.opaque(Role::Code, Why::File, "-load");
        } else if begins == "-wrapper" {
            sink.opaque(Role::Code, Why::Unsupported, &next.map(Arg::written).unwrap_or_default());
        } else if let Some(file) = attached(arg, &["-include", "-imacros", "-T"], next) {
            sink.path(EffectKind::Read, &file);
        } else if !begins.starts_with('-') {
            inputs += 1;
            sink.path(EffectKind::Read, arg);
        }
    }
    if !writes && inputs > 0 && !has("-E") && !has("-fsyntax-only") {
        let file = if has("-c") || has("-S") { "." } else { "a.out" };
        sink.path(EffectKind::Write, &Arg::known(file));
    }
}

/// The value of one of these options: the next argument, or what is attached.
fn attached(arg: &Arg, flags: &[&str], next: Option<&Arg>) -> Option<Arg> {
    let flag = flags.iter().find(|flag| arg.prefix().starts_with(**flag))?;
    let value = arg.strip_prefix(flag)?;
    match next {
        Some(next) if value.as_str() == Some("") => Some(next.clone()),
        Some(_) => None,
        None => (value.as_str() != Some("")).then_some(value),
    }
}

/// Records the project that CMake configures as a program: CMake runs the files of that directory.
fn configured(read: &Invocation, sink: &mut Sink<'_, '_, '_, '_>) {
    let others = ["--build", "--install", "--open", "-L", "-N", "-P"];
    if others.iter().any(|one| read.given(one)) {
        return;
    }
    let operands = read.operands.iter().map(|operand| &operand.arg);
    for directory in read.values("-S").chain(operands).filter_map(Arg::as_str) {
        loaded::named::add(
            &Arg::known(format!("{}/CMakeLists.txt", directory.trim_end_matches('/'))),
            read.program.name(),
            sink,
        );
    }
}

/// Variables of CMake and properties of Maven whose value names a file that is run.
const RUN: &[&str] = &[
    "CMAKE_*_COMPILER",
    "CMAKE_*_LAUNCHER",
    "CMAKE_CROSSCOMPILING_EMULATOR",
    "CMAKE_MAKE_PROGRAM",
    "CMAKE_PROJECT_*",
    "exec.executable",
];

/// `-D NAME=FILE`, `-DNAME:TYPE=FILE`: a file that the tool runs in turn. A value without a directory is the name of a
/// program. A file by an unknown variable is one of an installed toolchain: the session could not write it by that name.
pub(crate) fn definitions(read: &Invocation, _: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    for value in read.values("-D") {
        let before = value.prefix();
        let Some((name, _)) = before.split_once('=') else { continue };
        let bare = name.split(':').next().unwrap_or_default();
        let file = value.strip_prefix(&format!("{name}="));
        if let Some(file) = file.as_ref().filter(|file| file.as_str().is_some() && builds::cmake_loads(bare))
        {
            sink.path(EffectKind::Execute, file);
            loaded::named::add(file, read.program.name(), sink);
            continue;
        }
        let Some(file) = file.filter(|file| file.prefix().contains('/') || file.prefix().ends_with(".cmake"))
        else {
            continue;
        };
        if RUN.iter().any(|pattern| matches_star(pattern, bare)) {
            sink.path(EffectKind::Execute, &file);
            loaded::named::add(&file, read.program.name(), sink);
        }
    }
}

/// `cmake -E rm -rf x`: cmake's own file tools.
pub(crate) fn cmake(read: &Invocation, argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    definitions(read, argv, sink);
    if !read.given("-E") {
        return configured(read, sink);
    }
    let mut words =
        argv.iter().skip_while(|arg| !matches!(arg.as_str(), Some("-E" | "--command-mode"))).skip(1);
    let Some(tool) = words.next().and_then(Arg::as_str) else { return };
    let files: Vec<&Arg> = words.filter(|arg| !arg.prefix().starts_with('-')).collect();
    match tool {
        "rm" | "remove" | "remove_directory" => {
            if tool == "remove_directory"
                || argv.iter().any(|arg| matches!(arg.as_str(), Some("-r" | "-rf" | "-R")))
            {
                sink.mode.recursive = Some(true);
            }
            files.into_iter().for_each(|file| sink.path(EffectKind::Delete, file));
        }
        "copy"
        | "copy_directory"
        | "copy_if_different"
        | "copy_directory_if_different"
        | "rename"
        | "create_symlink"
        | "create_hardlink" => {
            if let Some((into, from)) = files.split_last() {
                from.iter().for_each(|file| sink.path(EffectKind::Read, file));
                sink.path(EffectKind::Write, into);
            }
        }
        "make_directory" | "touch" | "touch_nocreate" => {
            files.into_iter().for_each(|file| sink.path(EffectKind::Write, file));
        }
        "cat" | "compare_files" | "md5sum" | "sha1sum" | "sha256sum" | "sha512sum" => {
            files.into_iter().for_each(|file| sink.path(EffectKind::Read, file));
        }
        "env" | "time" | "chdir" => {
            let words = argv.iter().skip_while(|arg| arg.as_str() != Some(tool)).skip(1);
            let mut words: Vec<Arg> = words.map(quoted).collect();
            let begin = if tool == "chdir" { "cd" } else { tool };
            words.insert(0, Arg::known(begin));
            if tool == "chdir" {
                words.insert(2.min(words.len()), Arg::known("&&"));
            }
            sink.shell(joined(&words));
        }
        "tar" | "server" => sink.opaque(Role::Code, Why::Unsupported, tool),
        _ => {}
    }
}

/// A word as a shell reads it back.
fn quoted(arg: &Arg) -> Arg {
    match arg.as_str() {
        Some(text) => Arg::known(single_quoted(text)),
        None => arg.clone(),
    }
}

fn joined(words: &[Arg]) -> Arg {
    let blank = || Piece::Text(" ".to_owned());
    let pieces = words.iter().flat_map(|word| word.pieces().iter().cloned().chain([blank()]));
    Arg::from_pieces(pieces, false)
}
