//! [`Machine`]: the simulated world in which described calls are judged. It is a table, not a file system: a user's
//! home, a workspace with a repository, the usual programs, and the files that a case adds. Must not depend on calls.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use castellan_event::{Answer, FileKind, HEAD_BYTES, Inode, Process, Query, World, lexical_path};

/// The user's home directory.
pub const HOME: &str = "/home/dev";

/// The workspace: a repository, and the agent's working directory.
pub const WORKSPACE: &str = "/home/dev/project";

/// The `PATH` of the agent's process. Every program is in one of these directories.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

/// Names without a program. Every other name is a program in `/usr/bin`.
const NO_PROGRAMS: &[&str] = &["notarealwrapper", "nosuchprogram", "missing", "wipe", "nuke", "ll"];

/// Symlinks: from, to.
const LINKS: &[(&str, &str)] = &[("/home/dev/project/secret-link", "/srv/other/secret.txt")];

/// Files and their contents.
const FILES: &[(&str, &str)] = &[
    ("/home/dev/.bashrc", "case $- in *i*) ;; *) return ;; esac\nalias ll='ls -l'\nexport EDITOR=vim\n"),
    ("/home/dev/.profile", "PATH=\"$HOME/.local/bin:$PATH\"\nexport PATH\n"),
    (
        "/home/dev/project/package.json",
        "{\"name\":\"project\",\"dependencies\":{\"react\":\"^19.0.0\",\"lodash\":\"^4.17.0\"}}\n",
    ),
    ("/home/dev/project/Makefile", "test:\n\tcargo test\n"),
    (
        "/home/dev/project/scripts/build.sh",
        "#!/usr/bin/env bash\nset -euo pipefail\nmkdir -p dist\ncargo build --release\ncp target/release/app dist/\n",
    ),
    (
        "/home/dev/project/scripts/migrate.mjs",
        "import { readFile, writeFile } from 'node:fs/promises';\nconst dry = process.argv.includes('--dry-run');\nconst text = await readFile('data.json', 'utf8');\nif (!dry) await writeFile('data.json', JSON.stringify(JSON.parse(text)));\n",
    ),
    (
        "/home/dev/project/dist/index.js",
        "const http = require('http');\nhttp.createServer((request, response) => response.end('ok')).listen(3000);\n",
    ),
    (
        "/home/dev/project/main.py",
        "import json\nimport sys\n\nwith open('data.json') as file:\n    json.dump(json.load(file), sys.stdout)\n",
    ),
    (
        "/home/dev/project/.venv/bin/activate",
        "VIRTUAL_ENV=/home/dev/project/.venv\nexport VIRTUAL_ENV\nPATH=\"$VIRTUAL_ENV/bin:$PATH\"\nexport PATH\nhash -r 2> /dev/null\n",
    ),
];

/// Directories, in addition to the parents of the files.
const DIRECTORIES: &[&str] =
    &["/", "/tmp", "/etc", "/usr", "/var", "/home/dev/project/.git", "/home/dev/project/src"];

/// castellan's own files: its home, configuration and state, and its programs.
const OWN: &[&str] = &[
    "/home/dev/.local/share/castellan",
    "/home/dev/.config/castellan",
    "/home/dev/.local/state/castellan",
    "/home/dev/.local/bin/castellan",
    "/home/dev/.local/bin/castellan-hook",
    "/etc/castellan",
];

/// First bytes of a file that the machine executes directly.
const PROGRAM: &[u8] = b"\x7fELF";

/// Limit of successive symlinks, as on Linux.
const LINKS_FOLLOWED_MAX: usize = 40;

/// The simulated machine, which answers every query and never queries the real one. Added entries override the default.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Machine {
    added: BTreeMap<String, There>,
    env: Vec<(String, String)>,
}

/// The entry at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum There {
    /// A file with this text.
    Text(String),
    /// A file with unknown contents.
    Unknown,
    /// A directory.
    Directory,
    /// A file with unknown contents and these numbers.
    Sized {
        /// Bytes.
        size: u64,
        /// The contents begin with a NUL.
        is_binary: bool,
    },
    /// Another name of the file at this absolute path.
    Same(String),
    /// A symlink to a path, absolute or relative to the directory of the symlink.
    Link(String),
    /// Nothing; hides a default entry.
    Nothing,
}

impl Machine {
    /// Puts an entry at an absolute path.
    pub fn put(&mut self, path: &str, there: There) {
        self.added.insert(lexical_path("/", path), there);
    }

