//! Programs that pack and unpack: which files go into an archive, and where those go that come out of it. What an
//! archive holds is not known: whatever comes out may lie anywhere below the directory.

use castellan_event::{EffectKind, Operation, Role, Why};
use castellan_programs::{Arg, Invocation, Operand, SlotRole, Used};

use crate::sink::Sink;
use crate::targets::{beside, is_standard_stream, remote};

pub(super) fn tar(read: &Invocation, _: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let changes = ["-r", "-u", "-A", "--delete"].iter().any(|mode| read.given(mode));
    let packs = changes || read.given("-c");
    for archive in read.values("-f").filter(|archive| !is_standard_stream(archive)) {
        let (away, here) = if packs {
            (EffectKind::Upload, EffectKind::Write)
        } else {
            (EffectKind::Download, EffectKind::Read)
        };
        if changes {
            sink.path(EffectKind::Read, archive);
        }
        if read.given("--force-local") { sink.path(here, archive) } else { remote(away, here, archive, sink) }
    }
    let start = sink.cwd.clone();
    if read.given("-x") {
        unpacked(read, sink);
    } else if packs && !read.given("--delete") {
        packed(read, sink);
    }
    sink.cwd = start;
}

/// The paths that are named, in order, each with the directory in which it is looked for: every `-C` before it, one
/// after the other. The last is the directory in which everything else goes.
fn each(
    read: &Invocation,
    sink: &mut Sink<'_, '_, '_, '_>,
    mut act: impl FnMut(&Arg, &mut Sink<'_, '_, '_, '_>),
) {
    let named = |used: &Used| used.option.flags.contains(&"-C") || used.option.flags.contains(&"--add-file");
    let options = read.options.iter().filter(|used| named(used));
    let options =
        options.filter_map(|used| Some((used.at, used.option.flags.contains(&"-C"), used.value.as_ref()?)));
    let operands = read.operands.iter().map(|operand| (operand.at, false, &operand.arg));
    let mut all: Vec<(usize, bool, &Arg)> = options.chain(operands).collect();
    all.sort_by_key(|(at, ..)| *at);
    for (_, is_directory, arg) in all {
        if is_directory {
            sink.cwd = sink.locate(arg).path;
        } else {
            act(arg, sink);
        }
    }
}

fn packed(read: &Invocation, sink: &mut Sink<'_, '_, '_, '_>) {
    let recursive = Some(!read.given("--no-recursion"));
    let removes = read.given("--remove-files");
    let is_lost = read.values("-f").last().is_some_and(|file| file.as_str() == Some("/dev/null"));
    each(read, sink, |arg, sink| {
        sink.path_effect(Operation { recursive, ..Operation::of(EffectKind::Read) }, arg);
        if removes {
            let verb = (!is_lost).then(|| "move".to_owned());
            sink.path_effect(Operation { verb, recursive, ..Operation::of(EffectKind::Delete) }, arg);
        }
    });
    if let Some(list) = read.values("-T").next() {
        let why = if is_standard_stream(list) { Why::Input } else { Why::File };
        sink.opaque(Role::Operand, why, &list.written());
        if removes {
            sink.opaque(Role::Target, why, &list.written());
        }
    }
}

fn unpacked(read: &Invocation, sink: &mut Sink<'_, '_, '_, '_>) {
    if read.given("-O") || read.given("--to-command") {
        return;
    }
    // Members keep their names only where no option changes them.
    let renamed = ["--strip-components", "--transform", "--wildcards", "--one-top-level"];
    if read.operands.is_empty() || renamed.iter().any(|flag| read.given(flag)) {
        each(read, sink, |_, _| {});
        let below = read.values("--one-top-level").next();
        below_directory(below.unwrap_or(&Arg::known(".")), sink);
    } else {
        each(read, sink, below_directory);
    }
    // Members with absolute names, or in place of whole directories.
    if read.given("-P") || read.given("--recursive-unlink") {
        let archive = read.values("-f").next().map(Arg::written).unwrap_or_default();
        sink.opaque(Role::Target, Why::File, &archive);
    }
}

/// Everything below may be written.
fn below_directory(directory: &Arg, sink: &mut Sink<'_, '_, '_, '_>) {
    sink.path_effect(Operation { recursive: Some(true), ..Operation::of(EffectKind::Write) }, directory);
}

pub(super) fn cpio(read: &Invocation, _: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let packs = read.given("-o");
    for archive in read.values("-F").filter(|archive| !is_standard_stream(archive)) {
        match packs {
            true => remote(EffectKind::Upload, EffectKind::Write, archive, sink),
            false => remote(EffectKind::Download, EffectKind::Read, archive, sink),
        }
    }
    let directory = read.values("-D").next().cloned().unwrap_or_else(|| Arg::known("."));
    if packs || read.given("-p") {
        // Names come from standard input.
        sink.opaque(Role::Operand, Why::Input, "");
    }
    if read.given("-p") {
        if let Some(operand) = read.operands.first() {
            below_directory(&operand.arg, sink);
        }
    } else if !packs && !read.given("-t") && !read.given("--to-stdout") && !read.given("--only-verify-crc") {
        below_directory(&directory, sink);
        if !read.given("--no-absolute-filenames") {
            sink.opaque(Role::Target, Why::File, "");
        }
    }
}

