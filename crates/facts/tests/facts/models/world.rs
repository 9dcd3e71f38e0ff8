use castellan_event::{Answer, FileKind, Process, Query, World, lexical_path};

/// Existing directories, besides the directories above them.
const DIRECTORIES: &[&str] =
    &["/", "/w", "/w/dir", "/w/src", "/w/.git", "/home/u", "/home/u/.ssh", "/tmp", "/etc", "/usr/bin"];

/// Readable files.
const FILES: &[(&str, &str)] = &[
    ("/w/package.json", r#"{"dependencies":{"react":"^18.0.0"},"devDependencies":{"vitest":"^1.0.0"}}"#),
    ("/w/Cargo.toml", "[package]\nname = \"w\"\n[dependencies]\nserde = \"1\"\n"),
    ("/w/requirements.txt", "requests==2.31\n"),
    ("/w/pyproject.toml", "[project]\ndependencies = [\"flask>=2\"]\n"),
    ("/w/go.mod", "module w\nrequire github.com/pkg/errors v0.9.1\n"),
    ("/w/Gemfile", "gem 'rails'\n"),
    (
        "/w/.git/config",
        "[remote \"up\"]\n\turl = https://h.example/r.git\n[alias]\n\tundo = reset --hard HEAD~1\n\tst = status\n\tsh = !rm -rf x\n",
    ),
    ("/w/composer.json", r#"{"require":{"monolog/monolog":"^3"}}"#),
];

pub(crate) struct Table;

impl World for Table {
    fn answer(&self, query: &Query) -> Option<Answer> {
        Some(match query {
            Query::RealPath { base, path } => Answer::RealPath(lexical_path(base, path)),
            Query::FileKind { path } => Answer::FileKind(kind(path)),
            Query::Contents { path } => {
                let file = FILES.iter().find(|(name, _)| name == path);
                Answer::Contents(file.map(|(_, text)| text.as_bytes().to_vec()))
            }
            Query::Executable { name, .. } => Answer::Executable(Some(format!("/usr/bin/{name}"))),
            Query::Repository { .. } => Answer::Repository(Some("/w".to_owned())),
            Query::Newest { .. } => Answer::Newest(None),
            Query::Inode { .. } => Answer::Inode(None),
            Query::Head { .. } => Answer::Head(None),
            Query::OtherNames { .. } => Answer::OtherNames(Vec::new()),
            Query::Process { .. } => Answer::Process(Some(Process {
                env: vec![
                    ("PATH".to_owned(), "/usr/bin".to_owned()),
                    ("HOME".to_owned(), "/home/u".to_owned()),
                ],
                home: "/home/u".to_owned(),
                ..Process::default()
            })),
        })
    }

    fn program(&self, _sha256: &str, request: &[u8]) -> Option<Vec<u8>> {
        castellan_languages::answer(request)
    }
}

fn kind(path: &str) -> FileKind {
    if DIRECTORIES.contains(&path) {
        FileKind::Directory
    } else if path == "/w/fifo" {
        FileKind::Fifo
    } else if FILES.iter().any(|(name, _)| *name == path) {
        FileKind::File
    } else {
        FileKind::Missing
    }
}