    /// Sets a variable in the environment of the agent's process.
    pub fn set(&mut self, name: &str, value: &str) {
        self.env.retain(|(known, _)| known != name);
        self.env.push((name.to_owned(), value.to_owned()));
    }

    /// Returns castellan's own files.
    pub fn own() -> Vec<String> {
        OWN.iter().map(|path| (*path).to_owned()).collect()
    }

    /// Returns the kind of a path without symlinks.
    fn kind(&self, path: &str) -> FileKind {
        match self.added.get(path) {
            Some(There::Text(_) | There::Unknown | There::Sized { .. } | There::Same(_)) => {
                return FileKind::File;
            }
            Some(There::Directory) => return FileKind::Directory,
            Some(There::Link(_) | There::Nothing) => return FileKind::Missing,
            None => {}
        }
        let below = if path == "/" { "/".to_owned() } else { format!("{path}/") };
        let next = self.added.range(below.clone()..).find(|(_, there)| **there != There::Nothing);
        let is_above_added = next.is_some_and(|(next, _)| next.starts_with(&below));
        if FILES.iter().any(|(file, _)| *file == path) || is_program(path) {
            FileKind::File
        } else if is_above_added
            || DIRECTORIES.contains(&path)
            || PATH.split(':').any(|directory| directory == path)
            || FILES.iter().any(|(file, _)| file.starts_with(&below))
        {
            FileKind::Directory
        } else if path.starts_with("/dev/") {
            FileKind::Device
        } else {
            FileKind::Missing
        }
    }

    fn contents(&self, path: &str) -> Option<Vec<u8>> {
        match self.added.get(path) {
            Some(There::Text(text)) => return Some(text.as_bytes().to_vec()),
            // One step only: a name of a name has no contents.
            Some(There::Same(path)) => {
                if let Some(There::Text(text)) = self.added.get(path) {
                    return Some(text.as_bytes().to_vec());
                }
                let held = FILES.iter().find(|(file, _)| file == path && !self.added.contains_key(path));
                return held.map(|(_, text)| text.as_bytes().to_vec());
            }
            Some(
                There::Unknown | There::Sized { .. } | There::Directory | There::Link(_) | There::Nothing,
            ) => return None,
            None => {}
        }
        let held = FILES.iter().find(|(file, _)| *file == path).map(|(_, text)| text.as_bytes().to_vec());
        held.or_else(|| is_program(path).then(|| PROGRAM.to_vec()))
    }

    /// Returns the file that a name belongs to: the name itself, unless it is another name.
    fn file<'p>(&'p self, path: &'p str) -> &'p str {
        if let Some(There::Same(file)) = self.added.get(path) { file } else { path }
    }

    /// Returns the names of a file, without the one by which the others are described.
    fn names<'p>(&'p self, file: &'p str) -> impl Iterator<Item = &'p str> {
        let same = self.added.iter().filter(move |(_, there)| matches!(there, There::Same(of) if of == file));
        same.map(|(name, _)| name.as_str())
    }

    fn inode(&self, path: &str) -> Option<Inode> {
        if self.kind(path) != FileKind::File {
            return None;
        }
        let file = self.file(path);
        let size = if let Some(There::Sized { size, .. }) = self.added.get(file) {
            *size
        } else {
            self.contents(file).map_or(0, |contents| contents.len() as u64)
        };
        Some(Inode { links: 1 + self.names(file).count() as u64, size })
    }

    /// Unknown contents are text.
    fn is_binary(&self, path: &str) -> Option<bool> {
        self.inode(path)?;
        let file = self.file(path);
        if let Some(There::Sized { is_binary, .. }) = self.added.get(file) {
            return Some(*is_binary);
        }
        let head = self.contents(file).unwrap_or_default();
        Some(head.iter().take(HEAD_BYTES).any(|byte| *byte == 0))
    }

    fn other_names(&self, path: &str, directories: &[String]) -> Vec<String> {
        let file = self.file(path);
        let all: Vec<&str> =
            std::iter::once(file).chain(self.names(file)).filter(|name| *name != path).collect();
        let is_in = |name: &str, directory: &String| {
            name.rsplit_once('/').is_some_and(|(above, _)| above == directory)
        };
        let found =
            directories.iter().flat_map(|directory| all.iter().filter(move |name| is_in(name, directory)));
        found.map(|name| (*name).to_owned()).collect()
    }

