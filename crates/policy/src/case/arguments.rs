//! Tests whether a program's arguments alone show that it only does its work in the workspace. Knows no programs.

use castellan_event::Command;
use castellan_programs::Trait;

use super::variables;

pub(crate) struct Arguments<'r> {
    pub(crate) command: &'r Command,
    /// The directory in which the call begins.
    pub(crate) cwd: &'r str,
}

/// Words that make a program send or offer its data to others.
const OUTWARD: &[&str] = &[
    "deploy",
    "host",
    "inspect",
    "inspect-brk",
    "listen",
    "login",
    "open",
    "publish",
    "push",
    "release",
    "send",
    "serve",
    "server",
    "token",
    "tunnel",
    "upload",
];

const PROGRAM_OPTIONS: &[&str] = &["config", "exec", "overlay", "pkgdir", "toolexec", "vettool"];

/// Words that make a program of the project change, end or start something, also as a part of an option.
const ORDERS: &[&str] = &[
    "apply",
    "bash",
    "clean",
    "clear",
    "cmd",
    "command",
    "curl",
    "delete",
    "destroy",
    "drop",
    "erase",
    "eval",
    "exec",
    "execute",
    "flush",
    "force",
    "format",
    "git",
    "install",
    "kill",
    "migrate",
    "overwrite",
    "prune",
    "purge",
    "remove",
    "reset",
    "rm",
    "seed",
    "sh",
    "shell",
    "shutdown",
    "spawn",
    "stop",
    "sudo",
    "sync",
    "system",
    "truncate",
    "uninstall",
    "unlink",
    "wget",
    "wipe",
    "write",
    "yes",
];

/// Characters that may make a word code or another command line.
const CODE: &[char] = &[' ', '\t', '\n', ';', '|', '&', '$', '`', '(', ')', '<', '>', '"', '\'', '\\', '#'];

/// Characters after which a path may begin within a word.
const BEFORE_PATHS: &[char] =
    &['=', ',', ':', ';', '@', '"', '\'', '(', '[', '{', '|', ' ', '\t', '\n', '!', '<', '>'];

impl Arguments<'_> {
    /// Reports whether every path in the arguments is in the call's directory and no word reaches the network.
    pub(crate) fn stay_inside(&self) -> bool {
        self.is_by_itself() && self.words().all(|word| self.is_inside(word) && !self.is_outward(word))
    }

    /// Like `stay_inside`, and no argument may be code.
    pub(crate) fn are_plain(&self) -> bool {
        self.are_harmless() && !self.words().any(|word| self.is_outward(word))
    }

    /// Reports whether an option makes a compiler or test runner start another program.
    pub(crate) fn name_programs(&self) -> bool {
        self.words().any(|word| {
            let name = word.trim_start_matches('-').split('=').next().unwrap_or_default();
            word.starts_with('-') && PROGRAM_OPTIONS.contains(&name)
        })
    }

    /// Reports whether an argument may be an order to change, end or start something.
    pub(crate) fn are_orders(&self) -> bool {
        let is_order = |part: &str| ORDERS.contains(&part.to_ascii_lowercase().as_str());
        self.words().any(|word| word.split(['-', '_', '=', ':', '/', '.', ',']).any(is_order))
    }

    /// Reports whether the command runs under its own name on this machine.
    pub(crate) fn are_here(&self) -> bool {
        self.is_by_itself()
    }

    /// Reports whether no argument may be code or a path outside of the call's directory. Ignores the meaning of words.
    pub(crate) fn are_harmless(&self) -> bool {
        let is_harmless = |word: &str| !word.contains(CODE) && self.is_inside(word);
        self.is_by_itself() && self.words().all(is_harmless)
    }

    /// Reports whether only its arguments change the program: no other user or host, and no variables with files.
    fn is_by_itself(&self) -> bool {
        let is_plain_value = |pair: &String| {
            let value = pair.split_once('=').map_or(pair.as_str(), |(_, value)| value);
            !value.contains(CODE) && self.is_inside(value) || variables::is_harmless(pair)
        };
        let Command { wrappers, wrappers_are_neutral, remote, env, .. } = self.command;
        let is_frame = |wrapper: &String| Trait::Frames.is_of(wrapper);
        let is_framed = *wrappers_are_neutral || wrappers.iter().all(is_frame);
        remote.is_none() && is_framed && env.iter().all(is_plain_value)
    }

    fn words(&self) -> impl Iterator<Item = &str> {
        self.command.args.iter().map(String::as_str)
    }

    fn is_inside(&self, word: &str) -> bool {
        // The value of a short option may follow without a space.
        let attached = word.strip_prefix('-').and_then(|rest| rest.get(1..)).unwrap_or_default();
        let parts = word.split(BEFORE_PATHS).chain([word, attached]);
        let is_known = !word.contains(['$', '`']) && !word.contains("://");
        is_known && parts.into_iter().all(|part| self.is_path_inside(part))
    }

    fn is_path_inside(&self, path: &str) -> bool {
        let is_above = path.split(['/', '\\']).any(|component| component == "..");
        let below = self.cwd.trim_end_matches('/');
        let is_here = || {
            let rest = path.strip_prefix(below).filter(|_| !below.is_empty());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        !is_above && !path.starts_with('~') && (!path.starts_with('/') || is_here())
    }

    /// Reports whether a word or the option of that name makes a program send or offer data to others.
    fn is_outward(&self, word: &str) -> bool {
        let name = word.trim_start_matches('-').split(['=', ':']).next().unwrap_or_default();
        let is_other = || {
            let name = self.command.name.as_deref().unwrap_or_default();
            word == "--release" && Trait::ReleaseIsOptimised.is_of(name)
        };
        OUTWARD.contains(&name.to_ascii_lowercase().as_str()) && !is_other()
    }
}
