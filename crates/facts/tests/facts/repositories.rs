//! Repositories that a session builds of ordinary files: a command that works in them starts the programs in their
//! settings. `repositories/cases.txt` holds the calls.

use crate::call;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use castellan_event::{EffectKind, FileKind, Recorder, Role, Why};
use castellan_facts::{Setting, analyse};

use crate::machine::Machine;
use crate::machine::There::{self, Bytes, Kind, Link, Text};

const EVIL: &str = "[core]\n\tbare = true\n\tfsmonitor = rm -rf /w/out\n";

const THERE: &[(&str, There)] = &[
    // The user's own repository.
    ("/w/.git", Kind(FileKind::Directory)),
    ("/w/.git/HEAD", Text("ref: refs/heads/main\n")),
    (
        "/w/.git/config",
        Text(
            "[core]\n\tpager = less\n[include]\n\tpath = ../own.gitconfig\n[remote \"mirror\"]\n\turl = /w/bare\n",
        ),
    ),
    // A repository with settings that start programs, as an archive may bring it.
    ("/w/own/.git", Kind(FileKind::Directory)),
    ("/w/own/.git/HEAD", Text("ref: refs/heads/main\n")),
    ("/w/own/.git/config", Text("[core]\n\tpager = rm -rf /w/user\n[include]\n\tpath = ../team.gitconfig\n")),
    ("/w/own/team.gitconfig", Text("[diff]\n\texternal = rm -rf /w/team\n")),
    ("/w/own/sub", Kind(FileKind::Directory)),
    ("/w/.git/hooks/pre-commit", Text("#!/bin/sh\nrm -rf /w/hooked\n")),
    ("/w/own.gitconfig", Text("[user]\n\tname = x\n")),
    ("/w/sub", Kind(FileKind::Directory)),
    ("/w/plain/config", Text(EVIL)),
    // Repositories of ordinary files.
    ("/w/bare", Kind(FileKind::Directory)),
    ("/w/bare/HEAD", Text("ref: refs/heads/main\n")),
    ("/w/bare/config", Text(EVIL)),
    ("/w/bare/inner", Kind(FileKind::Directory)),
    ("/w/broken/HEAD", Text("ref: refs/heads/main\n")),
    ("/w/broken/config", Text("[core\n")),
    ("/w/calm/HEAD", Text("ref: refs/heads/main\n")),
    ("/w/calm/config", Text("[core]\n\tbare = true\n[user]\n\tname = x\n[core]\n\teditor = vim\n")),
    ("/w/included/HEAD", Text("ref: refs/heads/main\n")),
    ("/w/included/config", Text("[include]\n\tpath = more\n")),
    ("/w/included/more", Text("[includeIf \"gitdir:/w/\"]\n\tpath = last\n")),
    ("/w/included/last", Text("[pager]\n\tstatus = rm -rf /w/paged\n")),
    ("/w/hooked/HEAD", Text("ref: refs/heads/main\n")),
    ("/w/hooked/config", Text("[core]\n\thooksPath = hooks.d\n")),
    ("/w/hooked/hooks.d/post-checkout", Text("#!/bin/sh\nrm -rf /w/out\n")),
    ("/w/worktree/HEAD", Text("ref: refs/heads/main\n")),
    ("/w/worktree/config", Text("[core]\n\tworktree = /home/u\n")),
    ("/w/ext/HEAD", Text("ref: refs/heads/main\n")),
    ("/w/ext/config", Text("[remote \"origin\"]\n\turl = ext::sh -c x\n")),
    ("/w/aliased/HEAD", Text("ref: refs/heads/main\n")),
    ("/w/aliased/config", Text("[alias]\n\tgone = !rm -rf /w/out\n\tlost = clean -fdx\n")),
    ("/w/other", Link("/w/bare")),
    ("/w/strange/HEAD", Text("ref: refs/heads/main\n")),
    ("/w/strange/config", Bytes(b"[core]\n\tpager = \xff\n")),
    ("/w/linked/.git", Text("gitdir: ../store\n")),
    ("/w/store/HEAD", Text("ref: refs/heads/main\n")),
    ("/w/store/config", Text(EVIL)),
    ("/w/common/.git", Text("gitdir: /w/trees/one\n")),
    ("/w/trees/one/HEAD", Text("ref: refs/heads/main\n")),
    ("/w/trees/one/commondir", Text("../../store\n")),
    ("/w/module/.git", Kind(FileKind::Directory)),
    ("/w/module/.git/HEAD", Text("ref: refs/heads/main\n")),
    ("/w/module/.git/config", Text(EVIL)),
    ("/w/filtered/HEAD", Text("ref: refs/heads/main\n")),
    ("/w/filtered/config", Text("[filter \"x\"]\n\tsmudge = \"rm -rf /w/out #\"\n")),
    ("/w/x.gitconfig", Text(EVIL)),
    // Settings of other programs.
    ("/w/hg/.hg/hgrc", Text("[hooks]\npre-status = rm -rf /w/out\n")),
    ("/w/.npmrc", Text("script-shell=rm -rf /w/out\n")),
    ("/w/.yarnrc.yml", Text("yarnPath: .yarn/evil.cjs\n")),
    ("/w/.yarn/evil.cjs", Text("require('fs').rmSync('/w/out')\n")),
    ("/w/jj/.jj/repo/config.toml", Text("[ui]\npager = \"rm -rf /w/out\"\n")),
    ("/w/mise/mise.toml", Text("[hooks]\nenter = \"rm -rf /w/out\"\n")),
    ("/w/env/.envrc", Text("rm -rf /w/out\n")),
    ("/w/ssh.conf", Text("Host *\n  ProxyCommand rm -rf /w/out\n")),
    ("/w/.gdbinit", Text("shell rm -rf /w/out\n")),
    ("/w/.exrc", Text("!rm -rf /w/out\n")),
    ("/w/xdg/git/config", Text(EVIL)),
    ("/w/house/.gitconfig", Text(EVIL)),
];

