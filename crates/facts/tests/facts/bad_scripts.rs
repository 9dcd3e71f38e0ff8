//! Files with bad code. castellan understands each as its interpreter does, or reports it as Opaque with a reason.

use crate::call;
use std::cell::Cell;

use castellan_event::{Answer, EffectKind, FileKind, Query, Recorder, Role, Why, World};
use castellan_facts::{Setting, analyse};

use crate::machine::Machine;
use crate::machine::There::{self, Bytes, Kind, Link, Text};

const THERE: &[(&str, There)] = &[
    // A program, and bytes that are not text.
    ("/w/elf", Bytes(b"\x7fELF\x02\x01\x01\0\0\0\0\0")),
    ("/w/jpeg", Bytes(b"\xff\xd8\xff\xe0rm -rf /w/a\n")),
    ("/w/latin", Bytes(b"echo \xe9t\xe9\nrm -rf /w/a\n")),
    ("/w/wide", Bytes(b"\xff\xfer\0m\0 \0-\0r\0f\0 \0/\0w\0/\0a\0\n\0")),
    ("/w/wide-unmarked", Bytes(b"r\0m\0 \0/\0w\0/\0a\0\n\0")),
    ("/w/nul", Bytes(b"echo a\0\nrm -rf /w/a\n")),
    // A byte order mark: a shell reads it as part of the first word, other interpreters ignore it.
    ("/w/mark.sh", Bytes(b"\xef\xbb\xbfrm -rf /w/a\nrm -rf /w/b\n")),
    ("/w/mark.py", Bytes(b"\xef\xbb\xbfimport shutil\nshutil.rmtree('/w/a')\n")),
    ("/w/mark.js", Bytes(b"\xef\xbb\xbfrequire('fs').rmSync('/w/a', {recursive: true})\n")),
    // Code in a misleading encoding.
    ("/w/seven.py", Text("# -*- coding: utf-7 -*-\n# +AAo-import os\nprint(1)\n")),
    (
        "/w/escaped.py",
        Text("#!/usr/bin/python3\n# vim: set fileencoding=unicode_escape :\n#\\u000aimport os\n"),
    ),
    ("/w/eight.py", Text("# -*- coding: utf-8 -*-\nprint('\u{e9}')\n")),
    ("/w/plain.py", Text("# coding: latin-1\nprint('e')\n")),
    ("/w/other.py", Text("# coding: latin-1\nprint('\u{e9}')\n")),
    // Not regular files.
    ("/w/fifo", Kind(FileKind::Fifo)),
    ("/w/device", Kind(FileKind::Device)),
    ("/w/socket", Kind(FileKind::Socket)),
    ("/w/folder", Kind(FileKind::Directory)),
    ("/w/locked", Kind(FileKind::Unreadable)),
    // Existing files that are too long, or that castellan must not read.
    ("/w/long", Kind(FileKind::File)),
    ("/w/alias.sh", Link("/w/real.sh")),
    ("/w/real.sh", Text("rm -rf /w/a\n")),
    ("/w/key", Link("/home/u/.ssh/id_rsa")),
    ("/home/u/.ssh/id_rsa", Text("rm -rf /w/a\n")),
    // Cycles.
    ("/w/one.sh", Text(". ./two.sh\nrm -rf /w/a\n")),
    ("/w/two.sh", Text(". ./one.sh\nrm -rf /w/b\n")),
    ("/w/ring.sh", Text("bash ring.sh\n")),
    ("/w/tree.sh", Text("bash tree.sh\nbash tree.sh\n")),
    ("/w/ring.py", Text("import subprocess\nsubprocess.run(['python3', '/w/ring.py'])\n")),
    ("/w/around.py", Text("import back\n")),
    ("/w/back.py", Text("import around\n")),
    ("/w/ring.js", Text("require('./ring.js')\n")),
    ("/w/Makefile", Text("all:\n\t$(MAKE) all\nx: y\ny: x\n\trm -rf /w/a\n")),
    ("/w/loop.mk", Text("include loop.mk\nall:\n\trm -rf /w/a\n")),
    ("/w/justfile", Text("a: b\nb: a\n    rm -rf /w/a\n")),
    ("/w/package.json", Text(r#"{"scripts":{"a":"npm run b","b":"npm run a","c":"rm -rf c; npm run c"}}"#)),
    ("/w/many.mk", Text("include 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\nall:\n\trm -rf /w/a\n")),
    ("/w/few.mk", Text("-include 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\nall:\n\trm -rf /w/a\n")),
    // Code in two languages.
    (
        "/w/both",
        Text(
            "#!/bin/sh\n''':'\nrm -rf /w/a\nexec python3 \"$0\" \"$@\"\n'''\nimport shutil\nshutil.rmtree('/w/b')\n",
        ),
    ),
    (
        "/w/both.js",
        Text(
            "#!/bin/sh\n\":\" //; rm -rf /w/a; exec node \"$0\"\nrequire('fs').rmSync('/w/b', {recursive: true})\n",
        ),
    ),
    // A shell script with perl, an archive for python, a PDF before shell text, a batch file that is a shell script.
    (
        "/w/shell-perl",
        Text(
            "#!/bin/sh\nrm -rf /w/a\nexec perl -x \"$0\" \"$@\"\n#!/usr/bin/perl\nunlink '/w/b';\n__END__\nx\n",
        ),
    ),
    (
        "/w/shell-ruby",
        Text("#!/bin/sh\nexec ruby -x \"$0\" \"$@\"\n#!/usr/bin/env ruby\nFile.delete('/w/b')\n__END__\n)\n"),
    ),
    ("/w/rake", Text("#!/usr/bin/env rake\nFile.delete('/w/b')\n")),
    ("/w/zip-python", Bytes(b"#!/usr/bin/env python3\nPK\x03\x04\x14\0\0\0\x08\0__main__.py\x9b\xcc")),
    ("/w/pdf-shell", Text("%PDF-1.4\nrm -rf /w/a\n%%EOF\n")),
    ("/w/pdf-bytes", Bytes(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\nrm -rf /w/a\n")),
    ("/w/both.bat", Text(":; rm -rf /w/a; exit\r\n@echo off\r\ndel \"\\w\\b\"\r\n")),
    ("/w/shell-php", Text("#!/bin/sh\nrm -rf /w/a\nexit\n<?php unlink('/w/b');\n")),
];

/// The deleted paths and the reasons of Opaque code, in the order of finding, without duplicates.
fn shown(text: &str, world: &dyn World) -> String {
    let setting = Setting { workspace: "/w".to_owned(), ..Setting::default() };
    let facts = analyse(&call::shell("codex", text), &setting, &mut Recorder::new(world));
    let mut lines: Vec<String> = Vec::new();
    for effect in &facts.effects {
        let what = if effect.is_opaque() && matches!(effect.role(), Some(Role::Code | Role::Program)) {
            effect.why().map(Why::as_str)
        } else if effect.kind() == EffectKind::Delete {
            effect.path()
        } else {
            continue;
        };
        let line = format!("{} {}", effect.kind(), what.unwrap_or("?"));
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines.join("; ")
}

fn check(text: &str, expected: &str) {
    assert_eq!(shown(text, &Machine(THERE)), expected, "{text}");
}

/// Every interpreter that receives a file.
const GIVEN_TO: &[&str] = &["bash F", "sh < F", ". ./F", "python3 F", "node F", "make -f F"];

fn check_all(file: &str, expected: &str) {
    for given in GIVEN_TO {
        let text = given.replace('F', file);
        let found = shown(&text, &Machine(THERE));
        assert!(found.split("; ").any(|one| one == expected), "{text}: {found}");
        assert!(!found.contains("delete"), "{text}: {found}");
    }
}

#[test]
fn what_is_no_text_is_no_code_that_is_known() {
    for file in ["elf", "jpeg", "latin", "wide", "wide-unmarked", "nul"] {
        check_all(file, "opaque encoding");
    }
    check("bash mark.sh", "delete /w/b");
    // Python ignores the mark in a file, and rejects it in the text of `-c`.
    check("python3 mark.py", "delete /w/a; opaque encoding");
    check("node mark.js", "delete /w/a");
    check("python3 seven.py", "opaque encoding");
    check("python3 < seven.py", "opaque encoding");
    check("python3 escaped.py", "opaque encoding");
    check("python3 other.py", "opaque encoding");
    check("python3 eight.py", "");
    check("python3 plain.py", "");
}

#[test]
fn what_is_no_file_is_not_read() {
    for file in ["fifo", "device", "socket"] {
        check_all(file, "opaque input");
    }
    check_all("folder", "opaque file");
    check_all("locked", "opaque unreadable");
    check_all("long", "opaque unreadable");
    // The contents of a secret must not be reported.
    for given in GIVEN_TO {
        let text = given.replace('F', "key");
        let expected = if text.contains('<') { "opaque secret" } else { "opaque file" };
        check(&text, expected);
    }
    check("bash alias.sh", "delete /w/a");
    check("./alias.sh", "delete /w/a");
}

#[test]
fn circles_come_to_an_end() {
    check(". ./one.sh", "opaque nesting; delete /w/b; delete /w/a");
    // A module's effects are found once.
    check("node ring.js", "");
    check("npm run a", "opaque nesting");
    check("make all", "opaque nesting");
    for text in ["bash ring.sh", "bash tree.sh", "python3 ring.py"] {
        let found = shown(text, &Machine(THERE));
        assert!(found == "opaque nesting" || found == "opaque nesting; opaque budget", "{text}: {found}");
    }
    check("python3 around.py", "opaque nesting");
    check("make x", "delete /w/a");
    check("make -f loop.mk", "delete /w/a");
    check("make -f many.mk", "opaque budget; delete /w/a");
    assert!(!shown("make -f few.mk", &Machine(THERE)).contains("budget"));
    check("just a", "delete /w/a");
}

#[test]
fn a_file_of_two_languages_is_what_runs_it() {
    // A shell never reaches the final part, which is no shell text.
    check("./both", "delete /w/a; delete /w/b");
    check("sh both", "delete /w/a; delete /w/b");
    check("python3 both", "delete /w/b");
    check("./both.js", "delete /w/a; delete /w/b");
    check("node both.js", "delete /w/b");
    check("sh both.bat", "delete /w/a");
    check("cmd /c both.bat", "delete /w/b");
    check("./shell-php", "delete /w/a");
    check("php shell-php", "delete /w/b");
    check("sh pdf-shell", "delete /w/a");
    check("./pdf-shell", "delete /w/a");
    check("sh pdf-bytes", "opaque encoding");
    check("./pdf-bytes", "opaque encoding");
    check("python3 zip-python", "opaque encoding");
    check("bash zip-python", "opaque encoding");
    check("./zip-python", "opaque encoding");
    // Perl skips the text before its own first line, or passes the file to the shell in the first line.
    for text in ["./shell-perl", "sh shell-perl"] {
        let found = shown(text, &Machine(THERE));
        assert!(found.contains("delete /w/a") && found.contains("delete /w/b"), "{text}: {found}");
    }
    for text in ["perl shell-perl", "perl -x shell-perl"] {
        let found = shown(text, &Machine(THERE));
        assert!(found.contains("opaque syntax") || found.contains("opaque unsupported"), "{text}: {found}");
    }
}

#[test]
fn options_and_the_first_line_say_where_ruby_begins() {
    check("ruby shell-ruby", "opaque unsupported");
    check("ruby -x shell-ruby", "opaque unsupported");
    check("ruby rake", "delete /w/b");
    check("ruby -x rake", "opaque unsupported; delete /w/b");
    check("ruby -ne 'BEGIN { File.delete(%q(/w/b)) }; next if /x/; print' f", "delete /w/b");
    check("ruby -lpe '$_.upcase!; File.delete(%q(/w/b)) if $. > 1' f", "delete /w/b");
    check("ruby -rset -ne 'x = Set.new' -e 'File.delete(%q(/w/b))' f", "delete /w/b");
    check("ruby -e 'BEGIN { File.delete(%q(/w/b)) }; while gets; BEGIN { 1 }; end'", "opaque syntax");
}

#[test]
fn what_is_run_by_its_path_and_is_no_text_is_not_taken_for_a_program() {
    for file in ["latin", "jpeg", "wide", "wide-unmarked", "nul"] {
        check(&format!("./{file}"), "opaque encoding");
    }
    // No interpreter reads these.
    check("./elf", "");
    check("./folder", "");
}

/// A file with different contents at each read.
struct Turning(Cell<usize>);

impl World for Turning {
    fn answer(&self, query: &Query) -> Option<Answer> {
        if matches!(query, Query::FileKind { .. }) {
            return Some(Answer::FileKind(FileKind::File));
        }
        let Query::Contents { .. } = query else { return Machine(THERE).answer(query) };
        self.0.set(self.0.get() + 1);
        Some(Answer::Contents(Some(format!("rm -rf /w/{}\n", self.0.get()).into_bytes())))
    }
}

#[test]
fn a_file_that_changes_while_it_is_read_is_read_once() {
    let world = Turning(Cell::new(0));
    assert_eq!(shown("bash x.sh; . ./x.sh; bash < x.sh", &world), "delete /w/1");
    assert_eq!(world.0.get(), 1);
}

/// An endless chain of scripts, each of which runs the next.
struct Endless;

impl World for Endless {
    fn answer(&self, query: &Query) -> Option<Answer> {
        if matches!(query, Query::FileKind { .. }) {
            return Some(Answer::FileKind(FileKind::File));
        }
        let Query::Contents { path } = query else { return Machine(THERE).answer(query) };
        let number: usize = path.trim_start_matches("/w/").parse().unwrap_or_default();
        let padding = "# ".repeat(if number < 100 { 0 } else { 20_000 });
        Some(Answer::Contents(Some(format!("{padding}\nbash {}\n", number + 1).into_bytes())))
    }
}

/// Modules that load each other, up to one with an effect; and a long file.
struct Chain;

impl World for Chain {
    fn answer(&self, query: &Query) -> Option<Answer> {
        let (Query::FileKind { path } | Query::Contents { path }) = query else {
            return Machine(THERE).answer(query);
        };
        let name = path.trim_start_matches("/w/");
        let number: Option<usize> =
            name.strip_prefix('p').and_then(|name| name.strip_suffix(".py")?.parse().ok());
        let text = match number {
            Some(9) => "import os\nos.remove('/w/a')\n".to_owned(),
            Some(number) => format!("import p{}\n", number + 1),
            None if name == "long.sh" => "# ".repeat(20 * 1024),
            None => return Machine(THERE).answer(query),
        };
        Some(if matches!(query, Query::Contents { .. }) {
            Answer::Contents(Some(text.into_bytes()))
        } else {
            Answer::FileKind(FileKind::File)
        })
    }
}

#[test]
fn modules_load_each_other_only_so_deep() {
    assert_eq!(shown("python3 p4.py", &Chain), "delete /w/a");
    assert_eq!(shown("python3 p1.py", &Chain), "opaque nesting");
}

#[test]
fn what_is_read_again_counts_once() {
    assert_eq!(shown(&"bash long.sh\n".repeat(16), &Chain), "");
}

#[test]
fn a_task_that_runs_itself_is_looked_through_once() {
    let setting = Setting { workspace: "/w".to_owned(), ..Setting::default() };
    let facts = analyse(&call::shell("codex", "npm run c"), &setting, &mut Recorder::new(&Machine(THERE)));
    let deleted = facts.effects.iter().filter(|effect| effect.kind() == EffectKind::Delete);
    assert_eq!(deleted.count(), 1);
}

#[test]
fn there_is_an_end_to_what_is_read() {
    let many: String = (1..40).map(|number| format!("bash {}\n", 100 * number)).collect();
    let found = shown(&many, &Endless);
    assert!(found.contains("opaque size"), "{found}");
    assert!(shown("bash 1", &Endless).contains("opaque nesting"));
}

#[test]
fn a_program_of_python_2_is_read_and_opaque() {
    for (text, expected) in [
        ("python2 -c \"import os; os.remove('/w/x')\"", "delete /w/x; opaque language"),
        ("python2.7 -m json.tool", "opaque language"),
        ("python2 --version", ""),
        ("python3 -c \"import os; os.remove('/w/x')\"", "delete /w/x"),
    ] {
        let mut found: Vec<String> = shown(text, &Machine(THERE)).split("; ").map(str::to_owned).collect();
        found.sort();
        assert_eq!(found.join("; "), expected, "{text}");
    }
}

/// Returns a text in odd bytes: with marks, other line ends, a NUL, or in another encoding.
fn in_odd_bytes(text: &str) -> Vec<(&'static str, Vec<u8>)> {
    let wide = |order: fn(u16) -> [u8; 2]| -> Vec<u8> {
        std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(order).collect()
    };
    let (before, after) = text.split_at(text.find('\n').unwrap());
    vec![
        ("BOM", [b"\xef\xbb\xbf", text.as_bytes()].concat()),
        ("CRLF", text.replace('\n', "\r\n").into_bytes()),
        ("mixed line ends", text.replacen('\n', "\r\n", 1).into_bytes()),
        ("NUL", [before.as_bytes(), b"\0", after.as_bytes()].concat()),
        ("UTF-16, little", wide(u16::to_le_bytes)),
        ("UTF-16, big", wide(u16::to_be_bytes)),
        ("Latin-1", [text.as_bytes(), b"\xe9\n"].concat()),
        ("half a letter", [text.as_bytes(), b"\xf0\x9f"].concat()),
    ]
}

#[test]
fn programs_in_odd_bytes_are_found_or_opaque() {
    for (command, name, text) in [
        ("bash", "e.sh", "x=1\nrm -rf /w/a\n"),
        ("cmd /c", "e.bat", "set x=1\ndel \"\\w\\a\"\n"),
        ("lua", "e.lua", "local x = 1\nos.remove('/w/a')\n"),
        ("node", "e.js", "let x = 1;\nrequire('fs').rmSync('/w/a', {recursive: true});\n"),
        ("osascript", "e.applescript", "set x to 1\ndo shell script \"rm -rf /w/a\"\n"),
        ("perl", "e.pl", "my $x = 1;\nunlink '/w/a';\n"),
        ("php", "e.php", "<?php\n$x = 1;\nunlink('/w/a');\n"),
        ("pwsh", "e.ps1", "$x = 1\nRemove-Item -Recurse /w/a\n"),
        ("python3", "e.py", "import shutil\nx = 1\nshutil.rmtree('/w/a')\n"),
        ("ruby", "e.rb", "x = 1\nFile.delete('/w/a')\n"),
    ] {
        for (odd, bytes) in in_odd_bytes(text) {
            let path: &'static str = format!("/w/{name}").leak();
            let there: &'static [(&str, _)] = vec![(path, Bytes(bytes.leak()))].leak();
            let found = shown(&format!("{command} {path}"), &Machine(there));
            assert!(found.contains("delete ") || found.contains("opaque "), "{command}, {odd}: `{found}`");
        }
    }
}
