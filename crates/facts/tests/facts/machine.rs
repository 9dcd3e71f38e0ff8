//! A machine with the files of a table, and a user with the home `/home/u`.

use castellan_event::{Answer, FileKind, Process, Query, World};

pub(crate) enum There {
    Text(&'static str),
    Bytes(&'static [u8]),
    Link(&'static str),
    Kind(FileKind),
}

use There::{Bytes, Kind, Link, Text};

pub(crate) struct Machine(pub(crate) &'static [(&'static str, There)]);

impl Machine {
    fn at(&self, path: &str) -> Option<&There> {
        self.0.iter().find(|(one, _)| *one == path).map(|(_, there)| there)
    }

    /// The nearest directory with a name `.git`.
    fn repository(&self, of: &str) -> Option<String> {
        let has_git = |directory: &&str| {
            let git = format!("{directory}/.git");
            self.0.iter().any(|(one, _)| {
                one.strip_prefix(&git).is_some_and(|rest| matches!(rest.bytes().next(), None | Some(b'/')))
            })
        };
        std::iter::successors(Some(of), |one| Some(one.rsplit_once('/')?.0)).find(has_git).map(str::to_owned)
    }

    fn real(&self, path: &str) -> String {
        match self.at(path) {
            Some(Link(target)) => (*target).to_owned(),
            _ => path.to_owned(),
        }
    }
}

impl World for Machine {
    fn answer(&self, query: &Query) -> Option<Answer> {
        Some(match query {
            Query::RealPath { base, path } => {
                let whole = if path.starts_with('/') { path.clone() } else { format!("{base}/{path}") };
                let plain = whole.replace("/./", "/").replace("//", "/");
                Answer::RealPath(self.real(plain.trim_end_matches("/.")))
            }
            Query::FileKind { path } => Answer::FileKind(match self.at(path) {
                Some(Text(_) | Bytes(_) | Link(_)) => FileKind::File,
                Some(Kind(kind)) => *kind,
                None => FileKind::Missing,
            }),
            Query::Contents { path } => Answer::Contents(match self.at(path) {
                Some(Text(text)) => Some(text.as_bytes().to_vec()),
                Some(Bytes(bytes)) => Some(bytes.to_vec()),
                Some(Kind(_) | Link(_)) | None => None,
            }),
            Query::Executable { name, .. } => Answer::Executable(Some(format!("/usr/bin/{name}"))),
            Query::Repository { of } => Answer::Repository(self.repository(of)),
            Query::Newest { .. } => Answer::Newest(None),
            Query::Inode { .. } => Answer::Inode(None),
            Query::Head { .. } => Answer::Head(None),
            Query::OtherNames { .. } => Answer::OtherNames(Vec::new()),
            Query::Process { .. } => Answer::Process(Some(Process {
                env: [("PATH", "/usr/bin"), ("HOME", "/home/u")]
                    .map(|(name, value)| (name.to_owned(), value.to_owned()))
                    .to_vec(),
                home: "/home/u".to_owned(),
                ..Process::default()
            })),
        })
    }

    fn program(&self, _sha256: &str, request: &[u8]) -> Option<Vec<u8>> {
        castellan_languages::answer(request)
    }
}