/// Deletions, Opaque effects and writes outside the workspace, without the effects of the user's own settings.
fn shown(text: &str, written: &str) -> String {
    let written: BTreeSet<String> = written.split_whitespace().map(str::to_owned).collect();
    let setting = Setting { workspace: "/w".to_owned(), written: written.into(), ..Setting::default() };
    let facts = analyse(&call::shell("codex", text), &setting, &mut Recorder::new(&Machine(THERE)));
    let mut lines = BTreeSet::new();
    for effect in &facts.effects {
        let path = effect.path().map(str::to_owned).unwrap_or_default();
        if effect.is_opaque() {
            let (role, why) = (effect.role().map_or("", Role::as_str), effect.why().map_or("", Why::as_str));
            lines.insert(format!("opaque {role} {why}"));
        } else if effect.kind() == EffectKind::Delete {
            lines.insert(format!("delete {path}"));
        } else if effect.kind() == EffectKind::Write && !path.starts_with("/w") {
            lines.insert(format!("write {path}"));
        } else if effect.kind() == EffectKind::Destroy {
            lines.insert(format!("destroy {}", effect.verb().map(str::to_owned).unwrap_or_default()));
        }
    }
    if lines.is_empty() { "-".to_owned() } else { lines.into_iter().collect::<Vec<_>>().join("; ") }
}

/// A call with the paths that the session wrote before (`|= PATHS`), and on the next line its effects; `-` for none.
#[test]
fn a_repository_of_ordinary_files_is_read() {
    let mut wrong = String::new();
    let mut lines = include_str!("repositories/cases.txt")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    while let Some(call) = lines.next() {
        let expected = lines.next().unwrap();
        let call = call.strip_prefix("$ ").unwrap();
        let (text, written) = call.split_once(" |= ").unwrap_or((call, ""));
        let got = shown(&text.replace("\\n", "\n"), written);
        if got != expected {
            writeln!(wrong, "$ {call}\n    expected {expected}\n    got      {got}").unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
