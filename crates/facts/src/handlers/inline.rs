//! Programs that are made of several arguments: pieces of text, modules, and the loop over lines that an option puts
//! around them.

use castellan_event::{EffectKind, Role, Why};
use castellan_programs::{Arg, Invocation, Piece, base_name};

use crate::next::From;
use crate::path;
use crate::sink::Sink;

/// `perl -MFoo=a,b -ne TEXT -e TEXT`
pub(super) fn perl(read: &Invocation, _: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let mut texts = read.values("-e").chain(read.values("-E")).peekable();
    let debugger = read.values("-d").filter_map(Arg::as_str).find_map(|text| Some(text.split_once(':')?.1));
    if texts.peek().is_none() && debugger.is_none() && !["-M", "-m"].iter().any(|flag| read.given(flag)) {
        return;
    }
    let mut program = Program::default();
    for library in read.values("-I") {
        program.arg("use lib q\u{1}", library, "\u{1};");
    }
    if let Some(module) = debugger {
        program.text(&used(&format!("Devel::{module}")));
    }
    for module in read.values("-M").chain(read.values("-m")) {
        match module.as_str() {
            Some(module) => program.text(&used(module)),
            None => program.arg("use ", module, ";"),
        }
    }
    let loops = ["-n", "-p", "-a", "-F"].iter().any(|flag| read.given(flag)) && texts.peek().is_some();
    if loops {
        program.text("while (<>) {");
    }
    for (at, text) in texts.enumerate() {
        program.arg(if at > 0 { "\n" } else { "" }, text, "");
    }
    if loops {
        program.text("\n}");
    }
    sink.program("perl", From::Text(Arg::from_pieces(program.pieces, false)));
}

/// Returns the code of `-M`: `Foo`, `-Foo`, `Foo=a,b`, `Foo qw(a b)`.
fn used(module: &str) -> String {
    let (word, module) = module.strip_prefix('-').map_or(("use", module), |module| ("no", module));
    match module.split_once('=') {
        Some((module, names)) => format!("{word} {module} qw\u{1}{}\u{1};", names.replace(',', " ")),
        None => format!("{word} {module};"),
    }
}

/// `ruby -rfoo -ne TEXT -e TEXT`
pub(super) fn ruby(read: &Invocation, _: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let mut program = Program::default();
    let texts = read.values("-e");
    if ["-n", "-p"].iter().any(|flag| read.given(flag)) && read.given("-e") {
        program.text("#!ruby -n\n");
    }
    // Ruby begins at a later line of the file.
    if read.given("-x") {
        sink.opaque(Role::Code, Why::Unsupported, "-x");
    }
    if read.given("-r") || read.given("-e") {
        for library in read.values("-I") {
            program.arg("$:.unshift '", library, "'\n");
        }
    }
    for library in read.values("-r") {
        let directories = if is_path(library) { vec![HERE] } else { known_directories(read) };
        match found(library, &directories, &["", ".rb"], sink) {
            Some(file) => loaded("ruby", &Arg::known(file), sink),
            None if is_path(library) => loaded("ruby", library, sink),
            // In a directory that is not known there may be one of every name.
            None => {
                let unknown = read.values("-I").find(|directory| directory.why().is_some());
                program.arg("require '", unknown.unwrap_or(library), "'\n");
            }
        }
    }
    for (at, text) in texts.enumerate() {
        program.arg(if at > 0 { "\n" } else { "" }, text, "");
    }
    program.run("ruby", sink);
}

/// `python -W ACTION:MESSAGE:MODULE.CATEGORY` imports the module of the category.
pub(super) fn python(read: &Invocation, argv: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let mut program = Program::default();
    for filter in read.values("-W").filter_map(Arg::as_str) {
        let category = filter.split(':').nth(2).and_then(|category| category.rsplit_once('.'));
        if let Some((module, _)) = category {
            program.text(&format!("import {module}\n"));
        }
    }
    program.run("python", sink);
    // castellan reads a program of Python 2 as Python 3 does. Both may do different things.
    let name = argv.first().and_then(Arg::as_str).map(base_name).unwrap_or_default();
    let runs_code = !read.operands.is_empty() || read.given("-c") || read.given("-m");
    if runs_code && (name.starts_with("python2") || name.starts_with("pypy2")) {
        sink.opaque(Role::Code, Why::Language, name);
    }
    // Its name is another program's, too.
    if read.values("-m").any(|module| module.as_str() == Some("code")) {
        sink.on(EffectKind::Interactive, "python", "", None);
    }
}