    /// Resolves a path; `None` if its symlinks form a cycle.
    fn real_path(&self, base: &str, path: &str) -> Option<String> {
        let mut path = lexical_path(base, path);
        for _ in 0..=LINKS_FOLLOWED_MAX {
            match self.followed(&path) {
                Some(next) => path = next,
                None => return Some(path),
            }
        }
        None
    }

    /// Returns the path with its first symlink resolved.
    fn followed(&self, path: &str) -> Option<String> {
        let ends = path.match_indices('/').map(|(at, _)| at).skip(1).chain([path.len()]);
        let mut parts = ends.filter_map(|end| path.split_at_checked(end));
        parts.find_map(|(from, rest)| {
            let to = self.link(from)?;
            let directory = from.rsplit_once('/').map_or("/", |(directory, _)| directory);
            Some(lexical_path(directory, &format!("{to}{rest}")))
        })
    }

    fn link(&self, path: &str) -> Option<&str> {
        match self.added.get(path) {
            Some(There::Link(to)) => Some(to),
            Some(
                There::Text(_)
                | There::Unknown
                | There::Sized { .. }
                | There::Same(_)
                | There::Directory
                | There::Nothing,
            ) => None,
            None => LINKS.iter().find(|(from, _)| *from == path).map(|(_, to)| *to),
        }
    }

    /// Returns the program that runs: an added file on `PATH`, or else the default program.
    fn executable(&self, name: &str, path: &str) -> Option<String> {
        let mut added = path.split(':').filter_map(|directory| {
            let file = lexical_path(directory, name);
            self.added.contains_key(&file).then(|| self.real_path("/", &file)).flatten()
        });
        let added = added.find(|file| self.kind(file) == FileKind::File);
        added.or_else(|| (!NO_PROGRAMS.contains(&name)).then(|| format!("/usr/bin/{name}")))
    }

    fn repository(&self, of: &str) -> Option<String> {
        let mut directory = Cow::Borrowed(of);
        loop {
            if self.kind(&lexical_path(&directory, ".git")) != FileKind::Missing {
                return Some(directory.into_owned());
            }
            let above =
                directory.rsplit_once('/').map(|(above, _)| above).filter(|above| !above.is_empty())?;
            directory = Cow::Owned(above.to_owned());
        }
    }

    fn process(&self) -> Process {
        let usual =
            [("HOME", HOME), ("PATH", PATH), ("USER", "dev"), ("SHELL", "/bin/bash"), ("PWD", WORKSPACE)];
        let set: BTreeSet<&str> = self.env.iter().map(|(name, _)| name.as_str()).collect();
        let usual = usual.iter().filter(|(name, _)| !set.contains(name));
        let usual = usual.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Process {
            env: usual.chain(self.env.iter().cloned()).collect(),
            home: HOME.to_owned(),
            ..Process::default()
        }
    }
}

impl World for Machine {
    fn answer(&self, query: &Query) -> Option<Answer> {
        Some(match query {
            Query::RealPath { base, path } => Answer::RealPath(self.real_path(base, path)?),
            Query::FileKind { path } => Answer::FileKind(self.kind(&self.real_path("/", path)?)),
            Query::Contents { path } => Answer::Contents(self.contents(&self.real_path("/", path)?)),
            Query::Executable { name, path } => Answer::Executable(self.executable(name, path)),
            Query::Repository { of } => Answer::Repository(self.repository(of)),
            Query::Newest { .. } => Answer::Newest(None),
            Query::Inode { path } => Answer::Inode(self.inode(&self.real_path("/", path)?)),
            Query::Head { path } => Answer::Head(self.is_binary(&self.real_path("/", path)?)),
            Query::OtherNames { path, directories } => {
                Answer::OtherNames(self.other_names(&self.real_path("/", path)?, directories))
            }
            Query::Process { .. } => Answer::Process(Some(self.process())),
        })
    }

    fn program(&self, _sha256: &str, request: &[u8]) -> Option<Vec<u8>> {
        castellan_languages::answer(request)
    }
}

