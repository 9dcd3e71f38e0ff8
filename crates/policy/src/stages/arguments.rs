//! What is typed behind a program's name, as far as it can be told from the words alone that it makes the program do nothing but its
//! work in the workspace. It must not know programs.

use castellan_event::Command;

use crate::stages::variables;

/// The arguments of a command that is typed.
pub(crate) struct Arguments<'r> {
    pub(crate) command: &'r Command,
    /// The directory that the call begins in.
    pub(crate) cwd: &'r str,
}

/// Words of a program that has others see what it works on.
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

/// Programs that build what is to be fast with an option of such a name.
const OPTIMISED: &[(&str, &str)] =
    &[("cargo", "--release"), ("flutter", "--release"), ("wasm-pack", "--release")];

const PROGRAM_OPTIONS: &[&str] = &["config", "exec", "overlay", "pkgdir", "toolexec", "vettool"];

/// Wrappers that give a command other variables, which are looked at, or watch how it runs.
const FRAMES: &[&str] = &[
    "bundle",
    "c8",
    "concurrently",
    "coverage",
    "cross-env",
    "env",
    "nice",
    "npm-run-all",
    "npx",
    "nyc",
    "pnpm",
    "poetry",
    "python",
    "python3",
    "run-p",
    "run-s",
    "time",
    "timeout",
    "yarn",
    "npm",
    "xvfb-run",
];

/// Words by which a program of the project is told to change, end or start something, also as a part of an option.
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

/// Characters by which a word may be code or another command line.
const CODE: &[char] = &[' ', '\t', '\n', ';', '|', '&', '$', '`', '(', ')', '<', '>', '"', '\'', '\\', '#'];

/// Characters behind which a path may begin within a word.
const BEFORE_PATHS: &[char] =
    &['=', ',', ':', ';', '@', '"', '\'', '(', '[', '{', '|', ' ', '\t', '\n', '!', '<', '>'];

impl Arguments<'_> {
    /// Whether every path that they may name lies in the directory of the call, and nothing is reached over the network.
    pub(crate) fn stay_inside(&self) -> bool {
        self.is_by_itself() && self.words().all(|word| self.is_inside(word) && !self.is_outward(word))
    }

    /// The same, and none of them may be code.
    pub(crate) fn are_plain(&self) -> bool {
        self.are_harmless() && !self.words().any(|word| self.is_outward(word))
    }

    /// Whether one of them is an option by which compilers and test runners start another program than they would.
    pub(crate) fn name_programs(&self) -> bool {
        self.words().any(|word| {
            let name = word.trim_start_matches('-').split('=').next().unwrap_or_default();
            word.starts_with('-') && PROGRAM_OPTIONS.contains(&name)
        })
    }

    /// Whether one of them may be an order to change, end or start something.
    pub(crate) fn are_orders(&self) -> bool {
        let is_order = |part: &str| ORDERS.contains(&part.to_ascii_lowercase().as_str());
        self.words().any(|word| word.split(['-', '_', '=', ':', '/', '.', ',']).any(is_order))
    }

    /// Whether the command runs as itself, on this machine.
    pub(crate) fn are_here(&self) -> bool {
        self.is_by_itself()
    }

    /// That none of them may be code, nor lead out of the directory of the call, whatever it is called that they name.
    pub(crate) fn are_harmless(&self) -> bool {
        let is_harmless = |word: &str| !word.contains(CODE) && self.is_inside(word);
        self.is_by_itself() && self.words().all(is_harmless)
    }

    /// Whether nothing but its arguments makes another program of it: as another user, elsewhere, with variables that name files.
    fn is_by_itself(&self) -> bool {
        let is_plain_value = |pair: &String| {
            let value = pair.split_once('=').map_or(pair.as_str(), |(_, value)| value);
            !value.contains(CODE) && self.is_inside(value) || variables::is_harmless(pair)
        };
        let Command { wrappers, wrappers_are_neutral, remote, env, .. } = self.command;
        let is_frame = |wrapper: &String| FRAMES.contains(&wrapper.as_str());
        let is_framed = *wrappers_are_neutral || wrappers.iter().all(is_frame);
        remote.is_none() && is_framed && env.iter().all(is_plain_value)
    }

    fn words(&self) -> impl Iterator<Item = &str> {
        self.command.args.iter().map(String::as_str)
    }

    fn is_inside(&self, word: &str) -> bool {
        // The value of a short option may stand close by.
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

    /// Whether a word is one of those by which others see something, or an option of that name.
    fn is_outward(&self, word: &str) -> bool {
        let name = word.trim_start_matches('-').split(['=', ':']).next().unwrap_or_default();
        let is_other = || OPTIMISED.contains(&(self.command.name.as_deref().unwrap_or_default(), word));
        OUTWARD.contains(&name.to_ascii_lowercase().as_str()) && !is_other()
    }
}
