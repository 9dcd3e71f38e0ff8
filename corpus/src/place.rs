//! The place where the texts of the corpus are thought to run: a call of an agent in a workspace, on a machine that is a
//! table and not a file system.

use castellan_event::{Agent, Answer, Call, FileKind, Process, Query, Tool, ToolKind, World};

/// The user's home directory there.
pub const HOME: &str = "/home/dev";

/// The workspace there, a repository; the agent's working directory.
pub const WORKSPACE: &str = "/home/dev/project";

/// The `PATH` of the agent's process there.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

/// Names that are no programs there; every other name is one, in `/usr/bin`.
const NO_PROGRAMS: &[&str] = &["notarealwrapper", "nosuchprogram", "missing", "wipe", "nuke", "ll"];

/// Symlinks there: from, to.
const LINKS: &[(&str, &str)] = &[("/home/dev/project/secret-link", "/srv/other/secret.txt")];

/// Files there, with what they hold.
const FILES: &[(&str, &str)] = &[
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

/// Directories there, besides those above the files.
const DIRECTORIES: &[&str] =
    &["/", "/tmp", "/etc", "/usr", "/var", "/home/dev/project/.git", "/home/dev/project/src"];

/// What is known of the machine. It answers every question, and never looks at the machine that it runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Machine;

impl World for Machine {
    fn answer(&self, query: &Query) -> Option<Answer> {
        Some(match query {
            Query::RealPath { base, path } => Answer::RealPath(real_path(base, path)),
            Query::FileKind { path } => Answer::FileKind(kind(path)),
            Query::Contents { path } => {
                let held = FILES.iter().find(|(file, _)| file == path);
                Answer::Contents(held.map(|(_, text)| text.as_bytes().to_vec()))
            }
            Query::Executable { name, .. } => {
                let is_there = !NO_PROGRAMS.contains(&name.as_str());
                Answer::Executable(is_there.then(|| format!("/usr/bin/{name}")))
            }
            Query::Repository { of } => {
                let inside = of == WORKSPACE || of.starts_with(&format!("{WORKSPACE}/"));
                Answer::Repository(inside.then(|| WORKSPACE.to_owned()))
            }
            Query::Newest { .. } => Answer::Newest(None),
            Query::Process { .. } => Answer::Process(Some(process())),
        })
    }
}

fn process() -> Process {
    let env = [("HOME", HOME), ("PATH", PATH), ("USER", "dev"), ("SHELL", "/bin/bash"), ("PWD", WORKSPACE)];
    Process {
        env: env.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
        home: HOME.to_owned(),
        ..Process::default()
    }
}

fn kind(path: &str) -> FileKind {
    let below = format!("{path}/");
    if FILES.iter().any(|(file, _)| *file == path) {
        FileKind::File
    } else if DIRECTORIES.contains(&path) || FILES.iter().any(|(file, _)| file.starts_with(&below)) {
        FileKind::Directory
    } else if path.starts_with("/dev/") {
        FileKind::Device
    } else {
        FileKind::Missing
    }
}

fn real_path(base: &str, path: &str) -> String {
    let lexical = lexical(base, path);
    let linked = LINKS.iter().find_map(|(from, to)| {
        let rest = lexical.strip_prefix(from)?;
        (rest.is_empty() || rest.starts_with('/')).then(|| format!("{to}{rest}"))
    });
    linked.unwrap_or(lexical)
}

/// `path` from `base`, with `.` and `..` taken out and nothing looked up.
pub(crate) fn lexical(base: &str, path: &str) -> String {
    let whole = if path.starts_with('/') { path.to_owned() } else { format!("{base}/{path}") };
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    format!("/{}", parts.join("/"))
}

/// A call of a shell tool in the workspace.
pub fn shell_call(command: &str) -> Call {
    let input = serde_json::json!({ "command": command });
    Call {
        correlation_id: 1,
        agent: Agent {
            name: "claude_code".to_owned(),
            pid: 4242,
            event: "PreToolUse".to_owned(),
            session_id: "corpus".to_owned(),
            permission_mode: "default".to_owned(),
            cwd: WORKSPACE.to_owned(),
            ..Agent::default()
        },
        tool: Tool {
            name: "Bash".to_owned(),
            name_raw: "Bash".to_owned(),
            use_id: "toolu_corpus".to_owned(),
            kind: ToolKind::Shell,
            mcp: None,
        },
        input_text: input.to_string(),
        input,
        command: Some(command.to_owned()),
        files: Vec::new(),
        problems: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_taken_as_they_are_written_but_for_links() {
        for (base, path, expected) in [
            ("/", "", "/"),
            (WORKSPACE, "src/../../x", "/home/dev/x"),
            (WORKSPACE, "/a//b/./c/", "/a/b/c"),
            (WORKSPACE, "../../../../..", "/"),
            (WORKSPACE, "secret-link", "/srv/other/secret.txt"),
            (WORKSPACE, "secret-link-not", "/home/dev/project/secret-link-not"),
        ] {
            assert_eq!(real_path(base, path), expected, "{path}");
        }
    }

    #[test]
    fn directories_above_files_are_there() {
        for (path, expected) in [
            (WORKSPACE, FileKind::Directory),
            ("/home", FileKind::Directory),
            ("/home/dev/project/Makefile", FileKind::File),
            ("/home/dev/project/new", FileKind::Missing),
            ("/dev/sda", FileKind::Device),
        ] {
            assert_eq!(kind(path), expected, "{path}");
        }
    }
}