/// Returns true for the path of a default program.
fn is_program(path: &str) -> bool {
    let Some((directory, name)) = path.rsplit_once('/') else { return false };
    !name.is_empty() && PATH.split(':').any(|known| known == directory) && !NO_PROGRAMS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_taken_as_they_are_written_but_for_links() {
        let mut machine = Machine::default();
        machine.put("/home/dev/project/keys", There::Link("../.ssh".to_owned()));
        machine.put("/home/dev/project/circle", There::Link("circle".to_owned()));
        for (base, path, expected) in [
            ("/", "", Some("/")),
            (WORKSPACE, "src/../../x", Some("/home/dev/x")),
            (WORKSPACE, "/a//b/./c/", Some("/a/b/c")),
            (WORKSPACE, "../../../../..", Some("/")),
            (WORKSPACE, "secret-link", Some("/srv/other/secret.txt")),
            (WORKSPACE, "secret-link-not", Some("/home/dev/project/secret-link-not")),
            (WORKSPACE, "keys/id_rsa", Some("/home/dev/.ssh/id_rsa")),
            (WORKSPACE, "circle/x", None),
        ] {
            assert_eq!(machine.real_path(base, path).as_deref(), expected, "{path}");
        }
    }

    #[test]
    fn directories_above_files_are_there() {
        let mut machine = Machine::default();
        machine.put("/srv/site/index.html", There::Text(String::new()));
        machine.put("/home/dev/project/main.py", There::Nothing);
        for (path, expected) in [
            (WORKSPACE, FileKind::Directory),
            ("/", FileKind::Directory),
            ("/home", FileKind::Directory),
            ("/srv/site", FileKind::Directory),
            ("/srv/sit", FileKind::Missing),
            ("/home/dev/project/Makefile", FileKind::File),
            ("/home/dev/project/main.py", FileKind::Missing),
            ("/home/dev/project/new", FileKind::Missing),
            ("/dev/sda", FileKind::Device),
            ("/usr/bin/python3", FileKind::File),
            ("/usr/bin", FileKind::Directory),
        ] {
            assert_eq!(machine.kind(path), expected, "{path}");
        }
    }

    #[test]
    fn a_program_that_was_added_is_found_before_the_usual_one() {
        let mut machine = Machine::default();
        machine.put("/home/dev/bin/ls", There::Text("#!/bin/sh\n".to_owned()));
        let found = |name, path| machine.executable(name, path);
        assert_eq!(found("ls", "/home/dev/bin:/usr/bin").as_deref(), Some("/home/dev/bin/ls"));
        assert_eq!(found("ls", "/usr/bin").as_deref(), Some("/usr/bin/ls"));
        assert_eq!(found("nosuchprogram", "/usr/bin"), None);
    }

    #[test]
    fn repositories_hold_what_lies_below_them() {
        let mut machine = Machine::default();
        machine.put("/srv/other/.git", There::Directory);
        for (of, expected) in [
            (WORKSPACE, Some(WORKSPACE)),
            ("/home/dev/project/src/deep", Some(WORKSPACE)),
            ("/srv/other/x", Some("/srv/other")),
            ("/home/dev", None),
            ("/", None),
        ] {
            assert_eq!(machine.repository(of).as_deref(), expected, "{of}");
        }
    }

    #[test]
    fn a_variable_that_is_set_stands_once() {
        let mut machine = Machine::default();
        machine.set("PATH", "/x");
        machine.set("PATH", "/y");
        let process = machine.process();
        assert_eq!(process.env.iter().filter(|(name, _)| name == "PATH").count(), 1);
        assert_eq!((process.var("PATH"), process.var("HOME")), (Some("/y"), Some(HOME)));
    }

    #[test]
    fn a_file_with_two_names_is_one_file() {
        let mut machine = Machine::default();
        machine.put("/home/dev/.ssh/id_rsa", There::Text("key".to_owned()));
        machine.put("/home/dev/project/notes", There::Same("/home/dev/.ssh/id_rsa".to_owned()));
        machine.put("/home/dev/project/film", There::Sized { size: 99, is_binary: true });
        for (path, inode, is_binary) in [
            ("/home/dev/project/notes", Some(Inode { links: 2, size: 3 }), Some(false)),
            ("/home/dev/.ssh/id_rsa", Some(Inode { links: 2, size: 3 }), Some(false)),
            ("/home/dev/project/film", Some(Inode { links: 1, size: 99 }), Some(true)),
            ("/usr/bin/ls", Some(Inode { links: 1, size: 4 }), Some(false)),
            ("/home/dev/project/src", None, None),
            ("/home/dev/project/gone", None, None),
        ] {
            assert_eq!((machine.inode(path), machine.is_binary(path)), (inode, is_binary), "{path}");
        }
        let directories = ["/home/dev/.ssh".to_owned(), "/home/dev".to_owned()];
        let others = |path: &str| machine.other_names(path, &directories);
        assert_eq!(others("/home/dev/project/notes"), ["/home/dev/.ssh/id_rsa"]);
        assert_eq!(others("/home/dev/.ssh/id_rsa"), [""; 0], "its other name is in no such directory");
    }
}
