//! Settings files that start other programs. Programs find them by a fixed name in their directory, above it or in the
//! home. They are read if the session wrote them. Must not know their formats.

use castellan_programs::{Arg, Invocation};

use super::fixed::{above, below};
use super::repository::{is_file, is_of_session};
use super::{Pattern, is_loading};
use crate::limits::LOOKED_DIRECTORIES_MAX;
use crate::next::From;
use crate::path;
use crate::sink::Sink;

/// Programs, the subcommands with which they read the files (empty: always), and the files with their languages. Files
/// that begin with `~/` are in the home, the others in the program's directory or above it.
type Settings = (&'static [&'static str], &'static [&'static str], &'static [Pattern]);

const SETTINGS: &[Settings] = &[
    (&["hg", "chg"], &[], &[(".hg/hgrc", "hgrc"), ("~/.hgrc", "hgrc")]),
    (&["jj"], &[], &[(".jj/repo/config.toml", "jj-config"), ("~/.config/jj/config.toml", "jj-config")]),
    (&["npm", "npx", "pnpm", "pnpx", "yarn"], &[], &[(".npmrc", "npmrc")]),
    (&["pnpm", "pnpx"], &[], &[(".pnpmfile.cjs", "node")]),
    (&["yarn"], &[], &[(".yarnrc.yml", "yarnrc-yml"), (".yarnrc", "yarnrc")]),
    (
        &["mise"],
        &[],
        &[
            ("mise.toml", "mise"),
            (".mise.toml", "mise"),
            ("mise.local.toml", "mise"),
            (".config/mise.toml", "mise"),
        ],
    ),
    (&["direnv"], &["exec", "allow", "export", "reload"], &[(".envrc", "sh")]),
    (&["gdb", "gdb-multiarch", "rust-gdb", "cgdb"], &[], &[(".gdbinit", "gdb"), ("~/.gdbinit", "gdb")]),
    (&["lldb", "rust-lldb"], &[], &[(".lldbinit", "lldb"), ("~/.lldbinit", "lldb")]),
    (
        &["vim", "vi", "nvim", "vimdiff"],
        &[],
        &[(".exrc", "ex"), (".vimrc", "ex"), (".nvimrc", "ex"), (".nvim.lua", "lua")],
    ),
    (&["irb"], &[], &[(".irbrc", "ruby")]),
    (&["R", "Rscript"], &[], &[(".Rprofile", "r")]),
    (&["ghci", "cabal", "stack"], &[], &[(".ghci", "haskell")]),
    (&["ssh", "scp", "sftp", "rsync", "autossh"], &[], &[("~/.ssh/config", "ssh-config")]),
];

/// Options that name such a file, written by anyone, and options that name its directory.
const NAMED: &[(&[&str], &str, &str)] = &[(&["ssh", "scp", "sftp", "autossh"], "-F", "ssh-config")];
const DIRECTORIES: &[(&[&str], &str)] = &[(&["hg", "chg"], "-R")];

/// Returns the programs that read such a file.
pub(super) fn programs() -> impl Iterator<Item = &'static [&'static str]> {
    SETTINGS.iter().map(|(programs, ..)| *programs).chain(NAMED.iter().map(|(programs, ..)| *programs))
}

/// Programs whose first operand is such a directory.
const OPERANDS: &[&str] = &["direnv"];

/// Adds the programs that the settings of a command's program start.
pub(super) fn add(read: &Invocation, name: &str, sink: &mut Sink<'_, '_, '_, '_>) {
    for (_, option, language) in NAMED.iter().filter(|row| is_loading(row.0, &[], name, read)) {
        for file in read.values(option).filter(|file| !matches!(file.as_str(), Some("none" | "/dev/null"))) {
            sink.program(language, From::File(file.clone()));
        }
    }
    if !sink.scene.has_changes() {
        return;
    }
    let Some(cwd) = sink.cwd.clone() else { return };
    for (_, _, files) in SETTINGS.iter().filter(|row| is_loading(row.0, row.1, name, read)) {
        let options = DIRECTORIES.iter().filter(|row| is_loading(row.0, &[], name, read));
        let operand = read.operands.first().map(|operand| &operand.arg).filter(|_| OPERANDS.contains(&name));
        let named =
            options.flat_map(|(_, option)| read.values(option)).chain(operand).filter_map(Arg::as_str);
        let named = named.filter_map(|directory| path::collapse(Some(&cwd), directory));
        let directories: Vec<String> = named
            .chain(above(&cwd, &sink.scene.session.setting.workspace))
            .take(LOOKED_DIRECTORIES_MAX)
            .collect();
        for (file, language) in *files {
            let paths: Vec<String> = match file.strip_prefix("~/") {
                Some(rest) => vec![below(sink.scene.session.places.home(), rest)],
                None => directories.iter().map(|directory| below(directory, file)).collect(),
            };
            for path in paths {
                if is_file(&path, sink) && is_of_session(&path, sink) {
                    sink.program(language, From::File(Arg::known(path)));
                }
            }
        }
    }
}
