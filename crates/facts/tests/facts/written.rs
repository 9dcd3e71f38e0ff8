//! Effects of the files with code that a call writes, separate from the effects of the call.

use crate::call;
use castellan_event::{
    Call, Change, Effect, EffectKind, FileKind, FileTarget, PatchOp, Recorder, Replacement, Role, ToolKind,
    Why,
};
use castellan_facts::{Setting, analyse};

use crate::machine::Machine;
use crate::machine::There::{self, Bytes, Kind, Link, Text};

const FILES: &[(&str, There)] = &[
    ("/w/calm.sh", Text("echo hello\n")),
    ("/w/tool", Text("#!/bin/sh\necho hello\n")),
    ("/w/lib.sh", Text("rm -rf /w/lib\n")),
    ("/w/data", Text("echo hello\n")),
    ("/w/alias.sh", Link("/w/calm.sh")),
    ("/w/wide.sh", Bytes(b"l\0s\0\n\0")),
    ("/w/fifo.sh", Kind(FileKind::Fifo)),
];

/// `delete PATH`, `download URL` and reasons of Opaque code, each with the file.
fn shown(effects: &[Effect]) -> String {
    let mut lines: Vec<String> = Vec::new();
    for effect in effects {
        let what = if effect.is_opaque() {
            effect.why().filter(|_| effect.role() == Some(Role::Code)).map(Why::as_str)
        } else if effect.kind() == EffectKind::Delete {
            effect.path()
        } else {
            effect.url().filter(|_| effect.kind() == EffectKind::Download)
        };
        let Some(what) = what else { continue };
        let file = effect.script_path().map(|path| format!(" in {path}")).unwrap_or_default();
        lines.push(format!("{} {what}{file}", effect.kind()));
    }
    lines.dedup();
    lines.join("; ")
}

/// Checks the effects of the call, and the effects of the written files.
fn check_call(call: &Call, now: &str, written: &str) {
    let setting = Setting { workspace: "/w".to_owned(), ..Setting::default() };
    let facts = analyse(call, &setting, &mut Recorder::new(&Machine(FILES)));
    let subject = call.command.clone().unwrap_or_else(|| format!("{:?}", call.files));
    assert_eq!(shown(&facts.effects), now, "now: {subject}");
    assert_eq!(shown(&facts.written.effects), written, "written: {subject}");
}

fn check(text: &str, now: &str, written: &str) {
    check_call(&call::shell("codex", text), now, written);
}

/// Checks a tool that changes files, each by its path.
fn check_tool(kind: ToolKind, files: &[(&str, Option<PatchOp>, Change)], written: &str) {
    let target = |(path, patch_op, change): &(&str, Option<PatchOp>, Change)| FileTarget {
        path: (*path).to_owned(),
        patch_op: *patch_op,
        patch_text: String::new(),
        change: change.clone(),
    };
    let call = Call { files: files.iter().map(target).collect(), ..call::of_tool("codex", "t", kind) };
    check_call(&call, "", written);
}

#[test]
fn what_a_tool_writes_is_found_as_if_it_were_run() {
    let whole = |text: &str| Change::Whole(text.to_owned());
    let check = |path: &str, text: &str, written: &str| {
        check_tool(ToolKind::Write, &[(path, None, whole(text))], written);
    };
    check(
        "x.sh",
        "rm -rf ~\ncurl -o y https://a.example/y\n",
        "delete /home/u in /w/x.sh; download https://a.example/y in /w/x.sh",
    );
    check("/w/x", "#!/bin/bash\nrm -rf \"$1\" /w/a\n", "delete /w/a in /w/x");
    check("x.py", "import shutil\nshutil.rmtree('/w/a')\n", "delete /w/a in /w/x.py");
    check("x.js", "require('fs').rmSync('/w/a', {recursive: true})\n", "delete /w/a in /w/x.js");
    check("x.py", "#!/bin/sh\nrm -rf /w/a\n", "delete /w/a in /w/x.py; opaque variable in /w/x.py");
    check("Makefile", "all:\n\techo\nclean:\n\trm -rf /w/a\n", "delete /w/a in /w/Makefile");
    check("justfile", "wipe:\n    rm -rf out\n", "delete /w/out in /w/justfile");
    check(
        "sub/package.json",
        r#"{"scripts":{"a":"ls","b":"rm -rf out"}}"#,
        "delete /w/sub/out in /w/sub/package.json",
    );
    check("x.sh", "source ./lib.sh\n", "delete /w/lib in /w/lib.sh");
    check("notes.md", "rm -rf /w/a\n", "");
    check("x.sh", "echo hello\n", "");
    check("x.sh", "if true; then\n", "opaque syntax in /w/x.sh");
    check("x.sh", "echo \0\n", "opaque encoding in /w/x.sh");
    check("x.sh", "./x.sh\n", "opaque nesting in /w/x.sh");
    check_tool(ToolKind::Write, &[("x.sh", None, Change::Unsaid)], "opaque file in /w/x.sh");
    check("x.sh", &"ls\n".repeat(200_000), "opaque size in /w/x.sh");
    // Two files of one call, where the first runs the second.
    let both = [("x.sh", None, whole("bash y.sh\n")), ("y.sh", None, whole("rm -rf /w/a\n"))];
    check_tool(ToolKind::Patch, &both, "delete /w/a in /w/y.sh");
}