/// `lua -l MODULE`, `lua -l NAME=MODULE`
pub(super) fn lua(read: &Invocation, _: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let mut program = Program::default();
    for module in read.values("-l") {
        let module = match module.as_str().and_then(|text| text.split_once('=')) {
            Some((_, module)) => Arg::known(module),
            None => module.clone(),
        };
        program.arg("require '", &module, "'\n");
    }
    program.run("lua", sink);
}

/// Options of Node before the program, which load modules.
const NODE_LOADS: &[&str] = &["--require", "--import", "--loader"];

/// `node -r MODULE`, `node --import URL`
pub(super) fn node(read: &Invocation, _: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let mut program = Program::default();
    for module in NODE_LOADS.iter().flat_map(|flag| read.values(flag)) {
        if !is_path(module) {
            program.arg("require('", module, "')\n");
            continue;
        }
        match found(module, &[HERE], &["", ".js", ".cjs", ".mjs", ".ts"], sink) {
            Some(file) => loaded("javascript", &Arg::known(file), sink),
            None => loaded("javascript", module, sink),
        }
    }
    program.run("javascript", sink);
}

/// Options of PHP that give it a program, or something else to do.
const PHP_PROGRAMS: &[&str] = &["-a", "-r", "-R", "-F", "-f", "-B", "-E", "-S", "-i", "-m"];

/// Settings of PHP that name a file with code in PHP, and those that name a library.
const PHP_FILES: &[&str] = &["auto_append_file", "auto_prepend_file", "opcache.preload"];
const PHP_LIBRARIES: &[&str] = &["extension", "zend_extension", "ffi.preload"];

/// `php -d auto_prepend_file=FILE`
pub(super) fn php(read: &Invocation, _: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    // Behind `--` stand arguments: the program is what is read.
    let is_first = |end: usize| read.operands.first().is_some_and(|first| first.at > end);
    let has_program = PHP_PROGRAMS.iter().any(|flag| read.given(flag));
    if read.given("-") || read.ended_at.is_some_and(is_first) && !has_program {
        sink.on(EffectKind::Interactive, "php", "", None);
    }
    for setting in read.values("-d") {
        let Some((name, _)) = setting.prefix().split_once('=') else {
            if let Some(why) = setting.why() {
                sink.opaque(Role::Code, why, &setting.written());
            }
            continue;
        };
        let (name, begin) = (name.trim(), format!("{name}="));
        let Some(value) = setting.strip_prefix(&begin).filter(|value| value.as_str() != Some("")) else {
            continue;
        };
        let value = match value.as_str() {
            Some(text) => Arg::known(text.trim_matches(['"', '\'', ' '])),
            None => value,
        };
        if PHP_FILES.contains(&name) {
            loaded("php", &value, sink);
        } else if PHP_LIBRARIES.contains(&name) || name == "extension_dir" {
            sink.path(EffectKind::Execute, &value);
        }
    }
}

/// The working directory.
pub(super) const HERE: &str = ".";

/// Returns the known directories of modules, from `-I`.
fn known_directories(read: &Invocation) -> Vec<&str> {
    read.values("-I").filter_map(Arg::as_str).collect()
}

fn is_path(name: &Arg) -> bool {
    name.prefix().starts_with(['.', '/'])
}

/// A file that is loaded before the program.
pub(super) fn loaded(language: &str, file: &Arg, sink: &mut Sink<'_, '_, '_, '_>) {
    sink.path(EffectKind::Execute, file);
    sink.program(language, From::File(file.clone()));
}

/// The file that a module's name leads to in these directories.
pub(super) fn found(
    name: &Arg,
    directories: &[&str],
    endings: &[&str],
    sink: &mut Sink<'_, '_, '_, '_>,
) -> Option<String> {
    let name = name.as_str()?;
    let cwd = sink.cwd.clone();
    for directory in directories {
        let directory = path::collapse(cwd.as_deref(), directory)?;
        let paths =
            endings.iter().filter_map(|end| path::collapse(Some(&directory), &format!("{name}{end}")));
        for path in paths {
            if sink.scene.is_file_there(&path) {
                return Some(path);
            }
        }
    }
    None
}

#[derive(Default)]
struct Program {
    pieces: Vec<Piece>,
}

impl Program {
    fn text(&mut self, text: &str) {
        self.pieces.push(Piece::Text(text.to_owned()));
    }

    fn arg(&mut self, before: &str, arg: &Arg, after: &str) {
        self.text(before);
        self.pieces.extend(arg.pieces().iter().cloned());
        self.text(after);
    }

    fn run(self, language: &str, sink: &mut Sink<'_, '_, '_, '_>) {
        if !self.pieces.is_empty() {
            sink.program(language, From::Text(Arg::from_pieces(self.pieces, false)));
        }
    }
}