/// An option that names the directory into which a program unpacks, and whether a last operand may do so.
const DIRECTORIES: &[(&str, &str)] = &[("unzip", "-d"), ("7z", "-o"), ("unar", "-o"), ("unsquashfs", "-d")];

/// `unzip`, `7z x`, `unrar x`: members that are named, or everything, into a directory.
pub(super) fn unpack(read: &Invocation, _: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let named = |role: SlotRole| read.operands.iter().filter(move |one| one.slot.role == role);
    if named(SlotRole::Text).next().is_some() || named(SlotRole::Read).next().is_none() {
        return;
    }
    let program = read.program.name();
    let listing = ["-Z", "-c", "-l", "-p", "-t", "-v", "-z", "-so", "-ll", "-s", "-cat"];
    let is_listing = program != "7z" && program != "rar" && program != "unar";
    if read.given("-so") || is_listing && listing.iter().any(|flag| read.given(flag)) {
        return;
    }
    let members: Vec<&Operand> = named(SlotRole::Special).collect();
    // `unrar x archive directory/`
    let last = members.last().filter(|last| last.arg.as_str().is_some_and(|text| text.ends_with('/')));
    let flag = DIRECTORIES.iter().find(|(name, _)| *name == program).map(|(_, flag)| *flag);
    let directory = match flag {
        Some("-d") if program == "unsquashfs" => {
            Some(read.values("-d").next().cloned().unwrap_or_else(|| Arg::known("squashfs-root")))
        }
        Some(flag) => read.values(flag).next().cloned(),
        None => last.map(|last| last.arg.clone()),
    };
    let directory = directory.unwrap_or_else(|| Arg::known("."));
    // The archive's own names may lead out of the directory.
    let climbs = match program {
        "unzip" => read.given("-:"),
        "7z" => read.given("-spf"),
        _ => false,
    };
    if climbs {
        let archive = named(SlotRole::Read).next().map(|one| one.arg.written()).unwrap_or_default();
        sink.opaque(Role::Target, Why::File, &archive);
    }
    let keeps_names = program == "unzip" && !read.given("-j");
    if members.is_empty() || !keeps_names {
        below_directory(&directory, sink);
    } else {
        for member in members {
            below_directory(&beside(&directory, &member.arg), sink);
        }
    }
}

/// How a compressor names what it makes.
struct Compressor {
    name: &'static str,
    suffix: &'static str,
    /// It removes its source unless told otherwise.
    removes: bool,
    decompresses: bool,
}

const fn compressor(
    name: &'static str,
    suffix: &'static str,
    removes: bool,
    decompresses: bool,
) -> Compressor {
    Compressor { name, suffix, removes, decompresses }
}

const COMPRESSORS: &[Compressor] = &[
    compressor("gzip", ".gz", true, false),
    compressor("gunzip", ".gz", true, true),
    compressor("compress", ".Z", true, false),
    compressor("bzip2", ".bz2", true, false),
    compressor("bunzip2", ".bz2", true, true),
    compressor("xz", ".xz", true, false),
    compressor("unxz", ".xz", true, true),
    compressor("lzma", ".lzma", true, false),
    compressor("unlzma", ".lzma", true, true),
    compressor("zstd", ".zst", false, false),
    compressor("unzstd", ".zst", false, true),
    compressor("lz4", ".lz4", false, false),
    compressor("unlz4", ".lz4", false, true),
    compressor("brotli", ".br", false, false),
];

/// `gzip file`: a new file beside it, and the old one goes.
pub(super) fn compress(read: &Invocation, _: &[Arg], sink: &mut Sink<'_, '_, '_, '_>) {
    let given = |flags: &[&str]| flags.iter().any(|flag| read.given(flag));
    let Some(one) = COMPRESSORS.iter().find(|one| one.name == read.program.name()) else { return };
    let decompresses = one.decompresses || given(&["-d"]);
    let only_reads = given(&["-c", "-t", "-l", "--list"]);
    let suffix = read.values("-S").next().and_then(Arg::as_str).unwrap_or(one.suffix);
    let (recursive, elsewhere) = (given(&["-r"]), given(&["-o", "--output-dir-flat", "--output-dir-mirror"]));
    let removes = (one.removes || given(&["--rm"])) && !given(&["-k"]);
    for operand in read.operands.iter().filter(|one| one.slot.role == SlotRole::Special) {
        let arg = &operand.arg;
        if is_standard_stream(arg) {
            continue;
        }
        let named = arg.as_str();
        let (source, target) = match named {
            Some(text) if decompresses => match text.strip_suffix(suffix) {
                Some(stem) => (arg.clone(), Arg::known(stem)),
                None if text.ends_with(".tgz") => (arg.clone(), Arg::known(text.replace(".tgz", ".tar"))),
                None => (arg.clone(), arg.clone()),
            },
            Some(text) => (arg.clone(), Arg::known(format!("{text}{suffix}"))),
            None => (arg.clone(), arg.clone()),
        };
        sink.path(EffectKind::Read, &source);
        if only_reads {
            continue;
        }
        if !elsewhere {
            sink.path(EffectKind::Write, if recursive { arg } else { &target });
        }
        if removes {
            let verb = Some("move".to_owned());
            sink.path_effect(Operation { verb, ..Operation::of(EffectKind::Delete) }, &source);
        }
    }
}