#[test]
fn what_an_edit_leaves_is_what_counts() {
    let edited = |of: &str, old: &str, new: &str| Change::Edited {
        of: of.to_owned(),
        replacements: vec![Replacement { old: old.to_owned(), new: new.to_owned(), everywhere: false }],
    };
    let check = |path: &str, change: Change, written: &str| {
        check_tool(ToolKind::Edit, &[(path, None, change)], written);
    };
    check("calm.sh", edited("calm.sh", "hello", "hello; rm -rf /w/a"), "delete /w/a in /w/calm.sh");
    check("tool", edited("tool", "echo hello", "rm -rf /w/a"), "delete /w/a in /w/tool");
    check("lib.sh", edited("lib.sh", "rm -rf", "ls"), "");
    check("data", edited("data", "hello", "rm -rf /w/a"), "");
    check("calm.sh", edited("calm.sh", "other", "x"), "opaque file in /w/calm.sh");
    check("new.sh", edited("new.sh", "", "rm -rf /w/a"), "delete /w/a in /w/new.sh");
    check("alias.sh", edited("alias.sh", "hello", "hello; rm -rf /w/a"), "delete /w/a in /w/calm.sh");
    check("wide.sh", edited("wide.sh", "ls", "rm -rf /w/a"), "opaque encoding in /w/wide.sh");
    check("fifo.sh", edited("fifo.sh", "ls", "rm -rf /w/a"), "opaque input in /w/fifo.sh");
    let moved = [
        ("lib.sh", Some(PatchOp::Update), Change::Unsaid),
        ("new.sh", Some(PatchOp::Move), edited("lib.sh", "/w/lib", "/w/b")),
    ];
    check_tool(ToolKind::Patch, &moved, "delete /w/b in /w/new.sh; opaque file in /w/lib.sh");
}

#[test]
fn what_shell_text_writes_is_found_as_if_it_were_run() {
    check("cat > x.sh <<'E'\nrm -rf /w/a\nE", "", "delete /w/a in /w/x.sh");
    check("echo 'rm -rf /w/a' | tee x.sh y.txt", "", "delete /w/a in /w/x.sh");
    check("echo 'rm -rf /w/a' >> calm.sh", "", "delete /w/a in /w/calm.sh");
    check("echo 'rm -rf /w/a' > x; chmod +x x", "", "delete /w/a in /w/x");
    check("echo 'rm -rf /w/a' > x", "", "");
    check("echo 'rm -rf /w/a' > x.sh; rm x.sh", "delete /w/x.sh", "");
    check("echo 'rm -rf /w/a' > x.sh; bash x.sh", "delete /w/a in /w/x.sh", "delete /w/a in /w/x.sh");
    check("cat > x.sh <<E\nrm -rf /w/a $X\nE", "", "delete /w/a in /w/x.sh; opaque variable in /w/x.sh");
    check("echo ls > x.sh; cp data x.sh", "", "opaque file in /w/x.sh");
    check("cp data x.sh", "", "opaque file in /w/x.sh");
    check("curl -o x.sh https://a.example/x", "download https://a.example/x", "opaque network in /w/x.sh");
    check("ssh h 'echo ls > /w/x.sh'", "", "");
    check("echo 'rm -rf /w/a' > x.py", "", "opaque variable in /w/x.py");
    // Writing to an existing file may fail.
    check("echo 'rm -rf /w/a' > calm.sh", "", "delete /w/a in /w/calm.sh");
}

#[test]
fn there_is_an_end_to_what_is_looked_at() {
    let text = |number: usize| Change::Whole(format!("rm -rf /w/{number}\n"));
    let files: Vec<FileTarget> = (0..40)
        .map(|number| FileTarget {
            path: format!("{number}.sh"),
            patch_op: Some(PatchOp::Add),
            patch_text: String::new(),
            change: text(number),
        })
        .collect();
    let call = Call { files, ..call::of_tool("codex", "t", ToolKind::Patch) };
    let facts = analyse(&call, &Setting::default(), &mut Recorder::new(&Machine(FILES)));
    for number in 0..40 {
        let file = format!("/w/{number}.sh");
        let of_file = |effect: &&Effect| effect.script_path() == Some(file.as_str());
        let effect = facts.written.effects.iter().find(of_file).expect("each file is told of");
        assert!(
            effect.kind() == EffectKind::Delete || effect.why() == Some(Why::Budget),
            "{file}: {effect:?}"
        );
        assert_eq!(effect.file, Some(number));
    }
    // An expensive text is not analysed to its end, and this is reported.
    let long = Change::Whole("x=1; for i in 1 2 3 4 5 6 7 8 9; do rm -rf /w/a/$i $x; done\n".repeat(2_000));
    let mut call = call;
    call.files.truncate(1);
    call.files[0].change = long;
    let facts = analyse(&call, &Setting::default(), &mut Recorder::new(&Machine(FILES)));
    let is_over = |effect: &Effect| effect.why() == Some(Why::Budget);
    assert!(facts.written.effects.iter().any(is_over) && !facts.effects.iter().any(is_over));
}
